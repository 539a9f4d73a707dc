"""check_ui_env: what every task and device must keep, ours and those of third parties.

    from ui_gym.testing import check_ui_env

    def test_my_task_is_sound():
        check_ui_env("UI/MyTask-v0")

It plays some episodes: a few seconds in a browser.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env

from ui_gym.contract.task import SPLITS, Task, params_json
from ui_gym.playing.env import Observation, UIEnv

DRAWS = 30
"""How many params are drawn where no device is needed."""

STRAY_STEPS = 4
"""Steps of an episode that is played without an oracle."""

WRONG_ACTION = "(this is no action)"
"""No dialect can read it."""

UNAVOIDABLE: tuple[str, ...] = ()
"""Parts of warnings of Gymnasium's checker that cannot be avoided. There are none."""


@dataclass(frozen=True)
class CheckResult:
    """One thing that was checked."""

    name: str
    ok: bool
    detail: str = ""

    def __str__(self) -> str:
        return f"{'ok    ' if self.ok else 'FAILED'} {self.name}" + (
            f": {self.detail}" if self.detail else ""
        )


@dataclass
class EnvReport:
    """All that was checked of one task."""

    task: str
    checks: list[CheckResult] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.failures

    @property
    def failures(self) -> list[CheckResult]:
        return [check for check in self.checks if not check.ok]

    def __str__(self) -> str:
        return "\n".join([self.task, *(f"  {check}" for check in self.checks)])

    @contextlib.contextmanager
    def checking(self, name: str) -> Iterator[list[str]]:
        """Add a check that fails if the block raises; it may append details."""
        details: list[str] = []
        try:
            yield details
        except AssertionError as error:
            self.checks.append(CheckResult(name, False, str(error) or "an assertion failed"))
        except Exception as error:
            self.checks.append(CheckResult(name, False, f"{type(error).__name__}: {error}"))
        else:
            self.checks.append(CheckResult(name, True, "; ".join(details)))


def check_ui_env(
    env_or_id: gymnasium.Env[Any, Any] | str | Task[Any, Any],
    *,
    seeds: Iterable[int] = range(3),
    raise_on_failure: bool = True,
    **arguments: Any,
) -> EnvReport:
    """Check a task on its device.

    Args:
        env_or_id: An id, a name, a `Task`, or an env (which is left open).
        seeds: Of the episodes that are played.
        raise_on_failure: Whether failures raise, or are only in the report.
        arguments: For the env, where one is made here.

    Raises:
        AssertionError: naming everything that failed.
        UserError: there is no such task or argument.
    """
    if isinstance(env_or_id, gymnasium.Env):
        env = env_or_id.unwrapped
        if not isinstance(env, UIEnv):
            raise TypeError(f"check_ui_env checks UIEnvs, not {type(env).__name__}")
        report = _check(env, list(seeds))
    else:
        with contextlib.closing(UIEnv(env_or_id, **arguments)) as made:
            report = _check(made, list(seeds))
            with report.checking("close may be repeated"):
                made.close()
                made.close()
    if raise_on_failure and not report.ok:
        failed = "\n".join(f"  {check}" for check in report.failures)
        raise AssertionError(f"{report.task} broke its contract:\n{failed}")
    return report


def _check(env: UIEnv, seeds: list[int]) -> EnvReport:
    report = EnvReport(env.task.spec.id)
    _check_params(env, report)
    with report.checking("it starts"):
        env.reset(seed=seeds[0])
    if not report.checks[-1].ok:
        return report  # nothing below could tell more
    with report.checking("Gymnasium's check_env passes without a warning"):
        _check_gymnasium(env)
    other = env.clone()
    try:
        for seed in seeds:
            _check_episode(env, other, seed, report)
        if _goal_is_told(env.task):
            with report.checking("goals are told by the device") as details:
                goals = {env.reset(seed=seed)[0]["goal"] for seed in seeds}
                assert all(goals), "a goal is empty"
                details.append(f"{len(goals)} in {len(seeds)} seeds")
        for mistake in env.task.mistakes:
            with report.checking(f"the near miss {mistake!r} is no success") as details:
                details.append(_check_near_miss(env, mistake, seeds))
        if len(env.task.mistakes) > 1:
            with report.checking("who makes all mistakes at once can be played"):
                _check_careless(env, seeds)
        for excess in env.task.excesses:
            with report.checking(f"the excess {excess!r} is no success") as details:
                details.append(_check_excess(env, excess, seeds))
    finally:
        other.close()
    with report.checking("render gives the screen"):
        _check_render(env, seeds[0])
    with report.checking("a device that is lost truncates, and heals at the next reset"):
        _check_healing(env, seeds[0])
    return report


