"""What each format reads, refuses and cannot say: one case a line in ``cases/<dialect>.toml``."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.dialects.refusal import refused
from ui_gym.contract.action import parse
from ui_gym.contract.device import Element
from ui_gym.dialects import get_dialect
from ui_gym.dialects.seen import Seen
from ui_gym.errors import ActionError

CASES = {
    path.stem: tomllib.loads(path.read_text())
    for path in sorted(Path(__file__).with_name("cases").glob("*.toml"))
}
SEEN = Seen(
    (Element(0, "text", "Name", (10, 20, 40, 10)), Element(3, "list", "", (0, 100, 200, 60)))
)


def cases(table: str) -> list[tuple[str, ...]]:
    """The dialect's name and a line of a table, for all dialects."""
    return [(name, *line) for name, held in CASES.items() for line in held[table]]


def around_anthropic(said: str) -> Iterator[str]:
    """A call as the API gives it, in part or whole, or as Python prints it."""
    call = json.loads(said)
    block = {"type": "tool_use", "id": "toolu_01", "name": "computer", "input": call}
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "So:"}, block]
    message = {"role": "assistant", "stop_reason": "tool_use", "content": content}
    yield from map(json.dumps, (block, [block], content, message))
    yield f"I will do it now. {said}"
    yield f"Thus: {call!r}"


def around_openai(said: str) -> Iterator[str]:
    yield f"I do it.\n```json\n{json.dumps(json.loads(said), indent=2)}\n```"


def written_as(*forms: str) -> Callable[[str], Iterator[str]]:
    return lambda said: (form.replace("SAID", said) for form in forms)


AROUND: dict[str, Callable[[str], Iterator[str]]] = {
    "androidworld": written_as(
        "Reason: the {box} is there.\nAction: SAID", "Action: ```json\nSAID\n```"
    ),
    "anthropic": around_anthropic,
    "openai": around_openai,
    "pyautogui": written_as(
        "I do it.\n```python\nSAID\n```\nThen I look.", "```\nSAID\n```",
        "Observation: (a form)\nCode:\nSAID",
    ),
    "uitars": written_as("Thought: I do it.\nAction: SAID", "Thought: I do it. Action: SAID"),
}  # fmt: skip
"""What models write around what they say."""


@pytest.mark.parametrize(("name", "said", "actions"), cases("reads"))
def test_what_models_write_is_read(name: str, said: str, actions: str) -> None:
    size, wanted = tuple(CASES[name]["size"]), parse(actions)
    seen = SEEN if name == "androidworld" else Seen()
    for text in (said, *AROUND.get(name, written_as())(said)):
        assert get_dialect(name).parse(text, size, seen) == wanted
    if name == "qwen":  # each function's dialect reads the other's
        text = f"Thought: now.\nAction: I do it.\n{said}"
        assert get_dialect("qwen_mobile").parse(text, size) == wanted


@pytest.mark.parametrize(("name", "said", "kind", "message"), cases("mistakes"))
def test_a_mistake_is_named_with_its_kind(name: str, said: str, kind: str, message: str) -> None:
    seen = SEEN if name == "androidworld" else Seen()
    with refused(kind, message):
        get_dialect(name).parse(said, tuple(CASES[name]["size"]), seen)


@pytest.mark.parametrize(
    ("name", "action"),
    [
        (name, action)
        for held in CASES.values()
        for name, unsayable in held.get("unsayable", {}).items()
        for action in unsayable
    ],
)
def test_what_a_format_cannot_say_is_refused(name: str, action: str) -> None:
    dialect, actions = get_dialect(name), parse(action)
    assert not dialect.can_say(actions[0])
    with pytest.raises(ActionError, match=r"no words for|no way to write") as caught:
        dialect.render(actions, (100, 100))
    assert caught.value.kind == "name"
