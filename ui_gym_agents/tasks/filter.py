"""Which tasks are worth training on: those that an agent solves sometimes, but not always.

ARPO (arXiv 2505.16282) plays a few baseline rollouts of every task and trains on those with at
least one success; with groups of equal rewards a group-relative learner learns nothing from tasks
that always succeed either. So a unit, a whole task or one instance of it (a seed), is kept with 1
to k-1 successes in k episodes.

What is measured is appended to a file beside the result as it comes, so that a filter that was
stopped goes on where it was.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ui_gym.errors import UserError
from ui_gym_agents import files
from ui_gym_agents.collecting.collector import EpisodeRequest
from ui_gym_agents.episode import Episode, Purpose
from ui_gym_agents.seeds import derive
from ui_gym_agents.tasks.mix import reset_names
from ui_gym_agents.tasks.sources import TaskEntry

FORMAT = 1
"""Of the file of what is measured."""

Verdict = Literal["kept", "never", "always", "unmeasured"]


@dataclass(frozen=True)
class FilterUnit:
    """What is kept or dropped: an entry; with `seed`, that one instance of it."""

    entry: TaskEntry
    seed: int | None = None

    @property
    def name(self) -> str:
        return self.as_entry().name

    def as_entry(self) -> TaskEntry:
        """The entry that stands for it in a task file."""
        if self.seed is None:
            return self.entry
        return dataclasses.replace(self.entry, seeds=(self.seed,))


@dataclass(frozen=True)
class SuccessCount:
    """So many successes of so many episodes that the infrastructure did not spoil."""

    successes: int
    episodes: int

    @property
    def verdict(self) -> Verdict:
        if self.episodes < 2:
            return "unmeasured"
        if self.successes == 0:
            return "never"
        return "always" if self.successes == self.episodes else "kept"


Results = dict[str, SuccessCount]
"""By the name of the unit."""


def units(entries: Sequence[TaskEntry], instances: int, seed: int) -> list[FilterUnit]:
    """The units of entries: with `instances`, so many of each; with 0, each entry as a whole.

    An entry's own seeds are its instances; of one without, they are derived from `seed`.
    """
    if not instances:
        return [FilterUnit(entry) for entry in entries]
    found = []
    for entry in entries:
        seeds = entry.seeds or [
            derive("filter", "instance", seed, entry.name, i) for i in range(instances)
        ]
        found += [FilterUnit(entry, one) for one in seeds[:instances]]
    return found


def requests(
    wanted: Iterable[FilterUnit], entries: Sequence[TaskEntry], episodes: int, seed: int
) -> list[EpisodeRequest]:
    """The episodes of units, a group each, which is named as the unit is.

    An episode depends on `seed`, its unit and its number alone. The episodes of an instance start
    alike; those of a whole task are on different instances.
    """
    names = reset_names(entries)
    return [
        EpisodeRequest(
            purpose=Purpose("filter"),
            seed=_start(unit, member, seed),
            task=names[unit.entry.variant],
            group=unit.name,
            member=member,
            split=unit.entry.split,
        )
        for unit in wanted
        for member in range(episodes)
    ]


def measure(
    groups: Iterable[Sequence[Episode]], record: Callable[[str, SuccessCount], None]
) -> Iterator[str]:
    """Record each group when it ends; yields its unit's name.

    A group with fewer than two good episodes says nothing and is left out.
    """
    for group in groups:
        found = SuccessCount(sum(episode.success for episode in group), len(group))
        if found.verdict != "unmeasured":
            record(group[0].group, found)
        yield group[0].group if group else ""


def kept(wanted: Iterable[FilterUnit], results: Mapping[str, SuccessCount]) -> list[TaskEntry]:
    """The units that are worth training on, with what was measured."""
    return [
        dataclasses.replace(
            unit.as_entry(),
            success=round(found.successes / found.episodes, 4),
            episodes=found.episodes,
        )
        for unit in wanted
        if (found := results.get(unit.name)) is not None and found.verdict == "kept"
    ]


def verdicts(
    wanted: Iterable[FilterUnit], results: Mapping[str, SuccessCount]
) -> dict[Verdict, int]:
    """How many units there are of each verdict."""
    counts: dict[Verdict, int] = {"kept": 0, "never": 0, "always": 0, "unmeasured": 0}
    for unit in wanted:
        counts[results.get(unit.name, SuccessCount(0, 0)).verdict] += 1
    return counts


@dataclass
class FilterProgress:
    """What is measured so far, in a file of its own beside `out` until the filter is done.

    `settings` are what the measurements depend on, as plain JSON values.
    """

    out: Path
    settings: Mapping[str, Any]
    results: Results = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return self.out.with_name(f"{self.out.name}.progress")

    def load(self) -> None:
        """Read what an earlier start has measured, if there is any.

        Raises:
            UserError: it was measured with other settings, or the file is damaged.
        """
        for number, (line, _) in enumerate(files.whole_lines(self.path), start=1):
            try:
                value = json.loads(line)
                if number == 1:
                    self._check(value)
                else:
                    self.results[value["unit"]] = SuccessCount(
                        value["successes"], value["episodes"]
                    )
            except (ValueError, KeyError, TypeError) as error:
                raise UserError(
                    f"{self.path}:{number} is damaged ({error!r}); delete the file to begin anew"
                ) from None

    def record(self, unit: str, found: SuccessCount) -> None:
        """Keep one measurement, on disk at once."""
        self.results[unit] = found
        values: list[dict[str, Any]] = [
            {"unit": unit, "successes": found.successes, "episodes": found.episodes}
        ]
        if not any(files.whole_lines(self.path)):
            values.insert(0, {"format": FORMAT, "settings": dict(self.settings)})
        files.append(self.path, (json.dumps(value, ensure_ascii=False) for value in values))

    def remove(self) -> None:
        """The filter is done, and its result written."""
        self.path.unlink(missing_ok=True)

    def _check(self, head: Mapping[str, Any]) -> None:
        theirs, mine = head["settings"], json.loads(json.dumps(dict(self.settings)))
        if head["format"] != FORMAT:
            raise ValueError(f"it has format {head['format']}")
        changed = [k for k in sorted(mine.keys() | theirs) if mine.get(k) != theirs.get(k)]
        if changed:
            was = ", ".join(f"{key}={theirs.get(key)!r}" for key in changed)
            raise UserError(
                f"{self.path} was measured with other settings ({was}); give those again to go "
                "on, or another --out, or delete the file to begin anew"
            )


def _start(unit: FilterUnit, member: int, seed: int) -> int:
    if unit.seed is not None:
        return unit.seed
    if unit.entry.seeds:
        return unit.entry.seeds[member % len(unit.entry.seeds)]
    return derive("filter", "episode", seed, unit.entry.name, member)
