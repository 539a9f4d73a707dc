"""OpenEnv's own server and client, in the interpreter that has them, for `test_openenv.py`.

``serve TASK ARGUMENTS`` is a server by `create_app`, whose envs wrap `UIEnv`: they share a browser,
and tell the picture as a data URL of a PNG file, the one that the browser made, if it made one. It
prints its port.

``play URL TASK ARGUMENTS SLOTS`` is a client for each slot. For each number that it reads, it does
so many random clicks in each slot, none waiting for another, decodes the pictures, and prints a
line.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import socket
import sys
from random import Random
from typing import Any

import cv2
import numpy as np
import uvicorn
from openenv.core import GenericEnvClient
from openenv.core.env_server import Action, Environment, Observation, State, create_app
from PIL import Image

from ui_gym.playing.env import UIEnv
from ui_gym.remote.png import png

SLOTS = 16


def by_pillow(image: Any) -> bytes:
    """As an env's author would write it."""
    written = io.BytesIO()
    Image.fromarray(image).save(written, "PNG")
    return written.getvalue()


ENCODERS = {"ours": png, "pillow": by_pillow}
ENCODER = os.environ.get("ENCODER", "ours")


class UIAction(Action):
    """An action text."""

    action: str


class UIObservation(Observation):
    """What our own server tells."""

    goal: str
    feedback: str
    screenshot: str


def server_of(task: str, arguments: dict[str, Any]) -> Any:
    shared = UIEnv(task, **arguments)

    class Wrapped(Environment[UIAction, UIObservation, State]):
        """A `UIEnv` as OpenEnv has envs."""

        SUPPORTS_CONCURRENT_SESSIONS = True

        def __init__(self) -> None:
            super().__init__()
            self._env = shared.clone()

        def reset(self, seed: int | None = None, **more: Any) -> UIObservation:
            observation, info = self._env.reset(seed=seed)
            return told(observation, info, 0.0, False)

        def step(self, action: UIAction, **more: Any) -> UIObservation:
            observation, reward, terminated, truncated, info = self._env.step(action.action)
            return told(observation, info, reward, terminated or truncated)

        @property
        def state(self) -> State:
            return State()

        def close(self) -> None:
            self._env.close()

    return create_app(Wrapped, UIAction, UIObservation, max_concurrent_envs=SLOTS)


def told(seen: Any, info: Any, reward: float, done: bool) -> UIObservation:
    encoded = info["screenshot_encoded"]
    if encoded is None or ENCODER == "pillow":
        encoded = ENCODERS[ENCODER](seen["screenshot"])
    picture = base64.b64encode(encoded).decode()
    return UIObservation(
        goal=seen["goal"], feedback=seen["feedback"], reward=reward, done=done,
        screenshot=f"data:image/png;base64,{picture}",
    )  # fmt: skip


def serve(task: str, arguments: dict[str, Any]) -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(server_of(task, arguments), log_level="warning")
    uvicorn.Server(config).run([listening])


async def play(url: str, task: str, arguments: dict[str, Any], slots: int) -> None:
    clients = [GenericEnvClient(base_url=url, message_timeout_s=300) for _ in range(slots)]
    for seed, client in enumerate(clients):
        await client.reset(seed=seed, task=task, **arguments)
    rngs = [Random(slot) for slot in range(slots)]
    print("ready", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        pairs = zip(clients, rngs, strict=True)
        await asyncio.gather(*(clicks(client, int(line), rng) for client, rng in pairs))
        print("done", flush=True)


async def clicks(client: GenericEnvClient, steps: int, rng: Random) -> None:
    """As `play` in `test_remote.py`: an episode that ends by chance is begun again."""
    for _ in range(steps):
        click = f"click({rng.randrange(1280)}, {rng.randrange(800)})"
        result = await client.step({"action": click})
        while True:
            data = base64.b64decode(result.observation["screenshot"].partition(",")[2])
            picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
            if picture is None or picture.shape != (800, 1280, 3):
                raise SystemExit("this is no picture of the page")
            if not result.done:
                break
            result = await client.reset(seed=0)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2], json.loads(sys.argv[3]))
    else:
        url, task, arguments, slots = sys.argv[2:]
        asyncio.run(play(url, task, json.loads(arguments), int(slots)))
