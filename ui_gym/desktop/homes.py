"""Home folders: the files that one begins with, kept in this package as they lie there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable


@cache
def home_files(package: str, folder: str) -> Mapping[str, bytes]:
    """The files of a package's folder and of those below it, by their paths in it."""
    return dict(_below(files(package) / folder, ""))


def with_values(text: bytes, values: Mapping[str, str]) -> bytes:
    """A file of lines ``key=value``, with other values for some of its keys.

    Raises:
        KeyError: it has no such key.
    """
    left = dict(values)
    lines = []
    for line in text.decode().splitlines():
        key, equals, _ = line.partition("=")
        lines.append(f"{key}={left.pop(key)}" if equals and key in left else line)
    if left:
        raise KeyError(", ".join(left))
    return "\n".join([*lines, ""]).encode()


def _below(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        path = prefix + entry.name
        if entry.is_dir():
            yield from _below(entry, path + "/")
        else:
            yield path, entry.read_bytes()
