"""The Responses API over a policy: words, and a computer whose screenshots it is shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engines.foreign_agents import data_url
from tests.engines.policy_serving import Json, ServedPolicy
from tests.policy.tiny_models import picture
from ui_gym_agents.agents.agent import View
from ui_gym_agents.episode import Turn
from ui_gym_agents.policy import PromptBuilder, VLMPolicy
from ui_gym_agents.serving.responses_wire import WAIT, in_their_words

COMPUTER = [{"type": "computer"}]
PREVIEW = [{"type": "computer_use_preview", "display_width": 96, "display_height": 64,
            "environment": "browser"}]  # fmt: skip
PROMPT = PromptBuilder(system="Look.", history=2, recall=2)


@pytest.fixture
def served(make_policy: Callable[..., VLMPolicy], tmp_path: Path) -> Iterator[ServedPolicy]:
    found = ServedPolicy(make_policy(prompt=PROMPT), tmp_path)
    yield found
    found.close()


def respond(served: ServedPolicy, given: Any, **body: Any) -> Json:
    asked = {"input": given, **body}
    found: Json = served.post("responses", asked).raise_for_status().json()
    return found


def screen(call: Json, number: int) -> Json:
    """What a call of the computer came to."""
    shown = {"type": "computer_screenshot", "image_url": data_url(picture(number))}
    return {"type": "computer_call_output", "call_id": call["call_id"], "output": shown}


def speak(served: ServedPolicy, *texts: str) -> None:
    """Let the policy's next samples say these texts."""
    waiting = iter(texts)
    served.policy.text = lambda ids: next(waiting)  # type: ignore[method-assign]


def prompts(served: ServedPolicy) -> list[tuple[int, ...]]:
    return [record.prompt_ids for record in served.trace()]


def test_a_computer_is_asked_as_the_policy_was_trained(served: ServedPolicy) -> None:
    said = ["click(5, 6)", 'type("a")', "drag((1, 2), (3, 4)) nonsense"]
    speak(served, *said)
    items: list[Json] = [{"role": "user", "content": "Enter row 3"}]
    looked = respond(served, items, tools=COMPUTER)
    (call,) = looked["output"]
    assert call["actions"] == [{"type": "screenshot"}]
    assert served.trace() == [], "nobody sampled the look at the screen"
    expected = []
    for number in range(3):
        items += [call, screen(call, number)]
        turns = [Turn("", text) for text in said[:number]]
        view = View(0, "Enter row 3", [picture(i) for i in range(number + 1)], turns=turns)
        expected.append(served.policy.question(view).ids)
        (call,) = respond(served, items, tools=COMPUTER)["output"]
        told = [[{"type": "click", "x": 5, "y": 6, "button": "left"}],
                [{"type": "type", "text": "a"}], [WAIT]]  # fmt: skip
        assert call["actions"] == told[number]
    assert prompts(served) == expected


def test_a_previous_response_goes_on_and_others_do_not_mix(served: ServedPolicy) -> None:
    speak(served, "click(5, 6)", "click(7, 8)")
    looks = [respond(served, goal, tools=PREVIEW) for goal in ("One", "Two")]
    assert looks[0]["id"] != looks[1]["id"]
    for number, look in enumerate(looks):
        (call,) = look["output"]
        assert call["action"] == {"type": "screenshot"}
        found = respond(served, [screen(call, number)], tools=PREVIEW,
                        previous_response_id=look["id"])  # fmt: skip
        assert found["previous_response_id"] == look["id"]
        assert found["output"][0]["action"]["x"] == 5 + 2 * number
    views = [View(0, goal, [picture(n)]) for n, goal in enumerate(("One", "Two"))]
    assert prompts(served) == [served.policy.question(view).ids for view in views]


def test_what_was_left_out_of_the_input_is_told_in_words(served: ServedPolicy) -> None:
    speak(served, "click(5, 6)", "wait(1)")
    (look,) = respond(served, "Go", tools=COMPUTER)["output"]
    items = [{"role": "user", "content": "Go"}, look, screen(look, 0)]
    (call,) = respond(served, items, tools=COMPUTER)["output"]
    kept = [items[0], call, {"role": "user", "content": "it moved"}, screen(call, 1)]
    respond(served, kept, tools=COMPUTER, instructions="Be quick")
    turn = Turn("", "click(5, 6)", feedback="it moved")
    view = View(0, "Be quick\nGo", [picture(1)], feedback="it moved", turns=[turn])
    assert prompts(served)[1] == served.policy.question(view).ids


