"""A training run: an adapter, its gradients so far, and AdamW."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from ui_gym.errors import UserError
from ui_gym_agents.episode import TokenRecord
from ui_gym_agents.policy.accumulation import accumulate
from ui_gym_tinker.server.adapters import Adapter
from ui_gym_tinker.server.errors import BadRequest
from ui_gym_tinker.server.hosted import HostedModel
from ui_gym_tinker.server.inputs import ShownInput
from ui_gym_tinker.server.losses import Config, Loss
from ui_gym_tinker.server.scoring import logits_of, logprobs_of

if TYPE_CHECKING:
    from ui_gym_agents.policy.sharding import Shards

_Work = Callable[[list[int]], list[tuple[int, float, Tensor]]]
"""A micro-batch's pass, by numbers of data: of each its number, loss and log-probabilities."""


@dataclass(frozen=True)
class TrainingDatum:
    """A datum as the model learns from it: `targets` (tokens,) or (tokens, choices), int64, and
    what the loss takes, each float32 and of that shape."""

    shown: ShownInput
    targets: Tensor
    inputs: Mapping[str, Tensor]


@dataclass(frozen=True)
class Passed:
    """What a pass gave: the loss, a sum, and each example's log-probabilities, on the CPU."""

    loss: float
    logprobs: list[Tensor]


@dataclass(frozen=True)
class AdamSettings:
    """The settings of a step of AdamW, as `AdamParams` of the SDK says them."""

    learning_rate: float
    beta1: float
    beta2: float
    eps: float
    weight_decay: float
    grad_clip_norm: float


class TrainingRun:
    """An adapter that learns. For the thread that computes."""

    def __init__(self, model: HostedModel, adapter: Adapter) -> None:
        self.model = model
        self.adapter = adapter
        self.steps = 0
        self.optimizer = self._new_optimizer()

    def _new_optimizer(self) -> torch.optim.AdamW:
        return torch.optim.AdamW(self.adapter.parameters, lr=1e-4, weight_decay=0.0)

    @property
    def nbytes(self) -> int:
        """Bytes of the adapter, its gradients and the two moments of the optimizer."""
        return 4 * self.adapter.nbytes

    # -- passes --

    def forward(self, data: Sequence[TrainingDatum], loss: Loss, config: Config) -> Passed:
        """The loss and the log-probabilities, without gradients."""

        def work(part: list[int]) -> list[tuple[int, float, Tensor]]:
            with torch.no_grad():
                return self._scored([data[i] for i in part], part, loss, config)[0]

        return self._passed(data, work, learns=False)

    def forward_backward(self, data: Sequence[TrainingDatum], loss: Loss, config: Config) -> Passed:
        """As `forward`, and the gradients are added to those so far. All of them, or none."""

        def work(part: list[int]) -> list[tuple[int, float, Tensor]]:
            found, total = self._scored([data[i] for i in part], part, loss, config)
            total.backward()
            return found

        return self._passed(data, work, learns=True)

    def _scored(
        self, data: Sequence[TrainingDatum], part: Sequence[int], loss: Loss, config: Config
    ) -> tuple[list[tuple[int, float, Tensor]], Tensor]:
        device, suppressed = self.model.device, self.model.policy.suppressed
        total = torch.zeros((), device=device)
        found = []
        logits = logits_of(self.model, [example.shown for example in data])
        for number, example, rows in zip(part, data, logits, strict=True):
            target = logprobs_of(rows, example.targets.to(device), suppressed)
            inputs = {name: value.to(device) for name, value in example.inputs.items()}
            own = loss.term(target, inputs, config).sum()
            total = total + own
            found.append((number, float(own.detach()), target.detach().cpu()))
        return found, total

    def _passed(self, data: Sequence[TrainingDatum], work: _Work, *, learns: bool) -> Passed:
        if not data:
            raise BadRequest("there are no data: send one datum at least")
        with self.model.learning(self.adapter) as slot:
            batches = _Batches(self.model, slot if learns else [])
            records = [TokenRecord(e.shown.prompt.ids, ()) for e in data]
            try:
                rows = accumulate(batches, records, work, threaded=learns)
            except UserError as error:
                raise BadRequest(_no_room(error, data)) from None
            finally:
                self.model.policy.batch_tokens = batches.batch_tokens
            found = sorted((one for row in rows for one in row), key=lambda one: one[0])
            total = sum(loss for _, loss, _ in found)
            if not torch.tensor(total).isfinite():
                raise BadRequest(
                    f"the loss is {total}: look at the datum's logprobs, advantages and weights. "
                    "No gradient was kept of this request"
                )
            if learns:
                self._keep(slot)
        return Passed(total, [logprobs for _, _, logprobs in found])

    def _keep(self, slot: Sequence[nn.Parameter]) -> None:
        for own, part in zip(self.adapter.parameters, slot, strict=True):
            if part.grad is None:
                continue
            own.grad = part.grad if own.grad is None else own.grad.add_(part.grad)

    # -- steps --

    def step(self, settings: AdamSettings) -> dict[str, float]:
        """A step of AdamW by the gradients so far, which are gone afterwards; measures of it.

        Raises:
            BadRequest: the gradients are not finite; they are gone, and nothing else happened.
        """
        parameters = self.adapter.parameters
        given = [p.grad for p in parameters if p.grad is not None]
        norm = float(torch.nn.utils.get_total_norm(given)) if given else 0.0
        if not torch.tensor(norm).isfinite():
            self.optimizer.zero_grad()
            raise BadRequest(
                "the gradients are not finite, and were dropped; the weights are as they were"
            )
        if settings.grad_clip_norm > 0:
            torch.nn.utils.clip_grad_norm_(parameters, settings.grad_clip_norm)
        for group in self.optimizer.param_groups:
            group.update(
                lr=settings.learning_rate,
                betas=(settings.beta1, settings.beta2),
                eps=settings.eps,
                weight_decay=settings.weight_decay,
            )
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.adapter.version += 1
        self.steps += 1
        return {"grad_norm:mean": norm}

    def forget_optimizer(self) -> None:
        """Begin with a new optimizer and no gradients: other weights were loaded."""
        for parameter in self.adapter.parameters:
            parameter.grad = None
        self.optimizer = self._new_optimizer()


class _Batches:
    """What `accumulate` needs to know: data in batches of rows of similar lengths."""

    shards: Shards | None = None

    def __init__(self, model: HostedModel, trained: Sequence[nn.Parameter]) -> None:
        self.batch_tokens = model.policy.batch_tokens
        self.lanes = model.policy.lanes
        self._trained = list(trained)

    def batches(self, records: Sequence[TokenRecord]) -> list[list[int]]:
        """Indices in batches of at most `batch_tokens` tokens, the padding included."""
        found: list[list[int]] = []
        order = sorted(range(len(records)), key=lambda i: len(records[i].prompt_ids))
        for i in order:
            if found and (len(found[-1]) + 1) * len(records[i].prompt_ids) <= self.batch_tokens:
                found[-1].append(i)
            else:
                found.append([i])
        return found

    def parameters(self) -> list[nn.Parameter]:
        return self._trained

    def idle(self) -> None:
        """Nobody waits for another process here."""


def _no_room(error: UserError, data: Sequence[TrainingDatum]) -> str:
    if isinstance(error, BadRequest):
        return str(error)
    longest = max(len(example.shown) for example in data)
    return (
        f"there is no memory for one datum alone; the longest has {longest} tokens: shorten it, "
        "or make its pictures smaller"
    )
