"""The grids that Qwen's models write coordinates in: 0 to 1000, or of the resized picture."""

from __future__ import annotations

from ui_gym.contract.action import shorten
from ui_gym.errors import ActionError

Size = tuple[int, int]
"""(width, height)."""

RELATIVE: Size = (1000, 1000)
"""The far corner of the screen, where coordinates are thousandths of it."""

MIN_PIXELS = 100 * 28 * 28
MAX_PIXELS = 16384 * 28 * 28
"""The least and the most pixels of a resized picture, as UI-TARS's own parser has them."""


def smart_resize(
    size: Size, factor: int = 28, min_pixels: int = MIN_PIXELS, max_pixels: int = MAX_PIXELS
) -> Size:
    """(width, height) to which Qwen's image processor brings a picture of `size`.

    Both become multiples of `factor`, their product lies in `min_pixels` to `max_pixels`, and the
    proportions stay about the same. Source: ``transformers``, ``Qwen2VLImageProcessor``.
    """
    width, height = size
    # Python's round, half to even, because theirs is that.
    wide = max(factor, round(width / factor) * factor)
    high = max(factor, round(height / factor) * factor)
    if wide * high > max_pixels:
        shrink = (width * height / max_pixels) ** 0.5
        wide = max(factor, int(width / shrink // factor) * factor)
        high = max(factor, int(height / shrink // factor) * factor)
    elif wide * high < min_pixels:
        grow = (min_pixels / (width * height)) ** 0.5
        wide = -int(-(width * grow) // factor) * factor
        high = -int(-(height * grow) // factor) * factor
    return wide, high


def scale(value: float, old: int, new: int) -> int:
    """`value` of `old` as of `new`, rounded half up."""
    return int((2 * value * new + old) // (2 * old))


def to_pixel(said: tuple[float, float], grid: Size, size: Size) -> tuple[int, int]:
    """The pixel of a screen of `size` that lies at `said` of `grid`.

    Raises:
        ActionError: (``argument``) it lies outside the screen.
    """
    for value, most in zip(said, grid, strict=True):
        if not 0 <= value <= most:
            where = shorten(f"({said[0]:g}, {said[1]:g})")[1:-1]
            raise ActionError(
                "argument",
                f"{where} is outside the screen; x is 0 to {grid[0]}, y is 0 to {grid[1]}",
            )
    # The far edge is a legal coordinate, but there is no pixel: take the last one.
    x, y = (min(scale(v, g, s), s - 1) for v, g, s in zip(said, grid, size, strict=True))
    return x, y


def to_grid(pixel: tuple[int, int], grid: Size, size: Size) -> tuple[int, int]:
    """Where a pixel of a screen of `size` lies in `grid`."""
    x, y = (scale(v, s, g) for v, s, g in zip(pixel, size, grid, strict=True))
    return x, y
