"""TorchRL's PPO learns to press buttons, with a vector env of ui-gym as one TorchRL env.

    pip install 'ui-gym[browser]' torch 'torchrl>=0.14,<0.15'
    python examples/torchrl_grid.py

TorchRL resets slots by itself, each on its own: it wants a vector env in autoreset mode `DISABLED`.

What can be learned here is to see where buttons are, since the picture does not say which one is
meant: clicks at random succeed in about a sixth of the episodes, and a half is the most.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import torch
from gymnasium.vector import AutoresetMode
from tensordict.nn import ProbabilisticTensorDictModule as Sampled
from tensordict.nn import ProbabilisticTensorDictSequential, TensorDictModule
from torch import nn
from torch.distributions import Categorical
from torchrl.collectors import Collector
from torchrl.envs import GymWrapper, RewardSum, TransformedEnv
from torchrl.modules import ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from ui_gym.playing.vector import UIVectorEnv
from ui_gym.wrappers.vector import GridActions, ResizeScreenshot, ScreenshotOnly

TASK: dict[str, Any] = {"task": "UI/ClickButton-v0", "compact": True, "count": 2}
SIZE, COLUMNS, ROWS = (40, 32), 5, 8


class Ink(nn.Module):
    """Pictures as vectors of how dark each pixel is, in [0, 1]: a page is nearly all white."""

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        return 1 - pictures.flatten(-3).float() / 255


def make_env(num_envs: int, workers: str) -> TransformedEnv:
    """All slots as one TorchRL env of batch size (num_envs,)."""
    envs: Any = UIVectorEnv(
        num_envs, workers=workers, autoreset_mode=AutoresetMode.DISABLED, **TASK
    )
    envs = ScreenshotOnly(ResizeScreenshot(envs, SIZE, grayscale=True))
    envs = GridActions(envs, COLUMNS, ROWS)
    envs.autoreset_mode = AutoresetMode.DISABLED  # Gymnasium's wrappers hide what TorchRL looks for
    env = GymWrapper(envs, categorical_action_encoding=True)
    return TransformedEnv(env, RewardSum())


def network(outputs: int) -> nn.Sequential:
    inputs = SIZE[0] * SIZE[1]
    layers = nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)
    return nn.Sequential(Ink(), *layers)


def actor_and_critic() -> tuple[ProbabilisticTensorDictSequential, ValueOperator]:
    scores = TensorDictModule(network(COLUMNS * ROWS), ["observation"], ["logits"])
    sampled = Sampled(["logits"], ["action"], distribution_class=Categorical, return_log_prob=True)
    return (
        ProbabilisticTensorDictSequential(scores, sampled),
        ValueOperator(network(1), ["observation"]),
    )


def learn(options: argparse.Namespace) -> list[float]:
    """The mean return of the episodes that ended, of each iteration."""
    torch.set_num_threads(1)  # threads of layers this small wait for each other, while slots play
    torch.manual_seed(options.seed)
    env = make_env(options.num_envs, options.workers)
    env.set_seed(options.seed)
    actor, critic = actor_and_critic()
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01)
    advantage = GAE(gamma=0.5, lmbda=0.95, value_network=critic)
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
    frames = 32 * options.num_envs
    batches = Collector(
        env, actor, frames_per_batch=frames, total_frames=frames * options.iterations
    )
    returns, started = [], time.perf_counter()
    for iteration, batch in enumerate(batches, 1):
        update(batch, advantage, loss, optimizer)
        ended = batch["next", "done"]
        returns.append(batch["next", "episode_reward"][ended].mean().item())
        rate = iteration * frames / (time.perf_counter() - started)
        print(f"{iteration:3}  return {returns[-1]:.3f}  {rate:.0f} steps/s", flush=True)
    batches.shutdown()
    return returns


def update(batch: Any, advantage: GAE, loss: ClipPPOLoss, optimizer: torch.optim.Optimizer) -> None:
    for _ in range(8):
        with torch.no_grad():
            advantage(batch)
        flat = batch.reshape(-1)
        for part in flat[torch.randperm(len(flat))].split(128):
            losses = loss(part)
            total = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
            optimizer.zero_grad()
            total.backward()
            nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
            optimizer.step()


def main() -> None:
    told = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    told.add_argument("--workers", default="threads", help="What plays the slots.")
    told.add_argument("--num-envs", type=int, default=8)
    told.add_argument("--iterations", type=int, default=20)
    told.add_argument("--seed", type=int, default=0)
    learn(told.parse_args())


if __name__ == "__main__":
    main()
