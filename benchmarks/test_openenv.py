"""Steps over WebSockets, by our client and server and by OpenEnv's, of the same task.

Run with ``UI_GYM_OPENENV_PYTHON=... pytest benchmarks/test_openenv.py``, with nothing else on the
machine; the interpreter of that name has ``openenv==0.10.0`` and ``ui-gym[browser,phone,remote]``.
All servers and all clients but ours are processes of their own, on the loopback. Each step is a
random click at 1280x800 that is answered with a picture as an array: in a browser, where both wait
for the page, and on a phone in memory, where what differs is the way. OpenEnv's server
(`openenv_peer.py`) lends envs that share a browser, as ours does, hands on the PNG file that the
browser made, and encodes the phone's pictures by our own encoder; or it encodes all of them by
Pillow, as one writes it first.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from test_remote import play

from ui_gym.playing.vector import UIVectorEnv

SCREENS: dict[str, tuple[str, dict[str, Any]]] = {
    "browser": ("UI/DataEntry-v0", {"max_steps": 10**6}),
    "phone": (
        "UI/AndroidWifi-v0", {"device": "phone", "viewport": (1280, 800), "max_steps": 10**6},
    ),
}  # fmt: skip
NAMES = {
    "theirs": "openenv", "pillow": "openenv, pictures by Pillow",
    "ours": "openenv's client on our server",
}  # fmt: skip
ROUNDS = 5
PEER = Path(__file__).with_name("openenv_peer.py")
COUNTS = ((1, 40), (16, 10))
"""Slots, and steps in each of them."""


@pytest.fixture(scope="module")
def python() -> str:
    """The interpreter that has `openenv`."""
    named = os.environ.get("UI_GYM_OPENENV_PYTHON")
    if not named:
        pytest.skip("needs an interpreter with openenv==0.10.0, named in UI_GYM_OPENENV_PYTHON")
    return named


@contextmanager
def started(*program: str, encoder: str = "ours") -> Iterator[Any]:
    """A program, and the first line that it prints."""
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"ENCODER": encoder},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
        process.terminate()


@pytest.fixture(scope="module")
def ours() -> Iterator[str]:
    with started(sys.executable, "-m", "ui_gym.tools.cli", "serve", "--port", "0") as (_, line):
        yield line.split(": ")[0]


@pytest.fixture(scope="module")
def theirs(python: str, screen: str) -> Iterator[str]:
    task, arguments = SCREENS[screen]
    with started(python, str(PEER), "serve", task, json.dumps(arguments)) as (_, port):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def pillow(python: str, screen: str) -> Iterator[str]:
    task, arguments = SCREENS[screen]
    program = (python, str(PEER), "serve", task, json.dumps(arguments))
    with started(*program, encoder="pillow") as (_, port):
        yield f"http://127.0.0.1:{port}"


def measure(
    benchmark: Any, name: str, screen: str, count: int, steps: int, step: Callable[[], None]
) -> None:
    benchmark.group = f"steps over WebSockets at 1280x800, {screen}, slots: {count}"
    benchmark.name = name
    step()
    benchmark.pedantic(step, rounds=ROUNDS)
    benchmark.extra_info["per_second"] = round(count * steps / benchmark.stats.stats.median, 1)


@pytest.mark.parametrize("screen", SCREENS, scope="module")
@pytest.mark.parametrize(("count", "steps"), COUNTS)
def test_ours(benchmark: Any, ours: str, screen: str, count: int, steps: int) -> None:
    task, arguments = SCREENS[screen]
    envs = UIVectorEnv(count, task, autoreset_mode="Disabled", workers=ours, **arguments)
    envs.reset(seed=0)
    rngs = [Random(slot) for slot in range(count)]
    measure(benchmark, "ui-gym", screen, count, steps, lambda: play(envs, steps, rngs))
    envs.close()


@pytest.mark.parametrize("screen", SCREENS, scope="module")
@pytest.mark.parametrize("server", NAMES)
@pytest.mark.parametrize(("count", "steps"), COUNTS)
def test_openenvs_client(
    benchmark: Any,
    request: pytest.FixtureRequest,
    python: str,
    screen: str,
    server: str,
    count: int,
    steps: int,
) -> None:
    task, arguments = SCREENS[screen]
    url = request.getfixturevalue(server)
    name = NAMES[server]
    program = (python, str(PEER), "play", url, task, json.dumps(arguments), str(count))
    with started(*program) as (client, line):
        assert line == "ready"

        def step() -> None:
            client.stdin.write(f"{steps}\n")
            client.stdin.flush()
            assert client.stdout.readline().strip() == "done"

        measure(benchmark, name, screen, count, steps, step)
