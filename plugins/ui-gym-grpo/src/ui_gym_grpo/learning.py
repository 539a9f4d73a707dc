"""Gradient steps on what was played."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import torch

from ui_gym.errors import UserError
from ui_gym_agents.groups.gathering import LearningTurn, Trajectory
from ui_gym_agents.groups.telling import mean_advantages
from ui_gym_agents.policy import VLMPolicy
from ui_gym_agents.policy.masters import adamw
from ui_gym_agents.training.context import TrainerContext
from ui_gym_agents.training.failures import TrainingError
from ui_gym_grpo.config import GRPOConfig
from ui_gym_grpo.critic import Critic
from ui_gym_grpo.dealing import minibatches
from ui_gym_grpo.judging import judged
from ui_gym_grpo.rebasing import rebased
from ui_gym_grpo.registry import BUILT_IN_LOSSES
from ui_gym_grpo.update import Losses, Rule, Scored, policy_loss

_SIDES = ("clipped_low", "clipped_high")


class Learner:
    """Updates a policy on trajectories: `epochs` x `minibatches` gradient steps each time."""

    def __init__(self, config: GRPOConfig, context: TrainerContext, screenshots: Any) -> None:
        self.config = config
        self.context = context
        self.policy: VLMPolicy = context.policy
        self._screenshots = screenshots
        self.advantages: dict[str, float] = {}
        """The mean advantage of each episode that was learned from last, by id."""
        self.optimizer = adamw(self.policy.parameters(), lr=config.lr, beta2=config.beta2)
        self.critic: Critic | None = None
        if config.algorithm == "ppo":
            if self.policy.merge_turns:
                raise UserError(
                    "the critic looks at turns one by one: leave policy.merge_turns off with "
                    "trainer.algorithm ppo"
                )
            seed = context.derive("critic")
            self.critic = Critic(self.policy, config.critic, seed=seed)
        low, high = config.clips
        self._rule = Rule(
            loss=config.loss,
            low=low,
            high=high,
            dual_clip=config.dual_clip,
            cap=config.importance_cap,
            band=config.turn_band,
            kl=config.kl,
        )

    def learn(self, trajectories: Sequence[Trajectory]) -> dict[str, float]:
        """Learn from trajectories; returns metrics, log-probabilities in nats.

        Without a turn to learn from nothing changes, and there are no metrics.
        """
        self.advantages = {}
        if not any(trajectory.samples for trajectory in trajectories):
            return {}
        config = self.config
        metrics: dict[str, float] = {}
        if self.critic is not None:
            seed = self.context.derive("critic", self.context.step)
            trajectories, metrics = judged(
                trajectories, self.critic, config.critic, self._screenshots, seed=seed
            )
        self.advantages = mean_advantages(trajectories)
        if self.critic is not None and self.context.step <= config.critic.warmup:
            return metrics
        episodes = [trajectory.samples for trajectory in trajectories]
        episodes, told = rebased(self.policy, episodes, self._screenshots, self._rule)
        rows: list[dict[str, float]] = []
        for part in minibatches(config, self.context, len(episodes)):
            if any(episodes[i] for i in part):  # else there is no gradient to follow
                rows.append(self._update([episodes[i] for i in part]))
        # The first update is on-policy: its gap is the sampler's and the learner's disagreement,
        # but where turns were scored again: there it is what `rebased` found.
        gaps = [row.pop("gap") for row in rows]
        told["logprob_gap"] = max(gaps[0], told.get("logprob_gap", 0.0))
        means = {key: float(np.mean([row[key] for row in rows if key in row])) for key in rows[-1]}
        return {**metrics, **means, **told, "updates": self.policy.version}

    # -- a gradient step --

    def _update(self, episodes: list[list[LearningTurn]]) -> dict[str, float]:
        """One gradient step on whole episodes."""
        samples = [sample for episode in episodes for sample in episode]
        scale, weights = self.config.averaging(episodes)

        def backward(part: list[int]) -> Losses:
            found = self._losses([samples[i] for i in part], [weights[i] for i in part])
            found.loss = found.loss / scale
            found.loss.backward()
            if not math.isfinite(found.loss.item()):
                self._give_up(found.loss.item(), [samples[i] for i in part])
            return found

        self.optimizer.zero_grad(set_to_none=True)
        owners = [sample.owner for sample in samples]
        records = [sample.record for sample in samples]
        parts = self.policy.accumulate(records, backward, owners=owners, threaded=True)
        tokens = max(1, sum(part.tokens for part in parts))
        low, high = (sum(getattr(part, side) for part in parts) for side in _SIDES)
        row = {
            "loss": sum(part.loss.item() for part in parts),
            "grad_norm": self._descend(),
            "clip_fraction": (low + high) / tokens,
            "clip_low": low / tokens,
            "clip_high": high / tokens,
            "entropy": sum(part.surprise for part in parts) / tokens,
            "gap": max((part.gap for part in parts), default=0.0),
        }
        if self.config.kl:
            row["kl"] = sum(part.kl for part in parts) / tokens
        if any(part.stale for part in parts):
            row["masked_turns"] = sum(part.masked for part in parts) / len(samples)
        return row

    def _losses(self, samples: Sequence[LearningTurn], weights: Sequence[float]) -> Losses:
        records = [sample.record for sample in samples]
        now = self.policy.logprobs(records, self._screenshots)
        turns = [
            Scored(
                now=logp,
                sampled=s.record.logprobs,
                advantage=s.advantage,
                before=s.before,
                reference=None if s.reference is None else logp.new_tensor(s.reference),
                weight=weight,
                replayed=s.replayed,
            )
            for logp, s, weight in zip(now, samples, weights, strict=True)
        ]
        return policy_loss(turns, self._rule)

    def _descend(self) -> float:
        """One step of the optimizer; returns the norm of the gradient before clipping."""
        parameters: list[Any] = list(self.policy.parameters())
        norm = float(torch.nn.utils.clip_grad_norm_(parameters, self.config.clip))
        if not math.isfinite(norm):
            return norm  # the host stops the run at the metrics; the weights stay whole
        context = self.context
        self.optimizer.param_groups[0]["lr"] = self.config.rate(
            self.policy.version, context.step, context.config.run.steps
        )
        self.optimizer.step()
        self.policy.version += 1
        return norm

    def _give_up(self, loss: float, samples: Sequence[LearningTurn]) -> None:
        """Keep the batch that broke training, and say where.

        Raises:
            TrainingError: always.
        """
        path = self.context.run.path / f"broken_batch_step_{self.context.step}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for sample in samples:
                file.write(json.dumps(asdict(sample)) + "\n")
        wrong = [name for name, p in self.policy.net.named_parameters() if not p.isfinite().all()]
        cause = (
            f"weights are not finite ({', '.join(wrong[:3])})"
            if wrong
            else "log-probabilities or advantages of this batch are not finite"
        )
        if not wrong and self.config.loss not in BUILT_IN_LOSSES:
            cause += f", or the loss {self.config.loss!r} makes them so"
        raise TrainingError(
            f"the loss of a micro-batch is {loss}: {cause}. The batch is kept in {path}; no weight "
            "was changed by it. A lower learning rate (--trainer.lr) may help"
        )
