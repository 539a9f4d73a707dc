"""Tiny models of several real classes, as checkpoint folders, and pictures for them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from ui_gym.contract.device import Image
from ui_gym_tiny.model import TinyConfig, build
from ui_gym_tiny.tokenizer import build_tokenizer

WORDS = ["Enter", "row", "Carl", "Abel", "First", "Last"]
SMALL = TinyConfig(width=96, height=64, hidden=64, layers=2, heads=2, ff=96, vision_hidden=48,
                   vision_heads=2, vision_ff=64, positions=16)  # fmt: skip
SIZE = (64, 96)
"""(height, width) of the pictures."""


def _llava(folder: Path) -> None:
    from transformers import (
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
        SiglipImageProcessorPil,
    )

    tokenizer = _tokenizer("<image>")
    config = LlavaConfig(
        vision_config={"model_type": "siglip_vision_model", "hidden_size": 48, "image_size": 64,
                       "intermediate_size": 64, "num_hidden_layers": 2, "patch_size": 16,
                       "num_attention_heads": 2, "vision_use_head": False},
        text_config=_text("llama", tokenizer),
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        vision_feature_select_strategy="full",
        vision_feature_layer=-1,
        image_seq_length=16,
    )  # fmt: skip
    processor = LlavaProcessor(
        SiglipImageProcessorPil(size={"height": 64, "width": 64}),
        tokenizer,
        patch_size=16,
        vision_feature_select_strategy="full",
        chat_template=tokenizer.chat_template,
        image_token="<image>",
        num_additional_image_tokens=0,
    )
    _save(LlavaForConditionalGeneration, config, processor, folder)


def _idefics3(folder: Path) -> None:
    from transformers import (
        Idefics3Config,
        Idefics3ForConditionalGeneration,
        Idefics3ImageProcessorPil,
    )

    images = Idefics3ImageProcessorPil(
        do_image_splitting=False, size={"longest_edge": 64}, max_image_size={"longest_edge": 64}
    )
    _tiles(Idefics3ForConditionalGeneration, Idefics3Config, images, folder)


def _smolvlm(folder: Path) -> None:
    """With pictures cut into tiles, as SmolVLM's are: 2 x 3 of them and the whole."""
    from transformers import SmolVLMConfig, SmolVLMForConditionalGeneration
    from transformers.models.smolvlm.image_processing_pil_smolvlm import SmolVLMImageProcessorPil

    images = SmolVLMImageProcessorPil(
        do_image_splitting=True, size={"longest_edge": 192}, max_image_size={"longest_edge": 64}
    )
    _tiles(SmolVLMForConditionalGeneration, SmolVLMConfig, images, folder)


def _tiles(kind: Any, config: Any, images: Any, folder: Path) -> None:
    from transformers import Idefics3Processor

    places = [f"<row_{i}_col_{j}>" for i in range(1, 4) for j in range(1, 4)]
    tokenizer = _tokenizer("<image>", "<fake_token_around_image>", "<global-img>", *places)
    settings = config(
        vision_config={"hidden_size": 48, "image_size": 64, "intermediate_size": 64,
                       "num_hidden_layers": 1, "patch_size": 16, "num_attention_heads": 2},
        text_config=_text("llama", tokenizer),
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        scale_factor=2,
    )  # fmt: skip
    processor = Idefics3Processor(
        images, tokenizer, image_seq_len=4, chat_template=tokenizer.chat_template
    )
    _save(kind, settings, processor, folder)


def _qwen3(folder: Path) -> None:
    build(SMALL, WORDS, seed=0, directory=folder)


def _qwen25(folder: Path, ff: int = 96) -> None:
    from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

    vision = {"depth": 2, "hidden_size": 48, "intermediate_size": 64, "num_heads": 2,
              "patch_size": 16, "spatial_merge_size": 2, "temporal_patch_size": 2,
              "out_hidden_size": 64, "window_size": 32, "fullatt_block_indexes": [1]}  # fmt: skip
    kind = Qwen2_5_VLForConditionalGeneration
    _qwen(kind, Qwen2_5_VLConfig, "qwen2_5_vl_text", vision, folder, ff)


