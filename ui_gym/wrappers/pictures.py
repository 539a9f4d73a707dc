"""Wrappers of what is seen: a smaller screenshot, the screenshot alone, several in a row.

Each takes observations that are a dict with a `screenshot`, or the screenshot itself.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Space
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray
from PIL import Image

from ui_gym.errors import UserError

Picture = NDArray[np.uint8]
"""Shape (height, width, channels), or (N, height, width, channels) of N slots."""

# -- the screenshot in an observation, and its space in a space --


def picture_space(space: Space[Any]) -> Box:
    """The space of the screenshots. `UserError` if an observation has none."""
    found = space.spaces.get("screenshot") if isinstance(space, Dict) else space
    if isinstance(found, Box) and found.dtype == np.uint8 and len(found.shape) == 3:
        return found
    raise UserError(
        f"these observations have no screenshot, but are of {space}: the env must not be made with "
        'observation="elements", and no other wrapper may take the picture away'
    )


def with_picture_space(space: Space[Any], box: Box) -> Space[Any]:
    """`space` with another one for the screenshots."""
    return Dict({**space.spaces, "screenshot": box}) if isinstance(space, Dict) else box


def picture_of(observation: Any) -> Picture:
    """The screenshot of an observation, or those of a batch."""
    found: Picture = observation["screenshot"] if isinstance(observation, dict) else observation
    return found


def with_picture(observation: Any, picture: Picture) -> Any:
    """An observation, or a batch, with another screenshot."""
    return {**observation, "screenshot": picture} if isinstance(observation, dict) else picture


# -- what the wrappers do, for envs and vector envs alike --


class Shrink:
    """Scales a picture. Each new pixel is the mean of the area that it covers (a box filter)."""

    def __init__(self, box: Box, size: tuple[int, int], grayscale: bool) -> None:
        if box.shape[2] not in (1, 3):
            raise UserError(
                f"ResizeScreenshot takes pictures of 1 or 3 channels, not {box.shape[2]}: wrap in "
                "it before FrameHistory"
            )
        sides = tuple(size) if isinstance(size, tuple | list) else ()
        if len(sides) != 2 or not all(type(side) is int and side > 0 for side in sides):
            raise UserError(f"size is (width, height) in whole pixels from 1 on, not {size!r}")
        self.size = sides
        self.mode = "L" if grayscale or box.shape[2] == 1 else "RGB"
        channels = 1 if self.mode == "L" else 3
        self.box = Box(0, 255, (sides[1], sides[0], channels), np.uint8)

    def __call__(self, picture: Picture) -> Picture:
        image = Image.fromarray(picture[:, :, 0] if picture.shape[2] == 1 else picture)
        small = np.asarray(image.resize(self.size, Image.Resampling.BOX).convert(self.mode))
        return small.reshape(self.box.shape).copy()


class History:
    """The last `length` pictures as one, the oldest first, one after another in the channels."""

    def __init__(self, box: Box, length: int) -> None:
        if isinstance(length, bool) or not isinstance(length, int) or length < 1:
            raise UserError(f"FrameHistory keeps k frames, a number from 1 on, not {length!r}")
        self.length = length
        height, width, channels = box.shape
        self.box = Box(0, 255, (height, width, channels * length), np.uint8)

    def begin(self, picture: Picture) -> Picture:
        """What an episode begins with: its first picture, repeated."""
        return np.concatenate([picture] * self.length, axis=-1)

    def push(self, frames: Picture, picture: Picture) -> Picture:
        """`frames` without the oldest picture, and with a new one."""
        return np.concatenate([frames[..., picture.shape[-1] :], picture], axis=-1)


# -- the wrappers --


class ResizeScreenshot(gymnasium.ObservationWrapper[Any, Any, Any], RecordConstructorArgs):
    """Screenshots are scaled to `size` (width, height), shape (height, width, 3), or 1 in gray.

    Each new pixel is the mean of the area that it covers. Actions stay in the pixels of the env's
    own screen, not of this picture: `GridActions` sees to that.
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], size: tuple[int, int], grayscale: bool = False
    ) -> None:
        """Wrap `env`.

        Args:
            env: Its observations have, or are, screenshots of shape (height, width, 3).
            size: Width and height of the new ones, in pixels.
            grayscale: One channel (luma, as ITU-R 601 weighs the colours) in place of three.

        Raises:
            UserError: there is no screenshot, `size` cannot be, or frames are stacked already.
        """
        RecordConstructorArgs.__init__(self, size=size, grayscale=grayscale)
        gymnasium.ObservationWrapper.__init__(self, env)
        self._shrink = Shrink(picture_space(env.observation_space), size, grayscale)
        self.observation_space = with_picture_space(env.observation_space, self._shrink.box)

    def observation(self, observation: Any) -> Any:
        return with_picture(observation, self._shrink(picture_of(observation)))


class ScreenshotOnly(gymnasium.ObservationWrapper[Any, Any, Any], RecordConstructorArgs):
    """The observation is the screenshot, a Box, without goal and feedback.

    The goal is not in the picture: what an agent can reach is what can be done without knowing it.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        """Wrap `env`. `UserError` if there is no screenshot."""
        RecordConstructorArgs.__init__(self)
        gymnasium.ObservationWrapper.__init__(self, env)
        self.observation_space = picture_space(env.observation_space)

    def observation(self, observation: Any) -> Picture:
        return picture_of(observation)


class FrameHistory(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """The last `k` screenshots in one: shape (height, width, k * channels), the newest last.

    An episode begins with its first screenshot, `k` times.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], k: int) -> None:
        """Wrap `env`. `UserError` if there is no screenshot, or `k` is no number from 1 on."""
        RecordConstructorArgs.__init__(self, k=k)
        gymnasium.Wrapper.__init__(self, env)
        self._history = History(picture_space(env.observation_space), k)
        self._frames: Picture | None = None
        self.observation_space = with_picture_space(env.observation_space, self._history.box)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        self._frames = self._history.begin(picture_of(observation))
        return with_picture(observation, self._frames.copy()), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        assert self._frames is not None, "step() would have raised ResetNeeded"
        self._frames = self._history.push(self._frames, picture_of(observation))
        observation = with_picture(observation, self._frames.copy())
        return observation, reward, terminated, truncated, info
