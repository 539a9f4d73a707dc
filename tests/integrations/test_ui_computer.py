"""UIComputer without the packages that it is for: what is queued, when it is done, how it ends."""

from __future__ import annotations

import asyncio
import base64
import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import paint
import pytest
from PIL import Image

from ui_gym.dialects.jsonish import read_objects
from ui_gym.errors import DeviceError, UserError
from ui_gym.playing.env import UIEnv
from ui_gym_agents.chat import ChatEpisode
from ui_gym_agents.integrations.computer import OVER, AsyncUIComputer, UIComputer, ended

Make = Callable[..., UIEnv]


@pytest.fixture
def computer(make: Make) -> UIComputer:
    computer = UIComputer(make(dialect="openai"))
    computer.reset(seed=1, options={"oracle": True})
    return computer


@pytest.fixture
def device(computer: UIComputer) -> paint.PaintDevice:
    found: Any = computer.chat.env.device
    return found


def shown(picture: str) -> np.ndarray[Any, Any]:
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(picture))))


def asked(computer: UIComputer) -> Iterator[dict[str, Any]]:
    """What the oracle asks for, as the tool has it, until it says that it is done."""
    while not computer.done:
        (said,) = read_objects(computer.chat.info["oracle"]["action_text"], "")
        if said["type"] == "function_call":
            return
        yield said


def test_an_oracle_wins_by_methods(computer: UIComputer) -> None:
    for said in asked(computer):
        getattr(computer, said.pop("type"))(**said)
        computer.screenshot()
    assert computer.score == 1.0
    assert not computer.done
    assert computer.finish() == 1.0
    assert computer.done


def test_a_batch_is_one_step_and_looking_is_none(
    computer: UIComputer, device: paint.PaintDevice
) -> None:
    first = computer.screenshot()
    computer.click(8, 8)
    computer.move(4, 4)
    computer.wait()
    assert device.performed == []
    computer.screenshot()
    assert [str(action) for action in device.performed] == [
        "click(8, 8)", "move(4, 4)", "wait(seconds=2.0)"
    ]  # fmt: skip
    last = computer.screenshot()
    assert computer.chat.info["step"] == 1
    np.testing.assert_array_equal(shown(last), computer.chat.view.screenshot)
    assert shown(first).shape == shown(last).shape == (64, 96, 3)


def test_every_method_says_what_the_tool_says(make: Make) -> None:
    computer = UIComputer(make(dialect="openai"))
    computer.reset(seed=1)
    told: list[str] = []
    computer.chat.act = lambda said: told.append(said)  # type: ignore[assignment,method-assign,func-returns-value]
    computer.click(1, 2, "wheel", keys=["CTRL"])
    computer.double_click(1, 2, keys=None)
    computer.scroll(1, 2, 0, 30)
    computer.type("a</tool_call>b")
    computer.keypress(["CTRL", "A"])
    computer.keypress("ENTER")
    computer.drag([(1, 2), (3, 4)])
    computer.drag([{"x": 1, "y": 2}, {"x": 5, "y": 6}])
    computer.move(7, 8, keys=["SHIFT"])
    computer.wait(4000)
    with pytest.raises(AttributeError):  # the stub answers nothing
        computer.screenshot()
    assert [str(a) for a in computer.chat.env.dialect.parse(told[0], (96, 64))] == [
        'click(1, 2, button="middle", keys="ctrl")', "click(1, 2, count=2)",
        "scroll(1, 2, dy=30)", 'type("a</tool_call>b")', 'press("ctrl+a")', 'press("enter")',
        "drag(1, 2, 3, 4)", "drag(1, 2, 5, 6)", "move(7, 8)", "wait(seconds=2.0)",
        "wait(seconds=2.0)",
    ]  # fmt: skip


def test_a_button_that_goes_down_and_up_clicks_or_drags(
    computer: UIComputer, device: paint.PaintDevice
) -> None:
    computer.left_mouse_down(8, 8)
    computer.screenshot()
    computer.left_mouse_up()
    computer.screenshot()
    assert [str(action) for action in device.performed] == ["click(8, 8)"]
    computer.move(1, 1)
    computer.left_mouse_down()
    computer.move(9, 9)
    computer.left_mouse_up(20, 30)
    computer.screenshot()
    assert computer.feedback.startswith("drag: paint cannot do that")
    assert computer.chat.view.turns[-1].action_text.endswith("[[1, 1], [9, 9], [20, 30]]}]")


