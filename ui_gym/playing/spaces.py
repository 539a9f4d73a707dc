"""Spaces of text: what an agent reads (`FreeText`) and what it writes (`ActionText`).

Both are subclasses of Gymnasium's `Text`, so that batching, seeding and pickling are Gymnasium's
own. What they change: any Unicode is contained, and a batch in shared memory can be read. (Stock
`AsyncVectorEnv` decodes `Text` once, when it is made, and shows that string for ever.)
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from types import ModuleType
from typing import Any, overload

import numpy as np
from gymnasium.spaces import Box, Dict, Space, Text
from gymnasium.spaces.utils import flatten, flatten_space, unflatten
from gymnasium.vector.utils import (
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)
from numpy.typing import NDArray

from ui_gym.contract.action import Action, Click, Drag, Move, Press, Scroll, Type
from ui_gym.contract.draws import pick
from ui_gym.dialects import get_dialect
from ui_gym.errors import ActionError

MAX_GOAL = 8192
"""The longest goal and the longest feedback, in characters."""

MAX_ELEMENTS = 65536
"""The longest list of elements, in characters."""

MAX_ACTION = 8192
"""A length that no sensible action exceeds; longer ones become feedback like any wrong action."""

_SAMPLE_LENGTH = 32
_SAMPLE_CHARS = (
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,:;!?'\"\n-_@/éßñд中🙂"
)
_SAMPLE_KEYS = ("enter", "tab", "escape", "backspace", "up", "down", "left", "right")


class FreeText(Text):
    """Any str of `min_length` to `max_length` characters, of any characters at all."""

    def __init__(
        self,
        max_length: int = MAX_GOAL,
        *,
        min_length: int = 0,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        super().__init__(max_length, min_length=min_length, charset=_SAMPLE_CHARS, seed=seed)

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """A short text of letters, signs and a few characters that break careless code."""
        if mask is not None or probability is not None:
            return super().sample(mask=mask, probability=probability)
        most = max(self.min_length, min(self.max_length, _SAMPLE_LENGTH))
        length = int(self.np_random.integers(self.min_length, most + 1))
        return "".join(self.np_random.choice(self.character_list, size=length))

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and self.min_length <= len(x) <= self.max_length

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is type(self)
            and isinstance(other, FreeText)
            and (self.min_length, self.max_length) == (other.min_length, other.max_length)
        )

    def __repr__(self) -> str:
        least = f", min_length={self.min_length}" if self.min_length else ""
        return f"{type(self).__name__}({self.max_length}{least})"


class ActionText(FreeText):
    """What an agent may write: any str. `sample` draws one valid action in the dialect.

    A wrong text is contained too: the env answers it with feedback, not with an exception. Samples
    never end the episode, and lie inside the screen of `size` (width, height) pixels.
    """

    def __init__(
        self,
        dialect: str = "canonical",
        size: tuple[int, int] = (1280, 800),
        *,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        super().__init__(MAX_ACTION, seed=seed)
        get_dialect(dialect)  # an unknown one is refused here, with the nearest name
        self.dialect = dialect
        self.size = (int(size[0]), int(size[1]))

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """One valid action as text. Masks make no sense here and are refused."""
        if mask is not None or probability is not None:
            raise ValueError("ActionText.sample takes no mask and no probability")
        dialect = get_dialect(self.dialect)
        for _ in range(1000):
            action = random_action(self.np_random, self.size)
            try:
                return dialect.render([action], self.size)
            except ActionError:  # this dialect has no words for it
                continue
        raise RuntimeError(f"the dialect {self.dialect!r} can say none of the sampled actions")

    def contains(self, x: Any) -> bool:
        return isinstance(x, str)

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is type(self)
            and isinstance(other, ActionText)
            and (self.dialect, self.size) == (other.dialect, other.size)
        )

    def __repr__(self) -> str:
        return f"ActionText({self.dialect!r}, {self.size[0]}x{self.size[1]})"


def random_action(rng: np.random.Generator, size: tuple[int, int]) -> Action:
    """An action that is valid on a screen of `size` (width, height); clicks are the most likely."""

    def point() -> tuple[int, int]:
        return int(rng.integers(size[0])), int(rng.integers(size[1]))

    draw = rng.random()
    if draw < 0.5:
        return Click(*point())
    if draw < 0.6:
        return Click(*point(), count=2)
    if draw < 0.75:
        letters = rng.choice(list("abcdefghijklmnopqrstuvwxyz 0123456789"), size=rng.integers(1, 9))
        return Type("".join(letters))
    if draw < 0.85:
        return Press(pick(rng, _SAMPLE_KEYS))
    if draw < 0.95:
        return Scroll(*point(), dy=int(rng.integers(-3, 4)) * 100)
    return Move(*point()) if draw < 0.975 else Drag(*point(), *point())


def observation_space(
    size: tuple[int, int], *, screenshot: bool = True, elements: bool = False
) -> Dict:
    """The space of observations on a screen of `size` (width, height) pixels.

    `goal` and `feedback` are always there; `screenshot` is a Box of shape (height, width, 3),
    uint8; `elements` is the text of the accessible elements, one a line.
    """
    width, height = size
    spaces: dict[str, Space[Any]] = {"goal": FreeText(MAX_GOAL), "feedback": FreeText(MAX_GOAL)}
    if screenshot:
        spaces["screenshot"] = Box(0, 255, (height, width, 3), np.uint8)
    if elements:
        spaces["elements"] = FreeText(MAX_ELEMENTS)
    return Dict(spaces)


# -- text as numbers: code points plus one, zeros after the end --


def _encode(text: str, length: int) -> NDArray[np.int32]:
    codes = np.zeros(length, np.int32)
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<i4")[:length]
    codes[: len(points)] = points + 1
    return codes


def _decode(codes: NDArray[np.int32]) -> str:
    points = np.asarray(codes[codes > 0] - 1, "<i4")
    return points.tobytes().decode("utf-32-le", "surrogatepass")


@flatten_space.register(FreeText)
def _flatten_space_free_text(space: FreeText) -> Box:
    return Box(0, 0x110000, (space.max_length,), np.int32)


@flatten.register(FreeText)
def _flatten_free_text(space: FreeText, x: str) -> NDArray[np.int32]:  # type: ignore[misc]
    return _encode(x, space.max_length)


@unflatten.register(FreeText)
def _unflatten_free_text(space: FreeText, x: NDArray[np.int32]) -> str:  # type: ignore[misc]
    return _decode(x)


class SharedTexts(Sequence[str]):
    """The texts of all slots as they are in shared memory *now*; a copy of it is a plain tuple.

    Gymnasium reads shared memory once and hands out copies of what it read: a live view is the
    only thing that stays true.
    """

    def __init__(self, codes: NDArray[np.int32]) -> None:
        self._codes = codes

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(_decode(row) for row in self._codes[index])
        return _decode(self._codes[index])

    def __len__(self) -> int:
        return len(self._codes)

    def __deepcopy__(self, memo: dict[int, Any]) -> tuple[str, ...]:
        return tuple(self)

    def __repr__(self) -> str:
        return f"SharedTexts{tuple(self)!r}"


@create_shared_memory.register(FreeText)
def _create_shared_free_text(space: FreeText, n: int = 1, ctx: ModuleType = multiprocessing) -> Any:
    return ctx.Array(np.dtype(np.int32).char, n * space.max_length)


@read_from_shared_memory.register(FreeText)
def _read_shared_free_text(space: FreeText, shared_memory: Any, n: int = 1) -> SharedTexts:
    codes = np.frombuffer(shared_memory.get_obj(), np.int32)
    return SharedTexts(codes.reshape(n, space.max_length))


@write_to_shared_memory.register(FreeText)
def _write_shared_free_text(space: FreeText, index: int, value: str, shared_memory: Any) -> None:
    codes = np.frombuffer(shared_memory.get_obj(), np.int32).reshape(-1, space.max_length)
    codes[index] = _encode(value, space.max_length)
