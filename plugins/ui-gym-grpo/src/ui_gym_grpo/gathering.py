"""Playing what a step learns from: groups, rewards, advantages, replay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter

import numpy as np

from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.episode import Episode, TokenRecord
from ui_gym_agents.training.context import TrainerContext
from ui_gym_grpo.advantages import GROUPED, TurnStates, step_advantages
from ui_gym_grpo.config import GRPOConfig
from ui_gym_grpo.replay import ReplayBuffer
from ui_gym_grpo.update import Advantage


@dataclass(frozen=True)
class LearningTurn:
    """A turn to learn from."""

    record: TokenRecord
    advantage: Advantage
    before: tuple[float, ...] | None = None
    """The tokens' log-probabilities when the step's learning began, where others sampled them."""
    reference: tuple[float, ...] | None = None
    """And under the model without its adapter, where the rule has a KL term."""
    owner: int = 0
    """The process that learns from it."""
    replayed: bool = False
    """Of an old success in a group that failed; see `update`."""


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
    short: int = 0
    """Groups that lost episodes, and count with those that are left."""
    dropped: int = 0
    """Groups that lost too many."""


class Gatherer:
    """Plays the batch of a step with a collector."""

    def __init__(
        self,
        config: GRPOConfig,
        context: TrainerContext,
        collector: Collector,
        replay: ReplayBuffer | None = None,
    ) -> None:
        self._config = config
        self._context = context
        self._collector = collector
        self._replay = replay
        self._worth = context.reward(config.reward, config.reward_parameters)

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
        requests = [
            self._fixed(request)
            for request in self._context.requests(step, count, config.group_size, first=first)
        ]
        numbers = {
            group: first + index
            for index, group in enumerate(dict.fromkeys(request.group for request in requests))
        }
        played = []
        for group in self._collector.groups(requests):
            # One of which nothing is left no longer says which it was, and needs no number.
            played.append((numbers[group[0].group] if group else first + count, group))
            if closed():
                break
        yield from sorted(played, key=itemgetter(0))

    def _fixed(self, request: EpisodeRequest) -> EpisodeRequest:
        """The request, of one of the fixed task instances if there are such."""
        count = self._config.instances
        if count is None:
            return request
        return replace(request, seed=self._context.derive("instance", request.seed % count))

    def _learn_from(self, group: list[Episode], step: int, index: int, batch: Batch) -> None:
        lost = self._config.group_size - len(group)
        batch.failed += lost
        if len(group) < self._config.fewest:
            batch.dropped += 1
            return
        batch.short += lost > 0
        if self._config.algorithm == "ppo":  # against a critic, every episode teaches
            worth = self._rewards(group, step, index)
            each = [self._turn_rewards(e, r) for e, r in zip(group, worth, strict=True)]
            found = [
                Trajectory(episode, self._samples(episode, 0.0), rewards)
                for episode, rewards in zip(group, each, strict=True)
            ]
            self._take(found, batch)
            return
        old: Episode | None = None
        if self._replay is not None and self._replay.wants(group):
            seed = self._context.derive("replay", step, index)
            old = self._replay.draw(group, step=step, seed=seed)
            if old is not None:
                group = [old, *group[1:]]
                batch.replayed += 1
        rewards = self._rewards(group, step, index)
        if max(rewards) == min(rewards):
            return
        found = self._compared(group, rewards)
        if old is not None:
            found[0].samples = [replace(sample, replayed=True) for sample in found[0].samples]
        self._take(found, batch)

    @staticmethod
    def _take(found: list[Trajectory], batch: Batch) -> None:
        """Learn from a group, unless all its turns are left out."""
        if any(trajectory.samples for trajectory in found):
            batch.informative += 1
            batch.trajectories += found

    def _compared(self, group: list[Episode], rewards: list[float]) -> list[Trajectory]:
        """The episodes of a group with their advantages."""
        config = self._config
        advantages = GROUPED[config.advantage](rewards)
        each = [self._turn_rewards(e, r) for e, r in zip(group, rewards, strict=True)]
        found = []
        extra: list[list[float]] = []
        if config.advantage == "gigpo":
            played = [
                TurnStates([turn.seen for turn in episode.turns], gains)
                for episode, gains in zip(group, each, strict=True)
            ]
            extra = step_advantages(played, gamma=config.gigpo_gamma)
        for number, (episode, advantage) in enumerate(zip(group, advantages, strict=True)):
            if extra:
                by_turn = [advantage + config.gigpo_weight * more for more in extra[number]]
            else:
                by_turn = [advantage] * len(episode.turns)
            found.append(Trajectory(episode, self._samples(episode, *by_turn), each[number]))
        return found

    def _rewards(self, group: Sequence[Episode], step: int, index: int) -> list[float]:
        rewards = [self._worth(episode) for episode in group]
        if self._config.shuffle_rewards:
            seed = self._context.derive("shuffle rewards", step, index)
            rewards = list(np.random.default_rng(seed).permutation(rewards))
        return rewards

    def _samples(self, episode: Episode, *advantages: float) -> list[LearningTurn]:
        return samples_of(episode, *advantages, mask_truncated=self._config.mask_truncated)

    def _turn_rewards(self, episode: Episode, reward: float) -> list[float]:
        """What each turn gained by the env, and the rest of the episode's reward at its end.

        They sum to the episode's reward, whatever the env gives on the way (``env.reward``): where
        it rewards progress and the reward is success alone, this is shaping that changes no optimum
        (Ng et al. 1999). Shuffled rewards come at the end alone: nothing may tell what went well.
        """
        told = not self._config.shuffle_rewards
        gained = [told * turn.reward for turn in episode.turns[:-1]]
        return [*gained, reward - sum(gained)] if episode.turns else []

    def _store(self, batch: Batch, step: int) -> None:
        """Keep this step's successes; only now, so that no group gets an episode of its own."""
        assert self._replay is not None
        pictures = self._collector.store.screenshots
        for episode in self._replay.store(batch.episodes, step=step):
            for key in (
                *(turn.screenshot_id for turn in episode.turns),
                episode.final_screenshot_id,
            ):
                if key:
                    pictures.put(pictures.get(key), keep=True)


def samples_of(
    episode: Episode, *advantages: float, mask_truncated: bool = True
) -> list[LearningTurn]:
    """The turns of an episode that count: sampled by the policy and, if so asked, not cut off.

    `advantages`: one for all turns, or one each.
    """
    each = advantages * len(episode.turns) if len(advantages) == 1 else advantages
    return [
        LearningTurn(turn.tokens, advantage)
        for turn, advantage in zip(episode.turns, each, strict=False)
        if turn.tokens is not None and not (mask_truncated and turn.tokens.truncated)
    ]
