"""Acting: what an env does with one action text on one device, and what an agent sees of it.

`UIEnv` is one agent on one device; an env of several agents (`ui_gym.multiagent`) does the same for
each of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from ui_gym.contract.action import Action, check_points
from ui_gym.contract.device import Device, Frame, Image
from ui_gym.dialects import Dialect
from ui_gym.dialects.seen import Seen
from ui_gym.errors import ActionError, DeviceError
from ui_gym.playing.spaces import MAX_ELEMENTS, MAX_GOAL

Observation = dict[str, Any]
"""What an agent sees: `goal` and `feedback` (str), `screenshot` (uint8, H x W x 3), `elements`."""


@dataclasses.dataclass(frozen=True)
class ActOutcome:
    """What came of an action text: what was wrong with it, or None; whether it ends the episode;
    and whether the screen may be another."""

    error: ActionError | None
    ended: bool
    touched: bool


def act(
    device: Device,
    text: str,
    dialect: Dialect,
    size: tuple[int, int],
    seen: Seen,
    history: list[Action],
) -> ActOutcome:
    """Do the actions of `text` on the device, and note what was done in `history`.

    Raises:
        DeviceError: the device failed.
    """
    done = len(history)
    wrong: ActionError | None = None
    ended = False
    try:
        for action in read(text, dialect, size, seen):
            if action.ends_episode:
                ended = True
            else:
                device.perform(action)
            history.append(action)
    except ActionError as error:
        earlier = history[done:]
        tail = f". Done before it: {'; '.join(map(str, earlier))}" if earlier else ""
        wrong = ActionError(error.kind, f"{error}{tail}")
    touched = len(history) - done - ended > 0 or (wrong is not None and wrong.kind == "runtime")
    return ActOutcome(wrong, ended, touched)


def read(text: str, dialect: Dialect, size: tuple[int, int], seen: Seen) -> list[Action]:
    """The actions of a text. `ActionError` where it cannot be read, or cannot be done there."""
    if not isinstance(text, str):
        raise ActionError("parse", f"an action is text, not {type(text).__name__}")
    actions = dialect.parse(text, size, seen)
    check_points(actions, size)
    for action in actions[:-1]:
        if action.ends_episode:
            raise ActionError("parse", f"{action} ends the episode; nothing may follow it")
    return actions


def seen_so_far(frame: Frame, history: Sequence[Action], mode: str) -> Seen:
    """What a text may refer to: the elements of the last observation, and the pointer."""
    elements = () if mode == "screenshot" else frame.elements
    ends = (action.points()[-1] for action in reversed(history) if action.points())
    return Seen(elements, next(ends, None))


def take_picture(device: Device, size: tuple[int, int], mode: str) -> Frame:
    """The settled screen, in a fresh array that nobody can write to.

    Raises:
        DeviceError: the device failed, or sent a picture of another size.
    """
    out: Image = np.empty((size[1], size[0], 3), np.uint8)
    frame = device.capture(out, elements=mode != "screenshot")
    if frame.image is not out:
        if frame.image.shape != out.shape:
            raise DeviceError(f"a picture of shape {frame.image.shape} came, not {out.shape}")
        np.copyto(out, frame.image)
    out.setflags(write=False)  # whoever is handed it without a copy only reads
    return dataclasses.replace(frame, image=out)


def observed(
    frame: Frame, goal: str, feedback: str, mode: str, *, copies: bool = True
) -> Observation:
    """The observation of a picture in an observation mode; with `copies` it may be written to."""
    observation: Observation = {"goal": goal[:MAX_GOAL], "feedback": feedback[:MAX_GOAL]}
    if mode != "elements":
        observation["screenshot"] = frame.image.copy() if copies else frame.image
    if mode != "screenshot":
        observation["elements"] = "\n".join(map(str, frame.elements))[:MAX_ELEMENTS]
    return observation
