"""Archives of trainings (`export`): reading one in, and playing its episodes again."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from ui_gym.errors import UserError
from ui_gym_agents.episode import Episode
from ui_gym_agents.records import changes
from ui_gym_agents.records.database import REVISIONS
from ui_gym_agents.records.export import FORMAT, VERSION
from ui_gym_agents.records.models import TABLES
from ui_gym_agents.records.recorder import IDENTITY
from ui_gym_agents.store import from_json

_PICTURE = re.compile(r"screenshots/([0-9a-f]{2}/[0-9a-f]{64}\.(?:webp|png))")
_BATCH = 64


@dataclass(frozen=True)
class Archive:
    """An opened archive. `manifest` is checked."""

    file: zipfile.ZipFile
    manifest: dict[str, Any]

    def episodes(self) -> Iterator[tuple[dict[str, Any], Episode]]:
        """Each episode, with its place as plain values before it."""
        for line in self._lines("episodes.jsonl"):
            value = json.loads(line)
            place = value.pop("place")
            yield place, from_json(value)

    def read_in(self, connection: Connection, directory: Path) -> None:
        """Put the training into a database, within the caller's transaction, and what lies beside
        it into `directory`: its identity and pictures.

        Raises:
            UserError: the archive is damaged, or holds what no archive holds.
        """
        batch: list[changes.Change] = []
        for line in self._lines("records.jsonl"):
            batch.append(_checked(line))
            if len(batch) == _BATCH:
                changes.apply(connection, batch)
                batch.clear()
        training = {"id": self.manifest["training"]}
        batch.append([changes.set_("training", training, directory=str(directory.absolute()))])
        changes.apply(connection, batch)
        (directory / "episodes").mkdir(parents=True, exist_ok=True)
        identity = {"training": self.manifest["training"], "database": None}
        (directory / IDENTITY).write_text(json.dumps(identity) + "\n")
        for name in self.file.namelist():
            # Names are matched whole: nothing is written outside of the folder.
            match = _PICTURE.fullmatch(name)
            if match:
                path = directory / "episodes" / "screenshots" / match[1]
                path.parent.mkdir(parents=True, exist_ok=True)
                with self.file.open(name) as source, path.open("wb") as target:
                    shutil.copyfileobj(source, target)

    def _lines(self, name: str) -> Iterator[bytes]:
        with self.file.open(name) as file:
            yield from file


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """An archive of `export.write_zip`.

    Raises:
        UserError: it is none, is damaged, or comes from a newer ui-gym.
    """
    try:
        with zipfile.ZipFile(path) as file:
            manifest = json.loads(file.read("manifest.json"))
            if manifest.get("format") != FORMAT or not isinstance(manifest.get("training"), str):
                raise UserError(f"{path} is no archive of records: its manifest says otherwise")
            if manifest["version"] > VERSION or manifest["revision"] not in REVISIONS:
                raise UserError(f"{path} is of a newer ui-gym; upgrade: pip install -U ui-gym")
            yield Archive(file, manifest)
    except (OSError, KeyError, ValueError, TypeError, zipfile.BadZipFile) as error:
        raise UserError(f"{path} is no archive of records, or is damaged: {error}") from error


@dataclass(frozen=True)
class Replayed:
    """An episode played again: what was recorded, and what came out now."""

    episode: Episode
    score: float
    success: bool
    goal: str

    @property
    def same(self) -> bool:
        """Whether goal and verdict are what they were."""
        before = self.episode
        return (before.goal, before.score, before.success) == (self.goal, self.score, self.success)


def replay(config: dict[str, Any], episodes: Sequence[Episode]) -> Iterator[Replayed]:
    """Play recorded actions again in real envs, made as `config` (a run's) says.

    Raises:
        UserError: a task is not installed.
    """
    import gymnasium

    import ui_gym  # noqa: F401 - registers the ids

    settings = config["env"]
    limit = {} if settings["max_steps"] is None else {"max_steps": settings["max_steps"]}
    env: Any = None
    made = ""
    try:
        for episode in episodes:
            if episode.task != made:
                if env is not None:
                    env.close()
                env = gymnasium.make(
                    episode.task, device=settings["device"], dialect=settings["dialect"],
                    observation=settings["observation"], timeout=settings["timeout"],
                    disable_env_checker=True, **limit, **config["tasks"]["arguments"],
                )  # fmt: skip
                made = episode.task
            yield _replay_one(env, episode)
    finally:
        if env is not None:
            env.close()


def _replay_one(env: Any, episode: Episode) -> Replayed:
    options = {"split": episode.split} if episode.split else {}
    observation, info = env.reset(seed=episode.seed, options=options)
    goal = str(observation.get("goal", ""))
    for turn in episode.turns:
        observation, _, terminated, truncated, info = env.step(turn.action_text)
        if terminated or truncated:
            break
    return Replayed(episode, float(info.get("score", 0.0)), bool(info.get("success")), goal)


def _checked(line: bytes) -> changes.Change:
    """A change of an archive: it may add rows to our tables, and nothing else."""
    change = changes.from_json(line)
    for operation in change:
        table = TABLES.get(operation.table)
        if operation.verb not in ("put", "ensure") or table is None:
            raise UserError(f"the archive would do more than add records: {operation.verb}")
        unknown = {name for row in operation.rows for name in row} - set(table.c.keys())
        if unknown:
            raise UserError(
                f"the archive's table {operation.table} has an unknown column {min(unknown)!r}"
            )
    return change
