"""Pictures of requests: bytes in, pixels out, each decoded once while it is remembered."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from ui_gym.contract.device import Image
from ui_gym.errors import UserError
from ui_gym_agents.pictures import decoded
from ui_gym_agents.store import screenshot_hash
from ui_gym_tinker.server.errors import BadRequest

REMEMBERED = 256 * 2**20
"""Bytes of decoded pictures that are kept. Requests send a picture again with each window."""

FORMATS = {"png": "PNG", "jpeg": "JPEG"}


@dataclass(frozen=True)
class DecodedPicture:
    """Pixels, shape (height, width, 3), dtype uint8, and the hash that names them."""

    key: str
    image: Image

    @property
    def size(self) -> tuple[int, int]:
        height, width = self.image.shape[:2]
        return height, width


class Pictures:
    """Decodes pictures, and remembers `limit` bytes of those used last. For one thread."""

    def __init__(self, limit: int = REMEMBERED) -> None:
        self._limit = limit
        self._known: dict[bytes, DecodedPicture] = {}
        self._bytes = 0

    def decode(self, data: bytes, kind: str) -> DecodedPicture:
        """The picture of a PNG's or JPEG's bytes.

        Raises:
            BadRequest: it is neither, or it is too large.
        """
        name = hashlib.sha256(data).digest() + kind.encode()
        found = self._known.pop(name, None)
        if found is None:
            image = _decoded(data, kind)
            found = DecodedPicture(screenshot_hash(image), image)
            self._bytes += image.nbytes
        self._known[name] = found
        while self._bytes > self._limit and len(self._known) > 1:
            self._bytes -= self._known.pop(next(iter(self._known))).image.nbytes
        return found


def _decoded(data: bytes, kind: str) -> Image:
    if kind not in FORMATS:
        raise BadRequest(f"a picture's format is png or jpeg, not {kind!r}")
    try:
        return np.asarray(decoded(data, (FORMATS[kind],)), dtype=np.uint8)
    except UserError as error:
        raise BadRequest(str(error)) from None
