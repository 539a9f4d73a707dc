"""UIEnv on the paint suite: episodes, bad actions, oracles, faulty devices, buggy tasks."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import paint
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded

from ui_gym.contract.action import Answer, Finish
from ui_gym.contract.task import Brief, Task, Verdict
from ui_gym.errors import DeviceError, DeviceSetupError, DeviceStartError, TaskError, UserError
from ui_gym.playing.env import Seconds, UIEnv

Make = Callable[..., UIEnv]
Pool = paint.PaintPool


def play_oracle(env: UIEnv, seed: int, oracle: Any = True) -> list[tuple[Any, ...]]:
    """The steps of an episode that the oracle plays."""
    _, info = env.reset(seed=seed, options={"oracle": oracle})
    steps = []
    while not steps or not (steps[-1][2] or steps[-1][3]):
        steps.append(env.step(info["oracle"]["action_text"]))
        info = steps[-1][4]
    return steps


# -- what an episode is --


def test_reset_gives_the_goal_and_the_screen(make: Make) -> None:
    env = make()
    observation, info = env.reset(seed=7, options={"ground_truth": True})
    params = info["ground_truth"].params
    assert observation in env.observation_space
    assert params["target"] in observation["goal"]
    assert observation["feedback"] == ""
    name, x, y = params["boxes"][0]
    assert tuple(observation["screenshot"][y + 5, x + 5]) == paint.COLORS[name]
    assert (info["task"], info["seed"], info["step"]) == ("UI/PaintText-v0", 7, 0)
    assert (info["split"], info["action_error"], info["failure"]) == ("train", None, None)
    assert (info["score"], info["success"], info["notes"]) == (0.0, False, "")
    assert (info["screenshot_encoded"], info["screenshot_format"]) == (None, None)
    assert info["time_capture"] == Seconds(0.001)


def test_a_seed_gives_the_same_episode_to_the_byte(make: Make) -> None:
    first, second = make(), make()
    for env in (first, second):
        env.action_space.seed(3)
    pairs = zip(rollout(first, 11), rollout(second, 11), strict=True)
    for one, other in pairs:
        assert one[0]["screenshot"].tobytes() == other[0]["screenshot"].tobytes()
        assert one[0]["goal"] == other[0]["goal"]
        assert one[1:] == other[1:]


def rollout(env: UIEnv, seed: int) -> Iterator[tuple[Any, ...]]:
    yield env.reset(seed=seed)
    while True:
        step = env.step(env.action_space.sample())
        yield step
        if step[2] or step[3]:
            return


def test_without_a_seed_episodes_are_drawn_from_the_last_seed(make: Make) -> None:
    def seeds(env: UIEnv) -> list[int]:
        env.reset(seed=5)
        return [env.reset()[1]["seed"] for _ in range(4)]

    drawn = seeds(make())
    assert drawn == seeds(make())
    assert len(set(drawn)) == 4


def test_the_oracle_succeeds_and_the_reward_comes_at_the_end(make: Make) -> None:
    for dialect in ("canonical", "cells", "uitars"):
        steps = play_oracle(make(dialect=dialect), seed=1)
        assert [step[1] for step in steps] == [0.0] * (len(steps) - 1) + [1.0]
        assert steps[-1][2:4] == (True, False)
        assert len({step[0]["goal"] for step in steps}) == 1
        info = steps[-1][4]
        assert (info["score"], info["success"], info["step"]) == (1.0, True, len(steps))
        assert (info["action_error"], info["failure"]) == (None, None)


def test_progress_is_the_gain_of_each_step(make: Make) -> None:
    steps = play_oracle(make(reward="progress"), seed=1)
    rewards = [step[1] for step in steps]
    assert rewards[0] == 0.5
    assert sum(rewards) == steps[-1][4]["score"]
    assert sum(rewards) == 1.0
    assert rewards[-1] == 0.0  # to say that it is done gains nothing


def test_a_done_verdict_ends_the_episode(make: Make) -> None:
    env = make("PaintClick")
    options = {"oracle": {"other_color": 1.0}, "task": "PaintClick"}  # its own, by its name
    _, info = env.reset(seed=2, options=options)
    assert info["task"] == "UI/PaintClick-v0"
    _, reward, terminated, truncated, info = env.step(info["oracle"]["action_text"])
    assert (reward, terminated, truncated, info["success"]) == (0.0, True, False, False)
    assert info["notes"].startswith("clicked ")
    with pytest.raises(ResetNeeded, match="reset"):
        env.step("wait(0)")


def test_truncation_pays_what_was_reached(make: Make) -> None:
    env = make(max_steps=2)
    env.reset(seed=1)
    x, y = paint.center(env.task.draw(1, "train"), env.task.draw(1, "train").target)
    assert env.step(f"click({x}, {y})")[1:4] == (0.0, False, False)
    _, reward, terminated, truncated, info = env.step("wait(0)")
    assert (reward, terminated, truncated) == (0.5, False, True)
    assert (info["step"], info["max_steps"], info["failure"]) == (2, 2, None)
    with pytest.raises(ResetNeeded):
        env.step("wait(0)")


@pytest.mark.parametrize("ending", [Finish("infeasible"), Answer("42"), Finish()])
def test_what_ends_the_episode_reaches_the_judge_but_not_the_device(
    make: Make, pool: Pool, ending: Any
) -> None:
    env = make()
    env.reset(seed=1)
    _, _, terminated, _, info = env.step(f"click(1, 1); {ending}")
    assert terminated
    assert info["notes"] == {"infeasible": "it was feasible", "success": ""}.get(
        getattr(ending, "outcome", ""), "nothing was asked"
    )
    assert [str(action) for action in pool.lent[0].performed] == ["click(1, 1)"]


def test_several_actions_make_one_step(make: Make, pool: Pool) -> None:
    env = make()
    env.reset(seed=1)
    _, _, _, _, info = env.step('click(1, 1)\ntype("a"); wait(1)')
    assert info["step"] == 1
    assert len(pool.lent[0].performed) == 3


# -- bad actions --


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("let me think", "parse", "as in click(10, 20)"),
        ("clik(1, 2)", "name", "Did you mean 'click'"),
        ("click(96, 2)", "argument", "x is 0 to 95, y is 0 to 63"),
        ("finish(); click(1, 2)", "parse", "nothing may follow it"),
        (None, "parse", "an action is text, not NoneType"),
        ('type("a")', "runtime", "nothing was clicked yet"),
    ],
)
def test_a_bad_action_is_feedback_and_changes_nothing(
    make: Make, pool: Pool, text: Any, kind: str, says: str
) -> None:
    env = make()
    before, _ = env.reset(seed=1)
    after, reward, terminated, truncated, info = env.step(text)
    assert says in after["feedback"]
    assert (info["action_error"], info["step"]) == (kind, 1)
    assert (info["score"], info["success"], info["failure"]) == (0.0, False, None)
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert after["goal"] == before["goal"]
    assert np.array_equal(before["screenshot"], after["screenshot"])
    assert pool.lent[0].performed == []
    assert env.step("wait(0)")[0]["feedback"] == ""


def test_bad_actions_count_as_steps(make: Make) -> None:
    env = make(max_steps=2)
    env.reset(seed=1)
    assert env.step("?")[3] is False
    assert env.step("?")[3] is True


def test_feedback_says_what_was_done_before_the_impossible(make: Make) -> None:
    env = make()
    before, _ = env.reset(seed=1)
    x, y = paint.center(env.task.draw(1, "train"), "red")
    after, *_, info = env.step(f'click({x}, {y}); press("enter"); type("a")')
    assert after["feedback"] == f"press: paint cannot do that. Done before it: click({x}, {y})"
    assert info["action_error"] == "runtime"
    assert not np.array_equal(before["screenshot"], after["screenshot"])


# -- the oracle --


def test_the_oracle_sees_what_its_last_action_did(make: Make) -> None:
    env = make()
    _, info = env.reset(seed=1, options={"oracle": True, "ground_truth": True})
    text = info["ground_truth"].params["text"]
    said = []
    for _ in range(4):
        said.append(info["oracle"]["action_text"])
        info = env.step(info["oracle"]["action_text"])[4]
    assert said[1:] == [f'type("{letter}")' for letter in text]
    assert info["oracle"]["action_text"] == 'finish("success")'


def test_a_bad_action_does_not_move_the_oracle(make: Make) -> None:
    env = make()
    _, info = env.reset(seed=1, options={"oracle": True})
    assert env.step("?")[4]["oracle"] == info["oracle"]


def test_the_oracle_may_think_and_caption(make: Make) -> None:
    env = make("PaintClick", dialect="cells")
    _, info = env.reset(seed=1, options={"oracle": True, "ground_truth": True})
    thought, action = info["oracle"]["action_text"].split("\n")
    assert thought == f"The {info['ground_truth'].params['target']} box."
    assert action.startswith("click(<x")
    assert "red" in info["oracle"]["caption"]


def test_mistakes_mislead_the_oracle_and_not_the_judge(make: Make) -> None:
    assert not play_oracle(make(), 1, {"other_color": 1.0})[-1][4]["success"]
    assert play_oracle(make(), 1, {"other_color": 0.0})[-1][4]["success"]


# -- arguments and options --


def test_elements_are_given_where_asked(make: Make) -> None:
    both, _ = make(observation="both").reset(seed=1)
    assert '[0] button "red" @ ' in both["elements"]
    text, _ = make(observation="elements").reset(seed=1)
    assert text["elements"] == both["elements"]
    assert "screenshot" not in text


def test_viewport_and_task_arguments_shape_the_env(make: Make) -> None:
    env = make(viewport=(64, 48), boxes=2, pool=None)
    observation, info = env.reset(seed=1, options={"ground_truth": True})
    assert observation["screenshot"].shape == (48, 64, 3)
    assert len(info["ground_truth"].params["boxes"]) == 2
    assert env.action_space.size == (64, 48)
    assert paint.PaintText.viewport == (96, 64)


def test_splits_are_chosen_for_the_env_or_for_a_reset(make: Make) -> None:
    env = make(split="heldout")
    assert {env.reset(seed=s)[1]["split"] for s in range(9)} == {"heldout"}
    assert {env.reset(seed=s, options={"split": "train"})[1]["split"] for s in range(9)} == {
        "train"
    }
    assert {env.reset(seed=s, options={"split": None})[1]["split"] for s in range(30)} == {
        "train",
        "heldout",
    }


@pytest.mark.parametrize(
    ("arguments", "options", "says"),
    [
        ({"task": "PaintTxt"}, {}, "Did you mean 'UI/PaintText-v0'"),
        ({"task": 3}, {}, "a task is an id, a name or a Task"),
        ({"box": 2}, {}, "takes no argument 'box'. Did you mean 'boxes'"),
        ({"max_episode_steps": 2}, {}, "Did you mean 'max_steps'"),
        ({"boxes": 9}, {}, "boxes is 2 or 3, not 9"),
        ({"task": paint.PaintText(), "boxes": 2}, {}, "beside a Task object"),
        ({"dialect": "cell"}, {}, "Did you mean 'cells'"),
        ({"observation": "screen"}, {}, "Did you mean 'screenshot'"),
        ({"reward": "sucess"}, {}, "Did you mean 'success'"),
        ({"split": "held-out"}, {}, "Did you mean 'heldout'"),
        ({"render_mode": "rgb"}, {}, "Did you mean 'rgb_array'"),
        ({"viewport": (0, 5)}, {}, "(width, height) in pixels"),
        ({"viewport": 5}, {}, "(width, height) in pixels"),
        ({"max_steps": 0}, {}, "from 1 on, not 0"),
        ({"timeout": 0}, {}, "above 0"),
        ({"device": "oil", "pool": None}, {}, "there is no device 'oil'"),
        ({}, {"splitt": "train"}, "no reset option 'splitt'. Did you mean 'split'"),
        ({}, {"split": "test"}, "no split 'test'"),
        ({}, {"task": "PaintClick"}, "plays UI/PaintText-v0 alone"),
        ({}, {"oracle": {"other_colour": 1.0}}, "Did you mean 'other_color'"),
        ({}, {"oracle": {"other_color": 2}}, "0 to 1, not 2"),
        ({}, {"oracle": "yes"}, "True or a dict"),
        ({}, {"ground_truth": "all"}, "there is no ground_truth 'all'"),
    ],
)
def test_wrong_arguments_and_options_are_answered_with_the_nearest(
    make: Make, arguments: dict[str, Any], options: dict[str, Any], says: str
) -> None:
    def begin() -> None:
        env = make(**{"task": "PaintText"} | arguments)
        if options:  # an argument is told when the env is made
            env.reset(seed=1, options=options)

    with pytest.raises(UserError, match=re.escape(says)):
        begin()


def test_rendering_gives_the_last_screenshot(make: Make) -> None:
    env = make(render_mode="rgb_array")
    with pytest.raises(ResetNeeded):
        env.render()
    observation, _ = env.reset(seed=1)
    picture = env.render()
    assert picture is not None
    assert np.array_equal(picture, observation["screenshot"])
    picture[:] = 0
    assert env.render().any()
    assert make().render() is None


# -- faults of the device --


def test_a_lost_device_truncates_and_the_next_reset_heals(make: Make, pool: Pool) -> None:
    pool.faults.lose_on = "x"
    env = make()
    before, _ = env.reset(seed=1)
    last = env.step("click(1, 1)")[0]
    after, reward, terminated, truncated, info = env.step('type("x")')
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["failure"] == "device: the paint has dried"
    assert (info["step"], info["score"], info["success"]) == (2, 0.0, False)
    assert info["action_error"] is None
    assert (after["goal"], after["feedback"]) == (before["goal"], "")
    assert np.array_equal(after["screenshot"], last["screenshot"])
    with pytest.raises(ResetNeeded):
        env.step("wait(0)")
    again, info = env.reset(seed=1)
    assert info["failure"] is None
    assert np.array_equal(again["screenshot"], before["screenshot"])
    assert (pool.made, pool.broken) == (2, 1)


def test_a_device_lost_in_capture_truncates_too(make: Make, pool: Pool) -> None:
    env = make()
    env.reset(seed=1)
    pool.faults.captures = 1
    assert env.step("click(1, 1)")[4]["failure"] == "device: the paint has dried"


def test_reset_heals_a_device_that_fails_twice(make: Make, pool: Pool) -> None:
    pool.faults.starts = pool.faults.captures = 1
    observation, info = make().reset(seed=1)
    assert info["failure"] is None
    assert observation["screenshot"].any()


def test_reset_gives_up_after_three_failures_with_the_remedy(make: Make, pool: Pool) -> None:
    pool.faults.starts = 4
    env = make()
    with pytest.raises(DeviceStartError, match=r"3 resets in a row\. .*install paint.*doctor"):
        env.reset(seed=1)
    with pytest.raises(ResetNeeded):
        env.step("wait(0)")
    env.reset(seed=1)  # one more failure, then it starts


def test_what_no_second_try_can_mend_is_told_at_once(
    make: Make, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []
    monkeypatch.setattr(pool, "made", 0)
    acquire = pool.acquire

    def counted() -> Any:
        tried.append(1)
        return acquire()

    monkeypatch.setattr(pool, "acquire", counted)
    pool.faults.not_installed = True
    with pytest.raises(DeviceSetupError, match=r"^there is no brush: install brushes$"):
        make().reset(seed=1)
    assert len(tried) == 1


def test_a_device_of_the_wrong_size_is_told(make: Make) -> None:
    with pytest.raises(DeviceError, match=r"shape \(64, 96, 3\) came, not \(48, 64, 3\)"):
        make(viewport=(64, 48), pool=_Stubborn((96, 64))).reset(seed=1)


class _Stubborn(paint.PaintPool):
    """Devices that ignore `out`."""

    def acquire(self) -> paint.PaintDevice:
        device = super().acquire()
        device.capture = lambda out=None, **k: paint.PaintDevice.capture(device, **k)  # type: ignore[method-assign]
        return device


def test_an_env_of_its_own_pool_closes_it(make: Make) -> None:
    env = make(pool=None)
    env.reset(seed=1)
    env.close()
    env.close()
    assert env._loan.pool.closed
    for call in (env.reset, lambda: env.step("wait(0)")):
        with pytest.raises(ClosedEnvironmentError):
            call()


def test_a_pool_that_was_given_is_left_open(make: Make, pool: Pool) -> None:
    env = make()
    env.reset(seed=1)
    env.close()
    assert not pool.closed
    assert len(pool.idle) == 1


# -- bugs of a task --


@pytest.mark.parametrize("method", ["sample", "goal", "setup", "judge", "oracle", "misread"])
def test_a_bug_in_a_task_is_loud_and_named(make: Make, method: str) -> None:
    class Buggy(paint.PaintText):
        pass

    def broken(*args: Any) -> Any:
        raise KeyError("oops")

    setattr(Buggy, method, broken)
    env = make(Buggy())
    with pytest.raises(TaskError, match=rf"UI/PaintText-v0, {method}: raised KeyError\('oops'\)"):
        play_oracle(env, 1, {"other_color": 1.0})


def test_a_verdict_must_be_one(make: Make) -> None:
    class Buggy(paint.PaintText):
        def judge(self, *args: Any) -> Any:
            return 2.0

    env = make(Buggy())
    env.reset(seed=1)
    with pytest.raises(TaskError, match=r"judge: returned 2.0, not a Verdict"):
        env.step("wait(0)")
    with pytest.raises(ResetNeeded):
        env.step("wait(0)")


# -- Gymnasium --


def test_gym_make_gives_the_same_env(make: Make) -> None:
    made = gymnasium.make("UI/PaintText-v0", max_steps=3)
    theirs, _ = made.reset(seed=4)
    ours, _ = make().reset(seed=4)
    assert np.array_equal(theirs["screenshot"], ours["screenshot"])
    assert made.unwrapped.max_steps == 3
    made.close()


def test_the_spec_tells_the_steps_and_nothing_else_truncates() -> None:
    for arguments, steps in (({}, 6), ({"max_steps": 9}, 9), ({"max_steps": 2}, 2)):
        made = gymnasium.make("UI/PaintText-v0", **arguments)
        assert made.spec is not None
        assert made.spec.max_episode_steps == steps
        timed = gymnasium.wrappers.TimeAwareObservation(made, flatten=False)
        assert timed.reset(seed=1)[0]["time"] == 0
        for step in range(1, steps + 1):
            observation, _, terminated, truncated, info = timed.step("wait(0)")
            assert (observation["time"], info["step"]) == (step, step)
            assert (terminated, truncated) == (False, step == steps)
        made.reset(seed=1)
        for _ in range(steps - 1):
            made.step("wait(0)")
        assert made.step("finish()")[2:4] == (True, False)  # not truncated as well
        made.close()
    assert gymnasium.spec("UI/PaintText-v0").max_episode_steps is None


def test_durations_are_floats_that_compare_equal() -> None:
    one, other = Seconds(0.5), Seconds(2.0)
    assert one == other
    assert hash(one) == hash(other)
    assert one < other
    assert one == 0.5
    assert one != 0.6
    assert one + other == 2.5
    for again in (copy.deepcopy(other), pickle.loads(pickle.dumps(other))):  # noqa: S301
        assert float(again) == 2.0
        assert isinstance(again, Seconds)


def test_what_only_the_device_knows_reaches_goal_and_infos(
    monkeypatch: pytest.MonkeyPatch, make: Callable[..., UIEnv]
) -> None:
    def brief(self: Any, device: Any, params: Any) -> Brief:
        return Brief(f"{len(device.boxes)} boxes", {"hint": [params.target]})

    def judge(self: Any, device: Any, params: Any, history: Any) -> Verdict:
        return Verdict(0.0, details={"actions": len(history)})

    monkeypatch.setattr(paint.PaintClick, "brief", brief)
    monkeypatch.setattr(paint.PaintClick, "judge", judge)
    env = make("UI/PaintClick-v0")
    observation, info = env.reset(seed=1, options={"ground_truth": True})
    assert observation["goal"] == "3 boxes"
    known = info["ground_truth"]
    assert known.hidden == {"hint": [known.params["target"]]}
    assert info["details"] == {}
    observation, *_, info = env.step("wait(1)")
    assert observation["goal"] == "3 boxes"
    assert info["details"] == {"actions": 1}


def test_an_oracle_that_nobody_wrote_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, make: Callable[..., UIEnv]
) -> None:
    monkeypatch.setattr(paint.PaintClick, "oracle", Task.oracle)
    env = make("UI/PaintClick-v0")
    env.reset(seed=1, options={"oracle": False})
    with pytest.raises(UserError, match="UI/PaintClick-v0 has no oracle: nobody wrote down how"):
        env.reset(seed=1, options={"oracle": True})
