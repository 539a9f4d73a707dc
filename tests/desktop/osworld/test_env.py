"""OSWorld's task files as envs."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from fake import FakeDesktop

from ui_gym.catalog import TaskSource, meta_tasks
from ui_gym.contract.device import Device
from ui_gym.desktop.osworld import spec
from ui_gym.desktop.osworld.task import OSWorld
from ui_gym.errors import DeviceStartError, UserError
from ui_gym.playing.env import UIEnv
from ui_gym.playing.vector import UIVectorEnv

assert spec  # its import makes the id known


class FakePool:
    """Lends fake desktops, each with a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made: list[FakeDesktop] = []
        self._lock = threading.Lock()

    def acquire(self) -> Device:
        with self._lock:
            home = self.folder / f"home{len(self.made)}"
            home.mkdir()
            self.made.append(FakeDesktop(home))
            return self.made[-1]

    def release(self, device: Device, *, healthy: bool) -> None:
        device.close()

    def close(self) -> None:
        pass


@pytest.fixture
def pool(tmp_path: Path) -> FakePool:
    return FakePool(tmp_path)


def write(folder: Path, name: str = "one", **changes: Any) -> Path:
    """A task: make a file in the home folder."""
    task: dict[str, Any] = {
        "id": name,
        "instruction": "Make /home/user/made and write yes.",
        "config": [
            {"type": "execute", "parameters": {"command": ["sh", "-c", "echo begun > log"]}},
            {"type": "execute", "parameters": {"command": ["false"]}},
        ],
        "evaluator": {
            "postconfig": [
                {
                    "type": "execute",
                    "parameters": {"command": "echo judged >> log", "shell": True},
                }
            ],
            "func": "exact_match",
            "result": {"type": "vm_command_line", "command": "cat /home/user/made"},
            "expected": {"type": "rule", "rules": {"expected": "yes"}},
        },
    } | changes
    path = folder / "examples" / "os" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(task))
    return path


@pytest.fixture
def make(pool: FakePool) -> Iterator[Any]:
    made: list[UIEnv] = []

    def env(path: Path, **arguments: Any) -> UIEnv:
        made.append(
            UIEnv("OSWorld", task_file=str(path), viewport=(192, 108), pool=pool, **arguments)
        )
        return made[-1]

    yield env
    for one in made:
        one.close()


def test_a_file_is_an_env_by_its_path(tmp_path: Path, pool: FakePool) -> None:
    env = gymnasium.make(
        "UI/OSWorld-v0", task_file=write(tmp_path), viewport=(192, 108), pool=pool,
        disable_env_checker=True,
    )  # fmt: skip
    observation, info = env.reset(seed=0, options={"ground_truth": True})
    assert observation["goal"] == f"Make {pool.made[0].home}/made and write yes."
    assert info["task"] == "UI/OSWorld-v0"
    assert info["max_steps"] == 15
    assert info["ground_truth"].params == {"id": "one", "domain": "os"}
    (note,) = info["ground_truth"].hidden["setup_notes"]
    assert "exit code 1" in note
    env.close()


def test_the_screen_is_osworlds_unless_asked_otherwise(tmp_path: Path) -> None:
    assert OSWorld(task_file=write(tmp_path)).viewport == (1920, 1080)


def test_it_is_judged_once_at_the_end(tmp_path: Path, pool: FakePool, make: Any) -> None:
    env = make(write(tmp_path), reward="progress")
    env.reset(seed=0)
    (desktop,) = pool.made
    desktop.write("made", b"yes")
    for _ in range(2):
        _, reward, terminated, truncated, info = env.step('press("a")')
        assert (reward, terminated, truncated, info["score"]) == (0.0, False, False, 0.0)
    assert desktop.read("log") == b"begun\n"
    _, reward, terminated, truncated, info = env.step('finish("success")')
    assert (reward, terminated, truncated, info["success"]) == (1.0, True, False, True)
    assert desktop.read("log") == b"begun\njudged\n"
    assert info["details"]["infeasible"] is False
    assert info["details"]["metrics"] == [["exact_match", 1.0]]


def test_it_is_judged_when_it_is_cut_too(tmp_path: Path, pool: FakePool, make: Any) -> None:
    env = make(write(tmp_path), max_steps=2)
    env.reset(seed=0)
    pool.made[0].write("made", b"yes")
    env.step('press("a")')
    _, reward, terminated, truncated, _ = env.step("(no action)")
    assert (reward, terminated, truncated) == (1.0, False, True)


def test_infeasible_tasks_are_told_apart(tmp_path: Path, make: Any) -> None:
    env = make(write(tmp_path, evaluator={"func": "infeasible"}))
    env.reset(seed=0)
    *_, info = env.step('finish("infeasible")')
    assert info["score"] == 1.0
    assert info["details"]["infeasible"] is True


def test_every_episode_begins_anew(tmp_path: Path, pool: FakePool, make: Any) -> None:
    env = make(write(tmp_path))
    for made in (b"yes", b"no"):
        env.reset(seed=0)
        pool.made[0].write("made", made)
        *_, info = env.step("finish()")
        assert info["success"] is (made == b"yes")
    assert len(pool.made[0].renewed) == 2


