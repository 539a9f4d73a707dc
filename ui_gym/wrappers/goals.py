"""GoalWords: the goal's sentence as numbers, for networks that know no language.

Each word, in lower case, has a place in a vector of fixed length, by a hash that is the same on
every machine. Which words there are is told, not their order, and two words may share a place.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Space
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

from ui_gym.errors import UserError
from ui_gym.wrappers.pictures import picture_of, picture_space

_WORD = re.compile(r"\w+")


class GoalVector:
    """Turns sentences into vectors of `length` numbers, 1 where a word is and 0 elsewhere."""

    def __init__(self, length: int) -> None:
        if isinstance(length, bool) or not isinstance(length, int) or length < 1:
            raise UserError(f"length is a whole number from 1 on, not {length!r}")
        self.length = length
        self.box = Box(0.0, 1.0, (length,), np.float32)

    def __call__(self, sentence: str) -> NDArray[np.float32]:
        """Which words there are, shape (length,), float32, 0 or 1."""
        vector = np.zeros(self.length, np.float32)
        for word in _WORD.findall(sentence.casefold()):
            vector[self.place(word)] = 1.0
        return vector

    def place(self, word: str) -> int:
        """Where a word in lower case stands."""
        digest = hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % self.length


def seen_with_goal(space: Space[Any], words: GoalVector) -> Dict:
    """The space of a picture and a goal. `UserError` if one of them is not there."""
    if not isinstance(space, Dict) or "goal" not in space.spaces:
        raise UserError(
            f"GoalWords reads the goal, and these observations are of {space}: ScreenshotOnly "
            "takes it away, so use one of the two"
        )
    return Dict({"screenshot": picture_space(space), "goal": words.box})


class GoalWords(gymnasium.ObservationWrapper[Any, Any, Any], RecordConstructorArgs):
    """The observation is the screenshot and the goal's words, ``Dict(screenshot, goal)``.

    `goal` is ``Box(0, 1, (length,), float32)``: 1 at the places of the words that the goal has.
    Feedback is dropped.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], length: int = 64) -> None:
        """Wrap `env`.

        Args:
            env: Its observations have a screenshot and a goal.
            length: Places for words. Some share one by chance; the fewer, the more places.

        Raises:
            UserError: there is no goal or screenshot, or `length` cannot be.
        """
        RecordConstructorArgs.__init__(self, length=length)
        gymnasium.ObservationWrapper.__init__(self, env)
        self._words = GoalVector(length)
        self.observation_space = seen_with_goal(env.observation_space, self._words)

    def observation(self, observation: Any) -> Any:
        return {"screenshot": picture_of(observation), "goal": self._words(observation["goal"])}
