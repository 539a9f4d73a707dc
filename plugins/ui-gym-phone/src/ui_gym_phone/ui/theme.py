"""Theme: the colours of light and dark, and the sizes of texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ui_gym_phone import data
from ui_gym_phone.ui.fonts import Face

Rgb = tuple[int, int, int]

NARROW, LOW = 300, 400
"""Screens less wide or high than this, in dp, have room for less."""

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

    def px(self, dp: float) -> int:
        """Device pixels of so many dp."""
        return round(dp * self.density)

    def colour(self, name: str) -> Rgb:
        """A colour by its name in the theme, or as ``#rrggbb``."""
        if name.startswith("#"):
            return rgb(name)
        return (_DARK if self.dark else _LIGHT)[name]

    def font(self, style: str) -> tuple[Face, int]:
        """(face, size in device pixels) of a text style."""
        face, size = STYLES[style]
        return face, round(size * self.density * self.font_scale)
