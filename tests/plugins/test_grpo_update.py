"""The update rule against an independent computation in float64."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch

from ui_gym_grpo.config import GRPOConfig
from ui_gym_grpo.update import Rule, Scored, policy_loss

NAMES = ("ppo_clip", "gspo", "cispo", "reinforce")


@dataclass
class Case:
    """Turns as plain numbers: log-probabilities now, when learning began, when sampled."""

    now: list[np.ndarray]
    before: list[np.ndarray]
    sampled: list[np.ndarray]
    advantages: list[float | list[float]]
    weights: list[float]
    stale: list[bool]

    def scored(self, now: list[torch.Tensor], reference: bool = False) -> list[Scored]:
        return [
            Scored(
                now=now[i],
                sampled=(self.sampled if self.stale[i] else self.before)[i].tolist(),
                advantage=self.advantages[i],
                before=self.before[i].tolist() if self.stale[i] else None,
                reference=torch.tensor(self.sampled[i]) if reference else None,
                weight=self.weights[i],
            )
            for i in range(len(now))
        ]

    def tensors(self) -> list[torch.Tensor]:
        return [torch.tensor(row, dtype=torch.float64, requires_grad=True) for row in self.now]


def case(seed: int, *, stale: bool = False, tokenwise: bool = False) -> Case:
    rng = np.random.default_rng(seed)
    lengths = (3, 1, 5, 2)
    before = [rng.normal(-1, 0.5, size=n) for n in lengths]
    advantages: list[float | list[float]] = [0.7, -0.4, 1.0, -1.3]
    if tokenwise:
        advantages = [rng.normal(size=n).tolist() for n in lengths]
    return Case(
        now=[p + rng.normal(0, 0.5, size=p.shape) for p in before],
        before=before,
        sampled=[p + rng.normal(0, 0.9, size=p.shape) for p in before],
        advantages=advantages,
        weights=rng.uniform(0.5, 2, size=4).tolist(),
        stale=[stale, False, stale, stale],
    )


def expected(case: Case, now: list[np.ndarray], rule: Rule, *, fixed: list[np.ndarray]) -> float:
    """The loss, token by token; `fixed` stands where a gradient is stopped."""
    total = 0.0
    for i, p in enumerate(now):
        q, b = case.before[i], (case.sampled if case.stale[i] else case.before)[i]
        trust = np.minimum(np.exp(q - b), rule.cap) if case.stale[i] else np.ones(len(p))
        mean = np.exp(np.mean(q - b))
        if case.stale[i] and not rule.band[0] <= mean <= rule.band[1]:
            trust = np.zeros(len(p))
        for t in range(len(p)):
            given = case.advantages[i]
            a = given[t] if isinstance(given, list) else given
            r = np.exp(np.mean(p - q)) if rule.loss == "gspo" else np.exp(p[t] - q[t])
            if rule.loss == "reinforce":
                gain = a * p[t]
            elif rule.loss == "cispo":
                gain = min(np.exp(fixed[i][t] - q[t]), 1 + rule.high) * a * p[t]
            else:
                gain = min(r * a, min(max(r, 1 - rule.low), 1 + rule.high) * a)
                if rule.dual_clip is not None and a < 0:
                    gain = max(gain, rule.dual_clip * a)
            cost = -gain * trust[t]
            if rule.kl:
                d = case.sampled[i][t] - p[t]
                cost += rule.kl * (np.exp(d) - d - 1)
            total += cost * case.weights[i]
    return float(total)


def check(case: Case, rule: Rule) -> None:
    given = case.tensors()
    found = policy_loss(case.scored(given, reference=bool(rule.kl)), rule)
    assert found.loss.item() == pytest.approx(
        expected(case, case.now, rule, fixed=case.now), abs=1e-9
    )
    found.loss.backward()
    step = 1e-6
    for turn, tensor in enumerate(given):
        assert tensor.grad is not None
        for token in range(len(tensor)):
            up, down = ([p.copy() for p in case.now] for _ in range(2))
            up[turn][token] += step
            down[turn][token] -= step
            rise = [expected(case, rows, rule, fixed=case.now) for rows in (up, down)]
            slope = (rise[0] - rise[1]) / (2 * step)
            assert tensor.grad[token].item() == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("stale", [False, True], ids=["fresh", "stale"])
@pytest.mark.parametrize("seed", range(3))
def test_the_loss_and_its_gradient_are_the_reference(name: str, stale: bool, seed: int) -> None:
    check(case(seed, stale=stale), Rule(loss=name))


@pytest.mark.parametrize(
    "rule",
    [Rule(dual_clip=1.5), Rule(kl=0.3), Rule(cap=1.1, band=(0.9, 1.1)), Rule(low=0.05, high=0.05)],
    ids=["dual clip", "kl", "trust", "narrow"],
)
def test_its_parts_are_the_reference(rule: Rule) -> None:
    for seed in range(3):
        check(case(seed, stale=True), rule)


@pytest.mark.parametrize("name", NAMES)
def test_tokens_may_have_advantages_of_their_own(name: str) -> None:
    check(case(5, stale=True, tokenwise=True), Rule(loss=name))


@pytest.mark.parametrize("name", NAMES)
def test_on_policy_the_gradient_is_reinforces(name: str) -> None:
    told = case(0)
    told.now = told.before
    told.weights = [1.0] * 4
    given = told.tensors()
    found = policy_loss(told.scored(given), Rule(loss=name))
    found.loss.backward()
    for tensor, advantage in zip(given, told.advantages, strict=True):
        assert tensor.grad is not None
        assert torch.allclose(tensor.grad, torch.full_like(tensor, -advantage))
    assert (found.gap, found.clipped_low, found.clipped_high, found.stale) == (0.0, 0, 0, 0)


def one(now: list[float], advantage: float) -> tuple[torch.Tensor, Scored]:
    tensor = torch.tensor(now, dtype=torch.float64, requires_grad=True)
    return tensor, Scored(tensor, [-1.0] * len(now), advantage)


def test_the_clip_stops_what_has_gone_far_enough_and_nothing_else() -> None:
    tensor, turn = one([0.0, -2.0], 1.0)
    found = policy_loss([turn], Rule())
    found.loss.backward()
    assert tensor.grad is not None
    assert tensor.grad[0] == 0  # already likelier by more than the upper clip
    assert tensor.grad[1] < 0  # less likely than it was: pulled back
    assert (found.clipped_low, found.clipped_high) == (0, 1)
    _, turn = one([0.0, -2.0], -1.0)
    found = policy_loss([turn], Rule())
    assert (found.clipped_low, found.clipped_high) == (1, 0)


def test_old_turns_outside_the_band_teach_nothing() -> None:
    tensor, turn = one([-1.0, -1.0], 1.0)
    far = replace(turn, sampled=[-3.0, -3.0], before=[-1.0, -1.0])
    found = policy_loss([far], Rule())
    found.loss.backward()
    assert tensor.grad is not None
    assert not tensor.grad.any()
    assert (found.stale, found.masked) == (1, 1)


@pytest.mark.parametrize("name", NAMES)
def test_splitting_a_batch_changes_nothing(name: str) -> None:
    told, rule = case(3, stale=True), Rule(loss=name, kl=0.1)
    whole = policy_loss(told.scored(told.tensors(), reference=True), rule)
    parts = [policy_loss([turn], rule) for turn in told.scored(told.tensors(), reference=True)]
    number: Callable[[Any], float] = lambda v: v.item() if isinstance(v, torch.Tensor) else v  # noqa: E731
    total: Callable[[str], float] = lambda key: sum(number(getattr(p, key)) for p in parts)  # noqa: E731
    for key in ("loss", "tokens", "surprise", "kl", "stale", "masked", "clipped_low"):
        assert number(getattr(whole, key)) == pytest.approx(total(key))


# -- what each loss clips --


@pytest.mark.parametrize(
    ("loss", "clips"),
    [("ppo_clip", (0.2, 0.28)), ("gspo", (3e-4, 4e-4)), ("cispo", (1.0, 4.0))],
)
def test_each_loss_has_the_clips_of_its_paper_unless_told(
    loss: str, clips: tuple[float, float]
) -> None:
    assert GRPOConfig(loss=loss).clips == clips
    assert GRPOConfig(loss=loss, clip_high=0.1).clips == (clips[0], 0.1)
    assert GRPOConfig(loss=loss, clip_low=0.1, clip_high=0.3).clips == (0.1, 0.3)


def clipped(now: list[float], advantage: float, **rule: Any) -> tuple[int, int, int]:
    """Tokens clipped low and high, and how many have no gradient."""
    tensor, turn = one(now, advantage)
    found = policy_loss([turn], Rule(**rule))
    found.loss.backward()
    assert tensor.grad is not None
    return found.clipped_low, found.clipped_high, int((tensor.grad == 0).sum())


def test_clipped_tokens_are_those_that_the_loss_clips() -> None:
    far = [1.0, -3.0, -1.0]  # much likelier, much less likely, as it was
    for advantage in (1.0, -1.0):
        assert clipped(far, advantage, loss="reinforce") == (0, 0, 0)
        # Its weight is bounded from above, whatever the advantage; all keep a gradient.
        assert clipped(far, advantage, loss="cispo", high=4.0) == (0, 1, 0)
        assert clipped(far, advantage, loss="cispo", high=9.0) == (0, 0, 0)
    assert clipped(far, 1.0) == (0, 1, 1)
    assert clipped(far, -1.0) == (1, 0, 1)
    assert clipped(far, -1.0, dual_clip=3.0) == (1, 1, 2)
    assert clipped([-0.9995, -0.9995], 1.0, loss="gspo", low=3e-4, high=4e-4) == (0, 2, 2)
