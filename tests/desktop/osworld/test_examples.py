"""The task files that come with the package, on the X11 device with real applications."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fake import FakeDesktop

from ui_gym.contract.action import Finish
from ui_gym.desktop.osworld import taskfile
from ui_gym.desktop.osworld.evaluate import evaluate
from ui_gym.desktop.osworld.registry import SETUPS, EvaluationContext
from ui_gym.desktop.osworld.setups import run_steps
from ui_gym.desktop.osworld.task import OSWorld
from ui_gym.playing.env import UIEnv

FILES = taskfile.find(OSWorld.examples)
SOLUTIONS = Path(__file__).parent / "files" / "solutions"
SIZE = (1280, 720)

GETTERS = {
    "accessibility_tree", "active_tab_html_parse", "active_tab_info", "active_tab_url_parse",
    "active_url_from_accessTree", "audio_in_slide", "bookmarks", "cache_file", "cloud_file",
    "content_from_vm_file", "find_unpacked_extension_path", "gimp_config_file", "list_directory",
    "open_tabs_info", "rule", "rule_relativeTime", "vlc_config", "vlc_playing_info",
    "vm_command_line", "vm_file", "vm_screen_size", "vm_terminal_output", "vm_wallpaper",
    "vm_window_size",
}  # fmt: skip
"""Those that OSWorld's tasks want most; `vscode_config` alone needs a program of others."""

OF_FILES = {
    "bookmarks", "cache_file", "content_from_vm_file", "find_unpacked_extension_path",
    "gimp_config_file", "list_directory", "vlc_config", "vm_command_line", "vm_file",
}  # fmt: skip
"""Getters that look at files alone."""


def name_of(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


def solution(path: Path, home: str) -> list[str]:
    """What solves a task, a step a line."""
    text = (SOLUTIONS / path.parent.name / f"{path.stem}.txt").read_text()
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    text = text.replace("{tomorrow}", tomorrow.strftime("%Y-%m-%d")).replace("/home/user", home)
    return text.splitlines()


def test_every_kind_of_setup_step_and_getter_has_an_example() -> None:
    tasks = [taskfile.read(path) for path in FILES]
    assert {step.kind for task in tasks for step in task.steps} == set(SETUPS)
    checks = [check for task in tasks for check in task.checks]
    named = [config["type"] for c in checks for config in (c.result, c.expected) if config]
    assert set(named) >= GETTERS
    assert {task.conjunction for task in tasks} == {"and", "or"}
    assert any(task.infeasible for task in tasks)
    assert len({check.metric for check in checks}) >= 25


def test_the_meta_file_names_every_example_and_each_has_a_solution() -> None:
    folder = OSWorld.examples.parent / "examples"
    assert sorted(FILES) == taskfile.find(folder)
    assert [path.stem for path in FILES] == [taskfile.read(path).id for path in FILES]
    written = {path.relative_to(SOLUTIONS).with_suffix("") for path in SOLUTIONS.glob("*/*.txt")}
    assert written == {path.relative_to(folder).with_suffix("") for path in FILES}


def of_files(path: Path) -> bool:
    """Whether a task can be begun and judged without an application."""
    task = taskfile.read(path)
    kinds = {check.result["type"] for check in task.checks}
    starts = any(step.kind.startswith("chrome_") for step in task.steps)
    return not starts and not task.infeasible and kinds <= OF_FILES


@pytest.mark.parametrize("path", [path for path in FILES if of_files(path)], ids=name_of)
def test_who_does_nothing_gets_nothing(path: Path, desktop: FakeDesktop, tmp_path: Path) -> None:
    task = OSWorld(task_file=path)
    for program in (*task.file.apps, "xdg-open"):
        stand_in = Path(desktop.home, "bin", program)
        stand_in.parent.mkdir(exist_ok=True)
        stand_in.touch(0o755)
    (tmp_path / "episode").mkdir()
    Path(desktop.home, "Desktop").mkdir()
    Path(desktop.home, "Documents").mkdir()
    context = EvaluationContext(
        desktop, task.files, tmp_path / "episode", desktop.size, task.file.id
    )
    waited = ("sleep", "execute_with_verification")
    steps = [step for step in task.file.config if step.kind not in waited]
    run_steps(context, steps)
    unhurried = [step for step in task.file.postconfig if step.kind not in waited]
    judged = evaluate(context, replace(task.file, postconfig=tuple(unhurried)), [Finish()])
    assert judged.score == 0.0, judged.notes


def missing_programs(path: Path) -> list[str]:
    needed = ["Xvfb", "openbox", "dbus-daemon", *taskfile.read(path).apps]
    return [name for name in needed if shutil.which(name) is None]


@pytest.mark.nightly
@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_who_does_it_right_gets_it_all(path: Path) -> None:
    if missing := missing_programs(path):
        pytest.skip(f"not installed: {', '.join(missing)}")
    env = UIEnv("OSWorld", task_file=str(path), device="x11", viewport=SIZE, timeout=30)
    try:
        env.reset(seed=0)
        info = {}
        for line in [*solution(path, env.device.home), "finish()"]:
            observation, _, terminated, truncated, info = env.step(line)
            assert not observation["feedback"], observation["feedback"]
            if terminated or truncated:
                break
        assert info["failure"] is None
        assert info["score"] == 1.0, json.dumps(info["details"])
    finally:
        env.close()
