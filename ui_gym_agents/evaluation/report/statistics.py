"""The figures of evaluations: intervals of success rates, over runs as well, and pass@k.

Sources: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", 1927
(the interval); E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small
expected number of positive counts estimated from survey data", 1998 (the effective sample size);
M. Chen et al., "Evaluating Large Language Models Trained on Code", arXiv:2107.03374 (pass@k).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

Z95 = 1.959964
"""The two-sided 95 % quantile of the normal distribution."""

T95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""The two-sided 95 % quantile of Student's t, by degrees of freedom from 1 on."""

Counts = Sequence[tuple[int, int]]
"""For each instance: how many episodes were played of it, and how many of these succeeded."""


def wilson(successes: float, n: float, z: float = Z95) -> tuple[float, float]:
    """The 95 % score interval of a proportion (Wilson 1927), which holds near 0 and 1 too.

    Neither number need be whole: see `interval`.
    """
    if n <= 0:
        return 0.0, 1.0
    rate = successes / n
    middle = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def interval(counts: Counts) -> tuple[float, float]:
    """The 95 % interval of the success rate over all episodes of `counts`.

    It is Wilson's, where each instance was played once. Several episodes of one instance are no
    independent draws, so that Wilson's is then taken at their effective number (`effective_n`).
    """
    n, wins = sum(n for n, _ in counts), sum(wins for _, wins in counts)
    if not n:
        return wilson(0, 0)
    size = effective_n(counts)
    return wilson(wins, n) if size == n else wilson(wins / n * size, size)


def effective_n(counts: Counts) -> float:
    """How many independent episodes say as much about the rate as those of `counts` do.

    ``p (1 - p) / v``, with `v` the variance of the rate as the instances show it (the ratio
    estimator's, over clusters); at least the number of instances, and at most that of episodes.
    """
    counts = [(n, wins) for n, wins in counts if n]
    n, wins, clusters = sum(n for n, _ in counts), sum(wins for _, wins in counts), len(counts)
    if clusters == n:
        return n
    rate = wins / n
    residuals = sum((won - rate * played) ** 2 for played, won in counts)
    if clusters < 2 or not 0 < rate < 1:
        return clusters  # nothing is seen of how much instances differ: the cautious end
    variance = clusters / (clusters - 1) * residuals / n**2
    return n if variance == 0 else min(float(n), max(float(clusters), rate * (1 - rate) / variance))


def pass_at_k(n: int, successes: int, k: int) -> float:
    """The unbiased estimate of the chance that one of `k` episodes of an instance succeeds.

    ``1 - C(n - c, k) / C(n, k)`` (Chen et al. 2021, equation 1), from `n` episodes of which `c`
    succeeded.

    Raises:
        ValueError: not ``1 <= k <= n`` or not ``0 <= successes <= n``.
    """
    if not (1 <= k <= n and 0 <= successes <= n):
        raise ValueError(f"pass@{k} cannot be told from {successes} successes in {n} episodes")
    return 1 - math.comb(n - successes, k) / math.comb(n, k)


def pass_rates(counts: Counts) -> dict[int, float]:
    """pass@k, the mean over instances, for 1, 2, 4... and the most episodes of an instance.

    An instance with fewer than k episodes (others of it failed) has no part in pass@k.
    """
    most = max((n for n, _ in counts), default=0)
    powers = [2**i for i in range(most.bit_length())]
    rates = {}
    for k in sorted({*(k for k in powers if k <= most), most} - {0}):
        known = [pass_at_k(n, wins, k) for n, wins in counts if n >= k]
        rates[k] = sum(known) / len(known)
    return rates


def mean_and_half(values: Sequence[float]) -> tuple[float, float]:
    """The mean of independent values, and half of its 95 % interval (Student's t).

    Raises:
        ValueError: there are fewer than two.
    """
    if len(values) < 2:
        raise ValueError("the interval of a mean needs two values")
    freedom = len(values) - 1
    quantile = T95[freedom - 1] if freedom <= len(T95) else Z95
    spread = statistics.stdev(values) / math.sqrt(len(values))
    return statistics.mean(values), quantile * spread


def over_runs(rates: Sequence[float], episodes: int) -> tuple[float, float, float]:
    """The mean of several runs' rates, each over the same `episodes`, and its 95 % interval.

    It is Student's t over the runs, cut at 0 and 1, and nowhere narrower than Wilson's over the
    episodes: runs that happen to agree say no more than these do.

    Raises:
        ValueError: there are fewer than two.
    """
    mean, half = mean_and_half(rates)
    low, high = wilson(mean * episodes, episodes)
    return mean, max(0.0, min(low, mean - half)), min(1.0, max(high, mean + half))


def percent(rate: float | None, unknown: str = "unknown") -> str:
    """``12.3 %``, or what stands for a rate that is not known."""
    return unknown if rate is None else f"{100 * rate:.1f} %"
