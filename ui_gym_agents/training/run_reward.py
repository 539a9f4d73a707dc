"""RunReward: what episodes are worth to a run, and what happens where that cannot be said.

An episode whose reward failed (the function raised or gave no finite number, the judge did not
answer) is told by its id and left out. A run goes on without such episodes; where more than a share
of a step's are left out, it stops, since what is left would be a choice that nobody made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

from ui_gym_agents.episode import Episode
from ui_gym_agents.rewards import (
    MAX_TURNS,
    PictureSource,
    Reward,
    RewardFailure,
    Worth,
    check_parameters,
    get_reward,
    parameters_of,
    weighed,
)

MOST_TOLD = 3
"""Episodes of a step that are told one by one; the others are counted."""


@dataclass(frozen=True)
class _Known:
    """What was found of an episode, and for which step."""

    episode: Episode
    found: Worth | RewardFailure
    step: int


class RunReward:
    """A weighted sum of rewards, with one memory: each episode of a step is asked about once.

    Args:
        reward: A name, or names with weights.
        parameters: Of these rewards; each goes to all that take it.
        pictures: Gives where the pictures of episodes are, for rewards that look at them.
        limit: The turn limit of an episode that does not know it itself.
        note: Is told which episodes are left out, and why.
        share: Of a step's episodes, how many may be left out before the run stops.

    Raises:
        UserError: there is no such reward, parameter or weight.
    """

    def __init__(
        self,
        reward: str | Mapping[str, float],
        parameters: Mapping[str, float],
        *,
        pictures: Callable[[], PictureSource],
        limit: Callable[[Episode], int],
        note: Callable[[str], None],
        share: float,
        make: Callable[[str], Reward] = get_reward,
    ) -> None:
        self.name = reward if isinstance(reward, str) else " + ".join(reward)
        self._parts = [(make(name), weight) for name, weight in weighed(reward).items()]
        check_parameters([part for part, _ in self._parts], parameters)
        self._parameters = dict(parameters)
        self._pictures = pictures
        self._limit = limit
        self._note = note
        self._share = share
        self._lock = Lock()
        self._known: dict[int, _Known] = {}

    def __call__(self, episode: Episode) -> float:
        """What an episode is worth, all in all. Errors are those of `worth`."""
        return self.worth(episode).total

    def worth(self, episode: Episode, step: int = 0) -> Worth:
        """What an episode is worth, and its turns.

        Args:
            episode: It is kept until the `check` of its step.
            step: The step that learns from it, where that is played ahead; 0: the one in progress.

        Raises:
            RewardFailure: that cannot be said; it was noted, and counts for `check`.
            ValueError: the episode's infrastructure failed.
        """
        with self._lock:
            known = self._known.get(id(episode))
        if known is None:
            known = _Known(episode, self._find(episode, step), step)
            with self._lock:
                self._known[id(episode)] = known
        if isinstance(known.found, RewardFailure):
            raise known.found
        return known.found

    def worths(self, episodes: Sequence[Episode], step: int = 0) -> list[Worth | None]:
        """What each episode is worth, with `step` as for `worth`; None: it is left out."""
        self.expect(episodes)
        found: list[Worth | None] = []
        for episode in episodes:
            try:
                found.append(self.worth(episode, step))
            except RewardFailure:
                found.append(None)
        return found

    def expect(self, episodes: Sequence[Episode]) -> None:
        """Say which episodes `worths` will be asked about, so that what takes long may begin."""
        for part, _ in self._parts:
            if part.begin is not None:
                for episode in episodes:
                    part.begin(episode, self._pictures())

    def check(self, step: int) -> None:
        """End a step: forget its episodes. Those of later steps, played ahead, stay.

        Raises:
            RewardFailure: more of them than the share were left out.
        """
        with self._lock:
            known = [one for one in self._known.values() if one.step <= step]
            self._known = {key: one for key, one in self._known.items() if one.step > step}
        failures = [f"{one.found}" for one in known if isinstance(one.found, RewardFailure)]
        if len(failures) > MOST_TOLD:
            self._note(
                f"and {len(failures) - MOST_TOLD} more episodes of step {step} were left out"
            )
        if len(failures) > self._share * len(known):
            raise RewardFailure(
                f"{len(failures)} of the {len(known)} episodes of step {step} have no reward, and "
                f"more than {100 * self._share:g} % (reward_failures) is too much to go on "
                f"without; the last: {failures[-1]}"
            )

    def _find(self, episode: Episode, step: int) -> Worth | RewardFailure:
        worth = Worth()
        try:
            for part, weight in self._parts:
                worth = worth.plus(self._of(part, episode), weight)
        except RewardFailure as failure:
            if self._failures(step) < MOST_TOLD:
                self._note(f"episode {episode.id} of {episode.task} is left out: {failure}")
            return failure
        return worth

    def _failures(self, step: int) -> int:
        """How many episodes of a step are known to be left out."""
        with self._lock:
            known = [one for one in self._known.values() if one.step == step]
        return sum(isinstance(one.found, RewardFailure) for one in known)

    def _of(self, part: Reward, episode: Episode) -> Worth:
        given = parameters_of(part, self._parameters)
        if MAX_TURNS in part.defaults and MAX_TURNS not in given:
            given[MAX_TURNS] = self._limit(episode)
        return part.worth(episode, given, self._pictures() if part.wants_pictures else None)
