"""Curriculum: which task the next group plays, by how much there is to learn from it.

A group whose episodes all succeed, or all fail, teaches a group-relative learner nothing. With a
success rate p, the spread of a group's rewards is p(1-p), so that a task's weight is

    w = its own weight * p (1 - p)

(the measure called learnability in Rutherford et al. 2024, "No Regrets", arXiv 2408.15099). p is
the mean of Jeffreys' prior, Beta(1/2, 1/2), and the successes and trials seen so far, which fade by
`DECAY` a step, because they are those of an earlier policy. So p is never 0 or 1, and a task that
is seldom played drifts back to where most is to be learned: hopeless and mastered ones are tried
again by themselves.

Everything is a function of the run's seed, the step and `state_dict`. What is observed in a step
counts from the next step on, in the order in which its groups were asked for, however they ended.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from ui_gym.errors import UserError, nearest

Kind = Literal["uniform", "learnability"]

PRIOR = 0.5
"""Successes, and failures, that every task is taken to have had."""
DECAY = 0.95
"""What a step leaves of the evidence."""
VERSION = 2
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
    groups: int = 0
    """How many groups it had in all."""

    def rate(self, step: int) -> float:
        """The mean of its success rate's posterior at `step`, in (0, 1)."""
        faded: float = DECAY ** max(0, step - self.step)
        return (faded * self.successes + PRIOR) / (faded * self.trials + 2 * PRIOR)

    def add(self, step: int, successes: int, episodes: int) -> None:
        """Take in one group."""
        faded = DECAY ** max(0, step - self.step)
        self.successes = faded * self.successes + successes
        self.trials = faded * self.trials + episodes
        self.step = max(step, self.step)
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

    def draw(self, step: int, chance: float) -> str:
        """The task of a group of `step`, by a number in [0, 1) of the run's seed and the group."""
        self.advance(step)
        weights = self.weights(step)
        reached = itertools.accumulate(weights.values())
        drawn = (name for name, sum_ in zip(weights, reached, strict=True) if chance < sum_)
        return next(drawn, list(weights)[-1])  # the sum may miss 1 by a rounding error

    def weights(self, step: int) -> dict[str, float]:
        """The probability of each task at `step`, by name; they sum to one."""
        raw = {c.name: c.weight * self._interest(c.name, step) for c in self.candidates}
        totals: defaultdict[str, float] = defaultdict(float)
        for c in self.candidates:
            totals[self._part(c)] += raw[c.name]
        rest = 1.0 - sum(self.quotas.values())
        shares = {part: self.quotas.get(part, rest) for part in totals}
        # Quotas may leave a rest that no task takes.
        scale = sum(shares.values())
        return {
            c.name: shares[self._part(c)] / scale * raw[c.name] / totals[self._part(c)]
            for c in self.candidates
        }

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

    def metrics(self) -> dict[str, float]:
        """`task_success`: the mean over the tasks of the success rate that was seen of each.

        The success of all episodes rises where a task that is mastered comes more often; this does
        not. Older steps count less. A task counts as much after one group as after twenty, so that
        the first steps say little. Empty where tasks come by their own weights, or there is one.
        """
        seen = [r.successes / r.trials for r in self.records.values() if r.trials]
        if self.kind == "uniform" or len(self.records) == 1 or not seen:
            return {}
        return {"task_success": sum(seen) / len(seen)}

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
        return rate * (1 - rate)

    def _part(self, candidate: Candidate) -> str:
        """What a task shares its probability with: its category, or all without a quota."""
        return candidate.category if candidate.category in self.quotas else ""

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
