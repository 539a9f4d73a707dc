"""Taking a training out of the database: JSON lines, Parquet, or a ZIP that can be read in again.

JSONL     an episode a line, as in a run's ``episodes.jsonl``, with ``run`` before it
Parquet   a turn a row; pictures as ``struct<bytes, path>``, which Hugging Face `datasets` knows as
          its Image feature (the schema's metadata say so)
ZIP       ``manifest.json`` and the files of the run's folder that records are made of, pictures
          included: all that `archive` needs to read it in, or to play it again
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from ui_gym.errors import UserError
from ui_gym_agents.episode import Episode
from ui_gym_agents.records import archive, queries
from ui_gym_agents.store import ScreenshotStore, to_json

ROW_GROUP = 256
"""Rows of Parquet that are in memory at once: pictures are large."""


class Pictures:
    """The pictures of a run's directory, wherever in it they lie."""

    def __init__(self, directory: Path) -> None:
        folders = [directory / "episodes", *sorted(directory.glob("evaluations/*"))]
        self._stores = [ScreenshotStore(folder / "screenshots") for folder in folders]

    def path(self, key: str) -> Path | None:
        """The file of a picture; None if it was not kept."""
        return next((p for p in (store.path(key) for store in self._stores) if p), None)


def lines(connection: Connection, run: Any) -> Iterator[dict[str, Any]]:
    """The episodes of a training (a row of `queries.find`) as plain values."""
    for episode in queries.episodes(connection, run.id):
        yield {"run": run.name, **to_json(episode)}


def write_jsonl(connection: Connection, run: Any, out: Path) -> int:
    """Write an episode a line; returns how many."""
    count = 0
    with _whole(out) as part, part.open("w", encoding="utf-8") as file:
        for line in lines(connection, run):
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            count += 1
    return count


def write_parquet(connection: Connection, run: Any, out: Path) -> int:
    """Write a turn a row; returns how many.

    Raises:
        UserError: pyarrow is not installed.
    """
    try:
        pyarrow = import_module("pyarrow")
        parquet = import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        raise UserError("Parquet needs pyarrow; to get it: pip install pyarrow") from None
    pictures = Pictures(Path(run.directory))
    schema = _schema(pyarrow)
    count = 0
    with _whole(out) as part, parquet.ParquetWriter(part, schema) as writer:
        waiting: list[dict[str, Any]] = []
        for episode in queries.episodes(connection, run.id):
            waiting += _turn_rows(run.name, episode, pictures)
            count += len(episode.turns)
            if len(waiting) >= ROW_GROUP:
                writer.write_table(pyarrow.Table.from_pylist(waiting, schema))
                waiting.clear()
        writer.write_table(pyarrow.Table.from_pylist(waiting, schema))
    return count


def write_zip(connection: Connection, run: Any, out: Path) -> int:
    """Write an archive of a training; returns how many episodes it holds.

    Raises:
        UserError: the run's folder is not on this machine.
    """
    manifest = {"run": run.name, "training": run.id, "config": run.config}
    with _whole(out) as part:
        return archive.write(Path(run.directory), manifest, part)


WRITERS: dict[str, Callable[[Connection, Any, Path], int]] = {
    ".jsonl": write_jsonl, ".parquet": write_parquet, ".zip": write_zip,
}  # fmt: skip
"""By a file's suffix."""


def _turn_rows(run: str, episode: Episode, pictures: Pictures) -> Iterator[dict[str, Any]]:
    for number, turn in enumerate(episode.turns):
        path = pictures.path(turn.screenshot_id) if turn.screenshot_id else None
        tokens = turn.tokens
        yield {
            "run": run,
            "purpose": episode.purpose.kind,
            "step": episode.purpose.step,
            "mode": episode.purpose.mode,
            "episode": episode.id,
            "task": episode.task,
            "seed": episode.seed,
            "split": episode.split,
            "goal": episode.goal,
            "turn": number,
            "image": path and {"bytes": path.read_bytes(), "path": path.name},
            "elements": turn.elements,
            "action_text": turn.action_text,
            "feedback": turn.feedback,
            "reward": turn.reward,
            "action_error": turn.action_error,
            "prompt_ids": list(tokens.prompt_ids) if tokens else None,
            "output_ids": list(tokens.output_ids) if tokens else None,
            "logprobs": list(tokens.logprobs) if tokens else None,
            "score": episode.score,
            "success": episode.success,
            "failure": episode.failure,
        }


def _schema(pyarrow: Any) -> Any:
    """The columns, and what Hugging Face `datasets` reads to know the pictures as such."""
    text, whole, real = pyarrow.string(), pyarrow.int64(), pyarrow.float64()
    ids, reals = pyarrow.list_(whole), pyarrow.list_(real)
    types = {
        "run": text, "purpose": text, "step": whole, "mode": text, "episode": text, "task": text,
        "seed": whole, "split": text, "goal": text, "turn": whole,
        "image": pyarrow.struct({"bytes": pyarrow.binary(), "path": text}),
        "elements": text, "action_text": text, "feedback": text, "reward": real,
        "action_error": text,
        "prompt_ids": ids, "output_ids": ids, "logprobs": reals, "score": real,
        "success": pyarrow.bool_(), "failure": text,
    }  # fmt: skip
    names = {text: "string", whole: "int64", real: "float64", pyarrow.bool_(): "bool"}
    features: dict[str, Any] = {}
    for name, kind in types.items():
        if kind in names:
            features[name] = {"dtype": names[kind], "_type": "Value"}
        elif name == "image":
            features[name] = {"_type": "Image"}
        else:
            value = {"dtype": names[kind.value_type], "_type": "Value"}
            features[name] = {"feature": value, "_type": "Sequence"}
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    return pyarrow.schema(list(types.items()), metadata=metadata)


@contextmanager
def _whole(out: Path) -> Iterator[Path]:
    """A file beside `out` that takes its name when it is complete.

    Raises:
        UserError: it cannot be written.
    """
    part = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        yield part
        os.replace(part, out)
    except OSError as error:
        raise UserError(f"{out} cannot be written: {error}") from error
    finally:
        part.unlink(missing_ok=True)