@pytest.mark.parametrize("wrong", ["up alone", "down nowhere", "a click meanwhile", "outside"])
def test_what_cannot_be_done_costs_a_step_and_is_said(
    computer: UIComputer, device: paint.PaintDevice, wrong: str
) -> None:
    if wrong == "up alone":
        computer.left_mouse_up(8, 8)
    elif wrong == "down nowhere":
        computer.left_mouse_down()
    elif wrong == "a click meanwhile":
        computer.left_mouse_down(8, 8)
        computer.click(8, 8)
    else:
        computer.click(8, 800)
    computer.screenshot()
    assert computer.feedback
    assert computer.chat.info["step"] == 1
    assert device.performed == []
    computer.click(8, 8)
    computer.screenshot()
    assert not computer.feedback


def test_what_comes_after_the_end_is_not_done_and_the_picture_says_so(make: Make) -> None:
    computer = UIComputer(make("PaintClick", dialect="openai"))
    computer.reset(seed=1, options={"oracle": True})
    said = next(asked(computer))
    computer.click(said["x"], said["y"])
    over = computer.screenshot()
    assert (computer.done, computer.score, computer.feedback) == (True, 1.0, OVER)
    np.testing.assert_array_equal(shown(over), ended(computer.chat.view.screenshot))
    assert (shown(over) != computer.chat.view.screenshot).any()
    device: Any = computer.chat.env.device
    count = len(device.performed)
    computer.type("more")
    assert computer.screenshot() == over
    assert computer.finish("It is done.") == 1.0
    assert len(device.performed) == count
    computer.reset(seed=2)
    assert not computer.done


def test_the_answer_ends_the_episode_after_what_is_queued(
    computer: UIComputer, device: paint.PaintDevice
) -> None:
    computer.click(8, 8)
    assert computer.finish("It is \ud800 42." + "." * 5000) == 0.0
    assert [str(action) for action in device.performed] == ["click(8, 8)"]
    assert computer.done
    assert computer.chat.info["notes"] == "nothing was asked"


def test_a_device_that_fails_has_no_score(make: Make, faults: paint.Faults) -> None:
    computer = UIComputer(make(dialect="openai"))
    computer.reset(seed=1)
    faults.lose_on = "x"
    computer.click(8, 8)
    computer.type("x")
    for call in (computer.screenshot, computer.finish, lambda: computer.score):
        with pytest.raises(DeviceError, match="Play the episode again"):
            call()
    assert computer.done
    faults.lose_on = ""
    computer.reset(seed=1)
    assert computer.score == 0.0


def test_an_env_is_one_that_the_computer_can_speak_to() -> None:
    computer = UIComputer("PaintText", max_steps=3)
    assert computer.chat.env.dialect.name == "openai"
    assert computer.dimensions == (96, 64)
    assert computer.environment is None
    with pytest.raises(UserError, match=r"call reset\(\) first"):
        computer.screenshot()
    computer.close()
    with pytest.raises(UserError, match="dialect='openai' and pictures, not 'canonical'"):
        UIComputer(UIEnv("PaintText"))
    with pytest.raises(UserError, match="observation='elements'"):
        UIComputer("PaintText", observation="elements")


def test_an_episode_that_is_under_way_is_played_on() -> None:
    chat = ChatEpisode("PaintText", dialect="openai")
    chat.reset(seed=1)
    computer = UIComputer(chat)
    assert computer.goal == chat.view.goal
    assert shown(computer.screenshot()).shape == (64, 96, 3)
    computer.close()


def test_the_async_computer_does_the_same() -> None:
    async def play() -> tuple[float, int]:
        computer = AsyncUIComputer("PaintText")
        await computer.reset(seed=1, options={"oracle": True})
        for said in asked(computer.computer):
            await getattr(computer, said.pop("type"))(**said)
            await computer.screenshot()
        score, steps = await computer.finish(), computer.computer.chat.info["step"]
        assert (computer.done, computer.score, computer.feedback) == (True, score, OVER)
        await computer.close()
        return score, steps

    assert asyncio.run(play()) == (1.0, 5)
