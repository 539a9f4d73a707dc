"""Forward passes over (prompt, answer) pairs, for sampling and for learning alike.

Prompts are padded on the left and answers on the right, so that all answers of a batch begin in
one column. Rows that share a prompt share its pass: the prompt's keys and values are computed
once, with gradients if wanted, and handed to each row. In a group of rollouts of one task this is
most of the work saved. Position ids are always given, never left to the model's own memory of its
last call (Qwen-VL keeps ``rope_deltas`` on the module).
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from ui_gym.errors import UserError
from ui_gym_agents.policy.encoding import Recent
from ui_gym_agents.policy.eyes import Eyes, Features
from ui_gym_agents.policy.merging import Merged
from ui_gym_agents.policy.model import checkpointed

SHARE_BELOW = 0.8
"""Prompts are shared where distinct ones are fewer than this part of the rows."""


@dataclass(frozen=True)
class Prompt:
    """Ids with a placeholder for each image token, and the hashes of the pictures in order."""

    ids: tuple[int, ...]
    images: tuple[str, ...]


@dataclass
class Prefix:
    """Prompts after their pass.

    `logits` (rows, vocabulary) are those of the first answer token; `mask` (rows, length)
    is 1 where there is a token; `next` (rows, 1) is the position of the first answer token.
    """

    logits: Tensor
    cache: DynamicCache
    mask: Tensor
    next: Tensor


@dataclass(frozen=True)
class _Block:
    """Left-padded prompts: ids and mask (rows, length), positions (axes, rows, length)."""

    ids: Tensor
    mask: Tensor
    positions: Tensor
    next: Tensor
    images: dict[str, Any] | None


class Forward:
    """Runs a model (the bare one, not its PEFT wrapper) over prompts and answers."""

    def __init__(self, model: Any, eyes: Eyes, image_id: int, pad_id: int) -> None:
        self.model = model
        self.eyes = eyes
        self.image_id = image_id
        self.pad_id = pad_id
        self.axes = 3 if hasattr(model.model, "get_rope_index") else 1
        parameters = inspect.signature(model.forward).parameters
        self._types = "token_type_ids" in parameters
        self._positions: Recent[tuple[Any, ...], Tensor] = Recent(1024)
        cache = DynamicCache(config=model.config)
        self.can_share = all(type(layer) is DynamicLayer for layer in cache.layers)

    # -- the two passes --

    def prefill(
        self, prompts: Sequence[Prompt], features: Mapping[str, Features], *, share: bool = True
    ) -> Prefix:
        """The pass over `prompts`; with `share`, equal ones are computed once and repeated."""
        distinct = list(dict.fromkeys(prompts))
        if share and self.can_share and len(distinct) < len(prompts):
            where = {prompt: i for i, prompt in enumerate(distinct)}
            rows = torch.tensor([where[prompt] for prompt in prompts], device=self.model.device)
            return self._select(self.prefill(distinct, features), rows)
        block = self._block(prompts, features)
        cache = DynamicCache(config=self.model.config)
        out = self._call(block.ids, block.mask, block.positions, block.images, cache, keep=1)
        return Prefix(out[:, -1], cache, block.mask, block.next)

    def extend(self, prefix: Prefix, ids: Tensor, done: int = 0) -> Tensor:
        """Logits (rows, tokens, vocabulary) after each of `ids` (rows, tokens).

        `done` tokens of each answer are in the cache already; the row count is the prefix's.
        """
        rows, tokens = ids.shape
        mask = torch.cat([prefix.mask, prefix.mask.new_ones(rows, done + tokens)], dim=1)
        steps = torch.arange(done, done + tokens, device=ids.device)
        positions = (prefix.next + steps).expand(self.axes, -1, -1)
        return self._call(ids, mask, positions, None, prefix.cache)

    @staticmethod
    def _select(prefix: Prefix, rows: Tensor) -> Prefix:
        """The prefix with `rows` of it, in that order, repeated as asked. The cache is moved."""
        prefix.cache.batch_select_indices(rows)
        return Prefix(prefix.logits[rows], prefix.cache, prefix.mask[rows], prefix.next[rows])

    def answer_logits(
        self,
        prompts: Sequence[Prompt],
        answers: Sequence[Sequence[int]],
        features: Mapping[str, Features],
        *,
        share: bool | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Logits (rows, tokens, vocabulary) of each answer token, and the tokens (rows, tokens).

        Beyond an answer's end tokens are padding, and their logits mean nothing. `share` forces
        or forbids the shared prompt pass.
        """
        ids = self._right_padded(answers)
        if share is None:
            share = len(set(prompts)) < SHARE_BELOW * len(prompts)
        if not share or not self.can_share or self.checkpoints():
            return self._whole(prompts, ids, features), ids
        prefix = self.prefill(prompts, features)
        first = prefix.logits[:, None]
        if ids.shape[1] == 1:
            return first, ids
        return torch.cat([first, self.extend(prefix, ids[:, :-1])], dim=1), ids

    def sequence_logits(
        self, sequences: Sequence[Merged], features: Mapping[str, Features]
    ) -> list[list[Tensor]]:
        """Logits (tokens, vocabulary) of each answer in each of `sequences`, in one pass a row.

        Only the places at which some row has an answer go through the output layer.
        """
        prompts = [Prompt(sequence.ids[:-1], sequence.images) for sequence in sequences]
        block = self._block(prompts, features)
        length = block.ids.shape[1]
        # The logits of the token at place i come from place i - 1; rows are padded on the left.
        starts = [length - len(prompt.ids) - 1 for prompt in prompts]
        wanted = [
            torch.cat([torch.arange(start, end) for start, end in sequence.spans]) + at
            for sequence, at in zip(sequences, starts, strict=True)
        ]
        kept, where = torch.cat(wanted).unique(return_inverse=True)
        logits = self._call(
            block.ids, block.mask, block.positions, block.images, keep=kept.to(block.ids.device)
        )
        rows = where.split([len(places) for places in wanted])
        return [
            list(logits[row, places.to(logits.device)].split([b - a for a, b in sequence.spans]))
            for row, (places, sequence) in enumerate(zip(rows, sequences, strict=True))
        ]

    def checkpoints(self) -> bool:
        """Whether layers are computed again on the way back: they then refuse cached keys."""
        return any(layer.training for layer in checkpointed(self.model))

    def _whole(
        self, prompts: Sequence[Prompt], ids: Tensor, features: Mapping[str, Features]
    ) -> Tensor:
        block = self._block(prompts, features)
        tokens = ids.shape[1]
        steps = torch.arange(tokens - 1, device=ids.device)
        positions = (block.next + steps).expand(self.axes, -1, -1)
        return self._call(
            torch.cat([block.ids, ids[:, :-1]], dim=1),
            torch.cat([block.mask, block.mask.new_ones(len(prompts), tokens - 1)], dim=1),
            torch.cat([block.positions, positions], dim=2),
            block.images,
            keep=tokens,
        )

    def _call(
        self,
        ids: Tensor,
        mask: Tensor,
        positions: Tensor,
        images: dict[str, Any] | None,
        cache: DynamicCache | None = None,
        keep: int | Tensor = 0,
    ) -> Tensor:
        more: dict[str, Any] = {}
        if self._types:
            more["token_type_ids"] = (ids == self.image_id).long()
        out = self.model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=positions if self.axes > 1 else positions[0],
            mm_encoder_outputs=images,
            past_key_values=cache,
            use_cache=cache is not None,
            logits_to_keep=keep,
            return_dict=True,
            **more,
        )
        logits: Tensor = out.logits
        return logits

    # -- batches --

    def _block(self, prompts: Sequence[Prompt], features: Mapping[str, Features]) -> _Block:
        length = max(len(prompt.ids) for prompt in prompts)
        ids = np.full((len(prompts), length), self.pad_id, dtype=np.int64)
        mask = np.zeros((len(prompts), length), dtype=np.int64)
        positions = torch.zeros((self.axes, len(prompts), length), dtype=torch.int64)
        for row, prompt in enumerate(prompts):
            start = length - len(prompt.ids)
            ids[row, start:] = prompt.ids
            mask[row, start:] = 1
            pictures = [features[key] for key in prompt.images]
            check_image_tokens(ids[row, start:], self.image_id, pictures)
            positions[:, row, start:] = self._position_ids(ids[row, start:], pictures)
        device = self.model.device
        return _Block(
            torch.from_numpy(ids).to(device),
            torch.from_numpy(mask).to(device),
            positions.to(device),
            (positions.amax(dim=(0, 2))[:, None] + 1).to(device),
            self.eyes.pack([features[key] for prompt in prompts for key in prompt.images]),
        )

    def _position_ids(self, ids: np.ndarray, pictures: Sequence[Features]) -> Tensor:
        """Shape (axes, tokens): plain counting, or Qwen-VL's (time, row, column)."""
        if self.axes == 1:
            return torch.arange(len(ids))[None]
        seen = ids == self.image_id
        grids = tuple(picture.grid for picture in pictures)
        key = (seen.tobytes(), grids)
        found = self._positions.get(key)
        if found is None:
            found = self.model.model.get_rope_index(
                torch.from_numpy(ids)[None],
                mm_token_type_ids=torch.from_numpy(seen.astype(np.int32))[None],
                image_grid_thw=torch.tensor(grids) if grids else None,
                attention_mask=torch.ones(1, len(ids), dtype=torch.int64),
            )[0][:, 0]
            self._positions.put(key, found)
        return found

    def _right_padded(self, answers: Sequence[Sequence[int]]) -> Tensor:
        length = max(len(answer) for answer in answers)
        ids = np.full((len(answers), length), self.pad_id, dtype=np.int64)
        for row, answer in enumerate(answers):
            ids[row, : len(answer)] = answer
        return torch.from_numpy(ids).to(self.model.device)


def check_image_tokens(ids: np.ndarray, image_id: int, pictures: Sequence[Features]) -> None:
    """Raise `UserError` unless the prompt has exactly the placeholders that its pictures fill."""
    have = int((ids == image_id).sum())
    need = sum(picture.tokens for picture in pictures)
    if have != need:
        raise UserError(
            f"the prompt has {have} image tokens, but its {len(pictures)} pictures make {need}: "
            "prompt and pictures do not belong together, or the pictures have another size"
        )
