"""Advantages by a critic: GAE over turns, then over their tokens, and what the critic learns of it.

With `bootstrap`, an episode that the step limit cut did not end: its return goes on with the
critic's value of the state after its last turn (Pardo et al. 2018, arXiv:1712.00378), which the
final screenshot shows. Without, the limit is one of the task's terms, as where success is measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from ui_gym_agents.agents.agent import View
from ui_gym_agents.episode import Episode
from ui_gym_agents.groups.advantages import token_advantages, turn_advantages
from ui_gym_agents.groups.gathering import LearningTurn, Trajectory
from ui_gym_agents.policy import VLMPolicy
from ui_gym_agents.policy.images import ScreenshotSource
from ui_gym_grpo.config import CriticSettings
from ui_gym_grpo.critic import Critic


def goes_on(episode: Episode, settings: CriticSettings) -> bool:
    """Whether the step limit cut an episode whose return goes on."""
    cut = episode.truncated and not episode.terminated and episode.failure is None
    return settings.bootstrap and cut


def with_ends(
    trajectories: Sequence[Trajectory],
    policy: VLMPolicy,
    screenshots: ScreenshotSource,
    settings: CriticSettings,
) -> list[Trajectory]:
    """Trajectories with the prompt that an episode cut at the step limit goes on from.

    Where the agent read elements, those after the last turn are not recorded, and there is none.
    """
    return [
        _with_end(one, policy, screenshots) if goes_on(one.episode, settings) else one
        for one in trajectories
    ]


def _with_end(
    trajectory: Trajectory, policy: VLMPolicy, screenshots: ScreenshotSource
) -> Trajectory:
    episode = trajectory.episode
    keys = episode.screenshot_ids
    read = any(turn.elements for turn in episode.turns)
    if not trajectory.samples or read or not all(keys):
        return trajectory
    view = View(
        slot=0,
        goal=episode.goal,
        screenshots=[screenshots.get(key) for key in keys],
        feedback=episode.turns[-1].feedback,
        turns=tuple(episode.turns),
    )
    return replace(trajectory, after=policy.encode(view, ""))


def judged(
    trajectories: Sequence[Trajectory],
    critic: Critic,
    settings: CriticSettings,
    screenshots: Any,
    *,
    seed: int,
) -> tuple[list[Trajectory], dict[str, float]]:
    """Trajectories with advantages by the critic, which then learns what they returned."""
    records = [s.record for trajectory in trajectories for s in trajectory.samples]
    ends = [one.after for one in trajectories if one.after is not None]
    owners = [s.owner for trajectory in trajectories for s in trajectory.samples]
    owners += [one.owner for one in trajectories if one.after is not None]
    states = critic.states([*records, *ends], screenshots, owners=owners)
    with torch.no_grad():
        values = [critic.values(state).tolist() for state in states]
    following = iter(row[0] for row in values[len(records) :])
    found: list[Trajectory] = []
    targets: list[float] = []
    at = 0
    for trajectory in trajectories:
        own = values[at : at + len(trajectory.samples)]
        at += len(own)
        last = 0.0
        if trajectory.after is not None:
            last = next(following)
        elif goes_on(trajectory.episode, settings) and own:
            last = own[-1][-1]  # before the last token: the nearest state that is known
        samples = _judged(trajectory, own, settings, last)
        targets += [
            advantage + value
            for sample, row in zip(samples, own, strict=True)
            for advantage, value in zip(_tokenwise(sample), row, strict=True)
        ]
        found.append(replace(trajectory, samples=samples))
    together = torch.cat(states[: len(records)])
    goals = torch.tensor(targets, device=together.device)
    fitted = critic.fit(together, goals, epochs=settings.epochs, minibatch=256, seed=seed)
    return _whitened(found, settings.whiten), fitted


def _judged(
    trajectory: Trajectory, values: Sequence[Sequence[float]], settings: CriticSettings, last: float
) -> list[LearningTurn]:
    """The turns of a trajectory with an advantage a token; `values` are those of its tokens."""
    rewards = _of_samples(trajectory)
    starts = [row[0] for row in values]
    gains = turn_advantages(rewards, starts, gamma=settings.gamma, lam=settings.lam, last=last)
    return [
        replace(
            sample,
            advantage=tuple(token_advantages(gain + row[0], row, lam=settings.token_lam)),
        )
        for sample, row, gain in zip(trajectory.samples, values, gains, strict=True)
    ]


def _tokenwise(sample: LearningTurn) -> Sequence[float]:
    assert not isinstance(sample.advantage, float)
    return sample.advantage


def _of_samples(trajectory: Trajectory) -> list[float]:
    """The rewards of the turns that are learned from; what others got goes to the one before."""
    rewards: list[float] = []
    records = {id(sample.record) for sample in trajectory.samples}
    waiting = 0.0
    for turn, reward in zip(trajectory.episode.turns, trajectory.rewards, strict=True):
        told = () if turn.tokens is None else turn.tokens.all
        if learned := sum(id(record) in records for record in told):
            rewards += [0.0] * (learned - 1) + [reward + waiting]
            waiting = 0.0
        elif rewards:
            rewards[-1] += reward
        else:
            waiting += reward
    return rewards


def _whitened(trajectories: list[Trajectory], whiten: str) -> list[Trajectory]:
    """Advantages of all tokens less their mean (both), over their deviation (both, scale)."""
    if whiten == "none":
        return trajectories
    values = np.array([v for t in trajectories for s in t.samples for v in _tokenwise(s)])
    mean, spread = (float(values.mean()), float(values.std())) if len(values) else (0.0, 1.0)
    if whiten == "scale":
        mean = 0.0

    def scaled(sample: LearningTurn) -> LearningTurn:
        return replace(
            sample, advantage=tuple((v - mean) / (spread + 1e-8) for v in _tokenwise(sample))
        )

    return [replace(t, samples=[scaled(s) for s in t.samples]) for t in trajectories]
