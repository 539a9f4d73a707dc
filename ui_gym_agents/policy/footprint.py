"""What memory a training step takes, from a model's configuration alone: no weight is read.

Parameters are counted on torch's meta device, by the model's own class. What layers keep for the
way back follows the count of Korthikanti et al. (arXiv:2205.05198), section 4, for a layer of the
Llama family whose weights are frozen under a LoRA adapter. Per token and layer, with hidden size h,
query width q, feed-forward width f and b bytes a number, a layer keeps

- for its two norms, which are done in float32: 2 x 4h;
- for the adapters, whose inputs are float32: 4 (n h + q + f), where n is 5 (q, k, v, gate and up
  have a copy each), or 2 where b is 4 (they share it), and 4 x 7 rank between A and B;
- for attention: queries, keys and values (repeated to the queries' heads), and its output: 4 b q;
- for the feed-forward part: gate, its activation and up: 3 b f.

With checkpointing a layer keeps its input, b h, and one layer at a time all of the above. Then come
the logits of answer tokens, with copies in float32: scores, probabilities and their gradients.
Not in it are torch itself, the vision tower at work, and the fragments that an allocator leaves:
plan for a tenth more.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ui_gym.errors import UserError
from ui_gym_agents.policy import lora
from ui_gym_agents.policy.model import is_vision
from ui_gym_agents.policy.options import KEPT

NF4 = 0.5 + 1 / 64 + 4 / (64 * 256)
"""Bytes of a 4-bit weight with its part of the scales, which are quantized as well."""

SAMPLED = 28
"""Bytes of a logit while a token is drawn: scores and log-probabilities in float32 (3 x 4), and
their exponentials and sums in double precision (2 x 8)."""

SCORED = 16
"""Bytes of an answer's logit in float32: scores, masked scores, log-probabilities, gradient."""


@dataclass(frozen=True)
class Load:
    """What a step asks of a model: counts of tokens and rows."""

    prompt: int
    """Tokens of the longest prompt, those of its pictures included."""
    answer: int
    """Most tokens of an answer."""
    rows: int
    """Answers that are sampled at a time."""
    batch: int
    """Most tokens of a micro-batch when learning; a longer turn is one of its own."""
    remembered: int = 0
    """Bytes that picture features and keys of earlier turns may take."""


@dataclass(frozen=True)
class Footprint:
    """Bytes. Sampling and learning follow each other, so that the larger counts."""

    parameters: int
    """How many there are."""
    trained: int
    """How many of them are trained, those of an adapter included."""
    weights: int
    adapter: int
    gradients: int
    optimizer: int
    remembered: int
    cache: int
    sampling: int
    activations: int

    @property
    def kept(self) -> int:
        """What is there all the time."""
        own = self.weights + self.adapter + self.gradients + self.optimizer
        return own + self.remembered

    @property
    def peak(self) -> int:
        """The most at any time of a step."""
        return self.kept + max(self.cache + self.sampling, self.activations)


def footprint(
    model: Any,
    load: Load,
    *,
    rank: int,
    targets: str | tuple[str, ...] = "auto",
    quantize: str | None = None,
    checkpointing: bool = False,
) -> Footprint:
    """What `model`, on any device, takes in memory for a step with `load`.

    `rank` and `targets` are the adapter's, `quantize` among `options.QUANTIZED`. A `rank` of 0
    trains all weights, whose activations are estimated as if under an adapter.
    """
    named = {name: part for name, part in model.named_modules() if isinstance(part, nn.Linear)}
    chosen = lora.target_modules(model, targets) if rank else []
    extra = sum(rank * (named[n].in_features + named[n].out_features) for n in chosen)
    count = sum(p.numel() for p in model.parameters())
    trained, size = (extra, 4) if rank else (count, model.dtype.itemsize)
    return Footprint(
        parameters=count + extra,
        trained=trained,
        weights=weight_bytes(model, quantize),
        adapter=4 * extra,
        gradients=size * trained,
        # Two moments in float32, and masters of what is not (`masters`).
        optimizer=(8 if size == 4 else 12) * trained,
        remembered=load.remembered,
        cache=_per_token(model) * load.rows * (load.prompt + load.answer),
        sampling=load.rows * (SAMPLED * _text(model).vocab_size + load.prompt * _pass(model)),
        activations=activations(model, load, rank=rank, checkpointing=checkpointing),
    )


