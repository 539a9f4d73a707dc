"""Keys and values of an episode's last prompt, so that sampling computes what came since alone.

A prompt goes on from the last one of its slot as far as both are equal, id for id and picture for
picture (`merging` says why ids are not enough). Where a history of pictures grows, that is all of
the last prompt; where its window slides, it is what stands before the first picture, since each
token's keys and values depend on all tokens before it and on its place: take a window that loses
several pictures at once (`PromptBuilder.drop`).

A sum over many columns is rounded otherwise in one pass than in two, so that log-probabilities
differ in their last bits from those of a prompt that is computed whole. What is kept is therefore a
function of the episode alone: its first turn begins with nothing, and keeps to nothing else. An
episode then repeats to the bit wherever it is played again with the same neighbours, as in a run
that was resumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ui_gym_agents.policy.beginnings import Beginning
from ui_gym_agents.policy.counts import Remembered
from ui_gym_agents.policy.eyes import Eyes
from ui_gym_agents.policy.forward import Forward, Prefix, Prompt, layers_of
from ui_gym_agents.policy.images import ScreenshotSource

CPU_BYTES = 2 * 2**30
GPU_SHARE = 4
"""On a GPU, one part in so many of its memory."""


@dataclass(frozen=True)
class Room:
    """How much memory sampling may use to remember what it computed.

    `turns` are bytes for keys and values of earlier turns (`EarlierTurns`), 0 for none; None: 2 GiB
    on a CPU and a quarter of a GPU's memory. `pictures`
    are bytes for what the vision tower makes of pictures; None: `eyes.CACHE_BYTES`, or more where
    so many `slots` show more. Nothing is kept of turns where prompts show one picture alone.
    """

    turns: int | None = None
    pictures: int | None = None
    slots: int = 0

    def eyes(self, model: Any, image_processor: Any, history: int, counts: Remembered) -> Eyes:
        """The vision tower of a model whose prompts show `history` pictures."""
        if self.pictures is not None:
            return Eyes(model, image_processor, self.pictures, counts=counts)
        return Eyes(model, image_processor, least=self.slots * history, counts=counts)

    def earlier(self, forward: Forward, counts: Remembered) -> EarlierTurns | None:
        """Where turns are kept; None where they are not, or cannot be."""
        limit = _default_limit(forward.model.device) if self.turns is None else self.turns
        return EarlierTurns(limit, counts) if limit and forward.can_go_on else None


def _default_limit(device: torch.device) -> int:
    if device.type != "cuda":
        return CPU_BYTES
    return int(torch.cuda.get_device_properties(device).total_memory) // GPU_SHARE


@dataclass
class _Entry:
    kept: Beginning
    used: int
    """How many turns had been sampled then."""


class EarlierTurns:
    """The last prompt of each slot's episode after its pass, at most `limit` bytes in all.

    What was kept longest goes first, if its slot was not asked for while twice as many turns were
    sampled as there are slots: its episode is over, and nobody said so. Else the new prompt is not
    kept. Slots are asked in turn, so that of a memory which holds nine of ten slots' prompts, and
    gives up the oldest each time, none would ever be used.
    """

    def __init__(self, limit: int, counts: Remembered) -> None:
        self.limit = limit
        self.counts = counts
        self.nbytes = 0
        self._entries: dict[int, _Entry] = {}
        self._weights: object = None
        self._sampled = 0

    def __deepcopy__(self, memo: object) -> EarlierTurns:
        """A copy of the policy plays episodes of its own."""
        return EarlierTurns(self.limit, self.counts)

    def __len__(self) -> int:
        return len(self._entries)

    def forget(self) -> bool:
        """Drop everything; whether there was anything."""
        had = bool(self._entries)
        self._entries.clear()
        self.nbytes = 0
        return had

    def end(self, slot: int) -> None:
        """Drop what is kept of a slot: its episode is over."""
        entry = self._entries.pop(slot, None)
        if entry is not None:
            self.nbytes -= entry.kept.nbytes

    def prefill(
        self,
        forward: Forward,
        eyes: Eyes,
        prompts: Sequence[Prompt],
        slots: Sequence[int],
        pictures: ScreenshotSource,
        weights: object,
    ) -> Prefix:
        """The pass over `prompts` with what is kept of their `slots`; they are kept instead.

        `weights` tells the model's weights apart: nothing is used that others computed. Equal
        prompts are computed once. Older pictures are not asked of `eyes`.
        """
        if weights != self._weights:
            self.forget()
            self._weights = weights
        where: dict[Prompt, list[int]] = {}
        for slot, prompt in zip(slots, prompts, strict=True):
            where.setdefault(prompt, []).append(slot)
        distinct = list(where)
        begun = [self._begun(prompt, where[prompt], forward.image_id) for prompt in distinct]
        self._sampled += len(prompts)
        parts = _parts([len(p.ids) - _length(b) for p, b in zip(distinct, begun, strict=True)])
        prefixes = []
        for part in parts:
            rows, own = [distinct[i] for i in part], [begun[i] for i in part]
            new = [k for p, b in zip(rows, own, strict=True) for k in p.images[_pictures(b) :]]
            features = eyes.look(new, pictures)
            prefixes.append(prefix := forward.go_on(rows, features, own))
            for row, prompt in enumerate(rows):
                earlier = own[row].grids if own[row] is not None else ()  # type: ignore[union-attr]
                grids = (*earlier, *(features[k].grid for k in prompt.images[len(earlier) :]))
                tokens = tuple(features[k].tokens for k in prompt.images[len(earlier) :])
                places = _places(prompt, forward.image_id, own[row], tokens)
                begun[part[row]] = own[row] = None
                self._keep(prefix, row, prompt, places, grids, where[prompt])
        order = {place: row for row, place in enumerate(i for part in parts for i in part)}
        at = {prompt: order[place] for place, prompt in enumerate(distinct)}
        return forward.arranged(prefixes, [at[prompt] for prompt in prompts])

    def _begun(self, prompt: Prompt, slots: Sequence[int], image_id: int) -> Beginning | None:
        """The longest beginning of `prompt` that is kept of one of its `slots`."""
        best: Beginning | None = None
        extends = False
        for slot in slots:
            entry = self._entries.get(slot)
            found = None if entry is None else common(entry.kept, prompt)
            if entry is not None and _length(found) > _length(best):
                best, extends = found, _length(found) == len(entry.kept.ids)
        self.counts.turns += len(slots)
        self.counts.merged_turns += len(slots) * extends
        self.counts.tokens += len(slots) * len(prompt.ids)
        self.counts.reused_tokens += len(slots) * _length(best)
        return best

    def _keep(
        self,
        prefix: Prefix,
        row: int,
        prompt: Prompt,
        places: tuple[tuple[int, int], ...],
        grids: tuple[tuple[int, int, int] | None, ...],
        slots: Sequence[int],
    ) -> None:
        for slot in slots:
            self.end(slot)
        if not self._make_room(len(slots) * len(prompt.ids) * prefix.token_bytes):
            return
        columns = prefix.mask[row].nonzero()[:, 0]
        layers = tuple(
            (layer.keys[row].index_select(1, columns), layer.values[row].index_select(1, columns))
            for layer in layers_of(prefix.cache)
        )
        ids = np.asarray(prompt.ids, dtype=np.int64)
        kept = Beginning(ids, prompt.images, places, grids, layers)
        for slot in slots:
            self._entries[slot] = _Entry(kept, self._sampled)
            self.nbytes += kept.nbytes

    def _make_room(self, size: int) -> bool:
        while self.nbytes + size > self.limit and self._entries:
            slot, oldest = next(iter(self._entries.items()))
            if self._sampled - oldest.used <= 2 * len(self._entries):
                return False
            self.end(slot)
        return self.nbytes + size <= self.limit


def common(kept: Beginning, prompt: Prompt) -> Beginning | None:
    """What of `kept` the prompt begins with, up to the first picture that is not whole in it.

    At least one token of the prompt is left to be computed. None: nothing is common.
    """
    count = min(len(kept.ids), len(prompt.ids) - 1)
    unlike = np.flatnonzero(kept.ids[:count] != np.asarray(prompt.ids[:count], dtype=np.int64))
    tokens = int(unlike[0]) if len(unlike) else count
    pictures = 0
    for place, mine in zip(kept.places, kept.images, strict=True):
        start, end = place
        if pictures == len(prompt.images) or prompt.images[pictures] != mine or end > tokens:
            tokens = min(tokens, start)
            break
        pictures += 1
    return kept.first(tokens, pictures) if tokens else None


def _length(begun: Beginning | None) -> int:
    return 0 if begun is None else len(begun.ids)


def _pictures(begun: Beginning | None) -> int:
    return 0 if begun is None else len(begun.images)


def _places(
    prompt: Prompt, image_id: int, begun: Beginning | None, tokens: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    """Where each picture's placeholders begin and end; `tokens` of those that are not in `begun`.

    There may be other tokens between the placeholders of one picture: those that name its tiles.
    """
    skip = _length(begun)
    at = skip + np.flatnonzero(np.asarray(prompt.ids[skip:]) == image_id)
    found = [] if begun is None else list(begun.places)
    used = 0
    for count in tokens:
        found.append((int(at[used]), int(at[used + count - 1]) + 1))
        used += count
    return tuple(found)


def _parts(new: Sequence[int]) -> list[list[int]]:
    """Rows that are computed together, by how many tokens are `new` in each: alike ones.

    A row is padded to the longest of its part, so that one which goes on from nothing would have
    all others computed as far as itself.
    """
    found: list[list[int]] = []
    for row in sorted(range(len(new)), key=lambda row: new[row]):
        if found and new[row] <= 2 * new[found[-1][0]]:
            found[-1].append(row)
        else:
            found.append([row])
    return [sorted(part) for part in found]
