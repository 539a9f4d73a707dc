"""Where episodes live on disk: one JSON line each, beside a content-addressed picture store.

``FOLDER/episodes.jsonl`` and ``FOLDER/screenshots/pictures.sqlite`` (`ui_gym_agents.pack`). A
picture's name is the hash of its pixels (`screenshot_hash`), so that a repeated picture costs
nothing. A file ``screenshots/ab/<hash>.webp`` or ``.png`` is read as well: exports hold those, and
runs of older versions. Pictures that were not to be kept are in neither.
"""

from __future__ import annotations

import ctypes
import dataclasses
import hashlib
import json
import re
import weakref
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ui_gym.contract.device import Image
from ui_gym.errors import UserError
from ui_gym_agents import files
from ui_gym_agents.episode import Episode, Purpose, TokenRecord, TokenUsage, Turn
from ui_gym_agents.pack import PicturePack
from ui_gym_agents.pictures import decoded

FILE = "episodes.jsonl"
"""The name of a file of episodes."""
PICTURES = "screenshots"
"""The name of the folder of pictures beside it."""
MEMORY_LIMIT = 512 << 20
"""Bytes of pixels that a store with a folder keeps in memory."""
SUFFIXES = (".webp", ".png")
"""Of files that are a picture each."""
HASH = re.compile("[0-9a-f]{64}")
"""A picture's name. Any other, in a stranger's records, could lead out of the folder."""


_TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None)
"""glibc keeps what was freed: a process that used 95 MB held 250 MB so after 1,600 episodes."""

_hashes: dict[int, tuple[weakref.ref[Image], str]] = {}
"""Of frozen pictures that are alive, by `id`: every turn of an episode names those before it."""


def frozen(image: Image) -> Image:
    """A picture that nobody can change: itself, if it is one, else a copy. It is hashed once."""
    if _is_frozen(image):
        return image
    kept = np.array(image, dtype=np.uint8, order="C")
    kept.setflags(write=False)
    return kept


def _is_frozen(image: Image) -> bool:
    flags = image.flags
    return flags.owndata and flags.c_contiguous and not flags.writeable and image.dtype == np.uint8


def screenshot_hash(image: Image) -> str:
    """A picture's name: SHA-256 over its shape and raw pixels, as 64 hexadecimal digits."""
    place = id(image)
    known = _hashes.get(place)
    if known is not None and known[0]() is image:
        return known[1]
    digest = hashlib.sha256(repr(image.shape).encode())
    digest.update(np.ascontiguousarray(image).data)
    key = digest.hexdigest()
    if _is_frozen(image):
        _hashes[place] = (weakref.ref(image, partial(_forget, place)), key)
    return key


def suffix(data: bytes) -> str:
    """How the name of a picture's file ends, by its bytes."""
    return ".png" if data.startswith(b"\x89PNG") else ".webp"


def _forget(place: int, gone: weakref.ref[Image]) -> None:
    known = _hashes.get(place)
    if known is not None and known[0] is gone:
        del _hashes[place]


class ScreenshotStore:
    """Pictures by their hash: in memory, and in a folder if one is given.

    With a folder, memory is a cache of `memory_limit` bytes, and nothing is lost from it but by
    `clear`; without, everything stays in memory until then.
    """

    def __init__(self, folder: Path | None = None, *, memory_limit: int = MEMORY_LIMIT) -> None:
        self._folder = folder
        self._pack = None if folder is None else PicturePack(folder)
        self._limit = memory_limit
        self._memory: dict[str, Image] = {}
        self._unwritten: set[str] = set()
        self._bytes = 0

    def __len__(self) -> int:
        """How many pictures are in memory."""
        return len(self._memory)

    def put(self, image: Image, *, keep: bool = True) -> str:
        """Take a picture, shape (height, width, 3), uint8, and return its hash.

        One that need not be kept lies in memory until `clear`, and on disk only for want of room.
        """
        key = screenshot_hash(image)
        if key not in self._memory:
            self._unwritten.add(key)
            self._remember(key, frozen(image))
        if keep:
            self._write(key)
        return key

    def get(self, key: str) -> Image:
        """The picture of a hash. `UserError` if it was never put, or is gone."""
        image = self._memory.get(key)
        if image is not None:
            return image
        image = self._stored(key)
        if image is None:
            raise UserError(f"there is no screenshot {key[:12]}... in {self._folder or 'memory'}")
        self._remember(key, image)
        return image

    def encoded(self, key: str) -> bytes | None:
        """A picture of the folder as a file, of WebP or PNG; None if it is not there."""
        file = self._file(key)
        if file is not None:
            return file.read_bytes()
        return None if self._pack is None else self._pack.encoded(key)

    def keeps(self, key: str) -> bool:
        """Whether a picture is in the folder."""
        if self._pack is None or not HASH.fullmatch(key):
            return False
        return self._file(key) is not None or key in self._pack

    def _stored(self, key: str) -> Image | None:
        file = self._file(key)
        if file is None:
            return None if self._pack is None else self._pack.get(key)
        return np.asarray(decoded(file.read_bytes()), dtype=np.uint8)

    def _file(self, key: str) -> Path | None:
        """The file of a picture that has one of its own."""
        if self._folder is None or not HASH.fullmatch(key):
            return None
        stem = self._folder / key[:2] / key
        return next(filter(Path.exists, map(stem.with_suffix, SUFFIXES)), None)

    def clear(self) -> None:
        """Forget what is in memory, and give the system its room back."""
        self._memory.clear()
        self._unwritten.clear()
        self._bytes = 0
        if _TRIM is not None:
            _TRIM(0)

    def _remember(self, key: str, image: Image) -> None:
        self._memory[key] = image
        self._bytes += image.nbytes
        while self._folder is not None and self._bytes > self._limit and len(self._memory) > 1:
            oldest = next(iter(self._memory))
            self._write(oldest)
            self._bytes -= self._memory.pop(oldest).nbytes

    def _write(self, key: str) -> None:
        """Bring a picture in memory to the folder, if there is one and it is not there yet."""
        if self._pack is None or key not in self._unwritten:
            return
        if not self.keeps(key):
            self._pack.add(key, self._memory[key])
        self._unwritten.discard(key)  # not before: on a full disk it is still to be written


