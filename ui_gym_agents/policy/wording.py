"""Wording: how a model is asked and what its answers mean, without its weights.

It is a policy's half that knows tokens: prompts to ids, sampled ids to a decision. A policy whose
weights are elsewhere consists of it alone (`wording_of`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.engines.protocol import EngineQuestion
from ui_gym_agents.episode import TokenRecord
from ui_gym_agents.policy import model
from ui_gym_agents.policy.encoding import PromptEncoder
from ui_gym_agents.policy.options import limit_pixels
from ui_gym_agents.policy.prompts import PromptBuilder
from ui_gym_agents.policy.weights import resolve


class Wording:
    """Turns views into prompts, and sampled tokens into decisions.

    `temperature` may be set at any time; 0 takes the best token always. `stops` are the ids that
    end an answer; `structural` those that no answer may hold.

    Args:
        base: The bare model, of which the configuration alone is read.
        processor: Its processor.
        prompt: How it is asked.
        temperature: Of sampling.
        max_new_tokens: Most tokens of an answer.
    """

    def __init__(
        self,
        base: Any,
        processor: Any,
        prompt: PromptBuilder,
        *,
        temperature: float = 1.0,
        max_new_tokens: int = 64,
    ) -> None:
        self.processor = processor
        self.tokenizer = processor.tokenizer
        self.prompt = prompt
        self.temperature = temperature
        self.max_new_tokens = max_new_tokens
        self.stops = model.stop_ids(base, self.tokenizer)
        self.structural = model.structural_ids(base, self.tokenizer, self.stops)
        self.encoder = PromptEncoder(processor, [*self.structural, *self.stops])

    @property
    def never_sampled(self) -> list[int]:
        """The ids that are never sampled, in order."""
        pictures = [] if self.encoder.image_id is None else [self.encoder.image_id]
        return sorted({*self.structural, *pictures})

    def question(self, view: View) -> EngineQuestion:
        """What an engine is asked for a view: the prompt in words and in ids, and its pictures."""
        messages, shown = self.prompt.build(view)
        messages = self.encoder.defused(messages)
        images = view.screenshots[len(view.screenshots) - shown :]
        ids = self.encoder.encode(messages, [image.shape[:2] for image in images])
        return EngineQuestion(messages, images, tuple(ids), view.noise)

    def decision(self, ids: tuple[int, ...], **sampled: Any) -> Decision:
        """What was sampled as an agent's decision; `sampled` are fields of its `TokenRecord`."""
        record = TokenRecord(output_ids=ids, **{"temperature": self.temperature, **sampled})
        return Decision(self.text(ids), record)

    def text(self, ids: Sequence[int]) -> str:
        """The words of an answer, without its end token."""
        kept = ids[:-1] if ids and ids[-1] in self.stops else ids
        return str(self.tokenizer.decode(kept, skip_special_tokens=True))


def wording_of(
    name: str | Path, prompt: PromptBuilder | None = None, *, max_pixels: int | None = None,
    **sampling: Any,
) -> Wording:  # fmt: skip
    """The wording of a model by shipped name, folder or hub name, of which no weight is read.

    `sampling` are `temperature` and `max_new_tokens`.

    Raises:
        UserError: there is no such model, or it has no end token.
    """
    folder = resolve(name, weights=False)
    processor = model.load_processor(folder)
    if max_pixels is not None and processor.image_processor is not None:
        limit_pixels(processor.image_processor, max_pixels)
    prompt = prompt or PromptBuilder.of(folder) or PromptBuilder()
    return Wording(model.on_meta(folder), processor, prompt, **sampling)
