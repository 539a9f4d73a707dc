"""Rewards: their formulas and parameters, and the metrics of episodes that they are made of."""

from __future__ import annotations

import math
from typing import Any

import paint  # noqa: F401 - registers its tasks
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_gym.errors import UserError
from ui_gym_agents.episode import Episode, Turn
from ui_gym_agents.rewards import REWARDS, format_term, get_reward
from ui_gym_agents.store import from_json, to_json

KINDS = [None, "parse", "name", "argument", "runtime"]


def episode(*errors: str | None, **fields: Any) -> Episode:
    """An episode with a turn for each error or None, every one with its own picture."""
    turns = [Turn(f"p{i}", f"say {i}", action_error=e) for i, e in enumerate(errors)]
    return Episode("UI/PaintText-v0", 1, "do it", turns, **fields)


def value(name: str, played: Episode, **parameters: float) -> float:
    return get_reward(name)(played, parameters)


def test_success_and_completion_are_what_the_env_judged() -> None:
    half = episode(None, score=0.5)
    whole = episode(None, score=1.0, success=True)
    assert [value("success", e) for e in (half, whole)] == [0.0, 1.0]
    assert [value("completion", e) for e in (half, whole)] == [0.5, 1.0]
    assert value("score", half) == 0.5


def test_efficiency_falls_in_a_line_to_the_last_turn() -> None:
    def after(turns: int) -> Episode:
        return episode(*[None] * turns, score=1.0, success=True, max_turns=11)

    assert [value("efficiency", after(n)) for n in (1, 6, 11)] == [1.0, 0.75, 0.5]
    assert value("efficiency", after(11), slowness=0.2) == pytest.approx(0.8)
    assert value("efficiency", episode(None, score=0.9, max_turns=11)) == 0.0


def test_efficiency_takes_the_limit_given_where_the_episode_knows_none() -> None:
    unknown = episode(*[None] * 6, score=1.0, success=True)
    assert value("efficiency", unknown, max_turns=11) == 0.75
    unknown.max_turns = 6
    assert value("efficiency", unknown, max_turns=11) == 0.5
    assert value("efficiency", episode(None, score=1.0, success=True), max_turns=1) == 1.0
    unknown.max_turns = None
    assert value("efficiency", unknown) == 0.5  # PaintText is registered with 6


def test_shaping_costs_errors_repeats_and_an_overrun() -> None:
    clean = episode(None, None, None, None, score=0.5)
    assert value("shaped", clean) == 0.5
    assert value("shaped", episode("parse", None, None, "runtime", score=0.5)) == 0.4
    stuck = episode(None, None, None, None, score=0.5, truncated=True)
    for turn in stuck.turns[1:3]:
        turn.screenshot_id, turn.action_text = "p0", "say 0"
    assert value("shaped", stuck) == pytest.approx(0.5 - 0.1 * 2 / 4 - 0.1)
    assert value("shaped", Episode("UI/PaintText-v0", 1, "do it", [], score=0.5)) == 0.5


def test_the_comprehensive_reward_of_a_perfect_episode_is_one() -> None:
    assert value("comprehensive", episode(None, score=1.0, success=True)) == pytest.approx(1.0)
    assert value("comprehensive", episode("runtime", score=0.5)) == pytest.approx(0.2 * 0.5)


def test_arpo_takes_off_for_a_text_that_is_no_action() -> None:
    for error in ("parse", "name"):
        assert value("arpo", episode(None, error, error, score=1.0)) == 0.5
    for error in (None, "argument", "runtime"):
        assert value("arpo", episode(None, error, score=1.0)) == 1.0
    assert value("success", episode("parse", score=1.0, success=True), format=0.3) == 0.7


def test_unknown_names_and_values_are_refused() -> None:
    with pytest.raises(UserError, match=r"there is no reward 'sucess'. Did you mean 'success'"):
        get_reward("sucess")
    with pytest.raises(
        UserError, match=r"'shaped' has no parameter 'error'. Did you mean 'errors'"
    ):
        value("shaped", episode(None), error=1.0)
    with pytest.raises(UserError, match="format is a finite number, not nan"):
        value("arpo", episode(None), format=math.nan)


def test_a_fault_of_the_infrastructure_has_no_reward() -> None:
    with pytest.raises(ValueError, match="has no reward: device: lost; leave it out"):
        value("success", episode(None, failure="device: lost"))


@given(
    errors=st.lists(st.sampled_from(KINDS), max_size=12),
    score=st.floats(0, 1),
    truncated=st.booleans(),
    most=st.none() | st.integers(1, 20),
)
def test_every_reward_is_bounded_and_success_is_worth_more(
    errors: list[str | None], score: float, truncated: bool, most: int | None
) -> None:
    fields: dict[str, Any] = {"truncated": truncated, "max_turns": most}
    failed = episode(*errors, score=score * 0.99, **fields)
    done = episode(*errors, score=1.0, success=True, **fields)
    assert format_term(failed) in (0.0, -1.0)
    for reward in REWARDS.values():
        low, high = reward(failed), reward(done)
        assert -1.0 <= low < high <= 1.0 + 1e-9


def test_a_repeat_is_the_same_said_again_where_nothing_had_changed() -> None:
    played = episode(None, None, None, None)
    for turn, (picture, output) in zip(
        played.turns,
        [("a", "click"), ("a", " click\n"), ("b", "click"), ("b", "other")],
        strict=True,
    ):
        turn.screenshot_id, turn.action_text = picture, output
    assert played.consecutive_repeats == 1


def test_the_first_success_is_the_turn_that_completes_the_score() -> None:
    gradual = episode(None, None, None, score=1.0, success=True)
    for turn, reward in zip(gradual.turns, (0.5, 0.5, 0.0), strict=True):
        turn.reward = reward
    assert gradual.first_success_turn == 2
    assert episode(None, None, score=1.0, success=True).first_success_turn == 2
    assert episode(None, score=0.5).first_success_turn is None


def test_running_out_of_turns_is_no_fault_of_the_device() -> None:
    assert episode(None, truncated=True).ran_out_of_turns
    assert not episode(None, truncated=True, failure="device: lost").ran_out_of_turns
    assert not episode(None, terminated=True).ran_out_of_turns


def test_shares_of_turns() -> None:
    played = episode(None, "parse", None, None, max_turns=8)
    assert (played.valid_action_share, played.turn_share) == (0.75, 0.5)
    assert episode(None).turn_share is None
    assert episode().valid_action_share == 0.0


def test_episodes_recorded_without_a_limit_of_turns_are_still_read() -> None:
    recorded = to_json(episode(None, max_turns=8))
    assert from_json(recorded).max_turns == 8
    del recorded["max_turns"]
    assert from_json(recorded).max_turns is None
