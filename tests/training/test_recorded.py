"""Runs of `ui-gym-train` in the database."""

from __future__ import annotations

import signal
import socket
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ui_gym_agents.records import cli

pytest.importorskip("sqlalchemy")

Train = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def no_database_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE_URL", "POSTGRES_HOST"):
        monkeypatch.delenv(name, raising=False)


def select(run: Path, query: str) -> list[Any]:
    with sqlite3.connect(run / "records.sqlite") as connection:
        return connection.execute(query).fetchall()


STEPS = "SELECT number, status FROM step ORDER BY number"
SUMMARY = "SELECT status, step, steps, round(success, 6) FROM training"
MEASURED = "SELECT kind, step, mode, n, success FROM evaluation ORDER BY step, kind"


def test_a_run_is_recorded_unless_told_not_to(train: Train, work: Path) -> None:
    assert train("--plugin", "toy", "--run.directory", "run")[0] == 0
    ((status, step, steps, success),) = select(work / "run", SUMMARY)
    assert (status, step, steps) == ("finished", 6, 6)
    assert success > 0
    assert select(work / "run", STEPS) == [(n, "finished") for n in range(1, 7)]
    assert train("--plugin", "toy", "--run.directory", "off", "--run.records", "off")[0] == 0
    assert list((work / "off").glob("records*")) == []


def test_a_killed_and_resumed_run_has_each_step_once(
    train: Train, spawn: Callable[..., subprocess.Popen[str]], work: Path
) -> None:
    killed = ("--plugin", "toy", "--run.directory", "run", "--trainer.at", "4")
    process = spawn(*killed, "--trainer.event", "kill")
    assert process.wait(60) == -signal.SIGKILL
    resumed = ("--resume", "run", "--trainer.event", "", "--override-config")
    assert train(*resumed)[0] == 0
    assert select(work / "run", STEPS) == [(n, "finished") for n in range(1, 7)]
    assert select(work / "run", SUMMARY)[0][:2] == ("finished", 6)
    assert len(select(work / "run", MEASURED)) == len(set(select(work / "run", MEASURED))) == 3


def test_an_unreachable_database_is_told_before_anything_is_built(
    train: Train, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        url = f"postgresql://me:hush@127.0.0.1:{port}/ui"
        monkeypatch.setenv("UI_GYM_DATABASE_URL", url)
        status, output, errors = train("--plugin", "toy", "--run.directory", "run")
    assert status == 2
    assert f"me@127.0.0.1:{port}/ui (from UI_GYM_DATABASE_URL) cannot be used" in errors
    assert "--run.records off" in errors
    assert "hush" not in output + errors
    assert not (work / "run").exists()


def test_a_password_is_not_written_into_the_run(train: Train, work: Path) -> None:
    url = "postgresql://me:hush@db/ui"
    status, output, errors = train("--plugin", "toy", "--run.directory", "a", "--run.records", url)
    assert (status, "UI_GYM_DATABASE_URL" in errors) == (2, True)
    assert "hush" not in output + errors
    assert not (work / "a").exists()
    status, output, _ = train("--plugin", "toy", "--print-config", "--run.records", url)
    assert (status, "hush" in output) == (2, False)


def test_several_runs_share_a_file(train: Train, work: Path) -> None:
    for name in ("a", "b"):
        records = ("--run.records", "sqlite:///records.sqlite")
        assert train("--plugin", "toy", "--run.directory", name, *records)[0] == 0
    assert select(work, "SELECT name FROM training ORDER BY name") == [("a",), ("b",)]


def test_records_are_made_anew_from_the_run(train: Train, work: Path) -> None:
    assert train("--plugin", "toy", "--run.directory", "run")[0] == 0
    queries = (STEPS, SUMMARY, MEASURED, "SELECT mode, n, success FROM baseline")
    before = [select(work / "run", query) for query in queries]
    metrics = select(work / "run", "SELECT metrics FROM step ORDER BY number")
    (work / "run" / "records.sqlite").unlink()
    assert cli.main(["rebuild", "run"]) == 0
    assert [select(work / "run", query) for query in queries] == before
    assert select(work / "run", "SELECT metrics FROM step ORDER BY number") == metrics
    assert cli.main(["rebuild", "run"]) == 0
    assert [select(work / "run", query) for query in queries] == before