# -- without a device --


def _check_params(env: UIEnv, report: EnvReport) -> None:
    task = env.task
    with report.checking("it says in its docstring what to do"):
        assert (type(task).__doc__ or "").strip(), "the class has no docstring"
    with report.checking("a seed gives the same params"):
        for seed in range(DRAWS):
            one, other = (params_json(task.draw(seed, env.split)) for _ in range(2))
            assert one == other, f"seed {seed} gave {one}, then {other}"
    with report.checking("params are plain JSON"):
        for seed in range(DRAWS):
            params_json(task.draw(seed))
    if not _goal_is_told(task):
        with report.checking("goals vary") as details:
            goals = {task.goal(task.draw(seed, env.split)) for seed in range(DRAWS)}
            assert len(goals) > 1, f"{DRAWS} seeds have the one goal {goals.pop()!r}"
            assert all(goals), "a goal is empty"
            details.append(f"{len(goals)} in {DRAWS} seeds")
    with report.checking("train and heldout share no params"):
        drawn = {
            split: {params_json(task.draw(seed, split)) for seed in range(DRAWS)}
            for split in SPLITS
        }
        both = drawn["train"] & drawn["heldout"]
        assert not both, f"in both: {sorted(both)[:3]}"
        for split in SPLITS:
            drawn_first = task.draw(0, split)
            assert task.split_of(drawn_first) == split, f"a draw of {split} belongs elsewhere"


def _goal_is_told(task: Task[Any, Any]) -> bool:
    """Whether the goal is made on the device, so that `goal` alone cannot tell it."""
    return type(task).brief is not Task.brief


# -- Gymnasium --


def _check_gymnasium(env: UIEnv) -> None:
    # Rendering is checked below: Gymnasium would also open a window, which needs a display.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(env, skip_render_check=True, skip_close_check=True)
    told = [str(one.message) for one in caught if issubclass(one.category, UserWarning)]
    told = [text for text in told if not any(part in text for part in UNAVOIDABLE)]
    assert not told, "; ".join(told)


def _check_render(env: UIEnv, seed: int) -> None:
    mode, env.render_mode = env.render_mode, "rgb_array"
    try:
        observation, _ = env.reset(seed=seed)
        picture = env.render()
    finally:
        env.render_mode = mode
    width, height = env.size
    assert picture is not None
    assert picture.shape == (height, width, 3)
    assert picture.dtype == np.uint8
    assert np.array_equal(picture, observation.get("screenshot", picture)), "not what is observed"


# -- episodes --


def _check_episode(env: UIEnv, other: UIEnv, seed: int, report: EnvReport) -> None:
    """Everything that one seed must keep; `other` is an env on another device."""
    with report.checking(f"seed {seed}: it resets"):
        first, info = env.reset(seed=seed, options={"ground_truth": True})
    if not report.checks[-1].ok:
        return
    with report.checking(f"seed {seed}: a wrong action changes nothing and is told"):
        after, reward, terminated, truncated, told = env.step(WRONG_ACTION)
        assert told["action_error"] == "parse", f"action_error is {told['action_error']!r}"
        assert after["feedback"], "the feedback is empty"
        assert _seen(after) == _seen(first), "the screen changed"
        assert reward == 0 and not truncated, f"reward {reward}, truncated {truncated}"  # noqa: PT018
    with report.checking(f"seed {seed}: the goal is not yet reached after setup"):
        assert not told["success"], f"it is judged a success: {told['notes']}"
        assert not terminated, f"it is judged to be over: {told['notes']}"
    with report.checking(f"seed {seed}: the oracle succeeds") as details:
        if env.task.has_oracle:
            details.append(_check_oracle(env, seed))
        else:
            _stray(env, seed)
            details.append("skipped: it has no oracle")
    with report.checking(f"seed {seed}: the first screenshot is the same to the byte"):
        again, told = env.reset(seed=seed, options={"ground_truth": True})
        assert _seen(again) == _seen(first), "it differs after an episode was played"
        assert told["ground_truth"] == info["ground_truth"], "params differ"
        assert _seen(other.reset(seed=seed)[0]) == _seen(first), "it differs on another device"


