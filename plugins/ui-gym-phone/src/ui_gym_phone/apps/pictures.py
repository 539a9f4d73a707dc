"""Pictures: image files of the phone's storage, as widgets can show them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO

from PIL import Image

from ui_gym_phone.ui.layout import Size, Widget
from ui_gym_phone.ui.scene import PhoneScene
from ui_gym_phone.ui.theme import Theme

MOST_PIXELS = 24_000_000
"""Larger pictures are not decoded: whoever pushed one may mean harm."""

ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp")
_BROKEN = (92, 96, 104)


@dataclass(frozen=True)
class Photo:
    """Draws an image file's bytes; `cover` fills its box and crops, else all of it is seen."""

    data: bytes
    cover: bool = False

    def __call__(self, width: int, height: int) -> Image.Image:
        return _drawn(self.data, self.cover, width, height)


class Whole(Widget):
    """A picture in all the room there is; `draw` is as for `Picture`."""

    weight = 1

    def __init__(self, draw: Callable[[int, int], Image.Image], desc: str) -> None:
        self.draw, self.desc = draw, desc

    def measure(self, theme: Theme, width: int) -> Size:
        return width, width

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        box = (x, y, x + width, y + height)
        with scene.node("android.widget.ImageView", box, desc=self.desc):
            scene.image(box, self.draw)


def is_picture(name: str) -> bool:
    """Whether a file's name says that it is one."""
    return name.lower().endswith(ENDINGS)


@lru_cache(maxsize=48)
def size_of(data: bytes) -> tuple[int, int] | None:
    """Width and height in pixels; None where the bytes are no picture that can be shown."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(
                BytesIO(data), formats=("JPEG", "PNG", "WEBP", "GIF", "BMP")
            ) as picture:
                width, height = picture.size
    except (OSError, ValueError, SyntaxError, Warning, Image.DecompressionBombError):
        return None
    return (width, height) if 0 < width * height <= MOST_PIXELS else None


@lru_cache(maxsize=48)
def _drawn(data: bytes, cover: bool, width: int, height: int) -> Image.Image:
    canvas = Image.new("RGB", (width, height), _BROKEN if cover else (0, 0, 0))
    size = size_of(data)
    if size is None:
        return canvas
    try:
        with Image.open(BytesIO(data), formats=("JPEG", "PNG", "WEBP", "GIF", "BMP")) as picture:
            picture.draft("RGB", (width, height))
            pixels = picture.convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return canvas
    pick = max if cover else min
    scale = pick(width / pixels.width, height / pixels.height)
    wide, tall = max(1, round(pixels.width * scale)), max(1, round(pixels.height * scale))
    fitted = pixels.resize((wide, tall), Image.Resampling.BILINEAR)
    canvas.paste(fitted, ((width - wide) // 2, (height - tall) // 2))
    return canvas
