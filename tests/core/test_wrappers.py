"""The wrappers on the paint suite: what numbers mean, what is seen, and their twins' agreement."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import paint
import pytest
from gymnasium.spaces import Box, Discrete, MultiDiscrete
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from ui_gym import wrappers
from ui_gym.contract.action import (
    Click,
    Finish,
    LongPress,
    Move,
    Press,
    Scroll,
    Wait,
    check_points,
    parse,
)
from ui_gym.dialects import get_dialect
from ui_gym.errors import UserError
from ui_gym.playing.env import UIEnv
from ui_gym.playing.vector import UIVectorEnv
from ui_gym.wrappers import (
    KEYS,
    KINDS,
    FrameHistory,
    Grid,
    GridActions,
    ResizeScreenshot,
    ScreenshotOnly,
    vector,
)

Make = Callable[..., UIEnv]
MakeVector = Callable[..., UIVectorEnv]
SIZE = (96, 64)


# -- GridActions: what the numbers mean --


@pytest.mark.parametrize(
    ("arguments", "space", "parts"),
    [
        ({}, Discrete(24), "cell"),
        ({"kinds": ("wait", "click")}, MultiDiscrete([2, 24]), "kind cell"),
        ({"kinds": ("click", "press")}, MultiDiscrete([2, 24, 8]), "kind cell key"),
        ({"kinds": ("click", "press"), "keys": ["ctrl+a"]}, MultiDiscrete([2, 24]), "kind cell"),
        ({"kinds": ("press",)}, Discrete(8), "key"),
        ({"kinds": ("wait", "finish")}, Discrete(2), "kind"),
        ({"kinds": ("finish",)}, Discrete(1), ""),
    ],
)
def test_parts_that_leave_no_choice_are_left_out(
    arguments: dict[str, Any], space: gymnasium.Space[Any], parts: str
) -> None:
    grid = Grid(SIZE, 6, 4, **arguments)
    assert grid.space == space
    assert list(grid.parts) == parts.split()


def test_cells_are_counted_row_by_row_from_the_top_left() -> None:
    grid = Grid(SIZE, 6, 4)
    assert grid.action(0) == Click(8, 8)
    assert grid.action(5) == Click(88, 8)
    assert grid.action(6) == Click(8, 24)
    assert grid.action(np.int64(23)) == grid.action(np.array([23])) == Click(88, 56)


def test_every_kind_is_the_action_that_it_says() -> None:
    grid = Grid(SIZE, 6, 4, KINDS)
    said = {kind: grid.action([number, 7, 2]) for number, kind in enumerate(KINDS)}
    assert said == {
        "click": Click(24, 24),
        "double_click": Click(24, 24, count=2),
        "right_click": Click(24, 24, button="right"),
        "long_press": LongPress(24, 24),
        "move": Move(24, 24),
        "scroll_down": Scroll(24, 24, dy=100),
        "scroll_up": Scroll(24, 24, dy=-100),
        "scroll_right": Scroll(24, 24, dx=100),
        "scroll_left": Scroll(24, 24, dx=-100),
        "press": Press(KEYS[2]),
        "wait": Wait(),
        "finish": Finish(),
    }


def test_scrolling_goes_half_a_screen_in_whole_notches() -> None:
    grid = Grid((1280, 840), 1, 1, ("scroll_up", "scroll_right"))
    assert [grid.action(kind) for kind in (0, 1)] == [
        Scroll(640, 420, dy=-400),
        Scroll(640, 420, dx=600),
    ]


@pytest.mark.parametrize(("columns", "rows"), [(1, 1), (7, 5), SIZE])
def test_every_cell_lies_on_the_screen_and_has_its_own_pixel(columns: int, rows: int) -> None:
    grid = Grid(SIZE, columns, rows)
    points = [grid.action(cell) for cell in range(columns * rows)]
    check_points(points, SIZE)
    assert len(set(points)) == columns * rows


@pytest.mark.parametrize("dialect", ["canonical", "openai", "anthropic", "pyautogui"])
def test_the_text_is_of_the_env_s_dialect(make: Make, dialect: str) -> None:
    env = GridActions(make(dialect=dialect), 6, 4, ("click", "double_click", "scroll_down"))
    for choice in ([0, 7], [1, 3], [2, 0]):
        read = get_dialect(dialect).parse(env.action(choice), SIZE)
        assert [type(action) for action in read] == [type(env.grid.action(choice))]
    assert get_dialect(dialect).parse(env.action([0, 7]), SIZE) == [Click(24, 24)]


def test_a_dialect_with_coarse_coordinates_hits_the_cell(make: Make) -> None:
    env = GridActions(make(dialect="uitars"), 6, 4, ("click", "double_click"))
    (click,) = get_dialect("uitars").parse(env.action([0, 7]), SIZE)
    assert (click.x // 16, click.y // 16) == (1, 1)


def test_a_click_in_the_target_s_cell_wins(make: Make) -> None:
    env = GridActions(make("PaintClick"), 6, 4)
    _, info = env.reset(seed=3, options={"ground_truth": True})
    params = info["ground_truth"].params
    x, y = next((x, y) for name, x, y in params["boxes"] if name == params["target"])
    _, reward, terminated, _, info = env.step(np.int64(y // 16 * 6 + x // 16))
    assert (reward, terminated, info["action_error"]) == (1.0, True, None)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"columns": 0}, "columns is a whole number from 1 to 96, not 0"),
        ({"rows": 65}, "rows is a whole number from 1 to 64, not 65"),
        ({"columns": 2.0}, "columns is a whole number"),
        ({"kinds": ("clik",)}, "there is no kind 'clik'. Did you mean 'click'"),
        ({"kinds": "click"}, "kinds are one or more different names, not 'click'"),
        ({"kinds": ()}, "kinds are one or more"),
        ({"kinds": ("wait", "wait")}, "different"),
        ({"keys": ("a",)}, "name it in kinds"),
        ({"kinds": ("press",), "keys": ()}, "keys are one or more"),
        ({"kinds": ("press",), "keys": ("ctrl+",)}, "a key is missing in 'ctrl\\+'"),
    ],
)
def test_a_grid_that_cannot_be_is_refused(make: Make, arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(UserError, match=told):
        GridActions(make(), **{"columns": 6, "rows": 4} | arguments)


def test_a_kind_that_the_dialect_has_no_words_for_is_refused(make: Make) -> None:
    with pytest.raises(UserError, match=r"'androidworld' cannot say click\(.*right.*leave out"):
        GridActions(make(dialect="androidworld"), 6, 4, ("click", "right_click"))


def test_a_grid_in_a_grid_is_refused(make: Make) -> None:
    with pytest.raises(UserError, match=r"action space is Discrete\(24\).*once"):
        GridActions(GridActions(make(), 6, 4), 6, 4)


@pytest.mark.parametrize("choice", [24, -1, 1.0, "click(1, 1)", [1, 2], None])
def test_what_is_no_element_of_the_space_is_refused(make: Make, choice: Any) -> None:
    env = GridActions(make(), 6, 4)
    env.reset(seed=0)
    with pytest.raises(UserError, match=r"an element of Discrete\(24\) \(cell\)"):
        env.step(choice)


# -- what is seen --


def test_a_pixel_is_the_mean_of_the_area_that_it_covers(make: Make) -> None:
    env = ResizeScreenshot(make(), (12, 8))
    whole, _ = env.unwrapped.reset(seed=2)
    small, _ = env.reset(seed=2)
    assert small in env.observation_space
    assert small["goal"] == whole["goal"]
    assert small["screenshot"].shape == (8, 12, 3)
    means = whole["screenshot"].reshape(8, 8, 12, 8, 3).mean(axis=(1, 3))
    assert np.abs(small["screenshot"] - means).max() <= 1
    assert small["screenshot"].flags.writeable


def test_gray_has_one_channel(make: Make) -> None:
    env = ScreenshotOnly(ResizeScreenshot(make(), (24, 16), grayscale=True))
    picture, _ = env.reset(seed=2)
    assert env.observation_space == Box(0, 255, (16, 24, 1), np.uint8)
    assert picture in env.observation_space
    colors = {(np.array(c) @ (0.299, 0.587, 0.114)).round() for c in paint.COLORS.values()}
    assert set(np.unique(picture)) == {*colors, 255}


def test_any_viewport_and_any_size_will_do(make: Make) -> None:
    env = ResizeScreenshot(make(viewport=(80, 48), pool=paint.PaintPool((80, 48))), (33, 100))
    assert env.reset(seed=0)[0]["screenshot"].shape == (100, 33, 3)
    env.close()


def test_the_screenshot_alone_is_the_env_s_own(make: Make) -> None:
    env = ScreenshotOnly(make())
    assert env.observation_space == env.unwrapped.observation_space["screenshot"]
    whole, _ = env.unwrapped.reset(seed=2)
    assert np.array_equal(env.reset(seed=2)[0], whole["screenshot"])
    assert np.array_equal(env.step("wait(0)")[0], whole["screenshot"])


def test_history_begins_with_the_first_frame_and_ends_with_the_newest(make: Make) -> None:
    env = FrameHistory(make("PaintText", max_steps=9), 3)
    first, info = env.reset(seed=1, options={"ground_truth": True})
    assert first in env.observation_space
    assert first["screenshot"].shape == (64, 96, 9)
    frames = [first["screenshot"][..., :3]] * 3
    assert np.array_equal(first["screenshot"], np.concatenate(frames, -1))
    _, x, y = info["ground_truth"].params["boxes"][0]
    for action in (f"click({x}, {y})", 'type("ab")', 'type("c")', "wait(0)"):
        seen = env.step(action)[0]["screenshot"]
        frames = [*frames[1:], env.unwrapped._frame.image]
        assert np.array_equal(seen, np.concatenate(frames, -1))
        seen[:] = 0  # the history is nobody else's
    assert not np.array_equal(frames[0], frames[1])
    assert np.array_equal(env.reset(seed=1)[0]["screenshot"], first["screenshot"])


@pytest.mark.parametrize(
    ("wrap", "told"),
    [
        (lambda env: ScreenshotOnly(env), "have no screenshot"),
        (lambda env: ResizeScreenshot(env, (4, 4)), 'made with observation="elements"'),
        (lambda env: FrameHistory(env, 2), "have no screenshot"),
    ],
)
def test_where_there_is_no_screenshot_none_is_wrapped(
    make: Make, wrap: Callable[[UIEnv], Any], told: str
) -> None:
    with pytest.raises(UserError, match=told):
        wrap(make(observation="elements"))


@pytest.mark.parametrize("size", [(0, 4), (4,), 4, (4.0, 4), "ab", (True, 4)])
def test_a_size_that_cannot_be_is_refused(make: Make, size: Any) -> None:
    with pytest.raises(UserError, match=r"size is \(width, height\) in whole pixels"):
        ResizeScreenshot(make(), size)


@pytest.mark.parametrize("k", [0, -1, 1.0, True, "2"])
def test_a_history_that_cannot_be_is_refused(make: Make, k: Any) -> None:
    with pytest.raises(UserError, match="keeps k frames"):
        FrameHistory(make(), k)


def test_stacked_frames_are_not_resized(make: Make) -> None:
    with pytest.raises(UserError, match="6: wrap in it before FrameHistory"):
        ResizeScreenshot(FrameHistory(make(), 2), (4, 4))


# -- together --

ORDERS: dict[str, Callable[[Any], Any]] = {
    "grid": lambda e: GridActions(e, 6, 4, ("click", "press", "wait")),
    "resize": lambda e: ResizeScreenshot(e, (24, 16)),
    "only": ScreenshotOnly,
    "history": lambda e: FrameHistory(e, 2),
    "grid first": lambda e: FrameHistory(
        ScreenshotOnly(ResizeScreenshot(GridActions(e, 6, 4), (24, 16), True)), 4
    ),
    "grid last": lambda e: GridActions(
        FrameHistory(ResizeScreenshot(ScreenshotOnly(e), (24, 16)), 4), 6, 4, ("click", "finish")
    ),
    "picture last": lambda e: ScreenshotOnly(FrameHistory(ResizeScreenshot(e, (24, 16)), 2)),
}


@pytest.mark.parametrize("order", ORDERS)
def test_gymnasium_s_checker_has_nothing_to_say(make: Make, order: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # It says so of every wrapper.
        warnings.filterwarnings("ignore", ".*is different from the unwrapped version")
        check_env(ORDERS[order](make("PaintClick")), skip_render_check=True)


def test_a_spec_makes_the_same_wrappers_again() -> None:
    with gymnasium.make("UI/PaintClick-v0", boxes=2) as env:
        wrapped = FrameHistory(ScreenshotOnly(ResizeScreenshot(env, (24, 16))), 2)
        grid = GridActions(wrapped, 6, 4, kinds=("click", "wait"))
        with gymnasium.make(grid.spec) as again:
            assert again.action_space == grid.action_space
            assert again.observation_space == grid.observation_space
            assert np.array_equal(again.reset(seed=4)[0], grid.reset(seed=4)[0])


# -- the twins for vector envs --


def wrapped(env: Any, twins: Any) -> Any:
    """An env in all four wrappers."""
    small = twins.ResizeScreenshot(env, (24, 16), grayscale=True)
    seen = twins.ScreenshotOnly(twins.FrameHistory(small, 3))
    return twins.GridActions(seen, 6, 4, ("click", "wait"))


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_a_slot_sees_what_a_single_env_sees(
    make: Make, make_vector: MakeVector, mode: AutoresetMode
) -> None:
    arguments = {"task": "PaintClick", "max_steps": 3}
    envs = wrapped(make_vector(3, autoreset_mode=mode, **arguments), vector)
    own = paint.PaintPool(SIZE)
    singles = [wrapped(make(pool=own, **arguments), wrappers) for _ in range(3)]
    batch, _ = envs.reset(seed=7)
    expected = [env.reset(seed=7 + slot)[0] for slot, env in enumerate(singles)]
    assert batch in envs.observation_space
    assert np.array_equal(batch, np.stack(expected))
    envs.action_space.seed(2)
    over = np.zeros(3, np.bool_)
    ends = 0
    for _ in range(12):
        if mode == AutoresetMode.DISABLED and over.any():
            batch, _ = envs.reset(seed=[1, 2, 3], options={"reset_mask": over})
            for slot in np.flatnonzero(over):
                expected[slot] = singles[slot].reset(seed=int(slot) + 1)[0]
            assert np.array_equal(batch, np.stack(expected))
            over[:] = False
        actions = envs.action_space.sample()
        batch, _, terminations, truncations, infos = envs.step(actions)
        for slot, env in enumerate(singles):
            if over[slot] and mode == AutoresetMode.NEXT_STEP:
                expected[slot] = env.reset()[0]
                continue
            expected[slot], _, terminated, truncated, _ = env.step(actions[slot])
            assert (terminated, truncated) == (terminations[slot], truncations[slot])
            if (terminated or truncated) and mode == AutoresetMode.SAME_STEP:
                assert np.array_equal(infos["final_obs"][slot], expected[slot])
                expected[slot] = env.reset()[0]
        over = terminations | truncations
        ends += int(over.sum())
        assert batch in envs.observation_space
        assert np.array_equal(batch, np.stack(expected))
    assert ends >= 6


def test_the_twins_keep_the_texts_and_the_number_of_slots(make_vector: MakeVector) -> None:
    envs = vector.FrameHistory(vector.ResizeScreenshot(make_vector(2), (24, 16)), 2)
    batch, _ = envs.reset(seed=1)
    assert batch in envs.observation_space
    assert batch["screenshot"].shape == (2, 16, 24, 6)
    assert batch["goal"] == envs.unwrapped.reset(seed=1)[0]["goal"]
    grid = vector.GridActions(envs, 6, 4, ("click", "press"))
    assert grid.actions(np.array([[0, 7, 0], [1, 0, 3]])) == ["click(24, 24)", 'press("backspace")']
    assert parse(grid.actions([[0, 7, 0]])[0]) == [Click(24, 24)]
    with pytest.raises(UserError, match="an element of MultiDiscrete"):
        grid.step(np.array([0, 1]))
