"""Sampling answers in batches, each row by its own seed.

The distribution is ``softmax(logits / temperature)`` with the structural tokens at zero, in single
precision or better: no top-k and no top-p, so that the learner can compute exactly the same
log-probabilities. A row draws one uniform number a token from a generator of its own and takes
the token at that quantile; what its neighbours in the batch are makes no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ui_gym_agents.policy.decode import lean
from ui_gym_agents.policy.forward import Forward, Prefix


@dataclass(frozen=True)
class Sample:
    """One answer: its ids with the end token, their log-probabilities, and whether it was cut."""

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    truncated: bool


def log_distribution(logits: Tensor, temperature: Tensor | float, suppressed: Tensor) -> Tensor:
    """Log-probabilities, float32, of the distribution that answers are sampled from.

    `temperature` is a number or broadcasts to `logits`; at 0, where only the best token is ever
    taken, the log-probabilities are those at 1. `suppressed` (vocabulary,) is true for ids that
    are never sampled.
    """
    scores = logits.float().masked_fill(suppressed, float("-inf"))
    if isinstance(temperature, Tensor):
        scores = scores / torch.where(temperature > 0, temperature, 1.0)
    elif temperature not in (0, 1):
        scores = scores / temperature
    return torch.log_softmax(scores, dim=-1)


def uniforms(noise: int, count: int) -> np.ndarray:
    """`count` numbers in [0, 1), a function of `noise` alone. Philox: cheap to seed."""
    return np.random.Generator(np.random.Philox(key=noise % 2**128)).random(count)


@torch.inference_mode()
def sample(
    forward: Forward,
    prefix: Prefix,
    *,
    noise: Sequence[int],
    temperature: float,
    max_new_tokens: int,
    stops: Sequence[int],
    suppressed: Tensor,
) -> list[Sample]:
    """Sample an answer for each row of `prefix`, up to the first of `stops`, which is kept."""
    device = prefix.logits.device
    draws = torch.from_numpy(np.stack([uniforms(n, max_new_tokens) for n in noise])).to(device)
    ends = torch.tensor(list(stops), device=device)
    going = torch.ones(len(noise), dtype=torch.bool, device=device)
    logits, tokens, logprobs = prefix.logits, [], []
    decode = decoder(forward, prefix)
    for step in range(max_new_tokens):
        logp = log_distribution(logits, temperature, suppressed)
        token = logp.argmax(-1) if temperature == 0 else quantile(logp, draws[:, step])
        tokens.append(token)
        logprobs.append(logp.gather(-1, token[:, None])[:, 0])
        going &= ~torch.isin(token, ends)
        if step + 1 == max_new_tokens or not going.any():
            break
        logits = decode(token, step)
    return _samples(torch.stack(tokens, 1), torch.stack(logprobs, 1), set(stops))


def decoder(forward: Forward, prefix: Prefix) -> Callable[[Tensor, int], Tensor]:
    """Gives the logits after each row's next token, so many of whose answer are done."""
    quick = lean(forward.model, prefix)
    if quick is not None:
        return quick.step
    return lambda token, done: forward.extend(prefix, token[:, None], done=done)[:, -1]


def quantile(logp: Tensor, u: Tensor) -> Tensor:
    """The first token at which the cumulated probability exceeds ``u`` of its total.

    Double precision: in single, the sum over a large vocabulary would lose small probabilities.
    A token of probability zero is never taken.
    """
    cumulated = logp.double().exp().cumsum(-1)
    target = u[:, None] * cumulated[:, -1:]
    return torch.searchsorted(cumulated, target, right=True).clamp_(max=logp.shape[-1] - 1)[:, 0]


def _samples(tokens: Tensor, logprobs: Tensor, stops: set[int]) -> list[Sample]:
    answers = []
    for ids, values in zip(tokens.tolist(), logprobs.tolist(), strict=True):
        end = next((i + 1 for i, token in enumerate(ids) if token in stops), None)
        length = end or len(ids)
        answers.append(Sample(tuple(ids[:length]), tuple(values[:length]), end is None))
    return answers
