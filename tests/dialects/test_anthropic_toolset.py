from __future__ import annotations

import json

from ui_gym.contract.action import Answer, Click, LongPress, Press, Type
from ui_gym.dialects.anthropic_toolset import AnthropicToolset
from ui_gym.dialects.seen import Seen

SIZE = (500, 200)
toolset = AnthropicToolset()


def use(name: str, **arguments: object) -> dict[str, object]:
    told = {"name": name, "toolset_name": "computer", "input": arguments}
    return {"type": "tool_use", "id": f"toolu_{name}", **told}


def test_several_blocks_of_a_message_are_several_actions() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    words = {"type": "text", "text": "I click and type."}
    click, text = use("left_click", coordinate=[1, 2]), use("type", text="Ann\n")
    content = [thinking, words, click, text]
    for said in (content, {"role": "assistant", "content": content}, [click, text]):
        found = toolset.parse(json.dumps(said), SIZE)
        assert found == [Click(1, 2), Type("Ann", enter=True)]


def test_a_click_without_a_point_is_where_the_pointer_is() -> None:
    click = json.dumps(use("triple_click"))
    assert toolset.parse(click, SIZE, Seen(pointer=(7, 8))) == [Click(7, 8, count=3)]


def test_a_message_without_a_call_is_the_answer() -> None:
    for content in ([{"type": "text", "text": "It is 42."}], "It is 42."):
        said = json.dumps({"role": "assistant", "content": content})
        assert toolset.parse(said, SIZE) == [Answer("It is 42.")]


def test_members_are_written_as_the_toolset_has_them() -> None:
    assert json.loads(toolset.render([Press("ctrl+enter")], SIZE)) == {
        "type": "tool_use",
        "name": "key",
        "toolset_name": "computer",
        "input": {"text": "ctrl+Return"},
    }
    held = toolset.render([LongPress(5, 6, 2)], SIZE)
    assert [one["name"] for one in json.loads(held)] == [
        "mouse_move", "left_mouse_down", "wait", "left_mouse_up"
    ]  # fmt: skip
    assert toolset.parse(held, SIZE) == [LongPress(5, 6, 2)]
