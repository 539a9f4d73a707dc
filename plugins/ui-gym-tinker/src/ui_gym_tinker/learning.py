"""Gradient steps on what was played, on the server.

What a token costs is the server's business, by the name of its loss; how episodes are averaged,
divided into minibatches and how the rate goes is `ui_gym_agents.groups.stepping`, as for
`ui-gym-grpo`. The server sums over tokens, so that each advantage is sent with its token's weight:
the losses are homogeneous in it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ui_gym_agents.groups.gathering import LearningTurn, Trajectory
from ui_gym_agents.store import ScreenshotStore
from ui_gym_agents.training.context import TrainerContext
from ui_gym_agents.training.failures import TrainingError
from ui_gym_tinker.agent import TinkerAgent
from ui_gym_tinker.config import TinkerConfig
from ui_gym_tinker.service import Service

if TYPE_CHECKING:
    import tinker

Episodes = list[list[LearningTurn]]


@dataclass
class ServerLearner:
    """Learns on a training client.

    `updates` counts the optimizer's steps; `trained` the tokens that were learned from since
    `learn` began, prompts included.
    """

    config: TinkerConfig
    context: TrainerContext
    service: Service
    agent: TinkerAgent
    screenshots: ScreenshotStore
    updates: int = 0
    trained: int = 0
    _base: tinker.SamplingClient | None = None

    def learn(
        self, model: tinker.TrainingClient, trajectories: Sequence[Trajectory], base: str
    ) -> dict[str, float]:
        """Learn from trajectories; returns metrics, log-probabilities in nats.

        Raises:
            TrainingError: the loss is no number; the optimizer's step on it was not taken.
            ServiceError: the server failed.
        """
        episodes: Episodes = [trajectory.samples for trajectory in trajectories]
        self.trained = 0
        told: dict[str, float] = {}
        if self.config.kl:
            episodes, told["kl"] = self._kept_near(base, episodes)
        step = self.context.step
        parts = self.config.divided(
            len(episodes), lambda epoch: self.context.derive("minibatches", step, epoch)
        )
        rows = [
            self._update(model, [episodes[i] for i in part])
            for part in parts
            if any(episodes[i] for i in part)
        ]
        # Before the first update the gap is the sampler's and the learner's disagreement, and what
        # the policy has moved since, where data is older.
        gaps = [row.pop("gap") for row in rows]
        told["logprob_gap"] = gaps[0]
        means = {n: float(np.mean([row[n] for row in rows if n in row])) for n in rows[0]}
        return {**means, **told, "updates": self.updates}

    def _update(self, model: tinker.TrainingClient, episodes: Episodes) -> dict[str, float]:
        """One gradient step on whole episodes."""
        from tinker import types

        turns = [turn for episode in episodes for turn in episode]
        scale, weights = self.config.averaging(episodes)
        data = [
            self.agent.wire.datum(
                turn.record,
                self.screenshots.get,
                np.asarray(spread(turn)) * (weight / scale),  # type: ignore[arg-type]
                sequence_mask=self.config.loss == "gspo",
            )
            for turn, weight in zip(turns, weights, strict=True)
        ]
        self.trained += sum(datum.model_input.length for datum in data)
        begun = model.forward_backward(data, self.config.loss, self.config.thresholds or None)
        output = self.service.wait("gradients", begun)
        row = self._measured(turns, output)
        if not math.isfinite(row["loss"]):
            raise TrainingError(
                f"the loss of a minibatch is {row['loss']}, and its step was not taken. A lower "
                "learning rate (--trainer.lr) may help"
            )
        config, context = self.config, self.context
        adam = types.AdamParams(
            learning_rate=config.rate(self.updates, context.step, context.config.run.steps),
            beta2=config.beta2,
            eps=1e-8,
            grad_clip_norm=config.clip,
        )
        response = self.service.wait("a step", model.optim_step(adam))
        self.updates += 1
        metrics = getattr(response, "metrics", None) or {}
        norms = [value for name, value in metrics.items() if "grad_norm" in name]
        return row | ({"grad_norm": float(norms[0])} if norms else {})

    def _measured(self, turns: Sequence[LearningTurn], output: Any) -> dict[str, float]:
        """The loss, and how far the learner is from the sampler."""
        now, then = [], []
        for turn, found in zip(turns, output.loss_fn_outputs, strict=True):
            values = found["logprobs"].to_numpy().reshape(-1)
            now.append(values[-len(turn.record.output_ids) :])
            then.append(np.asarray(turn.record.logprobs, np.float32))
        drift = np.concatenate(now) - np.concatenate(then)
        measured = {
            "loss": float(output.metrics.get("loss:sum", math.nan)),
            "gap": float(np.abs(drift).max()),
            "entropy": float(-np.concatenate(now).mean()),
        }
        if self.config.loss == "ppo":
            advantages = np.concatenate([spread(turn) for turn in turns])
            measured |= self._clipped(np.exp(drift), advantages)
        return measured

    def _clipped(self, ratio: Any, advantages: Any) -> dict[str, float]:
        """The shares of tokens whose gradient a clip stops, by side."""
        thresholds = self.config.thresholds
        low = (ratio < thresholds["clip_low_threshold"]) & (advantages < 0)
        high = (ratio > thresholds["clip_high_threshold"]) & (advantages > 0)
        return {
            "clip_low": float(low.mean()),
            "clip_high": float(high.mean()),
            "clip_fraction": float((low | high).mean()),
        }

    # -- the KL to the base model --

    def _kept_near(self, base: str, episodes: Episodes) -> tuple[Episodes, float]:
        """Turns whose advantages have the KL to the base model taken off, and its estimate.

        With d = log-probability less the base model's, each token's advantage loses
        kl (d - mean d), the mean over all tokens: the gradient of the KL of what was sampled, less
        a baseline.
        """
        turns = [turn for episode in episodes for turn in episode]
        far = self._distances(base, turns)
        mean = float(np.concatenate(far).mean())
        charged = [
            replace(turn, advantage=list(np.asarray(spread(turn)) - self.config.kl * (d - mean)))
            for turn, d in zip(turns, far, strict=True)
        ]
        following = iter(charged)
        return [[next(following) for _ in episode] for episode in episodes], mean

    def _distances(self, base: str, turns: Sequence[LearningTurn]) -> list[Any]:
        """The sampler's log-probability less the base model's, of each token of each turn."""
        from tinker import types

        if self._base is None:
            self._base = self.service.base_sampler(base)
        sampler = self._base
        asked = []
        for turn in turns:
            record = turn.record
            images = [self.screenshots.get(key) for key in record.images]
            prompt = self.agent.wire.prompt((*record.prompt_ids, *record.output_ids), images)
            self.agent.counts.add(prompt.length, 0)
            asked.append(
                sampler.sample(
                    prompt,
                    1,
                    types.SamplingParams(max_tokens=1),
                    include_prompt_logprobs=True,
                    prompt_logprobs_last_n=len(record.output_ids),
                )
            )
        found = []
        for turn, future in zip(turns, asked, strict=True):
            answer = self.service.wait("the base model's log-probabilities", future)
            tail = answer.prompt_logprobs[-len(turn.record.output_ids) :]
            found.append(np.asarray(turn.record.logprobs) - np.asarray(tail, np.float64))
        return found


def spread(turn: LearningTurn) -> list[float]:
    """A turn's advantage for each of its tokens."""
    if isinstance(turn.advantage, float | int):
        return [float(turn.advantage)] * len(turn.record.output_ids)
    return [float(value) for value in turn.advantage]
