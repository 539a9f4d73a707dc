"""Loading and saving a model that sees, or one that only reads, and which of its tokens mean what.

Weights are safetensors and settings are JSON, always: nothing here reads a pickle or runs code
that comes with a model.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING,
    AutoConfig,
    AutoImageProcessor,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoProcessor,
    AutoTokenizer,
    GenerationConfig,
    Idefics3Processor,
)
from transformers.utils import logging as hf_logging

from ui_gym.errors import UserError, nearest
from ui_gym_agents.policy import options
from ui_gym_agents.policy import processor as image_only

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}

VISION = ("visual", "vision_tower", "vision_model", "vision_encoder")
"""What the vision tower is called in one model class or another."""

FREEZABLE = ("vision", "embeddings")
"""The vision tower; the tokens' embeddings, and the output layer where it is tied to them."""

SPLITS_LIKE_IDEFICS3 = frozenset({"smolvlm"})
"""Classes whose own processor insists on torchvision and num2words, for videos, and which write a
picture's tiles as Idefics3 does."""

STRUCTURAL = (
    "<|image_pad|>", "<|video_pad|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>",
    "<|im_start|>", "<image>", "<video>", "<fake_token_around_image>", "<start_of_image>",
    "<end_of_image>", "<image_soft_token>", "<global-img>",
)  # fmt: skip
"""Tokens that build a prompt and that no answer may hold, where a tokenizer knows them."""


def load_model(
    folder: Path,
    *,
    dtype: str = "float32",
    device: str = "cpu",
    attention: str = "auto",
    quantize: str | None = None,
) -> Any:
    """The model of a folder, in evaluation mode.

    `attention` and `quantize` are among `options.ATTENTION` and `options.QUANTIZED`.

    Raises:
        UserError: it is neither an image-text-to-text model nor a causal language model, it cannot
            take ready image features, or it cannot be loaded as asked.
    """
    if dtype not in DTYPES:
        raise UserError(f"there is no dtype {dtype!r}. {nearest(dtype, DTYPES)}")
    more: dict[str, Any] = {}
    if kernel := options.attention(attention, device=device, dtype=dtype):
        more["attn_implementation"] = kernel
    if quantize:
        more["quantization_config"] = options.quantization(quantize, dtype=DTYPES[dtype])
        more["device_map"] = {"": device}
    with without_progress_bars():
        try:
            sees = can_see(folder)
            kind: Any = AutoModelForImageTextToText if sees else AutoModelForCausalLM
            model: Any = kind.from_pretrained(
                folder, dtype=DTYPES[dtype], use_safetensors=True, trust_remote_code=False, **more
            )
        except (OSError, ValueError, ImportError) as error:
            raise UserError(f"cannot load a model from {folder}: {error}") from None
    if sees and "mm_encoder_outputs" not in inspect.signature(model.forward).parameters:
        raise UserError(
            f"{type(model).__name__} takes no mm_encoder_outputs; use a newer transformers, "
            "or a class that has it (Qwen2-VL, Qwen2.5-VL, Qwen3-VL, LLaVA, Idefics3, Gemma 3...)"
        )
    for module in model.modules():
        if type(module) is nn.Conv3d and module.kernel_size == module.stride:
            module.__class__ = PatchProjection
        if hasattr(module, "support_avx512bf16_for_cpu"):
            # bitsandbytes packs 4-bit weights for a CPU's inference, and no gradient goes through.
            module.support_avx512bf16_for_cpu = False
    return model.eval() if quantize else model.to(device).eval()


def can_see(folder: Path) -> bool:
    """Whether the model of a folder takes pictures; else it is a language model.

    Raises:
        UserError: it is neither.
        ValueError: transformers does not know its ``model_type``.
    """
    kind = type(AutoConfig.from_pretrained(folder, trust_remote_code=False))
    if kind in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING:
        return True
    if kind not in MODEL_FOR_CAUSAL_LM_MAPPING:
        raise UserError(
            f"{folder} holds a model of {kind.__name__}, which neither sees and writes nor writes"
        )
    return False


def on_meta(folder: Path, dtype: str = "float32") -> Any:
    """The model of a folder without its weights, on torch's meta device."""
    config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
    kind: Any = AutoModelForImageTextToText if can_see(folder) else AutoModelForCausalLM
    with torch.device("meta"):
        found = kind.from_config(config, dtype=DTYPES[dtype])
    if (folder / "generation_config.json").is_file():
        found.generation_config = GenerationConfig.from_pretrained(folder)
    return found


class PatchProjection(nn.Conv3d):
    """The Qwen-VL family's patch embedding, given one patch at a time, as the matrix product it is.

    A CPU's convolution takes tens of times as long for the same sums.
    """

    def forward(self, input: Tensor) -> Tensor:
        if input.shape[2:] != self.kernel_size:
            return super().forward(input)
        rows = functional.linear(input.flatten(1), self.weight.flatten(1), self.bias)
        return rows[..., None, None, None]


def checkpoint_activations(model: Any) -> None:
    """In training mode, compute layers again on the way back rather than keep what they gave."""
    name = "activation_checkpointing_enable"  # before transformers 5.23: gradient_...
    enable = getattr(model, name, None) or model.gradient_checkpointing_enable
    enable({"use_reentrant": False})


def checkpointed(model: nn.Module) -> list[nn.Module]:
    """The layers that are computed again on the way back while they are in training mode."""
    return [part for part in model.modules() if getattr(part, "gradient_checkpointing", False)]


