"""The tags of an MP3 file: ID3 version 2.2 to 2.4, or version 1 where there is no other.

Written after the informal standards at id3.org (id3v2-00, id3v2.3.0, id3v2.4.0-structure).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

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
