"""`ui-gym-eval --suite osworld` as a person uses it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.evaluation.osworld.world import HELLO, SIZE, TASK, Typist, write_tasks
from ui_gym_agents.evaluation import cli as eval_cli


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr("sys.argv", ["ui-gym-eval", *map(str, arguments)])
    return eval_cli.main()


def asked(folder: Path, *more: object) -> tuple[object, ...]:
    return (
        "--suite", "osworld", "--task", TASK, "--agent", f"{Typist.__module__}:Typist",
        "--model", "typist", "--screen-width", SIZE[0], "--screen_height", SIZE[1],
        "--result_dir", folder / "results", *more,
    )  # fmt: skip


def test_options_are_taken_as_osworlds_runner_spells_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    meta = write_tasks(tmp_path, os={"a": HELLO, "b": {"lacks": "metric x"}})
    given = ("--test_all_meta_path", meta, "--max_steps", 3, "--num_envs", 2, "--trial-id", "t1")
    assert run(monkeypatch, *asked(tmp_path, *given, "--json")) == 0
    printed = capsys.readouterr()
    told = json.loads(printed.out)
    assert (told["n"], told["success"], told["feasible"]["n"]) == (1, 1.0, 1)
    assert list(told["skipped"]) == ["os/b"]
    assert "skipped: os/b: " in printed.err
    model = tmp_path / "results" / "pyautogui" / "screenshot" / "typist"
    assert float((model / "t1" / "os" / "a" / "result.txt").read_text()) == 1.0
    assert json.loads((model / "args.json").read_text())["max_steps"] == 3


def test_the_table_has_a_line_for_each_domain(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    meta = write_tasks(tmp_path, os={"a": HELLO}, vlc={"no-b": {}, "c": {"want": "x"}})
    assert run(monkeypatch, *asked(tmp_path, "--test-all-meta-path", meta)) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    cells = {row[0]: [cell for cell in row if cell != "%"] for row in rows if row}
    assert cells["vlc"][1:4] == ["2", "50.0", "50.0"]
    assert cells["vlc"][-3:] == ["1", "0.0", "0.0"]
    assert cells["all"][1:3] == ["3", "66.7"]
    assert cells["all"][-3:] == ["2", "50.0", "50.0"]


def test_many_tasks_that_cannot_be_played_are_not_all_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lacking = {f"t{n:02}": {"lacks": "metric x"} for n in range(30)}
    meta = write_tasks(tmp_path, os={"a": HELLO, **lacking})
    assert run(monkeypatch, *asked(tmp_path, "--test-all-meta-path", meta, "--json")) == 0
    printed = capsys.readouterr()
    assert len(json.loads(printed.out)["skipped"]) == 30
    assert printed.err.count("skipped: os/") == 10
    assert "skipped: 20 more; --json lists them all" in printed.err


def test_a_mistake_is_said_in_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    meta = write_tasks(tmp_path, os={"a": HELLO})
    path = ("--test-all-meta-path", meta)
    assert run(monkeypatch, *asked(tmp_path, *path, "--observation-type", "smo")) == 2
    assert "no observation type 'smo'. Did you mean 'som'" in capsys.readouterr().err
    assert run(monkeypatch, *asked(tmp_path, *path, "--suite", "android")) == 2
    assert "not of 'android'" in capsys.readouterr().err
    assert run(monkeypatch, *asked(tmp_path)) == 2
    assert "--test-all-meta-path FILE" in capsys.readouterr().err


def test_no_result_at_all_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    meta = write_tasks(tmp_path, os={"crash": HELLO})
    assert run(monkeypatch, *asked(tmp_path, "--test-all-meta-path", meta)) == 1
    assert "failed: os/crash: device: the desk is gone" in capsys.readouterr().err
