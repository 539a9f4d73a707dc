"""Theme: the colours of light and dark, and the sizes of texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ui_gym_phone import data
from ui_gym_phone.ui.fonts import Face

Rgb = tuple[int, int, int]

NARROW, LOW = 300, 400
"""Screens less wide or high than this, in dp, have room for less."""

LEAST = 14
"""On a grid no text is smaller than this, in sp."""

STYLES: Mapping[str, tuple[Face, int]] = {
    name: (face, size) for name, (face, size) in data.table("theme")["styles"].items()
}
"""Name -> (face, size in sp)."""


def rgb(colour: str) -> Rgb:
    """``#0b57d0`` as numbers."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


_LIGHT, _DARK = (
    {name: rgb(colour) for name, colour in data.table("theme")[theme].items()}
    for theme in ("light", "dark")
)


@dataclass(frozen=True)
class Theme:
    """What turns dp and names into pixels and colours."""

    dark: bool = False
    font_scale: float = 1.0
    density: float = 3
    grid: int = 0
    """Where all lies on a grid (`display.cell`): its cells, in device pixels; else 0."""

    def px(self, dp: float) -> int:
        """Device pixels of so many dp."""
        return round(dp * self.density)

    @property
    def line(self) -> float:
        """How thick a thin line is, in dp."""
        return 2 if self.grid else 1

    def room(self, dp: float) -> int:
        """Device pixels of room above, below or between: on a grid, of the whole cells in it."""
        return self.whole(self.px(dp))

    def whole(self, pixels: int) -> int:
        """So many device pixels; on a grid, those of the whole cells in them."""
        return pixels // self.grid * self.grid if self.grid else pixels

    def cells(self, pixels: int) -> int:
        """How high that is which needs so many device pixels: on a grid, whole cells."""
        return -(-pixels // self.grid) * self.grid if self.grid else pixels

    def colour(self, name: str) -> Rgb:
        """A colour by its name in the theme, or as ``#rrggbb``."""
        if name.startswith("#"):
            return rgb(name)
        return (_DARK if self.dark else _LIGHT)[name]

    def font(self, style: str) -> tuple[Face, int]:
        """(face, size in device pixels) of a text style."""
        face, size = STYLES[style]
        if self.grid:
            size = max(size, LEAST)
        return face, round(size * self.density * self.font_scale)
