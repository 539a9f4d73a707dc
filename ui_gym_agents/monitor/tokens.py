"""What a model read and said, token by token, by the tokenizer of the run's model.

The tokenizer's file is read when somebody asks, and no weights are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

from ui_gym.errors import UserError
from ui_gym_agents.episode import TokenRecord

LONGEST = 4
"""So many equal tokens in a row are shown as one with their number: what fills up a prompt."""


def told(record: TokenRecord | None, config: Mapping[str, Any]) -> dict[str, Any]:
    """A turn's tokens for the page: output with log-probabilities, input with its pictures."""
    empty: dict[str, Any] = {
        "output": [],
        "input": [],
        "logprob_sum": None,
        "samples": 0,
        "note": "",
    }
    if record is None:
        return empty | {"note": "This agent recorded no tokens."}
    model = str((config.get("policy") or {}).get("model") or "")
    try:
        reader = _reader(model)
    except UserError as error:
        return empty | _raw(record) | {"note": f"Tokens are shown as numbers: {error}"}
    logprobs: Sequence[float | None] = record.logprobs or (None,) * len(record.output_ids)
    output = [
        {"text": reader.text(id), "logprob": logprob}
        for id, logprob in zip(record.output_ids, logprobs, strict=False)
    ]
    total = sum(record.logprobs) if record.logprobs else None
    note = "cut at the limit of new tokens" if record.truncated else ""
    return empty | {
        "output": output, "input": reader.prompt(record), "logprob_sum": total,
        "samples": len(record.all), "note": note,
    }  # fmt: skip


class TokenReader:
    """Texts of token ids; `pictures` are the ids that stand for pictures."""

    def __init__(self, tokenizer: Any, pictures: frozenset[int]) -> None:
        self._tokenizer = tokenizer
        self._pictures = pictures
        added = tokenizer.get_added_tokens_decoder()
        self._special = {id for id, token in added.items() if token.special}

    def text(self, id: int) -> str:
        """What a token stands for."""
        return str(self._tokenizer.decode([id], skip_special_tokens=False))

    def prompt(self, record: TokenRecord) -> list[dict[str, Any]]:
        """The prompt as texts and pictures, in order."""
        images = iter(record.images)
        parts: list[dict[str, Any]] = []
        for kind, run in groupby(record.prompt_ids, self._kind):
            ids = list(run)
            if kind == "picture":
                parts.append({"picture": next(images, ""), "tokens": len(ids)})
            else:
                text = self._tokenizer.decode(ids, skip_special_tokens=False)
                parts.append({"text": text, "special": kind == "special"})
        return parts

    def _kind(self, id: int) -> str:
        return "picture" if id in self._pictures else "special" if id in self._special else "text"


@lru_cache(maxsize=2)
def _reader(model: str) -> TokenReader:
    """UserError: the model, or its tokenizer, is not on this machine."""
    from ui_gym_agents.policy import hub, weights

    if not model:
        raise UserError("the run does not say which model it has")
    if hub.is_hub_name(model) and not Path(model).is_dir():
        raise UserError(f"{model} is a model of the hub, which the monitor does not ask")
    folder = weights.resolve(model, weights=False)
    file = folder / "tokenizer.json"
    if not file.is_file():
        raise UserError(f"{folder} holds no tokenizer.json")
    try:
        from tokenizers import Tokenizer

        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        tokenizer = Tokenizer.from_file(str(file))
    except ImportError:
        raise UserError("the package tokenizers is not installed") from None
    except Exception as error:  # tokenizers raises Exception itself
        raise UserError(f"{file} cannot be read: {error}") from None
    names = ("image_token_id", "image_token_index")
    return TokenReader(tokenizer, frozenset(config[n] for n in names if config.get(n) is not None))


def _raw(record: TokenRecord) -> dict[str, Any]:
    logprobs: Sequence[float | None] = record.logprobs or (None,) * len(record.output_ids)
    output = [
        {"text": f"{id} ", "logprob": p} for id, p in zip(record.output_ids, logprobs, strict=False)
    ]
    parts: list[dict[str, Any]] = []
    for id, run in groupby(record.prompt_ids):
        count = len(list(run))
        parts.append({"text": f"{id} " if count < LONGEST else f"{id} ({count} times) "})
    return {"output": output, "input": parts, "samples": len(record.all)}