def test_the_file_says_how_long_and_with_what(tmp_path: Path, make: Any) -> None:
    env = make(write(tmp_path, ui_gym={"max_steps": 3, "apps": ["sh"]}))
    env.reset(seed=0)
    assert env.max_steps == 3
    env = make(write(tmp_path, ui_gym={"apps": ["sh", "frobnicate"]}))
    with pytest.raises(DeviceStartError, match="there is no program 'frobnicate' on this desktop"):
        env.reset(seed=0)


def test_applications_are_made_to_tell_what_they_show_where_a_judge_asks(
    tmp_path: Path, pool: FakePool, make: Any
) -> None:
    evaluator = {
        "func": "check_include_exclude",
        "result": {"type": "vm_terminal_output"},
        "expected": {"type": "rule", "rules": {"include": ["a"], "exclude": []}},
    }
    make(write(tmp_path, evaluator=evaluator)).reset(seed=0)
    assert pool.made[0].renewed[0].accessible


def test_slots_of_one_env_do_not_mix_their_episodes(tmp_path: Path, pool: FakePool) -> None:
    path = write(
        tmp_path,
        evaluator={
            "postconfig": [
                {"type": "execute", "parameters": {"command": ["cat", "made"], "stdout": "out"}}
            ],
            "func": "file_contains",
            "result": {"type": "cache_file", "path": "out"},
            "expected": {"type": "rule", "rules": {"expected": ["yes"]}},
        },
    )
    envs = UIVectorEnv(3, "OSWorld", task_file=str(path), viewport=(192, 108), pool=pool)
    try:
        observations, _ = envs.reset(seed=[0, 0, 0])
        for goal, text in zip(observations["goal"], ("yes", "no", "yes"), strict=True):
            Path(goal.split()[1]).write_text(text)
        _, rewards, *_ = envs.step(["finish()"] * 3)
        assert rewards.tolist() == [1.0, 0.0, 1.0]
    finally:
        envs.close()


def test_nothing_is_left_in_the_folder_of_temporary_files(
    tmp_path: Path, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    env = make(write(tmp_path))
    env.reset(seed=0)
    env.reset(seed=0)
    assert len(list(temporary.iterdir())) == 1
    env.step("finish()")
    assert list(temporary.iterdir()) == []


def test_files_that_were_not_fetched_are_told_before_anything_is_started(
    tmp_path: Path, pool: FakePool, make: Any
) -> None:
    files = [{"url": "https://a.example/seed", "path": "/home/user/seed"}]
    path = write(tmp_path, config=[{"type": "download", "parameters": {"files": files}}])
    cache = str(tmp_path / "cache")
    assert OSWorld(task_file=path, cache=cache).missing() == ["https://a.example/seed"]
    env = make(path, cache=cache)
    with pytest.raises(UserError, match=r"https://a.example/seed is not .*ui-gym osworld fetch"):
        env.reset(seed=0)
    assert all(desktop.renewed == [] for desktop in pool.made)


def test_what_is_not_known_here_is_refused_by_name(tmp_path: Path) -> None:
    path = write(tmp_path, config=[{"type": "login", "parameters": {}}])
    with pytest.raises(UserError, match=r"one\.json needs what is not there: setup login"):
        OSWorld(task_file=path)


def test_both_splits_have_the_one_instance(tmp_path: Path) -> None:
    task = OSWorld(task_file=write(tmp_path))
    assert task.draw(0, "train") == task.draw(1, "heldout") == task.draw(2)


def test_a_meta_file_names_tasks_for_the_catalogue(tmp_path: Path) -> None:
    paths = [write(tmp_path, name) for name in ("one", "two")]
    meta = tmp_path / "test_all.json"
    meta.write_text('{"os": ["one", "two"]}')
    assert meta_tasks(meta) == [(spec.OSWORLD, {"task_file": str(path)}) for path in paths]
    assert TaskSource(file=meta).select() == [spec.OSWORLD]
    assert meta_tasks(paths[0]) is None


@pytest.mark.parametrize(
    ("apps", "first"), [(["libreoffice_calc"], "libreoffice"), ([], "org.gnum")]
)
def test_sheets_of_osworlds_are_opened_by_calc(
    tmp_path: Path, pool: FakePool, apps: list[str], first: str
) -> None:
    device = pool.acquire()
    assert isinstance(device, FakeDesktop)
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    line = f"{kind}=org.gnumeric.gnumeric.desktop\n"
    device.write(".config/mimeapps.list", f"[Default Applications]\n{line}".encode())
    task = OSWorld(task_file=write(tmp_path, related_apps=apps))
    task.setup(device, task.draw(0))
    chosen = (device.read(".config/mimeapps.list") or b"").decode().partition(f"{kind}=")[2]
    assert chosen.startswith(first)
    assert "org.gnumeric.gnumeric.desktop" in chosen
