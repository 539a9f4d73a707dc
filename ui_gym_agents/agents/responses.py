"""OpenAI's models by the Responses API, with its computer tool.

Source of the format: ``openai.types.responses`` of openai 3.54 and OpenAI's guide of the tool.
Models called ``computer-use-preview`` have the older tool, which is told the size of the screen.

The conversation is stateless: nothing is stored (``store: false``), and all items are sent again,
those of reasoning with their encrypted content. With ``previous_response_id`` a server would keep
the pictures of all turns for 30 days, and none could leave the conversation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ui_gym_agents.agents.usage import RESPONSES
from ui_gym_agents.agents.vendor import (
    DONE,
    Json,
    Reply,
    VendorAgent,
    VendorQuestion,
    action_text,
    functions,
    log,
)
from ui_gym_agents.engines.openai import KEY
from ui_gym_agents.engines.protocol import EngineError

PREVIEW = "computer-use-preview"
_ENVIRONMENTS = {"browser": "browser"}
"""What the older tool is told of a suite; else it is ``linux``."""


class ResponsesAgent(VendorAgent):
    """A model of OpenAI's, or of who speaks its Responses API."""

    prefix = "openai-responses:"
    server = "https://api.openai.com/v1"
    keys = (KEY,)
    example = "gpt-5.4"
    usage = RESPONSES

    @classmethod
    def dialects(cls, model: str) -> tuple[str, ...]:
        return ("openai",)

    def path(self) -> str:
        return "/responses"

    def payload(self, words: str, questions: Sequence[VendorQuestion]) -> Json:
        items: list[Json] = []
        calls: Sequence[Json] = ()
        for question in questions:
            items += self._shown(question, calls)
            if question.reply is not None:
                calls = question.reply.calls
                items += question.reply.items or _plain(question.reply.action_text)
        asked: Json = {
            "model": self.model,
            "instructions": words,
            "input": items,
            "tools": [self._computer(questions[-1]), *_functions()],
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "max_output_tokens": self.max_new_tokens,
        }
        return asked | ({"truncation": "auto"} if self._is_preview else {})

    def read(self, found: Any, asked: VendorQuestion) -> Reply:
        if found.get("status") in ("failed", "cancelled"):
            raise EngineError(f"the response {found['status']}: {found.get('error')}")
        items = [_given(item) for item in found["output"] if item.get("status") != "incomplete"]
        while items and items[-1]["type"] == "reasoning":  # the API refuses it without what follows
            items.pop()
        calls = [item for item in items if item["type"] in ("computer_call", "function_call")]
        if found.get("status") == "incomplete" and not calls:
            return Reply("")
        return Reply(action_text([said for item in items for said in _said(item)]), items, calls)

    @property
    def _is_preview(self) -> bool:
        return PREVIEW in self.model

    def _computer(self, asked: VendorQuestion) -> Json:
        if not self._is_preview:
            return {"type": "computer"}
        height, width = asked.picture.shape[:2]
        return {
            "type": "computer_use_preview",
            "display_width": width,
            "display_height": height,
            "environment": _ENVIRONMENTS.get(self.suite, "linux"),
        }

    def _shown(self, question: VendorQuestion, calls: Sequence[Json]) -> list[Json]:
        """Answers to all calls, and a user's message for what has no room in them."""
        url = self._pictures.url(question.picture)
        items = [self._answer(call, url) for call in calls]
        content: list[Json] = []
        if question.text:
            content.append({"type": "input_text", "text": question.text})
        if not any(call["type"] == "computer_call" for call in calls):
            detail = "auto" if self._is_preview else "original"
            content.append({"type": "input_image", "image_url": url, "detail": detail})
        if content:
            items.append({"type": "message", "role": "user", "content": content})
        return items

    def _answer(self, call: Json, url: str) -> Json:
        if call["type"] == "function_call":
            return {"type": "function_call_output", "call_id": call["call_id"], "output": DONE}
        screen = {"type": "computer_screenshot", "image_url": url}
        if not self._is_preview:
            screen["detail"] = "original"
        answer: Json = {
            "type": "computer_call_output", "call_id": call["call_id"], "output": screen
        }  # fmt: skip
        if checks := call.get("pending_safety_checks"):
            log.info("confirmed to %s: %s", self.model, checks)
            answer["acknowledged_safety_checks"] = checks
        return answer


def _functions() -> list[Json]:
    return [
        {"type": "function", "name": name, "description": description, "parameters": schema,
         "strict": False}
        for name, description, schema in functions()
    ]  # fmt: skip


def _said(item: Json) -> list[Json]:
    """What an item is in the dialect ``openai``."""
    match item["type"]:
        case "computer_call":
            return list(item["actions"]) if "actions" in item else [item["action"]]
        case "function_call":
            return [{key: item[key] for key in ("type", "name", "arguments")}]
        case "message":
            texts = [part["text"] for part in item["content"] if part["type"] == "output_text"]
            text = "\n".join(texts).strip()
            return [{"type": "message", "content": text}] if text else []
    return []


def _plain(text: str) -> list[Json]:
    return [{"type": "message", "role": "assistant", "content": text}] if text else []


def _given(said: Any) -> Any:
    """What says something: the API gives null for all other fields, and does not take it."""
    if isinstance(said, list):
        return [_given(one) for one in said]
    if not isinstance(said, dict):
        return said
    return {key: _given(value) for key, value in said.items() if value is not None}
