"""check_ui_env passes sound tasks and names what is wrong with others."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import gymnasium
import paint
import pytest

from ui_gym.contract.action import Click, Wait
from ui_gym.contract.task import Brief, Task, Verdict
from ui_gym.errors import UserError
from ui_gym.playing.env import UIEnv
from ui_gym.testing import check_ui_env


@pytest.mark.parametrize("task", ["UI/PaintClick-v0", "UI/PaintText-v0"])
@pytest.mark.parametrize("dialect", ["canonical", "cells", "uitars"])
@pytest.mark.parametrize("observation", ["screenshot", "both", "elements"])
def test_a_sound_task_passes(task: str, dialect: str, observation: str) -> None:
    report = check_ui_env(task, dialect=dialect, observation=observation)
    assert report.ok
    assert report.task == task
    assert len({check.name for check in report.checks}) == len(report.checks) > 15


def test_gymnasium_s_own_checker_has_no_word_to_say(recwarn: pytest.WarningsRecorder) -> None:
    from gymnasium.utils.env_checker import check_env

    env = gymnasium.make("UI/PaintClick-v0", render_mode="rgb_array")
    check_env(env.unwrapped)
    env.close()
    assert [str(one.message) for one in recwarn] == []


def test_an_env_that_is_given_is_left_open(
    make: Callable[..., UIEnv], pool: paint.PaintPool
) -> None:
    env = make()
    check_ui_env(env, seeds=[4])
    env.reset(seed=1)
    assert len(pool.lent) == 1
    with pytest.raises(TypeError, match="checks UIEnvs, not CartPoleEnv"):
        check_ui_env(gymnasium.make("CartPole-v1"))
    with pytest.raises(UserError, match="Did you mean 'boxes'"):
        check_ui_env("PaintText", boxs=2)


def broken(**methods: Any) -> paint.PaintText:
    """A PaintText with some of its methods replaced."""
    return type("PaintText", (paint.PaintText,), {"__doc__": "Broken.", **methods})()


def said(task: paint.PaintText, **arguments: Any) -> str:
    """The failures of a task."""
    report = check_ui_env(task, raise_on_failure=False, **arguments)
    return "\n".join(map(str, report.failures))


@dataclass(frozen=True)
class Odd(paint.Scene):
    """Params that hold what JSON cannot."""

    extra: Any = int


def drawn(self: Any, rng: Any) -> paint.Scene:
    return paint.PaintText.sample(self, rng)


def odd(self: Any, rng: Any) -> Odd:
    scene = drawn(self, rng)
    return Odd(scene.boxes, scene.target, scene.text)


def forgiving(self: Any, device: Any, params: Any, history: Any) -> Verdict:
    return Verdict(float(params.text in device.texts.values()))


def at_most_once(self: Any, params: Any, mistake: str, rng: Any) -> paint.Scene:
    if params.text == "misread":
        raise ValueError("it was misread before")
    return replace(params, text="misread")


def drifting(self: Any, device: Any, params: Any) -> None:
    self.count = getattr(self, "count", 0) + 1
    device.load({"red": (self.count % 5 * 16, 0)})


@pytest.mark.parametrize(
    ("methods", "told"),
    [
        ({"judge": lambda *args: Verdict(1.0)}, "the goal is not yet reached after setup"),
        ({"judge": forgiving}, "FAILED the near miss 'other_color' is no success: seed 0"),
        ({"mistakes": ("first", "second"), "misread": at_most_once},
         "FAILED who makes all mistakes at once can be played"),
        ({"oracle": lambda *args: iter([Wait(0)])},
         "FAILED seed 1: the oracle succeeds: score 0 after 2 of 6 steps"),
        ({"oracle": lambda *args: iter([Click(500, 500)])}, "outside the screen"),
        ({"oracle": lambda *args: iter([Wait(0)] * 9)}, "after 6 of 6 steps"),
        ({"goal": lambda *args: "Go."}, "FAILED goals vary: 30 seeds have the one goal 'Go.'"),
        ({"brief": lambda *args: Brief("")}, "goals are told by the device: a goal is empty"),
        ({"sample": lambda self, rng: replace(drawn(self, rng), text=str(random.random()))},
         "FAILED a seed gives the same params"),
        ({"sample": odd}, "FAILED params are plain JSON: TypeError: params hold a type"),
        ({"setup": drifting}, "the first screenshot is the same to the byte"),
        ({"setup": drifting, "oracle": Task.oracle, "mistakes": ()},
         "the first screenshot is the same to the byte"),
    ],
    ids=["solved at the start", "near miss", "two mistakes", "lazy oracle", "oracle that mumbles",
         "slow oracle", "one goal", "empty goal", "seed ignored", "no JSON", "start drifts",
         "start drifts, no oracle"],
)  # fmt: skip
def test_what_is_wrong_is_named(methods: dict[str, Any], told: str) -> None:
    assert told in said(broken(**methods))


def test_a_device_that_survives_its_end_fails() -> None:
    class Undead(paint.PaintDevice):
        def close(self) -> None:
            pass

    class Pool(paint.PaintPool):
        def acquire(self) -> Any:
            device = super().acquire()
            device.__class__ = Undead
            return device

    assert "FAILED a device that is lost truncates" in said(paint.PaintText(), pool=Pool((96, 64)))


def test_a_device_that_does_not_start_ends_the_check() -> None:
    pool = paint.PaintPool((96, 64), paint.Faults(starts=100))
    report = check_ui_env("PaintText", pool=pool, raise_on_failure=False)
    assert [check.name for check in report.failures] == ["it starts"]
    assert "install paint" in str(report)


def test_failures_are_raised_together() -> None:
    with pytest.raises(AssertionError) as caught:
        check_ui_env(broken(goal=lambda *args: "Go.", judge=lambda *args: Verdict(1.0)))
    assert "UI/PaintText-v0 broke its contract" in str(caught.value)
    assert "goals vary" in str(caught.value)
    assert "not yet reached" in str(caught.value)


def test_a_task_without_an_oracle_is_checked_for_the_rest() -> None:
    silent = broken(oracle=Task.oracle, mistakes=())
    assert not silent.has_oracle
    assert paint.PaintText().has_oracle
    report = check_ui_env(silent)
    skipped = [check.name for check in report.checks if check.detail.startswith("skipped: it has")]
    assert skipped == [f"seed {seed}: the oracle succeeds" for seed in range(3)]


def test_goals_that_the_device_tells_may_all_be_the_same() -> None:
    told = broken(goal=lambda *args: "Go.", brief=lambda *args: Brief("Go there."))
    (found,) = (check for check in check_ui_env(told).checks if "goals" in check.name)
    assert (found.name, found.detail) == ("goals are told by the device", "1 in 3 seeds")
