"""OpenEnv's own client and server, in the interpreter that has them.

``play URL TASK SECONDS`` plays a task of ours by `GenericEnvClient`: an oracle's episode, then so
many seconds of clicks, each of which is answered with a picture; it prints what came of it as JSON.
``serve`` is a game by `create_app`, and prints its port.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import time
from typing import Any

import uvicorn
from openenv.core import GenericEnvClient
from openenv.core.env_server import Action, Environment, Observation, State, create_app


class Move(Action):
    """A step to the right, or some."""

    by: int
    note: str


class Seen(Observation):
    """Where one stands, also as a picture of one row."""

    at: int
    goal: str
    picture: list[list[list[int]]]
    legal: list[int]
    hint: str | None = None


class Walk(Environment[Move, Seen, State]):
    """To walk to the goal, which the seed says."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, far: int = 0, **more: Any
    ) -> Seen:
        self._at, self._goal, self._steps = 0, (seed or 0) % 5 + 3 + far, 0
        return self._seen()

    def step(self, action: Move, timeout_s: float | None = None, **more: Any) -> Seen:
        if action.by > 9:
            raise RuntimeError("nobody walks that far")
        self._at, self._steps = self._at + action.by, self._steps + 1
        return self._seen(action.note)

    @property
    def state(self) -> State:
        return State(step_count=self._steps)

    def _seen(self, note: str | None = None) -> Seen:
        return Seen(
            at=self._at, goal=f"Walk to {self._goal}.", legal=[1, 2], hint=note,
            picture=[[[255 * (self._at == x), 0, 7] for x in range(20)]],
            done=self._at >= self._goal, reward=float(self._at == self._goal),
        )  # fmt: skip


def serve() -> None:
    app = create_app(Walk, Move, Seen, env_name="walk", max_concurrent_envs=2)
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run([listening])


def play(url: str, task: str, seconds: float) -> dict[str, Any]:
    with GenericEnvClient(base_url=url).sync() as env:
        result = env.reset(seed=3, task=task, oracle=True)
        goal, rewards = result.observation["goal"], []
        while not result.done:
            result = env.step({"action": result.metadata["oracle"]["action_text"]})
            rewards.append(result.reward)
        state = env.state()
        refused = []
        for wrong in ({"action": "wait(0)"}, {"text": "wait(0)"}):  # it is over; no such field
            try:
                env.step(wrong)
            except RuntimeError as error:
                refused.append(str(error))
        env.reset(task=task, seed=1, max_steps=10**6)
        steps, size, started = 0, 0, time.perf_counter()
        while time.perf_counter() - started < seconds:
            picture = env.step({"action": f"click({7 * steps % 1200}, 790)"}).observation
            size, steps = len(picture["screenshot"]), steps + 1
        rate = steps / (time.perf_counter() - started)
    return {
        "goal": goal, "rewards": rewards, "metadata": result.metadata, "state": state,
        "refused": refused, "per_second": rate, "picture": size,
    }  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        with contextlib.suppress(KeyboardInterrupt):
            serve()
    else:
        print(json.dumps(play(sys.argv[2], sys.argv[3], float(sys.argv[4]))))
