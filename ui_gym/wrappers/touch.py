"""TouchActions: a finger's moves, one a step, as AndroidEnv has them.

AndroidEnv (github.com/google-deepmind/android_env, ``components/action_type.py``) numbers them
TOUCH 0, LIFT 1, REPEAT 2, KEYDOWN 3, KEYUP 4, KEYPRESS 5; an action is a dict of ``action_type``,
``touch_position`` (across and down, 0 to 1) and ``keycode``.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from gymnasium.utils import RecordConstructorArgs

from ui_gym.contract.action import Action, Click, Drag, LongPress, Press, Wait
from ui_gym.dialects import get_dialect
from ui_gym.dialects.keycodes import NAMES
from ui_gym.errors import ActionError, UserError
from ui_gym.playing.spaces import ActionText

KEYCODES = (1 << 16) - 1


class TouchType(enum.IntEnum):
    """What a finger or a key does in a step."""

    TOUCH = 0
    LIFT = 1
    REPEAT = 2
    KEYDOWN = 3
    KEYUP = 4
    KEYPRESS = 5


class TouchActions(gymnasium.Wrapper[Any, Any, Any, str], RecordConstructorArgs):
    """Actions are touches: a gesture is a run of TOUCH steps that a LIFT ends.

    The action space is ``Dict(action_type=Discrete(6), touch_position=Box(0, 1, (2,)),
    keycode=Discrete(65535))``. A finger that stays where it came down is a click, or a long press
    once it stayed for `long_press` steps; one that moves is a drag from its first to its last
    point. REPEAT lets a finger stay where it is. While a finger is down, each step waits
    `interval` seconds; the gesture is done when the finger is lifted, in the env's own dialect. A
    key is pressed as it comes up, or by KEYPRESS.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, str],
        *,
        interval: float = 0.1,
        long_press: int = 5,
        slop: float = 0.02,
    ) -> None:
        """Wrap `env`.

        Args:
            env: A `UIEnv`, other wrappers around it or not, whose actions are texts.
            interval: Seconds that a step takes while a finger is down.
            long_press: Steps after which a finger that stays is a long press.
            slop: How far a finger may move and it still stays, as a share of the screen.

        Raises:
            UserError: an argument cannot be, or the env's actions are no texts.
        """
        RecordConstructorArgs.__init__(self, interval=interval, long_press=long_press, slop=slop)
        gymnasium.Wrapper.__init__(self, env)
        space = env.action_space
        if not isinstance(space, ActionText):
            raise UserError(
                f"TouchActions writes texts, and this env's action space is {space}: it wraps a "
                "UIEnv, once"
            )
        for value, name in ((interval, "interval"), (long_press, "long_press"), (slop, "slop")):
            if not value > 0:
                raise UserError(f"{name} is above 0, not {value!r}")
        self._size = space.size
        self._dialect = get_dialect(space.dialect)
        self._interval, self._long_press, self._slop = interval, long_press, slop
        self._path: list[tuple[float, float]] = []
        self.action_space = Dict(
            {
                "action_type": Discrete(len(TouchType)),
                "touch_position": Box(0.0, 1.0, (2,), np.float32),
                "keycode": Discrete(KEYCODES),
            }
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """As the env's; no finger is down."""
        self._path = []
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Mapping[str, Any]) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Do what the finger or the key does. `UserError` for what is no such action."""
        return self.env.step(self.action(action))

    def action(self, action: Mapping[str, Any]) -> str:
        """The text that the env is given; it depends on where the finger has been."""
        kind, position, code = self._read(action)
        done: Action = Wait(self._interval)
        if kind is TouchType.TOUCH:
            self._path.append(position)
        elif kind is TouchType.REPEAT and self._path:
            self._path.append(self._path[-1])
        elif kind is TouchType.LIFT and self._path:
            done, self._path = self._gesture(), []
        elif kind in (TouchType.KEYUP, TouchType.KEYPRESS) and code in NAMES:
            done = Press(NAMES[code])
        try:
            return self._dialect.render([done], self._size)
        except ActionError:
            # A dialect that cannot wait, or lacks the key: nothing is done, and the env says so.
            return str(done)

    def _gesture(self) -> Action:
        first, last = self._path[0], self._path[-1]
        start, end = self._pixel(first), self._pixel(last)
        farthest = max(math.dist(first, point) for point in self._path)
        if farthest > self._slop:
            return Drag(*start, *end, seconds=round(len(self._path) * self._interval, 3))
        if len(self._path) > self._long_press:
            return LongPress(*start, seconds=round(len(self._path) * self._interval, 3))
        return Click(*start)

    def _pixel(self, point: tuple[float, float]) -> tuple[int, int]:
        across, down = (
            min(int(share * side), side - 1) for share, side in zip(point, self._size, strict=True)
        )
        return across, down

    def _read(self, action: Mapping[str, Any]) -> tuple[TouchType, tuple[float, float], int]:
        try:
            kind = TouchType(int(action["action_type"]))
            across, down = (float(share) for share in action.get("touch_position", (0.0, 0.0)))
            code = int(action.get("keycode", 0))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UserError(
                f"an action is an element of {self.action_space}, not {action!r}"
            ) from error
        if not (0 <= across <= 1 and 0 <= down <= 1):
            raise UserError(f"touch_position lies in 0 to 1, not {(across, down)}")
        return kind, (across, down), code
