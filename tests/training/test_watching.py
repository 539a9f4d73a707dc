"""The monitor beside a run and an evaluation."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from waiting import eventually

from ui_gym.errors import UserError
from ui_gym_agents.evaluation import cli as evaluating
from ui_gym_agents.training import watching
from ui_gym_agents.training.run_directory import RunDirectory

Train = Callable[..., tuple[int, str, str]]

STAND_IN = """
import os, pathlib, sys, time
pathlib.Path("asking").write_text(" ".join([str(os.getpid()), *sys.argv[1:]]))
os.rename("asking", "asked")  # whoever waits for the file finds it whole
print("http://127.0.0.1:9/#/run/1", flush=True)
time.sleep(60)
"""
SHORT = ("--plugin", "toy", "--run.directory", "run", "--trainer.at", "1")
UNTIL_SHOWN = ("--trainer.event", "until:asked")


@pytest.fixture
def monitor(work: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module that stands in for the monitor; where it tells what it was asked."""
    (work / "stand_in.py").write_text(STAND_IN)
    monkeypatch.setattr(watching, "MODULE", "stand_in")
    return work / "asked"


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize(
    ("flags", "port"), [(("--monitor",), "0"), (("--monitor=8123",), "8123")]
)  # fmt: skip
def test_it_shows_the_run_says_where_and_ends_with_it(
    train: Train, monitor: Path, flags: tuple[str, ...], port: str
) -> None:
    status, output, errors = train(*SHORT, *UNTIL_SHOWN, *flags)
    assert status == 0, errors
    assert "monitor: http://127.0.0.1:9/#/run/1" in output
    pid, *asked = monitor.read_text().split()
    assert asked == ["run", "--port", port, "--with", str(os.getpid())]
    assert eventually(lambda: gone(int(pid)))


def test_a_run_goes_on_without_one_that_fails(
    train: Train, monitor: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "MODULE", "no_such_module")
    told = "until:run/warned"

    class Log(RunDirectory):
        """Leaves a mark once the warning is in the log."""

        def log(self, message: str) -> None:
            super().log(message)
            if "warning: the monitor" in message:
                (self.path / "warned").touch()

    monkeypatch.setattr("ui_gym_agents.training.start.RunDirectory", Log)
    status, output, _ = train(*SHORT, "--trainer.event", told, "--monitor")
    assert status == 0
    assert "warning: the monitor did not start" in output
    assert "No module named no_such_module" in output
    assert "6 steps in" in output


def test_without_the_flag_there_is_none(train: Train, monitor: Path) -> None:
    assert train(*SHORT)[0] == 0
    assert not monitor.exists()


def test_what_is_no_port_is_refused_before_anything_begins(train: Train, work: Path) -> None:
    status, _, errors = train(*SHORT, "--monitor=yes")
    assert status == 2
    assert "--monitor takes a port from 0" in errors
    assert not (work / "run").exists()


def test_an_evaluation_is_shown_where_its_episodes_go(
    monitor: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["ui-gym-eval", "--agent", "random", "--task", "UI/Toy-v0", "--monitor"]
    monkeypatch.setattr("sys.argv", words)
    assert evaluating.main() == 2
    assert "--monitor shows the folder that --out names: give one" in capsys.readouterr().err
    assert not monitor.exists()

    def play(*_: object) -> None:
        assert eventually(monitor.exists, 20)
        raise UserError("it was played")

    monkeypatch.setattr("ui_gym_agents.evaluation.play.play", play)
    monkeypatch.setattr("sys.argv", [*words, "--out", "played"])
    assert evaluating.main() == 2
    assert "it was played" in capsys.readouterr().err
    pid, *asked = monitor.read_text().split()
    assert asked[0] == "played"
    assert eventually(lambda: gone(int(pid)))
