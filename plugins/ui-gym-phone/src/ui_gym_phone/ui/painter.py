"""Painter: turns a scene's display list into a picture, and repaints only what changed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image as Pictures

from ui_gym.contract.device import Image
from ui_gym_phone.ui import fonts
from ui_gym_phone.ui.scene import Box, Op, meet

Span = tuple[int, int, int, int]

SMALL = 60_000
"""Pixels up to which a rounded rectangle is one mask; larger ones keep masks for their ends."""


class Painter:
    """A canvas of `width` x `height` pixels that shows device pixels scaled by `scale`.

    Painting the same list again costs nothing; a changed one costs what changed. Which way it
    came about never shows: the picture depends on the list alone.
    """

    def __init__(self, width: int, height: int, scale: float) -> None:
        self.scale = scale
        self._canvas = Pictures.new("RGB", (width, height))
        self._pixels = np.zeros((height, width, 3), np.uint8)
        self._painted: list[Op] = []

    def paint(self, ops: Sequence[Op]) -> Image:
        """The picture of a display list, (height, width, 3) uint8; the painter's own array."""
        damage = self._damage(ops)
        if damage is not None:
            for op in ops:
                span = meet(self._span(op.clip), damage)
                if span is not None:
                    _DRAW[op.kind](self, op, span)
            left, top, right, bottom = damage
            self._pixels[top:bottom, left:right] = np.asarray(self._canvas.crop(damage))
        self._painted = list(ops)
        return self._pixels

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the canvas in pixels."""
        return self._canvas.size

    def rgba(self) -> bytes:
        """The painted picture, 4 bytes a pixel."""
        return self._canvas.convert("RGBA").tobytes()

    def _damage(self, ops: Sequence[Op]) -> Span | None:
        """What must be painted anew: all that lies under a thing that came, went or changed."""
        before = self._painted
        same = 0
        for old, new in zip(before, ops, strict=False):
            if old != new:
                break
            same += 1
        tail = 0
        limit = min(len(before), len(ops)) - same
        while tail < limit and before[-1 - tail] == ops[-1 - tail]:
            tail += 1
        changed = [*before[same : len(before) - tail], *ops[same : len(ops) - tail]]
        spans = [self._span(op.clip) for op in changed]
        if not spans:
            return None
        box = (
            min(s[0] for s in spans),
            min(s[1] for s in spans),
            max(s[2] for s in spans),
            max(s[3] for s in spans),
        )
        return meet(box, (0, 0, *self._canvas.size))

    def _span(self, box: Box) -> Span:
        k = self.scale
        return round(box[0] * k), round(box[1] * k), round(box[2] * k), round(box[3] * k)

    # -- one thing each --

    def _rect(self, op: Op, span: Span) -> None:
        radius, opacity = op.what
        box = self._span(op.box)
        r = min(round(radius * self.scale), (box[2] - box[0]) // 2, (box[3] - box[1]) // 2)
        if opacity < 255:
            self._blend(op, span, opacity)
        elif r < 1:
            self._canvas.paste(op.colour, span)
        else:
            self._rounded(op, span, box, r)

    def _blend(self, op: Op, span: Span, opacity: int) -> None:
        part = self._canvas.crop(span)
        veil = Pictures.new("RGB", part.size, op.colour)
        self._canvas.paste(Pictures.blend(part, veil, opacity / 255), span)

    def _rounded(self, op: Op, span: Span, box: Box, r: int) -> None:
        left, top, right, bottom = box
        if (right - left) * (bottom - top) <= SMALL:
            mask = fonts.rounded_mask(right - left, bottom - top, r)
            self._stamp(mask, left, top, op, span)
            return
        for bar, rounded in (
            ((left, top, right, top + r), True),
            ((left, top + r, right, bottom - r), False),
            ((left, bottom - r, right, bottom), True),
        ):
            seen = meet(bar, span)
            if seen is None:
                continue
            if rounded:
                mask = fonts.rounded_mask(right - left, 2 * r, r)
                self._stamp(mask, left, top if bar[1] == top else bottom - 2 * r, op, seen)
            else:
                self._canvas.paste(op.colour, seen)

    def _text(self, op: Op, span: Span) -> None:
        x, y, text, face, size = op.what
        mask, left, top = fonts.text_mask(text, face, size, self.scale)
        self._stamp(mask, round(x * self.scale) + left, round(y * self.scale) + top, op, span)

    def _icon(self, op: Op, span: Span) -> None:
        left, top, right, _ = self._span(op.box)
        mask, dx, dy = fonts.icon_mask(op.what, max(1, right - left))
        self._stamp(mask, left + dx, top + dy, op, span)

    def _image(self, op: Op, span: Span) -> None:
        left, top, right, bottom = self._span(op.box)
        if right > left and bottom > top:
            picture = op.what(right - left, bottom - top)
            part = (span[0] - left, span[1] - top, span[2] - left, span[3] - top)
            self._canvas.paste(picture.crop(part), span)

    def _stamp(self, mask: Pictures.Image, x: int, y: int, op: Op, span: Span | None) -> None:
        """Colour through a mask whose top left corner is at (x, y), within the span."""
        seen = span and meet((x, y, x + mask.width, y + mask.height), span)
        if seen:
            part = (seen[0] - x, seen[1] - y, seen[2] - x, seen[3] - y)
            whole = part == (0, 0, mask.width, mask.height)
            self._canvas.paste(op.colour, seen, mask if whole else mask.crop(part))


_DRAW = {
    "rect": Painter._rect,
    "text": Painter._text,
    "icon": Painter._icon,
    "image": Painter._image,
}
