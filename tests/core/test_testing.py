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


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui_gym.playing.env.RESET_PAUSES", (0.0, 0.0))


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


_base = paint.PaintText


def test_a_task_that_is_solved_at_the_start_fails() -> None:
    assert "the goal is not yet reached after setup" in said(
        broken(judge=lambda *args: Verdict(1.0))
    )


def test_a_near_miss_that_succeeds_fails() -> None:
    def judge(self: Any, device: Any, params: Any, history: Any) -> Verdict:
        return Verdict(float(params.text in device.texts.values()))

    assert "FAILED the near miss 'other_color' is no success: seed 0" in said(broken(judge=judge))


def test_an_oracle_that_fails_or_mumbles_fails() -> None:
    lazy = said(broken(oracle=lambda *args: iter([Wait(0)])))
    assert "FAILED seed 1: the oracle succeeds: score 0 after 2 of 6 steps" in lazy
    off = said(broken(oracle=lambda *args: iter([Click(500, 500)])))
    assert "outside the screen" in off
    slow = said(broken(oracle=lambda *args: iter([Wait(0)] * 9)))
    assert "after 6 of 6 steps" in slow


def test_a_goal_that_never_varies_fails() -> None:
    assert "FAILED goals vary: 30 seeds have the one goal 'Go.'" in said(
        broken(goal=lambda *args: "Go.")
    )


def test_randomness_that_ignores_the_seed_fails() -> None:
    def sample(self: Any, rng: Any) -> Any:
        return replace(_base.sample(self, rng), text=str(random.random()))

    failures = said(broken(sample=sample))
    assert "FAILED a seed gives the same params" in failures


def test_a_start_that_depends_on_the_past_fails() -> None:
    def setup(self: Any, device: Any, params: Any) -> None:
        self.count = getattr(self, "count", 0) + 1
        device.load({"red": (self.count % 5 * 16, 0)})

    assert "the first screenshot is the same to the byte" in said(broken(setup=setup))


def test_params_that_are_not_json_fail() -> None:
    @dataclass(frozen=True)
    class Odd(paint.Scene):
        extra: Any = int

    def sample(self: Any, rng: Any) -> Any:
        scene = _base.sample(self, rng)
        return Odd(scene.boxes, scene.target, scene.text)

    assert "FAILED params are plain JSON: TypeError: params hold a type" in said(
        broken(sample=sample)
    )


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
    base = paint.PaintText
    silent = broken(oracle=Task.oracle, mistakes=())
    assert not silent.has_oracle
    assert base().has_oracle
    report = check_ui_env(silent)
    skipped = [check.name for check in report.checks if check.detail.startswith("skipped: it has")]
    assert skipped == [f"seed {seed}: the oracle succeeds" for seed in range(3)]

    def setup(self: Any, device: Any, params: Any) -> None:
        base.setup(self, device, params)
        self.count = getattr(self, "count", 0) + 1
        device.load({"red": (self.count % 5 * 16, 0)})

    assert "the first screenshot is the same to the byte" in said(
        broken(oracle=Task.oracle, mistakes=(), setup=setup)
    )


def test_goals_that_the_device_tells_may_all_be_the_same() -> None:
    told = broken(goal=lambda *args: "Go.", brief=lambda *args: Brief("Go there."))
    (found,) = (check for check in check_ui_env(told).checks if "goals" in check.name)
    assert (found.name, found.detail) == ("goals are told by the device", "1 in 3 seeds")
    mute = broken(brief=lambda *args: Brief(""))
    assert "FAILED goals are told by the device: a goal is empty" in said(mute)
