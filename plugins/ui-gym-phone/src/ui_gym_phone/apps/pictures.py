"""Pictures: image files of the phone's storage, as widgets can show them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from io import BytesIO

from PIL import Image

from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Size, Widget
from ui_gym_phone.ui.scene import Box, PhoneScene
from ui_gym_phone.ui.theme import Theme
from ui_gym_phone.ui.touch import FingerStroke, Pinch

MOST_PIXELS = 24_000_000
"""Larger pictures are not decoded: whoever pushed one may mean harm."""

ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp")
_BROKEN = (92, 96, 104)


@dataclass(frozen=True)
class Zoom:
    """A picture `factor` times as large as it fits, around a point: shares of its width and
    height."""

    factor: float = 1.0
    x: float = 0.5
    y: float = 0.5


LARGEST, DOUBLE_TAP = 8.0, 2.5
"""The largest factor, and the one that a double tap gives."""


@dataclass(frozen=True)
class PictureFrame:
    """Where a picture of some size lies in a view of another, both (width, height) in pixels."""

    picture: tuple[int, int]
    view: tuple[int, int]

    def _scale(self, factor: float) -> float:
        return factor * min(v / p for v, p in zip(self.view, self.picture, strict=True))

    def seen(self, zoom: Zoom) -> tuple[float, float]:
        """How much of the picture's width and height the view holds: shares of them."""
        scale = self._scale(zoom.factor)
        across, down = (v / scale / p for v, p in zip(self.view, self.picture, strict=True))
        return across, down

    def within(self, zoom: Zoom) -> Zoom:
        """The nearest that shows nothing beside the picture where the picture fills the view."""
        zoom = replace(zoom, factor=min(LARGEST, max(1.0, zoom.factor)))
        x, y = (
            0.5 if share >= 1 else min(max(at, share / 2), 1 - share / 2)
            for at, share in zip((zoom.x, zoom.y), self.seen(zoom), strict=True)
        )
        return replace(zoom, x=x, y=y)

    def around(self, zoom: Zoom, factor: float, x: float, y: float) -> Zoom:
        """With another factor, such that what is at a point of the view (shares of it) stays."""
        (across, down), grown = self.seen(zoom), replace(zoom, factor=factor)
        wide, high = self.seen(self.within(grown))
        return self.within(
            replace(
                grown,
                x=zoom.x + (x - 0.5) * (across - wide),
                y=zoom.y + (y - 0.5) * (down - high),
            )
        )

    def moved(self, zoom: Zoom, x: float, y: float) -> Zoom:
        """With the picture moved by shares of the view."""
        across, down = self.seen(zoom)
        return self.within(replace(zoom, x=zoom.x - x * across, y=zoom.y - y * down))


@dataclass(frozen=True)
class Photo:
    """Draws an image file's bytes; `cover` fills its box and crops, else all of it is seen."""

    data: bytes
    cover: bool = False
    zoom: Zoom | None = None
    """Which part of it is seen, if not all."""

    def __call__(self, width: int, height: int) -> Image.Image:
        if self.zoom is not None:
            return _magnified(self.data, self.zoom, width, height)
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


class Zoomed(Whole):
    """A picture file in all the room there is: a double tap and two fingers zoom it, one finger
    moves it then. `name` tells it from others of the screen."""

    def __init__(self, ui: Ui, data: bytes, name: str) -> None:
        super().__init__(Photo(data), name)
        self.ui, self.data, self.name = ui, data, name

    @property
    def zoom(self) -> Zoom:
        return Zoom(*self.ui.state.get(f"zoom {self.name}", (1.0, 0.5, 0.5)))

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        size = size_of(self.data)
        if size is not None and width > 0 and height > 0:
            self._let_zoom(
                scene, PictureFrame(size, (width, height)), (x, y, x + width, y + height)
            )
        super().place(scene, x, y, width, height)

    def _let_zoom(self, scene: PhoneScene, frame: PictureFrame, box: Box) -> None:
        zoom = frame.within(self.zoom)
        if zoom.factor > 1:
            self.draw = Photo(self.data, zoom=zoom)

        def share(x: int, y: int) -> tuple[float, float]:
            return (x - box[0]) / frame.view[0], (y - box[1]) / frame.view[1]

        def keep(to: Zoom) -> None:
            self.ui.state[f"zoom {self.name}"] = (to.factor, to.x, to.y)

        def double_tap(x: int, y: int) -> None:
            factor = DOUBLE_TAP if zoom.factor == 1 else 1.0
            keep(frame.around(zoom, factor, *share(x, y)))

        def pinch(fingers: Pinch) -> None:
            to = frame.around(zoom, zoom.factor * fingers.factor, *share(fingers.x, fingers.y))
            keep(frame.moved(to, fingers.dx / frame.view[0], fingers.dy / frame.view[1]))

        def stroke(way: FingerStroke) -> bool:
            if zoom.factor > 1:
                keep(frame.moved(zoom, way.dx / frame.view[0], way.dy / frame.view[1]))
            return zoom.factor > 1

        scene.touch(box, double_tap=double_tap, pinch=pinch, stroke=stroke)


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
    pixels = _pixels(data, width, height)
    if pixels is None:
        return canvas
    pick = max if cover else min
    scale = pick(width / pixels.width, height / pixels.height)
    wide, tall = max(1, round(pixels.width * scale)), max(1, round(pixels.height * scale))
    fitted = pixels.resize((wide, tall), Image.Resampling.BILINEAR)
    canvas.paste(fitted, ((width - wide) // 2, (height - tall) // 2))
    return canvas


@lru_cache(maxsize=16)
def _magnified(data: bytes, zoom: Zoom, width: int, height: int) -> Image.Image:
    canvas = Image.new("RGB", (width, height), (0, 0, 0))
    pixels = _pixels(data, 0, 0)
    if pixels is None:
        return canvas
    shares = PictureFrame(pixels.size, (width, height)).seen(zoom)
    # Of each side: the part of the picture that is seen, and where that lies in the view.
    parts, places = [], []
    for side, room, at, share in zip(
        pixels.size, (width, height), (zoom.x, zoom.y), shares, strict=True
    ):
        low, high = max(0.0, at - share / 2), min(1.0, at + share / 2)
        parts.append((low * side, high * side))
        places.append((round((0.5 + (low - at) / share) * room),
                       round((0.5 + (high - at) / share) * room)))  # fmt: skip
    across, down = (max(1, high - low) for low, high in places)
    part = pixels.resize(
        (across, down),
        Image.Resampling.BILINEAR,
        box=(parts[0][0], parts[1][0], parts[0][1], parts[1][1]),
    )
    canvas.paste(part, (places[0][0], places[1][0]))
    return canvas


def _pixels(data: bytes, width: int, height: int) -> Image.Image | None:
    """A picture file as RGB, decoded no larger than need be where a size is given; None where it
    cannot be shown."""
    if size_of(data) is None:
        return None
    try:
        with Image.open(BytesIO(data), formats=("JPEG", "PNG", "WEBP", "GIF", "BMP")) as picture:
            if width and height:
                picture.draft("RGB", (width, height))
            return picture.convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
