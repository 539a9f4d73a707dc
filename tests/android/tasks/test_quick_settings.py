"""Tiles of the shade: exactly the named ones, on a large screen and on one for tiny models."""

from __future__ import annotations

import pytest

from tests.android.tasks.android_episodes import (
    SEEDS,
    assert_idleness_scores_nothing,
    assert_near_misses_fail,
    assert_solved,
    made,
)
from ui_gym.android import moves
from ui_gym.android.tasks.quick_settings import TILES
from ui_gym.errors import UserError

TASK = "AndroidQuickSettings"
FORMS = (
    {}, {"compact": True}, {"changes": 4}, {"compact": True, "changes": 2}, {"on": 1.0},
    {"on": 0.0, "changes": 1},
)  # fmt: skip


@pytest.mark.parametrize("arguments", FORMS)
def test_the_oracle_reaches_the_goal_and_a_slip_does_not(arguments):
    assert_solved(TASK, SEEDS[:4], **arguments)
    assert_near_misses_fail(TASK, 2, **arguments)
    assert_idleness_scores_nothing(TASK, SEEDS[:1], **arguments)


def test_another_tile_ends_the_episode_with_nothing():
    with made(TASK, changes=2) as env:
        _, info = env.reset(seed=0, options={"oracle": True})
        answers = [info["oracle"]["action_text"]]
        _, reward, terminated, _, info = env.step(answers[0])
        assert (info["score"], terminated) == (0.5, False)
        _, _, _, _, info = env.step("wait(1)")
        asked = env._params.asked
        other = next(name for name in env._params.tiles if name not in asked)
        x, y = moves.find(env.device, TILES[other][0]).center
        _, reward, terminated, _, info = env.step(f"click({x}, {y})")
        assert (reward, terminated) == (0.0, True), info["notes"]


def test_two_goals_on_one_picture_want_two_touches():
    with made(TASK, compact=True) as env:
        answers = set()
        for seed in range(400):
            params = env.task.draw(seed)
            if params.tiles[0] == "wifi" and params.phrasing == 0:
                env.reset(seed=seed, options={"oracle": True})
                answers.add((params.asked, env._info()["oracle"]["action_text"]))
        assert len({answer for _, answer in answers}) > 2


def test_a_guess_succeeds_as_often_as_is_said():
    with made(TASK, compact=True) as env:
        assert env.task.blind_rate(env.task.draw(0)) == pytest.approx(1 / 8)
    with made(TASK, changes=2) as env:
        assert env.task.blind_rate(env.task.draw(0)) == pytest.approx(2 / 8 * 1 / 7)


@pytest.mark.parametrize("wrong", [{"changes": 0}, {"changes": 9}, {"on": 2}, {"compact": 3}])
def test_arguments_are_checked(wrong):
    with pytest.raises(UserError), made(TASK, **wrong):
        pass