def activations(model: Any, load: Load, *, rank: int, checkpointing: bool) -> int:
    """Bytes that a micro-batch keeps for the way back."""
    text, b = _text(model), model.dtype.itemsize
    hidden, width, queries = text.hidden_size, text.intermediate_size, _queries(text)
    inputs = 2 if b == 4 else 5
    layer = (
        2 * 4 * hidden
        + 4 * (inputs * hidden + queries + width + 7 * rank)
        + 4 * b * queries
        + 3 * b * width
    )
    longest = load.prompt + load.answer
    tokens = max(load.batch, longest)
    answers = max(1, tokens // longest) * load.answer
    logits = answers * text.vocab_size * (b + SCORED)
    layers = text.num_hidden_layers
    kept = layers * b * hidden + layer if checkpointing else layers * layer
    return int(tokens * kept + logits)


def weight_bytes(model: Any, quantize: str | None = None) -> int:
    """Bytes of the model's own weights, as they are or `quantize`d."""
    whole = int(sum(p.numel() * p.element_size() for p in model.parameters()))
    if quantize is None:
        return whole
    each = NF4 if quantize == "nf4" else 1.0
    packed = [
        part.weight.numel()
        for name, part in model.named_modules()
        if isinstance(part, nn.Linear)
        and not is_vision(name)
        and not any(piece in KEPT for piece in name.split("."))
    ]
    return int(whole - sum(packed) * (model.dtype.itemsize - each))


def _per_token(model: Any) -> int:
    """Bytes of a token's keys and values in all layers."""
    text = _text(model)
    heads = getattr(text, "num_key_value_heads", None) or text.num_attention_heads
    width: int = heads * _queries(text) // text.num_attention_heads
    return 2 * int(text.num_hidden_layers) * width * int(model.dtype.itemsize)


def _pass(model: Any) -> int:
    """Bytes of a prompt's token in the layer that it is in: inputs and feed-forward part."""
    text = _text(model)
    numbers = 4 * text.hidden_size + 2 * text.intermediate_size
    return int(model.dtype.itemsize * numbers)


def _queries(text: Any) -> int:
    head = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
    return int(head) * int(text.num_attention_heads)


def _text(model: Any) -> Any:
    return model.config.get_text_config()


def check_room(model: Any, name: str, weights: int, free: int, where: str) -> None:
    """Refuse a model whose weights alone are more than the machine has, before they are read.

    Raises:
        UserError: names model, size and what there is, and what to do.
    """
    if weights <= free:
        return
    count = sum(p.numel() for p in model.parameters())
    raise UserError(
        f"the model {name} does not fit: its {count / 1e9:.1f} B parameters take "
        f"{weights / 1e9:.1f} GB, and {where} has {free / 1e9:.1f} GB free. Take a GPU with more, "
        "--policy.quantize nf4 (4 bits), --policy.dtype bfloat16, or a smaller model such as "
        "--preset smolvlm-2b"
    )


def free_memory(device: str) -> int:
    """Bytes that are free on a GPU, or in this machine's memory and its control group."""
    if torch.device(device).type == "cuda":
        return int(torch.cuda.mem_get_info(torch.device(device))[0])
    lines = Path("/proc/meminfo").read_text().splitlines()
    found = {
        name: int(rest.split()[0]) * 1024 for name, _, rest in (x.partition(":") for x in lines)
    }
    free = found["MemAvailable"]
    group = Path("/sys/fs/cgroup")
    try:
        limit = int((group / "memory.max").read_text())
        used = int((group / "memory.current").read_text())
    except (OSError, ValueError):  # no group, or "max"
        return free
    return min(free, limit - used)
