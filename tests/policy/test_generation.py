"""Drawing tokens."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from ui_gym_agents.policy.generation import log_distribution, quantile, uniforms


@pytest.mark.parametrize(("u", "token"), [(0.0, 1), (0.49, 1), (0.5, 3), (0.999, 3)])
def test_a_quantile_never_lands_on_a_token_of_probability_zero(u: float, token: int) -> None:
    logp = torch.tensor([[0.0, 0.5, 0.0, 0.5, 0.0]]).log()
    assert quantile(logp, torch.tensor([u], dtype=torch.float64)).tolist() == [token]


def test_the_distribution_is_a_softmax_without_the_suppressed() -> None:
    logits = torch.tensor([[1.0, 9.0, 2.0]])
    suppressed = torch.tensor([False, True, False])
    for temperature, sharpness in [(1.0, 1.0), (0.5, 2.0), (0.0, 1.0)]:
        weights = np.exp(np.array([1.0, 2.0]) * sharpness)
        for given in (temperature, torch.tensor([[temperature]])):
            found = log_distribution(logits, given, suppressed).exp()[0]
            assert found.tolist() == pytest.approx(
                [weights[0] / weights.sum(), 0.0, weights[1] / weights.sum()]
            )


def test_noise_of_any_size_seeds_its_own_numbers() -> None:
    seeds = [0, 1, 2**63, 2**127 + 5, -1]
    assert len({uniforms(seed, 1)[0] for seed in seeds}) == len(seeds)
    assert (uniforms(7, 9)[:4] == uniforms(7, 4)).all()
