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
from torch.nn.functional import pad
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from ui_gym.errors import UserError
from ui_gym_agents.policy.beginnings import Beginning
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

    @property
    def token_bytes(self) -> int:
        """What the keys and values of one token of one row take."""
        states = [t for layer in layers_of(self.cache) for t in (layer.keys, layer.values)]
        return sum(t.shape[1] * t.shape[3] * t.element_size() for t in states)


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

    def __init__(self, model: Any, eyes: Eyes, image_id: int | None, pad_id: int) -> None:
        self.model = model
        self.eyes = eyes
        self.image_id = -1 if image_id is None else image_id  # no token has that id
        self.pad_id = pad_id
        self.axes = 3 if hasattr(getattr(model, "model", model), "get_rope_index") else 1
        parameters = inspect.signature(model.forward).parameters
        self._sees = "mm_encoder_outputs" in parameters  # a language model does not
        self._types = "token_type_ids" in parameters
        self._cache = "cache" if "cache" in parameters else "past_key_values"  # by version
        self._positions: Recent[tuple[Any, ...], Tensor] = Recent(1024)
        cache = DynamicCache(config=model.config)
        self.can_share = all(type(layer) is DynamicLayer for layer in cache.layers)
        # Where pictures see themselves both ways, a mask is made of what is in the pass alone.
        self.can_go_on = self.can_share and not self._types

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

    def go_on(
        self,
        prompts: Sequence[Prompt],
        features: Mapping[str, Features],
        begun: Sequence[Beginning | None],
    ) -> Prefix:
        """The pass over what follows in `prompts` after their beginnings (None: over all of one).

        `features` are needed of the pictures after the beginnings alone.
        """
        block = self._block(prompts, features, begun)
        cache, mask = self._begun(begun)
        mask = torch.cat([mask, block.mask], dim=1)
        out = self._call(block.ids, mask, block.positions, block.images, cache, keep=1)
        return Prefix(out[:, -1], cache, mask, block.next)

    def _begun(self, begun: Sequence[Beginning | None]) -> tuple[DynamicCache, Tensor]:
        """A cache of beginnings, padded on the left, and its mask (rows, length)."""
        cache = DynamicCache(config=self.model.config)
        counts = [0 if one is None else len(one.ids) for one in begun]
        length = max(counts)
        mask = np.zeros((len(begun), length), dtype=np.int64)
        for row, count in enumerate(counts):
            mask[row, length - count :] = 1
        some = next((one for one in begun if one is not None), None)
        for index, layer in enumerate(layers_of(cache)):
            if some is None:
                break
            keys, values = (
                like.new_zeros(len(begun), like.shape[0], length, like.shape[2])
                for like in some.layers[index]
            )
            for row, one in enumerate(begun):
                if one is not None:
                    keys[row, :, length - counts[row] :] = one.layers[index][0]
                    values[row, :, length - counts[row] :] = one.layers[index][1]
            layer.lazy_initialization(keys, values)
            layer.keys, layer.values = keys, values
        return cache, torch.from_numpy(mask).to(self.model.device)

    def arranged(self, prefixes: Sequence[Prefix], rows: Sequence[int]) -> Prefix:
        """One prefix of the `rows` of several that follow each other. Their caches are moved."""
        one = prefixes[0]
        if len(prefixes) > 1:
            length = max(prefix.mask.shape[1] for prefix in prefixes)
            for index, layer in enumerate(layers_of(one.cache)):
                own = [layers_of(prefix.cache)[index] for prefix in prefixes]
                layer.keys = torch.cat([_padded(each.keys, length) for each in own])
                layer.values = torch.cat([_padded(each.values, length) for each in own])
            one = Prefix(
                torch.cat([prefix.logits for prefix in prefixes]),
                one.cache,
                torch.cat([pad(p.mask, (length - p.mask.shape[1], 0)) for p in prefixes]),
                torch.cat([prefix.next for prefix in prefixes]),
            )
        if list(rows) == list(range(one.mask.shape[0])):
            return one
        return self._select(one, torch.tensor(rows, device=self.model.device))

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
        more: dict[str, Any] = {self._cache: cache}
        if self._types:
            more["token_type_ids"] = (ids == self.image_id).long()
        if self._sees:
            more["mm_encoder_outputs"] = images
        out = self.model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=positions if self.axes > 1 else positions[0],
            use_cache=cache is not None,
            logits_to_keep=keep,
            return_dict=True,
            **more,
        )
        logits: Tensor = out.logits
        return logits

    # -- batches --

    def _block(
        self,
        prompts: Sequence[Prompt],
        features: Mapping[str, Features],
        begun: Sequence[Beginning | None] | None = None,
    ) -> _Block:
        """`prompts`, or what follows in them after their beginnings."""
        before = begun or [None] * len(prompts)
        skips = [0 if one is None else len(one.ids) for one in before]
        shown = [
            prompt.images[0 if one is None else len(one.images) :]
            for prompt, one in zip(prompts, before, strict=True)
        ]
        length = max(len(p.ids) - skip for p, skip in zip(prompts, skips, strict=True))
        ids = np.full((len(prompts), length), self.pad_id, dtype=np.int64)
        mask = np.zeros((len(prompts), length), dtype=np.int64)
        positions = torch.zeros((self.axes, len(prompts), length), dtype=torch.int64)
        for row, prompt in enumerate(prompts):
            start = length - len(prompt.ids) + skips[row]
            ids[row, start:] = prompt.ids[skips[row] :]
            mask[row, start:] = 1
            pictures = [features[key] for key in shown[row]]
            check_image_tokens(ids[row, start:], self.image_id, pictures)
            one = before[row]
            grids = (*(() if one is None else one.grids), *(p.grid for p in pictures))
            whole = np.asarray(prompt.ids, dtype=np.int64)
            positions[:, row, start:] = self._position_ids(whole, grids)[:, skips[row] :]
        device = self.model.device
        return _Block(
            torch.from_numpy(ids).to(device),
            torch.from_numpy(mask).to(device),
            positions.to(device),
            (positions.amax(dim=(0, 2))[:, None] + 1).to(device),
            self.eyes.pack([features[key] for row in shown for key in row]),
        )

    def _position_ids(self, ids: np.ndarray, grids: tuple[Any, ...]) -> Tensor:
        """Shape (axes, tokens): plain counting, or Qwen-VL's (time, row, column)."""
        if self.axes == 1:
            return torch.arange(len(ids))[None]
        seen = ids == self.image_id
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


def layers_of(cache: DynamicCache) -> list[Any]:
    """What holds keys and values; of `DynamicLayer`'s class, where `can_share`."""
    return cache.layers


def _padded(states: Tensor, length: int) -> Tensor:
    """Keys or values (rows, heads, tokens, width), padded on the left to `length` tokens."""
    return pad(states, (0, 0, length - states.shape[2], 0))


def check_image_tokens(ids: np.ndarray, image_id: int, pictures: Sequence[Features]) -> None:
    """Raise `UserError` unless the prompt has exactly the placeholders that its pictures fill."""
    have = int((ids == image_id).sum())
    need = sum(picture.tokens for picture in pictures)
    if have != need:
        raise UserError(
            f"the prompt has {have} image tokens, but its {len(pictures)} pictures make {need}: "
            "prompt and pictures do not belong together, or the pictures have another size"
        )
