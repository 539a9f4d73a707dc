"""The log-probabilities of recorded answers, under the distribution that they were sampled from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from ui_gym_agents.episode import TokenRecord
from ui_gym_agents.policy.eyes import Features
from ui_gym_agents.policy.forward import Forward, Prompt
from ui_gym_agents.policy.generation import log_distribution
from ui_gym_agents.policy.merging import Merged, merge


def score(
    forward: Forward,
    records: Sequence[TokenRecord],
    features: Mapping[str, Features],
    suppressed: Tensor,
    *,
    temperature: float | None = None,
    share: bool | None = None,
    merge_turns: bool = False,
    one_pass: bool = False,
) -> list[Tensor]:
    """A value, in nats, of each output token of `records`, which are one micro-batch.

    `temperature` stands for each record's own; `share` forces or forbids one pass for equal
    prompts. With `merge_turns`, unless `share` is given, turns that extend each other are one row.
    With `one_pass` prompts are never shared, which takes a pass for them and one for the answers.
    """
    if merge_turns and share is None:
        sequences = merge(records)
        if len(sequences) < len(records):
            logits = forward.sequence_logits(sequences, features)
            return _merged(records, sequences, logits, suppressed, temperature)
    prompts = [Prompt(r.prompt_ids, r.images) for r in records]
    answers = [r.output_ids for r in records]
    share = False if one_pass else share
    rows, ids = forward.answer_logits(prompts, answers, features, share=share)
    own = [r.temperature if temperature is None else temperature for r in records]
    scale = torch.tensor(own, device=rows.device)[:, None, None]
    logp = log_distribution(rows, scale, suppressed)
    picked = logp.gather(-1, ids[..., None])[..., 0]
    return [picked[row, : len(answer)] for row, answer in enumerate(answers)]


def weighed(
    scored: Sequence[Tensor], records: Sequence[TokenRecord], device: torch.device
) -> tuple[Tensor, float]:
    """The sum of the negative values of `scored`, each with its record's weights, and of those."""
    total, weight = torch.zeros((), device=device), 0.0
    for record, values in zip(records, scored, strict=True):
        weights = record.weights or (1.0,) * len(record.output_ids)
        total = total - values @ torch.tensor(weights, device=values.device)
        weight += sum(weights)
    return total, weight


def _merged(
    records: Sequence[TokenRecord],
    sequences: Sequence[Merged],
    logits: Sequence[Sequence[Tensor]],
    suppressed: Tensor,
    temperature: float | None,
) -> list[Tensor]:
    found: dict[int, Tensor] = {}
    for sequence, answers in zip(sequences, logits, strict=True):
        for index, rows in zip(sequence.members, answers, strict=True):
            record = records[index]
            scale = record.temperature if temperature is None else temperature
            logp = log_distribution(rows, scale, suppressed)
            ids = torch.tensor(record.output_ids, device=logp.device)
            found[index] = logp.gather(-1, ids[:, None])[:, 0]
    return [found[i] for i in range(len(records))]
