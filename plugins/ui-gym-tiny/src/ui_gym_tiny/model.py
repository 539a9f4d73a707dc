"""The tiny VLM: `Qwen3VLForConditionalGeneration` small enough for two CPU cores.

About one million parameters, and the same code paths as the real ones. A picture of 320 x 256
pixels is 80 tokens (patches of 32 pixels, not merged).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import (
    PreTrainedTokenizerFast,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
)
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
from transformers.tokenization_utils_base import PreTrainedTokenizerBase

from ui_gym.errors import UserError
from ui_gym_agents.policy import processor as processors
from ui_gym_agents.policy.model import without_progress_bars
from ui_gym_agents.policy.prompts import PromptBuilder
from ui_gym_tiny.tokenizer import END, PAD, build_tokenizer, twins


@dataclass(frozen=True)
class TinyConfig:
    """Sizes of a tiny VLM. Pixels for `width`, `height`, `patch` and `cell`.

    `cell` is the side of the squares that coordinate tokens name. Weights start at a standard
    deviation of `init`: the usual 0.02 is too small for layers this narrow. `image_mean` and
    `image_std` bring the background of a light page near zero.
    """

    width: int = 320
    height: int = 256
    cell: int = 8
    patch: int = 32
    hidden: int = 128
    layers: int = 3
    heads: int = 4
    ff: int = 256
    vision_hidden: int = 96
    vision_layers: int = 1
    vision_heads: int = 3
    vision_ff: int = 192
    positions: int = 400
    """Learned positions of the vision tower: a square grid, resampled to each picture's."""
    max_tokens: int = 4096
    rope_theta: float = 10_000.0
    alike: bool = False
    """Whether keys begin as the queries' weights and what is read is written as it was: whoever
    attends then begins by looking for what is like itself, and copies it."""
    init: float = 0.06
    image_mean: float = 0.9
    image_std: float = 0.25

    def __post_init__(self) -> None:
        for side in (self.width, self.height):
            if side % self.patch or side % self.cell:
                raise UserError(
                    f"a picture of {self.width}x{self.height} does not divide into patches of "
                    f"{self.patch} and cells of {self.cell} pixels"
                )
        if self.hidden % (4 * self.heads) or self.vision_hidden % (4 * self.vision_heads):
            raise UserError("a width must be a multiple of four times its heads (rotary positions)")

    @property
    def image_tokens(self) -> int:
        """Tokens of one picture."""
        return (self.width // self.patch) * (self.height // self.patch)


def build(
    config: TinyConfig,
    words: Sequence[str],
    seed: int,
    directory: str | Path,
    eyes: Path | None = None,
) -> Qwen3VLForConditionalGeneration:
    """Write a fresh, seeded, untrained checkpoint into `directory` and return its model.

    Each of `words` becomes one token. With the folder of a checkpoint of the same sizes as `eyes`,
    the vision tower is that one's, and so are the embeddings of the tokens that both know; the
    language layers are fresh all the same. The folder holds safetensors and JSON only, under the
    names that stock transformers reads. The same arguments give the same bytes.
    """
    columns, rows = config.width // config.cell, config.height // config.cell
    tokenizer = build_tokenizer(words, columns, rows)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Qwen3VLForConditionalGeneration(qwen_config(config, tokenizer))
    _align_twins(model, twins(tokenizer))
    if config.alike:
        _attend_alike(model)
    if eyes is not None:
        _transplant(model, tokenizer, eyes)
    model.generation_config.eos_token_id = tokenizer.convert_tokens_to_ids(END)
    model.generation_config.pad_token_id = tokenizer.convert_tokens_to_ids(PAD)
    with without_progress_bars():
        model.save_pretrained(directory)
    PromptBuilder.bare().save(Path(directory))
    processors.save(
        processors.ImageOnlyProcessor(
            image_processor(config), tokenizer, chat_template=tokenizer.chat_template
        ),
        directory,
    )
    return model


def qwen_config(config: TinyConfig, tokenizer: PreTrainedTokenizerBase) -> Qwen3VLConfig:
    """The Qwen3-VL configuration of `config`."""
    head = config.hidden // config.heads
    third = head // 6
    ids: dict[str, Any] = {
        name + "_token_id": tokenizer.convert_tokens_to_ids(f"<|{text}|>")
        for name, text in {
            "image": "image_pad",
            "video": "video_pad",
            "vision_start": "vision_start",
            "vision_end": "vision_end",
        }.items()
    }
    return Qwen3VLConfig(
        **ids,
        tie_word_embeddings=True,
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": config.hidden,
            "intermediate_size": config.ff,
            "num_hidden_layers": config.layers,
            "num_attention_heads": config.heads,
            "num_key_value_heads": config.heads,
            "head_dim": head,
            "max_position_embeddings": config.max_tokens,
            "initializer_range": config.init,
            "tie_word_embeddings": True,
            "pad_token_id": tokenizer.pad_token_id,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": config.rope_theta,
                "mrope_section": [head // 2 - 2 * third, third, third],
                "mrope_interleaved": True,
            },
        },
        vision_config={
            "depth": config.vision_layers,
            "hidden_size": config.vision_hidden,
            "intermediate_size": config.vision_ff,
            "num_heads": config.vision_heads,
            "patch_size": config.patch,
            "spatial_merge_size": 1,
            "temporal_patch_size": 1,
            "out_hidden_size": config.hidden,
            "num_position_embeddings": config.positions,
            "deepstack_visual_indexes": [],
            "initializer_range": config.init,
        },
    )


