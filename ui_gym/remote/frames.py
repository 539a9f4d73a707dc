"""Frames: a slot's screenshots as bytes, without loss, and mostly as what changed.

A frame is sent as what differs from a frame that the other side says it holds: the rows in which
something changed, from the first changed column to the last, compressed by zlib; or whole, as a
*key frame*, where it holds none. Its hash covers what was sent and the hash of the frame that it
changes (blake2b, RFC 7693), so that equal hashes mean equal frames, at a cost that grows with what
changed alone.
"""

from __future__ import annotations

import hashlib
import math
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ui_gym.contract.device import Image
from ui_gym.errors import DeviceError

Part = dict[str, Any]
"""A frame on its way: `of` (the number of the frame that it changes, or None), `shape`, `rows` (a
bit for each row that is there), `span` (the first byte of these rows that is there, and the one
after the last), `data` (those bytes, zlib) and `hash`."""

LEVEL = 1
"""Of zlib: others are slower, and save little."""

_HASH_BYTES = 16


class FrameWriter:
    """The side of a slot that has the screenshots; keeps those that the other side may hold."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[Image, bytes]] = {}
        """Frames and their hashes by number."""

    def write(self, number: int, image: Image, held: int) -> Part:
        """A frame as the rows in which it differs from the frame `held` by the other side.

        Args:
            number: What the frame is called from now on.
            image: Of shape (H, W, 3), uint8. It is kept, and must not be written to.
            held: The number of the last frame that the other side has; frames before it go.
        """
        base = self._kept.get(held)
        if base is not None and base[0].shape != image.shape:
            base = None
        flat = np.ascontiguousarray(image).reshape(len(image), -1)
        if base is None:
            rows, span = np.ones(len(flat), np.bool_), (0, flat.shape[1])
        else:
            rows, span = _changed(base[0].reshape(flat.shape), flat)
        raw = np.ascontiguousarray(flat[rows, span[0] : span[1]]).data
        bits = np.packbits(rows).tobytes()
        digest = _digest(b"" if base is None else base[1], bits, span, raw)
        self._kept = {held: base} if base is not None else {}
        self._kept[number] = (image, digest)
        return {
            "of": None if base is None else held,
            "shape": image.shape,
            "rows": bits,
            "span": span,
            "data": zlib.compress(raw, LEVEL),
            "hash": digest,
        }


class FrameReader:
    """The side of a slot that is shown the screenshots."""

    def __init__(self) -> None:
        self.held = 0
        """The number of the last frame that was read; 0: none."""
        self._image: Image = np.empty((0, 0, 3), np.uint8)
        self._hash = b""

    def read(self, number: int, part: Part) -> Image:
        """The frame, a new array of shape (H, W, 3), uint8, that nobody can write to.

        Raises:
            DeviceError: it is not what was sent.
        """
        whole = part["of"] is None
        if not whole and part["of"] != self.held:
            raise DeviceError(f"a picture changes frame {part['of']}, and {self.held} is held")
        height, width, depth = part["shape"]
        first, end = part["span"]
        rows = np.unpackbits(np.frombuffer(part["rows"], np.uint8), count=height).astype(np.bool_)
        changed = (int(rows.sum()), end - first)
        raw = _inflate(part["data"], changed[0] * changed[1])
        digest = _digest(b"" if whole else self._hash, part["rows"], (first, end), raw)
        image = np.empty((height, width, depth), np.uint8) if whole else self._image.copy()
        if digest != part["hash"] or image.shape != (height, width, depth):
            raise DeviceError("a picture came damaged: its hash is not that of its bytes")
        flat = image.reshape(height, -1)
        flat[rows, first:end] = np.frombuffer(raw, np.uint8).reshape(changed)
        image.setflags(write=False)  # the next frame is made from it
        self.held, self._image, self._hash = number, image, digest
        return image


def _changed(before: Image, after: Image) -> tuple[NDArray[np.bool_], tuple[int, int]]:
    """Which rows of bytes differ, and from which byte to which, of arrays of shape (H, bytes)."""
    # The widest words that a row divides into: eight bytes are compared as fast as one.
    word = math.gcd(after.shape[1], 8)
    differs = before.view(f"u{word}") != after.view(f"u{word}")
    rows: NDArray[np.bool_] = differs.any(axis=1)
    columns = np.flatnonzero(differs[rows].any(axis=0))
    if not len(columns):
        return rows, (0, 0)
    return rows, (int(columns[0]) * word, (int(columns[-1]) + 1) * word)


def _digest(before: bytes, bits: bytes, span: tuple[int, int], raw: bytes | memoryview) -> bytes:
    said = hashlib.blake2b(before, digest_size=_HASH_BYTES)
    said.update(bits)
    said.update(f"{span[0]} {span[1]} ".encode())
    said.update(raw)
    return said.digest()


def _inflate(data: bytes, size: int) -> bytes:
    """`size` bytes, and no more whatever was sent."""
    unpacking = zlib.decompressobj()
    try:
        raw = unpacking.decompress(data, size) if size else b""
    except zlib.error as error:
        raise DeviceError(f"a picture came damaged: {error}") from None
    if len(raw) != size:
        raise DeviceError(f"a picture came damaged: {len(raw)} bytes, and not {size}")
    return raw
