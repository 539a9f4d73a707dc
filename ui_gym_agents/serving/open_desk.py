"""OpenDesk: rollouts of agents that play elsewhere, recorded until they say how it went."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from ui_gym_agents import files
from ui_gym_agents.episode import Episode, Turn
from ui_gym_agents.seeds import derive_noise
from ui_gym_agents.serving import trace
from ui_gym_agents.serving.rollouts import Rollout, RolloutError, Said
from ui_gym_agents.serving.wire import Json
from ui_gym_agents.store import EpisodeStore

TRACES = "traces.jsonl"
"""A `TrainingTrace` a line, in the order of the episodes, beside them."""

MOST = 4096
"""Rollouts that may be open."""

IDLE = 3600.0
"""Seconds without a request after which a rollout's agent counts as dead."""

_FACTS: Mapping[str, type] = {"task": str, "seed": int, "goal": str, "group": str, "notes": str}
"""What the end of a rollout may say beside its reward, and of which type."""


class OpenDesk:
    """Any API key names a rollout, which begins with its first request. For any thread.

    Args:
        store: Where episodes go, with a folder.
        note: Is told of each rollout that ended.
        seed: With a rollout's name and what is asked, it says what is sampled.
    """

    def __init__(
        self, store: EpisodeStore, note: Callable[[str], None] = print, seed: int = 0
    ) -> None:
        self._store = store
        self._seed = seed
        self._note = note
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._open: dict[str, tuple[Rollout, float]] = {}
        """And when it began."""
        self._used: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._open)

    def rollout(self, key: str, header: str) -> Rollout:
        name = header or key
        if not name:
            raise RolloutError(
                401, "name your rollout: by the API key, or by the header X-Rollout-Id"
            )
        if len(name) > 200:
            raise RolloutError(400, "a rollout's name has 200 characters at most")
        with self._lock:
            now = time.monotonic()
            self._leave(now)
            if name not in self._open:
                if len(self._open) >= MOST:
                    raise RolloutError(429, f"{MOST} rollouts are open: end some")
                self._open[name] = (Rollout(name, noise=derive_noise(self._seed, name)), now)
            self._used[name] = now
            return self._open[name][0]

    async def end(self, rollout: Rollout, body: Json) -> Json:
        """Record the episode: `reward` is demanded; what `_FACTS` names may be told."""
        reward = body.get("reward")
        failure = body.get("failure")
        told = isinstance(reward, int | float) and math.isfinite(reward)
        failed = isinstance(failure, str) and reward is None
        if not (failed or (told and isinstance(failure, str | None))):
            raise RolloutError(400, 'say how it went: {"reward": 1.0}, or {"failure": "why"}')
        for name, kind in _FACTS.items():
            if name in body and not isinstance(body[name], kind):
                raise RolloutError(400, f"{name} is no {kind.__name__}")
        with self._lock:
            begun = self._open.pop(rollout.key, (rollout, None))[1]
            self._used.pop(rollout.key, None)
        if begun is None:
            raise RolloutError(409, "this rollout has ended")
        episode = await asyncio.to_thread(self._record, rollout, body, time.monotonic() - begun)
        return {"turns": episode.steps, "reward": episode.score}

    async def env(self, rollout: Rollout) -> Json:
        raise _without_envs()

    async def step(self, rollout: Rollout, body: Json) -> Json:
        raise _without_envs()

    async def next(self, agent: str) -> Json:
        raise _without_envs()

    def close(self) -> None:
        """Record what is open as given up."""
        with self._lock:
            left, self._open = dict(self._open), {}
        for rollout, begun in left.values():
            self._record(rollout, {"failure": "the server ended"}, time.monotonic() - begun)

    def _leave(self, now: float) -> None:
        """Give up the rollouts of agents that ask no more."""
        for name in [name for name, used in self._used.items() if now - used > IDLE]:
            rollout, begun = self._open.pop(name)
            del self._used[name]
            self._record(
                rollout, {"failure": f"its agent asked no more for {IDLE:g} s"}, now - begun
            )

    def _record(self, rollout: Rollout, body: Json, seconds: float) -> Episode:
        rollout.end()
        told = trace.of_rollout(rollout)
        said = rollout.clear()
        if not said:
            return Episode("", 0, "", [])
        episode = self._episode(rollout, said, body, seconds)
        with self._writing:
            self._store.add([episode])
            if self._store.folder is not None:
                files.append(self._store.folder / TRACES, [json.dumps(told)])
        ending = f"failed: {episode.failure}" if episode.failure else f"reward {episode.score:g}"
        self._note(f"{episode.id}: {episode.steps} answers, {ending}")
        return episode

    def _episode(self, rollout: Rollout, said: list[Said], body: Json, seconds: float) -> Episode:
        reward = float(body.get("reward") or 0.0)
        facts: dict[str, Any] = {name: body[name] for name in _FACTS if name in body}
        put = self._store.screenshots.put
        names = [[put(picture) for picture in one.pictures] for one in said]
        turns = [
            Turn(shown[-1] if shown else "", one.text, tokens=one.tokens, action_error=_error(one))
            for one, shown in zip(said, names, strict=True)
        ]
        turns[-1].reward = reward
        return Episode(
            **{"task": "", "seed": 0, "goal": "", **facts},
            turns=turns, id=public_name(rollout.key), score=reward,
            success=bool(body.get("success", reward >= 1.0)), terminated=True,
            failure=body.get("failure"), version=turns[0].tokens.version if turns[0].tokens else 0,
            seconds=seconds, started_at=datetime.now(UTC).isoformat(),
        )  # fmt: skip


def public_name(key: str) -> str:
    """A rollout's name for a record: one that looks like a secret is not told, but its hash."""
    return hashlib.sha256(key.encode()).hexdigest()[:16] if key.startswith("sk-") else key


def _error(said: Said) -> str | None:
    """What is wrong with an answer as an action, as far as that is known here."""
    return None if said.actions or not said.pictures else "parse"


def _without_envs() -> RolloutError:
    return RolloutError(404, "this server has no envs: bring your own, and say the reward")
