"""Taking a training out of the database: JSON lines, Parquet, or a ZIP that can be read in again.

JSONL     an episode a line, as in a run's ``episodes.jsonl``, with ``run`` before it
Parquet   a turn a row; pictures as ``struct<bytes, path>``, which Hugging Face `datasets` knows as
          its Image feature (the schema's metadata say so)
ZIP       ``manifest.json`` and the files of the run's folder that records are made of, pictures
          included: all that `archive` needs to read it in, or to play it again
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from ui_gym.errors import UserError
from ui_gym_agents.records import archive, queries
from ui_gym_agents.store import RunPictures, suffix, to_json

ROW_GROUP = 256
"""Rows of Parquet that are in memory at once: pictures are large."""


COLUMNS = {
    "run": "string", "purpose": "string", "step": "int64", "mode": "string", "episode": "string",
    "task": "string", "seed": "int64", "split": "string", "goal": "string", "turn": "int64",
    "image": "image", "elements": "string", "action_text": "string", "feedback": "string",
    "reward": "float64", "action_error": "string", "prompt_ids": "list int64",
    "output_ids": "list int64", "logprobs": "list float64", "score": "float64", "success": "bool",
    "failure": "string",
}  # fmt: skip
"""The columns of Parquet, and what each holds."""


def write_jsonl(connection: Connection, run: Any, out: Path) -> int:
    """Write the episodes of a training (a row of `queries.find`), a line each; returns how many."""
    count = 0
    with out.open("w", encoding="utf-8") as file:
        for episode in queries.episodes(connection, run.id):
            line = {"run": run.name, **to_json(episode)}
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
    schema = _schema(pyarrow)
    count = 0
    rows = turn_rows(connection, run)
    with parquet.ParquetWriter(out, schema) as writer:
        while part := list(islice(rows, ROW_GROUP)):
            writer.write_table(pyarrow.Table.from_pylist(part, schema))
            count += len(part)
    return count


def write_zip(connection: Connection, run: Any, out: Path) -> int:
    """Write an archive of a training; returns how many episodes it holds.

    Raises:
        UserError: the run's folder is not on this machine.
    """
    manifest = {"run": run.name, "training": run.id, "config": run.config}
    return archive.write(Path(run.directory), manifest, out)


WRITERS: dict[str, Callable[[Connection, Any, Path], int]] = {
    ".jsonl": write_jsonl, ".parquet": write_parquet, ".zip": write_zip,
}  # fmt: skip
"""By a file's suffix."""


def turn_rows(connection: Connection, run: Any) -> Iterator[dict[str, Any]]:
    """The turns of a training, each with its values by `COLUMNS`."""
    pictures = RunPictures(Path(run.directory))
    for episode in queries.episodes(connection, run.id):
        of_episode = {
            "run": run.name,
            "purpose": episode.purpose.kind,
            "step": episode.purpose.step,
            "mode": episode.purpose.mode,
            "episode": episode.id,
            **_fields(episode, "task", "seed", "split", "goal", "score", "success", "failure"),
        }
        for number, turn in enumerate(episode.turns):
            key = turn.screenshot_id
            data = pictures.encoded(key) if key else None
            yield {
                **of_episode,
                "turn": number,
                "image": data and {"bytes": data, "path": f"{key}{suffix(data)}"},
                **_fields(turn, "elements", "action_text", "feedback", "reward", "action_error"),
                **_fields(turn.tokens, "prompt_ids", "output_ids", "logprobs"),
            }


def _fields(owner: object, *names: str) -> dict[str, Any]:
    return {name: getattr(owner, name, None) for name in names}


def _schema(pyarrow: Any) -> Any:
    """The columns, and what Hugging Face `datasets` reads to know the pictures as such."""
    types: dict[str, Any] = {}
    features: dict[str, Any] = {}
    for name, kind in COLUMNS.items():
        if kind == "image":
            parts = {"bytes": pyarrow.binary(), "path": pyarrow.string()}
            types[name], features[name] = pyarrow.struct(parts), {"_type": "Image"}
            continue
        plain = kind.removeprefix("list ")
        types[name] = pyarrow.type_for_alias(plain)
        features[name] = {"dtype": plain, "_type": "Value"}
        if plain != kind:
            types[name] = pyarrow.list_(types[name])
            features[name] = {"feature": features[name], "_type": "Sequence"}
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    return pyarrow.schema(list(types.items()), metadata=metadata)
