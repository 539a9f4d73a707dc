"""The files behind a task's addresses, kept on this machine and keyed by their address.

OSWorld's tasks name seed files and expected results by addresses on the web. `fetch` brings them
once; afterwards tasks are played without a network. The folder holds a file for each address, named
by its SHA-256, and ``index.json``, which says of each name the address, the size in bytes and the
SHA-256 of the content. Every file is there whole or not at all.

Files of one's own need no cache: ``file:seeds/seed.xlsx`` lies in the folder of the task file, or
below it. No address leads out of that folder: a task file is often somebody else's.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ui_gym.desktop.osworld.taskfile import TaskFile, urls
from ui_gym.errors import UserError

VARIABLE = "UI_GYM_OSWORLD_CACHE"
"""The environment variable that names the folder."""

INDEX = "index.json"


def default_folder() -> Path:
    """The folder that `VARIABLE` names, else one in the user's cache folder."""
    if named := os.environ.get(VARIABLE):
        return Path(named).expanduser()
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "ui-gym" / "osworld"


def key(url: str) -> str:
    """The name of an address's file."""
    return hashlib.sha256(url.encode()).hexdigest()


@dataclass(frozen=True)
class CacheEntry:
    """What the index says of a file; `size` in bytes."""

    url: str
    size: int
    sha256: str


class FileCache:
    """A folder of files by address. Several processes may use it at once."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder()
        self._seen: tuple[tuple[int, int], dict[str, CacheEntry]] | None = None
        """The index as it was read last, with the time and the number of that file."""

    def find(self, url: str) -> Path | None:
        """The file of an address; None if it is not there, or not as long as it was."""
        entry = self.entries().get(key(url))
        path = self.folder / key(url)
        try:
            whole = entry is not None and path.stat().st_size == entry.size
        except OSError:
            return None
        return path if whole else None

    def get(self, url: str) -> Path:
        """The file of an address.

        Raises:
            UserError: it is not there; says how to have it fetched.
        """
        path = self.find(url)
        if path is None:
            raise UserError(
                f"{url} is not in the file cache {self.folder}; on a machine with a network, "
                f"`ui-gym osworld fetch TASK.json` brings what a task needs (the folder is set by "
                f"{VARIABLE})"
            )
        return path

    def add(self, url: str, source: Path) -> Path:
        """Take a finished file over (it is moved) as that of an address."""
        digest = hashlib.sha256()
        with source.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
            os.fsync(file.fileno())
            size = file.tell()
        path = self.folder / key(url)
        with self._locked():
            source.replace(path)
            entries = {**self.entries(), key(url): CacheEntry(url, size, digest.hexdigest())}
            self._write(entries)
        return path

    def part(self, url: str) -> Path:
        """Where an address's file grows until it is whole."""
        return self.folder / f"{key(url)}.part"

    def entries(self) -> dict[str, CacheEntry]:
        """The index, by name of file.

        Raises:
            UserError: it is damaged.
        """
        path = self.folder / INDEX
        try:
            about = path.stat()
            version = (about.st_mtime_ns, about.st_ino)
            if self._seen is None or self._seen[0] != version:
                raw = json.loads(path.read_text(encoding="utf-8"))
                self._seen = version, {name: CacheEntry(**fields) for name, fields in raw.items()}
            return dict(self._seen[1])
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise UserError(
                f"the index {path} of the file cache is damaged ({error}); remove it and fetch "
                "again"
            ) from error

    def _write(self, entries: Mapping[str, CacheEntry]) -> None:
        text = json.dumps({name: asdict(entry) for name, entry in entries.items()}, indent=1)
        descriptor, part = tempfile.mkstemp(dir=self.folder, prefix=f".{INDEX}.")
        try:
            with open(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(part, self.folder / INDEX)
        except BaseException:
            os.unlink(part)
            raise

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """No other process, and no other thread, changes the index meanwhile."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / ".lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


class TaskFiles:
    """The files of one task: those of the cache, and those of the task file's folder, `base`."""

    def __init__(self, base: Path, cache: FileCache | None = None) -> None:
        self.base = base
        self.cache = cache or FileCache()

    def get(self, url: str) -> Path:
        """The local file of an address.

        Raises:
            UserError: it is not there, with how to have it; or it lies outside the folder.
        """
        if not url.startswith("file:"):
            return self.cache.get(url)
        path = self._local(url)
        if not path.is_file():
            raise UserError(f"{url} of the task in {self.base} is {path}, which is not there")
        return path

    def missing(self, task: TaskFile) -> list[str]:
        """The addresses that a task needs and that are not there.

        Raises:
            UserError: one of a file leads out of the task file's folder.
        """
        return [url for url in urls(task) if not self._has(url)]

    def _has(self, url: str) -> bool:
        if url.startswith("file:"):
            return self._local(url).is_file()
        return self.cache.find(url) is not None

    def _local(self, url: str) -> Path:
        """The file that an address means, in the folder also where links are followed."""
        try:
            base = self.base.resolve()
            path = (base / unquote(urlsplit(url).path)).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise UserError(f"{url!r} is no address of a file: {error}") from error
        if not path.is_relative_to(base):
            raise UserError(
                f"{url} is outside {base}: a task has only files of the folder that its task file "
                "lies in; copy the file there, and name it as in file:seeds/seed.xlsx"
            )
        return path
