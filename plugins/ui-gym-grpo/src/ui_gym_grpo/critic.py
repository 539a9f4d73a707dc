"""The critic of PPO: a value for each token, read off the policy's own hidden states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ui_gym_agents.episode import TokenRecord
from ui_gym_agents.policy import VLMPolicy
from ui_gym_agents.training.tensors import (
    load_optimizer,
    load_tensors,
    save_optimizer,
    save_tensors,
)
from ui_gym_grpo.config import CriticSettings


class Critic:
    """A two-layer head on the last hidden states, which it does not send gradients into.

    The value of a token is the expected return in the state before it. The last layer starts at
    zero, so that all values do.
    """

    def __init__(self, policy: VLMPolicy, settings: CriticSettings, *, seed: int = 0) -> None:
        self._policy = policy
        width = settings.width
        size = policy.base.get_output_embeddings().weight.shape[1]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            first, last = nn.Linear(size, width), nn.Linear(width, 1)
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
        scale = nn.LayerNorm(size, elementwise_affine=False)
        self.head = nn.Sequential(scale, first, nn.Tanh(), last)
        self.head.to(policy.device)
        self.optimizer = torch.optim.AdamW(self.head.parameters(), lr=settings.lr, weight_decay=0.0)

    def states(
        self,
        records: Sequence[TokenRecord],
        screenshots: Any,
        owners: Sequence[int] | None = None,
    ) -> list[Tensor]:
        """The hidden state before each output token: (tokens, width) float32, one a record.

        Where memory runs out, smaller batches take over; with several processes each does its
        share, that of `owners` (`VLMPolicy.measure`), and all get all.
        """

        def look(part: list[int]) -> list[Tensor]:
            chosen = [records[i] for i in part]
            with self._listening() as heard:
                # One pass a row: answers' states then lie in one piece.
                self._policy.logprobs(chosen, screenshots, share=False)
            rows = torch.cat(heard) if len(heard) > 1 else heard[0]
            kept = zip(rows, chosen, strict=True)
            return [row[: len(record.output_ids)].float() for row, record in kept]

        device = self._policy.device
        found = self._policy.measure(records, look, owners=owners)
        return [state.to(device) for state in found]

    def values(self, states: Tensor) -> Tensor:
        """Values (tokens,) of hidden states (tokens, width)."""
        found: Tensor = self.head(states)[..., 0]
        return found

    def fit(
        self, states: Tensor, targets: Tensor, *, epochs: int, minibatch: int, seed: int
    ) -> dict[str, float]:
        """Regress values on `targets` (tokens,); returns the loss and the variance explained."""
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            left = float((targets - self.values(states)).var(correction=0))
            whole = float(targets.var(correction=0))
        losses = []
        for _ in range(epochs):
            order = torch.randperm(len(targets), generator=generator).to(targets.device)
            for part in order.split(minibatch):
                loss = 0.5 * (self.values(states[part]) - targets[part]).square().mean()
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(self.head.parameters(), 1.0)
                self.optimizer.step()
                losses.append(float(loss.detach()))
        return {
            "value_loss": sum(losses) / max(1, len(losses)),
            "explained_variance": 1 - left / whole if whole > 0 else 0.0,
        }

    def save(self, directory: Path) -> None:
        """Write the head and its optimizer."""
        save_tensors(directory / "critic.safetensors", self.head.state_dict())
        save_optimizer(self.optimizer, directory / "critic_optimizer.safetensors")

    def load(self, directory: Path) -> None:
        """Become what `save` wrote, to the bit."""
        tensors: Mapping[str, Tensor] = load_tensors(directory / "critic.safetensors")
        self.head.load_state_dict(dict(tensors))
        load_optimizer(self.optimizer, directory / "critic_optimizer.safetensors")

    @contextmanager
    def _listening(self) -> Iterator[list[Tensor]]:
        """What the output layer is given, while this is open."""
        heard: list[Tensor] = []
        layer: nn.Module = self._policy.base.get_output_embeddings()
        handle = layer.register_forward_pre_hook(lambda _, given: heard.append(given[0].detach()))
        try:
            yield heard
        finally:
            handle.remove()
