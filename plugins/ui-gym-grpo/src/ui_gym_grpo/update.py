"""The update rule, in one file: what a turn's tokens cost.

For a token with log-probability p now, p_0 when this step's learning began and p_b when it was
sampled, r = exp(p - p_0) and advantage A, the losses are

- ``ppo_clip``: -min(r A, clip(r, 1 - low, 1 + high) A) (Schulman et al. 2017, arXiv:1707.06347);
- ``gspo``: the same with the geometric mean of r over the turn (Zheng et al. 2025,
  arXiv:2507.18071), a turn of n tokens counting n times;
- ``cispo``: -sg(min(r, 1 + high)) A p (MiniMax-M1 2025, arXiv:2506.13585);
- ``reinforce``: -A p;
- another one, of `registry`: what its function of `Tokens` says.

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
  0, k3 (Schulman 2020) to the policy that training began with is added to every token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ui_gym.errors import UserError
from ui_gym_agents.groups.gathering import Advantage
from ui_gym_grpo.registry import BUILT_IN_LOSSES, LOSSES, TokenLoss
from ui_gym_grpo.tokens import Tokens, turn_means


@dataclass(frozen=True)
class Rule:
    """What a token costs; see the module."""

    loss: str = "ppo_clip"
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
    """Under the policy that training began with, where the rule has a KL term."""
    weight: float = 1.0
    """What each token's loss is multiplied by."""
    replayed: bool = False
    """It counts outside the band as well."""


def policy_loss(turns: Sequence[Scored], rule: Rule) -> Losses:
    """The summed loss of all tokens of all turns.

    Raises:
        UserError: there is no such loss, or it gave something else than a cost for each token.
    """
    now = torch.cat([turn.now for turn in turns])
    lengths = torch.tensor([len(turn.sampled) for turn in turns], device=now.device)
    before = _flat([_before(turn) for turn in turns], like=now)
    tokens = Tokens(
        now, before, _advantages(turns, lengths, now), lengths, rule.low, rule.high, rule.dual_clip
    )
    chosen = loss_named(rule.loss)
    loss = chosen.cost(tokens)
    if not isinstance(loss, Tensor) or loss.shape != now.shape:
        what = tuple(loss.shape) if isinstance(loss, Tensor) else loss
        raise UserError(
            f"the loss {rule.loss!r} gave {what!r}: it gives a cost for each token, shape "
            f"{tuple(now.shape)}"
        )
    kept, stale, masked = _corrected(turns, lengths, rule, like=now)
    if kept is not None:
        loss = loss * kept
    kl = 0.0
    if rule.kl:
        k3 = _k3(turns, now)
        loss, kl = loss + rule.kl * k3, float(k3.detach().sum())
    if any(turn.weight != 1.0 for turn in turns):
        loss = loss * _flat([[turn.weight] * len(turn.sampled) for turn in turns], like=now)
    with torch.no_grad():
        low, high = chosen.clipped(tokens) if chosen.clipped else _nothing_clipped(tokens)
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


def loss_named(name: str) -> TokenLoss:
    """A built-in loss, or another's of `registry`. `UserError` where there is none."""
    return _BUILT_IN.get(name) or LOSSES.find(name, BUILT_IN_LOSSES)


def _clipped_cost(tokens: Tokens, ratio: Tensor) -> Tensor:
    free = ratio * tokens.advantage
    bound = ratio.clamp(1 - tokens.low, 1 + tokens.high) * tokens.advantage
    gained = torch.minimum(free, bound)
    if tokens.dual_clip is not None:
        worst = torch.maximum(gained, tokens.dual_clip * tokens.advantage)
        gained = torch.where(tokens.advantage < 0, worst, gained)
    return -gained


def _clipped_of(tokens: Tokens, ratio: Tensor) -> tuple[Tensor, Tensor]:
    low = (ratio < 1 - tokens.low) & (tokens.advantage < 0)
    high = (ratio > 1 + tokens.high) & (tokens.advantage > 0)
    if tokens.dual_clip is not None:
        high = high | (tokens.advantage < 0) & (ratio > tokens.dual_clip)
    return low, high


def _cispo(tokens: Tokens) -> Tensor:
    weight = tokens.ratio.clamp(max=1 + tokens.high).detach()
    return -(weight * tokens.advantage * tokens.now)


def _cispo_clipped(tokens: Tokens) -> tuple[Tensor, Tensor]:
    above = tokens.ratio > 1 + tokens.high
    return torch.zeros_like(above), above


def _nothing_clipped(tokens: Tokens) -> tuple[Tensor, Tensor]:
    none = torch.zeros_like(tokens.now, dtype=torch.bool)
    return none, none


_BUILT_IN: Mapping[str, TokenLoss] = {
    "ppo_clip": TokenLoss(
        lambda tokens: _clipped_cost(tokens, tokens.ratio),
        clipped=lambda tokens: _clipped_of(tokens, tokens.ratio),
    ),
    "gspo": TokenLoss(
        lambda tokens: _clipped_cost(tokens, tokens.turn_ratio),
        clipped=lambda tokens: _clipped_of(tokens, tokens.turn_ratio),
    ),
    "cispo": TokenLoss(_cispo, clipped=_cispo_clipped),
    "reinforce": TokenLoss(lambda tokens: -(tokens.advantage * tokens.now)),
}
"""Their usual clips are in `config.CLIPS`, which needs no torch."""


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
    mean = turn_means(drift, lengths).exp()
    anyhow = torch.tensor(replayed, device=drift.device).repeat_interleave(lengths)
    inside = (mean >= rule.band[0]) & (mean <= rule.band[1]) | anyhow
    return drift.exp().clamp(max=rule.cap) * inside, inside


def _k3(turns: Sequence[Scored], now: Tensor) -> Tensor:
    """exp(d) - d - 1 with d = reference - now: estimates KL(now || reference), never below 0."""
    reference = torch.cat([turn.reference for turn in turns if turn.reference is not None])
    distance = reference - now
    return distance.exp() - distance - 1


def _flat(rows: Sequence[Sequence[float]], like: Tensor) -> Tensor:
    return torch.tensor([v for row in rows for v in row], dtype=like.dtype, device=like.device)
