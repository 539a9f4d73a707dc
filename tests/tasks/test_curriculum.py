"""The curriculum: what is drawn, what is learned from it, and what survives a restart."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_gym.errors import UserError
from ui_gym_agents.tasks.curriculum import DECAY, PROBE_EVERY, Candidate, Curriculum, Kind

NAMES = ("a", "b", "c", "d")
CATEGORIES = {"a": "x", "b": "x", "c": "y", "d": "z"}

groups = st.lists(
    st.tuples(st.sampled_from(NAMES), st.integers(1, 30), st.integers(0, 7), st.integers(0, 4)),
    max_size=40,
)
"""(task, step, index, successes of 4)"""


def make(kind: Kind = "learnability", **settings: Any) -> Curriculum:
    return Curriculum([Candidate(n, CATEGORIES[n]) for n in NAMES], kind, **settings)


def fail(curriculum: Curriculum, name: str, steps: range) -> None:
    for step in steps:
        curriculum.observe(name, step, NAMES.index(name), 0, 4)


def draws(curriculum: Curriculum, step: int, count: int) -> list[str]:
    return [curriculum.draw(step, i, (i + 0.5) / count) for i in range(count)]


def test_a_fresh_curriculum_draws_all_alike() -> None:
    assert make().weights(1) == dict.fromkeys(NAMES, 0.25)
    assert Counter(draws(make(), 1, 40)) == dict.fromkeys(NAMES, 10)


def test_own_weights_count() -> None:
    uneven = Curriculum([Candidate("a", weight=3), Candidate("b")])
    assert uneven.weights(1) == {"a": 0.75, "b": 0.25}


def test_the_weight_is_p_of_1_minus_p_plus_the_floor() -> None:
    curriculum = make()
    curriculum.observe("a", 1, 0, 4, 4)
    curriculum.advance(2)
    p = (4 * DECAY + 1) / (4 * DECAY + 2)
    mine = p * (1 - p) + 0.05
    weights = curriculum.weights(2)
    assert weights["a"] == pytest.approx(mine / (mine + 3 * 0.3))
    assert weights["b"] == pytest.approx(0.3 / (mine + 3 * 0.3))


def test_old_evidence_fades() -> None:
    curriculum = make()
    curriculum.observe("a", 1, 0, 4, 4)
    curriculum.advance(2)
    weights = [curriculum.weights(step)["a"] for step in (2, 20, 300)]
    assert weights == sorted(weights)
    assert weights[0] < 0.2
    assert weights[-1] == pytest.approx(0.25, abs=1e-4)


def test_the_same_everywhere_whatever_ends_first() -> None:
    one, other = make(), make()
    seen = [("a", 3, 0, 4, 4), ("a", 3, 1, 0, 4), ("b", 3, 2, 1, 4)]
    for group in seen:
        one.observe(*group)
    for group in reversed(seen):
        other.observe(*group)
    assert one.state_dict() == other.state_dict()
    assert draws(one, 4, 8) == draws(other, 4, 8)
    assert one.state_dict() == other.state_dict()


def test_a_step_is_not_changed_by_what_is_observed_in_it() -> None:
    curriculum = make()
    before = draws(curriculum, 5, 8)
    for index in range(8):
        curriculum.observe("a", 5, index, 4, 4)
    assert draws(curriculum, 5, 8) == before
    assert draws(curriculum, 6, 8) != before


def test_a_task_that_fails_three_groups_running_is_paused() -> None:
    curriculum = make()
    fail(curriculum, "a", range(1, 3))
    curriculum.observe("a", 3, 0, 1, 4)  # one success in between
    fail(curriculum, "a", range(4, 6))
    curriculum.advance(6)
    assert curriculum.weights(6)["a"] > 0
    fail(curriculum, "a", range(6, 7))
    curriculum.advance(7)
    assert curriculum.weights(7)["a"] == 0
    assert curriculum.describe(7)["tasks_paused"] == 1


def test_a_paused_task_is_probed_every_ten_steps_and_comes_back_with_a_success() -> None:
    curriculum = make()
    fail(curriculum, "a", range(1, 4))
    played = {step: draws(curriculum, step, 8) for step in range(4, 3 + PROBE_EVERY)}
    assert not any("a" in names for names in played.values())
    probe = 3 + PROBE_EVERY
    assert draws(curriculum, probe, 8).count("a") == 1
    fail(curriculum, "a", range(probe, probe + 1))
    assert "a" not in draws(curriculum, probe + 1, 8)
    assert draws(curriculum, probe + PROBE_EVERY, 8).count("a") == 1
    curriculum.observe("a", probe + PROBE_EVERY, 0, 1, 4)
    curriculum.advance(probe + PROBE_EVERY + 1)
    assert curriculum.weights(probe + PROBE_EVERY + 1)["a"] > 0


def test_probes_leave_room_for_the_others() -> None:
    curriculum = make()
    for name in ("a", "b", "c"):
        fail(curriculum, name, range(1, 4))
    assert Counter(draws(curriculum, 20, 4))["d"] == 3
    with_one_group = Counter(curriculum.draw(step, 0, 0.5) for step in range(20, 32))
    assert with_one_group["d"] == 9


def test_where_all_are_paused_all_are_drawn() -> None:
    curriculum = make()
    for name in NAMES:
        fail(curriculum, name, range(1, 4))
    curriculum.advance(4)
    assert sum(weight > 0 for weight in curriculum.weights(4).values()) == 4


def test_a_uniform_curriculum_pauses_nothing() -> None:
    curriculum = make("uniform")
    fail(curriculum, "a", range(1, 9))
    curriculum.advance(9)
    assert curriculum.weights(9) == dict.fromkeys(NAMES, 0.25)


def test_a_group_that_is_played_again_counts_once() -> None:
    once, again = make(), make()
    again.observe("a", 3, 0, 0, 4)
    for curriculum in (once, again):
        curriculum.observe("a", 3, 0, 2, 4)
        curriculum.advance(4)
    assert again.state_dict() == once.state_dict()


def test_a_group_without_any_good_episode_says_nothing() -> None:
    curriculum = make()
    for step in range(1, 9):
        curriculum.observe("a", step, 0, 0, 0)
    assert curriculum.state_dict() == make().state_dict()


def test_quotas_share_the_groups_by_category() -> None:
    weights = make(quotas={"x": 0.5, "y": 0.3}).weights(1)
    assert weights == pytest.approx({"a": 0.25, "b": 0.25, "c": 0.3, "d": 0.2})
    curriculum = make(quotas={"x": 0.5, "y": 0.3})
    fail(curriculum, "c", range(1, 4))
    curriculum.advance(4)
    weights = curriculum.weights(4)
    assert weights["c"] == 0
    assert weights["a"] + weights["b"] == pytest.approx(5 / 7)


@pytest.mark.parametrize(
    ("quotas", "message"),
    [
        ({"xx": 0.5}, "a quota for 'xx', but no task of that category. "),
        ({"x": 0.0}, r"the quota of 'x' is a share in \(0, 1\], not 0.0"),
        ({"x": 0.8, "y": 0.4}, "the quotas sum to 1.2, which is more than 1"),
        ({"x": 0.5, "y": 0.5}, "leave nothing for the category 'z'"),
    ],
)
def test_quotas_that_cannot_be_kept_are_refused(quotas: dict[str, float], message: str) -> None:
    with pytest.raises(UserError, match=message):
        make(quotas=quotas)


@given(seen=groups, step=st.integers(1, 60), quotas=st.sampled_from([{}, {"x": 0.5, "y": 0.2}]))
def test_weights_sum_to_one_after_anything(
    seen: list[tuple[str, int, int, int]], step: int, quotas: dict[str, float]
) -> None:
    curriculum = make(quotas=quotas)
    for name, at, index, successes in seen:
        curriculum.observe(name, at, index, successes, 4)
    curriculum.advance(step)
    weights = curriculum.weights(step)
    assert all(weight >= 0 for weight in weights.values())
    assert sum(weights.values()) == pytest.approx(1)
    for chance in (0.0, 0.999999999999):
        assert curriculum.draw(step, (step + 1) % 4, chance) in NAMES


@given(seen=groups, cut=st.integers(0, 40))
def test_any_state_survives_json_to_the_bit(
    seen: list[tuple[str, int, int, int]], cut: int
) -> None:
    whole, stopped = make(), make()
    for number, (name, step, index, successes) in enumerate(sorted(seen, key=lambda g: g[1])):
        if number == cut:
            text = json.dumps(stopped.state_dict())
            stopped = make()
            stopped.load_state_dict(json.loads(text))
        for curriculum in (whole, stopped):
            curriculum.advance(step)
            curriculum.observe(name, step, index, successes, 4)
    assert stopped.state_dict() == whole.state_dict()
    assert draws(stopped, 31, 8) == draws(whole, 31, 8)
    assert stopped.weights(31) == whole.weights(31)


def test_a_state_of_other_tasks_is_taken_as_far_as_it_goes() -> None:
    before = Curriculum([Candidate("a"), Candidate("gone")])
    for name in ("a", "gone"):
        before.observe(name, 1, 0, 1, 4)
    before.advance(2)
    after = make()
    after.load_state_dict(before.state_dict())
    assert after.records["a"] == before.records["a"]
    assert after.records["b"].groups == 0


@pytest.mark.parametrize(
    "state",
    [{}, {"version": 2, "tasks": {}, "pending": []}, {"version": 1, "tasks": [], "pending": []}],
)
def test_what_is_no_state_is_refused_and_changes_nothing(state: dict[str, Any]) -> None:
    curriculum = make()
    curriculum.observe("a", 1, 0, 1, 4)
    before = curriculum.state_dict()
    with pytest.raises(UserError, match="this is no state of a curriculum"):
        curriculum.load_state_dict(state)
    assert curriculum.state_dict() == before
