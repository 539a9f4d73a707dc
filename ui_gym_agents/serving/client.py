"""What an agent's program needs to be trained: rollouts, each with an env and a model's address.

    from ui_gym_agents.serving.client import play_all

    def play(rollout):
        client = openai.OpenAI(base_url=rollout.base_url, api_key=rollout.key)
        while not rollout.done:
            ...  # ask client for an action, as the agent always does
            rollout.step(action)

    play_all(play)  # until the trainer has seen enough

Nothing here needs torch, and what goes over the wire is JSON (`policy_server`).
"""

from __future__ import annotations

import base64
import os
import threading
import traceback
from collections.abc import Callable, Mapping
from typing import Any

import httpx
import numpy as np

from ui_gym.contract.device import Image
from ui_gym.errors import UIGymError, UserError
from ui_gym_agents.pictures import decoded

BASE = "OPENAI_BASE_URL"
AGENT = "UI_GYM_AGENT"
"""Environment variables: where the policy is, and what the trainer calls this program."""

WAIT = 3600.0
"""Seconds that an answer may take: a step waits for the trainer's env."""


class RolloutOver(UIGymError):
    """The trainer has no use for this rollout any more."""


class RolloutEnv:
    """An episode: one env of the trainer, which this program's agent plays.

    Its actions may be written in any dialect. `observation` is a `UIEnv`'s: ``goal``,
    ``screenshot`` (height, width, 3) uint8, ``elements``, ``feedback``; without what is not shown.

    Attributes:
        key: The API key by which the policy knows the rollout.
        base_url: Of OpenAI's clients.
        screenshot_url: The present picture as the data URL of a PNG file; empty without one.
        size: (width, height) of the screen, pixels.
    """

    def __init__(self, base_url: str, given: Mapping[str, Any]) -> None:
        self.base_url = base_url
        self.key = str(given["key"])
        self.model = str(given["model"])
        self._client = httpx.Client(
            base_url=base_url, headers={"Authorization": f"Bearer {self.key}"}, timeout=WAIT,
            trust_env=False,
        )  # fmt: skip
        self.observation: dict[str, Any] = {}
        self.info: dict[str, Any] = {}
        self.terminated = self.truncated = False
        self.screenshot_url = ""
        self._take(given["env"])

    @property
    def goal(self) -> str:
        return str(self.observation["goal"])

    @property
    def screenshot(self) -> Image:
        """The present picture, (height, width, 3) uint8; `UserError` where none is shown."""
        if "screenshot" not in self.observation:
            raise UserError("this env shows elements alone: take --env.observation both")
        shown: Image = self.observation["screenshot"]
        return shown

    @property
    def size(self) -> tuple[int, int]:
        width, height = self.info["size"]
        return int(width), int(height)

    @property
    def done(self) -> bool:
        """Whether the episode is over."""
        return self.terminated or self.truncated

    def step(
        self, action: str, dialect: str | None = None
    ) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Do what `action` says, in a dialect; if None, in that of the trainer's envs.

        What the policy just said is done as it said it. The reward is 0: the trainer has it.

        Raises:
            RolloutOver: the trainer left the episode.
        """
        if not self.done:
            self._take(self._post("env/step", {"action": action, "dialect": dialect}))
        return self.observation, 0.0, self.terminated, self.truncated, self.info

    def finish(self, answer: str = "") -> None:
        """End the episode, with an answer where the task asks for one."""
        if not self.done:
            self._take(self._post("env/step", {"finish": True, "answer": answer}))

    def end(self, failure: str = "") -> None:
        """Say that this program is done with the episode; `failure` says what went wrong here."""
        try:
            self._post("rollout/end", {"failure": failure} if failure else {})
        except (RolloutOver, UserError):
            return  # the trainer was quicker
        finally:
            self._client.close()

    def _post(self, page: str, body: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return _answer(self._client.post(page, json=body))
        except httpx.HTTPError as error:
            raise RolloutOver(f"the trainer is gone: {error!r}") from None

    def _take(self, shown: Mapping[str, Any]) -> None:
        self.terminated, self.truncated = shown["terminated"], shown["truncated"]
        self.info = {k: shown[k] for k in ("task", "seed", "size", "step", "max_steps")}
        if "goal" in shown:
            names = ("goal", "elements", "feedback")
            self.observation = {name: shown[name] for name in names if name in shown}
            if shown.get("screenshot"):
                self.screenshot_url = str(shown["screenshot"])
                self.observation["screenshot"] = _picture(self.screenshot_url)


def next_rollout(base_url: str | None = None, agent: str | None = None) -> RolloutEnv | None:
    """The next rollout that the trainer wants played; None when it wants no more.

    Args:
        base_url: Of the policy; that of the environment, if None.
        agent: What the trainer calls this program; that of the environment, if None.

    Raises:
        UserError: this program was not started by a trainer.
    """
    url = base_url or os.environ.get(BASE)
    if not url:
        raise UserError(
            f"{BASE} says nothing: a trainer starts this program and says where it is "
            '(ui-gym-train --policy.agent command:"python my_agent.py")'
        )
    headers = {"X-Agent": os.environ.get(AGENT, "") if agent is None else agent}
    with httpx.Client(base_url=url, headers=headers, timeout=WAIT, trust_env=False) as client:
        while True:
            try:
                given = _answer(client.post("rollouts/next"))
            except (httpx.HTTPError, RolloutOver):
                return None
            if given.get("over"):
                return None
            if "key" in given:
                return RolloutEnv(url, given)


def play_all(
    play: Callable[[RolloutEnv], object],
    *,
    threads: int = 64,
    base_url: str | None = None,
    agent: str | None = None,
) -> None:
    """Play the trainer's rollouts with `play`, so many at a time, until it wants no more.

    Where `play` returns before its episode is over, the episode is ended. What it raises ends the
    episode as failed, which the trainer plays again.

    Raises:
        UserError: this program was not started by a trainer.
    """
    free = threading.Semaphore(threads)
    playing: list[threading.Thread] = []

    def one(rollout: RolloutEnv) -> None:
        try:
            failure = ""
            try:
                play(rollout)
                rollout.finish()
            except RolloutOver:
                failure = "over"
            except Exception as error:  # whatever an agent raises is its own
                traceback.print_exc()
                failure = f"{type(error).__name__}: {error}"
            rollout.end(failure)
        finally:
            free.release()

    while True:
        free.acquire()
        rollout = next_rollout(base_url, agent)
        if rollout is None:
            break
        playing = [thread for thread in playing if thread.is_alive()]
        # A daemon, so that an agent that never ends does not keep its process.
        playing.append(threading.Thread(target=one, args=(rollout,), daemon=True, name="rollout"))
        playing[-1].start()
    for thread in playing:
        thread.join()


def _answer(response: httpx.Response) -> dict[str, Any]:
    if response.is_success:
        found: dict[str, Any] = response.json()
        return found
    try:
        told = str(response.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        told = response.text[:200]
    if response.status_code in (401, 409, 503):
        raise RolloutOver(told)
    raise UserError(told)


def _picture(url: str) -> Image:
    return np.asarray(decoded(base64.b64decode(url.partition(",")[2])), dtype=np.uint8)
