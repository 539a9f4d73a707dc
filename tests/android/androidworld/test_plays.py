"""AndroidWorld's own code at work: it sets up, its judges tell plays from near misses."""

from __future__ import annotations

import contextlib
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest

from tests.android.tasks import android_episodes
from tests.android.tasks.android_episodes import play
from ui_gym.android.androidworld.catalogue import ENTRIES, REMEDY
from ui_gym.android.androidworld.plans import PLANS
from ui_gym.playing.env import UIEnv
from ui_gym.playing.vector import UIVectorEnv
from ui_gym.testing import check_ui_env
from ui_gym_phone.serving import serve

pytest.importorskip("android_world", reason=REMEDY)

SAMPLE = (
    "SystemWifiTurnOn", "SystemBrightnessMaxVerify", "ClockTimerEntry", "ContactsNewContactDraft",
    "FilesMoveFile", "SimpleSmsReplyMostRecent", "MarkorAddNoteHeader", "ExpenseAddSingle",
    "RecipeDeleteDuplicateRecipes", "SimpleCalendarAddRepeatingEvent", "TasksDueOnDate",
)  # fmt: skip
"""What is always played: one of each kind."""


def made(name: str, **arguments: Any) -> AbstractContextManager[UIEnv]:
    """An env of a class of AndroidWorld."""
    return android_episodes.made(f"AndroidWorld-{name}", **arguments)


def left_alone(env: UIEnv, seed: int = 1) -> dict[str, Any]:
    env.reset(seed=seed)
    return env.step("finish('success')")[-1]


def first_unsolved(env: UIEnv) -> int:
    """A seed whose episode is not solved at its start, as AndroidWorld draws a few."""
    return next(seed for seed in range(5) if not left_alone(env, seed)["success"])


@pytest.mark.parametrize("name", SAMPLE)
def test_the_judge_tells_the_play_from_a_near_miss(name: str) -> None:
    with made(name) as env:
        assert left_alone(env)["success"] == name.endswith("Verify")
        info = play(env, 1)
        assert info["success"], info["notes"]
        assert not play(env, 1, {"near": 1.0})["success"]


@pytest.mark.nightly
@pytest.mark.parametrize("name", sorted(PLANS))
def test_every_class_that_has_a_play(name: str) -> None:
    with made(name) as env:
        seed = 1 if name.endswith("Verify") else first_unsolved(env)
        info = play(env, seed)
        assert info["success"], f"{info['notes']} in {info['step']} of {info['max_steps']} steps"
        assert not play(env, seed, {"near": 1.0})["success"]


@pytest.mark.parametrize("name", ["SystemWifiTurnOn", "ExpenseAddSingle"])
def test_it_keeps_the_contract_of_a_task(name: str) -> None:
    report = check_ui_env(f"UI/AndroidWorld-{name}-v0", seeds=(1,))
    assert report.ok, str(report)


def test_many_classes_have_a_play() -> None:
    assert len(PLANS) >= 95
    assert set(PLANS) <= set(ENTRIES)


def test_an_agent_that_does_not_say_that_it_is_done_gets_nothing() -> None:
    with made("SystemBluetoothTurnOnVerify", max_steps=1) as env:
        env.reset(seed=1)
        info = env.step("wait(1)")[-1]
        assert not info["success"]
        assert info["notes"] == "the agent did not say that it is done"


def test_an_answer_is_read_by_the_judge() -> None:
    with made("NotesTodoItemCount") as env:
        env.reset(seed=2)
        assert env.step("answer('many')")[-1]["success"] is False


@pytest.mark.parametrize("name", ["MarkorCreateFolder", "SportsTrackerActivityDuration"])
def test_an_episode_follows_from_its_seed(name: str) -> None:
    with made(name) as one, made(name) as other:
        (first, _), (second, _) = one.reset(seed=3), other.reset(seed=3)
        assert first["goal"] == second["goal"]
        np.testing.assert_array_equal(first["screenshot"], second["screenshot"])
        assert other.reset(seed=4)[0]["goal"] != first["goal"]


def test_splits_are_disjoint_instances_of_one_suite() -> None:
    with made("ClockTimerEntry") as env:
        task = env.task
        assert task.draw(7, "train").instance == 7
        assert task.draw(7, "heldout").instance == 7 + 2**31
        assert task.split_of(task.draw(7, "heldout")) == "heldout"


def test_slots_play_side_by_side() -> None:
    """AndroidWorld's module-wide state is a thread's own."""
    name = "AndroidWorld-ExpenseDeleteMultiple"
    with contextlib.closing(UIVectorEnv(3, name)) as envs, made(name[13:]) as alone:
        observation, _ = envs.reset(seed=[5, 6, 7])
        goals = [str(goal) for goal in observation["goal"]]
        assert goals == [str(alone.reset(seed=seed)[0]["goal"]) for seed in (5, 6, 7)]
        assert len(set(goals)) == 3


def test_an_app_that_is_not_on_the_phone_is_named() -> None:
    with (
        made("VlcCreatePlaylist") as env,
        pytest.raises(Exception, match=r"app 'vlc'.*which is not"),
    ):
        env.reset(seed=1)


def test_a_judge_that_raises_is_no_success() -> None:
    """Here it finds no database to look into."""
    with made("ExpenseDeleteSingle") as env:
        env.reset(seed=1)
        env.device.shell("pm clear com.arduia.expense")
        info = env.step("finish('success')")[-1]
        assert not info["success"]
        assert "AndroidWorld's judge could not tell: FileNotFoundError" in info["notes"]


def test_it_is_the_same_over_adb() -> None:
    """The whole of it goes through a connection, as on a real phone."""
    with serve(0, 1, (1080, 2400)) as (port,):
        for name in ("SystemWifiTurnOn", "ExpenseDeleteSingle"):
            with made(name, device=f"adb-direct:127.0.0.1:{port}") as env:
                info = play(env, 1)
                assert info["success"], info["notes"]
                assert not left_alone(env)["success"]
