"""The tokens of a micro-batch as a loss sees them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor


@dataclass(frozen=True)
class Tokens:
    """The tokens of a micro-batch, as a loss sees them; all tensors have shape (tokens,)."""

    now: Tensor
    """Log-probabilities under the policy as it is, in nats, with gradients."""
    before: Tensor
    """And when this step's learning began."""
    advantage: Tensor
    lengths: Tensor
    """The number of tokens of each turn, in order; shape (turns,)."""
    low: float
    high: float
    """The ratio's clips."""
    dual_clip: float | None = None

    @cached_property
    def ratio(self) -> Tensor:
        """How much likelier each token has become."""
        return torch.exp(self.now - self.before)

    @cached_property
    def turn_ratio(self) -> Tensor:
        """The geometric mean of the ratio over each turn, at each of its tokens."""
        return torch.exp(self.turn_means(self.now - self.before))

    def turn_means(self, values: Tensor) -> Tensor:
        """The mean of values over each turn, at each of its tokens."""
        return turn_means(values, self.lengths)


def turn_means(values: Tensor, lengths: Tensor) -> Tensor:
    """The mean over each turn, at each of its tokens."""
    rows = torch.arange(len(lengths), device=values.device).repeat_interleave(lengths)
    sums = torch.zeros(len(lengths), dtype=values.dtype, device=values.device)
    sums = sums.index_add(0, rows, values)
    return (sums / lengths.clamp(min=1))[rows]