@contextmanager
def recomputing(model: nn.Module) -> Iterator[None]:
    """Layers that `checkpoint_activations` chose are computed again on the way back, inside.

    Transformers asks such a layer for training mode. It alone is put into that, not what is in it,
    and its own rates of dropout are 0 meanwhile: a learner must see the distribution that was
    sampled from, which had no dropout.
    """
    with ExitStack() as stack:
        for layer in checkpointed(model):
            stack.callback(setattr, layer, "training", layer.training)
            for name, value in vars(layer).items():
                if "dropout" in name and isinstance(value, float) and not layer.training:
                    stack.callback(setattr, layer, name, value)
                    setattr(layer, name, 0.0)
            layer.training = True
        yield


@contextmanager
def evaluating(net: nn.Module) -> Iterator[None]:
    """Evaluation mode inside, and afterwards the mode that was."""
    was = net.training
    if was or any(part.training for part in net.modules()):  # setting it takes long
        net.eval()
    try:
        yield
    finally:
        if net.training != was:
            net.train(was)


def load_processor(folder: Path) -> Any:
    """The processor of a folder, with its image half for certain.

    The Qwen-VL family and SmolVLM are read by image-only processors, which need no torchvision. A
    language model's has no such half.
    """
    kind = json.loads((folder / "config.json").read_text()).get("model_type", "")
    if not can_see(folder):
        return image_only.TextProcessor(_tokenizer(folder))
    if kind in image_only.FAMILY:
        return image_only.load(folder)
    if kind in SPLITS_LIKE_IDEFICS3:
        return _idefics3_processor(folder)
    processor = AutoProcessor.from_pretrained(folder, trust_remote_code=False)
    if not hasattr(processor, "image_processor"):
        raise UserError(f"{folder} has no image processor: AutoProcessor gave only the tokenizer")
    return processor


def _tokenizer(folder: Path) -> Any:
    """The tokenizer of a language model that can be talked to."""
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    if not tokenizer.chat_template:
        raise UserError(
            f"the tokenizer of {folder} has no chat template, so that the model cannot be told who "
            "speaks: take the instruction-tuned model of that name"
        )
    return tokenizer


def _idefics3_processor(folder: Path) -> Any:
    """Idefics3's processor with the tokenizer and settings of `folder`."""
    path = folder / "processor_config.json"
    settings = json.loads(path.read_text()) if path.is_file() else {}
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    images = AutoImageProcessor.from_pretrained(folder, backend="pil", trust_remote_code=False)
    more = {"image_seq_len": settings["image_seq_len"]} if "image_seq_len" in settings else {}
    return Idefics3Processor(images, tokenizer, chat_template=tokenizer.chat_template, **more)


def stop_ids(model: Any, tokenizer: Any) -> list[int]:
    """The ids that end an answer, the tokenizer's own end first."""
    configured = getattr(model.generation_config, "eos_token_id", None)
    if configured is None:
        configured = []
    more = [configured] if isinstance(configured, int) else list(configured)
    ids = [tokenizer.eos_token_id, *more]
    found = list(dict.fromkeys(int(i) for i in ids if i is not None))
    if not found:
        raise UserError("the model has no end token: set eos_token_id in generation_config.json")
    return found


def structural_ids(model: Any, tokenizer: Any, stops: Sequence[int]) -> list[int]:
    """The ids that an answer must never hold: those of pictures, videos and turns, and padding.

    A sampled image token would break the training pass, which matches image features to tokens.
    """
    config = model.config
    named = [getattr(config, key) for key in vars(config) if _names_vision_token(key)]
    vocab = tokenizer.get_vocab()
    ids = {int(i) for i in named if isinstance(i, int)}
    ids |= {vocab[text] for text in STRUCTURAL if text in vocab}
    ids |= {i for i in (tokenizer.pad_token_id, tokenizer.bos_token_id) if i is not None}
    return sorted(ids - set(stops))


def _names_vision_token(key: str) -> bool:
    kinds = ("image", "video", "vision", "boi", "eoi")
    return key.endswith(("token_id", "token_index")) and key.startswith(kinds)


def is_vision(name: str) -> bool:
    """Whether a parameter or module of that name belongs to the vision tower."""
    return any(part in VISION for part in name.split("."))


def freeze(net: Any, parts: Sequence[str]) -> None:
    """Keep the weights of `parts` of a model, some of `FREEZABLE`, as they are in training.

    Raises:
        UserError: there is no such part.
    """
    for part in set(parts) - set(FREEZABLE):
        raise UserError(f"there is no part {part!r} to freeze. {nearest(part, FREEZABLE)}")
    for name, parameter in net.named_parameters():
        if "vision" in parts and is_vision(name):
            parameter.requires_grad_(False)
    if "embeddings" in parts:
        net.get_input_embeddings().weight.requires_grad_(False)


def save_model(base: Any, processor: Any, folder: Path) -> None:
    """Write a full checkpoint under the original names; adapters inside `base` are left out."""
    folder.mkdir(parents=True, exist_ok=True)
    with without_progress_bars():
        base.save_pretrained(folder, state_dict=plain_state(base))
    if isinstance(processor, image_only.ImageOnlyProcessor):
        image_only.save(processor, folder)
    else:
        processor.save_pretrained(folder)


def plain_state(base: Any) -> dict[str, Tensor]:
    """The weights by the names that they have without adapters, and none of the adapters'."""
    state = base.state_dict()
    return {k.replace(".base_layer.", "."): v for k, v in state.items() if "lora_" not in k}


@contextmanager
def without_progress_bars() -> Iterator[None]:
    """Keep transformers' progress bars out of the live display."""
    shown = hf_logging.is_progress_bar_enabled()
    hf_logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            hf_logging.enable_progress_bar()
