"""Rollouts: what a policy sampled for each episode of an agent, and what the agent made of it.

An agent asks a server for samples and names its rollout by the API key. Every answer is a sample,
a sequence of its own: its prompt as the engine saw it, and what was sampled. So histories that are
edited, shortened or forked never get mixed. What counts is what reached the agent:

- A request that is repeated because its answer was lost (the client says so, or it was gone when
  the answer came) is given the same answer, and counts once.
- An answer that comes while the env is at work counts for the step after it.
- An answer that nobody took is not in the rollout.
- What was put into the agent's mouth (`sampled` is None) is not either.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import secrets
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any

from ui_gym.contract.action import Action
from ui_gym.contract.device import Image
from ui_gym_agents.episode import TokenRecord
from ui_gym_agents.seeds import derive_noise

MOST_SAMPLES = 1024
"""Samples of a rollout; an agent that asks for more does not come to an end."""


class RolloutError(Exception):
    """A request of a rollout that cannot be: an HTTP status and what to do."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Said:
    """What the policy said in one sample.

    `pictures` are those of its prompt, in order. `actions` are what it comes to in the dialect of
    the policy; None where the wire hands on words.
    """

    text: str
    tokens: TokenRecord
    pictures: Sequence[Image] = ()
    actions: Sequence[Action] | None = None


@dataclass
class RolloutSample:
    """A request and its answer."""

    key: str
    noise: int = 0
    """Seeds it."""
    response: Future[dict[str, Any]] = field(default_factory=Future)
    """The body of the answer, to be."""
    request: Mapping[str, Any] = field(default_factory=dict)
    said: Said | None = None
    """None as long as nothing was sampled."""
    delivered: bool = False
    """Whether it reached who asked."""
    lost: bool = False
    """Whether who asked was gone when it came."""


class Rollout:
    """The samples of one episode. For any thread.

    Args:
        key: The API key that names it.
        model: What the agent calls the policy.
    """

    def __init__(self, key: str, model: str = "policy", noise: int = 0) -> None:
        self.key = key
        self.model = model
        self.noise = noise
        self.over = False
        """Whether the episode has ended: nothing is sampled for it any more. See `end`."""
        self.samples: list[RolloutSample] = []
        """Those of the present step, or of all of an episode that is played elsewhere."""
        self.memory: dict[str, Any] = {}
        """What a wire remembers: by ids of its own."""
        self.lock = threading.RLock()
        self._count = 0
        self._noises: set[int] = set()
        """Those of all samples."""

    def begin(
        self, request: Mapping[str, Any], *, name: str, again: bool, api: str = ""
    ) -> tuple[RolloutSample, bool]:
        """The sample of a request, and whether it is a new one that must be answered.

        Args:
            request: The body, as it came.
            name: The client's own name of the request (``Idempotency-Key``), or empty.
            again: Whether the client says that it asks once more.
            api: Whose answer it is: one of another API is never the same.

        Raises:
            RolloutError: (409) the episode is over; (422) the name is another request's; (429) it
                has asked too often.
        """
        asked = digest(request)
        key = f"{api}:{name or asked}"
        with self.lock:
            if self.over:
                raise RolloutError(409, "the episode is over")
            for sample in reversed(self.samples):
                # Without a word of the client's, an equal request is one of parallel ones.
                if sample.key == key and (name or again or sample.lost):
                    if name and digest(sample.request) != asked:
                        told = "is the name of another request; give each one of its own"
                        raise RolloutError(422, f"the Idempotency-Key {name[:80]!r} {told}")
                    return sample, False
            if self._count >= MOST_SAMPLES:
                raise RolloutError(429, f"{MOST_SAMPLES} answers were given without an end")
            self._count += 1
            noises = (derive_noise(self.noise, asked, place) for place in itertools.count())
            noise = next(one for one in noises if one not in self._noises)
            self._noises.add(noise)
            sample = RolloutSample(key, noise, request=request)
            self.samples.append(sample)
            return sample, True

    def drop(self, sample: RolloutSample) -> None:
        """Forget a sample that failed: asked again, it is a new one."""
        with self.lock:
            if sample in self.samples:
                self.samples.remove(sample)
                self._noises.discard(sample.noise)

    def taken(self) -> list[Said]:
        """What was sampled and reached the agent, in the order in which it was asked for."""
        with self.lock:
            return [s.said for s in self.samples if s.said is not None and s.delivered]

    def clear(self) -> list[Said]:
        """`taken`, and a new step begins, which keeps what is still on its way."""
        with self.lock:
            found = self.taken()
            self.samples = [s for s in self.samples if not s.delivered]
            return found

    def end(self) -> None:
        """The episode is over: what is asked from now on is refused."""
        with self.lock:
            self.over = True


def joined(said: Sequence[Said]) -> TokenRecord | None:
    """The record of a step: the last sample, with those that came before it; None without any."""
    if not said:
        return None
    return replace(said[-1].tokens, before=tuple(one.tokens for one in said[:-1]))


def digest(request: Mapping[str, Any]) -> str:
    """What tells apart the bodies of requests."""
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


def new_key() -> str:
    """A rollout's key, which nobody guesses."""
    return f"sk-rollout-{secrets.token_hex(16)}"
