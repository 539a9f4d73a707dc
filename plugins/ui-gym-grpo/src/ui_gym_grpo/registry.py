"""Losses of others, by name.

A loss says what each token costs; `update` holds the built-in ones. Another one is a function,
named as ``module:function`` (``--trainer.loss my_parts:smooth``), or by the name that it is
registered under::

    from ui_gym_grpo import register_loss

    @register_loss("smooth", clips=(0.2, 0.28))
    def smooth(tokens):
        return -tokens.ratio.tanh() * tokens.advantage

A distribution declares the names in the entry-point group ``ui_gym_grpo.losses``, and then they are
known without an import. Nothing here needs torch. Advantages: `ui_gym_agents.groups.registry`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ui_gym_agents.groups.registry import PartRegistry

if TYPE_CHECKING:
    from torch import Tensor

    from ui_gym_grpo.tokens import Tokens

Clips = tuple[float, float]
"""How far below and above 1 a ratio may be."""
Cost = Callable[["Tokens"], "Tensor"]
"""What each token costs: shape (tokens,), with gradients by `Tokens.now`."""
CountClipped = Callable[["Tokens"], tuple["Tensor", "Tensor"]]
"""Which tokens the loss clips from below and from above: two boolean tensors, shape (tokens,)."""

USUAL = (0.2, 0.28)
"""The clips of a loss that names none: those of ``ppo_clip``."""

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class TokenLoss:
    """A loss: `cost`, its usual `clips`, and what it clips, if it does."""

    cost: Cost
    clips: Clips = USUAL
    clipped: CountClipped | None = None


LOSSES: PartRegistry[TokenLoss] = PartRegistry(
    "loss", "ui_gym_grpo.losses", TokenLoss, lambda loss: loss.cost
)

BUILT_IN_LOSSES = ("ppo_clip", "gspo", "cispo", "reinforce")


def register_loss(
    name: str, *, clips: Clips = USUAL, clipped: CountClipped | None = None
) -> Callable[[F], F]:
    """Make a function of `Tokens` known as the loss `name`.

    Args:
        name: What ``--trainer.loss`` calls it.
        clips: What ``clip_low`` and ``clip_high`` are where nobody sets them.
        clipped: Says which tokens it clips, for the metric ``clip_fraction``; None: none.

    Raises:
        UserError: the name is taken.
    """

    def known(function: F) -> F:
        LOSSES.register(name, TokenLoss(function, clips, clipped), BUILT_IN_LOSSES)
        return function

    return known
