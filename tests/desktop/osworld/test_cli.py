"""The command ``ui-gym osworld``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from fake import FakeDesktop
from serving import serving
from typer.testing import CliRunner

from ui_gym.desktop.osworld.task import OSWorld
from ui_gym.tools.cli import app, main


def run(*args: str | Path) -> Any:
    return CliRunner().invoke(app, ["osworld", *map(str, args)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two tasks, of which one lacks a metric."""
    for name, func in (("one", "exact_match"), ("two", "compare_dreams")):
        path = tmp_path / "examples" / "os" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        evaluator = {
            "func": func,
            "result": {"type": "vm_command_line", "command": "cat /home/user/made"},
            "expected": {"type": "rule", "rules": {"expected": "yes"}},
        }
        path.write_text(json.dumps({"id": name, "instruction": "Make it.", "evaluator": evaluator}))
    (tmp_path / "test_all.json").write_text('{"os": ["one", "two"]}')
    return tmp_path


@pytest.fixture
def desktop_pool(monkeypatch: pytest.MonkeyPatch, desktop: FakeDesktop) -> FakeDesktop:
    """Every env plays on one fake desktop."""

    class Pool:
        def acquire(self) -> FakeDesktop:
            return desktop

        def release(self, device: FakeDesktop, *, healthy: bool) -> None: ...

        def close(self) -> None: ...

    monkeypatch.setattr(OSWorld, "pool", lambda self, options: Pool())
    return desktop


# -- coverage --


def test_coverage_is_a_table_for_people(folder: Path, tmp_path: Path) -> None:
    result = run("coverage", folder / "test_all.json", "--cache", tmp_path)
    assert result.exit_code == 0
    assert result.output.splitlines()[0] == "os\t2\t1\t\t\t\t\t\t1\t"  # as in any pipe
    assert "1 of 2 load, 1 are ready" in result.output
    assert "1 lack metric compare_dreams" in result.output


def test_coverage_is_json_for_programs(folder: Path, tmp_path: Path) -> None:
    result = run("coverage", folder / "examples", "--cache", tmp_path, "--json")
    told = json.loads(result.stdout)
    assert [task["state"] for task in told["tasks"]] == ["ready", "lacks"]


def test_a_folder_without_tasks_is_a_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["osworld", "coverage", str(tmp_path)])
    assert left.value.code == 2
    assert "no task file lies in" in capsys.readouterr().err


# -- fetch --


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    served = tmp_path / "served"
    served.mkdir()
    (served / "seed.txt").write_text("a seed")

    with serving(partial(SimpleHTTPRequestHandler, directory=str(served))) as server:
        yield f"http://127.0.0.1:{server.server_port}"


def needing(folder: Path, *urls: str) -> Path:
    path = folder / "examples" / "os" / "one.json"
    task = json.loads(path.read_text())
    files = [{"url": url, "path": "/home/user/a"} for url in urls]
    task["config"] = [{"type": "download", "parameters": {"files": files}}]
    path.write_text(json.dumps(task))
    return path


def test_fetch_brings_what_a_task_needs(folder: Path, web: str, tmp_path: Path) -> None:
    path = needing(folder, f"{web}/seed.txt")
    cache = tmp_path / "cache"
    assert OSWorld(task_file=path, cache=cache).missing() == [f"{web}/seed.txt"]
    result = run("fetch", path, "--cache", cache)
    assert result.exit_code == 0
    assert "1 files fetched" in result.output
    assert OSWorld(task_file=path, cache=cache).missing() == []
    assert "0 files fetched" in run("fetch", path, "--cache", cache).output


def test_fetch_tells_what_cannot_be_had(folder: Path, web: str, tmp_path: Path) -> None:
    path = needing(folder, f"{web}/seed.txt", f"{web}/absent.txt")
    result = run("fetch", path, "--cache", tmp_path / "cache")
    assert result.exit_code == 1
    assert "1 files fetched" in result.output
    assert f"{web}/absent.txt: the server answered 404" in result.output


# -- run --


def test_run_plays_written_actions_and_judges(
    folder: Path, tmp_path: Path, desktop_pool: FakeDesktop
) -> None:
    task = folder / "examples" / "os" / "one.json"
    desktop_pool.write("made", b"yes")
    actions = tmp_path / "actions.txt"
    actions.write_text('press("a")\n\nclick(5, 5)\n')
    result = run("run", task, "--actions", actions, "--size", "192x108")
    assert result.exit_code == 0
    assert "score 1 after 3 steps: exact_match 1" in result.output
    assert [str(action) for action in desktop_pool.performed] == ['press("a")', "click(5, 5)"]


def test_run_without_actions_judges_the_start(folder: Path, desktop_pool: FakeDesktop) -> None:
    task = folder / "examples" / "os" / "one.json"
    result = run("run", task, "--size", "192x108", "--json")
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert (told["score"], told["success"], told["step"]) == (0.0, False, 1)
    assert told["details"]["infeasible"] is False


def test_run_speaks_other_dialects(folder: Path, tmp_path: Path, desktop_pool: FakeDesktop) -> None:
    task = folder / "examples" / "os" / "one.json"
    desktop_pool.write("made", b"yes")
    actions = tmp_path / "actions.txt"
    actions.write_text("pyautogui.press('a')\nDONE\npyautogui.press('b')\n")
    result = run("run", task, "--actions", actions, "--size", "192x108", "--dialect", "pyautogui")
    assert result.exit_code == 0
    assert [str(action) for action in desktop_pool.performed] == ['press("a")']


def test_run_refuses_what_it_cannot_play(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, extra, said in (
        ("two", [], "two.json needs what is not there: metric compare_dreams"),
        ("one", ["--size", "big"], "size is WIDTHxHEIGHT"),
        ("one", ["--actions", "nowhere.txt"], "nowhere.txt cannot be read"),
    ):
        task = folder / "examples" / "os" / f"{name}.json"
        with pytest.raises(SystemExit) as left:
            main(["osworld", "run", str(task), *extra])
        assert left.value.code == 2
        assert said in capsys.readouterr().err


def test_the_own_examples_are_ready_to_be_played(tmp_path: Path) -> None:
    result = run("coverage", OSWorld.examples, "--cache", tmp_path, "--json")
    told = json.loads(result.stdout)
    assert told["files"] >= 20
    assert {task["state"] for task in told["tasks"]} <= {"ready", "infeasible", "needs app"}
