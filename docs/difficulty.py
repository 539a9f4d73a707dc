"""Measures how difficult each family of the browser suite is, at each level and in compact form::

    python docs/difficulty.py                  # plays what docs/difficulty.json lacks
    python docs/difficulty.py --only Login     # plays this family anew; may be repeated
    python docs/difficulty.py --check          # plays nothing; status 1 if something is out of date

An oracle, a careless oracle and a random agent play the first instances of the split ``heldout``,
those of every `ui-gym-eval`. From the oracle's episodes come its steps and the reading they ask
for. ``docs/difficulty.json`` has the figures, and ``docs/gallery.md`` shows them. The file is
written after each family and level, so that what was stopped goes on where it was.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import statistics
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from gymnasium.vector import VectorEnv
from pydantic import TypeAdapter
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn

from ui_gym.contract import registry
from ui_gym.contract.arguments import make_task
from ui_gym.contract.device import Element
from ui_gym.contract.spec import TaskSpec
from ui_gym.contract.suite import families
from ui_gym.contract.task import Split
from ui_gym.errors import DeviceError, UserError, nearest
from ui_gym_agents import command, files
from ui_gym_agents.agents import CarelessAgent, OracleAgent, RandomAgent, careless_options
from ui_gym_agents.agents.agent import Agent
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.episode import Episode
from ui_gym_agents.evaluation.report.statistics import mean_and_half, wilson
from ui_gym_agents.marked import put_between
from ui_gym_agents.records.comparison import difference
from ui_gym_agents.seeds import derive_noise, evaluation_seed
from ui_gym_agents.tasks.mix import make_envs, reset_names
from ui_gym_agents.tasks.sources import TaskEntry

HERE = Path(__file__).resolve().parent
BEGIN, END = "<!-- difficulty: written by docs/difficulty.py -->\n", "<!-- end of difficulty -->"
SPLIT: Split = "heldout"
DIALECTS = {"oracle": "canonical", "random": "cells"}
"""Who selects words of a text needs every pixel; at random, it is the cells of the shipped models,
whose points are few."""
SLOTS = 2
COMPACT = "compact"
LEVELS = ("easy", "medium", "hard")
KINDS = (*LEVELS, COMPACT)
"""In what a family is measured, in the order in which it is shown."""

WHY = {
    "PaginatedSearch": "its easy level has no search, so that its pages are read one after another",
}
"""Why a family is not monotone, where that is known: ids keep their episodes, and their levels."""

Interval = tuple[float, float, float]
"""A figure, and its 95 % interval: (figure, low, high)."""
TaskEnvs = VectorEnv[Any, Any, Any]
Rows = dict[str, dict[str, "DifficultyRow"]]
"""The rows of each family by kind."""


@dataclass(frozen=True)
class DifficultyRow:
    """What was measured of a family at a level, or in its compact form."""

    episodes: int
    """How many each agent played. Those of the oracle, the careless and the random agent that were
    successes:"""
    oracle: int
    careless: int
    random: int
    steps: Interval
    """Of the oracle; the mean, as all that follow."""
    reading: Interval
    """Words of the goal and of the screens."""
    goal_words: float
    screen_words: float
    elements: float
    """Those that are told apart by role and name."""

    @classmethod
    def of(cls, played: Mapping[str, Sequence[Episode]]) -> DifficultyRow:
        """The figures of each agent's episodes."""
        oracle = played["oracle"]
        goals = [len(e.goal.split()) for e in oracle]
        screens = [reading(turn.elements for turn in e.turns) for e in oracle]
        words = [screen.words for screen in screens]
        return cls(
            episodes=len(oracle),
            steps=_mean([e.steps for e in oracle]),
            reading=_mean([goal + screen for goal, screen in zip(goals, words, strict=True)]),
            goal_words=round(statistics.mean(goals), 1),
            screen_words=round(statistics.mean(words), 1),
            elements=round(statistics.mean(screen.elements for screen in screens), 1),
            **{agent: sum(e.success for e in episodes) for agent, episodes in played.items()},
        )

    def rate(self, agent: str) -> Interval:
        """The share of an agent's episodes that were successes."""
        wins: int = getattr(self, agent)
        return (wins / self.episodes, *wilson(wins, self.episodes))


