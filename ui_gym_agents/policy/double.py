"""A policy's double, which asks a server while the policy itself learns on.

A policy that samples in its own process needs a copy of all weights for that. One whose `sampler`
is a server needs none: the server has them, and is given the adapter as it was when laid out.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from ui_gym_agents.policy import lora
from ui_gym_agents.policy.policy import VLMPolicy


class ServedDouble(VLMPolicy):
    """Asks the sampler of `policy`, with a version, an adapter and a tokenizer of its own.

    It shares the model's weights with `policy`, and neither reads nor changes them: they are in the
    middle of a gradient step as like as not.
    """

    def __init__(self, policy: VLMPolicy) -> None:
        self.__dict__.update(vars(policy))
        memo: dict[int, Any] = {}
        self.processor = copy.deepcopy(policy.processor, memo)
        self.tokenizer = self.processor.tokenizer
        self.encoder = copy.deepcopy(policy.encoder, memo)
        self._weights: Mapping[str, Tensor] = {}

    def take(self, version: int, weights: Mapping[str, Tensor]) -> None:
        """Ask with these weights of the adapter (`lora.weights`) from now on."""
        self.version, self._weights = version, weights

    def save(self, folder: Path) -> None:
        """Write the adapter that was taken last, in PEFT's layout."""
        lora.save(self.net, folder, self.name, self._weights)  # type: ignore[arg-type]
