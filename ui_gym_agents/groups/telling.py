"""What a step tells of the groups that it played: metrics, and what each episode was worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ui_gym_agents.episode import Turn
from ui_gym_agents.groups.gathering import Batch, Trajectory
from ui_gym_agents.training.listeners import Learned

MOST_TRUNCATED = 0.2
"""The share of turns that may be cut before it is said."""


def batch_metrics(batch: Batch) -> dict[str, float]:
    """Rates and counts of a step's episodes and groups."""
    turns = turns_of(batch)
    count = max(1, len(batch.episodes))
    return {
        "episodes": len(batch.episodes),
        "success": sum(e.success for e in batch.episodes) / count,
        "score": sum(e.score for e in batch.episodes) / count,
        "turns": len(turns) / count,
        "valid_actions": sum(t.action_error is None for t in turns) / max(1, len(turns)),
        "groups": batch.groups,
        "informative_groups": batch.informative,
        "failed_episodes": batch.failed,
        "unrewarded_episodes": batch.unrewarded,
        "short_groups": batch.short,
        "dropped_groups": batch.dropped,
    }


def turns_of(batch: Batch) -> list[Turn]:
    """All turns of a step's episodes."""
    return [turn for episode in batch.episodes for turn in episode.turns]


def learned_of(batch: Batch, advantages: Mapping[str, float]) -> Learned:
    """Each episode's reward and mean advantage, by its id; equal groups have none of their own."""
    known = dict.fromkeys(batch.equal, 0.0) | dict(advantages)
    return {episode: (reward, known.get(episode)) for episode, reward in batch.rewards.items()}


def mean_advantages(trajectories: Sequence[Trajectory]) -> dict[str, float]:
    """The mean advantage of each episode's turns, by id; an advantage a token counts as its mean.

    An episode whose turns are all left out has none.
    """
    return {
        trajectory.episode.id: float(np.mean([np.mean(s.advantage) for s in trajectory.samples]))
        for trajectory in trajectories
        if trajectory.samples
    }


class StepAges:
    """How old the weights were that a step's turns were sampled with."""

    def __init__(self) -> None:
        self._begun: dict[int, int] = {}

    def begin(self, version: int, step: int) -> None:
        """A step begins with these weights."""
        self._begun[version] = step - 1

    def oldest(self, turns: Sequence[Turn], step: int) -> int:
        """How many steps the oldest weights of `turns` are behind."""
        versions = {turn.tokens.version for turn in turns if turn.tokens is not None}
        return step - 1 - min((self._begun.get(version, 0) for version in versions), default=0)


class Truncations:
    """Counts turns that were cut at the limit of new tokens, and says so where they are many.

    It is said once, and again after they were few.
    """

    def __init__(self, note: Callable[[str], None], limit: int, *, masked: bool) -> None:
        self._note = note
        self._limit = limit
        self._masked = masked
        self._told = False

    def share(self, turns: Sequence[Turn]) -> float:
        """The share of turns that were cut."""
        cut = sum(turn.tokens is not None and turn.tokens.truncated for turn in turns)
        share = cut / max(1, len(turns))
        if share > MOST_TRUNCATED and not self._told:
            fate = "learned from: raise the limit, unless the model rambles"
            if self._masked:
                fate = (
                    "left out of the loss (--trainer.mask_truncated): raise the limit or, where "
                    "the model rambles, learn from them"
                )
            self._note(
                f"{100 * share:.0f} % of the turns were cut at --policy.max_new_tokens "
                f"{self._limit}, and are {fate}"
            )
        self._told = share > MOST_TRUNCATED
        return share
