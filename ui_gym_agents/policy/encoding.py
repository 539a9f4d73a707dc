"""From messages to prompt token ids, equal to the processor's and without calling it each time.

A processor replaces each picture's placeholder by a run of tokens whose length depends on the
picture's size alone. So the run is asked of the processor once a size, and the text is tokenised
once; the rest is splicing. The first prompts are made both ways and compared: a processor that
does more than that (Gemma 3 joins line breaks around pictures) is then asked every time.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np

from ui_gym.errors import UserError
from ui_gym_agents.policy.prompts import Message

Size = tuple[int, int]
"""(height, width) of a picture in pixels."""

CHECKED_PROMPTS = 8
"""How many distinct prompts are compared with the processor's before splicing is trusted."""

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """A dictionary that keeps the `limit` entries used last. Threads may share one."""

    _using = threading.Lock()
    """One for all, so that what holds such a dictionary can still be copied."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._items: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        with self._using:
            value = self._items.pop(key, None)
            if value is not None:
                self._items[key] = value
        return value

    def put(self, key: K, value: V) -> None:
        with self._using:
            self._items[key] = value
            if len(self._items) > self.limit:
                del self._items[next(iter(self._items))]

    def clear(self) -> None:
        self._items.clear()

    def __len__(self) -> int:
        return len(self._items)


class PromptEncoder:
    """Makes prompt ids, with one placeholder id for each token of each picture.

    `structural` are the ids that only the template may produce: where a goal or a page's text
    spells one out, it is broken up, so that no text can pose as a picture or as another speaker.
    """

    def __init__(self, processor: Any, structural: Sequence[int]) -> None:
        self.processor = processor
        self.tokenizer = processor.tokenizer
        self.image_id = image_token_id(processor)
        self.splices = True
        spelled = (self.tokenizer.convert_ids_to_tokens(i) for i in structural)
        self._forbidden = sorted({text for text in spelled if text and len(text) > 2})
        self._texts: Recent[str, list[int]] = Recent(4096)
        self._rendered: Recent[tuple[str, tuple[Size, ...]], list[int]] = Recent(1024)
        self._runs: dict[Size, list[int]] = {}
        self._to_check = CHECKED_PROMPTS
        self._shows = False

    def encode(
        self,
        messages: Sequence[Message],
        sizes: Sequence[Size],
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> list[int]:
        """Ids of the prompt, up to where the assistant speaks; `sizes` of its pictures in order.

        `tools` are JSON schemas of functions, for the chat template to show.

        Raises:
            UserError: there are pictures or tools, and the model or its chat template takes none.
        """
        if sizes and not self._shows:
            check_pictures(self.processor)
            self._shows = True
        messages = self.defused(messages)
        text = partial(self._render, messages, tools)
        key = json.dumps([messages, tools])
        if self.splices:
            ids = self._splice(key, text, sizes)
            if ids is not None:
                return ids
        seen = self._rendered.get((key, tuple(sizes)))
        if seen is None:
            seen = self._ask(text(), sizes)
            self._rendered.put((key, tuple(sizes)), seen)
        return seen

    def _splice(
        self, key: str, rendered: Callable[[], str], sizes: Sequence[Size]
    ) -> list[int] | None:
        plain = self._texts.get(key)
        if plain is None:
            text = rendered()
            plain = list(self.tokenizer(text, add_special_tokens=self._adds(text))["input_ids"])
            self._texts.put(key, plain)
            if self._to_check:
                self._to_check -= 1
                if self._join(plain, sizes) != self._ask(text, sizes):
                    self.splices = False
        return self._join(plain, sizes) if self.splices else None

    def _join(self, plain: list[int], sizes: Sequence[Size]) -> list[int] | None:
        """`plain` with the run of each picture in place of its placeholder."""
        ids: list[int] = []
        waiting = iter(sizes)
        for token in plain:
            if token != self.image_id:
                ids.append(token)
                continue
            size = next(waiting, None)
            run = self._run(size) if size else None
            if run is None:
                return None
            ids.extend(run)
        return ids if next(waiting, None) is None else None

    def _run(self, size: Size) -> list[int] | None:
        """What the processor puts in place of one placeholder, for a picture of `size`."""
        if size not in self._runs:
            text = self._render([{"role": "user", "content": [{"type": "image"}]}])
            plain = list(self.tokenizer(text, add_special_tokens=self._adds(text))["input_ids"])
            full = self._ask(text, [size])
            if plain.count(self.image_id) != 1:
                return None
            at = plain.index(self.image_id)
            end = len(full) - (len(plain) - at - 1)
            if full[:at] != plain[:at] or full[end:] != plain[at + 1 :]:
                return None
            self._runs[size] = full[at:end]
        return self._runs[size]

    def placeholders(self, size: Size) -> int:
        """How many placeholder ids in a row stand for a picture of `size`.

        Raises:
            UserError: this model writes other tokens between them.
        """
        run = self._run(size) or []
        if not run or any(token != self.image_id for token in run):
            raise UserError(
                "this model's processor divides a picture among several runs of tokens, and a "
                "server that takes pictures as they are has one run for each: take a model of the "
                "Qwen-VL family"
            )
        return len(run)

    def _ask(self, text: str, sizes: Sequence[Size]) -> list[int]:
        """The processor's own ids; pictures matter by their size alone, so blank ones do."""
        images = [np.full((*size, 3), 255, dtype=np.uint8) for size in sizes]
        kwargs = {"add_special_tokens": self._adds(text)}
        batch = self.processor(text=[text], images=[images] if images else None, **kwargs)
        return [int(i) for i in np.asarray(batch["input_ids"][0])]

    def _render(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()) -> str:
        text = render(self.processor, messages, tools)
        if tools and text == render(self.processor, messages):
            raise UserError(
                "this model's chat template shows no tools: take a model whose template does, or "
                "tell it in words how to act"
            )
        return text

    def _adds(self, text: str) -> bool:
        """Whether the tokenizer adds its begin-of-text: not where the template wrote one."""
        bos = self.tokenizer.bos_token
        return bos is None or not text.startswith(bos)

    def defused(self, messages: Sequence[Message]) -> list[Message]:
        """The messages with every text defused; once is as good as twice."""
        return [self._defused(message) for message in messages]

    def _defused(self, value: Any) -> Any:
        """`value` with every text in it defused."""
        if isinstance(value, str):
            return self.defuse(value)
        if isinstance(value, Mapping):
            return {key: self._defused(inner) for key, inner in value.items()}
        return [self._defused(inner) for inner in value] if isinstance(value, list) else value

    def defuse(self, text: str) -> str:
        """`text` with a space inside every structural token that it spells out."""
        for token in self._forbidden:
            if token in text:
                text = text.replace(token, token[0] + " " + token[1:])
        return text


