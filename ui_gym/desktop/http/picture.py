"""Screenshots as a server sends them: whole PNG files of the size that is expected."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np

from ui_gym.contract.device import Image
from ui_gym.errors import DeviceError

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_END = b"IEND\xaeB`\x82"
LARGEST = 16_384
"""The largest width and height that is believed, in pixels."""


class BrokenPicture(DeviceError):
    """What came as a screenshot is no PNG file, or no whole one."""


def png_size(data: bytes) -> tuple[int, int]:
    """(width, height) of a PNG file, by its head; that it is whole is checked too, by the checksum
    of each of its parts.

    Raises:
        BrokenPicture: it is something else, a part of one, or of several.
        DeviceError: it says that it is larger than any screen.
    """
    if not data.startswith(_SIGNATURE) or data[12:16] != b"IHDR":
        raise BrokenPicture(f"the screenshot is no PNG file: it begins with {data[:16]!r}")
    if not data.rstrip(b"\0").endswith(_END):
        raise BrokenPicture(
            f"the screenshot is half a PNG file: its end is missing ({len(data)} B)"
        )
    width, height = struct.unpack(">II", data[16:24])
    if not (0 < width <= LARGEST and 0 < height <= LARGEST):
        raise DeviceError(f"the screenshot says that it is {width}x{height} pixels")
    if not _is_whole(data):
        raise BrokenPicture("the screenshot is a broken PNG file")
    return width, height


def _is_whole(data: bytes) -> bool:
    """Whether the checksums of all chunks, up to the last, are right."""
    view, at, kind = memoryview(data), len(_SIGNATURE), b""
    while kind != b"IEND":
        length = int.from_bytes(view[at : at + 4], "big")
        kind, end = bytes(view[at + 4 : at + 8]), at + 8 + length
        if end + 4 > len(data):
            return False
        if zlib.crc32(view[at + 4 : end]) != int.from_bytes(view[end : end + 4], "big"):
            return False
        at = end + 4
    return True


def decode(data: bytes, out: Image) -> None:
    """Decode a PNG file of `out`'s size into it.

    Raises:
        DeviceError: it is of another size, or broken.
    """
    width, height = png_size(data)
    if (height, width) != out.shape[:2]:
        raise DeviceError(
            f"the screen is {width}x{height} pixels now, and was "
            f"{out.shape[1]}x{out.shape[0]} when the machine was started"
        )
    try:
        import cv2
    except ImportError:
        _by_pillow(data, out)
        return
    decoded = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    if decoded is None or decoded.shape != out.shape:
        raise DeviceError("the screenshot is a broken PNG file")
    cv2.cvtColor(decoded, cv2.COLOR_BGR2RGB, dst=out)


def encode(image: Image) -> bytes:
    """`image` as a PNG file, quickly rather than small."""
    try:
        import cv2
    except ImportError:
        return _to_pillow(image)
    done, data = cv2.imencode(
        ".png", cv2.cvtColor(image, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_PNG_COMPRESSION, 1]
    )
    if not done:
        raise DeviceError("the picture cannot be encoded")
    return bytes(data)


def _by_pillow(data: bytes, out: Image) -> None:
    from PIL import Image as Pillow

    try:
        with Pillow.open(io.BytesIO(data), formats=("PNG",)) as picture:
            np.copyto(out, np.asarray(picture.convert("RGB")))
    except (OSError, ValueError, SyntaxError) as error:
        raise DeviceError(f"the screenshot is a broken PNG file: {error}") from None


def _to_pillow(image: Image) -> bytes:
    from PIL import Image as Pillow

    written = io.BytesIO()
    Pillow.fromarray(image).save(written, "PNG", compress_level=1)
    return written.getvalue()
