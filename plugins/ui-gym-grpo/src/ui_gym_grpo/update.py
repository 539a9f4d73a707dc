"""The update rule, in one file: what a turn's tokens cost.

For a token with log-probability p now, p_0 when this step's learning began and p_b when it was
sampled, r = exp(p - p_0) and advantage A, the losses are

- ``ppo_clip``: -min(r A, clip(r, 1 - low, 1 + high) A) (Schulman et al. 2017, arXiv:1707.06347);
- ``gspo``: the same with the geometric mean of r over the turn (Zheng et al. 2025,
  arXiv:2507.18071), a turn of n tokens counting n times;
- ``cispo``: -sg(min(r, 1 + high)) A p (MiniMax-M1 2025, arXiv:2506.13585);
- ``reinforce``: -A p.

Data that this process sampled with the present policy has p_0 = p_b. Older data (asynchronous
collection, replay) and a server's (other kernels, another precision) has not: its losses are
weighed by sg(min(exp(p_0 - p_b), cap)), truncated importance sampling (Espeholt et al.
2018, arXiv:1802.01561; the decoupled form of Hilton et al. 2022, arXiv:2110.00641), and a turn is
left out where the geometric mean of exp(p_0 - p_b) lies outside a band.

A replayed turn has no band: its episode is the only success of its group, whose failures would
else be made less likely with nothing likelier in their place. The cap bounds its weight, and where
the policy has left it far behind, the weight is small by itself.

Departures of the defaults from the GRPO paper (Shao et al. 2024, arXiv:2402.03300):

- The advantage is the reward over the mean of the *others'* (`advantages.leave_one_out`), not
  divided by the group's standard deviation, which would inflate lopsided groups (Dr. GRPO).
- The upper clip is wider than the lower (DAPO, Yu et al. 2025, arXiv:2503.14476); `gspo` and
  `cispo` have clips of their own (`config.CLIPS`).
- Token losses are summed over an episode and divided by a constant, then averaged over episodes:
  neither long answers nor long episodes weigh less per token.
- Groups without variance are left out by the caller and replaced (DAPO's dynamic sampling).
- No KL term: the clip and the adapter's small rank keep the policy near its start. With `kl` above
  0, k3 (Schulman 2020) to the model with its adapter off is added to every token.
- Turns that were cut at the limit of new tokens are left out of the loss by the caller
  (`mask_truncated`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

LossName = Literal["ppo_clip", "gspo", "cispo", "reinforce"]

Advantage = float | Sequence[float]
"""Of a turn, or of each of its tokens."""


@dataclass(frozen=True)
class Rule:
    """What a token costs; see the module."""

    loss: LossName = "ppo_clip"
    low: float = 0.2
    high: float = 0.28
    dual_clip: float | None = None
    """A token with a negative advantage costs at most this times its size (Ye et al. 2020,
    arXiv:1912.09729). None: no such bound."""
    cap: float = 2.0
    band: tuple[float, float] = (0.5, 2.0)
    kl: float = 0.0


@dataclass
class Losses:
    """Sums over tokens; the caller divides.

    `loss` is differentiable. `clipped_low` and `clipped_high` count the tokens that the loss clips,
    by side: whose gradient stops or, for `cispo`, whose weight is bounded; `gap` is the largest
    distance of p and p_0; `surprise` the sum of -p; `kl` the sum of k3 to the reference; `stale`
    counts the turns that others sampled, `masked` those of them that lie outside the band.
    """

    loss: Tensor
    tokens: int
    clipped_low: int
    clipped_high: int
    gap: float
    surprise: float
    kl: float = 0.0
    stale: int = 0
    masked: int = 0


@dataclass(frozen=True)
class Scored:
    """A turn as the loss takes it. Log-probabilities are in nats, one for each output token."""

    now: Tensor
    """Under the policy as it is, with gradients."""
    sampled: Sequence[float]
    advantage: Advantage
    before: Sequence[float] | None = None
    """Under the policy when this step's learning began; None where it was sampled by it."""
    reference: Tensor | None = None
    """Under the model without its adapter, where the rule has a KL term."""
    weight: float = 1.0
    """What each token's loss is multiplied by."""
    replayed: bool = False
    """It counts outside the band as well."""