def _check_oracle(env: UIEnv, seed: int) -> str:
    steps, last = _play(env, seed, True)
    assert last["success"], (
        f"score {last['score']:g} after {steps} of {env.max_steps} steps. {last['notes']}"
    )
    return f"{steps} steps"


def _stray(env: UIEnv, seed: int) -> None:
    """Play a few steps of an episode at random."""
    env.reset(seed=seed)
    env.action_space.seed(seed)
    for _ in range(STRAY_STEPS):
        _, _, terminated, truncated, info = env.step(env.action_space.sample())
        assert info["failure"] is None, info["failure"]
        if terminated or truncated:
            break


def _check_near_miss(env: UIEnv, mistake: str, seeds: list[int]) -> str:
    """Play an oracle that makes the mistake, on all seeds where that changes what it believes."""
    played = 0
    for seed in seeds:
        params = env.task.draw(seed, env.split)
        believed = env.task.misunderstand(params, {mistake: 1.0}, seed)
        if params_json(believed) == params_json(params):
            continue
        _, last = _play(env, seed, {mistake: 1.0}, strict=False)
        assert not last["success"], f"seed {seed}: judged a success. {last['notes']}"
        played += 1
    return f"{played} of {len(seeds)} seeds" if played else "skipped: without effect on these seeds"


def _check_careless(env: UIEnv, seeds: list[int]) -> None:
    """Play an oracle that makes all mistakes. Two of them may make up for each other."""
    every = dict.fromkeys(env.task.mistakes, 1.0)
    for seed in range(DRAWS):
        env.task.misunderstand(env.task.draw(seed, env.split), every, seed)
    for seed in seeds:
        _play(env, seed, every, strict=False)


def _check_excess(env: UIEnv, excess: str, seeds: list[int]) -> str:
    """Play the oracle after somebody did too much."""
    for seed in seeds:
        _, last = _play(env, seed, True, excess=excess, strict=False)
        assert not last["success"], f"seed {seed}: judged a success. {last['notes']}"
    return f"{len(seeds)} seeds"


def _check_healing(env: UIEnv, seed: int) -> None:
    first, _ = env.reset(seed=seed)
    env.device.close()
    _, reward, terminated, truncated, info = env.step(env.action_space.sample())
    assert (terminated, truncated, reward) == (False, True, 0.0), (
        f"terminated {terminated}, truncated {truncated}, reward {reward}"
    )
    assert info["failure"], "info['failure'] says nothing"
    healed, info = env.reset(seed=seed)
    assert info["failure"] is None
    assert _seen(healed) == _seen(first), "the first screenshot differs after healing"


def _play(
    env: UIEnv, seed: int, oracle: Any, *, excess: str = "", strict: bool = True
) -> tuple[int, dict[str, Any]]:
    """An episode of the oracle: how many steps it took, and the last info. No device may fail.

    Where it is `strict`, an action of the oracle that is not understood is an error. Before the
    first step the task does too much, in the way of `excess`.
    """
    _, info = env.reset(seed=seed, options={"oracle": oracle})
    if excess:
        env.task.overdo(env.device, env.task.draw(seed, env.split), excess)
    while True:
        text = info["oracle"]["action_text"]
        observation, _, terminated, truncated, info = env.step(text)
        if strict:
            assert info["action_error"] is None, f"{text!r}: {observation['feedback']}"
        if terminated or truncated:
            assert info["failure"] is None, info["failure"]
            return info["step"], info


def _seen(observation: Observation) -> tuple[str, bytes, str]:
    """What must be the same to the byte."""
    screenshot = observation.get("screenshot")
    picture = b"" if screenshot is None else screenshot.tobytes()
    return observation["goal"], picture, observation.get("elements", "")
