"""What the tests of gradient steps share: a tiny policy, learners on it, and what it played."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from ui_gym_agents.agents.agent import View
from ui_gym_agents.episode import Episode, Turn
from ui_gym_agents.groups.gathering import LearningTurn, Trajectory
from ui_gym_agents.policy import PromptBuilder, VLMPolicy, load_policy
from ui_gym_agents.seeds import derive
from ui_gym_agents.store import ScreenshotStore
from ui_gym_agents.training.run_reward import RunReward
from ui_gym_grpo import GRPOConfig
from ui_gym_grpo.learning import Learner


def make_policy(folder: Path, **settings: Any) -> VLMPolicy:
    """A policy with an adapter that does something."""
    given = {"lora_rank": 4, "prompt": PromptBuilder.bare(), "max_new_tokens": 6, "seed": 1}
    policy = load_policy(folder, **given | settings)  # type: ignore[arg-type]
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter += 0.02 * torch.randn(parameter.shape, generator=torch.manual_seed(0))
    return policy


def make_learner(
    policy: VLMPolicy, path: Path, store: ScreenshotStore | None = None, **settings: Any
) -> Learner:
    """A learner whose first step has the full learning rate; its broken batches go to `path`."""
    context = SimpleNamespace(
        policy=policy, step=1, derive=derive, note=print,
        run=SimpleNamespace(path=path),
        config=SimpleNamespace(run=SimpleNamespace(steps=10)),
    )  # fmt: skip
    defaults = {"epochs": 1, "minibatches": 1, "warmup": 0, "hold": 0.9}
    store = ScreenshotStore() if store is None else store
    return Learner(GRPOConfig(**defaults | settings), context, store)  # type: ignore[arg-type]


def run_reward(
    reward: Any, parameters: Any, *, failures: float, judge: Any, screenshots: Any
) -> RunReward:
    """`TrainerContext.reward` of a context that is none; what it notes, nobody reads."""
    return RunReward(
        reward, parameters, pictures=screenshots, limit=lambda episode: episode.steps,
        note=lambda text: None, share=failures,
    )  # fmt: skip


def play(learner: Learner, count: int = 4, turns: int = 2) -> list[Trajectory]:
    """Episodes of random pictures, half of them better than expected."""
    return [
        trajectory(episode)
        for episode in play_episodes(learner.policy, learner._screenshots, count, turns)
    ]


def play_episodes(
    policy: VLMPolicy, store: ScreenshotStore, count: int = 4, turns: int = 2, first: int = 0
) -> list[Episode]:
    """Episodes of random pictures; every other one is a success."""
    rng = np.random.default_rng(first)
    found = []
    for number in range(first, first + count):
        shown = [rng.integers(0, 255, (64, 96, 3), np.uint8) for _ in range(turns)]
        said: list[Turn] = []
        for index in range(turns):
            view = View(
                0, "Enter row 3", shown[: index + 1], turns=tuple(said), noise=100 * number + index
            )
            decision = policy.act([view])[0]
            key = store.put(shown[index])
            said.append(
                Turn(screenshot_id=key, action_text=decision.action_text, tokens=decision.tokens)
            )
        score = float(number % 2)
        name = f"{number}.0"
        found.append(Episode("UI/Test-v0", number, "Enter row 3", said, name, score=score))
    return found


def trajectory(episode: Episode) -> Trajectory:
    """What is learned from an episode: a success did better than its group, a failure worse."""
    advantage = 1.0 if episode.score else -1.0
    samples = [
        LearningTurn(turn.tokens, advantage) for turn in episode.turns if turn.tokens is not None
    ]
    return Trajectory(episode, samples, [0.0] * (len(samples) - 1) + [episode.score])


def weights(learner: Learner) -> torch.Tensor:
    """All that is trained, in one piece."""
    return torch.cat([p.detach().flatten() for p in learner.policy.parameters()])


def gradient(learner: Learner, trajectories: Sequence[Trajectory]) -> torch.Tensor:
    """The gradient that a step of `learner` descends along (unclipped, where `clip` is large)."""
    seen: list[torch.Tensor] = []

    def look(optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        parts = [p.grad for group in optimizer.param_groups for p in group["params"]]
        seen.append(torch.cat([p.flatten() for p in parts if p is not None]).clone())

    handle = learner.optimizer.register_step_pre_hook(look)
    learner.learn(trajectories)
    handle.remove()
    (found,) = seen
    return found


def assert_same_gradient(one: torch.Tensor, other: torch.Tensor) -> None:
    """Equal but for rounding. Of the weights after a step that cannot be said: AdamW makes as large
    a step of the rounding of a gradient that is nearly 0 as of any."""
    gap, size = (one - other).norm().item(), one.norm().item()
    assert size > 0, "there is no gradient"
    assert gap < 1e-5 * size, f"they differ by {gap / size:.1e} of their norm"
