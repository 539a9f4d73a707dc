"""Opens a tiny model's eyes: each patch of a picture learns to say the words of the thing on it.

A language model that is taught to read through eyes that have seen nothing learns where on its
pages which words are wont to stand, and hardly ever to see. So the vision tower is trained first,
alone, and the tokens' embeddings with it: what it tells of the patch in which a thing's middle lies
is to be nearest, by the angle, to the embeddings of the thing's words and of its point. Whoever
looks for a word among the patches, and copies its point, then has little left to learn. A screen
costs a quarter of what it costs the whole model, and teaches at all places at once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.progress import track
from torch import Tensor
from torch.nn.functional import log_softmax, normalize
from transformers import PreTrainedTokenizerFast

from ui_gym.contract.device import Image
from ui_gym.contract.draws import pick
from ui_gym_agents.collecting import Recording
from ui_gym_agents.episode import Turn
from ui_gym_agents.policy import cpu
from ui_gym_agents.policy.images import PatchPixels
from ui_gym_agents.policy.model import load_model, without_progress_bars
from ui_gym_tiny.model import TinyConfig, image_processor
from ui_gym_tiny.tokenizer import PAD, twins

POINT = re.compile(r"<x(\d+)><y(\d+)>")
PIECE = re.compile(r"<here>|[^\W\d_]+|\d|[^\w\s]")
SCALE = 16.0
"""What cosines begin multiplied with, to be logits."""
NOTHING = 0.05
"""Weight of a patch where no thing has its middle; a thing weighs 1."""
MOST_WORDS = 6


Size = tuple[int, int]
"""(width, height) of a picture, in pixels."""
Told = list[tuple[int, list[int]]]
"""Of each place of a picture with a thing on it, the tokens that say it."""


class Opening:
    """The vision tower of the model in `folder`, its words, and what is fitted to them."""

    def __init__(
        self, folder: Path, config: TinyConfig, captions: Iterable[tuple[str, Size]]
    ) -> None:
        self.config = config
        self.pixels = PatchPixels(image_processor(config))
        self.tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
        self.vocabulary = self.tokenizer.get_vocab()
        self.model = load_model(folder, dtype="float32", device="cpu")
        self.words: Any = self.model.get_input_embeddings().weight
        self.twins = tuple(torch.tensor(side) for side in zip(*twins(self.tokenizer), strict=True))
        plain, spaced = self.twins
        self.offset = (self.words[spaced[0]] - self.words[plain[0]]).detach()
        self.told = [list(self._told(*caption)) for caption in captions]
        # The embeddings of what is never said are left alone: all would be pushed the same way,
        # until they are alike.
        said = {token for things in self.told for _, tokens in things for token in tokens}
        self.known = [self.vocabulary[PAD], *sorted(said)]
        self.rank = {token: number for number, token in enumerate(self.known)}
        self.scale = torch.nn.Parameter(torch.tensor(SCALE))

    def parameters(self) -> list[Any]:
        return [*self.model.model.visual.parameters(), self.words, self.scale]

    def _told(self, caption: str, size: Size) -> Iterator[tuple[int, list[int]]]:
        """What the caption of a picture tells: lines of a point and the words of what is there,
        or the other way round."""
        height, width = self.pixels.resized(size[1], size[0])
        grid = width // self.config.patch, height // self.config.patch
        for line in caption.splitlines():
            found = POINT.search(line)
            if found is None:
                continue
            column, row = (
                (int(cell) * self.config.cell + self.config.cell // 2) * count // side
                for cell, count, side in zip(found.groups(), grid, size, strict=True)
            )
            pieces = PIECE.findall(POINT.sub("", line))
            tokens = [self.vocabulary[p] for p in pieces if p in self.vocabulary][:MOST_WORDS]
            if tokens and column < grid[0] and row < grid[1]:
                point = (f"<x{found[1]}>", f"<y{found[2]}>")
                yield row * grid[0] + column, tokens + [self.vocabulary[p] for p in point]

    def loss(self, pictures: Sequence[Image], told: Sequence[Told]) -> Tensor:
        """The mean of -log p over things, those of a thing's words alike, in nats. The pictures
        are of one size."""
        logs = log_softmax(self._similar(pictures), dim=-1)
        nothing = self.vocabulary[PAD]
        count = len(logs) // len(pictures)
        places: list[int] = []
        tokens: list[int] = []
        weights: list[float] = []
        for number, things in enumerate(told):
            empty = set(range(count)) - {place for place, _ in things}
            rows = [(place, [nothing], NOTHING) for place in sorted(empty)]
            for place, words, weight in [*rows, *((*thing, 1.0) for thing in things)]:
                places += [number * count + place] * len(words)
                tokens += [self.rank[word] for word in words]
                weights += [weight / len(words)] * len(words)
        weighed = torch.tensor(weights)
        return -(logs[places, tokens] * weighed).sum() / weighed.sum()

    @torch.no_grad()
    def share_read(self, pictures: Sequence[Image]) -> float:
        """The share of the tokens of things that are among the likeliest where the thing is, in
        the pictures of all captions."""
        right = total = 0
        for picture, things in zip(pictures, self.told, strict=True):
            similar = self._similar([picture])
            for place, words in things:
                likeliest = similar[place].topk(len(words)).indices.tolist()
                right += len({self.known[i] for i in likeliest} & set(words))
                total += len(words)
        return right / total

    def _similar(self, pictures: Sequence[Image]) -> Tensor:
        """(places of all pictures, `known` tokens)."""
        pixels = self.pixels(pictures)
        seen = self.model.model.visual(pixels["pixel_values"], grid_thw=pixels["image_grid_thw"])
        words = normalize(self.words[self.known], dim=-1)
        return normalize(seen.pooler_output, dim=-1) @ words.T * self.scale

    def save(self, folder: Path) -> None:
        """Write the model. A word with a space in front is the word that was learned, and the
        offset by which it began."""
        plain, spaced = self.twins
        with torch.no_grad():
            self.words[spaced] = self.words[plain] + self.offset
        with without_progress_bars():
            self.model.save_pretrained(folder)


def open_eyes(
    folder: Path,
    config: TinyConfig,
    screens: Recording,
    updates: int,
    seed: int = 0,
    *,
    batch: int = 32,
    lr: float = 2e-3,
    warmup: int = 100,
) -> float:
    """Train the vision tower and the words of the model in `folder`, and write it there.

    The screens are those of the episodes' turns that have a caption.

    Returns:
        The last loss, in nats a thing: the mean over a tenth of the updates.
    """
    shown = list(_shown(screens))
    alike: dict[Size, list[int]] = {}
    for number, (_, size) in enumerate(shown):
        alike.setdefault(size, []).append(number)
    cpu.keep_freed_memory()
    opening = Opening(folder, config, [(turn.caption, size) for turn, size in shown])
    rng = np.random.default_rng(seed)
    optimizer = torch.optim.Adam(opening.parameters(), lr=lr, betas=(0.9, 0.98))
    losses: list[float] = []
    for update in track(range(updates), description="opening the eyes"):
        _, size = pick(rng, shown)
        drawn = rng.choice(alike[size], size=batch)
        cosine = 0.5 * (1 + math.cos(math.pi * update / updates))
        rate = lr * min(1.0, (update + 1) / warmup) * (0.05 + 0.95 * cosine)
        optimizer.param_groups[0]["lr"] = rate
        optimizer.zero_grad(set_to_none=True)
        pictures = [screens.screenshots.get(shown[i][0].screenshot_id) for i in drawn]
        loss = opening.loss(pictures, [opening.told[i] for i in drawn])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(opening.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    opening.save(folder)
    return float(np.mean(losses[-max(1, updates // 10) :]))


def _shown(screens: Recording) -> Iterator[tuple[Turn, Size]]:
    """Each turn with a caption, and the size of its picture: those of a task are of one size."""
    known: dict[str, Size] = {}
    for episode in screens.episodes:
        for turn in episode.turns:
            if turn.caption:
                if episode.task not in known:
                    height, width = screens.screenshots.get(turn.screenshot_id).shape[:2]
                    known[episode.task] = (width, height)
                yield turn, known[episode.task]
