"""Which episodes, and which of their turns, are worth imitating."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ui_gym_agents.episode import Episode, Turn
from ui_gym_agents.rewards import RewardFailure

Instance = tuple[str, int]
"""A task instance: (task, seed). Episodes of one begin alike and have one goal."""


def instance(episode: Episode) -> Instance:
    """The task instance of an episode."""
    return episode.task, episode.seed


@dataclass(frozen=True)
class Filters:
    """What an episode and a turn must keep to be learned from.

    `success`: the episode succeeded. `reward_above`: its `reward` is above this.
    `max_turns`: it has no more turns. `dedupe`: no earlier episode of its task instance saw and
    said the same. `keep`: at most so many of a task instance (0: all), the first ones, or with
    `shortest` those of the fewest turns. `drop_invalid` leaves out turns whose action failed, and
    `drop_repeats` turns that did again what had just changed nothing.
    """

    success: bool = False
    reward: Callable[[Episode], float] = lambda episode: episode.score
    expect: Callable[[Sequence[Episode]], None] = lambda episodes: None
    """Is told which episodes `reward` will be asked about."""
    reward_above: float | None = None
    max_turns: int | None = None
    dedupe: bool = False
    keep: int = 0
    shortest: bool = False
    drop_invalid: bool = False
    drop_repeats: bool = False

    def episodes(self, played: Sequence[Episode]) -> tuple[list[Episode], Counter[str]]:
        """The episodes that are kept, in their order, and how many were dropped, by reason.

        An episode counts for the first reason that applies: ``failure`` (its infrastructure
        failed), ``unsuccessful``, ``reward``, ``unrewarded`` (its reward failed), ``long``,
        ``duplicate``, ``surplus`` (its task instance has enough).
        """
        dropped: Counter[str] = Counter()
        good: list[int] = []
        if self.reward_above is not None:
            self.expect([e for e in played if e.failure is None and e.success >= self.success])
        seen: set[object] = set()
        for index, episode in enumerate(played):
            reason = self.reason(episode)
            if reason is None and self.dedupe:
                said = tuple((turn.seen, turn.action_text) for turn in episode.turns)
                reason = "duplicate" if (instance(episode), said) in seen else None
                seen.add((instance(episode), said))
            if reason is None:
                good.append(index)
            else:
                dropped[reason] += 1
        chosen = self._enough(played, good)
        if len(chosen) < len(good):
            dropped["surplus"] = len(good) - len(chosen)
        return [played[index] for index in sorted(chosen)], dropped

    def reason(self, episode: Episode) -> str | None:
        """Why an episode is not worth imitating, whatever the others are; None if it is."""
        if episode.failure is not None:
            return "failure"
        if self.success and not episode.success:
            return "unsuccessful"
        try:
            if self.reward_above is not None and self.reward(episode) <= self.reward_above:
                return "reward"
        except RewardFailure:
            return "unrewarded"
        if self.max_turns is not None and episode.steps > self.max_turns:
            return "long"
        return None

    def _enough(self, played: Sequence[Episode], good: Sequence[int]) -> list[int]:
        """Of each task instance, the `keep` that come first or are shortest."""
        if not self.keep:
            return list(good)
        ordered = sorted(good, key=lambda i: played[i].steps) if self.shortest else good
        counts: Counter[Instance] = Counter()
        chosen = []
        for index in ordered:
            counts[instance(played[index])] += 1
            if counts[instance(played[index])] <= self.keep:
                chosen.append(index)
        return chosen

    def turns(self, episode: Episode) -> list[int]:
        """Indices of the turns to learn from. Answers that were cut off are never among them."""
        return [index for index in range(episode.steps) if self._worthy(episode.turns, index)]

    def _worthy(self, turns: Sequence[Turn], index: int) -> bool:
        turn = turns[index]
        if turn.tokens is not None and turn.tokens.truncated:
            return False
        if self.drop_invalid and turn.action_error is not None:
            return False
        if not self.drop_repeats or not index:
            return True
        before = turns[index - 1]
        # On another picture the same action may well be right: the next page, the next item.
        return (action(turn), turn.seen) != (action(before), before.seen)


def action(turn: Turn) -> str:
    """What a turn did, without the thought before it: the last line of its text."""
    return turn.action_text.rstrip().rpartition("\n")[2].strip()
