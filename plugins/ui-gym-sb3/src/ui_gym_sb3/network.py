"""Networks that score every cell of the grid by what is seen there, and by the goal.

Stable-Baselines3's own policies end in a dense layer, in which each cell learns for itself what a
button looks like. Here one convolution looks at all cells alike, so that what is learned at one
place holds at all others; the goal's words scale and shift its channels (FiLM, Perez et al. 2018,
arXiv:1709.07871), so that the same picture is looked at otherwise for another goal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from gymnasium.spaces import Dict, Space
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.dqn.policies import DQNPolicy, QNetwork
from torch import Tensor, nn

Parts = Mapping[str, int]
"""The parts of an action by name, with how many values each has."""


class CellFeatures(BaseFeaturesExtractor):
    """What is seen in each cell, `width` + 1 numbers, flat: (N, (width + 1) * rows * columns).

    The last of them is the product of the others with the goal's vector, mapped to as many numbers:
    how well what is seen there fits the goal. The heads begin with it, and learn the rest.
    """

    def __init__(self, space: Space[Any], columns: int, rows: int, width: int) -> None:
        """`space` is that of observations, its pictures with channels first."""
        super().__init__(space, (width + 1) * rows * columns)
        self._grid = (rows, columns)
        picture = space["screenshot"] if isinstance(space, Dict) else space
        assert picture.shape is not None
        words = space["goal"].shape[0] if isinstance(space, Dict) else 0  # type: ignore[index]
        half = max(1, width // 2)
        # Two more channels say where a pixel is: the third field from the top is found by that.
        self.first = _convolution(picture.shape[0] + 2, half, 5, stride=2, padding=2)
        self.second = _convolution(half, width, 3, stride=2, padding=1)
        self.third = _convolution(width, width, 3, padding=1)
        self.fourth = _convolution(width, width, 3, padding=2, dilation=2)
        self.goal = nn.Linear(words, 5 * width) if words else None

    def forward(self, seen: Any) -> Tensor:
        picture = seen["screenshot"] if isinstance(seen, dict) else seen
        batch, _, height, width = picture.shape
        down = torch.linspace(-1, 1, height, device=picture.device)[:, None].expand(height, width)
        across = torch.linspace(-1, 1, width, device=picture.device).expand(height, width)
        where = torch.stack([down, across]).expand(batch, 2, height, width)
        # A page is nearly all white: what is written on it is what differs from that.
        x = torch.cat([1 - picture, where], dim=1)
        x = F.relu(self.second(F.relu(self.first(x))))
        if self.goal is None:
            x = x + F.relu(self.third(x))
            x = x + F.relu(self.fourth(x))
            return self._cells(x, torch.zeros_like(x[:, :1]))
        wanted = self.goal(seen["goal"])[:, :, None, None].chunk(5, dim=1)
        x = x + F.relu(self.third(x) * (1 + wanted[0]) + wanted[1])
        x = x + F.relu(self.fourth(x) * (1 + wanted[2]) + wanted[3])
        return self._cells(x, (x * wanted[4]).sum(1, keepdim=True) / x.shape[1] ** 0.5)

    def _cells(self, x: Tensor, fit: Tensor) -> Tensor:
        """What is seen at the centre of each cell."""
        whole = torch.cat([x, fit], dim=1)
        return F.interpolate(whole, self._grid, mode="bilinear", align_corners=False).flatten(1)


def _convolution(channels: int, width: int, kernel: int, **shape: Any) -> nn.Sequential:
    """A convolution, normalised over the picture: letters are faint in a small one."""
    return nn.Sequential(
        nn.Conv2d(channels, width, kernel, **shape), nn.GroupNorm(_groups(width), width)
    )


def _groups(width: int) -> int:
    return next(count for count in (4, 2, 1) if width % count == 0)


class _PerCell(nn.Module):
    """What both heads share: features back in their places, and what is seen in all of them."""

    def __init__(self, parts: Parts, columns: int, rows: int, width: int) -> None:
        super().__init__()
        self.parts = dict(parts)
        self.numbers = width + 1
        """Of each cell."""
        self._cells = rows * columns

    def places(self, features: Tensor) -> Tensor:
        """Shape (N, numbers, cells)."""
        return features.view(-1, self.numbers, self._cells)

    def summary(self, features: Tensor) -> Tensor:
        """Mean and maximum over cells, shape (N, 2 * numbers)."""
        places = self.places(features)
        return torch.cat([places.mean(2), places.amax(2)], dim=1)


class ActorCriticHeads(_PerCell):
    """Logits of all parts, one part after another, and what the value is made of."""

    def __init__(self, parts: Parts, columns: int, rows: int, width: int) -> None:
        super().__init__(parts, columns, rows, width)
        self.latent_dim_pi = sum(self.parts.values()) or 1
        self.latent_dim_vf = 64
        self.cell = nn.Conv1d(self.numbers, 1, 1)
        inside = 2 * self.numbers
        others = {part: count for part, count in self.parts.items() if part != "cell"}
        self.others = nn.ModuleDict({p: nn.Linear(inside, n) for p, n in others.items()})
        self.critic = nn.Sequential(nn.Linear(inside, self.latent_dim_vf), nn.ReLU())

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        return self.forward_actor(features), self.forward_critic(features)

    def forward_actor(self, features: Tensor) -> Tensor:
        summary = self.summary(features)
        logits = [
            self.cell(self.places(features)).flatten(1) if part == "cell"
            else self.others[part](summary)
            for part in self.parts
        ]  # fmt: skip
        return torch.cat(logits, dim=1) if logits else summary[:, :1] * 0

    def forward_critic(self, features: Tensor) -> Tensor:
        return self.critic(self.summary(features))  # type: ignore[no-any-return]

    def start_even(self) -> None:
        """Make the first policy nearly uniform, as Stable-Baselines3 does."""
        for layer in (self.cell, *self.others.values()):
            nn.init.normal_(layer.weight, std=0.01)  # type: ignore[arg-type]
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]
        _begin_with_fit(self.cell)


class QHead(_PerCell):
    """The value of every combination of parts, in the order of the flat action space."""

    def __init__(self, parts: Parts, columns: int, rows: int, width: int) -> None:
        super().__init__(parts, columns, rows, width)
        self._kinds, self._keys = self.parts.get("kind", 1), self.parts.get("key", 1)
        self._pointed = "cell" in self.parts
        self.cell = nn.Conv1d(3 * self.numbers, self._kinds * self._keys, 1)
        _begin_with_fit(self.cell, self.numbers)

    def forward(self, features: Tensor) -> Tensor:
        places, summary = self.places(features), self.summary(features)
        around = summary[:, :, None].expand(-1, -1, places.shape[2])
        values = self.cell(torch.cat([places, around], dim=1))
        if not self._pointed:
            return values.mean(2)  # type: ignore[no-any-return]
        cells = values.shape[2]
        values = values.view(-1, self._kinds, self._keys, cells).transpose(2, 3)
        return values.flatten(1)  # type: ignore[no-any-return]


def _begin_with_fit(cell: nn.Conv1d, numbers: int | None = None) -> None:
    """Let a score begin with how well a cell fits the goal, the last of a cell's `numbers`."""
    with torch.no_grad():
        cell.weight[:, (numbers or cell.in_channels) - 1] = 1.0


