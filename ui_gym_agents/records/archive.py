"""Archives of trainings (`export`): reading one in, and playing its episodes again."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ui_gym.errors import UserError
from ui_gym.remote.lending import is_for_anybody
from ui_gym_agents import pack, store
from ui_gym_agents.episode import Episode
from ui_gym_agents.training import event_log

FORMAT = "ui-gym-records"
VERSION = 1
MANIFEST = "manifest.json"

_FILE = re.compile(
    r"config\.yaml|events\.jsonl|metrics\.jsonl|result\.json"
    r"|(?:episodes|evaluations/[\w-]+)/(?:episodes\.jsonl|report\.json"
    r"|screenshots/[0-9a-f]{2}/[0-9a-f]{64}\.(?:webp|png))",
    re.ASCII,
)
"""What of a run's folder an archive holds, under the same names. (A pack's pictures: as files.)"""


def write(directory: Path, manifest: dict[str, Any], out: Path) -> int:
    """Write an archive of the run in `directory`; returns how many episodes it holds.

    Raises:
        UserError: there is no such run.
    """
    if event_log.identity(directory) is None:
        raise UserError(
            f"a ZIP is made of a run's files, and {directory} is not on this machine or holds no "
            "run; .jsonl and .parquet need the database alone"
        )
    count = 0
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        known = {"format": FORMAT, "version": VERSION}
        archive.writestr(MANIFEST, json.dumps({**known, **manifest}, indent=1) + "\n")
        for path in sorted(directory.rglob("*")):
            name = path.relative_to(directory).as_posix()
            # A link may lead to a file that is nobody else's business.
            if path.is_symlink() or not path.is_file():
                continue
            if _FILE.fullmatch(name):
                # Pictures are compressed already.
                pictured = path.suffix in store.SUFFIXES
                archive.write(path, name, zipfile.ZIP_STORED if pictured else None)
                if path.name == store.FILE:
                    count += path.read_bytes().count(b"\n")
            elif path.name == pack.NAME:
                _unpack(path.parent, name.removesuffix(f"/{pack.NAME}"), archive)
    return count


def _unpack(folder: Path, name: str, archive: zipfile.ZipFile) -> None:
    pictures = pack.PicturePack(folder)
    for key in pictures:
        member, data = f"{name}/{key[:2]}/{key}.webp", pictures.encoded(key)
        if data is not None and _FILE.fullmatch(member):
            archive.writestr(member, data, zipfile.ZIP_STORED)


@dataclass(frozen=True)
class Archive:
    """An opened archive. `manifest` is checked."""

    file: zipfile.ZipFile
    manifest: dict[str, Any]

    def episodes(self) -> Iterator[Episode]:
        """Its episodes, those of evaluations after those of training.

        Raises:
            UserError: it is damaged.
        """
        for name in sorted(self.file.namelist()):
            if name.endswith(store.FILE):
                with _reading(self.file), self.file.open(name) as lines:
                    found = [store.from_json(json.loads(x)) for x in lines if x.endswith(b"\n")]
                yield from found

    def extract(self, directory: Path) -> None:
        """Put the run's files into `directory`.

        Raises:
            UserError: the archive holds what no archive holds, is damaged, or there is no room.
        """
        names = [name for name in self.file.namelist() if name != MANIFEST]
        for name in names:
            # Names are matched whole: nothing is written outside of the folder.
            if not _FILE.fullmatch(name):
                raise UserError(f"the archive holds {name!r}, which is no file of a run's records")
        for name in names:
            path = directory / name
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with _reading(self.file), self.file.open(name) as source, path.open("wb") as target:
                    shutil.copyfileobj(source, target)
            except OSError as error:
                raise UserError(f"{path} cannot be written: {error}") from error
        if event_log.identity(directory) != self.manifest["training"]:
            raise UserError("the archive's event log is not there, or is of another training")


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """An archive of `write`.

    Raises:
        UserError: it is none, is damaged, or comes from a newer ui-gym.
    """
    try:
        file = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise UserError(f"{path} is no archive of records, or is damaged: {error}") from error
    with file:
        with _reading(file):
            manifest = json.loads(file.read(MANIFEST))
            if manifest.get("format") != FORMAT or not isinstance(manifest.get("training"), str):
                raise UserError(f"{path} is no archive of records: its manifest says otherwise")
            if manifest["version"] > VERSION:
                raise UserError(f"{path} is of a newer ui-gym; upgrade: pip install -U ui-gym")
        yield Archive(file, manifest)


@contextmanager
def _reading(file: zipfile.ZipFile) -> Iterator[None]:
    """What is wrong with the bytes of an archive, as a UserError."""
    try:
        yield
    except (
        KeyError, ValueError, TypeError, AttributeError, EOFError, zlib.error, zipfile.BadZipFile
    ) as error:  # fmt: skip
        raise UserError(
            f"{file.filename} is no archive of records, or is damaged: {error}"
        ) from error


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


def replay(
    config: dict[str, Any], episodes: Sequence[Episode], device: str | None = None
) -> Iterator[Replayed]:
    """Play recorded actions again in real envs, made as `config` (a run's) says.

    An archive may be anybody's: it brings no module, and chooses none but the plain devices of this
    machine. `device` is played on instead.

    Raises:
        UserError: a task is not installed, or the archive asks for what it may not.
    """
    import gymnasium

    import ui_gym  # noqa: F401 - registers the ids

    settings = config["env"]
    if device is None and not is_for_anybody(device := str(settings["device"])):
        raise UserError(
            f"the export was played on {device!r}; since it may be anybody's, what has an address "
            "or no walls is played on only where --device names it"
        )
    for task in {episode.task for episode in episodes if ":" in episode.task}:
        raise UserError(f"the export has episodes of {task!r}, and no module is imported for it")
    limit = {} if settings["max_steps"] is None else {"max_steps": settings["max_steps"]}
    env: Any = None
    made = ""
    try:
        for episode in episodes:
            if episode.task != made:
                if env is not None:
                    env.close()
                env = gymnasium.make(
                    episode.task, device=device, dialect=settings["dialect"],
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
