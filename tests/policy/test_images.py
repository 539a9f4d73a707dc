"""Pixels: fast and the processor's, bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from ui_gym_agents.policy.images import Given, PatchPixels, ProcessorPixels, screenshot_hash
from ui_gym_tiny.model import TinyConfig, image_processor


def _pictures(size: tuple[int, int], count: int = 3) -> list[np.ndarray]:
    """Random ones, and in the first every level from 0 to 255."""
    rng = np.random.default_rng(1)
    pictures = [rng.integers(0, 256, (*size, 3), dtype=np.uint8) for _ in range(count)]
    levels = pictures[0].reshape(-1, 3)[:256]
    levels[:] = np.arange(len(levels))[:, None]
    return pictures


@pytest.mark.parametrize(
    ("settings", "size"),
    [
        ({}, (56 * 4, 28 * 6)),
        ({"patch_size": 16, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}, (96, 64)),
        ({"patch_size": 16, "merge_size": 1, "temporal_patch_size": 1}, (64, 96)),
        ({"rescale_factor": 0.0123}, (112, 112)),
        ({"do_normalize": False}, (112, 112)),
        ({"do_rescale": False}, (112, 112)),
        ({"do_resize": False}, (56, 56)),
        ({}, (100, 200)),
        ({}, (28, 28)),
    ],
    ids=str,
)
def test_fast_pixels_are_the_processors(settings: dict[str, Any], size: tuple[int, int]) -> None:
    processor = Qwen2VLImageProcessorPil(**settings)
    fast, slow = PatchPixels(processor), ProcessorPixels(processor)
    pictures = _pictures(size)
    mine, theirs = fast(pictures), slow(pictures)
    assert mine.keys() == theirs.keys()
    for key, value in theirs.items():
        assert mine[key].dtype == value.dtype
        assert torch.equal(mine[key], value)


def test_odd_settings_fall_back_on_a_table() -> None:
    assert PatchPixels(Qwen2VLImageProcessorPil()).levels.plain
    assert PatchPixels(image_processor(TinyConfig())).levels.plain
    assert not PatchPixels(Qwen2VLImageProcessorPil(rescale_factor=0.0123)).levels.plain


def test_a_hash_depends_on_pixels_and_shape_only() -> None:
    picture = _pictures((4, 8))[1]
    same = np.asfortranarray(picture.copy())
    assert screenshot_hash(picture) == screenshot_hash(same)
    changed = picture.copy()
    changed[3, 7, 2] ^= 1
    reshaped = picture.reshape(8, 4, 3)
    assert len({screenshot_hash(p) for p in (picture, changed, reshaped)}) == 3


def test_given_pictures_are_found_by_their_hash() -> None:
    given = Given()
    picture = _pictures((4, 8))[1]
    assert given.get(given.add(picture)) is picture
