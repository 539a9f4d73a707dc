"""UIVectorEnv on the paint suite: batches, autoreset, free slots, hangs, and closing."""

from __future__ import annotations

import dataclasses
import gc
import os
import signal
import threading
import tracemalloc
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import paint
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from ui_gym.errors import DeviceTimeout, TaskError, UserError
from ui_gym.playing.env import UIEnv
from ui_gym.playing.vector import SlotResult, UIVectorEnv

Make = Callable[..., UIVectorEnv]
Pool = paint.PaintPool
MODES = list(AutoresetMode)


def same(one: Any, other: Any) -> bool:
    """Whether two batches hold the same values."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, np.ndarray) and one.dtype != object:
        return bool(np.array_equal(one, other))
    if isinstance(one, np.ndarray | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


# -- batches --


def test_slots_that_do_not_play_yet_take_next_to_no_memory() -> None:
    tracemalloc.start()
    try:
        env = UIVectorEnv(1000, "PaintText", viewport=(1280, 800))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    env.close()
    assert most < 50e6  # one picture of each would be 3 GB


def test_a_slot_is_an_env_of_its_own_seed(on_road: Make) -> None:
    batch, infos = on_road(3).reset(seed=5)
    assert infos["seed"].tolist() == [5, 6, 7]
    for slot in range(3):
        env = UIEnv("PaintText")
        observation, _ = env.reset(seed=5 + slot)
        assert batch["goal"][slot] == observation["goal"]
        assert np.array_equal(batch["screenshot"][slot], observation["screenshot"])
        env.close()


def test_observations_are_in_their_space_and_nobody_else_s(on_road: Make) -> None:
    env = on_road(2, observation="both")
    first, _ = env.reset(seed=1)
    assert first in env.observation_space
    kept = first["screenshot"].copy()
    second = env.step(["click(1, 1)", "?"])[0]
    assert second in env.observation_space
    assert second["feedback"][0] == ""
    assert "as in click" in second["feedback"][1]
    second["screenshot"][:] = 0
    third = env.step(["wait(0)", "wait(0)"])[0]
    assert np.array_equal(first["screenshot"], kept)
    assert third["screenshot"].any()


def test_results_have_gymnasium_s_types(on_road: Make) -> None:
    env = on_road(2)
    env.reset(seed=1)
    _, rewards, terminations, truncations, infos = env.step(["finish()", "clik(1, 2)"])
    assert (rewards.dtype, rewards.shape) == (np.float64, (2,))
    assert (terminations.dtype, truncations.dtype) == (np.bool_, np.bool_)
    assert terminations.tolist() == [True, False]
    assert infos["action_error"].tolist() == [None, "name"]
    assert infos["time_capture"].dtype == np.float64


def test_rendering_gives_every_slot_s_screen(on_road: Make) -> None:
    env = on_road(2, render_mode="rgb_array")
    batch, _ = env.reset(seed=1)
    assert same(env.render(), tuple(batch["screenshot"]))


# -- as Gymnasium's own --


def test_slots_envs_are_called_as_gymnasium_s_are(on_road: Make) -> None:
    theirs = SyncVectorEnv([lambda: UIEnv("PaintText", render_mode="rgb_array")] * 2)
    ours = on_road(2, render_mode="rgb_array")
    for env in (theirs, ours):
        assert env.get_attr("max_steps") == (6, 6)
        assert env.call("size") == ((96, 64), (96, 64))
        env.set_attr("reward_mode", "progress")
        env.set_attr("max_steps", [5, 4])
        with pytest.raises(ValueError, match="3"):
            env.set_attr("max_steps", [1, 2, 3])
        with pytest.raises(AttributeError, match="max_stepps"):
            env.get_attr("max_stepps")
        env.reset(seed=1)
        assert env.get_attr("reward_mode") == ("progress", "progress")
    assert same(ours.call("render"), theirs.call("render"))
    with pytest.raises(ValueError, match="use its own step"):
        ours.call("step", "wait(0)")
    ours.send_reset([0], [1])
    with pytest.raises(RuntimeError, match=r"call\(\) while slots \[0\]"):
        ours.get_attr("max_steps")
    ours.close()
    theirs.close()


ACTIONS = ["click(20, 20)", 'type("a")', "?", "finish()", "wait(0)", "click(50, 50)"]


def rollout(env: gymnasium.vector.VectorEnv) -> list[Any]:
    """Ten steps after a reset; slots end at different times, some twice."""
    seen = [env.reset(seed=3)]
    for step in range(10):
        seen.append(env.step(tuple(ACTIONS[(step + slot) % 6] for slot in range(env.num_envs))))
    env.close()
    return seen


def test_all_vectorization_modes_give_the_same(make_vector: Make) -> None:
    modes = ["vector_entry_point", "sync", "async"]
    ours, sync, parallel = (
        rollout(gymnasium.make_vec("UI/PaintText-v0", 2, vectorization_mode=mode, max_steps=3))
        for mode in modes
    )
    for one, other, third in zip(ours, sync, parallel, strict=True):
        assert same(one[:-1], other[:-1])
        assert same(one[:-1], third[:-1])


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_autoreset_is_gymnasium_s(on_road: Make, mode: AutoresetMode) -> None:
    theirs = SyncVectorEnv(
        [lambda: UIEnv("PaintText", max_steps=3)] * 3, autoreset_mode=mode, copy=True
    )
    ours = on_road(3, max_steps=3, autoreset_mode=mode.value)
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"] == mode
    ended = 0
    for one, other in zip(rollout(ours), rollout(theirs), strict=True):
        assert same(one[:-1], other[:-1])
        assert same(comparable(one[-1]), comparable(other[-1]))
        ended += "final_obs" in one[-1]
    assert (ended > 0) == (mode == AutoresetMode.SAME_STEP)


def comparable(infos: dict[str, Any]) -> dict[str, Any]:
    """Infos without durations, which `UIVectorEnv` holds in another form."""
    return {
        key: comparable(value) if isinstance(value, dict) else value
        for key, value in infos.items()
        if "time_" not in key
    }


def test_disabled_autoreset_restarts_the_slots_of_the_mask(on_road: Make) -> None:
    env = on_road(3, autoreset_mode="Disabled")
    first, _ = env.reset(seed=[1, 1, 1])
    assert len(set(first["goal"])) == 1
    batch, _, terminations, _, _ = env.step(["finish()", "wait(0)", "finish()"])
    with pytest.raises(ResetNeeded, match=r"slots \[0, 2\]"):
        env.step(["wait(0)"] * 3)
    options = {"reset_mask": terminations, "split": ["heldout", "train", None]}
    again, infos = env.reset(seed=[8, None, 9], options=options)
    assert set(options) == {"reset_mask", "split"}
    assert again["goal"][1] == batch["goal"][1]
    assert infos["_seed"].tolist() == [True, False, True]
    assert infos["seed"].tolist() == [8, 0, 9]
    assert infos["split"][0] == "heldout"
    assert env.step(["wait(0)"] * 3)[4]["step"].tolist() == [1, 2, 1]


def test_oracles_and_tasks_are_options_of_each_slot(on_road: Make) -> None:
    env = on_road(3, "PaintClick", autoreset_mode="Disabled")
    options = {"oracle": [True, {"other_color": 1.0}, None], "task": ["PaintClick"] * 3}
    infos = env.reset(seed=1, options=options)[1]
    texts = infos["oracle"]["action_text"].tolist()
    assert texts[2] is None
    texts[2] = "wait(0)"
    assert env.step(texts)[1].tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("seed", "options", "error", "says"),
    [
        ([1, 2], None, ValueError, "a list of 3, one a slot; 2 were given"),
        (1, {"reset_mask": [True] * 3}, TypeError, "numpy array of bool"),
        (1, {"reset_mask": np.zeros(3, np.bool_)}, ValueError, "at least one True"),
        (1, {"reset_mask": np.ones(2, np.bool_)}, ValueError, r"has shape \(3,\)"),
        (1, {"reset_masks": 1}, UserError, "Did you mean 'reset_mask'"),
        (1, {"split": ["train"]}, UserError, "a list of 3, one a slot; 1 were given"),
        (1, {"split": ["train", "train", "tran"]}, UserError, "Did you mean 'train'"),
    ],
)
def test_wrong_resets_are_refused_and_leave_it_usable(
    on_road: Make, seed: Any, options: Any, error: type[Exception], says: str
) -> None:
    env = on_road(3)
    with pytest.raises(error, match=says):
        env.reset(seed=seed, options=options)
    assert env.reset(seed=1)[1]["seed"].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"num_envs": 0}, "from 1 on, not 0"),
        ({"step_timeout": 0}, "above 0"),
        ({"autoreset_mode": "next"}, "Did you mean 'NextStep'"),
        ({"autoreset": "NextStep"}, "takes no argument 'autoreset'"),
        ({"boxes": 7}, "boxes is 2 or 3"),
    ],
)
def test_wrong_arguments_are_refused(
    make_vector: Make, arguments: dict[str, Any], says: str
) -> None:
    with pytest.raises(UserError, match=says):
        make_vector(**arguments)


# -- free slots --


def by_slot(results: list[SlotResult]) -> dict[int, SlotResult]:
    return {result.slot: result for result in results}


def test_slots_can_be_used_apart(on_road: Make) -> None:
    env = on_road(3)
    env.send_reset([2, 0], seeds=[8, 9], options=[{"oracle": True}, None])
    begun = by_slot(env.recv(at_least=2))
    assert set(begun) == {0, 2}
    assert all(result.is_reset and not result.ended for result in begun.values())
    assert begun[2].observation in env.single_observation_space
    assert not begun[2].observation["screenshot"].flags.writeable  # it is nobody's own copy
    env.send([begun[2].info["oracle"]["action_text"]], [2])
    (result,) = env.recv()
    assert (result.slot, result.is_reset, result.info["step"]) == (2, False, 1)
    env.send(["?", "finish()"], [2, 0])
    results = by_slot(env.recv(at_least=2))
    assert results[2].info["action_error"] == "parse"
    assert results[0].terminated


def hanging_slot(on_road: Make) -> UIVectorEnv:
    """Two slots, of which the first has an action that hangs."""
    env = on_road(2, device="paint:hang_on=slow")
    env.send_reset([0, 1], [1, 2])
    env.recv(at_least=2)
    env.send(["click(1, 1)"] * 2, [0, 1])
    env.recv(at_least=2)
    env.send(['type("slow")'], [0])
    return env


def test_a_fast_slot_does_not_wait_for_a_slow_one(on_road: Make) -> None:
    env = hanging_slot(on_road)
    for _ in range(3):
        env.send(["wait(0)"], [1])
        assert [result.slot for result in env.recv()] == [1]
    assert env.recv(timeout=0.01) == []


def test_a_wait_for_slots_can_be_ended_from_another_thread(on_road: Make) -> None:
    env = hanging_slot(on_road)
    asked, enough = threading.Event(), threading.Event()

    def end() -> None:
        asked.wait()
        enough.set()
        env.wake()

    def until() -> bool:
        asked.set()
        return enough.is_set()

    thread = threading.Thread(target=end)
    thread.start()
    assert env.recv(until=until) == []
    thread.join()
    env.wake()  # while nobody waits: it is no answer of a slot
    env.send(["wait(0)"], [1])
    assert [result.slot for result in env.recv()] == [1]


def test_misuse_states_the_rule(on_road: Make) -> None:
    env = on_road(3)
    with pytest.raises(RuntimeError, match=r"send\(\) or send_reset\(\) before recv"):
        env.recv()
    with pytest.raises(ResetNeeded, match=r"slots \[1\]"):
        env.send(["wait(0)"], [1])
    env.send_reset([1], [1])
    with pytest.raises(RuntimeError, match=r"slots \[1\] have answers to come"):
        env.send(["wait(0)"], [1])
    with pytest.raises(RuntimeError, match=r"one call at a time"):
        env.send_reset([0, 1], [1, 1])
    with pytest.raises(RuntimeError, match=r"step\(\) while slots \[1\]"):
        env.step(["wait(0)"] * 3)
    with pytest.raises(RuntimeError, match=r"reset\(\) while slots \[1\]"):
        env.reset(seed=1)
    with pytest.raises(RuntimeError, match=r"at_least=2\) while 1 slots"):
        env.recv(at_least=2)
    for slots in ([3], [-1], [0, 0]):
        with pytest.raises(ValueError, match="different numbers from 0 to 2"):
            env.send_reset(slots, [1] * len(slots))
    with pytest.raises(ValueError, match="one seed and one options dict"):
        env.send_reset([0], [1, 2])
    env.recv()
    with pytest.raises(ValueError, match="one action for each of 1 slots"):
        env.send("a", [1])
    env.send(["wait(0)"], [1])
    assert env.recv()[0].info["step"] == 1
    with pytest.raises(ResetNeeded, match=r"slots \[0, 2\]"):
        env.step(["wait(0)"] * 3)


# -- faults --


def test_a_lost_device_is_healed_and_the_others_do_not_notice(on_road: Make) -> None:
    env = on_road(3, autoreset_mode="Disabled", device="paint:lose_on=x")
    env.reset(seed=1)
    env.step(["click(1, 1)"] * 3)
    _, _, _, truncations, infos = env.step(["wait(0)", 'type("x")', "wait(0)"])
    assert truncations.tolist() == [False, True, False]
    assert infos["failure"].tolist() == [None, "device: the paint has dried", None]
    env.reset(seed=[None, 5, None], options={"reset_mask": truncations})
    infos = env.step(["wait(0)"] * 3)[4]
    assert infos["failure"].tolist() == [None] * 3
    assert infos["step"].tolist() == [3, 1, 3]


def test_a_slot_that_hangs_is_given_up_and_replaced(on_road: Make) -> None:
    env = on_road(2, autoreset_mode="Disabled", device="paint:hang_on=hang")
    env.reset(seed=1)
    env._fleet._timeout = 0.5  # what starts takes longer
    before = env.step(["click(1, 1)"] * 2)[0]
    after, rewards, _, truncations, infos = env.step(['type("hang")', "wait(0)"])
    assert truncations.tolist() == [True, False]
    assert rewards.tolist() == [0.0, 0.0]
    assert infos["failure"].tolist() == ["device: no answer within 0.5 s", None]
    assert infos["step"].tolist() == [2, 2]
    assert same(after["screenshot"], before["screenshot"])
    env._fleet._timeout = 30.0
    _, infos = env.reset(seed=[9, None], options={"reset_mask": truncations})
    assert infos["seed"][0] == 9
    assert env.step(["wait(0)"] * 2)[4]["step"].tolist() == [1, 3]


def test_a_late_answer_of_a_given_up_worker_is_nobody_s(make_vector: Make, pool: Pool) -> None:
    pool.faults.hang_on = "hang"
    pool.faults.ignore_close = threading.Event()
    env = make_vector(1, step_timeout=0.5)
    env.send_reset([0], [1])
    env.recv()
    env.send(["click(1, 1)"], [0])
    env.recv()
    (hung,) = [t for t in threading.enumerate() if t.name == "ui-gym-slot-0"]
    env.send(['type("hang")'], [0])
    assert env.recv()[0].info["failure"] == "device: no answer within 0.5 s"
    env.send_reset([0], [2])
    assert env.recv()[0].info["seed"] == 2
    pool.faults.ignore_close.set()
    hung.join(5)
    assert not hung.is_alive()
    env.send(["wait(0)"], [0])
    (result,) = env.recv()
    assert (result.info["seed"], result.info["step"]) == (2, 1)


@pytest.mark.parametrize("hangs", [2, 3])
def test_a_reset_that_hangs_is_tried_again_on_a_fresh_device(on_road: Make, hangs: int) -> None:
    env = on_road(1, device=f"paint:hang_resets={hangs}")
    env.get_attr("size")  # whoever plays it has started
    env._fleet._timeout = 1.0
    if hangs == 3:
        with pytest.raises(
            DeviceTimeout, match=r"slot 0: 3 resets in a row gave no answer within 1 s"
        ):
            env.reset(seed=4)
    assert env.reset(seed=4)[1]["seed"].tolist() == [4]


def test_an_unseeded_reset_that_hangs_begins_the_same_episode(
    make_vector: Make, pool: Pool
) -> None:
    told = []
    for hangs in (0, 2):
        env = make_vector(1, step_timeout=0.5)
        env.reset(seed=4)
        pool.faults.hang_resets = hangs
        told.append([int(env.reset()[1]["seed"][0]) for _ in range(3)])
    single = UIEnv("PaintText")
    single.reset(seed=4)
    told.append([single.reset()[1]["seed"] for _ in range(3)])
    single.close()
    assert told[0] == told[1] == told[2]


def test_the_step_of_a_lost_slot_tells_nothing_of_its_reset(make_vector: Make, pool: Pool) -> None:
    pool.faults.hang_on, pool.faults.hang_resets = "hang", 1
    env = make_vector(1, step_timeout=0.5)
    env.send_reset([0], [1], [{"ground_truth": True, "oracle": True}])
    (begun,) = env.recv()
    assert begun.info.keys() >= {"ground_truth", "faults", "oracle"}
    env.send(['type("hang")'], [0])
    (lost,) = env.recv()
    assert lost.info["failure"]
    assert lost.info.keys() == begun.info.keys() - {"ground_truth", "faults"}


def test_the_step_of_a_lost_slot_has_no_details_of_an_earlier_verdict(
    make_vector: Make, pool: Pool
) -> None:
    class Detailed(paint.PaintText):
        def judge(self, device: Any, params: Any, history: Any) -> Any:
            verdict = super().judge(device, params, history)
            return dataclasses.replace(verdict, details={"actions": len(history)})

    pool.faults.hang_on = "hang"
    env = make_vector(1, Detailed(), step_timeout=0.5)
    env.send_reset([0], [1])
    env.recv()
    told = []
    for text in ("click(1, 1)", 'type("hang")'):
        env.send([text], [0])
        told.append(env.recv()[0].info["details"])
    assert told == [{"actions": 1}, {}]


def test_a_bug_in_one_slot_is_raised_and_the_rest_is_usable(make_vector: Make) -> None:
    class Buggy(paint.PaintText):
        def judge(self, device: Any, params: Any, history: Any) -> Any:
            assert "red" not in str(history)
            return super().judge(device, params, history)

    env = make_vector(2, Buggy(), autoreset_mode="Disabled")
    env.reset(seed=1)
    env.step(["click(1, 1)"] * 2)
    with pytest.raises(TaskError, match="judge: raised AssertionError"):
        env.step(['type("red")', "wait(0)"])
    with pytest.raises(ResetNeeded, match=r"slots \[0\]"):
        env.step(["wait(0)"] * 2)
    env.reset(seed=[1, None], options={"reset_mask": np.array([True, False])})
    assert env.step(["wait(0)"] * 2)[4]["step"].tolist() == [1, 3]


# -- closing --


def test_closing_is_final_and_may_be_repeated(make_vector: Make, pool: Pool) -> None:
    env = make_vector(2)
    env.reset(seed=1)
    env.close()
    env.close()
    assert len(pool.idle) == 2
    assert not pool.closed
    for call in (env.reset, lambda: env.step(["", ""]), env.recv, lambda: env.send([""], [0])):
        with pytest.raises(ClosedEnvironmentError):
            call()


def test_closing_does_not_wait_for_a_slot_that_hangs(make_vector: Make, pool: Pool) -> None:
    pool.faults.hang_on = "hang"
    env = make_vector(2)
    env.reset(seed=1)
    env.step(["click(1, 1)"] * 2)
    env.send(['type("hang")'], [1])
    env.close()
    assert pool.lent == []
    assert pool.broken == 1


def test_it_closes_a_pool_of_its_own_and_gives_back_where_it_is_forgotten(pool: Pool) -> None:
    env = UIVectorEnv(2, "PaintText")
    env.reset(seed=1)
    own = env._fleet._crew._pool
    env.close()
    assert (own.closed, own.lent) == (True, [])
    env = UIVectorEnv(2, "PaintText", pool=pool)
    env.reset(seed=1)
    assert len(pool.lent) == 2
    del env
    gc.collect()
    assert pool.lent == []


def test_ctrl_c_in_a_step_leaves_a_closable_env(make_vector: Make, pool: Pool) -> None:
    pool.faults.hang_on = "hang"
    env = make_vector(2)
    env.reset(seed=1)
    env.step(["click(1, 1)"] * 2)
    interrupt = threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT])
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        env.step(['type("hang")', "wait(0)"])
    interrupt.join()
    with pytest.raises(RuntimeError, match="of a step that was interrupted"):
        env.step(["wait(0)"] * 2)
    env.close()
    assert pool.lent == []


# -- what slots do, for those who look on --


def test_slots_say_what_they_do(make_vector: Make, pool: paint.PaintPool) -> None:
    pool.faults.hang_on = "hang"
    envs = make_vector(2, step_timeout=0.5)
    envs.send_reset([0, 1], [1, 2])
    assert {slot.state for slot in envs.slot_states} <= {"reset", "idle"}
    envs.recv(2)
    assert [(s.slot, s.state, s.restarts) for s in envs.slot_states] == [
        (0, "idle", 0), (1, "idle", 0),
    ]  # fmt: skip
    envs.send(['type("hang")'], [1])
    assert [slot.state for slot in envs.slot_states] == ["idle", "step"]
    (lost,) = envs.recv(1)
    assert lost.info["failure"]
    assert [(s.state, s.restarts) for s in envs.slot_states] == [("idle", 0), ("idle", 1)]
    assert all(slot.seconds >= 0 for slot in envs.slot_states)


def test_a_reset_that_gave_no_answer_counts_as_a_restart(
    make_vector: Make, pool: paint.PaintPool
) -> None:
    pool.faults.hang_resets = 1
    envs = make_vector(1, step_timeout=0.5)
    envs.reset(seed=1)
    assert [slot.restarts for slot in envs.slot_states] == [1]