def _heads(policy: Any) -> dict[str, Any]:
    """What the heads of a policy are made with."""
    given = policy.features_extractor_kwargs
    return {name: given[name] for name in ("columns", "rows", "width")}


class CellPolicy(ActorCriticPolicy):
    """PPO's."""

    def __init__(self, *arguments: Any, parts: Parts, **named: Any) -> None:
        self.parts = dict(parts)
        super().__init__(*arguments, **{**named, "features_extractor_class": CellFeatures})

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = ActorCriticHeads(self.parts, **_heads(self))  # type: ignore[assignment]

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        _take_logits(self, lr_schedule)


class MaskableCellPolicy(MaskableActorCriticPolicy):
    """Maskable PPO's."""

    def __init__(self, *arguments: Any, parts: Parts, **named: Any) -> None:
        self.parts = dict(parts)
        super().__init__(*arguments, **{**named, "features_extractor_class": CellFeatures})

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = ActorCriticHeads(self.parts, **_heads(self))  # type: ignore[assignment]

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        _take_logits(self, lr_schedule)


def _take_logits(policy: Any, lr_schedule: Any) -> None:
    """Make the logits of the heads those of an actor-critic policy."""
    policy.mlp_extractor.start_even()
    policy.action_net = nn.Identity()
    policy.optimizer = policy.optimizer_class(
        policy.parameters(), lr=lr_schedule(1), **policy.optimizer_kwargs
    )


class CellQPolicy(DQNPolicy):
    """DQN's."""

    def __init__(self, *arguments: Any, parts: Parts, **named: Any) -> None:
        self.parts = dict(parts)
        super().__init__(*arguments, **{**named, "features_extractor_class": CellFeatures})

    def make_q_net(self) -> QNetwork:
        net = super().make_q_net()
        net.q_net = QHead(self.parts, **_heads(self))  # type: ignore[assignment]
        return net.to(self.device)
