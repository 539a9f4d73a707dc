"""Playing what a step learns from: groups, rewards, advantages, replay."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter

import numpy as np

from ui_gym_agents.collecting.collector import Collector
from ui_gym_agents.episode import Episode, TokenRecord
from ui_gym_agents.groups.advantages import (
    EPSILON,
    GROUPED,
    TurnStates,
    leave_one_out,
    step_advantages,
)
from ui_gym_agents.groups.registry import ADVANTAGES, BUILT_IN_ADVANTAGES
from ui_gym_agents.groups.replay import ReplayBuffer
from ui_gym_agents.groups.settings import GroupSettings
from ui_gym_agents.rewards import Worth
from ui_gym_agents.training.context import TrainerContext
from ui_gym_agents.training.failures import TrainingError

Advantage = float | Sequence[float]
"""Of a turn, or of each of its tokens."""


@dataclass(frozen=True)
class LearningTurn:
    """A turn to learn from."""

    record: TokenRecord
    advantage: Advantage
    before: tuple[float, ...] | None = None
    """The tokens' log-probabilities when the step's learning began, where others sampled them."""
    reference: tuple[float, ...] | None = None
    """And under the policy that training began with, where the rule has a KL term."""
    owner: int = 0
    """The process that learns from it."""
    replayed: bool = False
    """Of an old success in a group that failed."""


@dataclass
class Trajectory:
    """What is learned from an episode. `rewards` has one a turn of the episode."""

    episode: Episode
    samples: list[LearningTurn]
    rewards: list[float]
    after: TokenRecord | None = None
    """The prompt after the last turn, for a critic, where the step limit cut the episode."""
    owner: int = 0
    """The process that learns from it."""


@dataclass
class Batch:
    """What a step plays. `trajectories` come from the informative groups alone.

    An episode that the infrastructure failed for good is counted in `failed`, and is nowhere else.
    """

    episodes: list[Episode] = field(default_factory=list)
    trajectories: list[Trajectory] = field(default_factory=list)
    informative: int = 0
    groups: int = 0
    replayed: int = 0
    failed: int = 0
    unrewarded: int = 0
    """Episodes whose reward failed; their groups count as if they had failed themselves."""
    short: int = 0
    """Groups that lost episodes, and count with those that are left."""
    dropped: int = 0
    """Groups that lost too many."""
    rewards: dict[str, float] = field(default_factory=dict)
    """What this step's episodes were worth, by id; none of those whose reward failed."""
    equal: set[str] = field(default_factory=set)
    """Those of them in groups that were all worth the same, and taught nothing."""


