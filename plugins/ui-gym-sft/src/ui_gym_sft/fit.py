"""Fitting: AdamW on the weighted log-likelihood of the examples' tokens.

The loss of a batch is the sum over its tokens of -w log p(token), in nats, divided by the sum of
the weights w; micro-batches add up to it. Early stopping is by the same loss on held-out examples:
the best weights so far are kept, and taken back (Prechelt 1998, "Early stopping - but when?").
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ui_gym_agents.episode import TokenRecord
from ui_gym_agents.policy.dealing import deal
from ui_gym_agents.policy.images import ScreenshotSource
from ui_gym_agents.policy.masters import adamw
from ui_gym_agents.training.context import TrainerContext
from ui_gym_agents.training.tensors import (
    load_optimizer,
    load_tensors,
    save_optimizer,
    save_tensors,
)
from ui_gym_sft.config import SFTConfig
from ui_gym_sft.data import Example, weighed


class Best:
    """The lowest held-out loss so far, the weights that had it, and how long ago that was."""

    def __init__(self) -> None:
        self.loss = math.inf
        self.waited = 0
        self.weights: list[Tensor] = []

    def note(self, loss: float, parameters: Sequence[Tensor]) -> None:
        """Take in the loss after another epoch."""
        if loss < self.loss:
            self.loss, self.waited = loss, 0
            self.weights = [parameter.detach().clone() for parameter in parameters]
        else:
            self.waited += 1

    @torch.no_grad()
    def restore(self, parameters: Sequence[Tensor]) -> None:
        """Give the parameters their best values back."""
        for parameter, value in zip(parameters, self.weights, strict=True):
            parameter.copy_(value)

    def save(self, directory: Path) -> None:
        """Write ``best.json`` and ``best.safetensors``, where anything was noted."""
        if not self.weights:
            return
        text = json.dumps({"loss": self.loss, "waited": self.waited})
        (directory / "best.json").write_text(text)
        save_tensors(
            directory / "best.safetensors", {str(i): w for i, w in enumerate(self.weights)}
        )

    def load(self, directory: Path, parameters: Sequence[Tensor]) -> None:
        """Take over what `save` wrote."""
        path = directory / "best.json"
        if path.is_file():
            saved = json.loads(path.read_text())
            self.loss, self.waited = saved["loss"], saved["waited"]
            tensors = load_tensors(directory / "best.safetensors")
            self.weights = [tensors[str(i)].to(p.device) for i, p in enumerate(parameters)]


class Fitter:
    """The optimizer and what goes on around it."""

    def __init__(self, config: SFTConfig, context: TrainerContext) -> None:
        self.config = config
        self.context = context
        self.policy = context.policy
        self.optimizer = self._fresh()
        self.best = Best()
        self._began = 0
        """The number of updates when the present optimizer was made."""

    def _fresh(self) -> torch.optim.AdamW:
        return adamw(
            self.policy.parameters(),
            lr=self.config.lr,
            beta2=self.config.beta2,
            weight_decay=self.config.weight_decay,
        )

    # -- one step --

    def fit(
        self,
        examples: Sequence[Example],
        heldout: Sequence[Example],
        screenshots: ScreenshotSource,
        *,
        run_best: bool = False,
    ) -> dict[str, float]:
        """Fit `examples` for `epochs`, or until the loss of `heldout` has stopped falling.

        With `run_best`, the best weights are looked for over all steps, and it is the caller who
        takes them back; else in this step alone.

        Returns:
            Metrics: losses in nats a token, means over the gradient steps.
        """
        if self.config.reset_optimizer:
            self.optimizer, self._began = self._fresh(), self.policy.version
        records = [record for e in examples for record in weighed(e, self.config.weigh)]
        owners = [e.owner for e in examples for _ in e.records]
        if not run_best:
            self.best = Best()
        before = self._loss(heldout, screenshots)
        if before is not None and not self.best.weights:
            self.best.note(before, self.policy.parameters())
        rows: list[tuple[float, float]] = []
        after, epochs = before, 0
        for epoch in range(self.config.epochs):
            rows += self._epoch(records, owners, epoch, screenshots)
            epochs += 1
            after = self._loss(heldout, screenshots)
            if after is not None:
                self.best.note(after, self.policy.parameters())
                if self.exhausted:
                    break
        if self.config.early_stop_after and heldout and not run_best:
            self.best.restore(self.policy.parameters())
            after = self.best.loss
        metrics = {
            "loss": float(np.mean([loss for loss, _ in rows])),
            "grad_norm": float(np.mean([norm for _, norm in rows])),
            "lr": self.optimizer.param_groups[0]["lr"],
            "updates": self.policy.version,
            "epochs": epochs,
        }
        if before is not None and after is not None:
            metrics |= {"heldout_loss_before": before, "heldout_loss": after}
        return metrics

    @property
    def exhausted(self) -> bool:
        """Whether the held-out loss has not fallen for `early_stop_after` epochs."""
        return 0 < self.config.early_stop_after <= self.best.waited

    def _epoch(
        self,
        records: Sequence[TokenRecord],
        owners: Sequence[int],
        epoch: int,
        screenshots: ScreenshotSource,
    ) -> list[tuple[float, float]]:
        """One pass over the records in a new order; (loss, norm) of each gradient step."""
        return [
            self._update([records[i] for i in part], [owners[i] for i in part], screenshots)
            for part in minibatches(self.config, self.context, epoch, len(records))
        ]

    def _update(
        self, batch: list[TokenRecord], owners: list[int], screenshots: ScreenshotSource
    ) -> tuple[float, float]:
        """One gradient step; the loss is a mean over the weights of all tokens of the batch."""
        total = _weight(batch)
        self.policy.train()
        self.optimizer.zero_grad(set_to_none=True)

        def add(part: list[int]) -> float:
            value, _ = self.policy.supervised_loss([batch[i] for i in part], screenshots)
            (value / total).backward()
            return value.item() / total

        loss = 0.0
        for value in self.policy.accumulate(batch, add, owners=owners):
            loss += value
        parameters: list[Any] = list(self.policy.parameters())
        norm = float(torch.nn.utils.clip_grad_norm_(parameters, self.config.clip))
        self.policy.eval()
        if math.isfinite(norm):  # else the host stops at the metrics, and the weights stay whole
            self.optimizer.param_groups[0]["lr"] = self._learning_rate()
            self.optimizer.step()
            self.policy.version += 1
        return loss, norm

    def _loss(self, examples: Sequence[Example], screenshots: ScreenshotSource) -> float | None:
        """The loss of held-out examples, in nats a token; None if there are none.

        The same number in every process: whether fitting goes on hangs on it.
        """
        if not examples:
            return None
        records = [record for e in examples for record in weighed(e, self.config.weigh)]
        owners = [e.owner for e in examples for _ in e.records]

        def score(part: list[int]) -> list[float]:
            chosen = [records[i] for i in part]
            scored = self.policy.logprobs(chosen, screenshots, temperature=1.0)
            weights = [record.weights or (1.0,) * len(record.output_ids) for record in chosen]
            return [float(-p @ p.new_tensor(w)) for p, w in zip(scored, weights, strict=True)]

        return sum(self.policy.measure(records, score, owners=owners)) / _weight(records)

    def _learning_rate(self) -> float:
        """Linear warm-up, then a cosine over the run: in its last step, `final_lr` of the peak."""
        config = self.config
        updates = self.policy.version - self._began
        if updates < config.warmup:
            return config.lr * (updates + 1) / config.warmup
        done = min(1.0, (self.context.step - 1) / max(1, self.context.config.run.steps - 1))
        cosine = 0.5 * (1 + math.cos(math.pi * done))
        return config.lr * (config.final_lr + (1 - config.final_lr) * cosine)

    # -- state --

    def save(self, directory: Path) -> None:
        """Write adapter (or model), optimizer, the counter of updates, and the best weights."""
        self.policy.save(directory)
        path = directory / "optimizer.safetensors"
        save_optimizer(self.optimizer, path, step=self.policy.version)
        if self.config.path is not None and self.config.early_stop_after:
            self.best.save(directory)

    def load(self, directory: Path) -> None:
        """Continue from what `save` wrote."""
        self.policy.load(directory)
        path = directory / "optimizer.safetensors"
        self.policy.version = load_optimizer(self.optimizer, path)
        self.best.load(directory, self.policy.parameters())


def minibatches(
    config: SFTConfig, context: TrainerContext, epoch: int, count: int
) -> list[list[int]]:
    """Numbers of the records of each minibatch of a pass over `count` records."""
    seed = context.derive("shuffle", context.step, epoch)
    order = np.random.default_rng(seed).permutation(count).tolist()
    size = config.batch_size
    return [order[start : start + size] for start in range(0, count, size)]


def dealt(examples: Sequence[Example], config: SFTConfig, context: TrainerContext) -> list[Example]:
    """Examples that say which process learns from them; the held-out ones, which measures them."""
    count = context.processes.count
    if count == 1:
        return list(examples)
    fitted = [i for i, e in enumerate(examples) if not e.heldout for _ in e.records]
    loads: list[dict[int, int]] = [
        {0: sum(map(_size, e.records))} if e.heldout else {} for e in examples
    ]
    sizes = [_size(r) for e in examples if not e.heldout for r in e.records]
    passes = [minibatches(config, context, n, len(fitted)) for n in range(config.epochs)]
    for number, batch in enumerate(chain.from_iterable(passes), start=1):
        for record in batch:
            load = loads[fitted[record]]
            load[number] = load.get(number, 0) + sizes[record]
    return [
        replace(example, owner=owner)
        for example, owner in zip(examples, deal(loads, count), strict=True)
    ]


def _size(record: TokenRecord) -> int:
    return len(record.prompt_ids) + len(record.output_ids)


def _weight(records: Sequence[TokenRecord]) -> float:
    return sum(sum(record.weights) or len(record.output_ids) for record in records)
