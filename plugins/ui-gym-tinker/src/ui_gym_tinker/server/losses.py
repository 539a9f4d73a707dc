"""The losses of `forward_backward`: sums over tokens, by the log-probabilities of the targets.

They are those of the service's documentation, in its notation: `target` are log-probabilities
under the model that learns, `sampling` those under the one that sampled, and ``ratio = exp(target -
sampling)``. What is 0 in `advantages` or `weights` counts for nothing. A ratio that is cut has no
gradient, and neither has the one that `cispo` weighs by.

`stable_reinforce` is documented as an alpha without its formula, and needs what the service records
while it samples; here it is our own reading: see `_stable_reinforce`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from ui_gym.errors import nearest
from ui_gym_tinker.server.errors import BadRequest

Config = Mapping[str, float]
Inputs = Mapping[str, Tensor]


@dataclass(frozen=True)
class Loss:
    """A loss by name: `required` and `optional` inputs, and its settings with their defaults.

    `term` gives the loss of each token, in the shape of the targets.
    """

    term: Callable[[Tensor, Inputs, Config], Tensor]
    required: tuple[str, ...]
    settings: Config
    optional: tuple[str, ...] = ()


def _cross_entropy(target: Tensor, inputs: Inputs, config: Config) -> Tensor:
    weights = inputs.get("weights")
    return -target if weights is None else -target * weights


def _importance_sampling(target: Tensor, inputs: Inputs, config: Config) -> Tensor:
    return -_ratio(target, inputs) * inputs["advantages"]


def _ppo(target: Tensor, inputs: Inputs, config: Config) -> Tensor:
    ratio = _ratio(target, inputs)
    return -_least(ratio, _clipped(ratio, inputs, config), inputs["advantages"])


def _cispo(target: Tensor, inputs: Inputs, config: Config) -> Tensor:
    weight = _clipped(_ratio(target, inputs), inputs, config).detach()
    return -weight * target * inputs["advantages"]


def _dro(target: Tensor, inputs: Inputs, config: Config) -> Tensor:
    # Whatever stands at a prompt's tokens in `logprobs`, they are not to be held near it.
    here = (inputs["advantages"] != 0).to(target.dtype)
    far = (target - inputs["logprobs"]) ** 2
    return -(target * inputs["advantages"] - 0.5 * config["beta"] * far * here)


def _gspo(target: Tensor, inputs: Inputs, config: Config) -> Tensor:
    """The token-wise variant: each token has the sequence's ratio, and a gradient of its own."""
    within = inputs.get("sequence_ratio_mask", inputs["advantages"]) != 0
    if not within.any():
        return 0 * target
    mean = (target.detach() - inputs["logprobs"])[within].mean()
    ratio = torch.exp(mean + target - target.detach())
    return -_least(ratio, _clipped(ratio, inputs, config), inputs["advantages"])


def _stable_reinforce(target: Tensor, inputs: Inputs, config: Config) -> Tensor:
    """REINFORCE whose weight is the ratio, at most 1, without a gradient, held near the sampler.

    A ratio above 1 is what makes a gradient's variance grow without bounds, one below 1 fades out
    what the model would not say any more; `kl_coeff` pulls back by half the squared log-ratio.
    """
    weight = _ratio(target, inputs).detach().clamp(max=1.0)
    here = (inputs["advantages"] != 0).to(target.dtype)
    far = 0.5 * (target - inputs["logprobs"]) ** 2
    return -weight * target * inputs["advantages"] + config["kl_coeff"] * far * here


def _ratio(target: Tensor, inputs: Inputs) -> Tensor:
    # Where a token counts for nothing its two numbers need not belong together: no overflow there.
    apart = (target - inputs["logprobs"]) * (inputs["advantages"] != 0).to(target.dtype)
    return torch.exp(apart)


def _clipped(ratio: Tensor, inputs: Inputs, config: Config) -> Tensor:
    low, high = (
        inputs.get(name, ratio.new_tensor(config[name])).to(ratio)
        for name in ("clip_low_threshold", "clip_high_threshold")
    )
    return torch.clamp(ratio, low, high)


def _least(ratio: Tensor, clipped: Tensor, advantages: Tensor) -> Tensor:
    return torch.min(ratio * advantages, clipped * advantages)


_CLIP = {"clip_low_threshold": 0.8, "clip_high_threshold": 1.2}
_RL = ("logprobs", "advantages")
_PER_TOKEN = ("clip_low_threshold", "clip_high_threshold")

LOSSES: Mapping[str, Loss] = {
    "cross_entropy": Loss(_cross_entropy, (), {}, ("weights",)),
    "importance_sampling": Loss(_importance_sampling, _RL, {}),
    "ppo": Loss(_ppo, _RL, _CLIP, _PER_TOKEN),
    "cispo": Loss(_cispo, _RL, _CLIP, _PER_TOKEN),
    "dro": Loss(_dro, _RL, {"beta": 0.05}),
    "gspo": Loss(_gspo, _RL, _CLIP, ("sequence_ratio_mask", *_PER_TOKEN)),
    "stable_reinforce": Loss(_stable_reinforce, _RL, {"kl_coeff": 0.0}),
}

INPUTS = frozenset(
    {"target_tokens", *(name for loss in LOSSES.values() for name in loss.required + loss.optional)}
)
"""What a datum may hold: the inputs of all losses, whichever of them is asked for."""


def choose(name: str, config: Mapping[str, float | str]) -> tuple[Loss, Config]:
    """A loss and its whole settings.

    Raises:
        BadRequest: there is no such loss, or it has no such setting.
    """
    if name == "custom":
        raise BadRequest(
            "this server runs no custom loss: forward_backward_custom computes it in the client"
        )
    if name not in LOSSES:
        raise BadRequest(f"there is no loss {name!r}. {nearest(name, LOSSES)}")
    loss = LOSSES[name]
    given: dict[str, float] = {}
    for key, value in config.items():
        if key not in loss.settings:
            takes = ", ".join(loss.settings) or "none"
            raise BadRequest(f"the loss {name} has no setting {key!r}; it takes {takes}")
        if isinstance(value, str):
            raise BadRequest(f"the loss {name} wants a number as {key}, not {value!r}")
        given[key] = value
    return loss, {**loss.settings, **given}
