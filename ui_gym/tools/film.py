"""Pictures of an episode: a strip of captioned screenshots, and an animation.

`film_strip` is for reports and documentation, `animation` for looking at one episode.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from PIL.ImageFont import FreeTypeFont

from ui_gym.contract import device
from ui_gym.contract.action import Action, Scroll, parse
from ui_gym.errors import ActionError, UserError

Frames = Sequence[device.Image]

ROW = 1400
"""The width of a strip that is not told its columns, in pixels; it is never wider."""

_PAPER = (255, 255, 255)
_CARD = (244, 246, 249)
_EDGE = (214, 220, 228)
_INK = (32, 38, 46)
_FAINT = (112, 122, 136)
_RING = (230, 57, 70)

_GAP = 14
_SCALE = 4  # rings and arrows are drawn this much larger and scaled down: Pillow does not smooth


def film_strip(
    frames: Frames,
    captions: Sequence[str],
    *,
    actions: Sequence[Sequence[Action]] | None = None,
    title: str = "",
    width: int = 440,
    columns: int | None = None,
) -> Image.Image:
    """A strip of `frames`, each with its number and caption below, wrapped into rows.

    A ring marks every point of the actions done on a frame, and an arrow every drag. `actions`
    are those of each frame; without it, they are read from the captions that are canonical text.
    There may be one caption fewer than frames: nothing was done on the last one.

    Args:
        title: stands above the strip, as the episode's goal.
        width: of one frame in the strip, in pixels; larger screenshots are made smaller.
        columns: frames a row; by default as many as fit into `ROW` pixels.

    Raises:
        UserError: there is no frame, or a number of captions or actions that does not fit.
    """
    _check(frames, captions)
    if actions is None:
        actions = [_read(caption) for caption in captions]
    elif len(actions) != len(captions):
        raise UserError(f"{len(captions)} captions but {len(actions)} lists of actions")
    padded = [*captions, *[""] * (len(frames) - len(captions))]
    marked = [
        _marked(frame, actions[i] if i < len(actions) else (), width)
        for i, frame in enumerate(frames)
    ]
    font = _font(13)
    cell = marked[0].width
    wrapped = [_wrap(caption, font, cell - 44, lines=3) for caption in padded]
    columns = columns or max(1, min(len(frames), ROW // (cell + _GAP)))
    rows = [range(i, min(i + columns, len(frames))) for i in range(0, len(frames), columns)]
    heights = [
        max(marked[i].height for i in row) + 16 + 17 * max(1, *(len(wrapped[i]) for i in row))
        for row in rows
    ]
    heading = _wrap(title, _font(17), columns * (cell + _GAP) - _GAP, lines=3) if title else []
    top = _GAP + (24 * len(heading) + 8 if heading else 0)
    sheet = Image.new(
        "RGB",
        (columns * (cell + _GAP) + _GAP, top + sum(heights) + _GAP * len(rows)),
        _PAPER,
    )
    draw = ImageDraw.Draw(sheet)
    for i, line in enumerate(heading):
        draw.text((_GAP, _GAP - 2 + 24 * i), line, font=_font(17), fill=_INK)
    for row, height in zip(rows, heights, strict=True):
        for column, i in enumerate(row):
            left = _GAP + column * (cell + _GAP)
            _card(sheet, draw, (left, top), height, marked[i], i + 1, wrapped[i], font)
        top += height + _GAP
    return sheet


def animation(frames: Frames, path: str | Path, *, seconds: float = 0.8) -> Path:
    """Write `frames` as an animated WebP or GIF, as the suffix of `path` says.

    A frame is shown for `seconds`, the last one three times as long; it loops for ever.

    Raises:
        UserError: there is no frame, or the suffix is neither ``.webp`` nor ``.gif``.
    """
    path = Path(path)
    if path.suffix.lower() not in (".webp", ".gif"):
        raise UserError(f"{path.name}: an animation is a .webp or a .gif file")
    if not len(frames):
        raise UserError("an animation needs at least one frame")
    pictures = [Image.fromarray(frame) for frame in frames]
    milliseconds = [round(seconds * 1000)] * (len(pictures) - 1) + [round(seconds * 3000)]
    options: dict[str, Any] = (
        {"lossless": True} if path.suffix.lower() == ".webp" else {"optimize": True}
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    pictures[0].save(
        path,
        save_all=True,
        append_images=pictures[1:],
        duration=milliseconds,
        loop=0,
        **options,
    )
    return path


def mark(frame: device.Image, actions: Sequence[Action]) -> device.Image:
    """`frame` with a ring at every point of `actions`, in its own size."""
    return np.asarray(_marked(frame, actions, frame.shape[1]))


def _check(frames: Frames, captions: Sequence[str]) -> None:
    if not len(frames):
        raise UserError("a film strip needs at least one frame")
    if not 0 <= len(frames) - len(captions) <= 1:
        raise UserError(f"{len(frames)} frames but {len(captions)} captions")


def _read(caption: str) -> list[Action]:
    """The actions of a caption; none if it is not canonical text."""
    try:
        return parse(caption)
    except (ActionError, OverflowError):
        return []


def _marked(frame: device.Image, actions: Sequence[Action], width: int) -> Image.Image:
    picture = Image.fromarray(frame)
    scale = min(1.0, width / picture.width)
    if scale < 1:
        size = (round(picture.width * scale), round(picture.height * scale))
        picture = picture.resize(size, Image.Resampling.LANCZOS)
    if not any(action.points() for action in actions):
        return picture
    # A white rim keeps the red visible on any page.
    for color, width_added in ((_PAPER, 2.0), (_RING, 0.0)):
        mask = Image.new("L", (picture.width * _SCALE, picture.height * _SCALE))
        _Pen(mask, scale, 2.5 + width_added).draw_all(actions)
        mask = mask.resize(picture.size, Image.Resampling.LANCZOS)
        picture.paste(Image.new("RGB", picture.size, color), mask=mask)
    return picture


class _Pen:
    """Draws rings and arrows of `width` pixels into a mask that is `_SCALE` times as large."""

    def __init__(self, mask: Image.Image, scale: float, width: float) -> None:
        self._draw = ImageDraw.Draw(mask)
        self._scale = scale
        self._width = width * _SCALE

    def draw_all(self, actions: Sequence[Action]) -> None:
        for action in actions:
            points = [self._place(x, y) for x, y in action.points()]
            if points:
                self._ring(*points[0])
            if len(points) == 2:
                self._arrow(points[0], points[1])
            if isinstance(action, Scroll) and (action.dx or action.dy):
                length = 28 * _SCALE / max(abs(action.dx), abs(action.dy))
                x, y = points[0]
                self._arrow((x, y), (x + action.dx * length, y + action.dy * length))

    def _place(self, x: int, y: int) -> tuple[float, float]:
        return (x + 0.5) * self._scale * _SCALE, (y + 0.5) * self._scale * _SCALE

    def _ring(self, x: float, y: float) -> None:
        outer = 8 * _SCALE + self._width / 2
        dot = 0.8 * _SCALE + self._width / 2
        box = (x - outer, y - outer, x + outer, y + outer)
        self._draw.ellipse(box, outline=255, width=round(self._width))
        self._draw.ellipse((x - dot, y - dot, x + dot, y + dot), fill=255)

    def _arrow(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        dx, dy = end[0] - start[0], end[1] - start[1]
        length = max(1.0, math.hypot(dx, dy))
        dx, dy = dx / length, dy / length
        back, side, rim = 10.0 * _SCALE, 5.0 * _SCALE, self._width / 2 - 1.25 * _SCALE
        foot = (end[0] - dx * (back + rim), end[1] - dy * (back + rim))
        tip = (end[0] + dx * 2 * rim, end[1] + dy * 2 * rim)
        side += rim
        self._draw.line((start, foot), fill=255, width=round(self._width))
        corners = [
            (foot[0] - dy * side, foot[1] + dx * side),
            (foot[0] + dy * side, foot[1] - dx * side),
        ]
        self._draw.polygon([tip, *corners], fill=255)


def _card(
    sheet: Image.Image,
    draw: ImageDraw.ImageDraw,
    corner: tuple[int, int],
    height: int,
    picture: Image.Image,
    number: int,
    lines: Sequence[str],
    font: FreeTypeFont,
) -> None:
    left, top = corner
    box = (left - 1, top - 1, left + picture.width, top + height)
    draw.rounded_rectangle(box, radius=6, fill=_CARD, outline=_EDGE)
    sheet.paste(picture, corner)
    draw.line(
        (left, top + picture.height, left + picture.width - 1, top + picture.height), fill=_EDGE
    )
    text = top + picture.height + 7
    draw.text((left + 10, text), str(number), font=font, fill=_FAINT)
    for i, line in enumerate(lines):
        draw.text((left + 34, text + 17 * i), line, font=font, fill=_INK)


def _wrap(text: str, font: FreeTypeFont, width: int, lines: int) -> list[str]:
    """`text` in at most `lines` lines of `width` pixels, broken at spaces where there are any."""
    found: list[str] = []
    # A pixel holds no two characters, and Pillow is slow, or refuses, to measure what is longer.
    rest = " ".join(text.split())[: lines * width + 1]
    while rest and len(found) < lines:
        fits = _fitting(rest, font, width)
        if fits < len(rest) and len(found) == lines - 1:
            fits = _fitting(rest, font, width - round(font.getlength("…")))
            found.append(rest[:fits].rstrip() + "…")
            break
        if fits < len(rest):
            space = rest.rfind(" ", 1, fits + 1)
            fits = space if space > 0 else fits
        found.append(rest[:fits].rstrip())
        rest = rest[fits:].lstrip()
    return found


def _fitting(text: str, font: FreeTypeFont, width: int) -> int:
    """How many characters of `text` fit into `width` pixels; at least one."""
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if font.getlength(text[:middle]) <= width:
            low = middle
        else:
            high = middle - 1
    return low


def _font(size: int) -> FreeTypeFont:
    font = ImageFont.load_default(size)
    if not isinstance(font, FreeTypeFont):  # Pillow was built without FreeType
        raise UserError("this Pillow has no FreeType; install it anew: pip install pillow")
    return font
