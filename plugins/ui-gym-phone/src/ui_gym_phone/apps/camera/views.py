"""Views: what the camera sees. Drawn landscapes, one after the other, and a face for selfies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO

import numpy as np
from PIL import Image, ImageDraw

Colour = tuple[int, int, int]

PHOTO = (480, 640)
"""Width and height of a photo in pixels."""

_SKIES: tuple[tuple[Colour, Colour], ...] = (
    ((92, 158, 222), (214, 232, 244)),
    ((250, 170, 110), (252, 222, 180)),
    ((28, 34, 72), (96, 74, 120)),
    ((150, 176, 196), (222, 228, 230)),
)
_GROUNDS: tuple[tuple[Colour, ...], ...] = (
    ((120, 170, 120), (82, 140, 84), (52, 104, 62)),
    ((196, 140, 110), (150, 100, 96), (96, 66, 80)),
    ((52, 52, 92), (38, 38, 70), (24, 24, 48)),
    ((146, 160, 150), (112, 128, 120), (78, 92, 88)),
)


@dataclass(frozen=True)
class LensView:
    """What is before the lens: the `number`-th landscape, or whoever holds the phone."""

    number: int
    front: bool = False

    def __call__(self, width: int, height: int) -> Image.Image:
        return _drawn(self.number % len(_SKIES), self.front, width, height)

    def jpeg(self) -> bytes:
        """A photo of it."""
        out = BytesIO()
        self(*PHOTO).save(out, "JPEG", quality=82)
        return out.getvalue()


@lru_cache(maxsize=16)
def _drawn(number: int, front: bool, width: int, height: int) -> Image.Image:
    top, bottom = _SKIES[number]
    share = np.linspace(0, 1, height)[:, None, None]
    column = np.asarray(top) * (1 - share) + np.asarray(bottom) * share
    sky = Image.fromarray(column.round().astype(np.uint8))
    # Drawn twice as large, then shrunk: Pillow's shapes have no smooth edges.
    picture = sky.resize((2 * width, 2 * height), Image.Resampling.NEAREST)
    draw = ImageDraw.Draw(picture)
    if front:
        _face(draw, number, 2 * width, 2 * height)
    else:
        _landscape(draw, number, 2 * width, 2 * height)
    return picture.reduce(2)


def _landscape(draw: ImageDraw.ImageDraw, number: int, width: int, height: int) -> None:
    radius = width // 9
    x, y = width * (2 + number) // 7, height * (2 + number % 2) // 9
    light = (255, 246, 214) if number != 2 else (236, 236, 246)
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=light)
    xs = np.linspace(0, width, 60)
    for i, colour in enumerate(_GROUNDS[number]):
        middle = height * (0.5 + 0.15 * i)
        wave = np.sin(xs / width * (5 + 2 * i) + number * 1.7 + i * 2.1) * height * 0.05
        ridge = [(float(a), float(b)) for a, b in zip(xs, middle + wave, strict=True)]
        draw.polygon([*ridge, (width, height), (0, height)], fill=colour)
        if i == 1:
            for j in range(5):
                at = int((j * 13 + number * 5) % 59)
                _tree(draw, ridge[at], height // 14, _GROUNDS[number][2])


def _tree(draw: ImageDraw.ImageDraw, foot: tuple[float, float], size: int, colour: Colour) -> None:
    x, y = foot[0], foot[1] + size * 0.3
    draw.rectangle((x - size * 0.06, y - size * 0.4, x + size * 0.06, y), fill=(84, 62, 48))
    for step in range(3):
        top, wide = y - size * (1.5 - 0.35 * step), size * (0.28 + 0.1 * step)
        foot_y = top + size * 0.55
        draw.polygon([(x, top), (x - wide, foot_y), (x + wide, foot_y)], fill=colour)


def _face(draw: ImageDraw.ImageDraw, number: int, width: int, height: int) -> None:
    x, y, r = width // 2, height * 9 // 20, min(width, height) // 4
    shirt = _GROUNDS[number][1]
    draw.ellipse((x - 2 * r, y + int(1.2 * r), x + 2 * r, y + 5 * r), fill=shirt)
    draw.rectangle((x - r // 3, y + r // 2, x + r // 3, y + int(1.5 * r)), fill=(214, 166, 136))
    draw.ellipse((x - r, y - int(1.35 * r), x + r, y + int(0.6 * r)), fill=(70, 48, 38))
    draw.ellipse(
        (x - int(0.85 * r), y - r, x + int(0.85 * r), y + int(1.1 * r)), fill=(232, 186, 156)
    )
    for side in (-1, 1):
        eye = x + side * r * 2 // 5
        draw.ellipse((eye - r // 9, y - r // 5, eye + r // 9, y + r // 40), fill=(52, 40, 36))
    draw.arc((x - r * 2 // 5, y, x + r * 2 // 5, y + int(0.7 * r)), 20, 160, fill=(150, 70, 66),
             width=max(2, r // 14))  # fmt: skip
