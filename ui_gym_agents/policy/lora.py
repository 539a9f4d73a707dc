"""LoRA adapters in PEFT's layout: attach, save, load, restore."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model, get_peft_model_state_dict
from peft.tuners.lora import LoraLayer
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional

from ui_gym.errors import UserError, nearest
from ui_gym_agents.policy.model import is_vision

TEXT_LAYERS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
"""The linear layers of a text model that are adapted by default."""

WEIGHTS = "adapter_model.safetensors"
SETTINGS = "adapter_config.json"


def attach(
    model: nn.Module, *, rank: int, alpha: float, targets: str | Sequence[str], seed: int
) -> PeftModel:
    """Put a fresh adapter on `model`; until it is trained it changes nothing."""
    config = LoraConfig(
        r=rank,
        lora_alpha=alpha,  # type: ignore[arg-type]  # a float is as good
        lora_dropout=0.0,
        target_modules=target_modules(model, targets),
        task_type="CAUSAL_LM",
    )
    with torch.random.fork_rng(devices=[]), _peft():
        torch.manual_seed(seed)
        return get_peft_model(model, config).eval()


def target_modules(model: nn.Module, targets: str | Sequence[str]) -> list[str]:
    """Full names of the modules to adapt.

    `targets` is ``"auto"`` (the linear layers of the text model), ``"auto+vision"`` (also those
    of the vision tower), or names of layers, of which the last parts are enough.

    Raises:
        UserError: nothing matches.
    """
    linear = [name for name, part in model.named_modules() if isinstance(part, nn.Linear)]
    wanted = [targets] if isinstance(targets, str) else list(targets)
    if wanted in (["auto"], ["auto+vision"]):
        chosen = [n for n in linear if n.split(".")[-1] in TEXT_LAYERS and not is_vision(n)]
        if wanted == ["auto+vision"]:
            chosen += [name for name in linear if is_vision(name)]
    else:
        for want in wanted:
            if not any(n == want or n.endswith("." + want) for n in linear):
                leaves = {name.split(".")[-1] for name in linear}
                raise UserError(f"no linear layer is called {want!r}. {nearest(want, leaves)}")
        chosen = [n for n in linear if any(n == w or n.endswith("." + w) for w in wanted)]
    if not chosen:
        raise UserError(f"no linear layer is called any of {', '.join(TEXT_LAYERS)}: name targets")
    return chosen


def load(model: nn.Module, folder: Path) -> PeftModel:
    """Put the adapter of a PEFT folder on `model`, to be trained further."""
    for name in (SETTINGS, WEIGHTS):
        if not (folder / name).is_file():
            raise UserError(f"{folder} is no adapter: it holds no {name}")
    with _peft():
        return PeftModel.from_pretrained(
            model, folder, is_trainable=True, use_safetensors=True
        ).eval()


def _state(model: PeftModel) -> dict[str, Tensor]:
    """The adapter's weights by name.

    Not by `state_dict`, at which a model whose weights are divided (`sharding`) lets go of those
    that it has brought together.
    """
    named = dict(model.named_parameters(remove_duplicate=False))
    found: dict[str, Tensor] = get_peft_model_state_dict(
        model, state_dict=named, save_embedding_layers=False
    )
    return found


def weights(model: PeftModel) -> dict[str, Tensor]:
    """The adapter's weights as they are now, by name: copies in main memory."""
    state = _state(model)
    return {name: value.detach().to("cpu", copy=True) for name, value in state.items()}