class Gatherer:
    """Plays the batch of a step with a collector."""

    def __init__(
        self,
        config: GroupSettings,
        context: TrainerContext,
        collector: Collector,
        replay: ReplayBuffer | None = None,
    ) -> None:
        self._config = config
        self._context = context
        self._collector = collector
        self._replay = replay
        self._reward = context.reward(
            config.reward,
            config.reward_parameters,
            failures=config.reward_failures,
            judge=config.judge,
            screenshots=lambda: collector.store.screenshots,
        )

    def batch(self, step: int, closed: Callable[[], bool] = lambda: False) -> Batch:
        """Play groups until enough of them teach something, or `refill` is used up.

        One that is `closed` on the way is shorter.
        """
        config = self._config
        most = int(config.groups * config.refill)
        batch = Batch()
        while batch.groups < most and batch.informative < config.groups and not closed():
            first = batch.groups
            count = min(config.groups - batch.informative if first else most, most - first)
            count = min(count, config.groups)
            for index, group in self._groups(step, first, count, closed):
                batch.episodes += group
                self._context.observe(group)
                self._learn_from(group, step, index, batch)
            batch.groups += count
        if self._replay is not None:
            self._store(batch, step)
        return batch

    def _groups(
        self, step: int, first: int, count: int, closed: Callable[[], bool]
    ) -> Iterator[tuple[int, list[Episode]]]:
        """The groups and their numbers, in the order in which they were asked for."""
        config = self._config
        requests = self._context.requests(
            step, count, config.group_size, first=first, instances=config.instances
        )
        numbers = {
            group: first + index
            for index, group in enumerate(dict.fromkeys(request.group for request in requests))
        }
        played = []
        for group in self._collector.groups(requests):
            self._reward.expect(group)
            # One of which nothing is left no longer says which it was, and needs no number.
            played.append((numbers[group[0].group] if group else first + count, group))
            if closed():
                break
        yield from sorted(played, key=itemgetter(0))

    def _learn_from(self, group: list[Episode], step: int, index: int, batch: Batch) -> None:
        batch.failed += self._config.group_size - len(group)
        rewarded = self._rewarded(group, step)
        batch.unrewarded += len(group) - len(rewarded)
        own = _totals(rewarded)
        batch.rewards |= own
        if len(rewarded) < self._config.fewest:
            batch.dropped += 1
            return
        batch.short += len(rewarded) < self._config.group_size
        if self._config.alone:  # against a critic, every episode teaches
            rewarded = self._shuffled(rewarded, step, index)
            batch.rewards |= _totals(rewarded)
            self._take(self._to_judge(rewarded), batch)
            return
        old = self._old([episode for episode, _ in rewarded], step, index)
        if old:
            rewarded = [*old, *rewarded[1:]]
            batch.replayed += 1
        rewarded = self._shuffled(rewarded, step, index)
        rewards = [worth.total for _, worth in rewarded]
        # One of replay was told of in its own step.
        batch.rewards |= {name: r for name, r in _totals(rewarded).items() if name in own}
        by_gigpo = not self._config.by_critic and self._config.advantage == "gigpo"
        equal = max(rewards) == min(rewards)
        if equal and not by_gigpo:  # nor is another's function asked, which may divide by 0
            batch.equal.update(own)
            return
        if self._config.by_critic:
            self._take(self._to_judge(rewarded, leave_one_out(rewards)), batch)
            return
        found = self._compared(rewarded)
        if equal and not any(_tells(sample) for one in found for sample in one.samples):
            batch.equal.update(own)
            return
        if old:
            found[0].samples = [replace(sample, replayed=True) for sample in found[0].samples]
        self._take(found, batch)

    def _old(self, group: Sequence[Episode], step: int, index: int) -> list[tuple[Episode, Worth]]:
        """An old success for a group that failed as a whole, if there is one."""
        if self._replay is None or not self._replay.wants(group):
            return []
        seed = self._context.derive("replay", step, index)
        old = self._replay.draw(group, step=step, seed=seed)
        return self._rewarded([] if old is None else [old], step)

    def _rewarded(self, group: Sequence[Episode], step: int) -> list[tuple[Episode, Worth]]:
        """The episodes with what they are worth, but those whose reward failed."""
        worths = self._reward.worths(group, step)
        return [(e, worth) for e, worth in zip(group, worths, strict=True) if worth is not None]

    @staticmethod
    def _take(found: list[Trajectory], batch: Batch) -> None:
        """Learn from a group, unless all its turns are left out."""
        if any(trajectory.samples for trajectory in found):
            batch.informative += 1
            batch.trajectories += found

    def _to_judge(
        self, group: Sequence[tuple[Episode, Worth]], compared: Sequence[float] | None = None
    ) -> list[Trajectory]:
        """The episodes of a group, for a critic; `compared` are their rewards less a baseline.

        The baseline is paid at the end, so that what turns gained stays theirs.
        """
        found = []
        for at, (episode, worth) in enumerate(group):
            gains = self._by_turn(episode, worth)
            if gains and compared is not None:
                gains[-1] += compared[at] - worth.total
            found.append(Trajectory(episode, self._samples(episode, 0.0), gains))
        return found

    def _compared(self, group: Sequence[tuple[Episode, Worth]]) -> list[Trajectory]:
        """The episodes of a group with their advantages."""
        each = [self._by_turn(episode, worth) for episode, worth in group]
        episodes = [episode for episode, _ in group]
        rewards = [worth.total for _, worth in group]
        advantages = group_advantages(self._config, episodes, rewards, each)
        return [
            Trajectory(episode, self._samples(episode, *by_turn), gains)
            for episode, by_turn, gains in zip(episodes, advantages, each, strict=True)
        ]

    def _shuffled(
        self, group: list[tuple[Episode, Worth]], step: int, index: int
    ) -> list[tuple[Episode, Worth]]:
        """The group; as a control, each episode with another one's reward, if so asked."""
        if not self._config.shuffle_rewards:
            return group
        seed = self._context.derive("shuffle rewards", step, index)
        rewards = np.random.default_rng(seed).permutation([worth.total for _, worth in group])
        return [(e, Worth(float(r))) for (e, _), r in zip(group, rewards, strict=True)]

    def _samples(self, episode: Episode, *advantages: float) -> list[LearningTurn]:
        return samples_of(episode, *advantages, mask_truncated=self._config.mask_truncated)

    def _by_turn(self, episode: Episode, worth: Worth) -> list[float]:
        """What each turn gained; the sum is the episode's reward.

        Where the reward tells its turns apart, as it says; else by the env, with the rest of the
        episode's reward at its end. The env may give on the way what it likes (``env.reward``):
        where it rewards progress and the reward is success alone, this is shaping that changes no
        optimum (Ng et al. 1999). Shuffled rewards come at the end alone: nothing may tell what went
        well.
        """
        if not episode.turns:
            return []
        if worth.turns is not None:
            return [*worth.turns[:-1], worth.turns[-1] + worth.end]
        told = not self._config.shuffle_rewards
        gained = [told * turn.reward for turn in episode.turns[:-1]]
        return [*gained, worth.end - sum(gained)]

    def _store(self, batch: Batch, step: int) -> None:
        """Keep this step's successes; only now, so that no group gets an episode of its own."""
        assert self._replay is not None
        pictures = self._collector.store.screenshots
        for episode in self._replay.store(batch.episodes, step=step):
            told = [turn.tokens for turn in episode.turns if turn.tokens is not None]
            seen = {key for tokens in told for record in tokens.all for key in record.images}
            for key in sorted(seen.union(filter(None, episode.screenshot_ids))):
                pictures.put(pictures.get(key), keep=True)