@pytest.mark.parametrize(
    ("text", "said"), [('answer("42")', "42"), ('finish("success", "done")', "done")]
)
def test_what_ends_an_episode_is_a_message(served: ServedPolicy, text: str, said: str) -> None:
    speak(served, text)
    (look,) = respond(served, "Go", tools=COMPUTER)["output"]
    items = [{"role": "user", "content": "Go"}, look, screen(look, 0)]
    (message,) = respond(served, items, tools=COMPUTER)["output"]
    assert message["type"] == "message"
    assert said in message["content"][0]["text"]


def test_a_preview_takes_one_action_and_says_wait_for_several(served: ServedPolicy) -> None:
    speak(served, 'click(5, 6)\ntype("a")', 'click(5, 6)\ntype("a")')
    (look,) = respond(served, "Go", tools=PREVIEW)["output"]
    items = [{"role": "user", "content": "Go"}, look, screen(look, 0)]
    assert respond(served, items, tools=PREVIEW)["output"][0]["action"] == WAIT
    assert len(respond(served, items, tools=COMPUTER)["output"][0]["actions"]) == 2
    assert in_their_words([]) == [WAIT]


def test_words_are_a_conversation(served: ServedPolicy) -> None:
    first = respond(served, "Hello", instructions="Be kind")
    text = first["output"][0]["content"][0]["text"]
    shown = {"type": "input_image", "image_url": data_url(picture(1))}
    more = [{"role": "user", "content": [{"type": "input_text", "text": "And?"}, shown]}]
    respond(served, more, previous_response_id=first["id"])

    def part(role: str, text: str, *more: Json) -> Json:
        return {"role": role, "content": [{"type": "text", "text": text}, *more]}

    encode = served.policy.encoder.encode
    asked = [part("user", "Hello")]
    goes_on = [*asked, part("assistant", text), part("user", "And?", {"type": "image"})]
    assert prompts(served) == [
        tuple(encode([part("system", "Be kind"), *asked], [])),
        tuple(encode(goes_on, [(64, 96)])),
    ]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "input is no list of objects"),
        ({"input": []}, "the last message is the user's"),
        ({"input": "x", "previous_response_id": "resp_1"}, "no previous response 'resp_1'"),
        ({"input": "x", "previous_response_id": ["resp_1"]}, "no previous response"),
        ({"input": "x", "background": True}, "background"),
        ({"input": "x", "text": 3}, "text 3 is not to be had"),
        ({"input": "x", "text": {"format": {"type": "json_schema"}}}, "text"),
        ({"input": "x", "tools": [{"type": "function", "name": "f"}]}, "the chat API takes"),
        ({"input": [{"type": "reasoning"}]}, "needs the tool computer"),
        ({"input": [{"role": "judge", "content": "x"}]}, "no role 'judge'"),
        ({"input": [{"role": "user", "content": [{"type": "input_file"}]}]}, "no 'input_file'"),
        ({"input": [{"type": "computer_call_output", "output": {"file_id": "f"}}],
          "tools": COMPUTER}, "a data URL"),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_refused(served: ServedPolicy, body: Json, said: str) -> None:
    found = served.post("responses", body)
    assert found.status_code == 400
    assert said in found.json()["error"]["message"]
    assert served.trace() == []


def streamed(served: ServedPolicy, body: Json) -> list[Json]:
    found = served.post("responses", {**body, "stream": True})
    events = []
    for block in found.text.strip().split("\n\n"):
        name, data = block.split("\n")
        events.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {events[-1]['type']}"
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    return events


def test_the_events_of_a_stream_come_in_order(served: ServedPolicy) -> None:
    speak(served, "Hello you", "click(5, 6)")
    events = streamed(served, {"input": "Hello"})
    names = [event["type"].removeprefix("response.") for event in events]
    assert names[:-1] == [
        "created", "in_progress", "output_item.added", "content_part.added", "output_text.delta",
        "output_text.done", "content_part.done", "output_item.done",
    ]  # fmt: skip
    assert names[-1] in ("completed", "incomplete")
    assert events[2]["item"]["content"] == []
    assert events[3]["part"]["text"] == ""
    assert events[4]["delta"] == "Hello you"
    assert events[-1]["response"]["output"][0]["content"][0]["text"] == "Hello you"

    (look,) = respond(served, "Go", tools=COMPUTER)["output"]
    items = [{"role": "user", "content": "Go"}, look, screen(look, 0)]
    events = streamed(served, {"input": items, "tools": COMPUTER})
    names = [event["type"].removeprefix("response.") for event in events]
    assert names == ["created", "in_progress", "output_item.added", "output_item.done", "completed"]
    assert len(served.trace()) == 2
