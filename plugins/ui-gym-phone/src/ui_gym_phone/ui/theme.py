"""Theme: the colours of light and dark, and the sizes of texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ui_gym_phone.ui.fonts import Face

Rgb = tuple[int, int, int]

LIGHT = {
    "background": "#f8f9fc",
    "surface": "#ffffff",
    "container": "#e9edf6",
    "text": "#1b1b1f",
    "dim": "#5a5d66",
    "primary": "#0b57d0",
    "on_primary": "#ffffff",
    "tonal": "#d7e3fb",
    "on_tonal": "#0a305f",
    "outline": "#74777f",
    "divider": "#dcdfe6",
    "disabled": "#a9acb4",
    "error": "#b3261e",
    "key": "#ffffff",
    "keyboard": "#d9dde6",
    "toast": "#2f3033",
    "on_toast": "#f2f0f4",
    "scrim": "#000000",
}
DARK = {
    "background": "#121317",
    "surface": "#1d1f24",
    "container": "#2a2d34",
    "text": "#e4e3e8",
    "dim": "#b0b3bc",
    "primary": "#a8c7fa",
    "on_primary": "#062e6f",
    "tonal": "#2b4678",
    "on_tonal": "#d9e4ff",
    "outline": "#8e9099",
    "divider": "#3a3d45",
    "disabled": "#62656d",
    "error": "#f2b8b5",
    "key": "#3a3d45",
    "keyboard": "#1d1f24",
    "toast": "#e4e3e8",
    "on_toast": "#2f3033",
    "scrim": "#000000",
}

NARROW, LOW = 300, 400
"""Screens less wide or high than this, in dp, have room for less."""

STYLES: Mapping[str, tuple[Face, int]] = {
    "display": ("regular", 48),
    "headline": ("regular", 28),
    "title": ("regular", 22),
    "subtitle": ("medium", 18),
    "body": ("regular", 16),
    "strong": ("medium", 16),
    "small": ("regular", 14),
    "label": ("medium", 14),
    "caption": ("regular", 12),
    "tiny": ("medium", 11),
}
"""Name -> (face, size in sp)."""


def rgb(colour: str) -> Rgb:
    """``#0b57d0`` as numbers."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


_LIGHT = {name: rgb(colour) for name, colour in LIGHT.items()}
_DARK = {name: rgb(colour) for name, colour in DARK.items()}


@dataclass(frozen=True)
class Theme:
    """What turns dp and names into pixels and colours."""

    dark: bool = False
    font_scale: float = 1.0
    density: int = 3

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
