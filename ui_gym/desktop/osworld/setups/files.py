"""Steps that bring files to the machine, and pages to Chrome's history."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ui_gym.desktop.osworld.placeholders import expanded
from ui_gym.desktop.osworld.registry import EvaluationContext, setup
from ui_gym.desktop.osworld.taskfile import EMPTY_HISTORY
from ui_gym.errors import UserError


@setup("download")
def download(context: EvaluationContext, files: Sequence[Mapping[str, str]]) -> None:
    """Put the file of each ``url`` at its ``path``; it comes from the file cache."""
    _bring(context, files, "url", "{}")


@setup("upload_file")
def upload_file(context: EvaluationContext, files: Sequence[Mapping[str, str]]) -> None:
    """Put each ``local_path`` of this machine at its ``path`` there; a relative one lies beside
    the task file."""
    _bring(context, files, "local_path", "file:{}")


def _bring(
    context: EvaluationContext, files: Sequence[Mapping[str, str]], key: str, address: str
) -> None:
    for file in files:
        source, path = file.get(key), file.get("path")
        if not source or not path:
            raise UserError(f"a file has a {key} and a path, not {dict(file)!r}")
        data = context.files.get(address.format(source)).read_bytes()
        context.device.write(expanded(path, context.device.home), data)


PROFILES = (".config/google-chrome/Default", ".config/chromium/Default")
"""Where the profile may be, in the home folder."""

EPOCH = 11_644_473_600
"""Seconds from 1601, where Chrome's times begin, to 1970."""

TYPED = 0x30000000
"""The transition of a visit: a link that began and ended a chain of redirects."""


@setup("update_browse_history")
def update_browse_history(context: EvaluationContext, history: Sequence[Mapping[str, Any]]) -> None:
    """Add visits to Chrome's history: ``url``, ``title``, ``visit_time_from_now_in_seconds``.

    The browser must not be running. A profile without a history is given OSWorld's empty one.
    """
    found = {profile: context.device.read(f"{profile}/History") for profile in PROFILES}
    profile = next((name for name, data in found.items() if data is not None), PROFILES[0])
    data = found[profile]
    if data is None:
        data = context.files.get(EMPTY_HISTORY).read_bytes()
    path = context.folder / "History"
    path.write_bytes(data)
    _add(path, history)
    context.device.write(f"{profile}/History", path.read_bytes())


def _add(path: Path, history: Sequence[Mapping[str, Any]]) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        for visit in history:
            seconds = time.time() - visit["visit_time_from_now_in_seconds"] + EPOCH
            row = database.execute(
                "INSERT INTO urls (url, title, visit_count, typed_count, last_visit_time, hidden) "
                "VALUES (?, ?, 1, 0, ?, 0)",
                (visit["url"], visit["title"], int(seconds * 1e6)),
            )
            database.execute(
                "INSERT INTO visits (url, visit_time, from_visit, transition, segment_id, "
                "visit_duration) VALUES (?, ?, 0, ?, 0, 0)",
                (row.lastrowid, int(seconds * 1e6), TYPED),
            )
