"""Family: a browser task whose arguments have a value for each level, written as class attributes.

    class SliderSet(Family[SliderSetParams]):
        sliders: int = whole(2, 8, easy=3, medium=5, hard=8)

gives ``SliderSet(level="easy", sliders=4).sliders == 4``, and a `UserError` for ``sliders=9``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, cast, dataclass_transform

from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.languages import ENGLISH, check_language
from ui_gym.browser.looks import PLAIN, check_look
from ui_gym.browser.task import BrowserTask
from ui_gym.contract.action import Action
from ui_gym.contract.spec import Difficulty
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

P = TypeVar("P")
V = TypeVar("V")

COMPACT_SIZE = (320, 256)
"""Of a compact page, which a model of a few million parameters can read; in pixels."""
PATCH = 32
"""Its grid, in pixels: what lies on it varies in whole patches of a small vision model."""

Steps = Iterator[Action | Demo]
"""What an oracle does."""


@dataclass(frozen=True)
class FamilyArgument:
    """An argument of a family: its value at each level, and what takes any other value."""

    values: dict[Difficulty, Any]
    check: Callable[[Family[Any], str, Any], Any]


def by_level(*, easy: V, medium: V, hard: V) -> V:
    """An argument that the family's `prepare` checks."""
    return _argument(easy, medium, hard, lambda family, name, value: value)


def whole(low: int, high: int, *, easy: int, medium: int, hard: int) -> int:
    """A whole number from `low` to `high`."""
    return _argument(
        easy, medium, hard, lambda family, name, value: family.check_range(name, value, low, high)
    )


def flag(*, easy: bool, medium: bool, hard: bool) -> bool:
    """True or False."""
    return one_of((True, False), easy=easy, medium=medium, hard=hard)


def one_of(options: Sequence[V], *, easy: V, medium: V, hard: V) -> V:
    """One of some values."""

    def check(family: Family[Any], name: str, value: Any) -> V:
        if value in options:
            return options[options.index(value)]
        *most, last = map(repr, options)
        known = f"{', '.join(most)} or {last}"
        raise UserError(f"{family.spec.name}: {name} must be {known}, not {value!r}")

    return _argument(easy, medium, hard, check)


def _argument(easy: V, medium: V, hard: V, check: Callable[[Family[Any], str, Any], V]) -> V:
    # A type checker sees the value that an instance has in its place.
    return cast(V, FamilyArgument({"easy": easy, "medium": medium, "hard": hard}, check))


@dataclass_transform(kw_only_default=True)
class _Constructed:
    """Tells type checkers that the attributes of a family are the arguments of its constructor."""


class Family(_Constructed, BrowserTask[P]):
    """A browser task with levels."""

    ends: ClassVar[str] = ""
    """The type of the event with which an episode ends, for the default `judge`."""
    waiting: ClassVar[str] = ""
    """What `judge` notes until then."""
    compact_values: ClassVar[Mapping[str, Any] | None] = None
    """The arguments that the compact page has where neither they nor a level are given; None, of a
    family that has no compact page."""
    level: Difficulty | None = None
    compact: bool = False
    look: str = PLAIN
    adverts: bool = False
    cookie_bar: bool = False
    language: str = ENGLISH
    _arguments: ClassVar[dict[str, FamilyArgument]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = {
            name: value for name, value in vars(cls).items() if isinstance(value, FamilyArgument)
        }
        cls._arguments = {**cls._arguments, **own}
        cls.levels = {
            level: {name: argument.values[level] for name, argument in cls._arguments.items()}
            for level in ("easy", "medium", "hard")
        }
        if "__init__" not in vars(cls):
            cls.__signature__ = _signature(cls)  # type: ignore[attr-defined]

    def __init__(
        self,
        *,
        level: Difficulty | None = None,
        compact: bool | None = None,
        look: str | None = None,
        adverts: bool | None = None,
        cookie_bar: bool | None = None,
        language: str | None = None,
        **given: Any,
    ) -> None:
        unknown = sorted(set(given) - set(self._arguments))
        if unknown:
            raise TypeError(f"{type(self).__name__} takes no argument {unknown[0]!r}")
        self.level = level
        self.look = check_look(look or PLAIN)
        self.compact = self.check_flag("compact", compact or False)
        self.put_around(adverts, cookie_bar)
        self.language = self._check_language(language or ENGLISH)
        if self.compact:
            if self.compact_values is None:
                raise UserError(f"{self.spec.name} has no compact page")
            self.viewport = COMPACT_SIZE
            if level is None:
                own = {name: value for name, value in given.items() if value is not None}
                given = {**self.compact_values, **own}
        chosen = self.at_level(level, **given)
        for name, argument in self._arguments.items():
            setattr(self, name, argument.check(self, name, chosen[name]))
        self.prepare()
        if self.cookie_bar:
            self.max_steps += 1

    def _check_language(self, language: str) -> str:
        if check_language(language) == ENGLISH:
            return language
        if not self.translated:
            raise UserError(f"{self.spec.name} is in English alone, not in {language!r}")
        if self.compact:
            raise UserError(
                f"{self.spec.name}: the compact page is in English alone; language is "
                f"{ENGLISH!r}, not {language!r}"
            )
        return language

    def prepare(self) -> None:
        """What follows from the arguments, or speaks against them; by default, nothing."""

    def thought(self, short: str, sentence: str) -> str:
        """What the oracle thinks: in the compact page's own words, or in a sentence."""
        return short if self.compact else sentence

    def judge(self, device: BrowserDevice, params: P, history: Sequence[Action]) -> Verdict:
        device.state()
        for event in device.events:
            if event.type == self.ends:
                return self.verdict(event.data, params)
        return Verdict(0.0, notes=self.waiting)

    def verdict(self, data: Mapping[str, Any], params: P) -> Verdict:
        """The judgement of what the page says when the episode ends; for the default `judge`."""
        raise NotImplementedError


def _signature(cls: type[Family[Any]]) -> inspect.Signature:
    """The arguments of a family, by name: each may be left out."""
    types: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        types.update(inspect.get_annotations(base))
    types.update(level="Difficulty", compact="bool", look="str", language="str")
    types.update(adverts="bool", cookie_bar="bool")
    kind = inspect.Parameter.KEYWORD_ONLY
    small = [] if cls.compact_values is None else ["compact"]
    spoken = ["language"] if cls.translated else []
    names = ["level", *small, *cls._arguments, "look", "adverts", "cookie_bar", *spoken]
    return inspect.Signature(
        [
            inspect.Parameter(name, kind, default=None, annotation=f"{types[name]} | None")
            for name in names
        ]
    )
