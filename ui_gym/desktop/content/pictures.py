"""Pictures: some shapes of one kind and colour, drawn as PNG files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from ui_gym.contract.draws import between, pick, some

SIZE = (480, 320)
"""(width, height) of a picture, in pixels."""

_COLOURS: Mapping[str, tuple[int, int, int]] = {
    "red": (204, 44, 44), "orange": (240, 140, 30), "green": (52, 148, 62),
    "blue": (42, 98, 204), "purple": (130, 62, 168), "black": (40, 40, 40),
}  # fmt: skip
"""RGB."""

_CORNERS: Mapping[str, tuple[int, float]] = {
    "circle": (90, 1.0), "square": (4, 1.0), "triangle": (3, 1.0), "star": (10, 0.45),
}  # fmt: skip
"""How many corners a shape has, and how far from its middle every second one is."""

COLOURS, SHAPES = tuple(_COLOURS), tuple(_CORNERS)

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")
_COLUMNS, _RADIUS = 3, 52
_FINE = 4
"""Bits of a corner's place below the pixel."""
_PAPER = (250, 247, 240)


@dataclass(frozen=True)
class DrawnShapes:
    """What a picture shows: one to six shapes of a kind and a colour, in places of six."""

    number: int
    colour: str
    shape: str
    places: tuple[int, ...]

    @property
    def words(self) -> str:
        """Such as ``three red circles``."""
        ending = "s" if self.number > 1 else ""
        return f"{_NUMBERS[self.number]} {self.colour} {self.shape}{ending}"

    def png(self) -> bytes:
        """The file."""
        width, height = SIZE
        image = np.full((height, width, 3), _PAPER, np.uint8)
        across, down = width / _COLUMNS, height / 2
        for place in self.places:
            x, y = place % _COLUMNS, place // _COLUMNS
            middle = (across * (x + 0.5), down * (y + 0.5))
            corners = [_outline(self.shape, middle)]
            cv2.fillPoly(image, corners, _COLOURS[self.colour], cv2.LINE_AA, _FINE)
        return bytes(cv2.imencode(".png", cv2.cvtColor(image, cv2.COLOR_RGB2BGR))[1])


def drawings(rng: np.random.Generator, count: int) -> tuple[DrawnShapes, ...]:
    """Different pictures, at most 14: the others are like the first in all but the number, the
    colour or the shape."""
    number, colour, shape = between(rng, 1, 6), pick(rng, COLOURS), pick(rng, SHAPES)
    alike = [
        *((n, colour, shape) for n in range(1, 7) if n != number),
        *((number, c, shape) for c in COLOURS if c != colour),
        *((number, colour, s) for s in SHAPES if s != shape),
    ]
    shown = [(number, colour, shape), *some(rng, alike, count - 1)]
    return tuple(DrawnShapes(*what, tuple(sorted(some(rng, range(6), what[0])))) for what in shown)


def _outline(shape: str, middle: tuple[float, float]) -> np.ndarray[Any, Any]:
    """The corners of a shape, in parts of a pixel."""
    corners, inner = _CORNERS[shape]
    turned = math.pi / 4 if shape == "square" else 0.0
    points = []
    for i in range(corners):
        angle = 2 * math.pi * i / corners - math.pi / 2 + turned
        radius = _RADIUS * (inner if i % 2 else 1.0)
        way = (math.cos(angle), math.sin(angle))
        points.append(
            [round((m + radius * w) * 2**_FINE) for m, w in zip(middle, way, strict=True)]
        )
    return np.array(points, np.int32)
