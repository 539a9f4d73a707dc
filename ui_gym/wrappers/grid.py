"""GridActions: numbers instead of texts. What is done, in which cell of a grid, with which key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete, MultiDiscrete, Space
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

from ui_gym.contract.action import Action, Click, Finish, LongPress, Move, Press, Scroll, Wait
from ui_gym.dialects import get_dialect
from ui_gym.dialects.common import NOTCH
from ui_gym.errors import ActionError, UserError, nearest
from ui_gym.playing.spaces import ActionText

KEYS = ("enter", "tab", "escape", "backspace", "up", "down", "left", "right")
"""What `press` may press, unless other keys are named."""

_AT_A_POINT: dict[str, Callable[[int, int], Action]] = {
    "click": Click,
    "double_click": lambda x, y: Click(x, y, count=2),
    "right_click": lambda x, y: Click(x, y, button="right"),
    "long_press": LongPress,
    "move": Move,
}

_SCROLLS = {
    "scroll_down": (0, 1),
    "scroll_up": (0, -1),
    "scroll_right": (1, 0),
    "scroll_left": (-1, 0),
}
"""Directions. The distance is half of the screen, in whole notches of a wheel: more dialects can
say that than any number of pixels."""

_NOWHERE: dict[str, Callable[[], Action]] = {"wait": Wait, "finish": Finish}

KINDS = (*_AT_A_POINT, *_SCROLLS, "press", *_NOWHERE)
"""What can be done in a grid."""


class Grid:
    """What each number means: a kind of action, a cell, a key.

    Cells are counted from the top left, row by row: cell ``row * columns + column``, and what is
    done there is done at its centre. Each kind uses what it needs: `press` the key, `wait` and
    `finish` nothing, all others the cell.

    Attributes:
        space: ``MultiDiscrete([kinds, cells, keys])`` without the parts that leave no choice: with
            one kind, no kind; with no kind that needs it, no cell or key. If but one part is left,
            ``Discrete``.
        parts: The names of the parts of `space`, in order, each with how many values it has.
    """

    def __init__(
        self,
        size: tuple[int, int],
        columns: int,
        rows: int,
        kinds: Sequence[str] = ("click",),
        keys: Sequence[str] | None = None,
    ) -> None:
        """Divide a screen of `size` (width, height) pixels; the rest is as for `GridActions`."""
        self.size = size
        self.columns, self.rows = columns, rows
        for value, most, name in ((columns, size[0], "columns"), (rows, size[1], "rows")):
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
                raise UserError(
                    f"{name} is a whole number from 1 to {most}, not {value!r}: the screen has "
                    f"{size[0]}x{size[1]} pixels"
                )
        self.kinds = _distinct(kinds, "kinds")
        for kind in self.kinds:
            if kind not in KINDS:
                raise UserError(f"there is no kind {kind!r}. {nearest(kind, KINDS)}")
        if keys is not None and "press" not in self.kinds:
            raise UserError("keys are what the kind 'press' presses: name it in kinds, too")
        self.keys = _distinct(KEYS if keys is None else keys, "keys")
        for key in self.keys:
            try:
                Press(key)
            except ActionError as error:
                raise UserError(str(error)) from None

        pointed = any(kind in _AT_A_POINT or kind in _SCROLLS for kind in self.kinds)
        counts = {
            "kind": len(self.kinds),
            "cell": columns * rows if pointed else 1,
            "key": len(self.keys) if "press" in self.kinds else 1,
        }
        self.parts = {part: count for part, count in counts.items() if count > 1}
        numbers = list(self.parts.values()) or [1]
        self.space: Space[Any] = (
            MultiDiscrete(numbers) if len(numbers) > 1 else Discrete(numbers[0])
        )

    def action(self, choice: int | NDArray[Any] | Sequence[int]) -> Action:
        """The action that an element of `space` stands for. `UserError` for any other value."""
        counts = list(self.parts.values()) or [1]
        numbers = np.asarray(choice).reshape(-1)
        if (
            numbers.dtype.kind not in "iu"
            or numbers.shape != (len(counts),)
            or not all(0 <= number < count for number, count in zip(numbers, counts, strict=True))
        ):
            raise UserError(
                f"an action is an element of {self.space} ({', '.join(self.parts) or 'nothing'}), "
                f"not {choice!r}"
            )
        chosen = dict(zip(self.parts, numbers.tolist(), strict=False))
        kind = self.kinds[chosen.get("kind", 0)]
        if kind == "press":
            return Press(self.keys[chosen.get("key", 0)])
        if kind in _NOWHERE:
            return _NOWHERE[kind]()
        x, y = self.center(chosen.get("cell", 0))
        if kind in _AT_A_POINT:
            return _AT_A_POINT[kind](x, y)
        right, down = _SCROLLS[kind]
        across, along = (max(1, side // 2 // NOTCH) * NOTCH for side in self.size)
        return Scroll(x, y, dx=right * across, dy=down * along)

    def center(self, cell: int) -> tuple[int, int]:
        """The pixel in the middle of a cell."""
        row, column = divmod(cell, self.columns)
        return (
            (2 * column + 1) * self.size[0] // (2 * self.columns),
            (2 * row + 1) * self.size[1] // (2 * self.rows),
        )

    def samples(self) -> list[Action]:
        """One action of each kind, and one for each key: all that differ in more than a point."""
        made = []
        for number, kind in enumerate(self.kinds):
            for key in range(len(self.keys) if kind == "press" else 1):
                chosen = {"kind": number, "cell": 0, "key": key}
                made.append(self.action([chosen[part] for part in self.parts] or [0]))
        return made


class Writer:
    """Writes a grid's choices in the dialect of an env's action space."""

    def __init__(self, space: Space[Any], *grid: Any) -> None:
        """`grid` is as for `Grid`, without the size. `UserError` if the dialect lacks the words."""
        if not isinstance(space, ActionText):
            raise UserError(
                f"GridActions writes texts, and this env's action space is {space}: it wraps a "
                "UIEnv or UIVectorEnv, once"
            )
        self.grid = Grid(space.size, *grid)
        self._size = space.size
        self._dialect = get_dialect(space.dialect)
        for action in self.grid.samples():
            try:
                self._dialect.render([action], self._size)
            except ActionError as error:
                raise UserError(
                    f"the dialect {space.dialect!r} cannot say {action} ({error}); leave out that "
                    "kind or key, or choose another dialect"
                ) from None

    def __call__(self, choice: int | NDArray[Any] | Sequence[int]) -> str:
        return self._dialect.render([self.grid.action(choice)], self._size)


class GridActions(gymnasium.ActionWrapper[Any, Any, str], RecordConstructorArgs):
    """Actions are numbers: a kind of action, a cell of a grid over the screen, a key.

    The action space is ``MultiDiscrete([kinds, cells, keys])``, without the parts that leave no
    choice, and ``Discrete`` if one part is left: ``GridActions(env, 10, 8)`` has ``Discrete(80)``,
    in which 13 clicks at the centre of the fourth cell of the second row. `env.action(13)` is the
    text of it, in the dialect of the env that is wrapped. `Grid` says more.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, str],
        columns: int,
        rows: int,
        kinds: Sequence[str] = ("click",),
        keys: Sequence[str] | None = None,
    ) -> None:
        """Wrap `env`.

        Args:
            env: A `UIEnv`, other wrappers around it or not, whose actions are texts.
            columns: Cells side by side, at most one a pixel.
            rows: Cells above each other.
            kinds: Of `KINDS`, in the order in which they are numbered.
            keys: What `press` may press, keys and chords in the order in which they are numbered;
                `KEYS` if none are named.

        Raises:
            UserError: an argument cannot be, or the env's dialect has no words for a kind or key.
        """
        RecordConstructorArgs.__init__(self, columns=columns, rows=rows, kinds=kinds, keys=keys)
        gymnasium.ActionWrapper.__init__(self, env)
        self._write = Writer(env.action_space, columns, rows, kinds, keys)
        self.grid = self._write.grid
        self.action_space = self.grid.space

    def action(self, action: Any) -> str:
        """The text of an action. `UserError` for what is no element of the action space."""
        return self._write(action)


def _distinct(values: Sequence[str], name: str) -> tuple[str, ...]:
    given = (values,) if isinstance(values, str) else tuple(values)
    if isinstance(values, str) or not given or len(set(given)) != len(given):
        raise UserError(f"{name} are one or more different names, not {values!r}")
    return given
