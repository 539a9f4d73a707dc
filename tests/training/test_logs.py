"""The log of a run: levels, JSON lines, and what Python's own logging and warnings say."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ui_gym_agents.training.logs import configure, logging_into
from ui_gym_agents.training.run_directory import RunDirectory
from ui_gym_agents.training.settings import RunSettings

Train = Callable[..., tuple[int, str, str]]

TOY = ("--plugin", "toy", "--run.directory", "run", "--run.steps", "1", "--evaluation.episodes")


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[RunDirectory]:
    found = RunDirectory(tmp_path / "run")
    yield found
    found.close()


def lines(directory: RunDirectory) -> list[str]:
    path = directory.path / "log.txt"
    return path.read_text().splitlines() if path.exists() else []


def say_all(directory: RunDirectory) -> None:
    with logging_into(directory):
        for name in ("ui_gym.playing", "ui_gym_grpo.trainer", "somebody.else"):
            for level in (logging.DEBUG, logging.INFO, logging.WARNING):
                logging.getLogger(name).log(level, "%s of %s", logging.getLevelName(level), name)
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("an old thing is used", DeprecationWarning, stacklevel=1)
    directory.log("a note")
    directory.log("warning: a worse note")


@pytest.mark.parametrize(
    ("level", "of_ours", "notes"), [("debug", 3, 2), ("info", 2, 2), ("warning", 1, 1)]
)
def test_what_is_logged_goes_by_its_level(
    directory: RunDirectory, level: str, of_ours: int, notes: int
) -> None:
    configure(directory, RunSettings(log_level=level))
    say_all(directory)
    found = lines(directory)
    for name in ("ui_gym.playing", "ui_gym_grpo.trainer"):
        assert sum(f" {name}: " in line for line in found) == of_ours
    assert sum(" somebody.else: " in line for line in found) == 1, "only its warning"
    assert any("an old thing is used" in line for line in found)
    assert sum(line.endswith("note") for line in found) == notes


def test_lines_of_json_tell_time_and_level(directory: RunDirectory) -> None:
    configure(directory, RunSettings(log_format="json"))
    say_all(directory)
    directory.log("one\ntwo \ud83d", logging.ERROR)
    found = [json.loads(line) for line in lines(directory)]
    assert {line["level"] for line in found} == {"info", "warning", "error"}
    assert all(line["at"].endswith("+00:00") for line in found)
    assert found[-2:] == [
        {"at": found[-2]["at"], "level": "warning", "message": "warning: a worse note"},
        {"at": found[-1]["at"], "level": "error", "message": "one\ntwo \ud83d"},
    ]


def test_afterwards_logging_is_as_it_was(directory: RunDirectory) -> None:
    root = logging.getLogger()
    before = (root.level, list(root.handlers), warnings.showwarning)
    with logging_into(directory):
        assert root.handlers != before[1]
    assert (root.level, list(root.handlers), warnings.showwarning) == before


def test_a_run_logs_as_it_is_told(train: Train, work: Path) -> None:
    settings = ("--run.log_format", "json", "--run.log_level", "warning")
    assert train(*TOY, "0", "--run.on_end", "no-such-command", *settings)[0] == 0
    (line,) = (work / "run" / "log.txt").read_text().splitlines()
    told = json.loads(line)
    assert told["level"] == "warning"
    assert "run.on_end did not start" in told["message"]
    assert train("--resume", "run", "--run.steps", "2", "--run.log_format", "text")[0] == 0, (
        "how it is logged may change when a run goes on"
    )
