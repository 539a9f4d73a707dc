"""Agents that know a policy by its API alone, and need no torch."""

from __future__ import annotations

import base64
import io
import threading
from typing import Any

import httpx
from PIL import Image as PILImage

from ui_gym.contract.device import Image
from ui_gym_agents.serving.client import RolloutEnv

Json = dict[str, Any]


def user(text: str, *images: Image) -> Json:
    """A message of the chat API."""
    shown = [{"type": "image_url", "image_url": {"url": data_url(image)}} for image in images]
    return {"role": "user", "content": [{"type": "text", "text": text}, *shown]}


def data_url(image: Image) -> str:
    written = io.BytesIO()
    PILImage.fromarray(image).save(written, "PNG")
    return "data:image/png;base64," + base64.b64encode(written.getvalue()).decode()


def ask(rollout: RolloutEnv, *messages: Json) -> str:
    """What the policy says."""
    found = httpx.post(
        f"{rollout.base_url}/chat/completions", json={"messages": messages}, timeout=30,
        headers={"Authorization": f"Bearer {rollout.key}"}, trust_env=False,
    ).raise_for_status()  # fmt: skip
    return str(found.json()["choices"][0]["message"]["content"])


def bare(rollout: RolloutEnv) -> None:
    """Asks as a bare prompt does, and does what was said."""
    while not rollout.done:
        rollout.step(ask(rollout, user(rollout.goal, rollout.screenshot)))


def planner(rollout: RolloutEnv) -> None:
    """Asks for a plan in words, and then for an action on half of the screen."""
    while not rollout.done:
        plan = ask(rollout, user(f"Plan: {rollout.goal}"))
        rollout.step(ask(rollout, user(plan, rollout.screenshot[:, :48])))


def silent(rollout: RolloutEnv) -> None:
    """Asks nobody."""
    while not rollout.done:
        rollout.step("click(1, 1)")


def clumsy(rollout: RolloutEnv) -> None:
    """Fails at once."""
    raise ValueError("no such button")


def endless(rollout: RolloutEnv) -> None:
    """Never acts."""
    threading.Event().wait()
