"""Tokens as servers count them: where each API tells them, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ui_gym_agents.episode import TokenUsage

MOST = 1 << 53
"""No server counts so many tokens; a float holds each number below."""


@dataclass(frozen=True)
class UsageFields:
    """Where an API's answers tell their tokens: an object, and the fields of it to sum."""

    key: str
    prompt: tuple[str, ...]
    completion: tuple[str, ...]

    def read(self, answer: Any) -> TokenUsage | None:
        """The tokens of an answer; None where it tells none, which is not the same as no tokens."""
        told = answer.get(self.key) if isinstance(answer, Mapping) else None
        if not isinstance(told, Mapping):
            return None
        prompt, completion = _sum(told, self.prompt), _sum(told, self.completion)
        if prompt is None or completion is None:
            return None
        return TokenUsage(prompt, completion)


def _sum(told: Mapping[str, Any], names: Sequence[str]) -> int | None:
    """The sum of what is told of some fields; None where none is, or one is no number of tokens."""
    found = [told[name] for name in names if told.get(name) is not None]
    counts = [count for count in found if type(count) is int and 0 <= count < MOST]
    return sum(counts) if counts and len(counts) == len(found) else None


CHAT = UsageFields("usage", ("prompt_tokens",), ("completion_tokens",))
"""OpenAI's Chat Completions: cached tokens and those of thoughts are among these."""

RESPONSES = UsageFields("usage", ("input_tokens",), ("output_tokens",))
"""OpenAI's Responses: the same."""

MESSAGES = UsageFields(
    "usage",
    ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
    ("output_tokens",),
)
"""Anthropic's Messages, where cached tokens are counted apart."""

CONTENT = UsageFields(
    "usageMetadata",
    ("promptTokenCount", "toolUsePromptTokenCount"),
    ("candidatesTokenCount", "thoughtsTokenCount"),
)
"""Google's ``generateContent``, where thoughts are counted apart."""
