"""Losses and advantages of others, by name.

A loss says what each token costs, an advantage how much better than expected the episodes of a
group were; `update` and `advantages` hold the built-in ones. Another one is a function, named as
``module:function`` (``--trainer.loss my_parts:smooth``), or by the name that it is registered
under::

    from ui_gym_grpo import register_loss

    @register_loss("smooth", clips=(0.2, 0.28))
    def smooth(tokens):
        return -tokens.ratio.tanh() * tokens.advantage

A distribution declares the names in the entry-point groups ``ui_gym_grpo.losses`` and
``ui_gym_grpo.advantages``, and then they are known without an import. Nothing here needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ui_gym import extras
from ui_gym.errors import UserError, nearest
from ui_gym_agents.episode import Episode

if TYPE_CHECKING:
    from torch import Tensor

    from ui_gym_grpo.tokens import Tokens

Clips = tuple[float, float]
"""How far below and above 1 a ratio may be."""
Cost = Callable[["Tokens"], "Tensor"]
"""What each token costs: shape (tokens,), with gradients by `Tokens.now`."""
CountClipped = Callable[["Tokens"], tuple["Tensor", "Tensor"]]
"""Which tokens the loss clips from below and from above: two boolean tensors, shape (tokens,)."""
GroupAdvantages = Callable[[Sequence[float], Sequence[Episode]], Sequence[float | Sequence[float]]]
"""Of a group's rewards and episodes: a number for each episode, or one for each of its turns."""

USUAL = (0.2, 0.28)
"""The clips of a loss that names none: those of ``ppo_clip``."""

F = TypeVar("F", bound=Callable[..., Any])
P = TypeVar("P")


@dataclass(frozen=True)
class TokenLoss:
    """A loss: `cost`, its usual `clips`, and what it clips, if it does."""

    cost: Cost
    clips: Clips = USUAL
    clipped: CountClipped | None = None


class _Registry(Generic[P]):
    """Parts of one kind by their names, and where else they are looked for."""

    def __init__(self, what: str, make: Callable[[Any], P]) -> None:
        self.what = what
        self.group = f"ui_gym_grpo.{what}s" if what != "loss" else "ui_gym_grpo.losses"
        self._make = make
        self._parts: dict[str, P] = {}
        self._of_function: dict[int, P] = {}

    def register(self, name: str, function: Any, part: P, built_in: Iterable[str]) -> None:
        """Make a part known. `UserError` where the name is another's."""
        if ":" in name or not name:
            raise UserError(f"the name of the {self.what} {name!r} is empty or has a colon")
        known = self._parts.get(name)
        if name in built_in or (known is not None and _place(function) != _place_of(known)):
            raise UserError(f"the {self.what} {name!r} is there already; call yours otherwise")
        self._parts[name] = self._of_function[id(function)] = part

    def find(self, name: str, built_in: Iterable[str]) -> P:
        """The part of a name.

        Raises:
            UserError: there is none; names the nearest.
        """
        if name in self._parts:
            return self._parts[name]
        declared = extras.installed(self.group)
        if name in declared:
            return self._part(name, extras.load(self.what, declared[name], UserError))
        if ":" in name:
            return self._part(name, extras.named(f"the {self.what} {name!r}", name, UserError))
        known = {*built_in, *self._parts, *declared}
        raise UserError(
            f"there is no {self.what} {name!r}. {nearest(name, known)} Your own is named as "
            "module:function"
        )

    def _part(self, name: str, function: Any) -> P:
        if not callable(function):
            raise UserError(f"the {self.what} {name!r} is {function!r}, and no function")
        return self._of_function.get(id(function)) or self._make(function)


def _place(function: Any) -> tuple[str, str]:
    """Where a function is defined: a module that is read again registers the same ones."""
    return getattr(function, "__module__", ""), getattr(function, "__qualname__", repr(function))


def _place_of(part: Any) -> tuple[str, str]:
    return _place(part.cost if isinstance(part, TokenLoss) else part)


def _same(function: GroupAdvantages) -> GroupAdvantages:
    return function


LOSSES: _Registry[TokenLoss] = _Registry("loss", TokenLoss)
ADVANTAGES: _Registry[GroupAdvantages] = _Registry("advantage", _same)

BUILT_IN_LOSSES = ("ppo_clip", "gspo", "cispo", "reinforce")
BUILT_IN_ADVANTAGES = ("rloo", "grpo", "dr_grpo", "gigpo")


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
        LOSSES.register(name, function, TokenLoss(function, clips, clipped), BUILT_IN_LOSSES)
        return function

    return known


def register_advantage(name: str) -> Callable[[F], F]:
    """Make a function of a group's rewards and episodes known as the advantage `name`.

    It returns a number for each episode, or for each episode a number for each of its turns.

    Raises:
        UserError: the name is taken.
    """

    def known(function: F) -> F:
        ADVANTAGES.register(name, function, function, BUILT_IN_ADVANTAGES)
        return function

    return known
