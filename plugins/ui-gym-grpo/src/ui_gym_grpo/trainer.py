"""GRPO and PPO as a trainer: play groups, keep the ones that teach, and update.

The host looks at the class before it makes a trainer (``--help``, ``--dry-run``, a misspelled
setting), and should not wait for torch then: what needs torch is imported where a trainer is made.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ui_gym.errors import UserError
from ui_gym_agents.groups.feed import Feed
from ui_gym_agents.groups.replay import ReplayBuffer
from ui_gym_agents.groups.telling import (
    StepAges,
    Truncations,
    batch_metrics,
    learned_of,
    turns_of,
)
from ui_gym_grpo.config import GRPOConfig

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from ui_gym_agents.episode import TokenRecord
    from ui_gym_agents.groups.gathering import Batch, Gatherer
    from ui_gym_agents.policy import VLMPolicy
    from ui_gym_agents.training.context import TrainerContext


class GRPOTrainer:
    """One step: `groups` x `group_size` episodes, then `epochs` x `minibatches` gradient steps."""

    api_version = 1
    several_processes = True
    plays_teams = True
    Config = GRPOConfig
    defaults = {"run.steps": 55}

    def __init__(self, config: GRPOConfig, context: TrainerContext) -> None:
        from ui_gym_agents.groups.gathering import Gatherer
        from ui_gym_grpo.learning import Learner

        self.config = config
        self.context = context
        run = context.config
        if config.max_steps_off_policy and run.policy.shard and run.policy.engine is None:
            raise UserError(
                "playing ahead (--trainer.max_steps_off_policy) takes a whole second model, and "
                "--policy.shard divides the one there is: let a server sample (--policy.engine), "
                "or leave one of them out"
            )
        if config.max_steps_off_policy and run.env.per_rank and context.processes.count > 1:
            raise UserError(
                "playing ahead (--trainer.max_steps_off_policy) is the main process's alone, and "
                "with --env.per_rank all play: leave one of them out"
            )
        if config.max_steps_off_policy and run.policy.agent is not None:
            raise UserError(
                "playing ahead (--trainer.max_steps_off_policy) plays with copies of the policy, "
                "and an agent of its own (--policy.agent) asks one: leave one of them out"
            )
        if config.algorithm == "ppo" and run.policy.agent is not None:
            raise UserError(
                "a critic (--trainer.algorithm ppo) is asked in the policy's own prompts, and an "
                "agent (--policy.agent) has others: use grpo"
            )
        self.policy = context.policy
        self.replay: ReplayBuffer | None = None
        if config.replay.enabled:
            self.replay = ReplayBuffer(config.replay)
        self._screenshots = context.screenshots
        self.learner = Learner(config, context, self._screenshots)
        self._seconds: Mapping[str, float] = {}
        self._gatherer: Gatherer | None = None
        if context.processes.is_main:  # the others get their batches from it
            self._seconds = context.collector.seconds
            self._gatherer = Gatherer(config, context, context.collector, self.replay)
        self._feed: Feed[Batch] | None = None
        self._newest: tuple[int, Mapping[str, Tensor]] = (0, {})
        self._ages = StepAges()
        self._truncations = Truncations(
            context.note, self.policy.max_new_tokens, masked=config.mask_truncated
        )

    @property
    def optimizer(self) -> torch.optim.Optimizer:
        """The policy's."""
        return self.learner.optimizer

    @property
    def keeps_pictures(self) -> bool:
        """Whether pictures outlive a step: those that are played ahead of it do."""
        return self._feed is not None

    def step(self) -> Mapping[str, float]:
        """Collect and learn once; times are in seconds, log-probabilities in nats."""
        before = dict(self._seconds)
        started = time.perf_counter()
        self._ages.begin(self.policy.version, self.context.step)
        batch = self.context.from_main(self._next_batch, records_of, owners=owners_of)
        collected = time.perf_counter()
        metrics = self._describe(batch)
        if batch.trajectories:
            metrics |= self.learner.learn(batch.trajectories)
        self._tell(batch)
        if self._feed is None:
            self._screenshots.clear()
        else:
            self._publish()
            self._feed.learned(self.context.step)
        spent = {k: v - before.get(k, 0.0) for k, v in self._seconds.items()}
        return metrics | {
            "time_env": spent.get("env", 0.0),
            "time_generate": spent.get("act", 0.0),
            "time_collect": collected - started,
            "time_learn": time.perf_counter() - collected,
        }

    def save(self, directory: Path) -> None:
        """Write the adapter, the optimizer and the counter of updates, critic and replay."""
        from ui_gym_agents.training.tensors import save_optimizer

        self.policy.save(directory)
        path = directory / "optimizer.safetensors"
        save_optimizer(self.optimizer, path, step=self.policy.version)
        if self.learner.critic is not None:
            self.learner.critic.save(directory)
        if self.replay is not None:
            self.replay.save(directory / "replay.jsonl")

    def load(self, directory: Path) -> None:
        """Continue from what `save` wrote, to the bit."""
        from ui_gym_agents.training.tensors import load_optimizer

        self.policy.load(directory)
        path = directory / "optimizer.safetensors"
        self.policy.version = load_optimizer(self.optimizer, path)
        if self.learner.critic is not None:
            self.learner.critic.load(directory)
        if self.replay is not None:
            self.replay.load(directory / "replay.jsonl")

    def close(self) -> None:
        """End the thread that plays ahead, if there is one."""
        if self._feed is not None:
            self._feed.close()

    # -- where batches come from --

    def _next_batch(self) -> Batch:
        """What the step learns from; asked of the main process alone."""
        assert self._gatherer is not None
        if not self.config.max_steps_off_policy:
            batch = self._gatherer.batch(self.context.step)
        else:
            if self._feed is None:
                self._feed = self._start_feed()
            batch = self._feed.get(self.context.step)
        if self.learner.critic is not None:
            from ui_gym_grpo.judging import with_ends

            batch.trajectories = with_ends(
                batch.trajectories, self.policy, self._screenshots, self.config.critic
            )
        from ui_gym_grpo.dealing import dealt

        batch.trajectories = dealt(batch.trajectories, self.config, self.context)
        return batch

    def _start_feed(self) -> Feed[Batch]:
        """Play ahead, with a copy of the policy; where a server samples, without its weights."""
        from ui_gym_agents.groups.ahead import play_ahead

        self._publish()
        sampler = self._sampler()
        feed, collector = play_ahead(
            self.config, self.context, sampler, lambda: self._refresh(sampler)
        )
        self._seconds = collector.seconds
        return feed

    def _sampler(self) -> VLMPolicy:
        """What plays ahead while the policy learns."""
        from ui_gym_agents.policy.double import ServedDouble

        return ServedDouble(self.policy) if self._is_served() else copy.deepcopy(self.policy)

    def _is_served(self) -> bool:
        return self.policy.sampler is not None and self.policy.has_adapter

    def _publish(self) -> None:
        """Lay a copy of the weights out: the sampler takes it while these are learned further."""
        from ui_gym_agents.policy import lora

        if self._is_served():
            weights = lora.weights(self.policy.net)  # type: ignore[arg-type]
        else:
            trained = self.policy.net.named_parameters()
            weights = {name: p.detach().clone() for name, p in trained if p.requires_grad}
        self._newest = self.policy.version, weights

    def _refresh(self, sampler: VLMPolicy) -> None:
        """Give the sampler the weights that were laid out last."""
        import torch

        from ui_gym_agents.policy.double import ServedDouble

        version, weights = self._newest
        if isinstance(sampler, ServedDouble):
            sampler.take(version, weights)
            return
        sampler.version = version
        with torch.no_grad():
            for name, theirs in sampler.net.named_parameters():
                if theirs.requires_grad:
                    theirs.copy_(weights[name])
        sampler.eyes.forget()

    # -- what is told --

    def _tell(self, batch: Batch) -> None:
        """What this step made of its episodes; a critic's advantages are known only now."""
        advantages = self.learner.advantages if batch.trajectories else {}
        self.context.learned(learned_of(batch, advantages))

    def _describe(self, batch: Batch) -> dict[str, float]:
        turns = turns_of(batch)
        metrics = batch_metrics(batch) | {"truncated_turns": self._truncations.share(turns)}
        if self.replay is not None:
            metrics |= {"replayed": batch.replayed, "replay_size": len(self.replay)}
        if self.config.max_steps_off_policy:
            metrics["steps_off_policy"] = self._ages.oldest(turns, self.context.step)
        return metrics


def records_of(batch: Batch) -> Iterator[TokenRecord]:
    """What is learned from."""
    for trajectory in batch.trajectories:
        yield from (sample.record for sample in trajectory.samples)
        if trajectory.after is not None:
            yield trajectory.after


def owners_of(batch: Batch) -> Iterator[int]:
    """Which process learns from each of `records_of`."""
    for trajectory in batch.trajectories:
        yield from (sample.owner for sample in trajectory.samples)
        if trajectory.after is not None:
            yield trajectory.owner
