"""The curriculum: what is drawn, what is learned from it, and what survives a restart."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_gym.errors import UserError
from ui_gym_agents.tasks.curriculum import DECAY, Candidate, Curriculum, Kind

NAMES = ("a", "b", "c", "d")
CATEGORIES = {"a": "x", "b": "x", "c": "y", "d": "z"}

groups = st.lists(
    st.tuples(st.sampled_from(NAMES), st.integers(1, 30), st.integers(0, 7), st.integers(0, 4)),
    max_size=40,
)
"""(task, step, index, successes of 4)"""


def make(kind: Kind = "learnability", **settings: Any) -> Curriculum:
    return Curriculum([Candidate(n, CATEGORIES[n]) for n in NAMES], kind, **settings)


def draws(curriculum: Curriculum, step: int, count: int) -> list[str]:
    return [curriculum.draw(step, (i + 0.5) / count) for i in range(count)]


def test_a_fresh_curriculum_draws_all_alike() -> None:
    assert make().weights(1) == dict.fromkeys(NAMES, 0.25)
    assert Counter(draws(make(), 1, 40)) == dict.fromkeys(NAMES, 10)


def test_own_weights_count() -> None:
    uneven = Curriculum([Candidate("a", weight=3), Candidate("b")])
    assert uneven.weights(1) == {"a": 0.75, "b": 0.25}


def test_the_weight_is_p_of_1_minus_p() -> None:
    curriculum = make()
    curriculum.observe("a", 1, 0, 4, 4)
    curriculum.advance(2)
    p = (4 * DECAY + 0.5) / (4 * DECAY + 1)
    mine = p * (1 - p)
    weights = curriculum.weights(2)
    assert weights["a"] == pytest.approx(mine / (mine + 3 * 0.25))
    assert weights["b"] == pytest.approx(0.25 / (mine + 3 * 0.25))


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


def played(rates: dict[str, float], episodes: int, groups: int) -> Counter[str]:
    """How often each task comes in 120 steps of `groups` groups, where it succeeds at its rate."""
    curriculum = make()
    chance = random.Random(0).random
    came: Counter[str] = Counter()
    for step in range(1, 121):
        for index in range(groups):
            name = curriculum.draw(step, chance())
            won = sum(chance() < rates[name] for _ in range(episodes))
            curriculum.observe(name, step, index, won, episodes)
            came[name] += 1
    return came


@pytest.mark.parametrize(("episodes", "groups"), [(8, 12), (1, 64)])
def test_what_is_solved_sometimes_comes_most(episodes: int, groups: int) -> None:
    came = played({"a": 1.0, "b": 0.3, "c": 0.0, "d": 0.0}, episodes, groups)
    assert came["b"] > 0.6 * came.total()
    assert min(came.values()) > 0.03 * came.total()  # the others are tried again and again


@pytest.mark.parametrize(("episodes", "groups"), [(8, 12), (1, 64)])
def test_what_is_mastered_leaves_room_for_what_hardly_ever_succeeds(
    episodes: int, groups: int
) -> None:
    came = played({"a": 0.98, "b": 0.04, "c": 0.0, "d": 0.0}, episodes, groups)
    assert came["b"] > came["a"]
    assert came["b"] > came["c"] + came["d"]


def test_a_uniform_curriculum_learns_nothing() -> None:
    curriculum = make("uniform")
    curriculum.observe("a", 1, 0, 0, 4)
    curriculum.advance(9)
    assert curriculum.weights(9) == dict.fromkeys(NAMES, 0.25)


def test_the_success_of_tasks_does_not_go_by_how_often_they_come() -> None:
    curriculum = make()
    assert curriculum.metrics() == {}
    for step in range(1, 9):
        curriculum.observe("a", step, 0, 4, 4)
    curriculum.observe("b", 3, 1, 1, 4)
    curriculum.advance(9)
    assert curriculum.metrics() == {"task_success": pytest.approx(0.625)}
    alike = make("uniform")
    alike.load_state_dict(curriculum.state_dict())
    assert alike.metrics() == {}


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
    curriculum.observe("a", 1, 0, 0, 4)
    curriculum.advance(2)
    weights = curriculum.weights(2)
    assert weights["a"] < weights["b"]
    assert weights["a"] + weights["b"] == pytest.approx(0.5)
    assert Curriculum([Candidate("a", "x")], quotas={"x": 0.5}).weights(1) == {"a": 1.0}


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
        assert curriculum.draw(step, chance) in NAMES


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
    [{}, {"version": 1, "tasks": {}, "pending": []}, {"version": 2, "tasks": [], "pending": []}],
)
def test_what_is_no_state_is_refused_and_changes_nothing(state: dict[str, Any]) -> None:
    curriculum = make()
    curriculum.observe("a", 1, 0, 1, 4)
    before = curriculum.state_dict()
    with pytest.raises(UserError, match="this is no state of a curriculum"):
        curriculum.load_state_dict(state)
    assert curriculum.state_dict() == before
