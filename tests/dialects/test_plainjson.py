from __future__ import annotations

import json

from ui_gym.contract.action import ACTIONS, Click, Finish
from ui_gym.dialects.plainjson import PlainJson

SIZE = (100, 50)
plain = PlainJson()


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
