"""What was done beside the goal makes the score 0, and is named: on real desktops."""

from __future__ import annotations

from typing import Any

import pytest
from desktop_episodes import made, play

from ui_gym.contract.arguments import make_task
from ui_gym.contract.device import DevicePool
from ui_gym.contract.harm import harms
from ui_gym.contract.suite import families
from ui_gym.desktop import facts
from ui_gym.desktop.facts import files_change
from ui_gym.playing.env import UIEnv


def begun(env: UIEnv, seed: int = 0) -> Any:
    env.reset(seed=seed)
    return env.task.draw(seed, env.split)


def after(env: UIEnv, line: str) -> dict[str, Any]:
    """The info once somebody ran a line there."""
    result = env.device.run(line)
    assert result.code == 0, result.stderr
    return env.step("wait(0.1)")[4]


@pytest.mark.parametrize(
    ("line", "harm"),
    [
        ("mkdir Extra", "folder Extra is new"),
        ("echo more > other.txt", "file other.txt is new"),
        ("mkdir -p Many/one Many/two", "folder Many is new"),
    ],
)
def test_what_is_made_beside_the_goal_is_harm_until_it_is_gone(
    line: str, harm: str, pool: DevicePool
) -> None:
    with made("DesktopNestedFolders", pool=pool) as env:
        params = begun(env)
        wanted = " ".join(f"'{folder}'" for folder in env.task.folders(params))
        info = after(env, f"mkdir -p {wanted} && {line}")
        assert (info["score"], info["details"]["harm"][0].partition(":")[0]) == (0, harm), info
        assert info["notes"].startswith(f"harm: {harm}")
        info = after(env, "rm -rf Extra other.txt Many")
        assert info["success"], info["notes"]


def test_what_applications_keep_for_themselves_is_no_harm(pool: DevicePool) -> None:
    with made("DesktopNestedFolders", pool=pool) as env:
        params = begun(env)
        folders = env.task.folders(params)
        wanted = " ".join(f"'{folder}'" for folder in folders)
        kept = ".config/app/state .cache/thumbnails/a.png .recently-used .local/share/x"
        lines = "; ".join(f"mkdir -p $(dirname {path}); echo x > {path}" for path in kept.split())
        info = after(env, f"mkdir -p {wanted}; {lines}; echo lock > '{folders[0]}/.~lock.a#'")
        assert info["success"], info["notes"]


def test_a_preference_of_the_editor_is_a_fact(pool: DevicePool) -> None:
    with made("DesktopEditorSetting", pool=pool) as env:
        params = begun(env)
        before = facts.of(env.device)
        assert play(env, 0)["success"]
        env.reset(seed=0)
        again = facts.of(env.device)
        assert harms(before, again, ()) == []
        assert any(name.startswith("setting org/xfce/mousepad") for name, _ in before), params


@pytest.mark.parametrize("name", [spec.name for spec in families("desktop", extra=True)])
def test_every_task_says_what_may_change(name: str) -> None:
    task = make_task(name, {})
    allowed = task.may_change(task.draw(0))
    assert allowed is not None
    assert all(change.pattern for change in allowed)


def test_files_may_become_what_a_task_says() -> None:
    allowed = files_change({"a/one": "1", "a/two": "2"}, {"a/one": "1", "b/two": "2"}, ["c/d"])
    before = [("file a/one", "1"), ("file a/two", "2"), ("folder a", "")]
    after = [
        ("file a/one", "1"), ("file b/two", "2"), ("folder a", ""), ("folder b", ""),
        ("folder c", ""), ("folder c/d", ""),
    ]  # fmt: skip
    assert harms(before, after, allowed) == []
    assert harms(before, [*after, ("folder c/e", "")], allowed) == ["folder c/e is new"]
    assert harms(before, after[1:], allowed) == ["file a/one is gone: 1"]
    assert harms(before, [("file a/one", "2"), *after[1:]], allowed) == ["file a/one: 1, now 2"]