def _totals(rewarded: Sequence[tuple[Episode, Worth]]) -> dict[str, float]:
    """The rewards of episodes by their ids."""
    return {episode.id: worth.total for episode, worth in rewarded}


def group_advantages(
    config: GroupSettings,
    episodes: Sequence[Episode],
    rewards: Sequence[float],
    gains: Sequence[Sequence[float]],
) -> list[list[float]]:
    """The advantages of a group, one for each turn of each episode.

    Args:
        config: Says which.
        episodes: The group's.
        rewards: One for each episode.
        gains: And one for each of its turns.

    Raises:
        TrainingError: a function of others gave something else.
    """
    if config.advantage not in GROUPED:
        given = ADVANTAGES.find(config.advantage, BUILT_IN_ADVANTAGES)(rewards, episodes)
        return _spread(config.advantage, given, episodes)
    whole = GROUPED[config.advantage](rewards)
    found = [[value] * episode.steps for value, episode in zip(whole, episodes, strict=True)]
    if config.advantage != "gigpo":
        return found
    played = [
        TurnStates([turn.seen for turn in episode.turns], gained)
        for episode, gained in zip(episodes, gains, strict=True)
    ]
    more = step_advantages(played, gamma=config.gigpo_gamma)
    return [
        [value + config.gigpo_weight * extra for value, extra in zip(values, extras, strict=True)]
        for values, extras in zip(found, more, strict=True)
    ]


def _spread(
    name: str, given: Sequence[float | Sequence[float]], episodes: Sequence[Episode]
) -> list[list[float]]:
    """What a function of others gave, as a finite number for each turn."""
    found = [
        [float(one)] * episode.steps if isinstance(one, float | int) else [float(v) for v in one]
        for one, episode in zip(given, episodes, strict=False)
    ]
    fits = len(given) == len(episodes) and all(
        len(values) == episode.steps and all(map(math.isfinite, values))
        for values, episode in zip(found, episodes, strict=True)
    )
    if not fits:
        raise TrainingError(
            f"the advantage {name!r} gave {given!r} for {len(episodes)} episodes of "
            f"{[episode.steps for episode in episodes]} turns: it gives a finite number for each, "
            "or one for each of its turns"
        )
    return found


def _tells(sample: LearningTurn) -> bool:
    """Whether a turn was better or worse than expected, by more than a rounding error."""
    assert isinstance(sample.advantage, float)
    return abs(sample.advantage) > EPSILON


def samples_of(
    episode: Episode, *advantages: float, mask_truncated: bool = False
) -> list[LearningTurn]:
    """The turns of an episode that count: sampled by the policy and, if so asked, not cut off.

    `advantages`: one for all turns, or one each.
    """
    each = advantages * len(episode.turns) if len(advantages) == 1 else advantages
    return [
        LearningTurn(record, advantage)
        for turn, advantage in zip(episode.turns, each, strict=False)
        for record in (() if turn.tokens is None else turn.tokens.all)
        if not (mask_truncated and record.truncated)
    ]