def policy_loss(turns: Sequence[Scored], rule: Rule) -> Losses:
    """The summed loss of all tokens of all turns."""
    now = torch.cat([turn.now for turn in turns])
    lengths = torch.tensor([len(turn.sampled) for turn in turns], device=now.device)
    before = _flat([_before(turn) for turn in turns], like=now)
    advantage = _advantages(turns, lengths, now)
    drift = _turn_means(now - before, lengths) if rule.loss == "gspo" else now - before
    ratio = torch.exp(drift)
    free = ratio * advantage
    bound = ratio.clamp(1 - rule.low, 1 + rule.high) * advantage
    if rule.loss in ("ppo_clip", "gspo"):
        gained = torch.minimum(free, bound)
        if rule.dual_clip is not None:
            worst = torch.maximum(gained, rule.dual_clip * advantage)
            gained = torch.where(advantage < 0, worst, gained)
    elif rule.loss == "cispo":
        gained = ratio.clamp(max=1 + rule.high).detach() * advantage * now
    else:
        gained = advantage * now
    kept, stale, masked = _corrected(turns, lengths, rule, like=now)
    if kept is not None:
        gained = gained * kept
    loss, kl = -gained, 0.0
    if rule.kl:
        k3 = _k3(turns, now)
        loss, kl = loss + rule.kl * k3, float(k3.detach().sum())
    if any(turn.weight != 1.0 for turn in turns):
        loss = loss * _flat([[turn.weight] * len(turn.sampled) for turn in turns], like=now)
    low, high = _clipped(ratio.detach(), advantage, rule)
    return Losses(
        loss=loss.sum(),
        tokens=now.numel(),
        clipped_low=int(low.sum()),
        clipped_high=int(high.sum()),
        gap=float((now - before).detach().abs().max()) if now.numel() else 0.0,
        surprise=float(-now.detach().sum()),
        kl=kl,
        stale=stale,
        masked=masked,
    )


def _clipped(ratio: Tensor, advantage: Tensor, rule: Rule) -> tuple[Tensor, Tensor]:
    """Which tokens the loss clips, from below and from above."""
    below, above = ratio < 1 - rule.low, ratio > 1 + rule.high
    if rule.loss == "cispo":
        return torch.zeros_like(above), above
    if rule.loss == "reinforce":
        return torch.zeros_like(below), torch.zeros_like(above)
    low, high = below & (advantage < 0), above & (advantage > 0)
    if rule.dual_clip is not None:
        high = high | (advantage < 0) & (ratio > rule.dual_clip)
    return low, high


def _before(turn: Scored) -> Sequence[float]:
    return turn.sampled if turn.before is None else turn.before


def _advantages(turns: Sequence[Scored], lengths: Tensor, like: Tensor) -> Tensor:
    if all(isinstance(turn.advantage, float | int) for turn in turns):
        each = torch.tensor(
            [turn.advantage for turn in turns], dtype=like.dtype, device=like.device
        )
        return each.repeat_interleave(lengths)
    rows = [
        [turn.advantage] * len(turn.sampled)
        if isinstance(turn.advantage, float | int)
        else turn.advantage
        for turn in turns
    ]
    return _flat(rows, like=like)


def _corrected(
    turns: Sequence[Scored], lengths: Tensor, rule: Rule, like: Tensor
) -> tuple[Tensor | None, int, int]:
    """What others' data counts, a weight for each token; how many turns that is, and left out."""
    stale = [turn.before is not None for turn in turns]
    if not any(stale):
        return None, 0, 0
    sampled = _flat([turn.sampled for turn in turns], like=like)
    before = _flat([_before(turn) for turn in turns], like=like)
    weights, inside = trust(before - sampled, lengths, [turn.replayed for turn in turns], rule)
    first = torch.cumsum(lengths, 0) - lengths
    masked = int((~inside[first[lengths > 0]]).sum())
    return weights, sum(stale), masked


def trust(
    drift: Tensor, lengths: Tensor, replayed: Sequence[bool], rule: Rule
) -> tuple[Tensor, Tensor]:
    """The weight of each token by p_0 - p_b (`drift`), and whether its turn counts at all.

    `lengths` are the turns' tokens; turns that are `replayed` have no band.
    """
    mean = _turn_means(drift, lengths).exp()
    anyhow = torch.tensor(replayed, device=drift.device).repeat_interleave(lengths)
    inside = (mean >= rule.band[0]) & (mean <= rule.band[1]) | anyhow
    return drift.exp().clamp(max=rule.cap) * inside, inside


def _k3(turns: Sequence[Scored], now: Tensor) -> Tensor:
    """exp(d) - d - 1 with d = reference - now: estimates KL(now || reference), never below 0."""
    reference = torch.cat([turn.reference for turn in turns if turn.reference is not None])
    distance = reference - now
    return distance.exp() - distance - 1


def _turn_means(values: Tensor, lengths: Tensor) -> Tensor:
    """The mean over each turn, at each of its tokens."""
    rows = torch.arange(len(lengths), device=values.device).repeat_interleave(lengths)
    sums = torch.zeros(len(lengths), dtype=values.dtype, device=values.device)
    sums = sums.index_add(0, rows, values)
    return (sums / lengths.clamp(min=1))[rows]


def _flat(rows: Sequence[Sequence[float]], like: Tensor) -> Tensor:
    return torch.tensor([v for row in rows for v in row], dtype=like.dtype, device=like.device)
