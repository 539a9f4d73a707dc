"""The vision tower: each distinct picture is looked at once, and remembered while it may be.

As long as no weight of the tower is trained, what it makes of a picture never changes, so the
sampler's work serves the learner too.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers.utils.generic import ModelOutput

from ui_gym.contract.device import Image
from ui_gym_agents.policy.counts import Remembered
from ui_gym_agents.policy.images import PatchPixels, Pixels, ProcessorPixels, ScreenshotSource
from ui_gym_agents.policy.model import is_vision
from ui_gym_agents.policy.processor import FAMILY

CACHE_BYTES = 256 * 2**20
"""What is remembered unless somebody knows better."""

_LOOKING = threading.Lock()
"""One for all, so that what looks can still be copied."""


@dataclass(frozen=True)
class Features:
    """What the tower makes of one picture.

    `pooled` are the rows that replace its placeholders, a tensor (tokens, width) for each tile;
    `deep` are the same for each of the text model's first layers (Qwen3-VL's DeepStack). `grid` is
    (frames, rows, columns) in patches where the model counts positions by it.
    """

    pooled: tuple[Tensor, ...]
    deep: tuple[tuple[Tensor, ...], ...] = ()
    grid: tuple[int, int, int] | None = None

    @property
    def tokens(self) -> int:
        return sum(part.shape[0] for part in self.pooled)

    @property
    def nbytes(self) -> int:
        tensors = [*self.pooled, *(part for layer in self.deep for part in layer)]
        return sum(t.numel() * t.element_size() for t in tensors)


@dataclass
class PackedPictures(ModelOutput):
    """What models of transformers take in the place of what their own towers make.

    From 5.24 on they hand it out again as an output, which must know its tuple.
    """

    pooler_output: Tensor | tuple[Tensor, ...] | None = None
    deepstack_features: list[tuple[Tensor, ...]] | None = None


class Eyes:
    """Looks at pictures for a model (the bare one, not its PEFT wrapper).

    It remembers `limit` bytes, and `least` pictures even if they are more.
    """

    def __init__(
        self,
        model: Any,
        image_processor: Any,
        limit: int = CACHE_BYTES,
        least: int = 0,
        counts: Remembered | None = None,
    ) -> None:
        self.model = model
        self.limit = limit
        self.least = least
        self.counts = counts or Remembered()
        self._known: dict[str, Features] = {}
        self._bytes = 0
        self._lately: set[str] = set()
        """The pictures that were asked for in the present period of `counts`."""
        self._period = self.counts.period
        self._stacks: bool | None = None
        self._accepted: frozenset[str] = frozenset()
        self.pixels: Pixels = ProcessorPixels(image_processor)
        if image_processor is None:
            return  # a language model, which is shown nothing
        if model.config.model_type in FAMILY and hasattr(image_processor, "temporal_patch_size"):
            self.pixels = PatchPixels(image_processor)
        look = inspect.signature(model.model.get_image_features).parameters
        self._accepted = frozenset(look)

    def frozen(self) -> bool:
        """Whether no weight of the vision tower is being trained.

        An adapter counts as trained even while it is switched off and PEFT calls it frozen.
        """
        named = self.model.named_parameters()
        return not any((p.requires_grad or "lora_" in n) and sees(n) for n, p in named)

    def look(self, keys: Iterable[str], screenshots: ScreenshotSource) -> dict[str, Features]:
        """The features of each distinct picture of `keys`, with gradients where there are any.

        Of threads that learn side by side, one at a time is let in.
        """
        with _LOOKING:
            return self._look(keys, screenshots)

    def _look(self, keys: Iterable[str], screenshots: ScreenshotSource) -> dict[str, Features]:
        distinct = list(dict.fromkeys(keys))
        if not self.frozen():
            self.forget()
            return self._fresh({key: screenshots.get(key) for key in distinct}, together=True)
        missing = {key: screenshots.get(key) for key in distinct if key not in self._known}
        self._count(distinct)
        # What is remembered must serve backward passes too, which refuse inference tensors.
        with torch.inference_mode(False), torch.no_grad():
            found = self._fresh(missing)
        # Those asked for now go last, so that the oldest are the first to be forgotten.
        found = {key: found[key] if key in found else self._known.pop(key) for key in distinct}
        self._remember(found, new=missing)
        return found

    def _count(self, keys: Sequence[str]) -> None:
        """Of earlier periods nothing counts: a run that was resumed does not remember them."""
        if self._period != self.counts.period:
            self._period = self.counts.period
            self._lately.clear()
        self.counts.pictures += len(keys)
        self.counts.known_pictures += sum(k in self._known and k in self._lately for k in keys)
        self._lately.update(keys)

    def forget(self) -> None:
        """Drop what is remembered: the tower's weights have changed."""
        self._known.clear()
        self._bytes = 0

    def pack(self, rows: Sequence[Features]) -> dict[str, Any] | None:
        """`rows` in the order of their placeholders, as the model's ``mm_encoder_outputs``."""
        if not rows:
            return None
        parts = [part for row in rows for part in row.pooled]
        pooled = torch.stack(parts) if self._stacks else tuple(parts)
        layers = range(len(rows[0].deep))
        deep = [tuple(part for row in rows for part in row.deep[i]) for i in layers]
        return {"image": PackedPictures(pooler_output=pooled, deepstack_features=deep)}

    def _remember(self, found: dict[str, Features], new: Iterable[str]) -> None:
        self._known.update(found)
        self._bytes += sum(found[key].nbytes for key in new)
        while self._bytes > self.limit and len(self._known) > self.least:
            self._bytes -= self._known.pop(next(iter(self._known))).nbytes

    def _fresh(self, images: dict[str, Image], *, together: bool = False) -> dict[str, Features]:
        """Look at `images` now: those of one size `together` (always on a GPU), or each alone.

        Alone makes a picture's features the same to the last bit, whatever else was looked at: a
        run that is resumed with nothing remembered repeats exactly. It costs a CPU nothing, as long
        as nothing has to go back through the tower.
        """
        alone = self.model.device.type == "cpu" and not together
        batches: dict[Any, list[str]] = {}
        for key, image in images.items():
            batches.setdefault(key if alone else image.shape, []).append(key)
        found: dict[str, Features] = {}
        for keys in batches.values():
            found.update(zip(keys, self._batch([images[key] for key in keys]), strict=True))
        return found

    def _batch(self, images: Sequence[Image]) -> list[Features]:
        inputs = {k: v for k, v in self.pixels(images).items() if k in self._accepted}
        grids = inputs.get("image_grid_thw")
        device, dtype = self.model.device, self.model.dtype
        inputs = {
            k: v.to(device, dtype) if v.is_floating_point() else v.to(device)
            for k, v in inputs.items()
        }
        out = self.model.model.get_image_features(**inputs, return_dict=True)
        self._stacks = isinstance(out.pooler_output, Tensor)
        pooled = _share(out.pooler_output, len(images))
        deep = [
            _share(layer, len(images)) for layer in getattr(out, "deepstack_features", None) or ()
        ]
        return [
            Features(
                pooled[i],
                tuple(layer[i] for layer in deep),
                None if grids is None else tuple(grids[i].tolist()),
            )
            for i in range(len(images))
        ]


def _share(parts: Sequence[Tensor] | Tensor, count: int) -> list[tuple[Tensor, ...]]:
    """Tiles in order, dealt to `count` pictures of one size: each has as many."""
    tiles = list(parts)
    if len(tiles) < count:  # Idefics3 joins what it takes for the pictures of one row
        joined = torch.cat(tiles)
        tiles = list(joined.split(joined.shape[0] // count))
    each = len(tiles) // count
    return [tuple(tiles[i * each : (i + 1) * each]) for i in range(count)]


def sees(name: str) -> bool:
    """Whether a parameter takes part in making image features: the tower or its projector."""
    return is_vision(name) or "projector" in name or "connector" in name
