"""Parts of learning that are others', by name; and the advantages among them.

A part is a function, named as ``module:function`` (``--trainer.advantage my_parts:ranks``), or by
the name that it is registered under::

    from ui_gym_agents.groups.registry import register_advantage

    @register_advantage("ranks")
    def ranks(rewards, episodes):
        return [sorted(rewards).index(reward) for reward in rewards]

A distribution declares the name in the entry-point group ``ui_gym.advantages``, and then it is
known without an import.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, TypeVar

from ui_gym import extras
from ui_gym.errors import UserError, nearest
from ui_gym_agents.episode import Episode

GroupAdvantages = Callable[[Sequence[float], Sequence[Episode]], Sequence[float | Sequence[float]]]
"""Of a group's rewards and episodes: a number for each episode, or one for each of its turns."""

F = TypeVar("F", bound=Callable[..., Any])
P = TypeVar("P")


class PartRegistry(Generic[P]):
    """Parts of one kind by their names, and where else they are looked for.

    Args:
        what: What a part is called in messages.
        group: The entry-point group that declares parts of other distributions.
        make: Makes a part of a function that nobody registered.
        function: The function of a part.
    """

    def __init__(
        self,
        what: str,
        group: str,
        make: Callable[[Any], P],
        function: Callable[[P], Any],
    ) -> None:
        self.what = what
        self.group = group
        self._make = make
        self._function = function
        self._parts: dict[str, P] = {}
        self._of_function: dict[int, P] = {}

    def register(self, name: str, part: P, built_in: Iterable[str]) -> None:
        """Make a part known. `UserError` where the name is another's."""
        if ":" in name or not name:
            raise UserError(f"the name of the {self.what} {name!r} is empty or has a colon")
        known = self._parts.get(name)
        function = self._function(part)
        taken = known is not None and _place(function) != _place(self._function(known))
        if name in built_in or taken:
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

    def check(self, name: str, built_in: Iterable[str]) -> str:
        """The name, for a field of pydantic's; ValueError where nothing has it."""
        if name not in built_in:
            try:
                self.find(name, built_in)
            except UserError as error:
                raise ValueError(str(error)) from None
        return name

    def _part(self, name: str, function: Any) -> P:
        if not callable(function):
            raise UserError(f"the {self.what} {name!r} is {function!r}, and no function")
        return self._of_function.get(id(function)) or self._make(function)


def _place(function: Any) -> tuple[str, str]:
    """Where a function is defined: a module that is read again registers the same ones."""
    return getattr(function, "__module__", ""), getattr(function, "__qualname__", repr(function))


def _same(function: GroupAdvantages) -> GroupAdvantages:
    return function


ADVANTAGES: PartRegistry[GroupAdvantages] = PartRegistry(
    "advantage", "ui_gym.advantages", _same, _same
)

BUILT_IN_ADVANTAGES = ("rloo", "grpo", "dr_grpo", "gigpo")


def register_advantage(name: str) -> Callable[[F], F]:
    """Make a function of a group's rewards and episodes known as the advantage `name`.

    It returns a number for each episode, or for each episode a number for each of its turns.

    Raises:
        UserError: the name is taken.
    """

    def known(function: F) -> F:
        ADVANTAGES.register(name, function, BUILT_IN_ADVANTAGES)
        return function

    return known
