"""Texts and icons as masks: measured in device pixels, drawn at the size of the observation."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from io import BytesIO
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from ui_gym_phone.ui.icons import ICONS

Face = str
"""``regular``, ``medium`` or ``icons``."""

_FILES = {
    "regular": "roboto-regular.ttf",
    "medium": "roboto-medium.ttf",
    "icons": "icons.ttf",
}
_ELLIPSIS = "…"
_lock = threading.RLock()  # FreeType's faces are not for two threads at once


@lru_cache(maxsize=64)
def _font(face: Face, size: float) -> ImageFont.FreeTypeFont:
    data = (files("ui_gym_phone.ui") / "assets" / _FILES[face]).read_bytes()
    return ImageFont.truetype(BytesIO(data), size, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=20_000)
def text_width(text: str, face: Face, size: int) -> int:
    """How wide a line of text is, in pixels, at a font size in pixels."""
    with _lock:
        return round(_font(face, size).getlength(text))


def line_height(size: int) -> int:
    """From one baseline to the next, in pixels, at a font size in pixels."""
    return round(size * 1.36)


@lru_cache(maxsize=5_000)
def shorten(text: str, face: Face, size: int, width: int) -> str:
    """As much of a line as fits, with an ellipsis where something is left out."""
    if text_width(text, face, size) <= width:
        return text

    def cut(signs: int) -> str:
        return text[:signs].rstrip() + _ELLIPSIS

    kept = _most(0, len(text), lambda n: text_width(cut(n), face, size) <= width)
    return cut(kept)


def _most(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """The largest number between two that fits, if all that are smaller do; `low` always does."""
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


@lru_cache(maxsize=5_000)
def wrap(text: str, face: Face, size: int, width: int, lines: int) -> tuple[str, ...]:
    """The text broken into at most `lines` lines (0: any number), the last one shortened."""
    broken = [line for part in text.split("\n") for line in _wrap_part(part, face, size, width)]
    if lines and len(broken) > lines:
        rest = " ".join(broken[lines - 1 :])
        broken = [*broken[: lines - 1], shorten(rest, face, size, width)]
    if lines:
        broken = [shorten(line, face, size, width) for line in broken]
    return tuple(broken)


def _fitting(word: str, face: Face, size: int, width: int) -> int:
    """How many signs of a word fit into a line; one at least, if it has any."""
    high = 16
    while high < len(word) and text_width(word[:high], face, size) <= width:
        high *= 2
    low, high = min(1, len(word)), min(high, len(word))
    return _most(low, high, lambda n: text_width(word[:n], face, size) <= width)


def _wrap_part(part: str, face: Face, size: int, width: int) -> list[str]:
    lines: list[str] = []
    line = ""
    for word in part.split(" "):
        longer = f"{line} {word}" if line else word
        if text_width(longer, face, size) <= width:
            line = longer
            continue
        if line:
            lines.append(line)
        # A word that is wider than the line, such as an address, breaks where it must.
        while (cut := _fitting(word, face, size, width)) < len(word):
            lines.append(word[:cut])
            word = word[cut:]
        line = word
    lines.append(line)
    return lines


@lru_cache(maxsize=8_000)
def text_mask(text: str, face: Face, size: int, scale: float) -> tuple[Image.Image, int, int]:
    """A line's coverage (mode L), and where it lies from the line's top left corner, in pixels.

    The line is `line_height` high, its baseline where the text stands in its middle. `size` is in
    device pixels, of which each is drawn as `scale` pixels. Each sign is set where the measured
    line has it: FreeType rounds a sign's advance to whole pixels, so that a small font's line
    is some percent longer or shorter than a large one's.
    """
    drawn = size * scale
    with _lock:
        ascent, descent = _font(face, drawn).getmetrics()
    edge = round(drawn / 4) + 1  # slanted and accented signs reach beyond their line
    width = round(text_width(text, face, size) * scale) + 2 * edge
    mask = Image.new("L", (width, ascent + descent + 2 * edge))
    x, before = 0.0, ""
    for sign in text:
        if before:
            x += (text_width(before + sign, face, size) - text_width(sign, face, size)) * scale
        before = sign
        glyph, left, top = _glyph(sign, face, drawn)
        at = (edge + round(x) + left, edge + ascent + top)
        mask.paste(255, (*at, at[0] + glyph.width, at[1] + glyph.height), glyph)
    baseline = round((drawn * 1.36 - ascent - descent) / 2)
    return mask, -edge, baseline - edge


@lru_cache(maxsize=8_000)
def _glyph(sign: str, face: Face, size: float) -> tuple[Image.Image, int, int]:
    """One sign's coverage, and where it lies from where it begins on its baseline."""
    with _lock:
        core, (left, top) = _font(face, size).getmask2(sign, mode="L", anchor="ls")
        return _mask(core), left, top


def _mask(core: Any) -> Image.Image:
    """What FreeType drew, as a picture; of nothing, a picture of one empty pixel."""
    width, height = core.size
    mask = Image.new("L", (max(width, 1), max(height, 1)))
    if width and height:
        mask.im = core
    return mask


@lru_cache(maxsize=2_000)
def icon_mask(name: str, size: int) -> tuple[Image.Image, int, int]:
    """An icon's coverage (mode L), and where it lies in its square of `size` pixels. What has none,
    as an app that was installed may, is a robot."""
    with _lock:
        sign = ICONS.get(name, ICONS["android"])
        core, _ = _font("icons", size).getmask2(sign, mode="L", anchor="lt")
        mask, (width, height) = _mask(core), core.size
    return mask, max(0, (size - width) // 2), max(0, (size - height) // 2)


@lru_cache(maxsize=2_000)
def disc_mask(diameter: int) -> Image.Image:
    """A disc's coverage (mode L), smooth at its edge."""
    big = Image.new("L", (diameter * 4, diameter * 4))
    ImageDraw.Draw(big).ellipse((0, 0, diameter * 4 - 1, diameter * 4 - 1), fill=255)
    return big.resize((diameter, diameter), Image.Resampling.BOX)


@lru_cache(maxsize=500)
def rounded_mask(width: int, height: int, radius: int) -> Image.Image:
    """A rectangle's coverage (mode L) whose corners are rounded."""
    mask = Image.new("L", (width, height), 255)
    disc, r = disc_mask(2 * radius), radius
    for x, y, part in (
        (0, 0, (0, 0, r, r)),
        (width - r, 0, (r, 0, 2 * r, r)),
        (0, height - r, (0, r, r, 2 * r)),
        (width - r, height - r, (r, r, 2 * r, 2 * r)),
    ):
        mask.paste(disc.crop(part), (x, y))
    return mask
