"""SliderSet's logic."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from task_helpers import draws, goals, judge, levels, verdicts

from ui_gym.browser.content.panels import MOST, PANELS, Slider
from ui_gym.browser.tasks.slider_set import SliderSet, SliderSetParams
from ui_gym.errors import UserError

# Fade in, Ceiling lamp, Warmth: the first to 40 s, the last to 3000 K.
SCENE = SliderSetParams(
    panel="lights", shown=(6, 0, 5), starts=(10, 50, 5000), asked=((0, 40), (2, 3000)), columns=1,
    place=0, theme=0, phrasing=0,
)  # fmt: skip


def applied(*values: int) -> Any:
    return ("apply", {"values": list(values)})


test_slider_set_scores = verdicts(
    SliderSet(level="easy", slack=0),
    SCENE,
    {
        "right": (applied(40, 50, 3000), 1.0, True),
        "one off": (applied(41, 50, 3000), 0.5, True),
        "only others": (applied(10, 51, 5000), 0.0, True),
        "swapped": (applied(3000, 50, 40), 0.0, True),
        "too late": (applied(40, 50, 5000), applied(40, 50, 3000), 0.5, True),
        "two wrong": (applied(40, 60, 5000), 0.0, True,
            "Ceiling lamp is at 60 %, not 50 %; Warmth is at 5000 K, not 3000 K"),
    },
)  # fmt: skip


@pytest.mark.parametrize(
    ("slack", "values", "score"),
    [(2, (41, 50, 3050), 1), (2, (42, 50, 3050), 0.5), (5, (38, 50, 2900), 1),
     (5, (40, 51, 3000), 0.5)],
    ids=["within", "beyond", "far within", "another moved"],
)  # fmt: skip
def test_slider_set_slack(slack: int, values: tuple[int, ...], score: float) -> None:
    assert judge(SliderSet(level="easy", slack=slack), SCENE, applied(*values)).score == score


@levels(SliderSet)
def test_slider_set_goals_name_sliders_values_and_slack(task: Any) -> None:
    panels = set()
    for params, goal in goals(task):
        panels.add(params.panel)
        for i, value in params.asked:
            slider = params.sliders[i]
            assert f'"{slider.label}" to {slider.said(value)}' in goal
        assert ("give or take" in goal) <= (task.slack > 0)
    assert panels == set(PANELS)


@levels(SliderSet)
def test_slider_set_targets_can_be_met_and_are_not_met_yet(task: Any) -> None:
    for params in draws(task):
        assert len({i for i, _ in params.asked}) == task.changes
        for i, value in params.asked:
            slider = params.sliders[i]
            assert value in range(slider.low, slider.high + 1, slider.step)
            assert abs(value - params.starts[i]) > 2 * task._tolerance(slider)
        for slider, start in zip(params.sliders, params.starts, strict=True):
            assert start in range(slider.low, slider.high + 1, slider.step)


def test_panels_have_sliders_to_tell_apart() -> None:
    for panel in PANELS.values():
        assert len({slider.label for slider in panel.sliders}) == len(panel.sliders) == MOST
        assert all((s.high - s.low) % s.step == 0 for s in panel.sliders)
    assert Slider("Bass", -12, 12, 1, " dB").said(3) == "+3 dB"
    assert Slider("Bass", -12, 12, 1, " dB").said(-3) == "-3 dB"
    assert Slider("Bed", 20, 110, 1, " °C").said(30) == "30 °C"


def test_slider_set_mistakes() -> None:
    task, rng = SliderSet(), np.random.default_rng(0)
    for _ in range(20):
        (first, _), (last, _) = task.misread(SCENE, "neighbour", rng).asked
        assert (first, last) in {(1, 2), (0, 1)}
        off = task.misread(SCENE, "value", rng).asked
        assert [i for i, _ in off] == [0, 2]
        assert off != SCENE.asked
    one = dataclasses.replace(SCENE, asked=((2, 3000),))
    assert task.misread(one, "neighbour", rng).asked == ((1, 100),)


def test_slider_set_compact_stops_are_half_a_patch_apart(make_device: Any) -> None:
    task = SliderSet(compact=True)
    device = make_device(task.viewport)
    panels = {}
    for params in draws(task):
        panels.setdefault(params.panel, params)
    assert set(panels) == {"rows", "faders"}
    for params in panels.values():
        task.setup(device, params)
        device.perform(task._drag(device, params, 0, 0))
        low = task._drag(device, params, 0, 9)
        assert abs(low.x2 - low.x1) + abs(low.y2 - low.y1) == 9 * 16
        device.perform(dataclasses.replace(low, x2=low.x2 - 7, y2=low.y2 + 7))
        assert device.state()["values"][0] == 9  # pointed at roughly


@pytest.mark.parametrize(
    ("given", "said"),
    [({"slack": 2}, "slack is 0, not 2"), ({"sliders": 6}, "sliders must be 2 to 5, not 6")],
    ids=["slack", "sliders"],
)
def test_slider_set_compact_refuses(given: dict[str, int], said: str) -> None:
    with pytest.raises(UserError, match=said):
        SliderSet(compact=True, **given)
