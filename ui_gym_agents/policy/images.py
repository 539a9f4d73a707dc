"""Pictures on their way into a model: their names, where they are kept, their pixels as tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from ui_gym.contract.device import Image
from ui_gym_agents.store import screenshot_hash


class ScreenshotSource(Protocol):
    """Where pictures are found by their hash."""

    def get(self, key: str) -> Image:
        """The picture: shape (height, width, 3), dtype uint8."""


class Given:
    """The pictures of one call, by their hash; not copied."""

    def __init__(self) -> None:
        self._images: dict[str, Image] = {}

    def add(self, image: Image) -> str:
        """Take in a picture and return its hash."""
        key = screenshot_hash(image)
        self._images[key] = image
        return key

    def get(self, key: str) -> Image:
        return self._images[key]


class Pixels(Protocol):
    """Turns pictures of one size into what a vision tower takes."""

    def __call__(self, images: Sequence[Image]) -> dict[str, Tensor]:
        """Tensors for ``get_image_features``: ``pixel_values`` and what belongs to them."""


class ProcessorPixels:
    """The model's own image processor."""

    def __init__(self, image_processor: Any) -> None:
        self.image_processor = image_processor

    def __call__(self, images: Sequence[Image]) -> dict[str, Tensor]:
        batch = self.image_processor(images=list(images), return_tensors="pt")
        return {key: value for key, value in batch.items() if isinstance(value, Tensor)}


class PatchPixels:
    """The Qwen-VL family's pixels without a detour by PIL: bit-equal, and ten times as fast.

    Pictures that must be resized first go through the processor: the resampling is PIL's.
    """

    def __init__(self, image_processor: Any) -> None:
        self.processor = ProcessorPixels(image_processor)
        self.patch = int(image_processor.patch_size)
        self.merge = int(image_processor.merge_size)
        self.frames = int(image_processor.temporal_patch_size)
        self.size = image_processor.size
        self.resizes = bool(image_processor.do_resize)
        self.levels = _Levels(image_processor)

    def __call__(self, images: Sequence[Image]) -> dict[str, Tensor]:
        height, width = images[0].shape[:2]
        if self.resized(height, width) != (height, width):
            return self.processor(images)
        count, patch, merge = len(images), self.patch, self.merge
        rows, columns = height // patch, width // patch
        pixels = torch.from_numpy(np.stack(images)).view(
            count, rows // merge, merge, patch, columns // merge, merge, patch, 3
        )
        # To (picture, row, column, row in the merge, column in the merge, channel, y, x).
        patches = pixels.permute(0, 1, 4, 2, 5, 7, 3, 6).reshape(-1, 3, 1, patch * patch)
        values = self.levels(patches).expand(-1, -1, self.frames, -1)
        return {
            "pixel_values": values.reshape(count * rows * columns, -1),
            "image_grid_thw": torch.tensor([[1, rows, columns]] * count),
        }

    def resized(self, height: int, width: int) -> tuple[int, int]:
        """What a picture of this size becomes before it is cut, in pixels."""
        if not self.resizes:
            return height, width
        from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import smart_resize

        resized: tuple[int, int] = smart_resize(
            height,
            width,
            factor=self.patch * self.merge,
            min_pixels=self.size["shortest_edge"],
            max_pixels=self.size["longest_edge"],
        )
        return resized


class _Levels:
    """What a processor makes of the 256 levels of each channel: rescaled, then normalised.

    The processor rescales in double precision and normalises in single. Plain single-precision
    arithmetic gives the same bits for the usual settings and is six times as fast as a table; the
    table is what stays where it does not.
    """

    def __init__(self, settings: Any) -> None:
        shape = (1, 3, 1, 1)
        mean, std = [0.0] * 3, [1.0] * 3
        if settings.do_normalize:
            mean, std = list(settings.image_mean), list(settings.image_std)
        self.scale = round(1 / settings.rescale_factor) if settings.do_rescale else 1
        self.mean = torch.tensor(mean, dtype=torch.float32).view(shape)
        self.std = torch.tensor(std, dtype=torch.float32).view(shape)
        level = np.arange(256, dtype=np.uint8).repeat(3).reshape(256, 3, 1, 1)
        factor = settings.rescale_factor if settings.do_rescale else 1.0
        exact = (level.astype(np.float64) * factor).astype(np.float32)
        self.table = (exact - self.mean.numpy()) / self.std.numpy()
        self.plain = bool((self._arithmetic(torch.from_numpy(level)).numpy() == self.table).all())

    def __call__(self, patches: Tensor) -> Tensor:
        """Shape (patches, 3, 1, pixels), uint8 to float32."""
        if self.plain:
            return self._arithmetic(patches)
        channels = [
            torch.from_numpy(self.table[:, c, 0, 0].take(patches[:, c].numpy())) for c in range(3)
        ]
        return torch.stack(channels, dim=1)

    def _arithmetic(self, patches: Tensor) -> Tensor:
        return patches.float().div_(self.scale).sub_(self.mean).div_(self.std)
