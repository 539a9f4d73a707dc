"""Files that were damaged, or written by others: read as they are, or refused in a sentence."""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz import mutation
from tests.fuzz.running import Unexpected
from ui_gym.desktop.osworld import taskfile
from ui_gym.errors import UserError
from ui_gym_agents.collecting.recorded import Recording
from ui_gym_agents.episode import Episode, Purpose, TokenRecord, TokenUsage, Turn
from ui_gym_agents.monitor.index import MonitorIndex
from ui_gym_agents.monitor.sources.folder import EvaluationFolder
from ui_gym_agents.store import FILE, EpisodeStore, to_json
from ui_gym_agents.tasks.sources import read_task_file
from ui_gym_agents.training import checkpoint

EXAMPLES = Path(taskfile.__file__).parent / "examples"

TASK_LINES = (
    "UI/Login-v0", "# a remark", "", '"UI/DataEntry-v0"',
    '{"id": "DataEntry", "arguments": {"compact": true, "length": 4}, "weight": 2}',
    '{"id": "DataEntry", "seeds": [17], "split": "train", "success": 0.25, "episodes": 8}',
    '{"task_id": "UI/Login-v0", "seed": 3, "max_turns": 5, "description": "Log in.", "tags": []}',
    '{"id": "UI/Login-v0", "split": null, "category": "mine", "max_steps": 4}',
)  # fmt: skip

Read = Callable[[Path], str]
"""Reads a file, and says in a word what it held; `UserError` where it is no such file."""


class StoredFile:
    """A case is the content of a file.

    Args:
        valid: Files as they are written.
        name: What the file is called.
        read: Reads it.
        lines: Whether each line is a value of its own.
    """

    def __init__(
        self, valid: Sequence[bytes], name: str, read: Read, *, lines: bool = False
    ) -> None:
        self._valid = valid
        self._read = read
        self._lines = lines
        self._folder = Path(tempfile.mkdtemp(prefix="ui-gym-fuzz-"))
        self._file = self._folder / name

    def case(self, rng: random.Random) -> bytes:
        data = rng.choice(self._valid)
        kind = rng.random()
        if kind < 0.45:
            return mutation.flipped(rng, data)
        if kind < 0.6:
            return mutation.torn(rng, data)
        if kind < 0.62:
            return data
        return self._changed(rng, data)

    def feed(self, case: bytes) -> Iterator[str]:
        self._file.write_bytes(case)
        try:
            outcome = self._read(self._file)
        except UserError as error:
            if not str(error):
                raise Unexpected("a refusal without words") from None
            outcome = f"refused: {type(error).__name__}"
        yield outcome

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def _changed(self, rng: random.Random, data: bytes) -> bytes:
        """Another value: well-formed JSON, which is not what is meant."""
        if not self._lines:
            return _dumped(mutation.value(rng, json.loads(data)))
        lines = data.split(b"\n")
        at = rng.choice([n for n, line in enumerate(lines) if line[:1] == b"{"])
        lines[at] = _dumped(mutation.value(rng, json.loads(lines[at])))
        return b"\n".join(lines)


def _dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


# -- task files --


def task_files() -> StoredFile:
    return StoredFile(["\n".join(TASK_LINES).encode()], "tasks.jsonl", _read_tasks, lines=True)


def _read_tasks(file: Path) -> str:
    for entry in read_task_file(file):
        json.dumps(entry.to_json())
        assert entry.name
    return "read"


def osworld_files() -> StoredFile:
    """Of the tasks that come with ui-gym, and a list of such."""
    valid = [file.read_bytes() for file in sorted(EXAMPLES.glob("*/*.json"))]
    assert len(valid) > 10
    return StoredFile(valid, "task.json", _read_osworld)


def _read_osworld(file: Path) -> str:
    try:
        taskfile.find(file)
    except UserError:
        pass
    task = taskfile.read(file)
    taskfile.lacks(task)
    taskfile.urls(task)
    return "infeasible" if task.infeasible else "read"


# -- episodes --


def episode_files() -> StoredFile:
    folder = Path(tempfile.mkdtemp(prefix="ui-gym-fuzz-"))
    try:
        store = EpisodeStore(folder)
        store.add([_episode(name) for name in ("a", "b", "c")])
        valid = (folder / FILE).read_bytes()
    finally:
        shutil.rmtree(folder)
    return StoredFile([valid], FILE, _read_episodes, lines=True)


