"""What every dialect keeps: round trips, and `ActionError` for whatever is not an action."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dialects.strategies import TEXT, THOUGHTS, actions, screens
from ui_gym.contract.action import MAX_ACTIONS, Action, Click, Type
from ui_gym.dialects import DIALECTS, Dialect, get_dialect
from ui_gym.dialects.cells import Cells
from ui_gym.dialects.qwen import Qwen25
from ui_gym.dialects.seen import Seen
from ui_gym.dialects.uitars import UITars15
from ui_gym.errors import ActionError, UserError

SIZE = (320, 256)

pytestmark = pytest.mark.filterwarnings("ignore:invalid escape")


@pytest.fixture(params=DIALECTS, scope="module")
def dialect(request: pytest.FixtureRequest) -> Dialect:
    return get_dialect(request.param)


def snapped(dialect: Dialect, found: list[Action], size: tuple[int, int]) -> list[Action]:
    """`found` as the dialect's grid can say it, where that may be coarser than these screens."""
    if not isinstance(dialect, Cells | UITars15 | Qwen25):
        return found
    return dialect.parse(dialect.render(found, size), size)


def attempt(dialect: Dialect, text: str) -> None:
    """Any text is either understood or an `ActionError`."""
    try:
        found = dialect.parse(text, SIZE)
    except ActionError as caught:
        kind, message = caught.kind, str(caught)
    else:
        assert 1 <= len(found) <= MAX_ACTIONS
        assert all(0 <= x < SIZE[0] and 0 <= y < SIZE[1] for a in found for x, y in a.points())
        return
    assert kind in ("parse", "name", "argument")
    assert message


def test_a_dialect_is_what_its_name_says(dialect: Dialect) -> None:
    assert isinstance(dialect, Dialect)
    assert get_dialect(dialect.name) is dialect


def test_an_unknown_dialect_is_named_with_the_nearest() -> None:
    with pytest.raises(UserError, match=r"no dialect 'uitar'\. Did you mean 'uitars'"):
        get_dialect("uitar")


@given(screen=screens(), thought=THOUGHTS)
@settings(max_examples=80)
def test_what_can_be_said_is_read_back(
    dialect: Dialect, screen: tuple[tuple[int, int], list[Action]], thought: str
) -> None:
    size, found = screen
    sayable = [action for action in found if dialect.can_say(action)] or [Click(0, 0)]
    sayable = snapped(dialect, sayable, size)
    assert dialect.parse(dialect.render(sayable, size, thought), size) == sayable


@given(action=actions(SIZE))
@settings(max_examples=50)
def test_render_refuses_exactly_what_cannot_be_said(dialect: Dialect, action: Action) -> None:
    if dialect.can_say(action):
        dialect.render([action], SIZE)
    else:
        with pytest.raises(ActionError) as caught:
            dialect.render([action], SIZE)
        assert caught.value.kind == "name"


@given(st.data())
@settings(max_examples=50)
def test_mutated_text_raises_only_action_errors(dialect: Dialect, data: st.DataObject) -> None:
    size, found = data.draw(screens(most=2))
    said = [action for action in found if dialect.can_say(action)]
    text = dialect.render(said, size, "a thought") if said else "click(1, 2)"
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 6)))
    attempt(dialect, text[:start] + data.draw(st.text(max_size=20) | TEXT) + text[end:])


