"""Before the first gradient step: what the learner itself makes of turns that others sampled.

Old weights sampled some turns (asynchronous collection, replay), and a server samples with kernels
and a precision of its own, so that its log-probabilities are not the learner's even where the
weights are the same. Such turns are scored again: the ratio of the loss starts at 1, and the
distance to the sampler is a weight with a cap and a band (`update`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from ui_gym_agents.groups.gathering import LearningTurn
from ui_gym_agents.policy import VLMPolicy
from ui_gym_grpo.update import Rule, trust

Episodes = list[list[LearningTurn]]


def rebased(
    policy: VLMPolicy, episodes: Episodes, screenshots: Any, rule: Rule
) -> tuple[Episodes, dict[str, float]]:
    """Episodes with the policy's present log-probabilities where others sampled, and metrics.

    Where the rule has a KL term, all turns get those of the policy that training began with as
    well.
    """
    turns = [turn for episode in episodes for turn in episode]
    served = policy.processes.from_main(lambda: policy.sampler is not None)
    old = [turn.record.version != policy.version for turn in turns]
    again = [index for index in range(len(turns)) if served or old[index]]
    for index, before in zip(again, _scored(policy, turns, again, screenshots), strict=True):
        turns[index] = replace(turns[index], before=before)
    if rule.kl:
        with policy.reference():
            references = _scored(policy, turns, range(len(turns)), screenshots)
        turns = [replace(t, reference=r) for t, r in zip(turns, references, strict=True)]
    metrics = mismatch([turns[index] for index in again], rule)
    if any(old):
        metrics["stale_turns"] = sum(old) / len(turns)
    following = iter(turns)
    return [[next(following) for _ in episode] for episode in episodes], metrics


def _scored(
    policy: VLMPolicy, turns: Sequence[LearningTurn], which: Sequence[int], screenshots: Any
) -> list[tuple[float, ...]]:
    records = [turns[index].record for index in which]

    def score(part: list[int]) -> list[tuple[float, ...]]:
        values = policy.logprobs([records[i] for i in part], screenshots)
        return [tuple(row.tolist()) for row in values]

    return policy.measure(records, score, owners=[turns[index].owner for index in which])


def mismatch(turns: Sequence[LearningTurn], rule: Rule) -> dict[str, float]:
    """How far the learner is from who sampled `turns`, over their tokens; nothing without any.

    With d the learner's log-probability less the sampler's, in nats: the largest and the mean |d|,
    k3 = mean of exp(d) - d - 1, which estimates KL(sampler || learner) (Schulman 2020), and the
    effective sample size (sum w)^2 / (n sum w^2) in [0, 1] of the weights w that the loss uses.
    """
    lengths = torch.tensor([len(turn.record.output_ids) for turn in turns], dtype=torch.int64)
    if not int(lengths.sum()):
        return {}
    before = torch.tensor([p for t in turns for p in t.before or ()], dtype=torch.float64)
    sampled = torch.tensor([p for t in turns for p in t.record.logprobs], dtype=torch.float64)
    drift = before - sampled
    weights, _ = trust(drift, lengths, [turn.replayed for turn in turns], rule)
    squares = float(weights.square().sum())
    return {
        "logprob_gap": float(drift.abs().max()),
        "logprob_gap_mean": float(drift.abs().mean()),
        "logprob_k3": float((drift.exp() - drift - 1).mean()),
        "effective_sample_size": float(weights.sum()) ** 2 / (len(weights) * squares)
        if squares
        else 0.0,
    }
