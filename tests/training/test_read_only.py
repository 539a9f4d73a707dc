"""A run's folder that may only be read from some moment on, as the system makes it after faults."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import histories
import pytest
import room

pytest.importorskip("sqlalchemy")
pytest.importorskip("jinja2")

Train = Callable[..., tuple[int, str, str]]

PLAYER = ("--plugin", "toy-player", "--run.directory")
NO_PICTURES = ("--run.keep_pictures", "0")


@pytest.mark.parametrize(
    ("when", "at", "options", "named"),
    [
        ("step", 3, (), "/episodes/episodes.jsonl"),  # files that are open may be written
        ("step", 3, NO_PICTURES, "/episodes/episodes.jsonl"),
        ("played", 3, (), "/metrics.jsonl"),
        ("save", 3, (), " cannot be written"),
        ("baseline", 5, (), "/evaluations/step_000000-greedy/"),
        ("final", 5, NO_PICTURES, "/evaluations/step_000004-greedy/"),
    ],
)
def test_a_folder_that_may_only_be_read_ends_the_run_with_a_word_and_is_whole(
    when: str, at: int, options: tuple[str, ...], named: str, train: Train, work: Path
) -> None:
    """A disk with files that are open is not made read-only when it is asked, as a fault makes it:
    it is hidden under itself, mounted again."""
    with room.small_disk(work / "disk") as disk:
        again = f"mount --bind {disk} {disk} && mount -o remount,bind,ro {disk}"
        lock = shlex.join(["sh", "-c", again])
        status, _, errors = train(
            *PLAYER, str(disk / "run"), *options, "--trainer.event", f"run:{lock}",
            "--trainer.when", when, "--trainer.at", str(at),
        )  # fmt: skip
        assert status == 1, errors
        assert "Traceback" not in errors
        (told,) = [line for line in errors.splitlines() if line.startswith("error: ")]
        assert told.startswith(f"error: {disk}/run{named}")
        assert f"the file system of {disk} may only be read (Read-only file system)" in told
        assert f"make it writable (mount -o remount,rw {disk}) and continue" in told
        assert f"ui-gym-train --resume {disk}/run" in told
        histories.check_lines(disk / "run")

        status, _, errors = train("--resume", str(disk / "run"))
        assert status == 2
        assert "the run directory" in errors
        assert "Read-only file system" in errors
        room.unmount(disk)
        calm = ("--trainer.event", "", "--override-config")
        status, _, errors = train("--resume", str(disk / "run"), *calm)
        assert status == 0, errors
        assert train(*PLAYER, "whole", *options)[0] == 0
        assert histories.history(disk / "run") == histories.history(work / "whole")