def _episode(name: str) -> Episode:
    asked = TokenRecord((1,), (2,), (-0.5,))
    record = TokenRecord(
        (1, 2), (3, 4), (-0.5, -0.25), ("ff",), (1.0, 0.5), version=3, before=(asked,)
    )
    turns = [
        Turn("", 'type("é\u2028")', tokens=record, times={"act": 0.1}, usage=TokenUsage(3, 4)),
        Turn("", "click(1, 2)", feedback="no", action_error="runtime", reward=1.0),
    ]
    return Episode(
        task="UI/Login-v0", seed=1, goal="say é", turns=turns, id=name, params={"row": 2},
        score=1.0, success=True, terminated=True, purpose=Purpose("step", 3), max_turns=9,
        started_at="2026-01-02T03:04:05+00:00", seconds=1.5,
    )  # fmt: skip


def _read_episodes(file: Path) -> str:
    """As whoever plays, learns, or looks on reads them; the strictest word of the three."""
    refused: UserError | None = None
    found = []
    for reader in (lambda: list(EpisodeStore(file.parent)), lambda: [Recording.of_file(file)]):
        try:
            found.append(reader())
        except UserError as error:
            refused = error
    index = MonitorIndex(None)
    try:  # which passes over lines that it cannot read
        EvaluationFolder(file.parent).refresh(index)
    finally:
        index.close()
    if refused is not None:
        raise refused
    for episode in found[0]:
        json.dumps(to_json(episode))
    return "read"


# -- checkpoints --

_FILES = {
    "weights/adapter.safetensors": np.arange(600, dtype=np.float32).tobytes(),
    "optimizer.safetensors": np.linspace(0, 1, 400, dtype=np.float32).tobytes(),
    "random.json": b'{"python": [3, [1, 2, 3], null]}\n',
}


class Checkpoints:
    """A case says how a checkpoint is damaged: ``[file, kind, place, change]``."""

    def __init__(self, load: Callable[[Path], Any] = checkpoint.load) -> None:
        self._load = load
        self._folder = Path(tempfile.mkdtemp(prefix="ui-gym-fuzz-"))
        self._saved = checkpoint.save(self._folder, 7, _write, {"records": "x", "seed": 3}, keep=2)
        self._whole = {
            str(file.relative_to(self._saved)): file.read_bytes()
            for file in sorted(self._saved.rglob("*"))
            if file.is_file()
        }

    def case(self, rng: random.Random) -> bytes:
        name = rng.choice((*self._whole, checkpoint.MANIFEST, checkpoint.MANIFEST))
        data = self._whole[name]
        kind = rng.choice(("flip", "flip", "flip", "cut", "grow", "remove", "value"))
        if kind == "value" and not name.endswith(".json"):
            kind = "flip"
        change: Any = None
        if kind == "flip":
            many = rng.choice((1, 1, 3))
            change = [[rng.randrange(len(data)), 1 << rng.randrange(8)] for _ in range(many)]
        elif kind == "cut":
            change = rng.randrange(len(data))
        elif kind == "grow":
            change = rng.choice(("\0", "\n", "}", "x" * 100))
        elif kind == "value":
            change = json.dumps(mutation.value(rng, json.loads(data)))
        return json.dumps([name, kind, change]).encode()

    def feed(self, case: bytes) -> Iterator[str]:
        name, kind, change = json.loads(case)
        file = self._saved / name
        before = self._whole[name]
        if kind == "remove":
            file.unlink()
        else:
            file.write_bytes(_damaged(before, kind, change))
        try:
            found = self._load(self._saved)
        except checkpoint.CheckpointError as error:
            if str(self._saved) not in str(error):
                raise Unexpected("a refusal that does not say of which checkpoint") from None
            outcome = "refused"
        else:
            outcome = "read"
            for inner, data in self._whole.items():
                if inner != checkpoint.MANIFEST and (self._saved / inner).read_bytes() != data:
                    raise Unexpected(f"a checkpoint is read though {inner} is another")
            if found.state["seed"] != 3:
                raise Unexpected("a checkpoint's state is read as another")
        finally:
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(before)
        yield outcome

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


def _write(folder: Path) -> None:
    for name, data in _FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)


def _damaged(data: bytes, kind: str, change: Any) -> bytes:
    if kind == "cut":
        return data[:change]
    if kind == "grow":
        return data + str(change).encode()
    if kind == "value":
        return str(change).encode()
    found = bytearray(data)
    for place, mask in change:
        found[place] ^= mask
    return bytes(found)