@dataclass(frozen=True)
class ReadingCount:
    """How much there is to read on screens."""

    words: int
    elements: int


def reading(screens: Iterator[str]) -> ReadingCount:
    """What lists of elements ask to be read, one after the other: names, and the values that are
    shown, also those that were written there.

    What stays from screen to screen is counted once, and what is on one screen several times as
    often as it is there at most.
    """
    texts: Counter[str] = Counter()
    elements: Counter[tuple[str, str]] = Counter()
    for screen in screens:
        found = [e for e in map(Element.read, screen.splitlines()) if e is not None]
        texts |= Counter(text for element in found for text in _texts(element))
        elements |= Counter((element.role, element.name) for element in found)
    return ReadingCount(
        sum(count * len(text.split()) for text, count in texts.items()), elements.total()
    )


def _texts(element: Element) -> Iterator[str]:
    """The name of an element, and the value that it shows."""
    yield element.name
    for state in element.states:
        name, _, value = state.partition("=")
        if name == "value":
            yield json.loads(value)


def _mean(values: Sequence[float]) -> Interval:
    mean, half = mean_and_half(values)
    return round(mean, 1), round(mean - half, 2), round(mean + half, 2)


# -- playing --


def kinds_of(spec: TaskSpec) -> dict[str, dict[str, Any]]:
    """What a family is measured in, with its arguments: its levels, or as it is registered where it
    has none, and its compact form."""
    levels = spec.load().levels
    found: dict[str, dict[str, Any]] = {level: {"level": level} for level in LEVELS if levels}
    found = found or {spec.difficulty: {}}
    return found | {COMPACT: {"compact": True}} if spec.takes("compact") else found


@dataclass(frozen=True)
class DifficultyPart:
    """A family at a level, or in its compact form: what makes a row."""

    entry: TaskEntry
    kind: str

    @property
    def family(self) -> str:
        return self.entry.spec.name


def parts_of(specs: Sequence[TaskSpec]) -> list[DifficultyPart]:
    """Every row that families should have."""
    return [
        DifficultyPart(TaskEntry(spec, arguments, SPLIT), kind)
        for spec in specs
        for kind, arguments in kinds_of(spec).items()
    ]


def measure(
    parts: Sequence[DifficultyPart], instances: int, progress: Progress
) -> Iterator[tuple[DifficultyPart, DifficultyRow]]:
    """Play parts, and give the row of each when it is known.

    Raises:
        DeviceError: an episode could not be played.
    """
    bar = progress.add_task("", total=len(parts))
    for compact in (False, True):  # the screens of one vector env have one size
        chosen = [part for part in parts if (part.kind == COMPACT) is compact]
        if not chosen:
            continue
        entries = [part.entry for part in chosen]
        names = reset_names(entries)
        with ExitStack() as stack:
            envs = {
                agent: stack.enter_context(
                    closing(make_envs(entries, SLOTS, dialect=dialect, observation="elements"))
                )
                for agent, dialect in DIALECTS.items()
            }
            for part in chosen:
                progress.update(bar, description=f"{part.family}, {part.kind}")
                played = _play(envs, part, names[part.entry.variant], instances)
                yield part, DifficultyRow.of(played)
                progress.advance(bar)


def _play(
    envs: Mapping[str, TaskEnvs], part: DifficultyPart, name: str, instances: int
) -> dict[str, list[Episode]]:
    """The episodes of each agent."""
    spec, arguments = part.entry.spec, part.entry.arguments
    mistakes = make_task(spec.id, arguments).mistakes
    right = [EpisodeRequest(seed, name, str(seed), split=SPLIT) for seed in seeds(instances)]
    # The same coin at all levels: whether a mistake is made is none of their differences.
    noise = {request.seed: derive_noise(spec.id, request.seed) for request in right}
    careless = [
        dataclasses.replace(request, options=careless_options(mistakes, noise[request.seed]))
        for request in right
    ]
    wrong = [request for request in careless if request.options["oracle"] is not True]
    chance: Any = envs["random"].single_action_space
    oracle = _collect(envs["oracle"], right, OracleAgent())
    # Where no mistake is made, the careless oracle's episode is the oracle's.
    missed = {e.id: e for e in _collect(envs["oracle"], wrong, CarelessAgent())}
    return {
        "oracle": oracle,
        "careless": [missed.get(e.id, e) for e in oracle],
        "random": _collect(envs["random"], right, RandomAgent(chance)),
    }


