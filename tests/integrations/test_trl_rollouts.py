"""TRL's environments without TRL: what its trainer would be given."""

from __future__ import annotations

import concurrent.futures.thread
import gc
import pickle
import threading
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import paint
import pytest
from PIL import Image
from waiting import eventually

from ui_gym.errors import DeviceError, TaskError, UserError
from ui_gym.playing.env import UIEnv
from ui_gym_agents.chat import ChatEpisode
from ui_gym_agents.integrations import episodes, lazy_picture, trl
from ui_gym_agents.integrations.trl import OVER, UIGymRollout, UIGymSpec
from ui_gym_agents.policy.prompts import PromptBuilder


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {"trl": "1.16.0"}
    monkeypatch.setattr(episodes, "version", lambda name: versions.get(name) or version(name))


def rollout(task: str = "PaintText", **arguments: Any) -> UIGymRollout:
    return UIGymSpec(task, **arguments).environment_factory()


def texts(content: Any) -> str:
    return content if isinstance(content, str) else "".join(p.get("text", "") for p in content)


def picture(content: Any) -> np.ndarray[Any, Any]:
    (image,) = (part["image"] for part in content if part["type"] == "image")
    assert isinstance(image, Image.Image)
    return np.asarray(image)


def oracle(seed: int, task: str = "PaintText") -> list[str]:
    chat = ChatEpisode(task)
    chat.reset(seed=seed, options={"oracle": True})
    said = []
    while True:
        said.append(chat.info["oracle"]["action_text"])
        if chat.act(said[-1]).done:
            chat.close()
            return said


@pytest.mark.parametrize("lazy", [True, False])
def test_a_reset_shows_the_goal_how_actions_are_written_and_the_screen(lazy: bool) -> None:
    shown = rollout(lazy=lazy).reset(seed=3, split="train")
    env = UIEnv("PaintText")
    observation, _ = env.reset(seed=3)
    assert observation["goal"] in texts(shown)
    assert env.dialect.prompt(env.size) in texts(shown)
    assert "the tool `act`" in texts(shown)
    np.testing.assert_array_equal(picture(shown), observation["screenshot"])
    env.close()


@pytest.mark.parametrize("lazy", [True, False])
def test_an_oracle_wins_by_calls(lazy: bool) -> None:
    slot = rollout(lazy=lazy)
    slot.reset(seed=1)
    *before, last = [slot.act(text) for text in oracle(1)]
    assert [texts(shown) for shown in before] == [""] * len(before)
    assert texts(last) == OVER
    assert slot.get_reward() == 1.0
    assert slot.act("click(1, 1)") == OVER
    slot.reset(seed=1)
    slot.act("finish()")
    assert slot.get_reward() == 0.0


def test_who_stops_calling_is_judged_by_what_is_there() -> None:
    slot = rollout()
    slot.reset(seed=1)
    for text in oracle(1)[:-1]:  # all but finish()
        slot.act(text)
    assert slot.get_reward() == 1.0
    assert slot.get_reward() == 1.0
    assert slot.act("click(1, 1)") == OVER


@pytest.mark.parametrize("said", ["", "I do not know.", "click(900, 1)", 3, None, {"x": 1}])
def test_a_wrong_action_is_told_and_nothing_is_over(said: Any) -> None:
    slot = rollout()
    slot.reset(seed=1)
    told = slot.act(said)
    assert texts(told) not in ("", OVER)
    assert picture(told).shape == (64, 96, 3)
    assert texts(slot.act("wait(0)")) == ""


def test_what_the_device_refuses_is_told() -> None:
    slot = rollout()
    slot.reset(seed=1)
    assert "paint cannot do that" in texts(slot.act("press('a')"))


def test_the_slots_of_a_batch_step_at_once() -> None:
    spec = UIGymSpec("PaintText", device="paint:hang_on=slow")
    slots = [spec.environment_factory() for _ in range(4)]
    for slot in slots:
        slot.reset(seed=1)
        slot.act(oracle(1)[0])
    shown = [slot.act('type("slow")') for slot in slots]  # would hang here, were it not lazy
    # What TRL's loop asks of a part before it has called the next slot.
    kinds = [part.get("type") for content in shown for part in content if isinstance(part, dict)]
    assert kinds == ["text", "image"] * 4
    for slot in slots:
        slot._chat.env.abandon()
    assert ["It was lost" in texts(content) for content in shown] == [True] * 4


