"""What long runs need, on runs of the toy: commands at the end and at alerts, room on disk."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from waiting import eventually

from ui_gym_agents.training import disk
from ui_gym_agents.training.commands import Commands

Train = Callable[..., tuple[int, str, str]]

TOY = ("--plugin", "toy", "--run.directory")
SHORT = ("--run.steps", "2", "--evaluation.episodes", "0", "--run.eval_every", "0")

SAVE = "import sys; open('told', 'a').write('|'.join(sys.argv[1:]) + '\\n')"


@pytest.fixture
def save(work: Path) -> str:
    """A command that appends its arguments to the file `told`."""
    (work / "save.py").write_text(SAVE)
    return f"{sys.executable} save.py"


def events(run: Path, name: str) -> list[dict[str, Any]]:
    lines = (json.loads(line) for line in (run / "events.jsonl").read_text().splitlines())
    return [line for line in lines if line["event"] == name]


# -- commands --


def test_a_command_is_told_how_a_run_ended(train: Train, work: Path, save: str) -> None:
    command = f"{save} {{status}} '{{name}} {{directory}}' $HOME"
    assert train(*TOY, "a run", *SHORT, "--run.on_end", command)[0] == 0
    told = (work / "told").read_text()
    assert told == f"finished|a run {work / 'a run'}|$HOME\n", "no shell has seen it"


def test_a_run_that_fails_alerts_and_ends_with_its_commands(
    train: Train, work: Path, save: str
) -> None:
    ended = ("--run.on_end", f"{save} {{status}}")
    alerted = ("--run.on_alert", f"{save} {{rule}} {{step}} {{message}}")
    nan = ("--trainer.event", "nan", "--trainer.at", "2")
    assert train(*TOY, "run", *SHORT, *nan, *ended, *alerted)[0] == 1
    assert (work / "told").read_text() == "nan|2|step 2: loss is nan\nfailed\n"
    (alert,) = events(work / "run", "alert")
    assert (alert["step"], alert["rule"], alert["message"]) == (2, "nan", "step 2: loss is nan")
    assert "alert: step 2: loss is nan" in (work / "run" / "log.txt").read_text()


@pytest.mark.parametrize(
    ("command", "said"),
    [("nothing-of-this-name", "run.on_end did not start"),
     ("sh -c 'echo too bad; exit 3'", "run.on_end failed, with exit status 3: too bad")],
)  # fmt: skip
def test_a_command_that_fails_changes_nothing(
    train: Train, work: Path, command: str, said: str
) -> None:
    assert train(*TOY, "run", *SHORT, "--run.on_end", command)[0] == 0
    assert said in (work / "run" / "log.txt").read_text()


def test_a_command_that_does_not_end_is_ended_with_its_children(work: Path, tmp_path: Path) -> None:
    notes: list[str] = []
    command = "sh -c 'sleep 600 & echo $! > child; wait'"
    Commands(tmp_path, notes.append, on_end=command, seconds=0.5).ended("finished", 1)
    assert notes == ["warning: run.on_end was ended: it took longer than 0.5 s"]
    child = int((work / "child").read_text())

    def gone() -> bool:
        try:
            status = Path(f"/proc/{child}/stat").read_text()
        except OSError:
            return True
        return status.rpartition(")")[2].split()[0] == "Z"

    assert eventually(gone)


@pytest.mark.parametrize(
    ("setting", "command", "said"),
    [("on_end", "mail {message}", "there is no field {message}; a command may have {status}"),
     ("on_alert", "mail 'me", "No closing quotation"), ("on_end", "", "at least one word")],
)  # fmt: skip
def test_a_command_that_cannot_be_meant_so_is_refused(
    train: Train, work: Path, setting: str, command: str, said: str
) -> None:
    status, _, errors = train(*TOY, "run", f"--run.{setting}", command)
    assert (status, f"--run.{setting}" in errors, said in errors) == (2, True, True)
    assert not (work / "run").exists()


def test_what_a_value_holds_is_no_field_and_no_word(tmp_path: Path) -> None:
    folder = tmp_path / "{status} $(id)"
    folder.mkdir()
    command = f"""{sys.executable} -c '{SAVE.replace("'", '"')}' {{name}}"""
    notes: list[str] = []
    os.chdir(tmp_path)
    Commands(folder, notes.append, on_end=command).ended("finished", 1)
    assert notes == []
    assert (tmp_path / "told").read_text() == "{status} $(id)\n"


# -- room --


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A disk with so much left."""

    def left(size: int, files: int = 1000) -> None:
        told = SimpleNamespace(f_bavail=size, f_frsize=1, f_favail=files, f_files=10_000)
        monkeypatch.setattr("ui_gym_agents.training.disk.os.statvfs", lambda _: told)

    return left


def test_a_run_begins_only_where_a_checkpoint_has_room(
    train: Train, work: Path, room: Callable[..., None]
) -> None:
    room(1_000_000)
    status, _, errors = train(*TOY, "run", *SHORT)
    assert status == 1
    assert "1.0 MB are free, and a checkpoint takes 16.8 MB" in errors
    assert "ui-gym-records gc" in errors
    room(10**9, files=0)
    status, _, errors = train(*TOY, "other", *SHORT)
    assert (status, "no room for another file" in errors) == (1, True)
    room(10**9)
    assert train(*TOY, "run", *SHORT)[0] == 0, "the refused run left nothing in the way"


def test_a_run_goes_on_only_where_its_own_checkpoint_has_room(
    train: Train, work: Path, room: Callable[..., None]
) -> None:
    assert train(*TOY, "run", *SHORT)[0] == 0
    large = work / "run" / "checkpoints" / "step_000002" / "extra"
    with large.open("wb") as file:
        file.truncate(50_000_000)
    room(40_000_000)
    status, _, errors = train("--resume", "run", "--run.steps", "3")
    assert (status, "a checkpoint takes 50.0 MB" in errors) == (1, True)


def test_room_that_runs_out_is_told_once_until_there_is_more(
    tmp_path: Path, room: Callable[..., None]
) -> None:
    told: list[tuple[int, str, str]] = []
    saved = tmp_path / "checkpoints" / "step_000001"
    saved.mkdir(parents=True)
    (saved / "weights").write_bytes(bytes(1000))
    watch = disk.DiskWatch(tmp_path, lambda *alert: told.append(alert))
    lines = tmp_path / "episodes" / "episodes.jsonl"
    lines.parent.mkdir()
    for step, size in enumerate((500, 600), start=1):  # a step of 500 bytes, one of 100
        lines.write_bytes(bytes(size))
        watch.step_finished(step, {}, 0.0)
    room(3500)
    watch.saving(1)
    assert told == []
    room(3499)
    watch.saving(2)
    watch.saving(3)
    ((step, rule, message),) = told
    assert (step, rule) == (2, "disk")
    assert "less than 3 checkpoints of 0.0 MB and a step's episodes, 0.0 MB" in message
    room(10_000)
    watch.saving(4)
    room(10)
    watch.saving(5)
    assert [step for step, _, _ in told] == [2, 5]