def _collect(envs: TaskEnvs, requests: Sequence[EpisodeRequest], agent: Agent) -> list[Episode]:
    episodes = Collector(envs, agent).collect(requests)
    for episode in episodes:
        if episode.failure is not None:
            raise DeviceError(
                f"{episode.task}, seed {episode.seed}: {episode.failure}; what was measured is "
                "kept: run it again for the rest"
            )
    return episodes


def seeds(instances: int) -> list[int]:
    """The seeds of the first instances of any task, those of `ui-gym-eval`."""
    return [evaluation_seed(index) for index in range(instances)]


# -- judging --


def falls(before: Interval, after: Interval) -> bool:
    """Whether a figure is below another beyond noise: the 95 % interval of their difference lies
    below 0."""
    one, other = (dict(zip(("success", "low", "high"), of, strict=True)) for of in (before, after))
    return difference(one, other)["high"] < 0


def faults(rows: Mapping[str, DifficultyRow]) -> list[str]:
    """Where a family's levels are not monotone: steps or reading that fall from a level to a harder
    level, successes of the careless or the random agent that rise."""
    found = []
    levels = [level for level in LEVELS if level in rows]
    for easier, harder in itertools.pairwise(levels):
        one, two = rows[easier], rows[harder]
        found += [
            f"{name} fall from {easier} ({before[0]:g}) to {harder} ({after[0]:g})"
            for name, before, after in (
                ("steps", one.steps, two.steps),
                ("words", one.reading, two.reading),
            )
            if falls(before, after)
        ]
        found += [
            f"{agent} successes rise from {easier} ({getattr(one, agent)} of {one.episodes}) to "
            f"{harder} ({getattr(two, agent)} of {two.episodes})"
            for agent in ("careless", "random")
            if falls(two.rate(agent), one.rate(agent))
        ]
    return found


# -- files --


def read(path: Path) -> Rows:
    """The rows of a file; none where there is no file.

    Raises:
        UserError: it is damaged.
    """
    if not path.exists():
        return {}
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return TypeAdapter(Rows).validate_python(told["families"])
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"{path} is not as docs/difficulty.py writes it ({error}): delete it, and run that"
        ) from None


def write(path: Path, rows: Rows) -> None:
    """Write rows: a line for each, all in order."""
    most = max((row.episodes for kinds in rows.values() for row in kinds.values()), default=0)
    told = []
    for family in sorted(rows):
        lines = [
            f"  {json.dumps(kind)}: {json.dumps(vars(rows[family][kind]), sort_keys=True)}"
            for kind in KINDS
            if kind in rows[family]
        ]
        told.append(f" {json.dumps(family)}: {{\n" + ",\n".join(lines) + "\n }")
    head = f'"dialects": {json.dumps(DIALECTS)},\n"seeds": {seeds(most)},\n"split": "{SPLIT}"'
    files.replace(path, '{"families": {\n' + ",\n".join(told) + "\n},\n" + head + "\n}\n")


def block(rows: Rows) -> str:
    """What the gallery shows, with its marks."""
    return BEGIN + shown(rows) + END


def shown(rows: Rows) -> str:
    """The table, and where levels are not monotone."""
    lines = [
        "| family | steps | words | of these the goal's | elements | careless | random |",
        "|---|---|---|---|---|---|---|",
        *(f"| {family} | {' | '.join(_cells(rows[family]))} |" for family in sorted(rows)),
    ]
    doubts = [
        f"- {family}: {'; '.join(found)}{f' ({WHY[family]})' if family in WHY else ''}."
        for family in sorted(rows)
        if (found := faults(rows[family]))
    ]
    told = (
        ["Not monotone, beyond noise (95 % intervals of the difference):", "", *doubts]
        if doubts
        else ["All levels are monotone within noise (95 % intervals of the difference)."]
    )
    return "\n".join([*lines, "", *told, ""])


