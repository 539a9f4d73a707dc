"""What ``screencap`` writes: a small header and raw pixels (AOSP ``cmds/screencap``), or a PNG.

The header's words are 32 bits, little-endian: width, height, format, and from Android 9 on a colour
space, which changes nothing here. How long it is follows from the length of the whole.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping

import numpy as np
from PIL import Image as Pillow

from ui_gym.errors import DeviceError

MAX_SIDE = 16_384
MAX_PIXELS = 64 << 20
HEADERS = (16, 12, 20)
"""Lengths of the header in bytes: from Android 9 on, before, and room for one more word."""

_FORMATS: Mapping[int, tuple[int, str, str]] = {
    1: (4, "RGBX", "RGBX"),  # RGBA_8888: a screen is opaque, whatever its alpha says
    2: (4, "RGBX", "RGBX"),
    3: (3, "RGB", "RGB"),
    4: (2, "RGB", "BGR;16"),
    5: (4, "RGB", "BGRX"),
}
"""Android's number of the pixel format: (bytes a pixel, Pillow's mode, Pillow's raw mode)."""

_PNG = b"\x89PNG\r\n\x1a\n"


def decode(
    data: bytes, size: tuple[int, int] | None = None
) -> tuple[Pillow.Image, tuple[int, int]]:
    """The picture in RGB, scaled to `size` (width, height) if given, and its size before that.

    Raises:
        DeviceError: it is no screenshot, or one of an absurd size; nothing is allocated for it.
    """
    picture = _png(data) if data.startswith(_PNG) else _raw(data)
    screen = picture.size
    if size is not None and size != screen:
        picture = _scaled(picture, size)
    return picture.convert("RGB"), screen


def _raw(data: bytes) -> Pillow.Image:
    if len(data) < min(HEADERS):
        said = data[:200].decode(errors="replace").strip()
        raise DeviceError(f"the device gave no screenshot but {said!r}")
    width, height, number = struct.unpack_from("<3I", data)
    _check(width, height)
    if number not in _FORMATS:
        raise DeviceError(f"the screenshot has the pixel format {number}, which is not known here")
    depth, mode, raw_mode = _FORMATS[number]
    start = len(data) - width * height * depth
    if start not in HEADERS:
        raise DeviceError(
            f"a screenshot of {width}x{height} pixels came in {len(data)} bytes, which does not fit"
        )
    pixels = np.frombuffer(data, np.uint8, offset=start)  # no copy
    return Pillow.frombuffer(mode, (width, height), pixels, "raw", raw_mode, 0, 1)


def _png(data: bytes) -> Pillow.Image:
    try:
        picture = Pillow.open(io.BytesIO(data), formats=("PNG",))
        _check(*picture.size)
        picture.load()
    except (OSError, ValueError, SyntaxError) as error:
        raise DeviceError(f"the screenshot cannot be read: {error}") from None
    return picture.convert("RGB")


def _check(width: int, height: int) -> None:
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE and width * height <= MAX_PIXELS):
        raise DeviceError(f"the device says that its screen has {width}x{height} pixels")


def _scaled(picture: Pillow.Image, size: tuple[int, int]) -> Pillow.Image:
    across, odd_across = divmod(picture.width, size[0])
    down, odd_down = divmod(picture.height, size[1])
    if not odd_across and not odd_down:
        return picture.reduce((across, down))  # several times faster than the general way
    return picture.resize(size, Pillow.Resampling.BILINEAR)