def _qwen25_wide(folder: Path) -> None:
    """All of whose layers are a multiple of 64 wide, as quantizing on a CPU wants it."""
    _qwen25(folder, ff=128)


def _qwen2(folder: Path) -> None:
    from transformers import Qwen2VLConfig, Qwen2VLForConditionalGeneration

    vision = {"depth": 2, "embed_dim": 48, "hidden_size": 64, "mlp_ratio": 2, "num_heads": 2,
              "patch_size": 16, "spatial_merge_size": 2, "temporal_patch_size": 2}  # fmt: skip
    _qwen(Qwen2VLForConditionalGeneration, Qwen2VLConfig, "qwen2_vl_text", vision, folder)


def _qwen(
    kind: Any, config: Any, text_kind: str, vision: dict[str, Any], folder: Path, ff: int = 96
) -> None:
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    from ui_gym_agents.policy.processor import ImageOnlyProcessor

    tokenizer = build_tokenizer(WORDS, 12, 8)
    ids = {
        f"{name}_token_id": tokenizer.convert_tokens_to_ids(f"<|{text}|>")
        for name, text in {"image": "image_pad", "video": "video_pad",
                           "vision_start": "vision_start", "vision_end": "vision_end"}.items()
    }  # fmt: skip
    text = {**_text(text_kind, tokenizer), "intermediate_size": ff}
    text["rope_parameters"] = {
        "rope_type": "default", "rope_theta": 1e4, "mrope_section": [6, 5, 5],
    }  # fmt: skip
    images = Qwen2VLImageProcessorPil(patch_size=16, merge_size=2, temporal_patch_size=2)
    processor = ImageOnlyProcessor(images, tokenizer, chat_template=tokenizer.chat_template)
    _save(kind, config(**ids, text_config=text, vision_config=vision), processor, folder)


TEXT_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""A language model's: the content of a message is a text."""


def _reads(kind: str, folder: Path, **more: Any) -> None:
    """A language model, which sees nothing."""
    from transformers import AutoConfig, AutoModelForCausalLM

    tokenizer = build_tokenizer(WORDS, 12, 8)
    tokenizer.chat_template = TEXT_TEMPLATE
    settings = _text(kind, tokenizer)
    config = AutoConfig.for_model(settings.pop("model_type"), **settings, **more)
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config)
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _llama(folder: Path) -> None:
    _reads("llama", folder)


def _qwen3_text(folder: Path) -> None:
    _reads("qwen3", folder, head_dim=32)


def _tokenizer(*specials: str) -> Any:
    tokenizer = build_tokenizer(WORDS, 12, 8)
    tokenizer.add_special_tokens({"extra_special_tokens": list(specials)})
    image = "<|vision_start|><|image_pad|><|vision_end|>"
    tokenizer.chat_template = tokenizer.chat_template.replace(image, "<image>")
    return tokenizer


def _text(kind: str, tokenizer: Any) -> dict[str, Any]:
    return {
        "model_type": kind, "vocab_size": len(tokenizer), "hidden_size": 64,
        "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 2,
        "num_key_value_heads": 1, "initializer_range": 0.1,
        "eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id,
    }  # fmt: skip


def _save(kind: Any, config: Any, processor: Any, folder: Path) -> None:
    torch.manual_seed(0)
    model = kind(config)
    model.generation_config.eos_token_id = processor.tokenizer.eos_token_id
    model.save_pretrained(folder)
    processor.save_pretrained(folder)


BUILDERS: dict[str, Callable[[Path], None]] = {
    "qwen2_vl": _qwen2,
    "qwen3_vl": _qwen3,
    "qwen2_5_vl": _qwen25,
    "qwen2_5_vl_wide": _qwen25_wide,
    "llava": _llava,
    "idefics3": _idefics3,
    "smolvlm": _smolvlm,
    "llama": _llama,
    "qwen3": _qwen3_text,
}


def folders(temporary: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The checkpoint folder of a class, built when first asked for."""

    @functools.cache
    def get(kind: str) -> Path:
        folder = temporary.mktemp(kind)
        BUILDERS[kind](folder)
        return folder

    return get


def picture(seed: int, size: tuple[int, int] = SIZE) -> Image:
    return np.random.default_rng(seed).integers(0, 256, (*size, 3), dtype=np.uint8)
