"""The folder of an evaluation: what was asked for, its episodes, and what is still to be played.

evaluation.json   what was asked for; the folder takes no episodes of another evaluation
episodes.jsonl    a line an episode, as each ends
screenshots/      their pictures
report.json, report.md, report.html
lock              held by the process that plays
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ui_gym.errors import UserError
from ui_gym_agents import files
from ui_gym_agents.episode import Episode
from ui_gym_agents.store import FILE, EpisodeStore

ASKED = "evaluation.json"


@contextmanager
def evaluation_store(path: Path | None, asked: Mapping[str, Any]) -> Iterator[EpisodeStore]:
    """The store of an evaluation, new or begun earlier; in memory without a `path`.

    `asked` is all that bears on an episode, as plain JSON values.

    Raises:
        UserError: the folder belongs to another evaluation or to something else, another process
            uses it, or it cannot be written to.
    """
    if path is None:
        yield EpisodeStore()
        return
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = files.lock(path / "lock")
    except BlockingIOError:
        raise UserError(
            f"another process evaluates in {path}; wait for it to end, or choose another --out"
        ) from None
    except OSError as error:
        raise UserError(f"the folder {path} cannot be written to: {error}") from error
    try:
        _claim(path, asked)
        files.cut(path / FILE)
        yield EpisodeStore(path)
    finally:
        os.close(lock)


def played(store: EpisodeStore) -> dict[str, Episode]:
    """The episodes of an evaluation so far, by id, without those whose infrastructure failed."""
    return {episode.id: episode for episode in store if episode.failure is None}


def _claim(path: Path, asked: Mapping[str, Any]) -> None:
    """Note what is asked for, or see that it is the same as it was."""
    file = path / ASKED
    if not file.exists():
        if (path / FILE).exists():
            raise UserError(f"{path} holds episodes of something else; choose another --out")
        files.replace(file, json.dumps(asked, indent=1) + "\n")
        return
    try:
        before = dict(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise UserError(f"{file} is damaged ({error}); choose another --out") from None
    differ = [key for key in {**before, **asked} if before.get(key) != asked.get(key)]
    if differ:
        told = "; ".join(f"{k} was {before.get(k)!r} and is {asked.get(k)!r}" for k in differ)
        raise UserError(
            f"{path} holds another evaluation: {told}. Ask for the same to continue it, or choose "
            "another --out"
        )
