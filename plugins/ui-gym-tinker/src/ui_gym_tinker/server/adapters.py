"""LoRA adapters apart from the model that they adapt: many of them, and one copy of its weights.

An adapter here is a set of tensors. The model has a *slot* for each rank: a PEFT adapter on every
layer that can be adapted, whose tensors are those of whichever adapter is at work now (pointers are
exchanged, nothing is copied). Layers that an adapter leaves alone have zeros in the slot.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

ATTENTION = ("q_proj", "k_proj", "v_proj", "o_proj")
MLP = ("gate_proj", "up_proj", "down_proj")


@dataclass(frozen=True)
class AdapterShape:
    """What an adapter adapts, as `LoraConfig` of the SDK says it."""

    rank: int
    alpha: float
    attention: bool = True
    mlp: bool = True
    unembed: bool = True

    def wants(self, layer: str, unembed: str) -> bool:
        """Whether it adapts the linear layer of that full name; `unembed` is the output layer's."""
        if layer == unembed:
            return self.unembed
        leaf = layer.rpartition(".")[2]
        return (self.attention and leaf in ATTENTION) or (self.mlp and leaf in MLP)


@dataclass(eq=False)
class Adapter:
    """The tensors of an adapter: for each layer's full name A (rank, inputs) and B (outputs, rank).

    `version` changes with the tensors' values.
    """

    shape: AdapterShape
    pairs: dict[str, tuple[nn.Parameter, nn.Parameter]]
    version: int = 0
    parameters: list[nn.Parameter] = field(init=False)

    def __post_init__(self) -> None:
        self.parameters = [part for pair in self.pairs.values() for part in pair]

    @property
    def nbytes(self) -> int:
        return sum(p.numel() * p.element_size() for p in self.parameters)

    def copy(self) -> Adapter:
        """The adapter as it is now, which nothing changes."""
        return Adapter(
            self.shape,
            {name: (_frozen(a), _frozen(b)) for name, (a, b) in self.pairs.items()},
        )

    @torch.no_grad()
    def take(self, pairs: Mapping[str, tuple[Tensor, Tensor]]) -> None:
        """Set the values of all tensors."""
        for name, own in self.pairs.items():
            for mine, value in zip(own, pairs[name], strict=True):
                mine.copy_(value)
        self.version += 1


def fresh(
    shape: AdapterShape, layers: Mapping[str, nn.Linear], seed: int, device: torch.device
) -> Adapter:
    """An adapter that changes nothing yet, by the random numbers that PEFT would draw for `seed`.

    `layers` are those that it adapts, in the model's order.
    """
    pairs = {}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for name, layer in layers.items():
            a = nn.Linear(layer.in_features, shape.rank, bias=False)
            b = nn.Linear(shape.rank, layer.out_features, bias=False)
            nn.init.kaiming_uniform_(a.weight, a=math.sqrt(5))
            nn.init.zeros_(b.weight)
            pairs[name] = (
                nn.Parameter(a.weight.detach().to(device)),
                nn.Parameter(b.weight.detach().to(device)),
            )
    return Adapter(shape, pairs)


def of_tensors(
    shape: AdapterShape,
    pairs: Mapping[str, tuple[Tensor, Tensor]],
    order: Sequence[str],
    device: torch.device,
) -> Adapter:
    """An adapter with these values, its layers in `order`."""
    return Adapter(
        shape,
        {
            name: (
                nn.Parameter(pairs[name][0].to(device, torch.float32)),
                nn.Parameter(pairs[name][1].to(device, torch.float32)),
            )
            for name in order
        },
    )


def _frozen(parameter: nn.Parameter) -> nn.Parameter:
    return nn.Parameter(parameter.detach().clone(), requires_grad=False)
