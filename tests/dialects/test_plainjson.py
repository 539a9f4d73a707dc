from __future__ import annotations

import json

import pytest

from tests.dialects.refusal import refused
from ui_gym.contract.action import ACTIONS, Action, Click, Drag, Finish, Press, Type, Wait
from ui_gym.dialects.plainjson import PlainJson

SIZE = (100, 50)
plain = PlainJson()


@pytest.mark.parametrize(
    ("said", "actions"),
    [
        ('{"action": "click", "x": 1, "y": 2}', [Click(1, 2)]),
        ('{"action": "click", "x": 1, "y": 2, "button": "right", "count": 2, "keys": null}',
         [Click(1, 2, button="right", count=2)]),
        ("{'action': 'type', 'text': 'it\\'s', 'enter': True}", [Type("it's", enter=True)]),
        ('{"action": "type", "text": "two\nlines"}', [Type("two\nlines")]),
        ('[{"action": "press", "keys": "enter"}, {"action": "wait", "seconds": 2}]',
         [Press("enter"), Wait(2)]),
        ('{"action": "press", "keys": "enter"}\n{"action": "wait"}', [Press("enter"), Wait()]),
        ('{"thought": "so {it} is", "action": "wait"}', [Wait()]),
        ('I see {"a": 1} there.\n```json\n{"action": "wait"}\n```\nGood.', [Wait()]),
        ('{"action": "finish", "outcome": "failure", "message": "why"}',
         [Finish("failure", "why")]),
        ('{"action": "drag", "x1": 1, "y1": 2, "x2": 3, "y2": 4}', [Drag(1, 2, 3, 4)]),
    ],
)  # fmt: skip
def test_objects_are_read(said: str, actions: list[Action]) -> None:
    assert plain.parse(said, SIZE) == actions


@pytest.mark.parametrize(
    ("said", "kind", "message"),
    [
        ('{"action": "clik", "x": 1, "y": 2}', "name", "Did you mean 'click'"),
        ('{"action": "click", "x": 1}', "argument", "y is missing. It is written {"),
        ('{"action": "click", "x": 1, "y": 2, "z": 3}', "argument", "no argument 'z'"),
        ('{"action": "click", "x": "1", "y": 2}', "argument", "whole number"),
        ('{"action": "click", "x": 1e99, "y": 2}', "argument", "out of range"),
        ('{"action": "click", "x": 100, "y": 2}', "argument", "outside the screen"),
        ('{"action": "type", "text": "\\ud83d"}', "argument", "half of a surrogate pair"),
        ('{"action": {"click": 1}}', "argument", "action must be a string, not an object"),
        ('{"x": 1}', "name", "no action ''"),
        ("{}", "parse", "no action in '{}'"),
        ("click(1, 2)", "parse", 'Write it as in {"action": "click"'),
    ],
)
def test_a_mistake_is_named_with_its_kind(said: str, kind: str, message: str) -> None:
    with refused(kind, message):
        plain.parse(said, SIZE)


def test_a_thought_stands_in_the_first_object() -> None:
    text = plain.render([Click(1, 2), Finish()], SIZE, 'the "box"')
    assert json.loads(text) == [
        {"thought": 'the "box"', "action": "click", "x": 1, "y": 2},
        {"action": "finish", "outcome": "success"},
    ]


def test_the_prompt_teaches_every_action_by_an_example_that_is_one() -> None:
    prompt = plain.prompt((640, 480))
    assert "640 pixels wide and 480 high" in prompt
    lines = [line for line in prompt.splitlines() if line.startswith("- {")]
    found = [plain.parse(line.rpartition(":")[0], (640, 480))[0].name for line in lines]
    assert found == list(ACTIONS)
