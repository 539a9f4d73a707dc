"""`ui-gym-eval` as a person uses it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import paint  # noqa: F401 - registers its tasks
import pytest
from room import room_for
from waiting import eventually

from ui_gym_agents import pack
from ui_gym_agents.evaluation import cli as eval_cli

COMPACT = ("--task", "UI/DataEntry-v0", "--set", "compact=true", "--envs", "2")


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["ui-gym-eval", *arguments])
    return eval_cli.main()


def test_an_oracle_is_measured_and_filmed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asked = (*COMPACT, "--agent", "oracle", "--episodes", "3", "--out", str(tmp_path), "--json")
    assert run(monkeypatch, *asked) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["success"], report["n"]) == (1.0, 3)
    assert report["blind_rate"] == pytest.approx(1 / 6)
    assert (tmp_path / "film.png").stat().st_size > 10_000
    assert json.loads((tmp_path / "report.json").read_text()) == report


def test_the_shipped_clerk_listens_to_its_goal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, *COMPACT, "--episodes", "16", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["goal_sensitivity"] > 0.5
    assert report["valid_actions"] > 0.95


def test_a_category_of_a_suite_is_measured_in_one_go(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Two tasks of the browser suite, by the filters, and the reports of both."""
    asked = ("--suite", "browser", "--category", "settings", "--agent", "oracle", "--envs", "2")
    assert run(monkeypatch, *asked, "--episodes", "1", "--out", str(tmp_path)) == 0
    printed = capsys.readouterr().out
    report = json.loads((tmp_path / "report.json").read_text())
    assert list(report["by_category"]) == ["settings"]
    assert report["success"] == 1.0
    assert len(report["by_task"]) >= 2
    for task in report["by_task"]:
        assert task in printed
        assert task in (tmp_path / "report.html").read_text()


def test_an_id_of_gymnasium_s_is_no_class(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "own_eval_envs.py").write_text(
        "import gymnasium, paint\n"
        "gymnasium.register('OwnEvalEnv-v0', entry_point='ui_gym.playing.env:UIEnv', "
        "kwargs={'task': 'PaintClick'})\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    run(
        monkeypatch, "--task", "own_eval_envs:OwnEvalEnv-v0", "--agent", "random", "--episodes", "1"
    )
    assert "custom task" not in capsys.readouterr().err
    assert "own_eval_envs" in sys.modules


@pytest.mark.parametrize("asked", ["own_eval_tasks:Mine", "own_eval_tasks:UI/OwnEvalTask-v0"])
def test_a_task_of_ones_own_is_measured(
    asked: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """By its class, found in the current folder, and by Gymnasium's way to name it."""
    (tmp_path / "own_eval_tasks.py").write_text(
        "import paint\nfrom ui_gym import register\n"
        "@register('OwnEvalTask', suite='paint', category='click', max_steps=4)\n"
        "class Mine(paint.PaintClick): 'Mine.'\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path, *([str(tmp_path)] if "/" in asked else [])])
    assert run(monkeypatch, "--task", asked, "--agent", "oracle", "--episodes", "2", "--json") == 0
    assert json.loads(capsys.readouterr().out)["by_task"].keys() == {"UI/OwnEvalTask-v0"}


def test_an_evaluation_that_was_killed_is_continued(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def asked(folder: str) -> tuple[str, ...]:
        agent = ("--agent", "random", "--episodes", "6", "--json")
        return *COMPACT, *agent, "--out", str(tmp_path / folder)

    episodes = tmp_path / "killed" / "episodes.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-m", eval_cli.__name__, *asked("killed")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert eventually(lambda: episodes.exists() and episodes.read_text().count("\n") >= 2, 60)
    finally:
        process.kill()
        process.wait()
    before = episodes.read_text().count("\n")

    def report(folder: str) -> dict[str, Any]:
        assert run(monkeypatch, *asked(folder)) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return {key: value for key, value in found.items() if key != "times"}

    assert report("killed") == report("whole")
    assert 2 <= before < 6
    assert episodes.read_text().count("\n") == 6


@pytest.mark.parametrize("torn", ["", '{"id": "e99', "\x00" * 4096])
def test_an_evaluation_on_a_full_disk_goes_on_once_there_is_room(
    torn: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asked = ("--task", "PaintClick", "--agent", "random", "--episodes", "12", "--envs", "2")
    asked += ("--out", str(tmp_path))
    with room_for(60_000):
        assert run(monkeypatch, *asked) == 1
    path = tmp_path / "episodes.jsonl"
    told = " ".join(capsys.readouterr().err.split())
    full = tmp_path / "screenshots" / pack.NAME
    assert f"error: there is no room for {full} (File too large); make room and continue" in told
    kept = path.read_text().splitlines()
    assert 0 < len(kept) < 12
    with path.open("a") as file:
        file.write(torn)  # and then the power went
    assert run(monkeypatch, *asked) == 0
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[: len(kept)] == [json.loads(line) for line in kept]
    assert len({line["id"] for line in lines}) == len(lines) == 12
    with path.open("a") as file:
        file.write(torn)
    assert run(monkeypatch, *asked) == 0  # nothing is left to be played, and the file is mended
    assert [json.loads(line) for line in path.read_text().splitlines()] == lines


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--agent", "orcale"), "Did you mean 'oracle'"),
        (("--task", "UI/DataEntri-v0", "--agent", "random"), "UI/DataEntry-v0"),
        (("--model", "tiny-clark"), "Did you mean 'tiny-clerk'"),
        (("--run", "nowhere"), "holds no run"),
        (("--set", "compact"), "NAME=VALUE"),
        (("--episodes", "0"), "--episodes"),
        (("--attempts", "4"), "add --sample"),
        (("--suite", "browzer"), "Did you mean 'browser'"),
        (("--category", "mial"), "Did you mean 'mail'"),
        (("--difficulty", "harsh"), "--difficulty"),
        (("--split", "test"), "'heldout', 'train'"),
        (("--file", "no.jsonl"), "cannot be read"),
    ],
)
def test_wrong_usage_is_answered_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    told: str,
) -> None:
    assert run(monkeypatch, *arguments) == 2
    assert told in capsys.readouterr().err


def test_ctrl_c_is_told_and_ends_with_its_own_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*given: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ui_gym_agents.evaluation.play.play", interrupted)
    assert run(monkeypatch, "--agent", "random") == 130
    assert "error: interrupted" in capsys.readouterr().err
