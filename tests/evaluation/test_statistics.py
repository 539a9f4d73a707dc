"""Intervals and pass@k, against independent computations."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from ui_gym_agents.evaluation.report.statistics import (
    T95,
    effective_n,
    interval,
    mean_and_half,
    over_runs,
    pass_at_k,
    pass_rates,
    wilson,
)


@pytest.mark.parametrize(("n", "successes"), [(5, 0), (5, 2), (5, 5), (8, 3)])
def test_pass_at_k_is_the_share_of_all_choices_of_k_that_hold_a_success(
    n: int, successes: int
) -> None:
    played = [index < successes for index in range(n)]
    for k in range(1, n + 1):
        chosen = list(combinations(played, k))
        assert pass_at_k(n, successes, k) == pytest.approx(sum(map(any, chosen)) / len(chosen))


@pytest.mark.parametrize(("n", "successes", "k"), [(3, 1, 4), (3, 1, 0), (3, 4, 1)])
def test_pass_at_k_of_too_few_episodes_is_refused(n: int, successes: int, k: int) -> None:
    with pytest.raises(ValueError, match=f"pass@{k} cannot be told"):
        pass_at_k(n, successes, k)


def test_pass_rates_are_means_over_the_instances_that_have_enough_episodes() -> None:
    rates = pass_rates([(6, 3), (6, 0), (1, 1)])
    assert list(rates) == [1, 2, 4, 6]
    assert rates[1] == pytest.approx((0.5 + 0 + 1) / 3)
    assert rates[2] == pytest.approx(0.8 / 2)
    assert rates[6] == 0.5
    assert pass_rates([]) == {}


def test_instances_that_were_played_once_have_wilsons_interval() -> None:
    counts = [(1, 1)] * 30 + [(1, 0)] * 10
    assert effective_n(counts) == 40
    assert interval(counts) == wilson(30, 40)


def test_attempts_that_always_agree_say_no_more_than_one() -> None:
    counts = [(8, 8)] * 15 + [(8, 0)] * 5
    assert effective_n(counts) == 20
    assert interval(counts) == pytest.approx(wilson(15, 20))
    assert effective_n([(4, 4)] * 5) == 5
    assert interval([]) == (0.0, 1.0)


def test_the_interval_holds_the_true_rate_as_often_as_it_promises() -> None:
    """Instances of very different difficulty, eight attempts each, 400 times over."""
    rng = np.random.default_rng(0)

    def holds(clustered: bool) -> bool:
        rates = rng.beta(0.5, 0.5, size=40)  # mean 0.5
        counts = [(8, int(wins)) for wins in rng.binomial(8, rates)]
        naive = wilson(sum(wins for _, wins in counts), 320)
        low, high = interval(counts) if clustered else naive
        return low <= 0.5 <= high

    assert sum(holds(True) for _ in range(400)) >= 0.92 * 400
    assert sum(holds(False) for _ in range(400)) < 0.80 * 400


@pytest.mark.parametrize(("freedom", "quantile"), list(enumerate(T95, start=1)))
def test_students_quantiles_hold_95_percent(freedom: int, quantile: float) -> None:
    """By integrating the density, whose constant is the ratio of two gamma functions."""
    log = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    scale = math.exp(log) / math.sqrt(freedom * math.pi)
    ends = np.linspace(-quantile, quantile, 20_001)
    density = scale * (1 + ends**2 / freedom) ** (-(freedom + 1) / 2)
    assert np.trapezoid(density, ends) == pytest.approx(0.95, abs=1e-4)


@pytest.mark.parametrize(("rate", "runs"), [(0.0, 3), (0.5, 3), (1.0, 3), (0.5, 40)])
def test_runs_that_agree_say_no_more_than_their_episodes(rate: float, runs: int) -> None:
    assert over_runs([rate] * runs, 200) == pytest.approx((rate, *wilson(200 * rate, 200)))


def test_the_interval_over_runs_is_cut_at_its_ends() -> None:
    assert over_runs([0.0, 0.1], 200) == (0.05, 0.0, pytest.approx(0.05 + 12.706 * 0.05))
    assert over_runs([0.9, 1.0], 200)[2] == 1.0
    with pytest.raises(ValueError, match="needs two values"):
        mean_and_half([0.5])
