"""A policy behind a server on an open desk, and requests to it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx

from ui_gym.dialects import get_dialect
from ui_gym_agents.engines.protocol import EngineQuestion
from ui_gym_agents.episode import TokenRecord
from ui_gym_agents.policy import VLMPolicy
from ui_gym_agents.policy.generation import Sample
from ui_gym_agents.serving import trace
from ui_gym_agents.serving.open_desk import OpenDesk
from ui_gym_agents.serving.policy_server import PolicyServer
from ui_gym_agents.serving.voice import PolicyVoice
from ui_gym_agents.store import EpisodeStore

Json = dict[str, Any]

PATIENCE = 30.0
"""Seconds of a request."""


class ServedPolicy:
    """A policy behind a server; rollouts of all keys are recorded in `folder`."""

    def __init__(
        self, policy: VLMPolicy, folder: Path, *, dialect: str = "canonical", **options: Any
    ) -> None:
        self.policy = policy
        self.notes: list[str] = []
        self.store = EpisodeStore(folder)
        self.desk = OpenDesk(self.store, self.notes.append, seed=3)
        self.voice = PolicyVoice(policy, get_dialect(dialect), lambda: len(self.desk))
        self.server = PolicyServer(self.voice, self.desk, **options)
        self.server.__enter__()
        self.client = httpx.Client(
            base_url=self.server.url, timeout=PATIENCE, trust_env=False,
            limits=httpx.Limits(max_connections=100),
        )  # fmt: skip

    def close(self) -> None:
        self.client.close()
        self.server.close()
        self.voice.close()
        self.desk.close()

    def post(self, page: str, body: Json, key: str = "a", **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        named |= {"Authorization": f"Bearer {key}"} if key else {}
        return self.client.post(page, json=body, headers=named)

    def chat(self, *messages: Json, key: str = "a", **body: Any) -> Json:
        """The answer, with its token ids."""
        asked = {"messages": messages, "return_token_ids": True, **body}
        found: Json = self.post("chat/completions", asked, key).raise_for_status().json()
        return found

    def trace(self, key: str = "a") -> list[TokenRecord]:
        """What was recorded of a rollout so far."""
        found = self.client.get("rollout/trace", headers={"Authorization": f"Bearer {key}"})
        return trace.records(found.json())


class Gate:
    """Holds back what a policy samples until it is opened."""

    def __init__(self, policy: VLMPolicy) -> None:
        self.asked = threading.Event()
        self.open = threading.Event()
        self._sample = policy.sample
        policy.sample = self.sample  # type: ignore[method-assign]

    def sample(self, questions: Sequence[EngineQuestion], **sampling: Any) -> list[Sample]:
        self.asked.set()
        assert self.open.wait(PATIENCE)
        return self._sample(questions, **sampling)