def save(
    model: PeftModel, folder: Path, base: str, state: Mapping[str, Tensor] | None = None
) -> None:
    """Write the adapter; `base` is the model that its settings say it belongs to.

    `state` are its weights, as `weights` gave them at some time; None: as they are now. Not by
    PEFT's `save_pretrained`, which may ask the hub about `base`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if state is None:
        state = _state(model)
    tensors = {name: value.detach().cpu().contiguous() for name, value in state.items()}
    save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})
    config = copy.copy(model.peft_config[model.active_adapter])
    config.base_model_name_or_path, config.inference_mode = base, True
    config.save_pretrained(str(folder))


def restore(model: PeftModel, folder: Path) -> None:
    """Set the weights of the adapter on `model` to those of a folder.

    Raises:
        UserError: the folder's adapter has other layers or another rank.
    """
    own, state = _state(model), load_file(folder / WEIGHTS)
    if {name: value.shape for name, value in state.items()} != {
        name: value.shape for name, value in own.items()
    }:
        raise UserError(f"{folder / WEIGHTS} belongs to an adapter of other layers or another rank")
    _put(own, state)


@contextmanager
def exchanged(model: PeftModel, state: Mapping[str, Tensor]) -> Iterator[None]:
    """Run with `state` as the adapter's weights, as `weights` gave them at some time; afterwards
    all is as it was, exactly."""
    own = _state(model)
    before = {name: value.detach().clone() for name, value in own.items()}
    try:
        _put(own, state)
        yield
    finally:
        _put(own, before)


@torch.no_grad()
def _put(own: Mapping[str, Tensor], state: Mapping[str, Tensor]) -> None:
    for name, value in own.items():
        value.copy_(state[name])


def is_plain(model: nn.Module) -> bool:
    """Whether all adapters in `model` can be added to its weights: they are no DoRA nor another
    variant, and none is on an output layer that shares its weights with the embedding."""
    embedded = {id(part.weight) for part in model.modules() if isinstance(part, nn.Embedding)}
    return not any(
        layer.lora_variant or id(layer.get_base_layer().weight) in embedded
        for layer in _layers(model)
    )


def plain(module: nn.Module) -> nn.Module:
    """The layer that alone does what `module` does now, such as the one that `merged` changed.

    `module` itself, where it is no adapter's, or where an adapter is at work beside its layer.
    """
    if not isinstance(module, LoraLayer):
        return module
    layer: nn.Module = module.get_base_layer()
    return layer if vars(module).get("forward") == layer.forward else module


def _layers(model: nn.Module) -> list[Any]:
    return [part for part in model.modules() if isinstance(part, LoraLayer)]


class Sums:
    """Weights with the adapters added, kept for as long as what they are the sums of is the same.

    They are told from others by their numbers, since not every way to change a weight is counted.
    A copy of the weights and of the sums is kept: for small models.
    """

    def __init__(self) -> None:
        self._kept: list[tuple[list[float], list[Tensor], Tensor]] = []

    def of(self, layers: Sequence[Any]) -> list[Tensor]:
        """A layer's weight plus its adapters', for each of `layers`."""
        if len(self._kept) != len(layers):
            self._kept = [([], [], torch.empty(0))] * len(layers)
        for number, layer in enumerate(layers):
            names = layer.active_adapters
            scales = [float(layer.scaling[name]) for name in names]
            given = list(layer.parameters())
            known, held, _ = self._kept[number]
            if known != scales or len(held) != len(given) or not all(map(torch.equal, held, given)):
                copies = [weight.detach().clone() for weight in given]
                self._kept[number] = (scales, copies, _sum(layer))
        return [total for _, _, total in self._kept]


def _sum(layer: Any) -> Tensor:
    weight = layer.get_base_layer().weight.data
    deltas = [layer.get_delta_weight(name).detach() for name in layer.active_adapters]
    total: Tensor = weight + sum(deltas).to(weight.dtype)
    return total


@contextmanager
def merged(model: nn.Module, sums: Sums | None = None) -> Iterator[None]:
    """Run with the adapters added to the weights of `model`; afterwards all is as it was, exactly.

    The weights are exchanged and put back: adding and taking away again would not give the same
    bits. Costs a copy of the adapted weights meanwhile. Adapters that are switched off stay off.
    `sums` knows those of the last time, if it is given.

    Raises:
        UserError: an adapter is more than a sum (`is_plain`), or the weights are quantized.
    """
    layers = [layer for layer in _layers(model) if not layer.disable_adapters]
    if not is_plain(model):
        raise UserError(
            "only plain LoRA is merged here: not DoRA and the like, nor the adapter of an output "
            "layer that shares its weights with the embedding"
        )
    if not all(layer.get_base_layer().weight.dtype.is_floating_point for layer in layers):
        raise UserError(
            "an adapter cannot be added to quantized weights: load the model without "
            "--policy.quantize for that"
        )
    before = [layer.get_base_layer().weight.data for layer in layers]
    found = [_sum(layer) for layer in layers] if sums is None else sums.of(layers)
    try:
        for layer, total in zip(layers, found, strict=True):
            layer.get_base_layer().weight.data = total
            layer.forward = layer.get_base_layer().forward
        yield
    finally:
        for layer, weight in zip(layers, before, strict=True):
            layer.get_base_layer().weight.data = weight
            layer.__dict__.pop("forward", None)


class _Folded(torch.autograd.Function):
    """A layer with its adapter added to the weights, whose backward pass is the adapter's.

    The same sums as the layer and its adapter apart, without their passes over the activations.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, a: Tensor, b: Tensor, scale: float
    ) -> Tensor:
        ctx.save_for_backward(x, weight, a, b)
        ctx.scale = scale
        return functional.linear(x, weight, bias)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, a, b = ctx.saved_tensors
        inputs, outputs = x.flatten(0, -2), gradients[0].flatten(0, -2)
        back = (outputs @ weight).view_as(x) if ctx.needs_input_grad[0] else None
        grad_a = ((outputs @ b).t() @ inputs).mul_(ctx.scale)
        grad_b = (outputs.t() @ (inputs @ a.t())).mul_(ctx.scale)
        return back, None, None, grad_a, grad_b, None


@contextmanager
def folded(model: nn.Module) -> Iterator[None]:
    """As `merged`, with gradients for the adapter; its weights must not change inside.

    Not for layers that are computed again on the way back, which happens outside. Pays where a
    batch has many more tokens than a layer has inputs; costs a copy of the adapted weights until
    the backward pass. Layers with several adapters, or with dropout, are left as they are, and so
    are those that are folded already: inside of another `folded` this one does nothing.
    """
    changed = []
    try:
        for layer in _layers(model):
            names = layer.active_adapters
            if layer.disable_adapters or len(names) != 1 or layer.lora_variant:
                continue
            if "forward" in vars(layer):
                continue
            name = names[0]
            base = layer.get_base_layer()
            a, b = layer.lora_A[name].weight, layer.lora_B[name].weight
            if not isinstance(base, nn.Linear) or not isinstance(
                layer.lora_dropout[name], nn.Identity
            ):
                continue
            scale = layer.scaling[name]
            with torch.no_grad():
                weight = torch.addmm(base.weight, b, a, alpha=scale)
            layer.forward = partial(_folded, weight, base.bias, a, b, scale)
            changed.append(layer)
        yield
    finally:
        for layer in changed:
            layer.__dict__.pop("forward", None)


def _folded(
    weight: Tensor, bias: Tensor | None, a: Tensor, b: Tensor, scale: float, x: Tensor
) -> Tensor:
    found: Tensor = _Folded.apply(x, weight, bias, a, b, scale)
    return found


@contextmanager
def _peft() -> Iterator[None]:
    """Without the warning about a renamed attribute that PEFT still reads in transformers."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*is_gradient_checkpointing.*")
        yield