def render(
    processor: Any, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
) -> str:
    """The prompt's text, up to where the assistant speaks, by the model's chat template."""
    options: dict[str, Any] = {"tools": list(tools)} if tools else {}
    return str(
        processor.apply_chat_template(
            list(messages), add_generation_prompt=True, tokenize=False, **options
        )
    )


def check_pictures(processor: Any) -> None:
    """Refuse a model that would be shown pictures and never see them.

    Raises:
        UserError: it is a language model, or its chat template leaves pictures out.
    """
    if processor.image_processor is None:
        raise UserError(
            "this model reads text and sees no pictures: take --env.observation elements, or a "
            "vision-language model"
        )
    shown = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "?"}]}]
    token = processor.tokenizer.convert_ids_to_tokens(image_token_id(processor))
    try:
        text = render(processor, shown)
    except Exception as error:  # a template's own, jinja2's, or that there is none
        raise UserError(
            f"this model's chat template cannot show a picture ({error}): take the "
            "instruction-tuned model of that name, or --env.observation elements"
        ) from None
    if token not in text:
        raise UserError(
            f"this model's chat template leaves pictures out (it writes no {token}), so that the "
            "model would see nothing: take a model whose template has pictures, or "
            "--env.observation elements"
        )


def image_token_id(processor: Any) -> int | None:
    """The id that stands for a picture's tokens; None for a processor without pictures.

    Raises:
        UserError: the processor names none.
    """
    if processor.image_processor is None:
        return None
    value = getattr(processor, "image_token_id", None)
    if value is None and isinstance(name := getattr(processor, "image_token", None), str):
        value = processor.tokenizer.convert_tokens_to_ids(name)
    if value is None:
        raise UserError(f"{type(processor).__name__} names no image token: not a model for images")
    return int(value)