class RunPictures:
    """The pictures of a run's directory, wherever in it they lie by now."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._trained = ScreenshotStore(directory / "episodes" / PICTURES)

    def encoded(self, key: str) -> bytes | None:
        """A picture as a file, of WebP or PNG; None if it was not kept."""
        stores = (self._trained, *self._measured)
        return next(filter(None, (store.encoded(key) for store in stores)), None)

    @cached_property
    def _measured(self) -> list[ScreenshotStore]:
        folders = sorted(self._directory.glob("evaluations/*"))
        return [ScreenshotStore(folder / PICTURES) for folder in folders]


class EpisodeStore:
    """Episodes in a folder, appended as they end; or only their pictures, in memory."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self.screenshots = ScreenshotStore(None if folder is None else folder / PICTURES)

    @property
    def path(self) -> Path | None:
        """The file of episodes, where the store has a folder."""
        return None if self.folder is None else self.folder / FILE

    def add(self, episodes: Iterable[Episode]) -> None:
        """Append episodes, each as one line: all of them are there afterwards, or none.

        Half of a surrogate pair in a text is written as JSON escapes it, and read as it was.

        Raises:
            NotWritten: the disk is full, or may only be read.
        """
        if self.path is None:
            return
        files.append(self.path, (json.dumps(to_json(e), ensure_ascii=False) for e in episodes))

    def write_report(self, report: Mapping[str, Any]) -> None:
        """Keep what was measured on these episodes beside them, as ``report.json``."""
        if self.folder is not None:
            files.replace(self.folder / "report.json", json.dumps(report, indent=1) + "\n")

    def __iter__(self) -> Iterator[Episode]:
        """The stored episodes, in the order in which they were added.

        Raises:
            UserError: a line is damaged; names it.
        """
        if self.path is None:
            return
        for number, (line, _) in enumerate(files.whole_lines(self.path), start=1):
            try:
                yield from_json(json.loads(line))
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise UserError(f"{self.path}, line {number}: damaged ({error})") from None


def to_json(episode: Episode) -> dict[str, Any]:
    """An episode as plain JSON values."""
    return dataclasses.asdict(episode)


def from_json(value: dict[str, Any]) -> Episode:
    """An episode from what `to_json` gave.

    Raises:
        KeyError, TypeError, ValueError: it is something else.
    """
    turns = [
        _plain(
            Turn(
                **{**turn, "tokens": record_of(turn["tokens"]), "usage": _usage(turn.get("usage"))}
            )
        )
        for turn in value["turns"]
    ]
    purpose = Purpose(**value.get("purpose", {}))
    return _plain(Episode(**{**value, "turns": turns, "purpose": purpose}))


_KINDS: Mapping[str, tuple[type, ...]] = {"str": (str,), "int": (int,), "float": (int, float)}

_PLAIN: Mapping[type, tuple[tuple[str, tuple[type, ...]], ...]] = {
    made: tuple(
        (field.name, _KINDS[str(field.type)])
        for field in dataclasses.fields(made)
        if field.type in _KINDS
    )
    for made in (Turn, Episode)
}
"""The texts and numbers of each, by name."""

_Made = TypeVar("_Made", Turn, Episode)


def _plain(made: _Made) -> _Made:
    """`made`, whose texts are texts and whose numbers are numbers; else `TypeError`."""
    for name, kind in _PLAIN[type(made)]:
        if not isinstance(getattr(made, name), kind):
            raise TypeError(f"{name} is a {type(getattr(made, name)).__name__}")
    return made


def _usage(value: Mapping[str, Any] | None) -> TokenUsage | None:
    """Runs of older versions say nothing of it."""
    return None if value is None else TokenUsage(**value)


def record_of(value: Mapping[str, Any] | None) -> TokenRecord | None:
    """A token record from its fields as JSON has them; None if there is none."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise TypeError(f"the tokens of a turn are a {type(value).__name__}")
    fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in value.items()}
    before = filter(None, map(record_of, value.get("before", ())))
    return TokenRecord(**{**fields, "before": tuple(before)})
