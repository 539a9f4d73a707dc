"""Screenshots as PNG files, for protocols that want them so."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np

from ui_gym.contract.device import Image
from ui_gym.playing.slot import SlotResult


def png_of(result: SlotResult) -> bytes:
    """The screenshot of a result: as the device encoded it, if that was as PNG."""
    encoded: bytes | None = result.info.get("screenshot_encoded")
    if encoded is not None and result.info["screenshot_format"] == "png":
        return encoded
    return png(result.observation["screenshot"])


def data_url(encoded: bytes) -> str:
    """A PNG file as a ``data:`` URL."""
    return "data:image/png;base64," + base64.b64encode(encoded).decode("ascii")


def png(image: Image) -> bytes:
    """`image` as a PNG file, quickly: without filters and at zlib's level 1, which for screenshots
    takes a third of the time of a codec that tries filters, and is no larger."""
    height, width, _ = image.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each begins with its filter's number, 0
    rows[:, 1:] = image.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = (b"IHDR" + head, b"IDAT" + zlib.compress(rows.data, 1), b"IEND")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
        for chunk in chunks
    )
