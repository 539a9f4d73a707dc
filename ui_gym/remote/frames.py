"""Frames: a slot's screenshots as bytes, without loss, and mostly as what changed.

A frame is sent as what differs from a frame that the other side says it holds: the rows in which
something changed, from the first changed column to the last. Of these, rows that were elsewhere
before (a page was scrolled) or that are there twice are named by where they are, and the others
are compressed by zlib. Where the other side holds none, a frame is sent whole: a *key frame*. Its
hash covers what was sent and the hash of the frame that it changes (blake2b, RFC 7693), so that
equal hashes mean equal frames, at a cost that grows with what is sent alone.
"""

from __future__ import annotations

import functools
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
bit for each row that changed), `span` (the first byte of these rows that changed, and the one after
the last), `sources` (where each of them is, zlib: see `_sources`), `data` (the bytes of those that
are nowhere, zlib) and `hash`."""

LEVEL = 1
"""Of zlib: others are slower, and save little."""

LARGEST = 7680 * 4320 * 3
"""Bytes of a frame that is read: a short message can claim any size."""

NOWHERE = -1

_HASH_BYTES = 16

_INDEX = np.dtype("<i4")


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
        before = flat[:0] if base is None else base[0].reshape(flat.shape)
        rows, span = np.ones(len(flat), np.bool_), (0, flat.shape[1])
        if base is not None:
            rows, span = _changed(before, flat)
        sent = np.ascontiguousarray(flat[rows, span[0] : span[1]])
        sources = _sources(np.ascontiguousarray(before[:, span[0] : span[1]]), sent)
        part: Part = {
            "of": None if base is None else held,
            "shape": image.shape,
            "rows": np.packbits(rows).tobytes(),
            "span": span,
            "sources": zlib.compress(np.diff(sources, prepend=0).astype(_INDEX).data, LEVEL),
            "data": zlib.compress(np.ascontiguousarray(sent[sources == NOWHERE]).data, LEVEL),
        }
        digest = _digest(b"" if base is None else base[1], part)
        self._kept = {held: base} if base is not None else {}
        self._kept[number] = (image, digest)
        return part | {"hash": digest}


class FrameReader:
    """The side of a slot that is shown the screenshots."""

    def __init__(self) -> None:
        self.held = 0
        """The number of the last frame that was read; 0: none."""
        self._image: Image = np.empty((0, 0, 3), np.uint8)
        self._hash = b""

    def read(self, number: int, part: Part) -> Image:
        """The frame, of shape (H, W, 3), uint8, that nobody can write to; the same array as before
        where nothing changed.

        Raises:
            DeviceError: it is not what was sent.
        """
        whole = part["of"] is None
        if not whole and part["of"] != self.held:
            raise DeviceError(f"a picture changes frame {part['of']}, and {self.held} is held")
        if part["hash"] != _digest(b"" if whole else self._hash, part):
            raise DeviceError("a picture came damaged: its hash is not that of its bytes")
        height, width, depth = part["shape"]
        if min(height, width, depth) < 0 or height * width * depth > LARGEST:
            raise DeviceError(f"a picture of {width}x{height}x{depth} is none of a screen")
        if not whole and self._image.shape != (height, width, depth):
            raise DeviceError(f"a picture of {width}x{height} changes one of another size")
        first, end = part["span"]
        if first == end and not whole:  # nothing changed
            self.held, self._hash = number, part["hash"]
            return self._image
        image = np.empty((height, width, depth), np.uint8) if whole else self._image.copy()
        flat = image.reshape(height, -1)
        rows = np.unpackbits(np.frombuffer(part["rows"], np.uint8), count=height).astype(np.bool_)
        before = flat[: 0 if whole else height, first:end]
        try:
            flat[rows, first:end] = _rows(before, int(rows.sum()), part)
        except (IndexError, ValueError) as error:
            raise DeviceError(f"a picture is none: {error}") from None
        image.setflags(write=False)  # the next frame is made from it
        self.held, self._image, self._hash = number, image, part["hash"]
        return image


def _changed(before: Image, after: Image) -> tuple[NDArray[np.bool_], tuple[int, int]]:
    """Which rows of bytes differ, and from which byte to which, of arrays of shape (H, bytes)."""
    # The widest words that a row divides into: eight bytes are compared as fast as one.
    word = math.gcd(after.shape[1], 8)
    differs = before.view(f"u{word}") != after.view(f"u{word}")
    rows: NDArray[np.bool_] = differs.any(axis=1)
    if not rows.any():
        return rows, (0, 0)
    columns = np.flatnonzero(differs[rows].any(axis=0))
    return rows, (int(columns[0]) * word, (int(columns[-1]) + 1) * word)


def _sources(before: Image, sent: Image) -> NDArray[np.int64]:
    """Where rows of bytes are already: a row of `before` by its number, an earlier one of `sent` by
    its number and the count of `before`; or `NOWHERE`. Rows of `sent` that are named are nowhere
    else, so that one look is enough."""
    if not sent.size:
        return np.full(len(sent), NOWHERE)
    both = np.concatenate([before, sent])
    word = math.gcd(both.shape[1], 8)
    words = both.view(f"u{word}")
    # Sums of words with odd weights, which wrap around: equal rows have equal ones.
    sums = np.einsum("ij,j->i", words, _weights(words.shape[1]).astype(words.dtype))
    _, first, kinds = np.unique(sums, return_index=True, return_inverse=True)
    found = first[kinds[len(before) :]]
    earlier = np.flatnonzero(found < len(before) + np.arange(len(sent)))
    same = (words[found[earlier]] == words[len(before) + earlier]).all(axis=1)
    sources = np.full(len(sent), NOWHERE)
    sources[earlier[same]] = found[earlier[same]]
    return sources


@functools.cache
def _weights(count: int) -> NDArray[np.uint64]:
    drawn = np.random.default_rng(0).integers(0, 2**63, count, np.uint64)
    return drawn * np.uint64(2) + np.uint64(1)


def _rows(before: Image, count: int, part: Part) -> Image:
    """The rows that were sent. `before` are those, in this span, of the frame that is changed."""
    sources = np.cumsum(np.frombuffer(_inflate(part["sources"], 4 * count), _INDEX))
    new = sources == NOWHERE
    sent = np.empty((count, part["span"][1] - part["span"][0]), np.uint8)
    literal = (int(new.sum()), sent.shape[1])
    raw = _inflate(part["data"], literal[0] * literal[1])
    sent[new] = np.frombuffer(raw, np.uint8).reshape(literal)
    old = np.flatnonzero(~new & (sources < len(before)))
    sent[old] = before[sources[old]]
    again = np.flatnonzero(~new & (sources >= len(before)))
    sent[again] = sent[sources[again] - len(before)]
    return sent


def _digest(before: bytes, part: Part) -> bytes:
    said = hashlib.blake2b(before, digest_size=_HASH_BYTES)
    for name in ("rows", "sources", "data"):
        said.update(part[name])
    said.update(f"{list(part['shape'])} {list(part['span'])}".encode())
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
