"""Screenshots as they come from phones: headers of all versions, formats, and nonsense."""

from __future__ import annotations

import io
import struct

import numpy as np
import pytest
from PIL import Image

from ui_gym.android.adb.screencap import decode
from ui_gym.errors import DeviceError

PIXELS = np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255]], [[255, 255, 255], [8, 4, 8], [0] * 3]])
"""Three wide, two high; colours that all formats can hold."""


def encoded(number: int) -> bytes:
    red, green, blue = (PIXELS[..., n].astype(np.uint16) for n in range(3))
    if number == 4:
        return bytes(((red >> 3) << 11 | (green >> 2) << 5 | blue >> 3).astype("<u2").tobytes())
    alpha = np.full_like(red, 7)  # which a screenshot does not heed
    orders = {
        1: (red, green, blue, alpha), 2: (red, green, blue, alpha), 3: (red, green, blue),
        5: (blue, green, red, alpha),
    }  # fmt: skip
    return bytes(np.stack(orders[number], axis=-1).astype(np.uint8).tobytes())


@pytest.mark.parametrize("more", [b"", bytes(4), bytes(8)], ids=["12 bytes", "16", "20"])
@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_every_format_and_header_is_read(number: int, more: bytes) -> None:
    picture, screen = decode(struct.pack("<3I", 3, 2, number) + more + encoded(number))
    assert screen == (3, 2)
    assert picture.mode == "RGB"
    assert np.array_equal(np.asarray(picture), PIXELS)


def test_a_png_is_read() -> None:
    file = io.BytesIO()
    Image.fromarray(PIXELS.astype(np.uint8)).convert("RGBA").save(file, "PNG")
    picture, screen = decode(file.getvalue())
    assert screen == (3, 2)
    assert np.array_equal(np.asarray(picture), PIXELS)


@pytest.mark.parametrize("size", [(60, 100), (45, 75), (240, 400)])
def test_a_picture_is_scaled_to_what_is_observed(size: tuple[int, int]) -> None:
    screen = np.zeros((200, 120, 4), np.uint8)
    screen[:, :60] = 100
    picture, before = decode(struct.pack("<4I", 120, 200, 1, 0) + screen.tobytes(), size)
    assert before == (120, 200)
    assert picture.size == size
    image = np.asarray(picture)
    assert (image[:, : size[0] // 3] == 100).all()
    assert (image[:, 2 * size[0] // 3 :] == 0).all()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "no screenshot but ''"),
        (b"error: no", "no screenshot but 'error: no'"),
        (b"/system/bin/sh: screencap: not found", "says that its screen has"),
        (struct.pack("<4I", 0, 10, 1, 0), "0x10 pixels"),
        (struct.pack("<4I", 60_000, 60_000, 1, 0), "60000x60000 pixels"),
        (struct.pack("<4I", 16_000, 16_000, 1, 0), "16000x16000 pixels"),
        (struct.pack("<4I", 3, 2, 9, 0) + bytes(24), "pixel format 9"),
        (struct.pack("<4I", 3, 2, 1, 0) + bytes(23), "does not fit"),
        (struct.pack("<4I", 3, 2, 1, 0) + bytes(40), "does not fit"),
        (b"\x89PNG\r\n\x1a\nnonsense", "cannot be read"),
    ],
)
def test_what_is_no_screenshot_is_told(data: bytes, reason: str) -> None:
    with pytest.raises(DeviceError, match=reason):
        decode(data)


def test_a_png_of_an_absurd_size_is_refused() -> None:
    file = io.BytesIO()
    Image.new("1", (16_000, 5_000)).save(file, "PNG")
    with pytest.raises(DeviceError, match="16000x5000"):
        decode(file.getvalue())