@given(st.text() | st.text(alphabet="Action: clikty(')\"=,\\\n;<x1>[]{}09.-e`", max_size=60))
@settings(max_examples=50)
def test_random_text_raises_only_action_errors(dialect: Dialect, text: str) -> None:
    attempt(dialect, text)
    attempt(dialect, "Action: " + text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00",
        "\ud800",
        "-" * 90_000 + "1",
        "(" * 50_000,
        "f(" * 20_000,
        "wait(" + "9" * 400 + ")",
        "wait(0x" + "f" * 5000 + ")",
        "click(1e400, 1)",
        "Action: click(start_box=" + " " * 90_000,
        "Action: type(content='" + "' " * 40_000,
        "Action: long_press(start_box='(1,1)', time='1e999')",
        "Action: click(start_box='[-1e999 1 1e999 1]')",
        "Action: " * 10_000,
        "Action: " + "wait()\n" * 14_000,
        "click(<x999999><y1>)",
        "click(" + "<x1>" * 20_000,
        "x" * 1_000_000,
        '{"a":' * 20_000,
        '{"a":{"b":' * 9_000,
        '{"' * 40_000,
        "{'" * 40_000,
        "{'a':" * 18_000,
        "{'a': [(" * 12_000,
        '{"a": 1}' * 12_000,
        "{'x': '" + "\\" * 90_000,
        '{"output": [' * 400 + "{}" + "]}" * 400,
        '{"name": "computer_use", "arguments": "' + '{\\"a\\":' * 8_000 + '"}',
        '{"action": "wait", "seconds": ' + "9" * 90_000 + "}",
        '{"action": "wait", "seconds": NaN}',
        '{"action": "wait", "time": 1e999, "duration": 1e999}',
        '{"action": "left_click", "coordinate": [1e308, -1e308]}',
        '{"action": "key", "text": "' + "a " * 40_000 + '", "repeat": 100}',
        '{"action": "scroll", "pixels": 99999999999999999, "scroll_amount": 99999999999999999}',
        '{"action_type": "scroll", "direction": "down", "distance": 1e300}',
        '{"action_type": "click", "index": 1e308}',
        '{"action": "' + "y" * 90_000 + '"}',
        '{"type": "type", "text": "\\ud800"}',
        '{"type": "drag", "path": [' + "[1, 1], " * 10_000 + "[2, 2]]}",
        "<tool_call>" * 9_000,
        "Action:\n" * 12_000,
        "```" * 30_000,
        "```python\n" + "pyautogui.press('a')\n" * 4_000,
        "pyautogui.click(" + "9" * 5_000 + ", 1)",
        "pyautogui.click(0x" + "f" * 5_000 + ", 1)",
        "pyautogui.click(" + "-" * 5_000 + "1)",
        "pyautogui.click(" + "(" * 5_000,
        "pyautogui.click(1" + ", x=1" * 10_000 + ")",
        "pyautogui.press([" + "'a'," * 20_000 + "], presses=100)",
        "pyautogui.click" + ".x" * 20_000 + "()",
    ],
    ids=lambda text: repr(text[:24]),
)
def test_hostile_text_raises_only_action_errors_and_soon(dialect: Dialect, text: str) -> None:
    started = time.process_time()
    attempt(dialect, text)
    assert time.process_time() - started < 20  # what takes long takes minutes or years


def test_text_is_never_executed(dialect: Dialect, tmp_path: Path) -> None:
    trap = str(tmp_path / "trap")
    for text in (
        f"open(__import__('os').mkdir({trap!r}))",
        f"Action: click(open({trap!r},'w'))",
        f"```python\nimport os\nos.mkdir({trap!r})\n```",
        f"pyautogui.write(__import__('os').mkdir({trap!r}))",
        f"{{'action': __import__('os').mkdir({trap!r})}}",
    ):
        with pytest.raises(ActionError):
            dialect.parse(text, SIZE)
    assert not list(tmp_path.iterdir())


def test_a_prompt_teaches_what_can_be_read(dialect: Dialect) -> None:
    """A line of a prompt that is an object is an action, as it stands there."""
    size, seen = (1280, 800), Seen(pointer=(1, 1))
    for elements in (False, True):
        prompt = dialect.prompt(size, elements=elements)
        lines = [line for line in prompt.splitlines() if line.startswith('{"')]
        for line in lines:
            if "left_mouse" not in line and "<arguments>" not in line:  # halves of something
                assert dialect.parse(line, size, seen)


def test_render_refuses_a_point_outside_and_an_empty_step(dialect: Dialect) -> None:
    with pytest.raises(ActionError, match="outside the screen") as caught:
        dialect.render([Click(320, 10)], SIZE)
    assert caught.value.kind == "argument"
    with pytest.raises(ActionError, match="1 to 16 actions, not 0"):
        dialect.render([], SIZE)
    with pytest.raises(ActionError, match="not 17"):
        dialect.render([Type("a")] * 17, SIZE)
