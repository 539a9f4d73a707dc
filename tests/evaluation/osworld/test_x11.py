"""Evaluations of OSWorld's task files on a real desktop."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import eventually

from ui_gym_agents.evaluation import cli as eval_cli

PROGRAMS = ("Xvfb", "openbox", "mousepad", "dbus-daemon")

pytestmark = pytest.mark.skipif(
    any(shutil.which(name) is None for name in PROGRAMS), reason=f"needs {', '.join(PROGRAMS)}"
)

NOTE = {
    "instruction": "Write hello into the note.",
    "config": [
        {"type": "launch", "parameters": {"command": ["mousepad", "note.txt"]}},
        {"type": "activate_window", "parameters": {"window_name": "Mousepad"}},
    ],
    "evaluator": {
        "postconfig": [
            {
                "type": "execute",
                "parameters": {
                    "command": [
                        "python",
                        "-c",
                        "import pyautogui; import time; pyautogui.hotkey('ctrl', 's'); "
                        "time.sleep(0.5);",
                    ]
                },
            }
        ],
        "func": "exact_match",
        "result": {"type": "vm_command_line", "command": ["cat", "note.txt"]},
        "expected": {"type": "rule", "rules": {"expected": "hello"}},
    },
}
NEVER = {"instruction": "Plug in a second mouse.", "evaluator": {"func": "infeasible"}}


def write(folder: Path, notes: int) -> None:
    tasks = {f"note{n}": NOTE for n in range(notes)} | {"never": NEVER}
    (folder / "examples" / "os").mkdir(parents=True)
    for name, task in tasks.items():
        path = folder / "examples" / "os" / f"{name}.json"
        path.write_text(json.dumps({"id": name, **task}))
    (folder / "test_all.json").write_text(json.dumps({"os": list(tasks)}))
    script = ["Thought: I write. Action: type(content='hello')", "Action: finished()"]
    (folder / "script").write_text("\n".join(script))


def asked(folder: Path) -> list[str]:
    return [
        "--suite", "osworld", "--test-config-base-dir", str(folder), "--agent", "scripted",
        "--script", str(folder / "script"), "--action-space", "uitars15", "--screen-width", "640",
        "--screen-height", "480", "--result-dir", str(folder / "results"), "--json",
    ]  # fmt: skip


def results(folder: Path) -> dict[str, float]:
    found = (folder / "results").rglob("result.txt")
    return {path.parent.name: float(path.read_text()) for path in found}


def run(monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> int:
    monkeypatch.setattr("sys.argv", ["ui-gym-eval", *arguments])
    return eval_cli.main()


def test_a_task_file_is_prepared_played_and_judged(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write(tmp_path, notes=1)
    assert run(monkeypatch, asked(tmp_path)) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["score"], told["feasible"]["score"]) == (0.5, 1.0)
    assert results(tmp_path) == {"note0": 1.0, "never": 0.0}
    folder = next((tmp_path / "results").rglob("note0"))
    lines = [json.loads(line) for line in (folder / "traj.jsonl").read_text().splitlines()]
    assert [line["action"] for line in lines] == ["pyautogui.write('hello')", "DONE"]


@pytest.mark.nightly
def test_ctrl_c_leaves_whole_results_and_the_rest_is_played_later(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write(tmp_path, notes=3)
    process = subprocess.Popen(
        [sys.executable, "-m", eval_cli.__name__, *asked(tmp_path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        assert eventually(lambda: bool(list((tmp_path / "results").rglob("result.txt"))), 90)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert b"interrupted" in error
    before = results(tmp_path)
    assert 1 <= len(before) < 4
    assert not list((tmp_path / "results").rglob("*.part"))
    assert run(monkeypatch, asked(tmp_path)) == 0
    assert f"{len(before)} of 4 tasks are there already" in capsys.readouterr().err
    assert results(tmp_path) == {"note0": 1.0, "note1": 1.0, "note2": 1.0, "never": 0.0}