def test_an_episode_that_was_lost_has_no_reward_and_the_next_one_has() -> None:
    slot = rollout(device="paint:lose_on=kill")
    slot.reset(seed=1)
    slot.act(oracle(1)[0])
    told = texts(slot.act('type("kill")'))
    assert "device: the paint has dried" in told
    assert OVER in told
    assert slot.get_reward() is None
    slot.reset(seed=1)
    assert slot.get_reward() == 0.0


def test_a_device_that_cannot_be_had_is_raised_where_it_is_looked_at() -> None:
    slot = rollout(device="paint:not_installed=1")
    shown = slot.reset(seed=1)
    with pytest.raises(DeviceError, match="install brushes"):
        texts(shown)
    with pytest.raises(DeviceError, match="install brushes"):
        picture(shown)
    with pytest.raises(DeviceError, match="install brushes"):
        slot.get_reward()


def test_a_broken_task_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    slot = rollout()
    slot.reset(seed=1)
    monkeypatch.setattr(paint.PaintText, "judge", lambda *given: 1 / 0)
    with pytest.raises(TaskError, match="ZeroDivisionError"):
        slot.get_reward()


def test_rows_of_equal_seeds_begin_alike() -> None:
    factory = UIGymSpec("PaintText").environment_factory
    first, again, other = (factory().reset(seed=seed) for seed in (5, 5, 6))
    assert picture(first).tobytes() == picture(again).tobytes() != picture(other).tobytes()
    assert texts(first) == texts(again)
    with pytest.raises(UserError, match="a column 'seed'"):
        factory().reset(prompt=[{"role": "user", "content": ""}])
    with pytest.raises(UserError, match="call reset"):
        factory().act("click(1, 1)")


def test_where_elements_alone_are_seen_texts_come() -> None:
    slot = rollout(observation="elements")
    assert isinstance(slot.reset(seed=1), str)
    assert isinstance(slot.act("wait(0)"), str)


def test_a_prompt_of_ones_own_is_asked() -> None:
    slot = rollout(prompt=PromptBuilder.bare())
    goal = texts(slot.reset(seed=1))
    assert goal == slot._chat.view.goal


def test_the_model_may_call_act_alone() -> None:
    public = {name for name in vars(UIGymRollout) if not name.startswith("_")}
    assert public == {"reset", "act", "get_reward"}


def test_another_pillow_makes_pictures_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trl, "lazy_works", lambda: False)
    shown: Any = rollout().reset(seed=1)
    assert [type(part) for part in shown] == [dict, dict]
    assert type(shown[1]["image"]) is Image.Image
    assert not any(isinstance(part, lazy_picture.LazyText) for part in shown)


@pytest.mark.timeout(20)
def test_a_slot_may_be_forgotten_while_executors_are_locked() -> None:
    slot = rollout()
    slot.reset(seed=1)
    slot._wait()
    with concurrent.futures.thread._global_shutdown_lock:  # as where a collection comes in submit
        del slot
        gc.collect()


def test_a_slot_that_is_forgotten_gives_its_device_back() -> None:
    spec = UIGymSpec("PaintText")
    pool: Any = spec._env._loan.pool
    slots = [spec.environment_factory() for _ in range(3)]
    for slot in slots:
        slot.reset(seed=1)
        slot.act("wait(0)")
        slot.get_reward()
    assert len(pool.lent) == 3
    del slot
    slots.clear()
    gc.collect()
    assert eventually(lambda: pool.lent == [])
    assert eventually(lambda: not any("ui-gym-trl" in t.name for t in threading.enumerate()))


def test_a_factory_goes_to_other_processes() -> None:
    made = UIGymSpec("PaintText").environment_factory
    factory = pickle.loads(pickle.dumps(made))  # noqa: S301  # its own
    assert "box" in texts(factory().reset(seed=1))


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ("1.13.0", "trl>=1.14,<1.17"),
        ("1.17.0.dev0", "trl>=1.14,<1.17"),
        ("2.0", "trl 2.0 is installed"),
    ],
)
def test_another_trl_is_refused(found: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(episodes, "version", lambda name: found)
    with pytest.raises(UserError, match=told):
        UIGymSpec("PaintText")


def test_a_missing_trl_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(episodes, "version", missing)
    with pytest.raises(UserError, match="trl"):
        UIGymSpec("PaintText")


@pytest.mark.parametrize("wrong", [{"seeds": 0}, {"first_seed": -1}, {"levle": 3}])
def test_wrong_arguments_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        UIGymSpec("PaintText", **wrong)
