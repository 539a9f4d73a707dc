"""Folders of ours: runs of trainers, and evaluations, which are episodes beside a report."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from ui_gym.errors import UserError
from ui_gym_agents import files, overrides, store
from ui_gym_agents.episode import NOT_SAID, Episode, Purpose
from ui_gym_agents.monitor.index import MonitorIndex
from ui_gym_agents.monitor.sources import Picture, episode_id, picture_of, source_id
from ui_gym_agents.training import event_log
from ui_gym_agents.training.run_lines import FileLine, unread

BATCH = 256
"""Most lines in one transaction."""
PATIENCE = 0.5
"""Seconds that one look may take."""


class EpisodeFolder:
    """A folder with files of episodes in the layout of `ui_gym_agents.store`.

    It is the common part; `refresh` is its children's.
    """

    kind = "evaluation"

    def __init__(self, folder: Path) -> None:
        self.folder: Path | None = folder.absolute()
        self._at = folder.absolute()
        self.place = str(self._at)
        self.id = source_id(self.place)
        self._sizes: dict[str, int] = {}

    def episode(self, where: str) -> Episode:
        file, start, end = where.rsplit(":", 2)
        with (self._at / file).open("rb") as lines:
            lines.seek(int(start))
            text = lines.read(int(end) - int(start))
        try:
            return store.from_json(json.loads(text))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise UserError(
                f"{self._at / file}, byte {start}: no episode any more ({error})"
            ) from None

    def picture(self, key: str) -> Picture | None:
        return picture_of(self._encoded(key))

    def _encoded(self, key: str) -> bytes | None:
        return store.ScreenshotStore(self._at / store.PICTURES).encoded(key)

    def _names(self) -> list[str]:
        """The files whose sizes tell that there is something new, relative to the folder."""
        return [store.FILE]

    def _grown(self) -> bool:
        """Whether a file has another size than at the last look."""
        sizes = {}
        for name in (*self._names(), overrides.FILE):
            try:
                sizes[name] = (self._at / name).stat().st_size
            except FileNotFoundError:
                continue
        grown, self._sizes = sizes != self._sizes, sizes
        return grown

    def _take_in(self, index: MonitorIndex, lines: Iterator[FileLine]) -> None:
        """Take in lines, in batches, as far as there is patience: pages are told in between."""
        until = time.monotonic() + PATIENCE
        while batch := list(islice(lines, BATCH)):
            with index.writing():
                for line in batch:
                    try:
                        self._line(index, line)
                    except sqlite3.OperationalError:
                        self._sizes = {}  # a full disk, say: it is read again
                        raise
                    except Exception as error:  # whatever stands in a line, others go on
                        self._refuse(index, line, error)
                for file, end in {line.file: line.end for line in batch}.items():
                    index.mark(self.id, file, end)
            if time.monotonic() > until:
                self._sizes = {}  # the next look goes on
                return

    def _line(self, index: MonitorIndex, line: FileLine) -> None:
        self._add(index, store.from_json(json.loads(line.text)), line)

    def _add(self, index: MonitorIndex, episode: Episode, line: FileLine) -> None:
        where = f"{line.file}:{line.start}:{line.end}"
        index.add(self.id, episode_id(where), episode, where)

    def _refuse(self, index: MonitorIndex, line: FileLine, error: Exception) -> None:
        told = f"{line.file}, byte {line.start}: {type(error).__name__}: {error}"
        refused = index.facts(self.id).get("refused", 0) + 1
        index.put_run(self.id, refused=refused, refusal=told[:500])

    def _read_overrides(self, index: MonitorIndex) -> None:
        with index.writing():
            index.execute("delete from override where run = ?", (self.id,))
            for where, said in overrides.read(self._at).items():
                index.execute(
                    "insert or replace into override values (?, ?, ?)",
                    (self.id, where, said.verdict),
                )


class EvaluationFolder(EpisodeFolder):
    """What `ui-gym-eval --out` writes, or any folder of an `EpisodeStore`."""

    def refresh(self, index: MonitorIndex) -> bool:
        if not self._at.is_dir():
            raise FileNotFoundError(f"{self._at} is not there any more")
        marks = index.marks(self.id)
        size = _size(self._at / store.FILE)
        if size < marks.get(store.FILE, 0):  # another evaluation took its place
            index.forget(self.id)
            marks = {}
        if not self._grown() and marks:
            return False
        lines = (
            FileLine(store.FILE, text, end)
            for text, end in files.whole_lines(self._at / store.FILE, marks.get(store.FILE, 0))
        )
        self._take_in(index, lines)
        index.put_run(
            self.id, source=self.kind, place=self.place, name=self._at.name,
            changed=_moment(self._at / store.FILE), **self._told(),
        )  # fmt: skip
        self._read_overrides(index)
        return True

    def _names(self) -> list[str]:
        return [store.FILE, "report.json"]

    def _add(self, index: MonitorIndex, episode: Episode, line: FileLine) -> None:
        if episode.purpose == NOT_SAID:
            episode = replace(episode, purpose=Purpose("evaluation", 0, ""))
        super()._add(index, episode, line)

    def _told(self) -> dict[str, Any]:
        """What was asked for, and whether it is done."""
        found: dict[str, Any] = {"done": (self._at / "report.json").exists()}
        asked = self._at / "evaluation.json"
        if asked.exists():
            try:
                config = json.loads(asked.read_text(encoding="utf-8"))
                if not isinstance(config, dict):
                    raise ValueError("it holds no settings")
                found["config"] = config
            except ValueError as error:
                found |= {"refused": 1, "refusal": f"{asked.name}: {error}"}
        return found


class RunFolder(EpisodeFolder):
    """The folder of a training (`ui_gym_agents.training.run_directory`)."""

    kind = "run"

    def refresh(self, index: MonitorIndex) -> bool:
        training = event_log.identity(self._at)
        if training is None:
            raise FileNotFoundError(f"{self._at} holds no run any more")
        if index.facts(self.id).get("training", training) != training:
            index.forget(self.id)  # another run took its place
            self._sizes = {}
        if not self._grown() and index.marks(self.id):
            return False
        try:
            self._take_in(index, unread(self._at, index.marks(self.id)))
        finally:
            if not index.facts(self.id).get("training"):
                index.put_run(self.id, source=self.kind, place=self.place, name=self._at.name,
                              training=training)  # fmt: skip
        self._read_overrides(index)
        return True

    def _names(self) -> list[str]:
        return [event_log.FILE, *event_log.files(self._at)]

    def _encoded(self, key: str) -> bytes | None:
        return store.RunPictures(self._at).encoded(key)

    def _line(self, index: MonitorIndex, line: FileLine) -> None:
        if line.file != event_log.FILE:
            super()._line(index, line)
            return
        value = json.loads(line.text)
        handle = getattr(self, f"_on_{value['event']}", None)
        if handle is not None:  # a newer ui-gym may tell of what this one does not know
            handle(index, value["at"], value)

    def _on_begun(self, index: MonitorIndex, at: str, line: dict[str, Any]) -> None:
        resumed = line["resumed"]
        index.void(self.id, resumed)
        config = line["config"]
        begun = index.facts(self.id).get("begun", at) if resumed is not None else at
        left = index.row("select max(elapsed) as seconds from step where run = ?", (self.id,))
        index.put_run(
            self.id, source=self.kind, place=self.place, name=line["name"], begun=begun,
            config=config, training=line["training"], plugin=config["plugin"],
            steps=config["run"]["steps"],
            status="running", error="", step=resumed or 0, changed=at,
            elapsed=left["seconds"] if left is not None else None,
            facts={"host": line["host"], "process": line["process"], **line.get("facts", {})},
        )  # fmt: skip
        kind, text = ("begun", "") if resumed is None else ("resumed", f"after step {resumed}")
        index.put_moment(self.id, at, kind, resumed or 0, text)

    def _on_step_begun(self, index: MonitorIndex, at: str, line: dict[str, Any]) -> None:
        index.put_run(self.id, steps=line["steps"], changed=at, phase=f"step {line['step']}")

    def _on_step_finished(self, index: MonitorIndex, at: str, line: dict[str, Any]) -> None:
        index.put_step(self.id, line["step"], at, line["metrics"], line["elapsed"])
        index.put_run(self.id, step=line["step"], elapsed=line["elapsed"], changed=at, phase="")

    def _on_learned(self, index: MonitorIndex, at: str, line: dict[str, Any]) -> None:
        index.put_learned(self.id, line["step"], line["episodes"])

    def _on_evaluation_begun(self, index: MonitorIndex, at: str, line: dict[str, Any]) -> None:
        purpose = line["purpose"]
        index.put_measurement(
            self.id, purpose["kind"], purpose["step"], purpose["mode"], at, planned=line["episodes"]
        )
        phase = f"{purpose['kind']}, {purpose['mode']}, {line['episodes']} episodes"
        index.put_run(self.id, changed=at, phase=phase)

    def _on_evaluation_finished(self, index: MonitorIndex, at: str, line: dict[str, Any]) -> None:
        purpose = line["purpose"]
        found = {name: line[name] for name in ("n", "success", "low", "high")}
        index.put_measurement(
            self.id, purpose["kind"], purpose["step"], purpose["mode"], at, **found
        )
        said = f"{purpose['kind']}, {purpose['mode']}: {100 * line['success']:.1f} %"
        index.put_moment(self.id, at, "evaluation", purpose["step"], said)
        index.put_run(self.id, changed=at, phase="")

    def _on_checkpoint(self, index: MonitorIndex, at: str, line: dict[str, Any]) -> None:
        index.execute(
            "update step set checkpoint = ? where run = ? and step = ?",
            (line["name"], self.id, line["step"]),
        )
        index.put_moment(self.id, at, "checkpoint", line["step"], line["name"])

    def _on_alert(self, index: MonitorIndex, at: str, line: dict[str, Any]) -> None:
        index.put_moment(self.id, at, "alert", line["step"], line["message"])

    def _on_ended(self, index: MonitorIndex, at: str, line: dict[str, Any]) -> None:
        index.put_run(
            self.id, status=line["status"], error=line["error"], step=line["step"], changed=at,
            phase="",
        )  # fmt: skip
        index.put_moment(self.id, at, "ended", line["step"], line["status"])


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _moment(path: Path) -> str:
    stamp = path.stat().st_mtime if path.exists() else 0
    return datetime.fromtimestamp(stamp, UTC).isoformat()
