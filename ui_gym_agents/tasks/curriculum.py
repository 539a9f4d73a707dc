"""Curriculum: which task the next group plays, by how much there is to learn from it.

A group whose episodes all succeed, or all fail, teaches a group-relative learner nothing. With a
success rate p, the spread of a group's rewards is p(1-p), so that a task's weight is

    w = its own weight * (p (1 - p) + 0.05)

(the measure called learnability in Rutherford et al. 2024, "No Regrets", arXiv 2408.15099; the
floor keeps every task alive). p is the mean of a Beta(1, 1) prior and the successes and trials seen
so far, which fade by `DECAY` a step, because they are those of an earlier policy. A task that fails
`PAUSE_AFTER` groups in a row is paused, and gets one group again every `PROBE_EVERY` steps.

Everything is a function of the run's seed, the step and `state_dict`. What is observed in a step
counts from the next step on, in the order in which its groups were asked for, however they ended.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from ui_gym.errors import UserError, nearest

Kind = Literal["uniform", "learnability"]

FLOOR = 0.05
"""Added to p(1-p), whose largest value is 0.25."""
DECAY = 0.95
"""What a step leaves of the evidence."""
PAUSE_AFTER = 3
"""Groups without any success, in a row, after which a task is paused."""
PROBE_EVERY = 10
"""Steps between the probes of a paused task."""
PROBE_SHARE = 4
"""At most every so-manieth group of a step is a probe."""
VERSION = 1
"""Of `state_dict`."""


@dataclass(frozen=True)
class Candidate:
    """A task that may be drawn."""

    name: str
    category: str = "other"
    weight: float = 1.0


@dataclass
class CandidateRecord:
    """What is known of a task: faded `successes` of faded `trials`, as of `step`."""

    successes: float = 0.0
    trials: float = 0.0
    step: int = 0
    failing: int = 0
    """Groups in a row without any success."""
    paused: int | None = None
    """The step of its last group, where it is paused."""
    groups: int = 0
    """How many groups it had in all."""

    def rate(self, step: int) -> float:
        """The mean of its success rate's posterior at `step`, in (0, 1)."""
        faded: float = DECAY ** max(0, step - self.step)
        return (faded * self.successes + 1) / (faded * self.trials + 2)

    def add(self, step: int, successes: int, episodes: int) -> None:
        """Take in one group."""
        faded = DECAY ** max(0, step - self.step)
        self.successes = faded * self.successes + successes
        self.trials = faded * self.trials + episodes
        self.step = max(step, self.step)
        self.failing = 0 if successes else self.failing + 1
        self.paused = step if self.failing >= PAUSE_AFTER else None
        self.groups += 1


