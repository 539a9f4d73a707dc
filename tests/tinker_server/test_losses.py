"""Each loss against float64 numpy, and its gradient against central differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from ui_gym_tinker.server.errors import BadRequest
from ui_gym_tinker.server.losses import LOSSES, choose

Numbers = np.ndarray

SAMPLING = np.array([-2.0, -0.3, -1.1, -4.0, -0.7, 0.0, -0.9])
TARGET = np.array([-1.2, -0.31, -1.9, -4.1, -0.05, -7.0, -0.8])
ADVANTAGES = np.array([1.5, -0.7, 0.4, -2.0, 0.9, 0.0, -1.0])
"""The last but one is a prompt's token: what was sampled there is nothing."""

WEIGHTS = np.array([1.0, 0.5, 0.0, 2.0, -1.0, 0.0, 0.25])
MASK = np.array([1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0])


def plain(x: Numbers, at: Numbers) -> float:
    return float(-(WEIGHTS * x).sum())


def weighted(x: Numbers, at: Numbers) -> float:
    return float(-(np.exp(x - SAMPLING) * ADVANTAGES).sum())


def clipped(low: float, high: float) -> Callable[[Numbers, Numbers], float]:
    def loss(x: Numbers, at: Numbers) -> float:
        ratio = np.exp(x - SAMPLING)
        cut = np.clip(ratio, low, high)
        return float(-np.minimum(ratio * ADVANTAGES, cut * ADVANTAGES).sum())

    return loss


def cispo(x: Numbers, at: Numbers) -> float:
    return float(-(np.clip(np.exp(at - SAMPLING), 0.8, 1.2) * x * ADVANTAGES).sum())


def dro(x: Numbers, at: Numbers) -> float:
    far = np.where(ADVANTAGES != 0, (x - SAMPLING) ** 2, 0)
    return float(-(x * ADVANTAGES - 0.5 * 0.3 * far).sum())


def gspo(x: Numbers, at: Numbers) -> float:
    mean = (at - SAMPLING)[MASK != 0].mean()
    ratio = np.exp(mean + x - at)
    cut = np.clip(ratio, 0.7, 1.3)
    return float(-np.minimum(ratio * ADVANTAGES, cut * ADVANTAGES).sum())


def stable(x: Numbers, at: Numbers) -> float:
    weight = np.minimum(np.exp(at - SAMPLING), 1)
    far = np.where(ADVANTAGES != 0, 0.5 * (x - SAMPLING) ** 2, 0)
    return float((-weight * x * ADVANTAGES + 0.1 * far).sum())


CASES = [
    ("cross_entropy", {}, plain),
    ("importance_sampling", {}, weighted),
    ("ppo", {}, clipped(0.8, 1.2)),
    ("ppo", {"clip_low_threshold": 0.5, "clip_high_threshold": 3.0}, clipped(0.5, 3.0)),
    ("cispo", {}, cispo),
    ("dro", {"beta": 0.3}, dro),
    ("gspo", {"clip_low_threshold": 0.7, "clip_high_threshold": 1.3}, gspo),
    ("stable_reinforce", {"kl_coeff": 0.1}, stable),
]


@pytest.mark.parametrize(("name", "config", "expected"), CASES)
def test_a_loss_and_its_gradient_are_those_of_numpy(
    name: str, config: dict[str, float], expected: Callable[[Numbers, Numbers], float]
) -> None:
    loss, settings = choose(name, config)
    target = torch.tensor(TARGET, dtype=torch.float64, requires_grad=True)
    inputs = {
        "weights": WEIGHTS, "logprobs": SAMPLING, "advantages": ADVANTAGES,
        "sequence_ratio_mask": MASK,
    }  # fmt: skip
    taken = {k: torch.tensor(inputs[k]) for k in (*loss.required, *loss.optional) if k in inputs}
    total = loss.term(target, taken, settings).sum()
    total.backward()  # type: ignore[no-untyped-call]
    assert total.item() == pytest.approx(expected(TARGET, TARGET), rel=1e-12)
    assert target.grad is not None
    for place in range(len(TARGET)):
        step = np.zeros_like(TARGET)
        step[place] = 1e-6
        slope = (expected(TARGET + step, TARGET) - expected(TARGET - step, TARGET)) / 2e-6
        assert target.grad[place].item() == pytest.approx(slope, abs=1e-7)


def test_every_loss_is_among_the_cases() -> None:
    assert {name for name, _, _ in CASES} == set(LOSSES)


def test_thresholds_may_be_given_for_each_token() -> None:
    loss, settings = choose("ppo", {})
    target = torch.tensor([0.0, 0.0, 0.0])
    inputs = {
        "logprobs": torch.tensor([-1.0, -1.0, -1.0]),
        "advantages": torch.ones(3),
        "clip_high_threshold": torch.tensor([1.1, 2.0, 9.0]),
    }
    found = -loss.term(target, inputs, settings)
    assert found.tolist() == pytest.approx([1.1, 2.0, float(np.e)])


def test_a_token_that_counts_for_nothing_cannot_overflow() -> None:
    loss, settings = choose("importance_sampling", {})
    target = torch.tensor([0.0, -1.0], requires_grad=True)
    inputs = {"logprobs": torch.tensor([-500.0, -1.0]), "advantages": torch.tensor([0.0, 1.0])}
    total = loss.term(target, inputs, settings).sum()
    total.backward()  # type: ignore[no-untyped-call]
    assert total.item() == -1
    assert target.grad is not None
    assert target.grad.tolist() == [0, -1]


@pytest.mark.parametrize(
    ("name", "config", "told"),
    [
        ("pppo", {}, "Did you mean 'ppo'"),
        ("custom", {"loss_id": "1"}, "in the client"),
        ("ppo", {"beta": 1.0}, "no setting 'beta'; it takes clip_low_threshold"),
        ("dro", {"beta": "much"}, "wants a number as beta"),
    ],
)
def test_what_is_no_loss_is_refused(name: str, config: dict[str, float | str], told: str) -> None:
    with pytest.raises(BadRequest, match=told):
        choose(name, config)
