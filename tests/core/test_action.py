"""The canonical action language: what it reads, what it refuses, and that it round-trips."""

from __future__ import annotations

import dataclasses
import gc
import sys
import threading
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_gym.contract.action import (
    ACTIONS,
    MAX_ACTIONS,
    Action,
    Click,
    Drag,
    Finish,
    Scroll,
    Type,
    check_points,
    parse,
    usage,
)
from ui_gym.dialects import get_dialect
from ui_gym.errors import ActionError

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
BY_TYPE = {
    "int": st.integers(0, 2000),
    "float": st.floats(0, 60, allow_nan=False),
    "str": TEXT,
    "bool": st.booleans(),
}


@st.composite
def actions(draw: st.DrawFn) -> Action:
    """Any valid action with any arguments."""
    kind = draw(st.sampled_from(list(ACTIONS.values())))
    values = {}
    for field in dataclasses.fields(kind):
        hint = typing.get_type_hints(kind)[field.name]
        if typing.get_origin(hint) is typing.Literal:
            values[field.name] = draw(st.sampled_from(typing.get_args(hint)))
        elif field.name == "count":
            values[field.name] = draw(st.integers(1, 3))
        elif kind.name == "press":
            values[field.name] = draw(TEXT.filter(lambda text: text.strip() and "+" not in text))
        elif kind.name == "type" and hint is str:
            values[field.name] = "".join(c for c in draw(TEXT) if c in "\n\t" or c.isprintable())
        else:
            values[field.name] = draw(BY_TYPE[hint.__name__])
    return kind(**values)


@given(st.lists(actions(), min_size=1, max_size=MAX_ACTIONS))
def test_what_is_written_is_read_back(said: list[Action]) -> None:
    assert parse("; ".join(map(str, said))) == said
    assert parse("\n".join(map(str, said))) == said


@given(st.lists(actions(), min_size=1, max_size=MAX_ACTIONS))
def test_the_canonical_dialect_round_trips(said: list[Action]) -> None:
    dialect = get_dialect("canonical")
    assert dialect.parse(dialect.render(said, (2001, 2001)), (2001, 2001)) == said


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_as_an_action_error(text: str) -> None:
    kind = None
    try:
        assert all(isinstance(action, Action) for action in parse(text))
    except ActionError as error:
        kind = error.kind
    assert kind in (None, "parse", "name", "argument")


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("", "parse", "no action given"),
        ("I click the button", "parse", "Write one action, as in click(10, 20)"),
        ("x = 1", "parse", "is not an action"),
        ("clik(1, 2)", "name", "Did you mean 'click'?"),
        ("click(1)", "argument", "It is written click(x, y, button="),
        ("click(1, 2, 3, 4, 5, 6)", "argument", "It is written click(x, y"),
        ("click(1, 2, colour='red')", "argument", "colour"),
        ("click(1.5, 2)", "argument", "x must be a whole number, not 1.5"),
        ("click('1', 2)", "argument", "whole number"),
        ("click(1, 2, 'top')", "argument", "'left', 'middle', 'right'"),
        ("click(1, 2, count=9)", "argument", "1, 2 or 3"),
        ("click(*[1, 2])", "argument", "plain numbers"),
        ("click(**{'x': 1})", "argument", "not allowed"),
        ("wait(1000)", "argument", "0 to 60"),
        ("type(__import__('os').getcwd())", "argument", "plain numbers"),
        ("type('a' * 10)", "argument", "plain numbers"),
        ("press('')", "argument", 'press("enter")'),
        ("press('ctrl+')", "argument", "a key is missing in 'ctrl+'. A chord is written press("),
        ("press('+c')", "argument", "a key is missing in '+c'"),
        ("press('a+b+c')", "argument", "names 3 keys beside modifiers. A chord is one key with"),
        ("type('a\\x07')", "argument", r"the control character '\x07'; line breaks (\n) and"),
        ("type('a\\rb')", "argument", r"the control character '\r'"),
        ("finish('maybe')", "argument", "'infeasible'"),
        ("; ".join(["wait(0)"] * (MAX_ACTIONS + 1)), "parse", "at most 16"),
        ("(" * 5000, "parse", "cannot read"),
    ],
)
def test_a_wrong_text_is_answered_with_what_is_right(text: str, kind: str, says: str) -> None:
    with pytest.raises(ActionError) as caught:
        parse(text)
    assert caught.value.kind == kind
    assert says in str(caught.value)


def test_nothing_in_a_text_is_executed(tmp_path: typing.Any) -> None:
    victim = tmp_path / "victim"
    for text in (f"type(open({str(victim)!r}, 'w'))", f"open({str(victim)!r}).write('x')"):
        with pytest.raises(ActionError):
            parse(text)
    assert not victim.exists()


def test_defaults_are_left_out_and_positions_are_optional() -> None:
    assert str(Click(1, 2)) == "click(1, 2)"
    assert str(Type('a "b"\n', enter=True)) == r'type("a \"b\"\n", enter=True)'
    assert str(Finish("failure", "no door")) == 'finish("failure", "no door")'
    assert parse("scroll(x=1, y=2, dy=-30)") == [Scroll(1, 2, 0, -30)]
    assert usage("drag") == "drag(x1, y1, x2, y2, seconds=0.3)"


def test_points_outside_the_screen_are_named() -> None:
    check_points([Click(0, 0), Click(9, 4)], (10, 5))
    for action in (Click(10, 0), Click(0, 5), Drag(0, 0, 0, 5), Click(-1, 0)):
        with pytest.raises(ActionError, match="outside the screen; x is 0 to 9, y is 0 to 4"):
            check_points([action], (10, 5))


def test_actions_can_be_read_in_many_threads_at_once() -> None:
    """CPython before 3.13 raised SystemError where two syntax trees were made at once."""
    wrong: list[BaseException] = []
    text = "; ".join(f'drag({i}, 2, 3, 4, seconds=1); type("{"x" * i}")' for i in range(8))

    def read() -> None:
        try:
            for _ in range(30):
                assert len(parse(text)) == 16
        except BaseException as error:
            wrong.append(error)

    def pause(phase: str, info: dict[str, int]) -> None:
        """Python code in the middle of making a tree: where another thread may come in."""

    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(20)
    gc.callbacks.append(pause)
    try:
        threads = [threading.Thread(target=read) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        gc.callbacks.remove(pause)
        gc.set_threshold(*thresholds)
        sys.setswitchinterval(interval)
    assert not wrong
