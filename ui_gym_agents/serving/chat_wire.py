"""OpenAI's Chat Completions over a policy: https://platform.openai.com/docs/api-reference/chat.

Messages are put into the model's own chat template as they are, whatever they say. Tools are shown
where the template shows them, and calls are read as the models of the Hermes and Qwen families
write them: ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>``.

As with vLLM, ``return_token_ids`` adds ``prompt_token_ids`` and the choice's ``token_ids``.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import Any

from ui_gym.contract.device import Image
from ui_gym_agents.serving.rollouts import Rollout
from ui_gym_agents.serving.wire import Json, Words, Wrote, check, event, objects, picture, refuse

ROLES = ("system", "developer", "user", "assistant", "tool")

_CALL = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.DOTALL)

_REFUSED = {
    "n": lambda value: value != 1,
    "stop": bool,
    "response_format": lambda value: value != {"type": "text"},
    "tool_choice": lambda value: value not in ("auto", "none"),
    "top_logprobs": bool,
    "logit_bias": bool,
    "stream_options": lambda value: not isinstance(value, dict),
}


class ChatWire:
    """Chat Completions."""

    def read(self, body: Json, rollout: Rollout) -> Words:
        check(body, _REFUSED)
        images: list[Image] = []
        messages = [_message(m, images) for m in objects(body.get("messages"), "messages")]
        if not messages or messages[-1]["role"] == "assistant":
            raise refuse("the last message is the user's, or a tool's")
        none = body.get("tool_choice") == "none"
        tools = [] if none else objects(body.get("tools") or [], "tools")
        return Words(messages, images, tools)

    def write(self, body: Json, rollout: Rollout, wrote: Wrote, id: str) -> Json:
        tokens = wrote.said.tokens
        text, calls = _calls(wrote.said.text, id) if body.get("tools") else (wrote.said.text, [])
        message: Json = {"role": "assistant", "content": text or None if calls else text}
        choice: Json = {
            "index": 0,
            "message": message | ({"tool_calls": calls} if calls else {}),
            "finish_reason": "tool_calls" if calls and wrote.finish == "stop" else wrote.finish,
            "logprobs": None,
        }
        if body.get("logprobs"):
            content: list[Json] = [
                {"token": f"token_id:{token}", "logprob": value, "bytes": None, "top_logprobs": []}
                for token, value in zip(tokens.output_ids, tokens.logprobs, strict=True)
            ]
            choice["logprobs"] = {"content": content, "refusal": None}
        prompt, sampled = len(tokens.prompt_ids), len(tokens.output_ids)
        usage = {"prompt_tokens": prompt, "completion_tokens": sampled}
        answer: Json = {
            "id": f"chatcmpl-{id}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": body.get("model") or rollout.model,
            "choices": [choice],
            "usage": usage | {"total_tokens": prompt + sampled},
        }
        if body.get("return_token_ids"):
            choice["token_ids"] = list(tokens.output_ids)
            answer["prompt_token_ids"] = list(tokens.prompt_ids)
        return answer

    def events(self, answer: Json, body: Json) -> Iterator[str]:
        (choice,) = answer["choices"]
        message = choice["message"]
        head = {key: answer[key] for key in ("id", "created", "model")}
        head |= {"object": "chat.completion.chunk"}
        deltas: list[Json] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": part} for part in _pieces(message["content"] or "")]
        deltas += [
            {"tool_calls": [{"index": i, **call}]}
            for i, call in enumerate(message.get("tool_calls", ()))
        ]
        for delta in deltas:
            yield event(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        last = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
        yield event(head | {"choices": [last]})
        if (body.get("stream_options") or {}).get("include_usage"):
            yield event(head | {"choices": [], "usage": answer["usage"]})
        yield event("[DONE]")


def _message(said: Json, images: list[Image]) -> Json:
    """A message for the chat template; its pictures are added to `images`."""
    role = said.get("role")
    if role not in ROLES:
        raise refuse(f"a message's role is one of {', '.join(ROLES)}, not {role!r}")
    found: Json = {"role": "system" if role == "developer" else role}
    found["content"] = _content(said.get("content"), images)
    if calls := said.get("tool_calls"):
        found["tool_calls"] = [_called(call) for call in objects(calls, "tool_calls")]
    return found


def _content(content: Any, images: list[Image]) -> list[Json]:
    if content is None or isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    parts: list[Json] = []
    for part in objects(content, "a message's content"):
        match part.get("type"):
            case "text" if isinstance(part.get("text"), str):
                parts.append({"type": "text", "text": part["text"]})
            case "image_url" if isinstance(part.get("image_url"), dict):
                images.append(picture(part["image_url"].get("url"), images))
                parts.append({"type": "image"})
            case kind:
                raise refuse(f"a part of a message is text or image_url, not {kind!r}")
    return parts


def _called(call: Json) -> Json:
    """An earlier call of a tool, as templates want it: with the arguments as an object."""
    function = call.get("function")
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise refuse("a tool call has a function with a name")
    try:
        arguments = json.loads(function.get("arguments") or "{}")
    except (TypeError, ValueError, RecursionError):
        raise refuse(f"the arguments of the call of {function['name']} are no JSON") from None
    return {"type": "function", "function": {"name": function["name"], "arguments": arguments}}


def _calls(text: str, id: str) -> tuple[str, list[Json]]:
    """A text without its calls of tools, and the calls; one that is no JSON stays text."""
    found: list[Json] = []

    def take(match: re.Match[str]) -> str:
        try:
            call = json.loads(match[1])
            given = call["arguments"]  # an object, or, with some models, its JSON
            arguments = given if isinstance(given, str) else json.dumps(given)
            function = {"name": str(call["name"]), "arguments": arguments}
        except (ValueError, KeyError, RecursionError):
            return match[0]
        found.append({"id": f"call_{id}_{len(found)}", "type": "function", "function": function})
        return ""

    return _CALL.sub(take, text).strip(), found


def _pieces(text: str, size: int = 16) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]
