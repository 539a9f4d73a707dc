"""OSWorld's folders of results, which its own tools read.

::

    <result_dir>/<action_space>/<observation_type>/<model>/args.json
    .../<model>[/<trial_id>]/<domain>/<id>/traj.jsonl      a line a step
                                           step_<n>_<time>.png   the screen after it
                                           runtime.log
                                           result.txt      the score: one float

A task with a ``result.txt`` is done; the folder of one without is emptied before it is played
again. So ``result.txt`` is written last, and is there whole or not at all.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from PIL import Image as PILImage

from ui_gym.contract.device import Image
from ui_gym.errors import UserError
from ui_gym_agents import files

RESULT = "result.txt"
TRAJECTORY = "traj.jsonl"
LOG = "runtime.log"
ARGUMENTS = "args.json"

_STAMP = "%Y%m%d@%H%M%S%f"


def stamp() -> str:
    """The present time as OSWorld writes it in file names."""
    return datetime.now().strftime(_STAMP)


class Results:
    """The results of one model, in one trial."""

    def __init__(self, folder: Path, trial_id: str = "") -> None:
        self.folder = folder
        self.trial = folder / trial_id

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder for this process alone.

        Raises:
            UserError: another process plays there, or it cannot be written to.
        """
        try:
            self.trial.mkdir(parents=True, exist_ok=True)
            lock = files.lock(self.trial / ".lock")
        except BlockingIOError:
            raise UserError(
                f"another process evaluates in {self.trial}; wait for it to end, or choose "
                "another --result-dir or --trial-id"
            ) from None
        except OSError as error:
            raise UserError(f"the folder {self.trial} cannot be written to: {error}") from error
        try:
            yield
        finally:
            os.close(lock)

    def task(self, key: str) -> TaskFolder:
        """The folder of the task ``<domain>/<id>``."""
        return TaskFolder(self.trial / key)

    def arguments(self) -> dict[str, Any] | None:
        """What the results that are there were asked for with; None if that is not known."""
        try:
            found = json.loads((self.folder / ARGUMENTS).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def write_arguments(self, asked: Mapping[str, Any]) -> None:
        files.replace(self.folder / ARGUMENTS, json.dumps(asked, indent=4) + "\n")


class TaskFolder:
    """The result of one task."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def score(self) -> float | None:
        """The score of a task that is done; None if it is not."""
        try:
            score = float((self.path / RESULT).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return score if math.isfinite(score) else None

    def empty(self) -> None:
        """Make it, without anything in it."""
        if self.path.exists():
            shutil.rmtree(self.path)
        self.path.mkdir(parents=True)

    def add_step(self, number: int, time: str, said: Mapping[str, Any]) -> Path:
        """Keep the line of a step. Where the picture after it belongs, which may come later."""
        name = f"step_{number}_{time}.png"
        line = {"step_num": number, "action_timestamp": time, **said, "screenshot_file": name}
        self._append(TRAJECTORY, json.dumps(line, ensure_ascii=False))
        return self.path / name

    def add_error(self, why: str) -> None:
        """Say why there is no result."""
        self._append(TRAJECTORY, json.dumps({"Error": why}, ensure_ascii=False))
        self.log("ERROR", why)

    def log(self, level: str, text: str) -> None:
        moment = datetime.now().isoformat(sep=" ", timespec="milliseconds")
        self._append(LOG, f"[{moment} {level}] {text}")

    def finish(self, score: float) -> None:
        """Write the score, which says that the task is done."""
        self.log("INFO", f"Result: {score:.2f}")
        files.replace(self.path / RESULT, f"{score}\n")

    def _append(self, name: str, line: str) -> None:
        files.append(self.path / name, [line.replace("\n", "\\n")])


def save_picture(path: Path, screen: Image | bytes) -> None:
    """Write pixels, or an encoded PNG, as a PNG."""
    if isinstance(screen, bytes):
        path.write_bytes(screen)
    else:
        PILImage.fromarray(screen).save(path, "PNG", compress_level=1)
