"""The records of a run made anew from its directory: config.yaml, metrics.jsonl, episodes.

What is not in the directory is lost: the times of single episodes (they get those of their step),
and the history of statuses.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from sqlalchemy import Connection

from ui_gym.errors import UserError
from ui_gym_agents.episode import Episode
from ui_gym_agents.records import changes
from ui_gym_agents.records.recorder import identity
from ui_gym_agents.records.rows import Rows
from ui_gym_agents.store import EpisodeStore
from ui_gym_agents.training import yaml_text
from ui_gym_agents.training.listeners import Place, PlaceKind, RunInfo, Status
from ui_gym_agents.training.settings import RunConfig
from ui_gym_agents.training.told_store import step_of

_HOST_KEYS = ("kind", "step", "time_elapsed")


@dataclass(frozen=True)
class Measured:
    """What metrics.jsonl and report.json tell of an evaluation."""

    success: float
    n: int
    interval: tuple[float, float]
    whole: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        return self.whole


def rebuild(connection: Connection, directory: Path) -> int:
    """Write the run in `directory` as if for the first time, within the caller's transaction.

    Returns how many episodes it has. Of an episode that was played twice, before and after a
    resume, the later counts.

    Raises:
        UserError: the folder holds no run, or a damaged one.
    """
    run = RunInfo(directory, _config(directory))
    rows = Rows(identity(directory))
    clock = _Clock(directory)
    changes.apply(connection, [[changes.drop("training", id=rows.id)]])
    count = 0
    changes.apply(connection, [rows.begun(clock.at(0.0), run)])
    training = _training_episodes(directory)
    lines = list(_metrics(directory))
    done, trained = 0, False
    for index, line in enumerate(lines):
        at, step, elapsed = clock.at(line["time_elapsed"]), line["step"], line["time_elapsed"]
        if line["kind"] == "train":
            trained, done = True, step
            metrics = {k: v for k, v in line.items() if k not in _HOST_KEYS}
            begun = clock.at(elapsed - (metrics.get("time_step") or 0.0))
            episodes = training.pop(step, [])
            place = Place("step", step)
            batch = [rows.step_begun(begun, step, run.config.run.steps)]
            batch += [rows.episode(at, episode, place) for episode in episodes]
            batch += [rows.step_finished(at, step, metrics, elapsed)]
        else:
            place = Place(_kind(line, trained), step, line["mode"])
            again = any(_folder_of(other) == _folder_of(line) for other in lines[index + 1 :])
            folder = directory / "evaluations" / _folder_of(line)
            # A later evaluation after the same step has taken the folder.
            episodes = [] if again else list(_unique(EpisodeStore(folder)))
            batch = [rows.evaluation_begun(at, place, line["n"])]
            batch += [rows.episode(at, episode, place) for episode in episodes]
            batch += [rows.evaluation_finished(at, place, _measured(line, folder), elapsed)]
        count += len(episodes)
        changes.apply(connection, batch)
    for step, episodes in training.items():
        # Of a step that was never finished.
        count += len(episodes)
        place = Place("step", step)
        changes.apply(connection, [rows.episode(clock.last, e, place) for e in episodes])
    changes.apply(connection, [_end(rows, directory, clock, done)])
    return count


class _Clock:
    """Times of day from seconds of training: the log's first line says when it began."""

    def __init__(self, directory: Path) -> None:
        self.begun = datetime.fromtimestamp((directory / "config.yaml").stat().st_mtime, UTC)
        log = directory / "log.txt"
        if log.exists():
            first = log.read_text(encoding="utf-8", errors="replace").partition(" ")[0]
            try:
                self.begun = datetime.fromisoformat(first).astimezone(UTC)
            except ValueError:
                pass
        newest = max(path.stat().st_mtime for path in directory.iterdir())
        self.last = datetime.fromtimestamp(newest, UTC).isoformat()

    def at(self, elapsed: float) -> str:
        return (self.begun + timedelta(seconds=elapsed)).isoformat()


def _config(directory: Path) -> RunConfig:
    path = directory / "config.yaml"
    if not path.is_file():
        raise UserError(f"{directory} holds no run: {path} is not there")
    try:
        with path.open(encoding="utf-8") as file:
            # SafeLoader's own schema: nothing in it can run code.
            return RunConfig.model_validate(yaml.load(file, Loader=yaml_text.StrictLoader))
    except (OSError, ValueError, yaml.YAMLError, ValidationError) as error:
        first = str(error).splitlines()[0]
        raise UserError(f"{path} is not the configuration of a run: {first}") from None


def _metrics(directory: Path) -> Iterator[dict[str, Any]]:
    path = directory / "metrics.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for number, line in enumerate(lines, start=1):
        try:
            value = json.loads(line)
            value["kind"], value["step"], value["time_elapsed"]
        except (ValueError, KeyError, TypeError) as error:
            if number == len(lines):
                return  # torn by a kill
            raise UserError(f"{path}:{number}: this line is damaged ({error})") from None
        yield value


def _training_episodes(directory: Path) -> dict[int, list[Episode]]:
    """Episodes by step; of a trainer that names its groups in its own way, by the step before."""
    found: dict[int, dict[str, Episode]] = {}
    step = 1
    for episode in EpisodeStore(directory / "episodes"):
        step = step_of(episode, step)
        of_step = found.setdefault(step, {})
        of_step.pop(episode.id, None)
        of_step[episode.id] = episode
    return {step: list(episodes.values()) for step, episodes in found.items()}


def _unique(store: EpisodeStore) -> Iterator[Episode]:
    yield from {episode.id: episode for episode in store}.values()


def _kind(line: dict[str, Any], trained: bool) -> PlaceKind:
    if line["kind"] == "final":
        return "final"
    return "evaluation" if trained or line["step"] else "baseline"


def _folder_of(line: dict[str, Any]) -> str:
    return f"step_{line['step']:06}-{line['mode']}" if "mode" in line else ""


def _measured(line: dict[str, Any], folder: Path) -> Measured:
    path = folder / "report.json"
    whole = {k: line[k] for k in ("success", "low", "high", "n")}
    if path.exists():
        try:
            whole = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            pass  # The line of metrics.jsonl says the most important of it.
    return Measured(line["success"], line["n"], (line["low"], line["high"]), whole)


def _end(rows: Rows, directory: Path, clock: _Clock, done: int) -> changes.Change:
    """How the run ended, as far as its directory tells."""
    log = directory / "log.txt"
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    last = text.strip().splitlines()[-1:] or [""]
    status: Status = "interrupted"
    error = ""
    if (directory / "result.json").exists():
        status = "finished"
    elif " failed: " in last[0]:
        status, error = "failed", last[0].partition(" failed: ")[2]
    return rows.ended(clock.last, status, done, error)
