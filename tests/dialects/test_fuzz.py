"""Random and mutated texts through `UIEnv.step`: it never raises, and a wrong text does nothing.

Texts are drawn by a plain generator, for hypothesis would take longer to think than to test.
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from ui_gym.dialects import DIALECTS, Dialect, get_dialect
from ui_gym.errors import ActionError
from ui_gym.playing.env import UIEnv
from ui_gym.playing.spaces import random_action

SIZE = (96, 64)
TEXTS = 100_000
"""How many, over all dialects: about two seconds for each dialect."""

EPISODE = 100
"""Steps until a reset: what an env does in a step grows with what was done before."""

SIGNS = "(){}[]<>'\"`:;,.+-*/\\|=_#@!&^%$~ \n\t\r\0"
CHARS = string.ascii_letters + string.digits + SIGNS + "é中🙂\u2028\ud800"
TOKENS = (
    "click", "type", "action", "arguments", "coordinate", "x", "y", "null", "None", "NaN", "true",
    "1e999", "-1", "0x1F", "99999999999999999999", '{"', '"}', "['", "']", "Action:", "```",
    "<tool_call>", "</tool_call>", "pyautogui.", "import os\n", "__import__('os')", "lambda: 0",
    "element=1", "'index': 2", "start_box=", "<x1><y1>", "((((((((", "{" * 40, "\\u0000", "DONE",
)  # fmt: skip


def texts(dialect: Dialect, seed: int) -> Iterator[str]:
    """Texts without end: valid ones, the same with a few changes, pieces of them, and noise."""
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    last = ""
    while True:
        text = _valid(dialect, numbers, rng)
        kind = rng.random()
        if kind < 0.1:
            yield text
        elif kind < 0.8:
            yield _mutated(text, rng)
        elif kind < 0.9:
            yield text[: rng.randrange(len(text) + 1)] + last[rng.randrange(len(last) + 1) :]
        else:
            yield "".join(rng.choices((*CHARS, *TOKENS), k=rng.randrange(40)))
        last = text


def _valid(dialect: Dialect, numbers: np.random.Generator, rng: random.Random) -> str:
    while True:
        actions = [random_action(numbers, SIZE) for _ in range(rng.choice((1, 1, 2, 3)))]
        try:
            return dialect.render(actions, SIZE, rng.choice(("", "I see {it}.")))
        except ActionError:  # this dialect has no words for one of them
            continue


def _mutated(text: str, rng: random.Random) -> str:
    for _ in range(rng.choice((1, 1, 2, 5))):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice((0, 0, 1, 1, 2, 10)))
        new = rng.choice(("", rng.choice(CHARS), rng.choice(TOKENS), text[start:end] * 2))
        text = text[:start] + new + text[end:]
    return text


def count_calls(device: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is called on a device from now on, by name."""
    calls: list[str] = []

    def counted(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def count(*args: Any, **kwargs: Any) -> Any:
            calls.append(name)
            return call(*args, **kwargs)

        return count

    for name in ("perform", "capture"):
        monkeypatch.setattr(device, name, counted(name, getattr(device, name)))
    return calls


def fuzz(env: UIEnv, steps: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Step so many texts through `env`; how many had which error."""
    seen = dict.fromkeys(("None", "parse", "name", "argument", "runtime"), 0)
    source = texts(env.dialect, seed)
    env.reset(seed=seed)
    calls = count_calls(env.device, monkeypatch)
    for step in range(steps):
        text = next(source)
        calls.clear()
        observation, _, terminated, truncated, info = env.step(text)
        error = info["action_error"]
        seen[str(error)] += 1
        if error in ("parse", "name", "argument"):
            assert calls == [], f"the device was touched by {text!r}"
        assert bool(observation["feedback"]) == (error is not None)
        assert info["failure"] is None
        if terminated or truncated or step % EPISODE == EPISODE - 1:
            env.reset(seed=seed + step)
    return seen


@pytest.mark.filterwarnings("ignore:invalid")
@pytest.mark.parametrize("name", DIALECTS)
def test_no_text_breaks_a_step(
    make: Callable[..., UIEnv], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = make("PaintText", dialect=name, observation="both", max_steps=EPISODE + 1)
    steps = TEXTS // len(DIALECTS)
    with monkeypatch.context() as patch:
        seen = fuzz(env, steps, 7, patch)
    assert all(seen[kind] > steps / 100 for kind in ("None", "parse", "name", "argument")), seen


def test_the_texts_are_the_same_each_time() -> None:
    dialect = get_dialect("json")
    first, second = texts(dialect, 3), texts(dialect, 3)
    assert [next(first) for _ in range(50)] == [next(second) for _ in range(50)]
