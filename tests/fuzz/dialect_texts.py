"""Texts over all dialects, through `UIEnv.step`: it never raises, and a wrong one does nothing."""

from __future__ import annotations

import random
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from paint import PaintDevice, PaintPool

from tests.fuzz import mutation
from tests.fuzz.running import Unexpected
from ui_gym.contract.action import Action
from ui_gym.contract.device import Frame, Image
from ui_gym.dialects import DIALECTS, Dialect, get_dialect
from ui_gym.errors import ActionError
from ui_gym.playing.env import UIEnv
from ui_gym.playing.spaces import random_action

TESTS = Path(__file__).resolve().parents[1]

SIZE = (96, 64)

EPISODE = 100
"""Steps until a reset: what an env does in a step grows with what was done before."""

TOKENS = (
    "click", "type", "action", "arguments", "coordinate", "x", "y", "null", "None", "NaN", "true",
    "1e999", "-1", "0x1F", "99999999999999999999", '{"', '"}', "['", "']", "Action:", "```",
    "<tool_call>", "</tool_call>", "pyautogui.", "import os\n", "__import__('os')", "lambda: 0",
    "element=1", "'index': 2", "start_box=", "<x1><y1>", "((((((((", "{" * 40, "\\u0000", "DONE",
)  # fmt: skip

LONG = ("9" * 5000, "(" * 3000, "[" * 3000, '{"a":' * 1500, "-" * 2000, "a" * 20_000, "\n" * 9000)
"""What a reader may need long for, or go deep."""


class _Watched(PaintDevice):
    """A device that counts what is asked of it."""

    asked = 0

    def perform(self, action: Action) -> None:
        self.asked += 1
        super().perform(action)

    def capture(self, out: Image | None = None, *, elements: bool = False) -> Frame:
        self.asked += 1
        return super().capture(out, elements=elements)


class _WatchedPool(PaintPool):
    def acquire(self) -> PaintDevice:
        with self.lock:
            self.lent.append(_Watched(self.size, self.faults))
            return self.lent[-1]


class DialectTexts:
    """A case is a dialect's name, a line, and then a text.

    Args:
        dialects: Dialects to be fed, by name; all that are built in, where none is given.
    """

    def __init__(self, dialects: Mapping[str, Dialect] | None = None) -> None:
        warnings.filterwarnings("ignore", "invalid", SyntaxWarning)
        warnings.filterwarnings("ignore", "invalid", DeprecationWarning)
        self._dialects = dict(dialects or {name: get_dialect(name) for name in DIALECTS})
        self._written = {name: _written(name) for name in self._dialects}
        self._envs: dict[str, UIEnv] = {}
        self._steps = dict.fromkeys(self._dialects, 0)

    def case(self, rng: random.Random) -> bytes:
        name = rng.choice(list(self._dialects))
        return f"{name}\n{self._text(name, rng)}".encode("utf-8", "surrogatepass")

    def feed(self, case: bytes) -> Iterator[str]:
        name, _, text = case.decode("utf-8", "surrogatepass").partition("\n")
        env = self._env(name)
        device: Any = env.device
        device.asked = 0
        observation, _, terminated, truncated, info = env.step(text)
        error = info["action_error"]
        if error in ("parse", "name", "argument") and device.asked:
            raise Unexpected("the device was touched by a text that is refused")
        if bool(observation["feedback"]) != (error is not None):
            raise Unexpected("there is feedback without an error, or an error without feedback")
        if info["failure"] is not None:
            raise Unexpected("a text is called a failure of the device")
        if terminated or truncated:
            self._steps[name] = 0
        yield f"{name}: {error or 'done'}"

    def close(self) -> None:
        for env in self._envs.values():
            env.close()

    def _env(self, name: str) -> UIEnv:
        """The env that plays a dialect, in an episode that goes on."""
        if name not in self._envs:
            known = name if name in DIALECTS else "canonical"
            self._envs[name] = UIEnv(
                "PaintText", pool=_WatchedPool(SIZE), dialect=known, observation="both",
                max_steps=EPISODE + 1,
            )  # fmt: skip
            self._envs[name].dialect = self._dialects[name]
        if self._steps[name] % EPISODE == 0:
            self._envs[name].reset(seed=self._steps[name])
        self._steps[name] += 1
        return self._envs[name]

    def _text(self, name: str, rng: random.Random) -> str:
        """A valid text, the same with a few changes, pieces of two, or noise."""
        text = rng.choice(self._written[name]) if rng.random() < 0.3 else self._valid(name, rng)
        kind = rng.random()
        if kind < 0.1:
            return text
        if kind < 0.8:
            return mutation.text(rng, text, TOKENS)
        if kind < 0.82:
            return mutation.text(rng, text, LONG)
        if kind < 0.9:
            last = self._valid(name, rng)
            return text[: rng.randrange(len(text) + 1)] + last[rng.randrange(len(last) + 1) :]
        return "".join(rng.choices((*mutation.CHARS, *TOKENS), k=rng.randrange(40)))

    def _valid(self, name: str, rng: random.Random) -> str:
        numbers = np.random.default_rng(rng.getrandbits(63))
        while True:
            actions = [random_action(numbers, SIZE) for _ in range(rng.choice((1, 1, 2, 3)))]
            try:
                return self._dialects[name].render(actions, SIZE, rng.choice(("", "I see {it}.")))
            except ActionError:  # this dialect has no words for one of them
                continue


def _written(name: str) -> list[str]:
    """What models wrote in a dialect, read or refused: the cases of its own tests."""
    file = TESTS / "dialects" / "cases" / f"{name.removesuffix('_mobile')}.toml"
    if not file.exists():
        return ["click(1, 2)", 'type("a")']
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    return [case[0] for part in ("reads", "mistakes") for case in table.get(part, ())]
