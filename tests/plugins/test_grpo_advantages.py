"""Advantages: of episodes in a group, of turns, of tokens."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_gym_agents.groups.advantages import (
    GROUPED,
    TurnStates,
    discounted,
    leave_one_out,
    step_advantages,
    token_advantages,
    turn_advantages,
)

rewards = st.lists(st.floats(-2, 2), min_size=2, max_size=9)


def test_an_advantage_is_the_reward_less_the_mean_of_the_others() -> None:
    assert leave_one_out([1, 0, 0, 0]) == pytest.approx([1, -1 / 3, -1 / 3, -1 / 3])
    assert sum(leave_one_out([0.2, 0.9, 0.4])) == pytest.approx(0)
    assert leave_one_out([1, 1, 1]) == [0, 0, 0]


@pytest.mark.parametrize("name", ["rloo", "grpo"])
def test_a_group_of_one_has_no_others(name: str) -> None:
    with pytest.raises(ValueError, match="at least two"):
        GROUPED[name]([1.0])


@given(rewards)
def test_the_three_are_one_up_to_a_factor(values: list[float]) -> None:
    count = len(values)
    centred = np.array(GROUPED["dr_grpo"](values))
    assert centred.sum() == pytest.approx(0, abs=1e-9)
    assert GROUPED["rloo"](values) == pytest.approx((centred * count / (count - 1)).tolist())
    spread = float(np.std(values, ddof=1)) + 1e-6
    assert GROUPED["grpo"](values) == pytest.approx((centred / spread).tolist())


def test_a_turn_is_compared_with_the_groups_other_turns_from_its_state() -> None:
    # Both start in a; one goes by b to a success, the other by c to nothing and comes back to a.
    group = [TurnStates(["a", "b"], [0, 1.0]), TurnStates(["a", "c", "a"], [0, 0, 0])]
    found = step_advantages(group, gamma=0.5)
    mean = 0.5 / 3
    assert found[0] == pytest.approx([0.5 - mean, 0])
    assert found[1] == pytest.approx([-mean, 0, -mean])


def test_rewards_are_discounted_backwards() -> None:
    assert discounted([1, 0, 4], 0.5) == [2, 2, 4]
    assert discounted([], 0.5) == []


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=8), st.floats(0, 1), st.integers(0, 99))
def test_gae_lies_between_one_step_and_the_whole_return(
    gains: list[float], gamma: float, seed: int
) -> None:
    values = np.random.default_rng(seed).normal(size=len(gains)).tolist()
    following = [*values[1:], 0.0]
    one_step = [r + gamma * n - v for r, n, v in zip(gains, following, values, strict=True)]
    assert turn_advantages(gains, values, gamma=gamma, lam=0) == pytest.approx(one_step)
    whole = [g - v for g, v in zip(discounted(gains, gamma), values, strict=True)]
    assert turn_advantages(gains, values, gamma=gamma, lam=1) == pytest.approx(whole, abs=1e-9)


@given(
    st.lists(st.floats(-1, 1), min_size=1, max_size=8),
    st.floats(0, 1), st.floats(0, 1), st.integers(0, 99),
)  # fmt: skip
def test_gae_is_the_fading_sum_of_the_critics_errors(
    gains: list[float], gamma: float, lam: float, seed: int
) -> None:
    values = np.random.default_rng(seed).normal(size=len(gains) + 1)
    errors = np.array(gains) + gamma * values[1:] - values[:-1]
    expected = [
        sum((gamma * lam) ** ahead * error for ahead, error in enumerate(errors[turn:]))
        for turn in range(len(gains))
    ]
    found = turn_advantages(gains, values[:-1].tolist(), gamma=gamma, lam=lam, last=values[-1])
    assert found == pytest.approx(expected, abs=1e-9)


def test_a_cut_episode_goes_on_from_a_value() -> None:
    assert turn_advantages([0], [0.2], gamma=0.5, lam=1, last=2.0) == pytest.approx([0.8])


def test_what_a_turn_returned_comes_with_its_last_token() -> None:
    assert token_advantages(1.0, [0.2, 0.5, 0.9]) == pytest.approx([0.8, 0.5, 0.1])
    assert token_advantages(1.0, [0.2, 0.5], lam=0) == pytest.approx([0.3, 0.5])
