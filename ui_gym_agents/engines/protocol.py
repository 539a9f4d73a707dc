"""What an engine is asked and what it answers: tokens in, tokens out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from ui_gym.contract.device import Image
from ui_gym.errors import UIGymError


class EngineError(UIGymError):
    """An engine failed, and the policy is not to blame: no answer, or one that cannot be."""


@dataclass(frozen=True)
class EngineQuestion:
    """One prompt, as words and as tokens.

    `ids` are the tokens of the chat messages, with one placeholder an image token; `images` are
    its pictures in order, each (height, width, 3) uint8. `noise` seeds the sample.
    """

    messages: Sequence[dict[str, Any]]
    images: Sequence[Image]
    ids: tuple[int, ...]
    noise: int = 0


@dataclass(frozen=True)
class Sampling:
    """The distribution that is sampled from, ``softmax(logits / temperature)``, and its limits.

    No top-k and no top-p, so that a learner can compute the same log-probabilities. `stops` are
    the ids that end an answer, `suppressed` those that are never sampled.
    """

    temperature: float = 1.0
    max_new_tokens: int = 64
    stops: tuple[int, ...] = ()
    suppressed: tuple[int, ...] = ()


@dataclass(frozen=True)
class EngineAnswer:
    """What was sampled, from what exactly, and by which weights.

    `prompt_ids` are the tokens that the engine saw, image placeholders included. `ids` are the
    sampled ones, with the end token, and `logprobs` their log-probabilities in nats. `finish` is
    ``"stop"`` at an end token and ``"length"`` where the limit cut the answer.
    """

    prompt_ids: tuple[int, ...]
    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    version: int
    finish: Literal["stop", "length"]


class Engine(Protocol):
    """Samples answers.

    One that answers questions one by one, as a server does, adds
    ``submit(question, sampling) -> Future[EngineAnswer | EngineError]``.
    """

    version: int
    """Of the weights that answers are sampled with from now on."""

    def generate(
        self, questions: Sequence[EngineQuestion], sampling: Sampling
    ) -> list[EngineAnswer | EngineError]:
        """An answer to each question, in order, or what went wrong with it.

        One that failed leaves the others alone.
        """

    def publish(self, adapter: Path, version: int) -> None:
        """Sample with the adapter of a PEFT folder from now on, as `version`.

        What is under way is finished with the weights that it began with. The folder stays as it is
        while it is one of `kept`.

        Raises:
            EngineError: the engine did not take it; it goes on with the old one.
        """

    def kept(self) -> set[Path]:
        """The published folders that may be read again: a server forgets adapters when it is
        started again, and puts those away that it has not used lately."""

    def metrics(self) -> dict[str, float]:
        """What was measured since the last time, by names of metrics."""

    def close(self) -> None:
        """Let go of connections and of what was loaded. Closing twice is harmless."""


@dataclass(frozen=True)
class RequestLimits:
    """How long a server is waited for. Times are in seconds.

    `timeout` is for one attempt, from sending to the last byte. Attempt ``i`` (from 0) is followed
    by a pause of ``pause * 2**i``, or as long as the server asks for by seconds in ``Retry-After``,
    whichever is longer, but never longer than `longest_pause`. An answer of more than
    `answer_bytes` bytes is none: it is read no further, and not asked for again.
    """

    timeout: float = 120.0
    connect: float = 10.0
    attempts: int = 4
    pause: float = 0.5
    longest_pause: float = 20.0
    answer_bytes: int = 16 << 20
