"""What a model may be loaded with: an attention kernel, quantized weights, a limit on pictures.

Each is checked before any weight is read. What is not installed is said in a sentence.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import torch

from ui_gym.dialects import get_dialect
from ui_gym.dialects.grid import RELATIVE
from ui_gym.errors import UserError, nearest

ATTENTION = ("auto", "sdpa", "eager", "flash_attention_2")
QUANTIZED = ("nf4", "int8")

KEPT = (
    "lm_head", "visual", "vision_tower", "vision_model", "vision_encoder", "connector",
    "multi_modal_projector",
)  # fmt: skip
"""Modules whose weights are never quantized: the output layer, and what makes image features,
which the adapter cannot mend."""


def attention(choice: str, *, device: str, dtype: str) -> str | None:
    """The name of the attention kernel as transformers has it; None: its own choice.

    Args:
        choice: One of `ATTENTION`.
        device: Where the model will live.
        dtype: The number format of its weights.

    Raises:
        UserError: there is no such kernel, it is not installed, or it cannot run so.
    """
    if choice not in ATTENTION:
        raise UserError(f"there is no attention {choice!r}. {nearest(choice, ATTENTION)}")
    if choice == "flash_attention_2":
        instead = "or take --policy.attention sdpa"
        if find_spec("flash_attn") is None:
            raise UserError(
                "flash attention is not installed; to get it: pip install flash-attn "
                f"--no-build-isolation, {instead}"
            )
        if torch.device(device).type != "cuda" or dtype == "float32":
            raise UserError(
                f"flash attention runs on a GPU and in bfloat16, not on {device} in {dtype}: set "
                f"--policy.device cuda and --policy.dtype bfloat16, {instead}"
            )
    return None if choice == "auto" else choice


def quantization(kind: str, *, dtype: torch.dtype) -> Any:
    """How transformers quantizes the weights of the text model while it loads them.

    ``nf4`` is QLoRA's (arXiv:2305.14314): 4-bit normal floats in blocks of 64, whose scales are
    quantized again. ``int8`` is LLM.int8() (arXiv:2208.07339). Sums are done in `dtype`.

    Raises:
        UserError: there is no such kind, or bitsandbytes is not installed.
    """
    from transformers import BitsAndBytesConfig

    if kind not in QUANTIZED:
        raise UserError(f"there is no quantization {kind!r}. {nearest(kind, QUANTIZED)}")
    if find_spec("bitsandbytes") is None:
        raise UserError(
            f"quantized weights ({kind}) need bitsandbytes, which is not installed; to get it: "
            "pip install bitsandbytes, or leave --policy.quantize out"
        )
    kept = [rf"(.*\.)?{name}" for name in KEPT]  # a name alone is looked for at the beginning
    if kind == "int8":
        return BitsAndBytesConfig(load_in_8bit=True, llm_int8_skip_modules=kept)
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=dtype,
        llm_int8_skip_modules=kept,
    )


def check_points(dialect: str, size: tuple[int, int], most: int | None) -> None:
    """Refuse pictures so small that a model's points would be misread.

    Some dialects count pixels of the picture as the processor makes it by its own limits, for a
    screen of `size` (width, height); `most` pixels may be fewer than that.

    Raises:
        UserError: they are.
    """
    grid = getattr(get_dialect(dialect), "grid", None)
    if most is None or grid is None:
        return
    width, height = grid(size)
    if (width, height) != RELATIVE and width * height > most:
        raise UserError(
            f"the dialect {dialect!r} counts pixels of a picture of {width}x{height}, and "
            f"--policy.max_pixels {most} makes it smaller, so that points would be misread: set "
            f"it to {width * height} or more, or leave it out"
        )


def limit_pixels(image_processor: Any, most: int) -> None:
    """Have pictures of more than `most` pixels made smaller before a model sees them.

    The Qwen-VL family keeps a picture's shape. Idefics3 and SmolVLM enlarge each picture to a
    fixed longest side, which is then such that a square one has no more pixels, in whole tiles.

    Raises:
        UserError: the processor makes all pictures one size, or `most` is below the smallest.
    """
    size, name = dict(image_processor.size), type(image_processor).__name__
    made = type(image_processor.size)
    if hasattr(image_processor, "merge_size") and {"shortest_edge", "longest_edge"} <= {*size}:
        least = int(size["shortest_edge"])
        if most < least:
            raise UserError(f"--policy.max_pixels {most}: {name} shows no less than {least} pixels")
        image_processor.size = made(**{**size, "longest_edge": most})
        return
    tile = getattr(image_processor, "max_image_size", None)
    if tile is None or "longest_edge" not in size:
        raise UserError(
            f"{name} makes all pictures one size: leave --policy.max_pixels out for this model"
        )
    side = int(tile["longest_edge"])
    tiles = int(most**0.5) // side
    if not tiles:
        raise UserError(
            f"--policy.max_pixels {most}: {name} shows no less than {side * side} pixels"
        )
    longest = min(int(size["longest_edge"]), tiles * side)
    image_processor.size = made(**{**size, "longest_edge": longest})
