"""Coverage: which files can be played, and what the others lack."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ui_gym.desktop.osworld import needs
from ui_gym.desktop.osworld.cache import FileCache
from ui_gym.desktop.osworld.coverage import STATES, Coverage, cover
from ui_gym.desktop.osworld.taskfile import find, parse

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
        "infeasible": "infeasible",
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
    assert domains["os"] == {"ready": 1, "infeasible": 1, "needs files": 1}
    assert domains["vlc"] == {"lacks": 2, "damaged": 1}
    assert found.lacking() == [("metric compare_dreams", 2), ("getter telepathy", 1)]


def test_programs_are_told_the_same(found: Coverage) -> None:
    told = json.loads(json.dumps(found.to_json()))
    counts = {key: told[key] for key in ("files", "loads", "ready", "infeasible", "needs_nothing")}
    assert counts == {"files": 6, "loads": 3, "ready": 1, "infeasible": 1, "needs_nothing": 2}
    assert told["lacking"] == {"metric compare_dreams": 2, "getter telepathy": 1}
    assert len(told["tasks"]) == 6


def test_a_file_of_somebody_elses_folder_is_damage(tmp_path: Path) -> None:
    check = {"func": "a", "result": {"type": "cloud_file", "path": "file://[x"}}
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"id": "a", "instruction": "Do it.", "evaluator": check}))
    (task,) = cover([path], FileCache(tmp_path / "cache")).tasks
    assert (task.state, "is no address of a file" in task.problem) == ("damaged", True)


# -- what a file needs beside what it names --


def step(kind: str, **parameters: Any) -> dict[str, Any]:
    return {"type": kind, "parameters": parameters}


def needing(name: str = "os/a", **fields: Any) -> Any:
    raw = {"id": "a", "instruction": "Do it.", "evaluator": evaluator()} | fields
    return parse(raw, Path(f"/{name}.json"))


@pytest.mark.parametrize(
    ("fields", "package"),
    [
        ({"related_apps": ["gimp"]}, "gimp"),
        ({"config": [step("open", path="/home/user/a.xlsx")]}, "libreoffice-calc"),
        ({"config": [step("launch", command=["google-chrome", "--x"])]}, "chromium"),
        ({"config": [step("launch", command="VLC_VERBOSE=-1 vlc --x", shell=True)]}, "vlc"),
        ({"config": [step("execute", command=["code", "x"])]}, "code (not in Debian)"),
        ({"ui_gym": {"apps": ["galculator"]}}, "galculator"),
    ],
)
def test_an_application_is_named_with_its_package(
    fields: dict[str, Any], package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    (app,) = needs.apps(needing(**fields))
    assert (str(app), app.installed) == (package, False)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    (app,) = needs.apps(needing(**fields))
    assert (str(app), app.installed) == (f"{package}, installed", True)


PAGE = {"func": "f", "result": {"type": "active_tab_info"}}


@pytest.mark.parametrize(
    "fields",
    [
        {"config": [step("chrome_open_tabs", urls_to_open=["https://pages.net/b"])]},
        {"evaluator": PAGE | {"expected": {"type": "rule", "rules": {"url": "https://pages.net"}}}},
        {"evaluator": evaluator(result="pdf_from_url")},
        {"config": [step("execute", command="cd /tmp; pip install x", shell=True)]},
        {"instruction": "Look at https://pages.net and tell."},
        {"proxy": True},
    ],
)
def test_the_live_web_is_told(fields: dict[str, Any]) -> None:
    assert needs.web(needing(**fields))


def test_a_page_of_the_machine_itself_is_not_the_web() -> None:
    rule = {"type": "rule", "rules": {"url": "http://localhost:8000/a"}}
    urls = ["http://127.0.0.1/a", "about:blank", "https://nobodys.example/"]
    tabs = [step("chrome_open_tabs", urls_to_open=urls)]
    assert needs.web(needing(config=tabs, evaluator=PAGE | {"expected": rule})) == ""


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo {CLIENT_PASSWORD} | sudo -S true", "sudo"),
        ("export A=1\ngsettings get org.gnome.shell favorite-apps", "org.gnome.shell"),
        ("pulseaudio --start\npactl list sinks", "pactl"),
        ("gsettings get org.gnome.desktop.session idle-delay", ""),
    ],
)
def test_what_osworlds_machines_alone_have_is_told(command: str, said: str) -> None:
    check = evaluator() | {"result": {"type": "vm_command_line", "command": command}}
    assert needs.machine(needing(evaluator=check)) == said


def test_a_file_of_a_list_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "examples" / "os" / "a.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"id": "a", "instruction": "Do it.", "evaluator": evaluator()}))
    meta = tmp_path / "test_all.json"
    meta.write_text('{"os": ["a", "b"]}')
    there, absent = cover(find(meta), FileCache(tmp_path / "cache")).tasks
    assert (there.state, absent.state) == ("ready", "damaged")
    assert "b.json cannot be read" in absent.problem


PUBLISHED = Path(os.environ.get("UI_GYM_OSWORLD_FILES", "/nowhere")) / "examples"
DOCS = Path(__file__).parents[3] / "docs" / "osworld.md"


@pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="UI_GYM_OSWORLD_FILES names no folder of OSWorld's files"
)
def test_the_documentation_counts_the_published_files_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With every application there but VS Code, which Debian has not, and no file fetched."""
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "code" else name)
    found = cover(find(PUBLISHED), FileCache(tmp_path))
    text = DOCS.read_text()
    rows = re.findall(r"^\| `([a-z ]+)` \| (\d+) \|", text, re.MULTILINE)
    counted = Counter(task.state for task in found.tasks)
    assert {name: int(count) for name, count in rows if name in STATES} == dict(counted)
    assert f"Of {len(found.tasks)} published files" in text
    nothing = [task for task in found.tasks if task.needs_nothing]
    said = f"{len(nothing)} need no more than their applications"
    assert said in text
    assert f"{sum(task.infeasible for task in nothing)} of these cannot be done" in text