def _cells(rows: Mapping[str, DifficultyRow]) -> list[str]:
    """A family's figures: those of its levels, and after a stroke its compact form's."""

    def cell(figures: Mapping[str, float]) -> str:
        levels = " · ".join(f"{figures[kind]:.0f}" for kind in LEVELS if kind in figures)
        return f"{levels} / {figures[COMPACT]:.0f}" if COMPACT in figures else levels

    return [
        cell({kind: row.steps[0] for kind, row in rows.items()}),
        cell({kind: row.reading[0] for kind, row in rows.items()}),
        cell({kind: row.goal_words for kind, row in rows.items()}),
        cell({kind: row.elements for kind, row in rows.items()}),
        cell({kind: 100 * row.rate("careless")[0] for kind, row in rows.items()}),
        cell({kind: 100 * row.rate("random")[0] for kind, row in rows.items()}),
    ]


def updated(page: Path, rows: Rows) -> str:
    """The page's text with the table as it should be.

    Raises:
        UserError: it has no place for the table.
    """
    return put_between(page.read_text("utf-8"), BEGIN, END, shown(rows))


def lacking(rows: Rows, specs: Sequence[TaskSpec]) -> list[str]:
    """What is not as it should be: rows that are missing, families that are gone, an oracle that
    fails."""
    wanted = {(part.family, part.kind) for part in parts_of(specs)}
    there = {(family, kind) for family, kinds in rows.items() for kind in kinds}
    failed = [
        f"{family}, {kind}: the oracle fails in {row.episodes - row.oracle} of {row.episodes}"
        for family, kinds in rows.items()
        for kind, row in kinds.items()
        if row.oracle < row.episodes
    ]
    return [
        *(f"{family}, {kind}: not measured" for family, kind in sorted(wanted - there)),
        *(
            f"{family}, {kind}: there is no such family any more"
            for family, kind in sorted(there - wanted)
        ),
        *failed,
    ]


# -- the command --

app = typer.Typer(add_completion=False)


@app.command()
def main(
    only: Annotated[
        list[str] | None, typer.Option(help="A family to play anew; may be repeated.")
    ] = None,
    instances: Annotated[
        int, typer.Option(min=2, help="Episodes of each agent, of each family and level.")
    ] = 8,
    check: Annotated[
        bool, typer.Option("--check", help="Play and write nothing: say what is out of date.")
    ] = False,
    folder: Annotated[Path, typer.Option(help="Where difficulty.json and gallery.md are.")] = HERE,
) -> int:
    """Measure how difficult each family of the browser suite is, at each level and in compact form.

    What difficulty.json lacks is played: minutes for a few families, half an hour for all. It is
    written after each family and level; Ctrl-C loses no more than the one under way.
    """
    path, page = folder / "difficulty.json", folder / "gallery.md"
    specs, rows = families("browser"), read(path)
    if check:
        return _check(lacking(rows, specs), page, rows)
    chosen = _chosen(only, specs)
    known = {spec.name for spec in specs}
    rows = {family: kinds for family, kinds in rows.items() if family in known}
    missing = [part for part in parts_of(chosen) if only or not _is_there(rows, part, instances)]
    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        for part, row in measure(missing, instances, progress):
            rows.setdefault(part.family, {})[part.kind] = row
            write(path, rows)
    files.replace(page, updated(page, rows))
    return 0


def _check(problems: list[str], page: Path, rows: Rows) -> int:
    if updated(page, rows) != page.read_text("utf-8"):
        problems = [*problems, f"{page.name} shows other figures"]
    for problem in problems:
        print(problem)
    if problems:
        print("out of date: python docs/difficulty.py")
    return int(bool(problems))


def _chosen(only: Sequence[str] | None, specs: Sequence[TaskSpec]) -> list[TaskSpec]:
    """The families that are played."""
    if not only:
        return list(specs)
    for name in only:
        if registry.spec(name) not in specs:
            known = nearest(name, [spec.name for spec in specs])
            raise UserError(f"{name!r} is no family of the browser suite. {known}")
    return [spec for spec in specs if any(spec.is_called(name) for name in only)]


def _is_there(rows: Rows, part: DifficultyPart, instances: int) -> bool:
    row = rows.get(part.family, {}).get(part.kind)
    return row is not None and row.episodes == instances


if __name__ == "__main__":
    sys.exit(command.run(app))
