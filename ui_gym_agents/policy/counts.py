"""How much of a policy's work was remembered rather than done again, counted for metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self


@dataclass
class Remembered:
    """Counts since `take` was last called. Copies of a policy share them."""

    pictures: int = 0
    known_pictures: int = 0
    turns: int = 0
    merged_turns: int = 0
    tokens: int = 0
    reused_tokens: int = 0
    period: int = 0
    """How often `take` was called."""

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def take(self) -> dict[str, float]:
        """The shares, of what there was any of; counting begins anew.

        ``feature_hits`` of the pictures that the tower was asked for, ``merged_turns`` of the turns
        (their prompts begin with the whole prompt of the turn before), ``reused_tokens`` of the
        prompts' tokens.
        """
        found: dict[str, float] = {}
        if self.pictures:
            found["feature_hits"] = self.known_pictures / self.pictures
        if self.turns:
            found["merged_turns"] = self.merged_turns / self.turns
            found["reused_tokens"] = self.reused_tokens / self.tokens
        self.pictures = self.known_pictures = 0
        self.turns = self.merged_turns = self.tokens = self.reused_tokens = 0
        self.period += 1
        return found
