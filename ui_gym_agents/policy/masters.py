"""AdamW for weights in few bits: it steps float32 copies of them, the masters.

In bfloat16 a weight has 8 significant bits, so that an update below 1/512 of it is lost. The
masters take it, and the weights are the masters, rounded, after each step (Micikevicius et al.
2018, arXiv:1710.03740). Weights in float32 need none, and an adapter's are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn


def adamw(
    parameters: Iterable[nn.Parameter], *, lr: float, beta2: float, weight_decay: float = 0.0
) -> torch.optim.AdamW:
    """The optimizer of `parameters`; with masters, if any of them is not float32."""
    trained = list(parameters)
    kind = torch.optim.AdamW if all(_is_exact(p) for p in trained) else MasterAdamW
    return kind(trained, lr=lr, betas=(0.9, beta2), weight_decay=weight_decay)


class MasterAdamW(torch.optim.AdamW):
    """AdamW over float32 masters of parameters in any floating type.

    A parameter that somebody else has changed since the last step is taken as it is then.
    `state_dict` holds the masters beside AdamW's own state.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], **settings: Any) -> None:
        self._parameters = list(parameters)
        self._masters = [p.detach().float().clone() for p in self._parameters]
        self._versions = [p._version for p in self._parameters]
        super().__init__(self._masters, **settings)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """One step from the parameters' gradients, which stay as they are."""
        if closure is not None:
            raise ValueError("masters take no closure")
        for parameter, master, version in self._each():
            if parameter._version != version:
                master.copy_(parameter)
            master.grad = None if parameter.grad is None else parameter.grad.float()
        super().step()
        for parameter, master, _ in self._each():
            if master.grad is not None:
                parameter.copy_(master)
                master.grad = None
        self._versions = [p._version for p in self._parameters]

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the parameters' gradients."""
        for parameter in self._parameters:
            if set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                parameter.grad.zero_()

    def state_dict(self) -> dict[str, Any]:
        """As AdamW's, with each parameter's ``master``."""
        state = super().state_dict()
        moments = state["state"]
        kept = {i: {**moments.get(i, {}), "master": m} for i, m in enumerate(self._masters)}
        return {**state, "state": kept}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what `state_dict` gave. The parameters are not touched."""
        masters: dict[int, Tensor] = {}
        rest: dict[int, dict[str, Any]] = {}
        for index, entries in state_dict["state"].items():
            own = dict(entries)
            masters[index] = own.pop("master")
            if own:
                rest[index] = own
        super().load_state_dict({**state_dict, "state": rest})
        with torch.no_grad():
            for index, master in masters.items():
                self._masters[index].copy_(master)
        self._versions = [p._version for p in self._parameters]

    def _each(self) -> Iterable[tuple[nn.Parameter, Tensor, int]]:
        return zip(self._parameters, self._masters, self._versions, strict=True)


def _is_exact(parameter: nn.Parameter) -> bool:
    return parameter.dtype in (torch.float32, torch.float64)
