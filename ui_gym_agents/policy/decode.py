"""A decode step in few operations, for a small model on a CPU.

A step of a model of a million parameters is, in transformers' forward, Python for the most part:
masks, caches, arguments and modules cost more than the arithmetic. `lean` runs the same operations
on the same numbers in the same order, so that its logits are the same to the last bit, and does
once an answer what is the same in all its steps: positions, the mask, room for keys and values.

It knows one text model, Qwen3-VL's, in single precision with torch's own attention and a key for
each query's head, its adapters merged or not. For any other, it is None and the model's own
forward is to be used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import Qwen3VLForConditionalGeneration
from transformers.activations import SiLUActivation
from transformers.cache_utils import DynamicLayer
from transformers.models.qwen3_vl import modeling_qwen3_vl as qwen3_vl

from ui_gym_agents.policy import lora
from ui_gym_agents.policy.forward import Prefix

ROOM = 32
"""Tokens that room is made for at a time."""

Linear = Callable[[Tensor], Tensor]

_PARTS: dict[str, type[nn.Module]] = {
    "self_attn": qwen3_vl.Qwen3VLTextAttention,
    "mlp": qwen3_vl.Qwen3VLTextMLP,
    "mlp.act_fn": SiLUActivation,
    "input_layernorm": qwen3_vl.Qwen3VLTextRMSNorm,
    "post_attention_layernorm": qwen3_vl.Qwen3VLTextRMSNorm,
    "self_attn.q_norm": qwen3_vl.Qwen3VLTextRMSNorm,
    "self_attn.k_norm": qwen3_vl.Qwen3VLTextRMSNorm,
}
"""What a layer consists of, and of what class each must be, beside linear layers."""


def lean(model: Any, prefix: Prefix) -> Lean | None:
    """The decoder of `model` (the bare one) after `prefix`; None if `model` is not known here.

    It takes the prefix's cache over: what is decoded is in it, as by the model's own forward.
    """
    return Lean(model, prefix) if knows(model, prefix) else None


def knows(model: Any, prefix: Prefix) -> bool:
    """Whether `lean` does what the forward of `model` does after `prefix`."""
    if type(model) is not Qwen3VLForConditionalGeneration:
        return False
    if model.device.type != "cpu" or model.dtype != torch.float32 or torch.is_grad_enabled():
        return False
    text = model.model.language_model
    config = text.config
    return (
        type(text) is qwen3_vl.Qwen3VLTextModel
        and type(text.rotary_emb) is qwen3_vl.Qwen3VLTextRotaryEmbedding
        and type(text.embed_tokens) is nn.Embedding
        and config._attn_implementation == "sdpa"
        and config.num_key_value_heads == config.num_attention_heads
        and text.rotary_emb.rope_type == "default"
        and all(type(layer) is DynamicLayer for layer in prefix.cache.layers)
        and prefix.cache.get_seq_length() == prefix.mask.shape[1]
        and all(_is_known(layer) for layer in text.layers)
        and not any(_is_special(part) for part in model.modules())
    )


def _is_known(layer: nn.Module) -> bool:
    return type(layer) is qwen3_vl.Qwen3VLTextDecoderLayer and all(
        type(layer.get_submodule(name)) is kind for name, kind in _PARTS.items()
    )


def _is_special(part: nn.Module) -> bool:
    """Whether it is in training mode, or somebody listens in who would hear nothing."""
    return part.training or bool(part._forward_hooks or part._forward_pre_hooks)


def _linear(module: Any) -> Linear:
    """What computes a linear layer, with as little around it as there can be."""
    plain = lora.plain(module)
    if type(plain) is not nn.Linear:
        called: Linear = module
        return called
    weight, bias = plain.weight, plain.bias
    return lambda x: functional.linear(x, weight, bias)


class _Layer:
    """A layer's weights, and the keys and values so far: (rows, heads, room, width of a head)."""

    def __init__(self, layer: Any, cached: Any) -> None:
        attention, mlp = layer.self_attn, layer.mlp
        self.cached = cached
        self.keys: Tensor = cached.keys
        self.values: Tensor = cached.values
        self.scale = attention.scaling
        self.before, self.between = layer.input_layernorm, layer.post_attention_layernorm
        self.q, self.k, self.v = map(
            _linear, (attention.q_proj, attention.k_proj, attention.v_proj)
        )
        self.o = _linear(attention.o_proj)
        self.gate, self.up, self.down = map(_linear, (mlp.gate_proj, mlp.up_proj, mlp.down_proj))
        norms = (attention.q_norm, attention.k_norm)
        self.norm = torch.stack([norm.weight for norm in norms])[:, None]
        self.eps = attention.q_norm.variance_epsilon

    def make_room(self, count: int) -> None:
        rows, heads, _, width = self.keys.shape
        more = self.keys.new_empty(rows, heads, count, width)
        self.keys = torch.cat([self.keys, more], dim=2)
        self.values = torch.cat([self.values, more], dim=2)

    def step(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor | None, at: int) -> Tensor:
        """`x` (rows, width) after the layer; its keys and values go to place `at`."""
        rows = x.shape[0]
        shape = (rows, *self.norm.shape[:1], -1, self.keys.shape[3])
        h = _normed(x, self.before.weight, self.before.variance_epsilon)
        # Queries and keys together: the same for each number, in half as many operations.
        both = torch.cat((self.q(h), self.k(h)), dim=1).view(shape)
        both = _normed(both, self.norm, self.eps)
        both = both * cos + both.roll(both.shape[3] // 2, 3) * sin
        self.keys[:, :, at] = both[:, 1]
        self.values[:, :, at] = self.v(h).view(rows, -1, self.values.shape[3])
        keys = self.cached.keys = self.keys[:, :, : at + 1]
        values = self.cached.values = self.values[:, :, : at + 1]
        seen = functional.scaled_dot_product_attention(
            both[:, 0, :, None], keys, values, attn_mask=mask, scale=self.scale
        )
        x = x + self.o(seen.reshape(rows, -1))
        h = _normed(x, self.between.weight, self.between.variance_epsilon)
        return x + self.down(functional.silu(self.gate(h)) * self.up(h))


class Lean:
    """Decodes answers a token at a time."""

    def __init__(self, model: Any, prefix: Prefix) -> None:
        text = model.model.language_model
        self._embedding = text.embed_tokens.weight
        self._norm = text.norm
        self._head = _linear(model.lm_head)
        self._layers = [
            _Layer(layer, cached)
            for layer, cached in zip(text.layers, prefix.cache.layers, strict=True)
        ]
        self._rotary = text.rotary_emb
        self._next = prefix.next
        self._mask = prefix.mask
        self._padded = not bool(prefix.mask.all())
        self._length = prefix.mask.shape[1]
        self._room = 0
        self._cos = self._sin = self._seen = prefix.logits

    def step(self, tokens: Tensor, done: int) -> Tensor:
        """Logits (rows, vocabulary) after `tokens` (rows,), each the answer's token at `done`."""
        if done >= self._room:
            self._make_room(done)
        at = self._length + done
        mask = self._seen[:, :, :, : at + 1] if self._padded else None
        cos, sin = self._cos[:, done], self._sin[:, done]
        x = functional.embedding(tokens, self._embedding)
        for layer in self._layers:
            x = layer.step(x, cos, sin, mask, at)
        return self._head(_normed(x, self._norm.weight, self._norm.variance_epsilon))

    def _make_room(self, done: int) -> None:
        """For tokens from `done` on."""
        self._room = done + ROOM
        for layer in self._layers:
            layer.make_room(ROOM)
        positions = self._next + torch.arange(self._room)
        # (rows, tokens, width of a head); then one for queries and keys, and for all heads.
        cos, sin = self._rotary(self._embedding, positions.expand(3, -1, -1))
        half = sin.shape[-1] // 2
        # A half turned is (-b, a) beside (a, b); here the sine has the sign, to the same bits.
        sin = torch.cat([-sin[..., :half], sin[..., half:]], dim=-1)
        self._cos, self._sin = cos[:, :, None, None], sin[:, :, None, None]
        if self._padded:
            rows, length = self._mask.shape
            seen = torch.zeros(rows, 1, 1, length + self._room)
            self._seen = seen
            seen[:, 0, 0, :length].masked_fill_(self._mask == 0, float("-inf"))


def _normed(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """The root mean square norm, operation by operation as `Qwen3VLTextRMSNorm` does it."""
    return weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps))
