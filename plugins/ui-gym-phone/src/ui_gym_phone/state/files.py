"""Files: the built-in phone's file system, kept in memory.

A path names a `File` or a `Directory`; what cannot be done raises the `OSError` that Linux would.
Nothing here touches the host's files.
"""

from __future__ import annotations

import errno
import functools
import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import Any, NamedTuple, Protocol

from ui_gym_phone import data
from ui_gym_phone.state.clock import START_MS

QUOTA = 64 << 20
"""Bytes that all files together may hold, unless told otherwise."""

MAX_NODES = 50_000
"""The most files and directories."""

MAX_NAME = 255
"""Bytes of one name in a path, as on ext4 and f2fs."""

MAX_PATH = 4096
"""Bytes of a path: Linux' PATH_MAX."""

SDCARD = "/sdcard"
ALIASES = ("/storage/emulated/0", "/storage/self/primary", "/mnt/sdcard")
"""Other names of the shared storage, which Android makes with links and mounts."""

_FIRST = data.table("files")
READ_ONLY: Sequence[str] = _FIRST["read_only"]
DEVICES: Sequence[str] = _FIRST["devices"]


def _figures() -> dict[str, object]:
    """What the first files tell of the hardware."""
    table = data.table("hardware")
    return {**table["memory"], **table["kernel"], "mac": table["wifi"]["mac"]}


class TimeSource(Protocol):
    """Where the time of a change comes from."""

    def seconds(self) -> float:
        """Seconds since 1970."""


class Keeper(Protocol):
    """What keeps the bytes of some files itself: the databases."""

    def paths(self) -> list[str]:
        """Where they are."""

    def read(self, path: str) -> bytes | None:
        """What one of its files holds; None for a path that is not its own."""

    def write(self, path: str, data: bytes) -> bool:
        """Replace what one of its files holds; False for a path that is not its own."""


class File(NamedTuple):
    """A regular file. `mtime` is in seconds since 1970, `mode` holds the permission bits."""

    data: bytes
    mtime: float
    mode: int = 0o660


class Directory(NamedTuple):
    """A directory; what is in it follows from the paths."""

    mtime: float
    mode: int = 0o770


Node = File | Directory


@dataclass(frozen=True)
class Stat:
    """What `stat` tells. `mode` holds the type's bits too (`stat.S_IFDIR` and such)."""

    mode: int
    size: int
    mtime: float
    owner: str
    group: str

    @property
    def is_dir(self) -> bool:
        return self.mode & 0o170000 == 0o040000


