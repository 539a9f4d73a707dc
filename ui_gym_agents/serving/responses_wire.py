"""OpenAI's Responses over a policy, with its computer tool.

https://platform.openai.com/docs/api-reference/responses and the items of
``openai.types.responses``. With a computer tool, the policy is asked as it was trained to be asked,
of the goal and the screenshots that the input has, and what it writes in its own dialect comes back
as a ``computer_call``: ``actions`` for the tool ``computer``, one ``action`` a call for
``computer_use_preview``. Without one, the input is a conversation as with Chat Completions.

- As long as the input has no screenshot, one is asked for: nothing is sampled.
- Other tools than a computer are refused: the chat API takes functions.
- What no action of the tool says (a text that cannot be read, opening an app) is told as ``wait``:
  an env of ours does what the policy said, whatever the tool made of it.
- What ends an episode (`Answer`, `Finish`) is a message.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

from ui_gym.contract.action import Action, Answer, Finish
from ui_gym.contract.device import Image
from ui_gym.dialects import get_dialect
from ui_gym.errors import ActionError
from ui_gym_agents.agents.agent import View
from ui_gym_agents.episode import Turn
from ui_gym_agents.serving.rollouts import Rollout, digest
from ui_gym_agents.serving.wire import Json, Words, Wrote, check, event, objects, picture, refuse

COMPUTERS = ("computer", "computer_use_preview")

WAIT: Json = {"type": "wait"}
"""What stands for what the tool cannot say."""

_REFUSED = {
    "background": bool,
    "conversation": bool,
    "prompt": bool,
    "text": lambda value: (
        not isinstance(value, dict) or (value.get("format") or {"type": "text"}) != {"type": "text"}
    ),
    "tool_choice": lambda value: value not in ("auto", "none", "required"),
}


class ResponsesWire:
    """Responses."""

    def read(self, body: Json, rollout: Rollout) -> Words | View | Json:
        check(body, _REFUSED)
        items = _items(body, rollout)
        if _computer(body) is None:
            if body.get("tools"):
                raise refuse("of tools, the computer is taken here; the chat API takes functions")
            return _conversation(items, str(body.get("instructions") or ""))
        script = _Script(rollout)
        for item in items:
            script.take(item)
        if not script.screenshots:
            id = digest(body)[:24]
            return self._answer(body, rollout, [_look(body, id)], items, id, (0, 0))
        return script.view(str(body.get("instructions") or ""))

    def write(self, body: Json, rollout: Rollout, wrote: Wrote, id: str) -> Json:
        tokens = wrote.said.tokens
        counts = (len(tokens.prompt_ids), len(tokens.output_ids))
        items = _items(body, rollout)
        if _computer(body) is None:
            output = [_message(wrote.said.text, id)]
        else:
            output = _output(wrote, _computer(body) == "computer", id)
            for item in output:
                if item["type"] == "computer_call":
                    rollout.memory[item["call_id"]] = wrote.said.text
        answer = self._answer(body, rollout, output, items, id, counts)
        if wrote.finish == "length" and _computer(body) is None:
            answer |= {
                "status": "incomplete",
                "incomplete_details": {"reason": "max_output_tokens"},
            }
        return answer

    def events(self, answer: Json, body: Json) -> Iterator[str]:
        begun = {**answer, "output": [], "status": "in_progress", "usage": None}
        told: list[Json] = [{"type": "response.created", "response": begun}]
        told.append({"type": "response.in_progress", "response": begun})
        for index, item in enumerate(answer["output"]):
            at: Json = {"output_index": index}
            empty: Json = {"content": []} if item["type"] == "message" else {}
            added = {**item, **empty, "status": "in_progress"}
            told.append({"type": "response.output_item.added", **at, "item": added})
            if item["type"] == "message":
                told += _part_events(item, {**at, "item_id": item["id"], "content_index": 0})
            told.append({"type": "response.output_item.done", **at, "item": item})
        told.append({"type": f"response.{answer['status']}", "response": answer})
        for number, one in enumerate(told):
            yield event({**one, "sequence_number": number}, one["type"])

    @staticmethod
    def _answer(
        body: Json, rollout: Rollout, output: list[Json], items: list[Json], id: str,
        counts: tuple[int, int],
    ) -> Json:  # fmt: skip
        rollout.memory[f"resp_{id}"] = [*items, *output]
        return {
            "id": f"resp_{id}",
            "object": "response",
            "created_at": int(time.time()),
            "status": "completed",
            "error": None,
            "incomplete_details": None,
            "instructions": body.get("instructions"),
            "model": body.get("model") or rollout.model,
            "output": output,
            "parallel_tool_calls": bool(body.get("parallel_tool_calls", True)),
            "previous_response_id": body.get("previous_response_id"),
            "tool_choice": body.get("tool_choice") or "auto",
            "tools": body.get("tools") or [],
            "temperature": None,
            "top_p": None,
            "metadata": body.get("metadata") or {},
            "usage": {
                "input_tokens": counts[0],
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": counts[1],
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": sum(counts),
            },
        }


class _Script:
    """What the items of an input come to: a goal, screenshots, and turns between them."""

    def __init__(self, rollout: Rollout) -> None:
        self._rollout = rollout
        self.goal: list[str] = []
        self.screenshots: list[Image] = []
        self.turns: list[Turn] = []
        self.feedback: list[str] = []

    def take(self, item: Json) -> None:
        """Take in the next item."""
        match item.get("type", "message"):
            case "message":
                self._message(item)
            case "computer_call":
                said = self._rollout.memory.get(str(item.get("call_id")))
                if said is not None:  # else it was the look at the screen that nobody sampled
                    self.turns.append(Turn("", said))
            case "computer_call_output":
                output = item.get("output")
                shown = output.get("image_url") if isinstance(output, dict) else None
                self._see(picture(shown, self.screenshots))

    def view(self, instructions: str) -> View:
        """What the policy is shown. Turns whose pictures were left out are told as words."""
        goal = "\n".join([instructions, *self.goal] if instructions else self.goal)
        if self.turns:  # what was said of the last action, before its picture and after it
            told = [self.turns[-1].feedback, *self.feedback]
            self.turns[-1].feedback = "\n".join(filter(None, told))
        feedback = self.turns[-1].feedback if self.turns else ""
        # A conversation shows a picture before each turn that it tells, and one after the last.
        shown = self.screenshots[-(len(self.turns) + 1) :]
        return View(0, goal, shown, feedback=feedback, turns=self.turns)

    def _message(self, item: Json) -> None:
        if item.get("role") == "assistant":
            return
        content = item.get("content")
        parts = (
            [{"type": "input_text", "text": content}]
            if isinstance(content, str)
            else objects(content, "a message's content")
        )
        for part in parts:
            if part.get("type") == "input_image":
                self._see(picture(part.get("image_url"), self.screenshots))
            elif isinstance(part.get("text"), str):
                (self.feedback if self.turns else self.goal).append(part["text"])

    def _see(self, image: Image) -> None:
        if self.turns:
            self.turns[-1].feedback = "\n".join(self.feedback)
        self.feedback = []
        self.screenshots.append(image)


def _items(body: Json, rollout: Rollout) -> list[Json]:
    """The whole input: what a previous answer goes on from included."""
    given = body.get("input")
    own = (
        [{"type": "message", "role": "user", "content": given}]
        if isinstance(given, str)
        else objects(given, "input")
    )
    before = body.get("previous_response_id")
    if before is None:
        return own
    known = rollout.memory.get(before) if isinstance(before, str) else None
    if not isinstance(known, list):
        raise refuse(f"there is no previous response {before!r} in this rollout")
    return [*known, *own]


def _computer(body: Json) -> str | None:
    """The computer tool that is offered; None without any."""
    kinds = [tool.get("type") for tool in objects(body.get("tools") or [], "tools")]
    return next((kind for kind in COMPUTERS if kind in kinds), None)


def _conversation(items: Sequence[Json], instructions: str) -> Words:
    images: list[Image] = []
    messages: list[Json] = []
    if instructions:
        messages.append({"role": "system", "content": [{"type": "text", "text": instructions}]})
    for item in items:
        if item.get("type", "message") != "message":
            raise refuse(f"an item of type {item.get('type')!r} needs the tool computer")
        role = {"developer": "system"}.get(str(item.get("role")), str(item.get("role")))
        if role not in ("system", "user", "assistant"):
            raise refuse(f"a message has no role {role!r}")
        messages.append({"role": role, "content": _parts(item.get("content"), images)})
    if not messages or messages[-1]["role"] == "assistant":
        raise refuse("the last message is the user's")
    return Words(messages, images)


def _parts(content: Any, images: list[Image]) -> list[Json]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    parts: list[Json] = []
    for part in objects(content, "a message's content"):
        if part.get("type") == "input_image":
            images.append(picture(part.get("image_url"), images))
            parts.append({"type": "image"})
        elif isinstance(part.get("text"), str):
            parts.append({"type": "text", "text": part["text"]})
        else:
            raise refuse(f"a part of a message is no {part.get('type')!r}")
    return parts


def _output(wrote: Wrote, several: bool, id: str) -> list[Json]:
    """What was said, as items."""
    actions = wrote.said.actions or ()
    for action in actions:
        if isinstance(action, Answer):
            return [_message(action.text, id)]
        if isinstance(action, Finish):
            return [_message(action.message or action.outcome, id)]
    told = in_their_words(actions)
    if several:
        return [_call({"actions": told}, id)]
    # A further action would need a call of its own, and each of them comes back with a picture.
    return [_call({"action": told[0] if len(told) == 1 else WAIT}, id)]


def in_their_words(actions: Sequence[Action]) -> list[Json]:
    """Actions as the computer tool names them; `WAIT` where it cannot."""
    size = (1 << 15, 1 << 15)  # points were read on the screen, and are only written here
    try:
        said = json.loads(get_dialect("openai").render(actions, size))
    except (ActionError, ValueError):
        return [WAIT]
    found = said if isinstance(said, list) else [said]
    return [WAIT] if any(one.get("type") == "function_call" for one in found) else found


def _look(body: Json, id: str) -> Json:
    one = {"type": "screenshot"}
    several = _computer(body) == "computer"
    return _call({"actions": [one]} if several else {"action": one}, id)


def _call(action: Json, id: str) -> Json:
    return {
        "type": "computer_call", "id": f"cu_{id}", "call_id": f"call_{id}", "status": "completed",
        "pending_safety_checks": [], **action,
    }  # fmt: skip


def _part_events(item: Json, at: Json) -> list[Json]:
    """A message's text, as events at its place."""
    (part,) = item["content"]
    text = part["text"]
    return [
        {"type": "response.content_part.added", **at, "part": {**part, "text": ""}},
        {"type": "response.output_text.delta", **at, "delta": text, "logprobs": []},
        {"type": "response.output_text.done", **at, "text": text, "logprobs": []},
        {"type": "response.content_part.done", **at, "part": part},
    ]


def _message(text: str, id: str) -> Json:
    content = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {
        "type": "message", "id": f"msg_{id}", "role": "assistant", "status": "completed",
        "content": [content],
    }  # fmt: skip
