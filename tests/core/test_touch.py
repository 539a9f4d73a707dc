"""TouchActions: AndroidEnv's touches become the env's own gestures."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.spaces import Discrete

from ui_gym.dialects import get_dialect
from ui_gym.errors import UserError
from ui_gym.playing.spaces import ActionText
from ui_gym.wrappers import TouchActions, TouchType

SIZE = (200, 400)


class Listening(gym.Env):
    """Keeps the texts that it is given."""

    observation_space = Discrete(1)

    def __init__(self, dialect: str = "canonical") -> None:
        self.action_space = ActionText(dialect, SIZE)
        self.heard: list[str] = []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        self.heard.append(action)
        return 0, 0.0, False, False, {}


def touch(x: float, y: float) -> dict:
    return {"action_type": TouchType.TOUCH, "touch_position": np.array([x, y], np.float32)}


LIFT = {"action_type": TouchType.LIFT}
REPEAT = {"action_type": TouchType.REPEAT}


def done(steps: list[dict], **options: object) -> str:
    """What the last of the steps does; those before only wait."""
    env = TouchActions(Listening(), **options)
    env.reset(seed=0)
    for step in steps:
        env.step(step)
    *waited, last = env.unwrapped.heard
    assert set(waited) <= {f"wait(seconds={options.get('interval', 0.1)})"}
    return last


def key(code: int, *kinds: int) -> list[dict]:
    """A key is pressed (5), or goes down (3) and up (4)."""
    return [{"action_type": kind, "keycode": code} for kind in kinds]


SWIPE = [touch(0.5, 0.75), touch(0.5, 0.5), touch(0.5, 0.25), LIFT]


@pytest.mark.parametrize(
    ("steps", "options", "does"),
    [
        ([touch(0.5, 0.25), LIFT], {}, "click(100, 100)"),
        ([touch(1.0, 1.0), LIFT], {}, "click(199, 399)"),
        ([touch(0.5, 0.25), *[REPEAT] * 7, LIFT], {}, "long_press(100, 100)"),
        ([touch(0.5, 0.25), *[REPEAT] * 3, LIFT], {}, "click(100, 100)"),
        ([touch(0.5, 0.25), touch(0.505, 0.255), LIFT], {}, "click(100, 100)"),
        (SWIPE, {}, "drag(100, 300, 100, 100)"),
        (SWIPE, {"interval": 0.5}, "drag(100, 300, 100, 100, seconds=1.5)"),
        ([touch(0.5, 0.5), touch(0.9, 0.5), touch(0.5, 0.5), LIFT], {}, "drag(100, 200, 100, 200)"),
        ([LIFT], {}, "wait(seconds=0.1)"),
        *((key(code, *kinds), {}, f'press("{name}")')
          for code, name in ((4, "back"), (66, "enter"), (29, "a"), (187, "recents"))
          for kinds in ((5,), (3, 4))),
        (key(9999, 5), {}, "wait(seconds=0.1)"),
    ],
    ids=["comes and goes", "far corner", "stays", "stays a little", "trembles", "moves",
         "moves slowly", "goes and comes back", "no finger", "back", "back, down and up", "enter",
         "enter, down and up", "a", "a, down and up", "recents", "recents, down and up",
         "unknown key"],
)  # fmt: skip
def test_what_a_finger_and_keys_do(steps: list[dict], options: dict, does: str) -> None:
    assert done(steps, **options) == does


def test_a_reset_lifts_the_finger():
    env = TouchActions(Listening())
    env.reset(seed=0)
    env.step(touch(0.5, 0.5))
    env.reset(seed=0)
    env.step(LIFT)
    assert env.unwrapped.heard[-1] == "wait(seconds=0.1)"


def test_gestures_are_written_in_the_env_s_dialect():
    env = TouchActions(Listening("androidworld"))
    env.reset(seed=0)
    env.action(touch(0.5, 0.25))
    text = env.action(LIFT)
    assert [str(a) for a in get_dialect("androidworld").parse(text, SIZE)] == ["click(100, 100)"]


def test_samples_of_the_space_are_understood():
    env = TouchActions(Listening())
    env.reset(seed=0)
    env.action_space.seed(0)
    for _ in range(300):
        env.step(env.action_space.sample())
    assert len(env.unwrapped.heard) == 300


@pytest.mark.parametrize(
    "wrong",
    [
        {}, {"action_type": 9}, {"action_type": 0, "touch_position": (2.0, 0.0)},
        {"action_type": "touch"}, 3, {"action_type": 0, "touch_position": (0.5,)},
    ],
)  # fmt: skip
def test_what_is_no_action_is_an_error(wrong):
    env = TouchActions(Listening())
    env.reset(seed=0)
    with pytest.raises(UserError):
        env.step(wrong)


@pytest.mark.parametrize("wrong", [{"interval": 0}, {"long_press": -1}, {"slop": 0}])
def test_arguments_are_checked(wrong):
    with pytest.raises(UserError, match="above 0"):
        TouchActions(Listening(), **wrong)


def test_an_env_of_numbers_cannot_be_wrapped():
    with pytest.raises(UserError, match="writes texts"):
        TouchActions(TouchActions(Listening()))
