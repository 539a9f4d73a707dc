"""Pictures in one file: each whole, or as what differs from one that looks nearly so.

``pictures.sqlite`` has a row a picture: ``hash``, ``base`` and ``data``. The data are a lossless
WebP of 8 bits a channel: the picture, or where ``base`` names another (which is whole) the
differences to that one, channel by channel, modulo 256. A page on which a field was filled in takes
a twentieth of its picture so.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import resource
import sqlite3
import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PILImage

from ui_gym.contract.device import Image
from ui_gym.errors import UserError
from ui_gym_agents import files
from ui_gym_agents.pictures import decoded

Coarse = NDArray[np.int32]
"""The pixels of a picture that are compared, each a number, since numbers are compared fast."""

NAME = "pictures.sqlite"
"""Of the file, in its folder."""
ALIKE = 0.02
"""Of a picture's pixels so many may differ from its base."""
BASES = 32
"""Whole pictures that the next ones are compared with: the last so many,"""
BASES_BYTES = 64 << 20
"""and no more pixels than this."""
GRID = 8
"""Pixels of every so many rows and columns are compared."""
DAMAGED = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""What SQLite says of a file that is none, or another one."""
PATIENCE = 30.0
"""Seconds to wait for another process that writes."""

_SCHEMA = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=NORMAL",
    "CREATE TABLE IF NOT EXISTS picture"
    " (hash TEXT PRIMARY KEY, base TEXT, data BLOB NOT NULL) WITHOUT ROWID",
)
_TABLE = "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'picture'"


class PicturePack:
    """The pack in `folder`. Any thread may use it, and several processes at a time."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._lock = threading.Lock()
        self._open: sqlite3.Connection | None = None
        self._bases: OrderedDict[str, tuple[Image, Coarse]] = OrderedDict()

    def add(self, key: str, image: Image) -> None:
        """Keep a picture under its hash, if it is not there yet.

        Raises:
            NotWritten: the disk is full, or may only be read.
        """
        with self._lock, files.telling_of(self.path):
            coarse = _coarse(image)
            base = self._alike(image, coarse)
            shown = image if base is None else image - self._bases[base][0]
            try:
                self._connection().execute(
                    "INSERT OR IGNORE INTO picture VALUES (?, ?, ?)", (key, base, _webp(shown))
                )
            except sqlite3.OperationalError as error:
                raise _as_system_says(error, self.path) from error
            if base is None:
                self._remember(key, image, coarse)

    def get(self, key: str) -> Image | None:
        """A picture, shape (height, width, 3), uint8; None if it is not there.

        Raises:
            UserError: the file is damaged.
        """
        row = self._row(key)
        if row is None:
            return None
        base, data = row
        try:
            image = _pixels(data)
            if base is None:
                return image
            _, whole = self._row(base) or (None, b"")
            return _pixels(whole) + image
        except (ValueError, TypeError, UserError) as error:
            raise UserError(f"{self.path} is damaged: {key[:12]}... is no picture") from error

    def encoded(self, key: str) -> bytes | None:
        """A picture as a file of WebP."""
        row = self._row(key)
        if row is not None and row[0] is None:
            return row[1]
        image = self.get(key)
        return None if image is None else _webp(image)

    def __contains__(self, key: str) -> bool:
        return bool(self._read("SELECT 1 FROM picture WHERE hash = ?", key))

    def __iter__(self) -> Iterator[str]:
        """The hashes of all, in their order."""
        yield from (key for (key,) in self._read("SELECT hash FROM picture ORDER BY hash"))

    def _row(self, key: str) -> tuple[str | None, bytes] | None:
        found = self._read("SELECT base, data FROM picture WHERE hash = ?", key)
        return found[0] if found else None

    def _alike(self, image: Image, coarse: Coarse) -> str | None:
        """The base that differs least from a picture, if any is alike."""
        shares = {
            key: float((coarse != known).mean())
            for key, (base, known) in self._bases.items()
            if base.shape == image.shape
        }
        nearest = min(shares, key=shares.__getitem__, default=None)
        return nearest if nearest is not None and shares[nearest] <= ALIKE else None

    def _remember(self, key: str, image: Image, coarse: Coarse) -> None:
        self._bases[key] = image, coarse
        while len(self._bases) > 1 and (
            len(self._bases) > BASES
            or sum(base.nbytes for base, _ in self._bases.values()) > BASES_BYTES
        ):
            self._bases.popitem(last=False)

    def _read(self, query: str, *values: str) -> list[Any]:
        with self._lock:
            try:
                if self._open is not None:
                    return self._open.execute(query, values).fetchall()
                return _read(self.path, query, values)
            except sqlite3.DatabaseError as error:
                if error.sqlite_errorcode & 0xFF in DAMAGED:
                    raise UserError(f"{self.path} is damaged: {error}") from error
                raise _as_system_says(error, self.path) from error

    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # SQLite does not say why it cannot open a file; the system does.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644))
            made = sqlite3.connect(
                self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
            try:
                for statement in _SCHEMA:
                    made.execute(statement)
            except BaseException:
                made.close()
                raise
            weakref.finalize(self, made.close)
            self._open = made
        return self._open


def _read(path: Path, query: str, values: Sequence[str]) -> list[Any]:
    """What a file says that this process does not write. Nothing beside it is made or changed."""
    if path.is_symlink() or not path.exists():
        return []
    being_written = Path(f"{path}-wal").exists()
    ways = ("mode=ro", "immutable=1") if being_written else ("immutable=1",)
    for way in ways:
        with contextlib.closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?{way}", uri=True, timeout=PATIENCE)
        ) as opened:
            opened.execute("PRAGMA trusted_schema=OFF")
            try:
                # None yet, where there was no room for it; in a stranger's file, anything.
                if opened.execute(_TABLE).fetchone() is None:
                    return []
                return opened.execute(query, values).fetchall()
            except sqlite3.OperationalError:
                # Who may or can not write beside it sees a file without what is newest in it.
                if way == ways[-1]:
                    raise
    return []


def _as_system_says(error: sqlite3.DatabaseError, path: Path) -> OSError:
    """What the system told SQLite, which keeps it to itself."""
    code = error.sqlite_errorcode & 0xFF
    disk = os.statvfs(path.parent)
    largest, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if code == sqlite3.SQLITE_FULL or not disk.f_bavail or (disk.f_files and not disk.f_favail):
        number = errno.ENOSPC
    elif code == sqlite3.SQLITE_READONLY or disk.f_flag & os.ST_RDONLY:
        number = errno.EROFS
    else:
        number = errno.EIO if largest == resource.RLIM_INFINITY else errno.EFBIG
    return OSError(number, os.strerror(number), str(path))


def _coarse(image: Image) -> Coarse:
    channels = image[::GRID, ::GRID].astype(np.int32)
    return np.asarray(channels @ (1 << 16, 1 << 8, 1), np.int32)


def _webp(image: Image) -> bytes:
    made = io.BytesIO()
    PILImage.fromarray(image).save(made, "WEBP", lossless=True, quality=0, method=1)
    return made.getvalue()


def _pixels(data: bytes) -> Image:
    return np.asarray(decoded(data), dtype=np.uint8)
