"""Small pictures for lists, made once."""

from __future__ import annotations

import io
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from threading import Lock

from ui_gym_agents import files
from ui_gym_agents.monitor.sources import Picture, Source
from ui_gym_agents.pictures import decoded

WIDTH, HEIGHT = 240, 180
"""The most pixels of a thumbnail."""
QUALITY = 70
IN_MEMORY = 200


class Thumbnails:
    """Thumbnails by source and hash, kept in a folder, or some in memory where there is none."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._memory: OrderedDict[str, bytes] = OrderedDict()
        self._lock = Lock()

    def get(self, key: str, source: Source) -> Picture | None:
        """The thumbnail of a source's picture; None if the source has no such picture."""
        name = f"{source.id}/{key[:2]}/{key}"  # a stranger's picture may not be what its name says
        kept = self._kept(name)
        if kept is None:
            whole = source.picture(key)
            if whole is None:
                return None
            kept = _shrunk(whole.data)
            self._keep(name, kept)
        return Picture("image/webp", kept)

    def _kept(self, name: str) -> bytes | None:
        with self._lock:
            if name in self._memory:
                return self._memory[name]
        if self._folder is not None:
            with suppress(OSError):
                return (self._folder / f"{name}.webp").read_bytes()
        return None

    def _keep(self, name: str, data: bytes) -> None:
        if self._folder is not None:
            path = self._folder / f"{name}.webp"
            with self._lock, suppress(OSError, files.NoRoom):  # it is made again
                path.parent.mkdir(parents=True, exist_ok=True)
                with files.replacing(path) as part:
                    part.write_bytes(data)
                return
        with self._lock:
            self._memory[name] = data
            while len(self._memory) > IN_MEMORY:
                self._memory.popitem(last=False)


def _shrunk(data: bytes) -> bytes:
    small = decoded(data)
    small.thumbnail((WIDTH, HEIGHT))
    out = io.BytesIO()
    small.save(out, "WEBP", quality=QUALITY, method=2)
    return out.getvalue()
