"""Sources: what the monitor can open, each as a run with episodes and pictures."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ui_gym_agents.episode import Episode
from ui_gym_agents.monitor.index import MonitorIndex


@dataclass(frozen=True)
class Picture:
    """A picture's file as it is; `media` is its type, such as ``image/webp``."""

    media: str
    data: bytes


MEDIA = {".webp": "image/webp", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}
"""By the ends of files' names."""
STARTS = {b"RIFF": "image/webp", b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg"}
"""How these files begin. What a link in somebody else's run leads to begins otherwise."""
PREFIX = 16
"""Digits of a picture's key that say which episode it is of, where files are found by them."""


def picture_of(data: bytes | None) -> Picture | None:
    """The picture that a file holds; None without one, or where it holds something else."""
    if data is None:
        return None
    found = (media for start, media in STARTS.items() if data.startswith(start))
    return next((Picture(media, data) for media in found), None)


class Source(Protocol):
    """Something with episodes. Any thread may ask it; one at a time refreshes it."""

    id: str
    """12 hexadecimal digits, the same whenever it is opened (`source_id`)."""
    kind: str
    """run, evaluation, osworld, inspect or database."""
    place: str
    """A folder, a file, or a database without its password: for people."""
    folder: Path | None
    """Where overrides and orders are written; None: it is only read."""

    def refresh(self, index: MonitorIndex) -> bool:
        """Take in what is new; whether anything was.

        Raises:
            OSError, UserError: it cannot be read now; what was taken in stays.
        """

    def episode(self, where: str) -> Episode:
        """The episode that lies at `where`, as `refresh` told the index.

        Raises:
            OSError, UserError: it is not there any more, or damaged.
        """

    def picture(self, key: str) -> Picture | None:
        """The picture of a hash; None if it was not kept."""


def source_id(place: str) -> str:
    """The id of what lies at `place`."""
    return hashlib.sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def key_prefix(name: str) -> str:
    """The first `PREFIX` digits of the keys of the pictures of the episode called `name`."""
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:PREFIX]


def episode_id(where: str) -> str:
    """The monitor's own id of an episode: files are only appended to, so it stays."""
    return hashlib.sha256(where.encode("utf-8", "surrogateescape")).hexdigest()[:10]
