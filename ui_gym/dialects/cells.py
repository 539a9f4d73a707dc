"""The cells dialect: canonical text whose points are one token a coordinate.

For small models. A point is ``<xI><yJ>``: column I and row J of a grid of square cells, counted
from the top left corner. Lines before the last are thought::

    3 Carl Abel First
    click(<x31><y9>)
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ui_gym.contract.action import Action, shorten
from ui_gym.dialects.canonical import ELEMENTS, Canonical
from ui_gym.dialects.common import check_actions, check_length
from ui_gym.dialects.seen import NOTHING, Seen
from ui_gym.errors import ActionError

# A quoted string is matched first, so that a point inside it stays text.
_STRING_OR_POINT = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|<x(?P<x>\d{1,6})>[\s,]*<y(?P<y>\d{1,6})>""",
    re.ASCII,
)


class Cells:
    """Canonical actions with points in cells of `cell` pixels.

    A point is read as the middle of its cell (of a cell cut by the screen's edge: the last pixel
    if the middle is outside), so an action survives the round trip when its points are there.
    """

    name = "cells"

    def __init__(self, cell: int = 8) -> None:
        if cell < 1:
            raise ValueError(f"a cell is at least one pixel wide, not {cell}")
        self.cell = cell
        self._canonical = Canonical()

    def parse(self, text: str, size: tuple[int, int], seen: Seen = NOTHING) -> list[Action]:
        check_length(text)
        line = text.rstrip().rpartition("\n")[2]
        plain = _STRING_OR_POINT.sub(lambda match: self._pixels(match, size), line)
        try:
            return self._canonical.parse(plain, size, seen)
        except ActionError as error:
            if error.kind != "parse":
                raise
            raise ActionError(
                "parse",
                f"cannot read {shorten(line)}. The last line is the action, with points in cells, "
                "as in click(<x3><y5>)",
            ) from None

    def render(self, actions: Sequence[Action], size: tuple[int, int], thought: str = "") -> str:
        check_actions(actions, size)
        line = "; ".join(map(self._write, actions))
        return f"{thought}\n{line}" if thought else line

    def prompt(self, size: tuple[int, int], *, elements: bool = False) -> str:
        columns, rows = self.grid(size)
        return (
            f"The screen is a grid of {columns} columns and {rows} rows of cells. A point is "
            f"<xI><yJ>: column I is 0 to {columns - 1} from the left, row J is 0 to {rows - 1} "
            "from the top. Write your thought if you have one, then the action on the last line: "
            'click(<x3><y5>), drag(<x3><y5>, <x9><y5>), scroll(<x3><y5>, dy=200), type("text"), '
            'press("enter"), wait(1), answer("text") or finish("success"). '
            'Several actions are joined by ";".' + (ELEMENTS if elements else "")
        )

    def can_say(self, action: Action) -> bool:
        return True

    def grid(self, size: tuple[int, int]) -> tuple[int, int]:
        """(columns, rows) of cells that cover a screen of `size`."""
        width, height = size
        return -(-width // self.cell), -(-height // self.cell)

    def center(self, column: int, row: int, size: tuple[int, int]) -> tuple[int, int]:
        """The pixel that the cell stands for."""
        width, height = size
        middle = self.cell // 2
        return (
            min(self.cell * column + middle, width - 1),
            min(self.cell * row + middle, height - 1),
        )

    def _write(self, action: Action) -> str:
        text = str(action)
        points = action.points()
        if not points:
            return text
        # In canonical text the points come first: replace that prefix, keep the rest.
        numbers = ", ".join(f"{x}, {y}" for x, y in points)
        cells = ", ".join(f"<x{x // self.cell}><y{y // self.cell}>" for x, y in points)
        return f"{action.name}({cells}{text[len(f'{action.name}({numbers}') :]}"

    def _pixels(self, match: re.Match[str], size: tuple[int, int]) -> str:
        if match["string"] is not None:
            return match["string"]
        column, row = int(match["x"]), int(match["y"])
        columns, rows = self.grid(size)
        if column >= columns or row >= rows:
            raise ActionError(
                "argument",
                f"{match[0]} is outside the screen; columns are <x0> to <x{columns - 1}>, "
                f"rows are <y0> to <y{rows - 1}>",
            )
        x, y = self.center(column, row, size)
        return f"{x}, {y}"
