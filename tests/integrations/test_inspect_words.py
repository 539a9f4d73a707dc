"""What calls of Inspect's computer tool say; needs no Inspect."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from ui_gym.dialects import get_dialect
from ui_gym.errors import ActionError
from ui_gym_agents.integrations.inspect_words import ShownScreen, is_held, spoken, zoomed

SIZE = (640, 400)
SCREEN = ShownScreen(SIZE)


def read(arguments: dict[str, Any], screen: ShownScreen = SCREEN) -> str:
    actions = get_dialect("anthropic").parse(json.dumps(spoken(arguments, screen)), screen.size)
    return "; ".join(map(str, actions))


@pytest.mark.parametrize(
    ("arguments", "action"),
    [
        ({"action": "left_click", "coordinate": [3, 4], "text": None}, "click(3, 4)"),
        ({"action": "double_click", "coordinate": [3, 4]}, "click(3, 4, count=2)"),
        ({"action": "type", "text": "Ann"}, 'type("Ann")'),
        (
            {"action": "type", "text": "Ann", "coordinate": [3, 4], "press_enter": True},
            'click(3, 4); type("Ann"); press("enter")',
        ),
        ({"action": "key", "text": "CTRL+A"}, 'press("ctrl+a")'),
        ({"action": "key", "text": "ARROWDOWN", "repeat": 2}, 'press("down"); press("down")'),
        ({"action": "key", "text": "ctrl++"}, 'press("ctrl++")'),
        ({"action": "key", "text": "A"}, 'press("A")'),
        ({"action": "key", "text": "back"}, 'press("back")'),
        (
            {"action": "scroll", "coordinate": [3, 4], "scroll_direction": "up",
             "scroll_amount": 2},
            "scroll(3, 4, dy=-200)",
        ),
        (
            {"action": "left_click_drag", "start_coordinate": [1, 2], "coordinate": [3, 4]},
            "drag(1, 2, 3, 4)",
        ),
        ({"action": "navigate", "text": "http://a.b"}, 'open("http://a.b")'),
        ({"action": "open_web_browser"}, "wait(seconds=0.0)"),
        ({"action": "zoom", "region": [0, 0, 9, 9]}, "wait(seconds=0.0)"),
        (
            {"actions": [{"action": "left_click", "coordinate": [3, 4]},
                         {"action": "wait", "duration": 1}]},
            "click(3, 4); wait()",
        ),
    ],
)  # fmt: skip
def test_calls_become_actions(arguments: dict[str, Any], action: str) -> None:
    assert read(arguments) == action


@pytest.mark.parametrize(
    "arguments",
    [
        {}, {"action": None}, {"actions": []}, {"actions": ["click"]}, {"actions": 3},
        {"action": "back_click", "coordinate": [3, 4]}, {"action": "cursor_position"},
        {"action": "left_click", "coordinate": [3]}, {"action": "left_click", "coordinate": "here"},
        {"action": "left_click", "coordinate": [3, 4000]}, {"action": "type"},
        {"action": "type", "text": 1, "coordinate": {}}, {"action": "key", "text": []},
        {"action": ["type"], "text": "a"}, {"action": {}},
    ],
)  # fmt: skip
@pytest.mark.parametrize("screen", [SCREEN, ShownScreen(SIZE, (320, 320))])
def test_what_says_no_action_is_left_for_the_dialect(
    arguments: dict[str, Any], screen: ShownScreen
) -> None:
    with pytest.raises(ActionError):
        read(arguments, screen)


def test_a_screen_that_does_not_fit_is_made_smaller_and_points_lead_back() -> None:
    screen = ShownScreen((1000, 500), (500, 400))
    image = np.zeros((500, 1000, 3), np.uint8)
    image[200:220, 600:640] = 255
    shown = screen.show(image)
    assert shown.shape == (400, 500, 3)
    assert shown[105, 310].tolist() == [255, 255, 255]
    assert not shown[250:].any()
    assert screen.place([310, 105]) == [620, 210]
    assert screen.place([500, 250]) == [999, 499]
    assert screen.place([300, 300]) == [600, 600]  # nothing of the screen is shown there


def test_a_screen_that_fits_stays_as_it_is() -> None:
    screen = ShownScreen((320, 256), (1366, 768))
    image = np.full((256, 320, 3), 7, np.uint8)
    assert (screen.show(image)[:256, :320] == image).all()
    assert screen.place([310, 105]) == [310, 105]
    assert SCREEN.show(image) is image


def test_a_zoom_shows_the_region_larger() -> None:
    image = np.zeros((100, 200, 3), np.uint8)
    image[:10, :20] = 255
    call = {"action": "zoom", "region": [0, 0, 20, 10]}
    found = zoomed(call, image)
    assert found is not None
    assert found.shape == image.shape
    assert (found == 255).all()
    assert zoomed({"actions": [{"action": "wait"}, call]}, image) is not None


@pytest.mark.parametrize(
    "region", [None, [1, 2], [5, 5, 5, 9], [0, 0, 201, 9], "all", [-1, 0, 5, 5]]
)
def test_a_zoom_into_no_region_shows_the_screen(region: Any) -> None:
    image = np.zeros((100, 200, 3), np.uint8)
    assert zoomed({"action": "zoom", "region": region}, image) is None
    assert zoomed({"action": "screenshot"}, image) is None


def test_a_button_is_held_until_it_is_released() -> None:
    down, up = {"action": "left_mouse_down", "coordinate": [1, 2]}, {"action": "left_mouse_up"}
    move = {"action": "mouse_move", "coordinate": [30, 40]}
    assert is_held([down])
    assert is_held([down, move])
    assert not is_held([down, move, up])
    assert read({"actions": [down, move, up]}) == "drag(1, 2, 30, 40)"
