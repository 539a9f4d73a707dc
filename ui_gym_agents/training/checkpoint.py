"""Checkpoints: complete or absent, and checked to the byte before they are used.

A checkpoint is a folder ``step_000012`` (twelve steps are done) that holds the trainer's files,
``state.json`` and ``manifest.json`` (size and SHA-256 of every other file). It is written beside
its place, flushed to the disk and renamed, so that a kill at any moment leaves the old ones whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ui_gym.errors import UserError
from ui_gym_agents import files

STATE = "state.json"
MANIFEST = "manifest.json"
_NAME = re.compile(r"step_(\d{6,})")


class CheckpointError(UserError):
    """A checkpoint is missing or damaged."""


@dataclass(frozen=True)
class Checkpoint:
    """A verified checkpoint: `step` steps are done; `state` is what the host gave to `save`."""

    path: Path
    step: int
    state: dict[str, Any]


def save(
    directory: Path,
    step: int,
    write: Callable[[Path], None],
    state: dict[str, Any],
    keep: int,
) -> Path:
    """Write a checkpoint of `step` finished steps, then delete all but the newest `keep`.

    `write` is the trainer's `save`. Should it raise, or the process be interrupted, nothing is
    left of the attempt.
    """
    final = directory / f"step_{step:06d}"
    partial = directory / f"{final.name}.tmp"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        write(partial)
        for reserved in (STATE, MANIFEST):
            if (partial / reserved).exists():
                raise CheckpointError(
                    f"the trainer's save wrote {reserved}, a name that the host keeps for itself"
                )
        whole = {"next_step": step + 1, "versions": _versions(), **state}
        (partial / STATE).write_text(json.dumps(whole, indent=1), encoding="utf-8")
        manifest = {str(f.relative_to(partial)): _facts(f) for f in _files(partial)}
        (partial / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        _flush(partial)
        if final.exists():  # The same step again, saved a second time.
            _discard(final)
        partial.rename(final)
        files.sync(directory)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    for old in all_of(directory)[:-keep]:
        _discard(old)
    return final


def all_of(directory: Path) -> list[Path]:
    """The complete checkpoints of a folder, oldest first."""
    found = [p for p in directory.glob("step_*") if _NAME.fullmatch(p.name) and p.is_dir()]
    return sorted(found, key=_step)


def latest(directory: Path) -> Path | None:
    """The newest complete checkpoint, unverified; None if there is none."""
    return (all_of(directory) or [None])[-1]  # type: ignore[list-item]


def load(path: Path) -> Checkpoint:
    """Verify a checkpoint.

    Raises:
        CheckpointError: a file is missing or damaged; the message names it.
    """
    manifest = _read_json(path, MANIFEST)
    if not isinstance(manifest, dict) or STATE not in manifest:
        raise CheckpointError(f"the checkpoint {path} is damaged: {MANIFEST} is not a manifest")
    for name, facts in manifest.items():
        if not isinstance(facts, dict) or not {"size", "sha256"} <= facts.keys():
            raise CheckpointError(
                f"the checkpoint {path} is damaged: {MANIFEST} does not say what {name} was"
            )
        file = path / name
        if not os.path.isfile(file):  # false for a name that no file can have, too
            raise CheckpointError(f"the checkpoint {path} is damaged: {name} is missing")
        found = _facts(file)
        if found["size"] != facts["size"]:
            raise CheckpointError(
                f"the checkpoint {path} is damaged: {name} has {found['size']} bytes "
                f"instead of {facts['size']}"
            )
        if found["sha256"] != facts["sha256"]:
            raise CheckpointError(
                f"the checkpoint {path} is damaged: the content of {name} has changed"
            )
    return Checkpoint(path, _step(path), _read_json(path, STATE))


def load_newest(
    directory: Path, fall_back: bool, warn: Callable[[str], None] = lambda _: None
) -> Checkpoint | None:
    """The newest intact checkpoint; None if there is no checkpoint at all.

    A damaged one is an error, unless `fall_back`: then `warn` is told, it is set aside as
    ``<name>.damaged``, and the one before it is taken.

    Raises:
        CheckpointError: the newest is damaged and `fall_back` is off, or all are damaged.
    """
    for leftover in [*directory.glob("step_*.tmp"), *directory.glob("step_*.old")]:
        shutil.rmtree(leftover, ignore_errors=True)
    candidates = all_of(directory)
    for path in reversed(candidates):
        try:
            return load(path)
        except CheckpointError as error:
            if not fall_back:
                raise CheckpointError(
                    f"{error}; to resume from the checkpoint before it, add --fall-back"
                ) from error
            warn(f"{error}; falling back to the one before it")
            aside = path.with_name(f"{path.name}.damaged")
            shutil.rmtree(aside, ignore_errors=True)
            path.rename(aside)
    if candidates:
        raise CheckpointError(f"all checkpoints in {directory} are damaged; start a new run")
    return None


def _step(path: Path) -> int:
    match = _NAME.fullmatch(path.name)
    if match is None:
        raise CheckpointError(f"{path} is no checkpoint; its name would be like step_000012")
    return int(match[1])


def _files(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.is_file())


def _facts(file: Path) -> dict[str, Any]:
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return {"sha256": digest, "size": file.stat().st_size}


def _read_json(path: Path, name: str) -> Any:
    try:
        return json.loads((path / name).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CheckpointError(f"the checkpoint {path} is damaged: {name} is missing") from error
    except (OSError, ValueError, RecursionError) as error:
        raise CheckpointError(
            f"the checkpoint {path} is damaged: {name} cannot be read ({error})"
        ) from error


def _flush(directory: Path) -> None:
    """Force every file and folder of a tree onto the disk: a rename alone does not."""
    for path in [*_files(directory), *(p for p in directory.rglob("*") if p.is_dir()), directory]:
        files.sync(path)


def _discard(path: Path) -> None:
    """Delete a checkpoint so that no moment shows half of it under its own name."""
    doomed = path.with_name(f"{path.name}.old")
    shutil.rmtree(doomed, ignore_errors=True)
    path.rename(doomed)
    shutil.rmtree(doomed, ignore_errors=True)


def _versions() -> dict[str, str]:
    """Versions of what bears on the numbers; only what is imported or installed."""
    found = {"python": platform.python_version()}
    for name in ("ui-gym", "numpy", "torch", "transformers", "peft"):
        if name != "ui-gym" and name not in sys.modules:
            continue
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