def image_processor(config: TinyConfig) -> Qwen2VLImageProcessorPil:
    """The image settings of `config`; pictures of its size are never resized."""
    pixels = config.width * config.height
    return Qwen2VLImageProcessorPil(
        patch_size=config.patch,
        merge_size=1,
        temporal_patch_size=1,
        image_mean=[config.image_mean] * 3,
        image_std=[config.image_std] * 3,
        size={"shortest_edge": config.patch**2, "longest_edge": max(pixels, 1 << 20)},
    )


def _align_twins(model: Qwen3VLForConditionalGeneration, pairs: list[tuple[int, int]]) -> None:
    """Start ``" Carl"`` as ``"Carl"`` plus one offset that all such twins share.

    A word is then the same word wherever it stands, before any training.
    """
    if not pairs:
        return
    plain, spaced = (torch.tensor(side) for side in zip(*pairs, strict=True))
    with torch.no_grad():
        rows: torch.Tensor = model.get_input_embeddings().weight  # type: ignore[assignment]
        rows[spaced] = rows[plain] + rows[spaced[0]].clone()


def _attend_alike(model: Qwen3VLForConditionalGeneration) -> None:
    with torch.no_grad():
        for layer in model.model.language_model.layers:
            attention: Any = layer.self_attn
            attention.k_proj.weight.copy_(attention.q_proj.weight)
            attention.o_proj.weight.copy_(attention.v_proj.weight.T)


def _transplant(
    model: Qwen3VLForConditionalGeneration, tokenizer: PreTrainedTokenizerFast, eyes: Path
) -> None:
    """Take over how the model in `eyes` sees: its vision tower, and what its words look like."""
    with without_progress_bars():
        giver = Qwen3VLForConditionalGeneration.from_pretrained(eyes)
    known = PreTrainedTokenizerFast.from_pretrained(eyes).get_vocab()
    pairs = [(known[token], i) for token, i in tokenizer.get_vocab().items() if token in known]
    theirs, ours = (torch.tensor(side) for side in zip(*sorted(pairs), strict=True))
    model.model.visual.load_state_dict(giver.model.visual.state_dict())
    with torch.no_grad():
        rows: torch.Tensor = model.get_input_embeddings().weight  # type: ignore[assignment]
        rows[ours] = giver.get_input_embeddings().weight[theirs]  # type: ignore[index]