class Files:
    """A tree of files with a quota in bytes. Plain data: it is pickled with its phone."""

    def __init__(
        self, clock: TimeSource, quota: int = QUOTA, *, keeper: Keeper | None = None
    ) -> None:
        self._clock = clock
        self._keeper = keeper
        self.quota = quota
        self.used = 0
        """Bytes that the files hold."""
        now = clock.seconds()
        self._nodes: dict[str, Node] = {"/": Directory(now, 0o755)}
        self._children: dict[str, list[str]] = {"/": []}
        for path, node in _first_nodes(now).items():
            self._plant(path, node)
        for path in keeper.paths() if keeper else ():
            self._plant(path, File(b"", now, 0o660))

    # What lies on every phone is left out of a snapshot: most of the tree.

    def __getstate__(self) -> dict[str, Any]:
        first, nodes = _first_nodes(START_MS / 1000), self._nodes
        changed = {path: node for path, node in nodes.items() if first.get(path) != node}
        gone = [path for path in first if path not in nodes]
        return {**self.__dict__, "_nodes": (changed, gone)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        changed, gone = state["_nodes"]
        nodes = {**_first_nodes(START_MS / 1000), **changed}
        for path in gone:
            del nodes[path]
        self.__dict__.update(state, _nodes=nodes)

    # -- looking --

    def canonical(self, path: str) -> str:
        """The one name of what `path` names: absolute, without dots and aliases."""
        if path in self._nodes:
            return path
        path = posixpath.normpath("/" + path)
        if path.startswith("//"):  # which POSIX leaves to the system
            path = path[1:]
        for alias in ALIASES:
            if path == alias or path.startswith(alias + "/"):
                return SDCARD + path[len(alias) :]
        return path

    def exists(self, path: str) -> bool:
        return self._find(path) is not None

    def is_dir(self, path: str) -> bool:
        return isinstance(self._find(path), Directory)

    def is_file(self, path: str) -> bool:
        return isinstance(self._find(path), File)

    def stat(self, path: str) -> Stat:
        """Raises FileNotFoundError or NotADirectoryError, as all that follow do."""
        node = self._kept(path, self._need(path))
        owner, group = owner_of(self.canonical(path))
        if isinstance(node, Directory):
            return Stat(0o040000 | node.mode, 4096, node.mtime, owner, group)
        kind = 0o020000 if self.canonical(path) in DEVICES else 0o100000
        return Stat(kind | node.mode, len(node.data), node.mtime, owner, group)

    def read(self, path: str) -> bytes:
        """A file's bytes; IsADirectoryError where it is a directory."""
        node = self._kept(path, self._need(path))
        if isinstance(node, Directory):
            raise _error(errno.EISDIR, path)
        return node.data

    def enters(self, path: str) -> bool:
        """Whether a directory may be the current one."""
        return self.is_dir(path)

    def list(self, path: str) -> list[str]:
        """The sorted names in a directory."""
        if not isinstance(self._need(path), Directory):
            raise _error(errno.ENOTDIR, path)
        here = self.canonical(path)
        names = [*self._children[here]]
        names += [alias.rpartition("/")[2] for alias in ALIASES if alias.rpartition("/")[0] == here]
        return sorted(set(names))

    def walk(self, path: str) -> Iterator[str]:
        """`path` and all below it, a directory before what it holds, under `path`'s own name."""
        waiting = [path]
        while waiting:
            here = waiting.pop()
            yield here
            if self.is_dir(here):
                waiting += [posixpath.join(here, name) for name in reversed(self.list(here))]

    def below(self, folder: str) -> Iterator[tuple[str, Node]]:
        """All below a folder, by canonical path; what a keeper has of it is left out."""
        waiting = [folder]
        while waiting:
            here = waiting.pop()
            for name in self._children.get(here, ()):
                path = f"{here}/{name}"
                node = self._nodes[path]
                yield path, node
                if isinstance(node, Directory):
                    waiting.append(path)

    # -- changing --

    def write(self, path: str, data: bytes, mode: int | None = None) -> None:
        """Make a file or replace what it holds. OSError with ENOSPC where the quota is reached."""
        old = self._find(path)
        if isinstance(old, Directory):
            raise _error(errno.EISDIR, path)
        if self.canonical(path) in DEVICES:
            return
        if old is None and path.endswith("/"):
            raise _error(errno.EISDIR, path)
        self._writable(path)
        if old is not None and self._keeper and self._keeper.write(self.canonical(path), data):
            return
        if mode is None:
            mode = old.mode if old else 0o660
        self._put(path, File(bytes(data), self._clock.seconds(), mode))

    def append(self, path: str, data: bytes) -> None:
        """Add to a file's end; a missing file is made."""
        self.write(path, (self.read(path) if self.exists(path) else b"") + data)

    def touch(self, path: str, mtime: float | None = None) -> None:
        """Make an empty file, or set the time of what is there (seconds since 1970; None: now)."""
        node = self._find(path)
        if node is None:
            self.write(path, b"")
            node = self._need(path)
        self._writable(path)
        when = self._clock.seconds() if mtime is None else mtime
        self._nodes[self.canonical(path)] = node._replace(mtime=when)

    def chmod(self, path: str, mode: int) -> None:
        """Set the permission bits."""
        node = self._need(path)
        self._writable(path)
        self._nodes[self.canonical(path)] = node._replace(mode=mode & 0o7777)

    def mkdir(self, path: str, *, parents: bool = False) -> None:
        """Make a directory; with `parents`, those above it too, and one that is there is fine."""
        if self.exists(path):
            if parents and self.is_dir(path):
                return
            raise _error(errno.EEXIST, path)
        missing = [self.canonical(path)]
        while parents and not self.exists(posixpath.dirname(missing[-1])):
            missing.append(posixpath.dirname(missing[-1]))
        for folder in reversed(missing):
            self._writable(folder)
            self._put(folder, Directory(self._clock.seconds()))

    def remove(self, path: str) -> None:
        """Delete a file."""
        if isinstance(self._need(path), Directory):
            raise _error(errno.EISDIR, path)
        self._writable(path)
        self._drop(self.canonical(path))

    def rmdir(self, path: str) -> None:
        """Delete an empty directory."""
        if self.list(path):
            raise _error(errno.ENOTEMPTY, path)
        self._writable(path)
        if self.canonical(path) in ("/", SDCARD):
            raise _error(errno.EBUSY, path)
        self._drop(self.canonical(path))

    def rmtree(self, path: str, *, missing_ok: bool = False) -> None:
        """Delete a file, or a directory with all that is in it."""
        if missing_ok and not self.exists(path):
            return
        for below in reversed(list(self.walk(path))):
            if self.is_dir(below):
                self.rmdir(below)
            else:
                self.remove(below)

    def rename(self, old: str, new: str) -> None:
        """Move a file or a directory to the path `new`, replacing a file that is there."""
        node, target = self._need(old), self._find(new)
        source, destination = self.canonical(old), self.canonical(new)
        if source == destination:
            return
        self._writable(old)
        self._writable(new)
        if isinstance(node, File):
            if isinstance(target, Directory):
                raise _error(errno.EISDIR, new)
            self._above(new)
            self._drop(source)
            self._put(new, node)
            return
        if destination.startswith(source + "/") or source in ("/", SDCARD):
            raise _error(errno.EINVAL, old)
        if isinstance(target, File):
            raise _error(errno.ENOTDIR, new)
        if target is not None:
            self.rmdir(new)
        self._above(new)
        moved = [(below, self._nodes[below]) for below in self.walk(source)]
        for below, _ in reversed(moved):
            self._drop(below)
        for below, each in moved:
            self._put(destination + below[len(source) :], each)

    def copy(self, old: str, new: str, *, keep_time: bool = False) -> None:
        """Copy one file to the path `new`; `keep_time` keeps its mtime."""
        data = self.read(old)
        mode = self.stat(old).mode & 0o7777
        self.write(new, data, None if self.exists(new) else mode)
        if keep_time:
            self.touch(new, self.stat(old).mtime)

    # -- inside --

    def _find(self, path: str) -> Node | None:
        node = self._nodes.get(path)
        if node is None:
            node = self._nodes.get(self.canonical(path))
            if isinstance(node, File) and path.endswith("/"):
                return None
        return node

    def _kept(self, path: str, node: Node) -> Node:
        """The node with what its keeper has of it, where it has one."""
        if not self._keeper or not isinstance(node, File):
            return node
        data = self._keeper.read(self.canonical(path))
        return node if data is None else node._replace(data=data)

    def _need(self, path: str) -> Node:
        node = self._find(path)
        if node is None:
            self._above(path)
            raise _error(errno.ENOTDIR if self._find(path.rstrip("/")) else errno.ENOENT, path)
        return node

    def _above(self, path: str) -> None:
        """Refuse a path whose parent is no directory."""
        names = path.encode("utf-8", "surrogateescape")
        if len(names) > MAX_PATH or any(len(name) > MAX_NAME for name in names.split(b"/")):
            raise _error(errno.ENAMETOOLONG, path)
        if "\0" in path:
            raise _error(errno.EINVAL, path)
        above = posixpath.dirname(self.canonical(path))
        while above not in self._nodes:
            if isinstance(self._nodes.get(posixpath.dirname(above)), File):
                raise _error(errno.ENOTDIR, path)
            if posixpath.dirname(above) in self._nodes:
                raise _error(errno.ENOENT, path)
            above = posixpath.dirname(above)
        if isinstance(self._nodes[above], File):
            raise _error(errno.ENOTDIR, path)

    def _writable(self, path: str) -> None:
        whole = self.canonical(path)
        if any(whole == part or whole.startswith(part + "/") for part in READ_ONLY):
            raise _error(errno.EROFS, path)
        if whole not in self._nodes and posixpath.dirname(whole) == "/":
            raise _error(errno.EROFS, path)

    def _plant(self, path: str, node: Node) -> None:
        above = posixpath.dirname(path)
        if above not in self._nodes:
            self._plant(above, Directory(node.mtime, 0o755))
        if path not in self._nodes:
            self._children[above].append(posixpath.basename(path))
            if isinstance(node, Directory):
                self._children[path] = []
        self._nodes[path] = node

    def _put(self, path: str, node: Node) -> None:
        whole = self.canonical(path)
        old = self._nodes.get(whole)
        if old is None:
            self._above(path)
            if len(self._nodes) >= MAX_NODES:
                raise _error(errno.ENOSPC, path)
        more = _size(node) - _size(old)
        if more > 0 and self.used + more > self.quota:
            raise _error(errno.ENOSPC, path)
        self.used += more
        self._plant(whole, node)
        if old is None:
            self._changed(posixpath.dirname(whole))

    def _drop(self, whole: str) -> None:
        self.used -= _size(self._nodes.pop(whole))
        self._children.pop(whole, None)
        above, _, name = whole.rpartition("/")
        self._children[above or "/"].remove(name)
        self._changed(above or "/")

    def _changed(self, folder: str) -> None:
        self._nodes[folder] = self._nodes[folder]._replace(mtime=self._clock.seconds())


@functools.cache
def _first_nodes(now: float) -> Mapping[str, Node]:
    """What lies on every phone that was made at this time."""
    nodes: dict[str, Node] = {path: Directory(now, 0o755) for path in _FIRST["folders"]}
    for path, text in _FIRST["files"].items():
        nodes[path] = File(Template(text).substitute(_figures()).encode(), now, 0o444)
    return nodes | {path: File(b"", now, 0o666) for path in DEVICES}


def owner_of(path: str) -> tuple[str, str]:
    """User and group of a canonical path."""
    if path == SDCARD or path.startswith((SDCARD + "/", "/storage")):
        return "u0_a120", "media_rw"
    if path.startswith("/data/local/tmp"):
        return "shell", "shell"
    if path.startswith("/data"):
        return "system", "system"
    return "root", "root"


def _size(node: Node | None) -> int:
    return len(node.data) if isinstance(node, File) else 0


def _error(number: int, path: str) -> OSError:
    return OSError(number, os.strerror(number), path)
