"""Objects among what models write around them."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ui_gym.dialects.jsonish import read_object, read_objects, write_object
from ui_gym.errors import ActionError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, min_size=1, max_size=4)


def read(text: str) -> list[dict[str, Any]]:
    return read_objects(text, "{...}")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', [{"a": 1}]),
        ('so {"a": 1} it is', [{"a": 1}]),
        ('{"a": 1} {"b": 2}', [{"a": 1}, {"b": 2}]),
        ('[{"a": 1},\n {"b": 2}]', [{"a": 1}, {"b": 2}]),
        ('{"a": 1}; {"b": 2}', [{"a": 1}, {"b": 2}]),
        ('{"a": 1} but {"b": 2}', [{"b": 2}]),
        ('```json\n{"a": 1}\n```', [{"a": 1}]),
        ('```json\n{"a": 1}\n```\n```json\n{"b": 2}\n```', [{"a": 1}, {"b": 2}]),
        ('{"a": 1}\nAction: {"b": 2}\n', [{"b": 2}]),
        ('**Action:** {"b": 2}', [{"b": 2}]),
        ('{"a": "\nAction: x"}\nAction: {"b": 2}', [{"b": 2}]),
        ('hm <tool_call>{"a": 1}</tool_call> {"b": 2}', [{"a": 1}]),
        ('<tool_call>\n{"a": 1}\n</tool_call> and <tool_call>{"b": 2}', [{"a": 1}, {"b": 2}]),
        ('{"a": {"b": [1, {"c": null}]}}', [{"a": {"b": [1, {"c": None}]}}]),
        ("{'a': 'it\\'s', \"b\": True, 'c': (1, -2.5,), 'd': None,}",
         [{"a": "it's", "b": True, "c": [1, -2.5], "d": None}]),
        ("{'a': 1}, {'b': 2}", [{"a": 1}, {"b": 2}]),
        ("{'a': 1} or {'b': 2}", [{"b": 2}]),
        ("{\"a\": 1} or {'b': 2}", [{"b": 2}]),
        ('{"a": {"b": 2}', [{"b": 2}]),
        ("{ 'a' : { 'b' : [ ] , 'c' : { } } }", [{"a": {"b": [], "c": {}}}]),
        ('it\'s {"a": "it\'s"}', [{"a": "it's"}]),
        ("{'it\"s { \n{\"a\": 1}", [{"a": 1}]),
        ('{"a": "raw\nline\ttab"}', [{"a": "raw\nline\ttab"}]),
        ('{"a": "\\ud83d\\ude42"}', [{"a": "🙂"}]),
        ('{"a": 12345678901234567890}', [{"a": math.inf}]),
        ('{"a": -12345678901234567890}', [{"a": -math.inf}]),
    ],
)  # fmt: skip
def test_objects_are_found(text: str, found: list[dict[str, Any]]) -> None:
    assert read(text) == found


@pytest.mark.parametrize(
    "text",
    ["", "{}", "{a: 1}", "{'a'}", "{'a': }", "{'a': b}", "{1: 2}", "{[1]: 2}", "{'a': 1", "[1, 2]",
     "{'a': __import__('os')}", "{'a': 1 + 1}", "{'a': [1 2]}", "{'a': 'b' 'c'}", "<tool_call>",
     'I did {"a": 1}. Now {"b": ', "I did {'a': 1}. Now {'b': ", '{"a": 1}' + ' {"' * 600],
)  # fmt: skip
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(ActionError, match=r"no action in .*\. Write it as in \{\.\.\.\}") as caught:
        read(text)
    assert caught.value.kind == "parse"


@given(st.lists(OBJECTS, min_size=1, max_size=3), st.text(max_size=30))
@settings(max_examples=150)
def test_what_is_written_is_read_after_any_thought(said: list[Any], thought: str) -> None:
    text = f"{thought}\nAction: " + ",\n".join(map(write_object, said))
    assert read(text) == said
    assert read_object(write_object(said[0])) == said[0]


@given(OBJECTS)
@settings(max_examples=150)
def test_what_python_prints_is_read(said: dict[str, Any]) -> None:
    assert read(repr(said)) == [said]


@pytest.mark.parametrize("text", ["", "42", '{"a": 1} x', 'x {"a": 1}', "[]", '{"a": 1'])
def test_an_object_alone_is_nothing_else(text: str) -> None:
    assert read_object(text) is None