@dataclass
class Curriculum:
    """Draws tasks.

    Args:
        candidates: The tasks; their names differ.
        kind: ``"uniform"`` (by their own weights alone) or ``"learnability"``.
        quotas: Shares of the groups by category, in (0, 1]; the other categories share the rest.

    Raises:
        UserError: there is no candidate, or the quotas cannot be kept.
    """

    candidates: Sequence[Candidate]
    kind: Kind = "uniform"
    quotas: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [candidate.name for candidate in self.candidates]
        if not names:
            raise UserError("a curriculum needs a task")
        if len(set(names)) < len(names):
            raise ValueError(f"the names of a curriculum's tasks differ, unlike {sorted(names)}")
        self._check_quotas()
        self.records = {name: CandidateRecord() for name in names}
        self._pending: dict[tuple[int, int], tuple[str, int, int]] = {}

    # -- drawing --

    def draw(self, step: int, index: int, chance: float) -> str:
        """The task of group `index` (from 0 on) of `step`.

        `chance` is a number in [0, 1) that depends on the run's seed, the step and the index.
        """
        self.advance(step)
        due = self._due(step)
        # With few groups a step, probes come in some steps alone.
        number, rest = divmod(index, PROBE_SHARE)
        if rest == step % PROBE_SHARE and number < len(due):
            return due[number]
        weights = self.weights(step)
        reached = itertools.accumulate(weights.values())
        drawn = (name for name, sum_ in zip(weights, reached, strict=True) if chance < sum_)
        # The sum may miss 1 by a rounding error: the last task that can be drawn at all.
        return next(drawn, [name for name, weight in weights.items() if weight > 0][-1])

    def weights(self, step: int) -> dict[str, float]:
        """The probability of each task at `step`, by name; they sum to one."""
        active = [c for c in self.candidates if not self._is_paused(c.name)]
        raw = {c.name: 0.0 for c in self.candidates}
        raw |= {c.name: c.weight * self._interest(c.name, step) for c in active or self.candidates}
        shares = self._shares(raw)
        totals: dict[str, float] = {}
        for candidate in self.candidates:
            part = self._part(candidate)
            totals[part] = totals.get(part, 0.0) + raw[candidate.name]
        found = {}
        for candidate in self.candidates:
            part = self._part(candidate)
            weight = raw[candidate.name]
            found[candidate.name] = shares[part] * weight / totals[part] if weight else 0.0
        return found

    # -- learning from what came --

    def observe(self, name: str, step: int, index: int, successes: int, episodes: int) -> None:
        """A group has ended: `successes` of its `episodes` that were played to the end.

        Once observed again, as after a restart, it replaces what was said before.
        """
        if name not in self.records:
            raise ValueError(f"there is no task {name!r}. {nearest(name, self.records)}")
        if not 0 <= successes <= episodes:
            raise ValueError(f"{successes} successes of {episodes} episodes cannot be")
        if episodes:
            self._pending[step, index] = (name, successes, episodes)

    def advance(self, step: int) -> None:
        """Take in what was observed in steps before `step`."""
        for seen, index in sorted(group for group in self._pending if group[0] < step):
            name, successes, episodes = self._pending.pop((seen, index))
            self.records[name].add(seen, successes, episodes)

    def describe(self, step: int) -> dict[str, float]:
        """Figures for the log: mean success rate, and how many tasks are paused or mastered."""
        rates = [record.rate(step) for record in self.records.values()]
        return {
            "tasks": len(rates),
            "tasks_rate": sum(rates) / len(rates),
            "tasks_paused": sum(map(self._is_paused, self.records)),
            "tasks_mastered": sum(rate > 0.9 for rate in rates),
        }

    # -- state --

    def state_dict(self) -> dict[str, Any]:
        """All that was learned, as plain JSON values."""
        return {
            "version": VERSION,
            "tasks": {name: asdict(record) for name, record in self.records.items()},
            "pending": [[*group, *seen] for group, seen in sorted(self._pending.items())],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Become what `state_dict` gave. Tasks that are gone are forgotten; new ones are fresh.

        Raises:
            UserError: it is no such state; nothing is changed then.
        """
        try:
            if state["version"] != VERSION:
                raise ValueError(f"it has version {state['version']}, not {VERSION}")
            known = {name: CandidateRecord(**values) for name, values in state["tasks"].items()}
            pending = {
                (int(step), int(index)): (str(name), int(successes), int(episodes))
                for step, index, name, successes, episodes in state["pending"]
                if name in self.records
            }
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UserError(f"this is no state of a curriculum: {error!r}") from error
        self.records = {name: known.get(name, CandidateRecord()) for name in self.records}
        self._pending = pending

    # -- inside --

    def _interest(self, name: str, step: int) -> float:
        if self.kind == "uniform":
            return 1.0
        rate = self.records[name].rate(step)
        return rate * (1 - rate) + FLOOR

    def _is_paused(self, name: str) -> bool:
        return self.kind != "uniform" and self.records[name].paused is not None

    def _due(self, step: int) -> list[str]:
        """The paused tasks whose next probe is due, the longest waiting first."""
        waits = [
            (record.paused, name)
            for name, record in self.records.items()
            if record.paused is not None and step - record.paused >= PROBE_EVERY
        ]
        return [name for _, name in sorted(waits)] if self.kind != "uniform" else []

    def _part(self, candidate: Candidate) -> str:
        """What a task shares its probability with: its category, or all without a quota."""
        return candidate.category if candidate.category in self.quotas else ""

    def _shares(self, raw: Mapping[str, float]) -> dict[str, float]:
        """The probability of each part that has a task to draw now; they sum to one."""
        parts = {self._part(c) for c in self.candidates if raw[c.name] > 0}
        rest = max(0.0, 1.0 - sum(self.quotas.values()))
        shares = {part: self.quotas[part] if part else rest for part in sorted(parts)}
        total = sum(shares.values())
        # If only tasks without a share are left, they are drawn from all the same.
        return {part: share / total if total else 1.0 for part, share in shares.items()}

    def _check_quotas(self) -> None:
        known = {candidate.category for candidate in self.candidates}
        for category, share in self.quotas.items():
            if category not in known:
                raise UserError(
                    f"there is a quota for {category!r}, but no task of that category. "
                    f"{nearest(category, known)}"
                )
            if not 0 < share <= 1:
                raise UserError(f"the quota of {category!r} is a share in (0, 1], not {share!r}")
        total = sum(self.quotas.values())
        if total > 1 + 1e-9:
            raise UserError(f"the quotas sum to {total:g}, which is more than 1")
        others = sorted(known - self.quotas.keys())
        if self.quotas and others and total > 1 - 1e-9:
            raise UserError(
                f"the quotas leave nothing for the category {others[0]!r}: give it one, or leave "
                "its tasks out"
            )
