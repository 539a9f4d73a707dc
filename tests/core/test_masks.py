"""ClickableCells and GoalWords on the paint suite: masks of cells, goals as numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict
from gymnasium.utils.env_checker import check_env
from hypothesis import given
from hypothesis import strategies as st

from ui_gym.contract.device import Element
from ui_gym.errors import UserError
from ui_gym.playing.env import UIEnv
from ui_gym.playing.vector import UIVectorEnv
from ui_gym.wrappers import (
    CellMask,
    ClickableCells,
    FrameHistory,
    GoalVector,
    GoalWords,
    Grid,
    GridActions,
    ResizeScreenshot,
    ScreenshotOnly,
    vector,
)

SIZE = (96, 64)
BOX = 16


def masked(env: gymnasium.Env[Any, Any], **grid: Any) -> gymnasium.Env[Any, Any]:
    return ClickableCells(GridActions(env, 6, 4, **grid))


# -- masks --


def test_a_mask_allows_the_cells_whose_centre_is_in_a_box(make: Callable[..., UIEnv]) -> None:
    env = masked(make("PaintClick", observation="both"))
    for seed in range(20):
        observation, _ = env.reset(seed=seed)
        assert "elements" not in observation
        allowed = np.flatnonzero(env.get_wrapper_attr("action_masks")())
        assert len(allowed) == 3  # three boxes, each as large as a cell
        for cell in allowed:
            x, y = Grid(SIZE, 6, 4).center(int(cell))
            assert observation["screenshot"][y, x].tolist() != [255, 255, 255]


def test_a_mask_follows_what_is_on_the_screen(make: Callable[..., UIEnv]) -> None:
    env = masked(make("PaintText", observation="both"))
    env.reset(seed=0)
    before = env.get_wrapper_attr("action_masks")()
    env.step(0)
    assert np.array_equal(env.get_wrapper_attr("action_masks")(), before)
    env.reset(seed=1)
    assert not np.array_equal(env.get_wrapper_attr("action_masks")(), before)


def test_parts_beside_the_cell_are_never_masked(make: Callable[..., UIEnv]) -> None:
    env = masked(make("PaintClick", observation="both"), kinds=("click", "press"))
    env.reset(seed=0)
    mask = env.get_wrapper_attr("action_masks")()
    assert mask.shape == (2 + 24 + 8,)
    assert mask[:2].all()
    assert mask[26:].all()
    assert mask[2:26].sum() == 3


boxes = st.tuples(
    st.integers(-50, 150), st.integers(-50, 150), st.integers(1, 120), st.integers(1, 120)
)
roles = st.sampled_from(["button", "text", "checkbox", "heading", "group", "link"])


@given(st.lists(st.tuples(roles, boxes), max_size=6), st.integers(1, 12), st.integers(1, 12))
def test_a_mask_never_allows_a_cell_beside_all_elements_and_never_none(
    found: list[tuple[str, tuple[int, int, int, int]]], columns: int, rows: int
) -> None:
    elements = [Element(i, role, "x", box) for i, (role, box) in enumerate(found)]
    grid = Grid(SIZE, columns, rows)
    mask = CellMask(grid).cells(elements)
    clickable = [e.box for e in elements if e.role in ("button", "checkbox", "link")]
    centers = [grid.center(cell) for cell in range(columns * rows)]
    inside = [
        any(x <= a < x + w and y <= b < y + h for x, y, w, h in clickable) for a, b in centers
    ]
    assert mask.any()
    assert mask.tolist() == (inside if any(inside) else [True] * len(inside))


def test_what_is_disabled_or_cut_off_allows_nothing() -> None:
    text = '[0] button "No" @ 8,8 16x16 disabled\n[1] button "Yes" @ 40,8 16x16\n[2] but'
    assert np.flatnonzero(CellMask(Grid(SIZE, 6, 4))(text)).tolist() == [2]


def test_a_mask_needs_a_grid_and_elements(make: Callable[..., UIEnv]) -> None:
    with pytest.raises(UserError, match='make the env with observation="both"'):
        masked(make("PaintClick"))
    with pytest.raises(UserError, match="wrap the env in GridActions before it"):
        ClickableCells(make("PaintClick", observation="both"))
    seen = ScreenshotOnly(GridActions(make("PaintClick", observation="both"), 6, 4))
    with pytest.raises(UserError, match="before ScreenshotOnly"):
        ClickableCells(seen)


# -- goals --


def test_a_goal_s_words_have_places_that_never_change() -> None:
    goal = GoalVector(64)
    vector_ = goal("Click the RED box, the red one.")
    assert (vector_.dtype, vector_.shape) == (np.float32, (64,))
    words = ("click", "the", "red", "box", "one")
    assert np.flatnonzero(vector_).tolist() == sorted({goal.place(word) for word in words})
    # As on every machine and in every process: a trained network relies on it.
    assert [goal.place(word) for word in ("red", "green", "blue")] == [13, 2, 25]
    assert not goal("").any()


def test_a_vector_has_some_length() -> None:
    with pytest.raises(UserError, match="length is a whole number from 1 on, not 0"):
        GoalVector(0)


def test_a_goal_is_seen_beside_the_picture(make: Callable[..., UIEnv]) -> None:
    env = GoalWords(ResizeScreenshot(make("PaintClick"), (24, 16)), 32)
    assert env.observation_space == Dict(
        {"screenshot": Box(0, 255, (16, 24, 3), np.uint8), "goal": Box(0, 1, (32,), np.float32)}
    )
    told = {tuple(env.reset(seed=seed)[0]["goal"].tolist()) for seed in range(12)}
    assert len(told) >= 3  # three colours
    with pytest.raises(UserError, match="ScreenshotOnly takes it away"):
        GoalWords(ScreenshotOnly(make("PaintClick")))


# -- both, and their twins --


def whole(env: Any, made_of: Any) -> Any:
    seen = made_of.ClickableCells(made_of.GridActions(env, 6, 4))
    return made_of.GoalWords(made_of.FrameHistory(made_of.ResizeScreenshot(seen, (24, 16)), 2), 32)


class Single:
    """The wrappers of single envs by the names of their twins."""

    ClickableCells, GridActions, GoalWords = ClickableCells, GridActions, GoalWords
    FrameHistory, ResizeScreenshot = FrameHistory, ResizeScreenshot


def test_gymnasium_s_checker_passes(make: Callable[..., UIEnv]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*is different from the unwrapped version")
        env = whole(make("PaintClick", observation="both", render_mode="rgb_array"), Single)
        check_env(env, skip_render_check=True)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_the_twins_agree(make: Callable[..., UIEnv], pool: Any, mode: str) -> None:
    one = whole(make("PaintClick", observation="both"), Single)
    envs = whole(
        UIVectorEnv(2, "PaintClick", pool=pool, observation="both", autoreset_mode=mode), vector
    )
    masks = _masks_of(envs)
    seen, _ = envs.reset(seed=[7, 8])
    for slot, seed in enumerate((7, 8)):
        single, _ = one.reset(seed=seed)
        assert single["goal"].tolist() == seen["goal"][slot].tolist()
        assert np.array_equal(single["screenshot"], seen["screenshot"][slot])
        assert np.array_equal(one.get_wrapper_attr("action_masks")(), masks()[slot])
    target = int(np.flatnonzero(masks()[0])[0])
    seen, _, terminations, _, infos = envs.step(np.array([target, 0]))
    assert terminations[0]
    if mode == "SameStep":
        assert infos["final_obs"][0].keys() == {"screenshot", "goal"}
    assert masks().shape == (2, 24)
    envs.close()


def _masks_of(env: Any) -> Callable[[], Any]:
    while not isinstance(env, vector.ClickableCells):
        env = env.env
    return env.action_masks
