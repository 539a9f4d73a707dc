"""Metrics of sounds and films.

The tags of an MP3 file are read after the informal standards at id3.org (id3v2-00, id3v2.3.0,
id3v2.4.0-structure): ID3 version 2.2 to 2.4, or version 1 where there is no other.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ui_gym.desktop.osworld.metrics import sound
from ui_gym.desktop.osworld.metrics.images import perceptual_hash
from ui_gym.desktop.osworld.metrics.reading import (
    Broken,
    a_file,
    given,
    library,
    matches,
    read_bytes,
    scored,
)


@scored()
def check_mp3_meta(result: object, rules: Mapping[str, Any]) -> float:
    """1 if each tag ("title", "artist", "album", ...) obeys its rule; several texts of one tag are
    joined by commas, a tag that is missing is an empty text."""
    tags = read_tags(read_bytes(result))
    if not tags:
        raise Broken(f"{result} has no tags")
    return all(matches(",".join(tags.get(k, [""])), rule) for k, rule in rules.items())


@scored(a_file, a_file)
def compare_audios(first: Path, second: Path) -> float:
    """How alike two sounds are, in (0, 1]; see `sound.likeness`.

    Files with the same bytes are the same, whether they can be decoded or not.
    """
    if first.read_bytes() == second.read_bytes():
        return 1.0
    return sound.likeness(sound.load(first), given(sound.load, second))


@scored(a_file, a_file)
def compare_videos(
    first: Path, second: Path, max_frames_to_check: int = 100, threshold: int = 5
) -> float:
    """1 if two films have the same first frames, and end together where they end before.

    Frames differ where more than `threshold` of the 64 bits of their perceptual hashes do; up to
    `threshold` frames may.
    """
    films = [_Film(first), _Film(second)]
    different = 0
    try:
        for _ in range(max_frames_to_check):
            hashes = [film.hash() for film in films]
            if hashes[0] is None or hashes[1] is None:
                return hashes[0] is hashes[1] and films[0].frames > 0
            different += int((hashes[0] != hashes[1]).sum() > threshold)
            if different > threshold:
                return 0.0
    finally:
        for film in films:
            film.close()
    return 1.0


class _Film:
    """A film that is read frame by frame."""

    def __init__(self, path: Path) -> None:
        self._capture = library("cv2").VideoCapture(str(path))
        self.frames = 0

    def hash(self) -> np.ndarray[Any, Any] | None:
        """The perceptual hash of the next frame; None after the last."""
        from PIL import Image

        there, frame = self._capture.read()
        if not there:
            return None
        self.frames += 1
        return perceptual_hash(Image.fromarray(np.ascontiguousarray(frame[..., ::-1])))

    def close(self) -> None:
        self._capture.release()


NAMES = {
    "TIT2": "title",
    "TPE1": "artist",
    "TALB": "album",
    "TPE2": "albumartist",
    "TPE3": "conductor",
    "TPE4": "arranger",
    "TCOM": "composer",
    "TEXT": "lyricist",
    "TCON": "genre",
    "TDRC": "date",
    "TYER": "date",
    "TRCK": "tracknumber",
    "TPOS": "discnumber",
    "TIT1": "grouping",
    "TIT3": "version",
    "TBPM": "bpm",
    "TCOP": "copyright",
    "TENC": "encodedby",
    "TLAN": "language",
    "TLEN": "length",
    "TPUB": "organization",
    "TSRC": "isrc",
}
"""What each text frame is called by a person."""
SHORT = {
    "TT2": "TIT2",
    "TP1": "TPE1",
    "TAL": "TALB",
    "TP2": "TPE2",
    "TCM": "TCOM",
    "TCO": "TCON",
    "TYE": "TYER",
    "TRK": "TRCK",
    "TPA": "TPOS",
}
"""Version 2.2's names, as those of 2.3."""
ENCODINGS = ("latin-1", "utf-16", "utf-16-be", "utf-8")


def read_tags(data: bytes) -> dict[str, list[str]]:
    """The texts under each name ("title", "artist", ...) that a file's bytes carry."""
    tags: dict[str, list[str]] = {}
    for frame, body in _frames(data):
        name = NAMES.get(SHORT.get(frame, frame))
        if name and body:
            tags[name] = _texts(body)
    return tags or _version_1(data[-128:])


def _frames(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The text frames of a version 2 tag, by name."""
    if data[:3] != b"ID3" or len(data) < 10 or data[3] not in {2, 3, 4}:
        return
    version, flags = data[3], data[5]
    tag = data[10 : 10 + _synchsafe(data[6:10])]
    if flags & 0x80 and version < 4:
        tag = _synchronised(tag)
    if flags & 0x40 and version > 2:
        size = _synchsafe(tag[:4]) if version == 4 else int.from_bytes(tag[:4], "big") + 4
        tag = tag[size:]
    id_size, header = (3, 6) if version == 2 else (4, 10)
    while re.fullmatch(rb"[A-Z0-9]+", tag[:id_size]) and len(tag) > header:
        name, raw = tag[:id_size].decode("ascii"), tag[id_size : 2 * id_size]
        size = _synchsafe(raw) if version == 4 else int.from_bytes(raw, "big")
        body, frame_flags = tag[header : header + size], tag[header - 1]
        tag = tag[header + size :]
        if version == 4:
            body = _plain(body, frame_flags)
        elif version == 3 and frame_flags & 0xC0:  # compressed or encrypted
            continue
        if name.startswith("T"):
            yield name, body


def _plain(body: bytes, flags: int) -> bytes:
    """A version 2.4 frame's content without what its flags add; empty where it is packed."""
    if flags & 0x0C:
        return b""
    if flags & 0x01:  # its length comes first
        body = body[4:]
    return _synchronised(body) if flags & 0x02 else body


def _texts(body: bytes) -> list[str]:
    encoding = ENCODINGS[body[0]] if body[0] < len(ENCODINGS) else "latin-1"
    text = body[1:].decode(encoding, "replace")
    return [part.lstrip("\ufeff") for part in text.rstrip("\0").split("\0")]


def _version_1(tag: bytes) -> dict[str, list[str]]:
    if len(tag) < 128 or tag[:3] != b"TAG":
        return {}
    fields = zip(
        ("title", "artist", "album", "date"),
        struct.unpack("30s30s30s4s", tag[3:97]),
        strict=True,
    )
    texts = {name: raw.split(b"\0")[0].decode("latin-1").rstrip() for name, raw in fields}
    return {name: [text] for name, text in texts.items() if text}


def _synchsafe(raw: bytes) -> int:
    size = 0
    for byte in raw:
        size = size << 7 | byte & 0x7F
    return size


def _synchronised(data: bytes) -> bytes:
    """Undo what kept a tag from looking like sound."""
    return data.replace(b"\xff\x00", b"\xff")
