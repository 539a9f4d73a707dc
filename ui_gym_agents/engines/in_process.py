"""The policy's own sampler as an engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ui_gym_agents.engines.protocol import EngineAnswer, EngineError, EngineQuestion, Sampling

if TYPE_CHECKING:
    from ui_gym_agents.policy import VLMPolicy


class InProcessEngine:
    """Samples with a policy's model where it is. Stops and suppressed ids are the policy's own."""

    def __init__(self, policy: VLMPolicy) -> None:
        self.policy = policy

    @property
    def version(self) -> int:
        return self.policy.version

    @version.setter
    def version(self, value: int) -> None:
        self.policy.version = value

    def generate(
        self, questions: Sequence[EngineQuestion], sampling: Sampling
    ) -> list[EngineAnswer | EngineError]:
        """An answer to each question; see `Engine`."""
        samples = self.policy.sample(
            questions,
            temperature=sampling.temperature,
            max_new_tokens=sampling.max_new_tokens,
        )
        return [
            EngineAnswer(
                question.ids, sample.ids, sample.logprobs, self.version,
                "length" if sample.truncated else "stop",
            )
            for question, sample in zip(questions, samples, strict=True)
        ]  # fmt: skip

    def publish(self, adapter: Path, version: int) -> None:
        """Take over the adapter of a PEFT folder, in place of the policy's own weights."""
        self.policy.load(adapter)
        self.version = version

    def kept(self) -> set[Path]:
        """None: an adapter is taken over when it is published."""
        return set()

    def metrics(self) -> dict[str, float]:
        """Nothing is measured."""
        return {}

    def close(self) -> None:
        """Nothing is held."""
