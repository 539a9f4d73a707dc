"""Coverage: which files can be played, and what the others lack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ui_gym.desktop.osworld.cache import FileCache
from ui_gym.desktop.osworld.coverage import Coverage, cover
from ui_gym.desktop.osworld.taskfile import find

RULE = {"type": "rule", "rules": {"expected": "a"}}


def evaluator(func: str = "exact_match", result: str = "vm_command_line") -> dict[str, Any]:
    return {"func": func, "result": {"type": result, "command": ["true"]}, "expected": RULE}


def download(*urls: str) -> list[dict[str, Any]]:
    files = [{"url": url, "path": "/home/user/a"} for url in urls]
    return [{"type": "download", "parameters": {"files": files}}]


@pytest.fixture
def found(tmp_path: Path) -> Coverage:
    """What is said of six files in two domains."""
    tasks: dict[str, Any] = {
        "os/ready": {"evaluator": evaluator(), "config": download("file:seed")},
        "os/infeasible": {"evaluator": {"func": "infeasible"}},
        "os/fetch": {
            "evaluator": evaluator(),
            "config": download("https://a.example/1", "https://a.example/2"),
        },
        "vlc/lacks": {"evaluator": evaluator("compare_dreams"), "config": download("https://b/1")},
        "vlc/more": {"evaluator": evaluator("compare_dreams", "telepathy")},
        "vlc/damaged": {"evaluator": {"func": "exact_match"}},
    }
    for name, task in tasks.items():
        path = tmp_path / "examples" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"id": path.stem, "instruction": "Do it."} | task))
    (tmp_path / "examples" / "os" / "seed").write_text("x")
    cache = FileCache(tmp_path / "cache")
    (tmp_path / "part").write_text("x")
    cache.add("https://a.example/1", tmp_path / "part")
    return cover(find(tmp_path / "examples"), cache)


def test_each_file_is_in_one_state(found: Coverage) -> None:
    assert {task.id: task.state for task in found.tasks} == {
        "ready": "ready",
        "infeasible": "ready",
        "fetch": "needs files",
        "lacks": "lacks",
        "more": "lacks",
        "damaged": "damaged",
    }


def test_what_is_missing_is_named(found: Coverage) -> None:
    by_id = {task.id: task for task in found.tasks}
    assert by_id["fetch"].missing == ("https://a.example/2",)
    assert by_id["fetch"].files == 2
    assert by_id["more"].lacks == ("getter telepathy", "metric compare_dreams")
    assert "evaluator.result: is missing" in by_id["damaged"].problem


def test_domains_and_the_most_wanted_are_counted(found: Coverage) -> None:
    domains = found.domains()
    assert domains["os"] == {"ready": 2, "needs files": 1}
    assert domains["vlc"] == {"lacks": 2, "damaged": 1}
    assert found.lacking() == [("metric compare_dreams", 2), ("getter telepathy", 1)]


def test_programs_are_told_the_same(found: Coverage) -> None:
    told = json.loads(json.dumps(found.to_json()))
    counts = {key: told[key] for key in ("files", "loads", "ready", "infeasible")}
    assert counts == {"files": 6, "loads": 3, "ready": 2, "infeasible": 1}
    assert told["lacking"] == {"metric compare_dreams": 2, "getter telepathy": 1}
    assert len(told["tasks"]) == 6


def test_a_file_of_somebody_elses_folder_is_damage(tmp_path: Path) -> None:
    check = {"func": "a", "result": {"type": "cloud_file", "path": "file://[x"}}
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"id": "a", "instruction": "Do it.", "evaluator": check}))
    (task,) = cover([path], FileCache(tmp_path / "cache")).tasks
    assert (task.state, "is no address of a file" in task.problem) == ("damaged", True)
