"""A base model and the slots in which adapters take their turns on it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from torch import Tensor, nn
from torch.nn import functional

from ui_gym.errors import UserError
from ui_gym_agents.policy import VLMPolicy, cpu, load_policy, lora, model
from ui_gym_agents.policy.weights import resolve
from ui_gym_tinker.server.adapters import ATTENTION, MLP, Adapter, AdapterShape, fresh, of_tensors
from ui_gym_tinker.server.errors import BadRequest

SUMS_KEPT = 2
"""Adapters whose sums with a small model's weights are kept."""

MOST_RANK = 1024


@dataclass
class _Slot:
    """A PEFT adapter by its name; for each layer its A and B, and zeros for who adapts it not."""

    name: str
    pairs: dict[str, tuple[nn.Parameter, nn.Parameter]]
    zeros: dict[str, tuple[Tensor, Tensor]]


class HostedModel:
    """A model under the name that clients ask for, and its weights, of which there is one copy.

    Args:
        name: What clients call it.
        source: What `resolve` finds: an installed name, or a folder.
        device: Where it is, ``cpu`` or ``cuda``.
        dtype: Of the weights that are not trained.

    Raises:
        UserError: there is no such model, or it cannot be loaded.
    """

    def __init__(
        self, name: str, source: str | Path, *, device: str = "cpu", dtype: str = "float32"
    ) -> None:
        self.name = name
        self.source = str(source)
        self.folder = resolve(source)
        self.policy: VLMPolicy = load_policy(self.folder, device=device, dtype=dtype)
        self.base: Any = self.policy.base
        self.base.requires_grad_(False)
        config = self.base.config
        self.architecture = type(self.base).__name__
        self.vocabulary = int(self.base.get_output_embeddings().weight.shape[0])
        self.max_context = int(
            getattr(config.get_text_config(), "max_position_embeddings", None) or 2**31
        )
        self.layers, self.unembed = _layers(self.base)
        head = self.base.get_output_embeddings()
        self._tied = head.weight is self.base.get_input_embeddings().weight
        self._slots: dict[int, _Slot] = {}
        self._at_work: str | None = None
        self._sums: dict[int, tuple[Adapter, int, dict[str, Tensor]]] = {}

    @property
    def device(self) -> torch.device:
        return self.policy.device

    @property
    def nbytes(self) -> int:
        """Bytes of the weights."""
        return sum(p.numel() * p.element_size() for n, p in self.base.named_parameters()
                   if "lora_" not in n)  # fmt: skip

    def adapted(self, shape: AdapterShape) -> list[str]:
        """The layers that an adapter of `shape` adapts, in the model's order.

        Raises:
            BadRequest: none, or the rank is none.
        """
        if not 1 <= shape.rank <= MOST_RANK:
            raise BadRequest(f"a rank is from 1 to {MOST_RANK}, not {shape.rank}")
        chosen = [name for name in self.layers if shape.wants(name, self.unembed)]
        if not chosen:
            raise BadRequest(f"{self.name} has no layer that this adapter would adapt")
        return chosen

    def fresh(self, shape: AdapterShape, seed: int) -> Adapter:
        """A new adapter, which changes nothing until it is trained."""
        layers = {name: self.layers[name] for name in self.adapted(shape)}
        return fresh(shape, layers, seed, self.device)

    def restored(self, shape: AdapterShape, pairs: Mapping[str, tuple[Tensor, Tensor]]) -> Adapter:
        """An adapter with these values.

        Raises:
            BadRequest: they are those of another model.
        """
        wanted = self.adapted(shape)
        if set(wanted) != set(pairs):
            raise BadRequest(f"the adapter is of other layers than those of {self.name}")
        for name in wanted:
            layer, (a, b) = self.layers[name], pairs[name]
            sizes = (shape.rank, layer.in_features), (layer.out_features, shape.rank)
            if (tuple(a.shape), tuple(b.shape)) != sizes:
                raise BadRequest(f"the adapter is of layers of other sizes than {self.name}'s")
        return of_tensors(shape, pairs, wanted, self.device)

    # -- adapters at work --

    @contextmanager
    def sampling(self, adapter: Adapter | None) -> Iterator[None]:
        """Inside, the model is that with `adapter` (None: the bare one), for passes without
        gradients."""
        with cpu.threads(self.policy.act_threads), self._with(adapter), self._merged(adapter):
            yield

    @contextmanager
    def learning(self, adapter: Adapter) -> Iterator[list[nn.Parameter]]:
        """Inside, the model is that with `adapter`; gives the slot's parameters that are trained,
        in the order of the adapter's, whose gradients begin at None and are gone afterwards."""
        with self._with(adapter):
            slot = self._slots[adapter.shape.rank]
            own = [part for name in adapter.pairs for part in slot.pairs[name]]
            try:
                for part in own:
                    part.requires_grad_(True)
                folding = self.policy.merge and not self.policy.forward.checkpoints()
                with (
                    model.recomputing(self.base),
                    lora.folded(self.base) if folding else nullcontext(),
                ):
                    yield own
            finally:
                for part in own:
                    part.grad = None
                    part.requires_grad_(False)

    @contextmanager
    def _with(self, adapter: Adapter | None) -> Iterator[None]:
        if adapter is None:
            net = self.policy.net
            without: AbstractContextManager[Any] = nullcontext()
            if isinstance(net, PeftModel):
                without = net.disable_adapter()
                self._at_work = None
            with without:
                yield
            return
        slot = self._slot(adapter.shape)
        if self._at_work != slot.name:
            self.policy.net.set_adapter(slot.name)  # type: ignore[operator]  # a PeftModel by now
            self._at_work = slot.name
        for name, (a, b) in slot.pairs.items():
            mine = adapter.pairs.get(name)
            a.data, b.data = slot.zeros[name] if mine is None else (mine[0].data, mine[1].data)
            a.requires_grad_(False)
            b.requires_grad_(False)
        self._scale(slot.name, adapter.shape)
        yield

    def _scale(self, name: str, shape: AdapterShape) -> None:
        wanted = shape.alpha / shape.rank
        for layer in self._adapted_layers().values():
            layer.scaling[name] = wanted

    def _slot(self, shape: AdapterShape) -> _Slot:
        """The slot of adapters of that rank, made when it is first asked for."""
        found = self._slots.get(shape.rank)
        if found is not None:
            return found
        name = f"rank-{shape.rank}"
        config = LoraConfig(
            r=shape.rank, lora_alpha=shape.rank, lora_dropout=0.0,
            target_modules=list(self.layers), task_type="CAUSAL_LM",
        )  # fmt: skip
        with _quietly():
            if isinstance(self.policy.net, PeftModel):
                self.policy.net.add_adapter(name, config)
            else:
                self.policy.net = get_peft_model(self.base, config, adapter_name=name)
            self.policy.net.eval()
        layers = self._adapted_layers()
        pairs = {key: (at.lora_A[name].weight, at.lora_B[name].weight)
                 for key, at in layers.items()}  # fmt: skip
        zeros = {
            key: (torch.zeros_like(a.data), torch.zeros_like(b.data))
            for key, (a, b) in pairs.items()
        }
        self._slots[shape.rank] = found = _Slot(name, pairs, zeros)
        return found

    def _adapted_layers(self) -> dict[str, Any]:
        return {name: self.base.get_submodule(name) for name in self.layers}

    # -- a small model's weights with an adapter added --

    @contextmanager
    def _merged(self, adapter: Adapter | None) -> Iterator[None]:
        """Run with the adapter added to the weights, where the model is small.

        As `lora.merged`; but an output layer that shares its weights with the embedding is run with
        weights of its own, since the embedding is not adapted.
        """
        if adapter is None or not self.policy.merge:
            yield
            return
        totals = self._totals(adapter)
        layers = self._adapted_layers()
        before = {name: layer.get_base_layer().weight.data for name, layer in layers.items()}
        try:
            for name, layer in layers.items():
                base, total = layer.get_base_layer(), totals.get(name)
                layer.forward = base.forward
                if total is None:
                    continue
                if name == self.unembed and self._tied:
                    layer.forward = partial(functional.linear, weight=total, bias=base.bias)
                else:
                    base.weight.data = total
            yield
        finally:
            for name, layer in layers.items():
                layer.get_base_layer().weight.data = before[name]
                layer.__dict__.pop("forward", None)

    @torch.no_grad()
    def _totals(self, adapter: Adapter) -> dict[str, Tensor]:
        """The weights of the adapted layers with `adapter` added, by their names."""
        known = self._sums.pop(id(adapter), None)
        if known is None or known[0] is not adapter or known[1] != adapter.version:
            scale = adapter.shape.alpha / adapter.shape.rank
            layers = self._adapted_layers()
            known = (adapter, adapter.version, {
                name: layers[name].get_base_layer().weight.data + (b.data @ a.data) * scale
                for name, (a, b) in adapter.pairs.items()
            })  # fmt: skip
        self._sums[id(adapter)] = known
        while len(self._sums) > SUMS_KEPT:
            del self._sums[next(iter(self._sums))]
        return known[2]


def _layers(base: Any) -> tuple[dict[str, nn.Linear], str]:
    """The linear layers that can be adapted, by their full names, and the output layer's name.

    Raises:
        UserError: there is none.
    """
    head = base.get_output_embeddings()
    found: dict[str, nn.Linear] = {}
    unembed = ""
    for name, part in base.named_modules():
        if part is head and isinstance(part, nn.Linear):
            found[name], unembed = part, name
        elif (
            isinstance(part, nn.Linear)
            and not model.is_vision(name)
            and name.rpartition(".")[2] in (*ATTENTION, *MLP)
        ):
            found[name] = part
    if not found:
        raise UserError(
            f"{type(base).__name__} has no layers called {', '.join((*ATTENTION, *MLP))}: "
            "this server does not know where to put an adapter"
        )
    return found, unembed


@contextmanager
def _quietly() -> Iterator[None]:
    """Without PEFT's warnings about a renamed attribute, and about tied output layers."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*is_gradient_checkpointing.*")
        warnings.filterwarnings("ignore", message=".*tie_word_embeddings.*")
        yield
