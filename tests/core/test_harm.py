"""What changed and was not allowed makes the score 0, whatever kind of task it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import paint
import pytest

from ui_gym.contract.harm import MOST, AllowedChange, Fact, harms
from ui_gym.contract.task import Verdict
from ui_gym.errors import DeviceLost, TaskError
from ui_gym.playing.env import UIEnv
from ui_gym.testing import check_ui_env

WIFI = ("setting wifi", "1")
TEXT = ("text to Ann", "Hi")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ([WIFI], [WIFI], []),
        ([WIFI], [("setting wifi", "0")], ["setting wifi: 1, now 0"]),
        ([WIFI], [], ["setting wifi is gone: 1"]),
        ([], [TEXT], ["text to Ann is new: Hi"]),
        ([TEXT], [TEXT, TEXT, TEXT], ["text to Ann is new 2 times: Hi"]),
        ([("folder a", "")], [("folder b", "")], ["folder a is gone", "folder b is new"]),
        ([("note", "x" * 200)], [], [f"note is gone: {'x' * 59}…"]),
        ([("note", "")], [("note", "a")], ["note: -, now a"]),
    ],
)
def test_what_differs_is_told(before: list[Fact], after: list[Fact], told: list[str]) -> None:
    assert harms(before, after, ()) == told


@pytest.mark.parametrize(
    ("allowed", "left"),
    [
        ([AllowedChange("text *")], 0),
        ([AllowedChange("text to Ann", new=2)], 0),
        ([AllowedChange("text to Ann", new=1)], 1),
        ([AllowedChange("text to Ann", new=0)], 1),
        ([AllowedChange("text to A")], 1),
        ([AllowedChange("text *", values=("Hi", "Ho"))], 0),
        ([AllowedChange("text *", values=("Ho",))], 1),
        ([AllowedChange("text *", new=1), AllowedChange("*Ann", new=1)], 0),
        # The limit is not used up by what another one lets pass without.
        ([AllowedChange("text *", new=0), AllowedChange("text*")], 0),
    ],
)
def test_what_is_allowed_is_no_harm_as_often_as_it_is_allowed(
    allowed: list[AllowedChange], left: int
) -> None:
    assert len(harms([], [TEXT, TEXT], allowed)) == left


def test_a_star_alone_stands_for_other_signs() -> None:
    assert AllowedChange("file a[1].txt").fits(("file a[1].txt", ""))
    assert not AllowedChange("file a[1].txt").fits(("file a1.txt", ""))
    assert AllowedChange("file *.txt").fits(("file a\nb/c.txt", ""))
    assert not AllowedChange("file ?.txt").fits(("file a.txt", ""))


def test_all_harms_are_told() -> None:
    assert len(harms([], [(f"file {i:03}", "") for i in range(100)], ())) == 100


# -- in episodes --


class Watched(paint.PaintText):
    """Write on one box, and on no other."""

    excesses = ("another_box", "nothing")

    def facts_of(self, device: paint.PaintDevice, params: paint.Scene) -> Iterable[Fact]:
        device.check()
        self.read = getattr(self, "read", 0) + 1
        return [(f"box {name}", text) for name, text in device.texts.items()]

    def may_change(self, params: paint.Scene) -> Sequence[AllowedChange]:
        return [AllowedChange(f"box {params.target}")]

    def overdo(self, device: paint.PaintDevice, params: paint.Scene, excess: str) -> None:
        if excess == "another_box":
            device.texts[other(params)] = "much"


def other(params: paint.Scene) -> str:
    return next(name for name, *_ in params.boxes if name != params.target)


Made = Callable[..., UIEnv]


@pytest.fixture
def watched(pool: paint.PaintPool) -> Iterable[Made]:
    made: list[UIEnv] = []

    def make(task: type[Watched] = Watched, **arguments: Any) -> UIEnv:
        made.append(UIEnv(task(), pool=pool, **arguments))
        made[-1].reset(seed=1)
        return made[-1]

    yield make
    for env in made:
        env.close()


def params_of(env: UIEnv) -> paint.Scene:
    return env.task.draw(1, env.split)  # type: ignore[no-any-return]


def click(env: UIEnv, name: str) -> str:
    x, y = paint.center(params_of(env), name)
    return f"click({x}, {y})"


def test_harm_makes_the_score_0_and_is_named(watched: Made) -> None:
    env = watched()
    params = params_of(env)
    env.step(f"{click(env, params.target)}; type('{params.text}')")
    *_, info = env.step(f"{click(env, other(params))}; type('x')")
    assert (info["score"], info["success"], info["failure"]) == (0.0, False, None)
    assert info["details"]["harm"] == [f"box {other(params)} is new: x"]
    assert info["notes"] == f"harm: box {other(params)} is new: x"
    _, reward, terminated, _, info = env.step("finish()")
    assert (reward, terminated) == (0.0, True)
    assert "harm" in info["details"]


def test_of_many_harms_some_are_named_and_all_are_counted(watched: Made) -> None:
    env = watched()
    params = params_of(env)
    env.device.texts |= {f"file {i:03}": "" for i in range(100)}
    *_, info = env.step(f"{click(env, params.target)}; type('{params.text}')")
    told = info["details"]["harm"]
    assert len(told) == MOST + 1
    assert told[-1] == "and 80 more"
    shown = "; ".join(f"box file {i:03} is new" for i in range(3))
    assert info["notes"] == f"harm: {shown} and 97 more"


def test_what_is_undone_is_no_harm(watched: Made) -> None:
    env = watched()
    params = params_of(env)
    env.step(f"{click(env, other(params))}; type('x')")
    del env.device.texts[other(params)]
    env.step(f"{click(env, params.target)}; type('{params.text}')")
    *_, info = env.step("finish()")
    assert info["success"]
    assert "harm" not in info["details"]


def test_progress_is_taken_back(watched: Made) -> None:
    env = watched(reward="progress")
    params = params_of(env)
    gains = [env.step(click(env, params.target))[1]]
    gains.append(env.step(f"{click(env, other(params))}; type('x')")[1])
    del env.device.texts[other(params)]
    gains.append(env.step("wait(0)")[1])
    assert gains == [0.5, -0.5, 0.5]


def test_a_judge_that_is_done_is_not_done_while_something_is_harmed(watched: Made) -> None:
    class Ends(Watched):
        """Ends when it is written."""

        def judge(self, *asked: Any) -> Verdict:
            verdict = super().judge(*asked)
            return Verdict(verdict.score, done=verdict.success)

    env = watched(Ends)
    params = params_of(env)
    env.step(f"{click(env, other(params))}; type('x')")
    _, _, terminated, _, info = env.step(f"{click(env, params.target)}; type('{params.text}')")
    assert (terminated, info["score"]) == (False, 0.0)
    del env.device.texts[other(params)]
    _, reward, terminated, _, _ = env.step("wait(0)")
    assert (terminated, reward) == (True, 1.0)


@pytest.mark.parametrize("harmed", [False, True])
def test_a_task_that_is_judged_at_the_end(watched: Made, harmed: bool) -> None:
    class AtTheEnd(Watched):
        """Its judge changes what it looks at."""

        judged = "end"

        def judge(self, device: paint.PaintDevice, params: paint.Scene, history: Any) -> Verdict:
            device.texts["green"] = device.texts["blue"] = "judged"
            return Verdict(1.0)

    env = watched(AtTheEnd, max_steps=3)
    if harmed:
        env.step(f"{click(env, other(params_of(env)))}; type('x')")
    *_, info = env.step("finish()")
    assert info["success"] is not harmed
    assert ("harm" in info["details"]) is harmed


def test_a_step_without_a_score_reads_no_facts(watched: Made) -> None:
    env = watched()
    params = params_of(env)
    assert env.task.read == 1
    for _ in range(3):
        env.step(click(env, other(params)))
    assert env.task.read == 1


def test_a_task_that_does_not_say_what_may_change_reads_no_facts(watched: Made) -> None:
    class Silent(Watched):
        """Says nothing of it."""

        def may_change(self, params: paint.Scene) -> None:
            return None

    env = watched(Silent)
    params = params_of(env)
    env.step(f"{click(env, other(params))}; type('x')")
    env.step(f"{click(env, params.target)}; type('{params.text}')")
    assert env.step("finish()")[4]["success"]
    assert not hasattr(env.task, "read")


def test_a_device_that_fails_while_facts_are_read(watched: Made, pool: paint.PaintPool) -> None:
    class Fragile(Watched):
        """Its facts are asked of a device that is gone."""

        gone = False

        def facts_of(self, device: paint.PaintDevice, params: paint.Scene) -> Iterable[Fact]:
            if self.gone:
                raise DeviceLost("gone while it was read")
            return [("box", "")]

    env = watched(Fragile)
    env.task.gone = True
    _, reward, terminated, truncated, info = env.step(click(env, params_of(env).target))
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["failure"] == "device: gone while it was read"
    env.task.gone = False
    assert env.reset(seed=1)[1]["failure"] is None


@pytest.mark.parametrize("method", ["facts_of", "may_change"])
def test_a_bug_in_what_a_task_says_names_it(watched: Made, method: str) -> None:
    def broken(self: Any, *asked: Any) -> Any:
        raise KeyError("colour")

    task = type("Broken", (Watched,), {"__doc__": "Broken.", method: broken})

    def play() -> None:
        env = watched(task)
        env.step(f"{click(env, params_of(env).target)}; type('x')")

    with pytest.raises(TaskError, match=f"UI/PaintText-v0, {method}: raised KeyError"):
        play()


# -- near misses --


def test_who_does_too_much_has_no_success() -> None:
    report = check_ui_env(Watched(), seeds=[1], raise_on_failure=False)
    told = {check.name: check for check in report.checks}
    assert told["the excess 'another_box' is no success"].ok
    assert [check.name for check in report.failures] == ["the excess 'nothing' is no success"]
    assert "seed 1: judged a success" in str(report.failures[0])
