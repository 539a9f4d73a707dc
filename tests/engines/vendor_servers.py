"""Servers that speak as OpenAI's Responses, Anthropic's Messages and Gemini's API do, on loopback.

They refuse what the real ones refuse, in their words: a wrong key, a field that nobody knows, a
call without an answer, a tool that is not the model's, a header that is missing, too many pictures.
What they call is decided by a `Brain`, which is shown the last picture of a conversation.
"""

from __future__ import annotations

import base64
import hashlib
import io
import itertools
import json
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import numpy as np
from PIL import Image as PILImage

from ui_gym.contract.device import Image
from ui_gym.playing.env import UIEnv

Json = dict[str, Any]
Brain = Callable[[Image], str]
"""What a model calls, in its dialect, given the present picture."""

KEY = "sk-secret-key-of-a-test"
SEALED = "c2VhbGVk"
"""A thought's signature, which is base64."""

HANG = 4.0
"""Seconds: longer than a test that meets it waits for an answer."""


class Refusal(Exception):
    """A request is refused, with a status."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class VendorServer(ABC):
    """Serves a brain until closed.

    `faults` are done in turn, one a request, before all goes well: a status, or ``"hang"``. `raw`
    holds answers that are given as they are, in turn, before the brain is asked.
    """

    root: ClassVar[str]
    """The version of the API, at the end of the server's address."""
    pictures: ClassVar[int] = 100
    """How many one request may show."""

    def __init__(self, brain: Brain) -> None:
        self.brain = brain
        self.faults: list[str] = []
        self.raw: list[Json] = []
        self.bodies: list[Json] = []
        self.answers: list[Json] = []
        self.headers: list[dict[str, str]] = []
        self.numbers = itertools.count(1)
        self.shown: list[Image] = []
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}{self.root}"

    def close(self) -> None:
        self._stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @abstractmethod
    def check(self, path: str, headers: dict[str, str], body: Json) -> None:
        """Raise `Refusal` for what the API does not take; note what is `shown`."""

    @abstractmethod
    def say(self, thought: str, called: Sequence[Json], body: Json) -> Json:
        """An answer with these calls, as the brain wrote them, after a thought."""

    @abstractmethod
    def error(self, refusal: Refusal) -> Json:
        """A refusal in the API's words."""

    def answer(self, path: str, headers: dict[str, str], body: Json) -> tuple[int, Json]:
        with self._lock:
            self.bodies.append(body)
            self.headers.append(headers)
            self.shown = []
            try:
                self.check(path, headers, body)
                if len(self.shown) > self.pictures:
                    raise Refusal(f"too many images: {len(self.shown)} > {self.pictures}")
            except Refusal as refusal:
                return refusal.status, self.error(refusal)
            if self.raw:
                return 200, self.raw.pop(0)
            self.answers.append(self.say(*taken_apart(self.brain(self.shown[-1])), body))
            return 200, self.answers[-1]

    def show(self, data: str) -> None:
        """Note a picture of a request. `Refusal` unless it is a PNG."""
        try:
            picture = PILImage.open(io.BytesIO(base64.b64decode(data, validate=True)))
        except (ValueError, OSError):
            raise Refusal("the image data you provided does not represent a valid image") from None
        need(picture.format == "PNG" and max(picture.size) <= 8000, "image of a wrong kind")
        self.shown.append(np.asarray(picture))

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                fault = server.faults.pop(0) if server.faults else ""
                if fault == "hang":
                    server._stopping.wait(HANG)
                    self.close_connection = True
                    return
                headers = {name.lower(): value for name, value in self.headers.items()}
                if fault:
                    status, found = int(fault), server.error(Refusal("later", int(fault)))
                else:
                    status, found = server.answer(self.path, headers, body)
                data = json.dumps(found).encode()
                self.send_response(status)
                if status == 429:
                    self.send_header("Retry-After", "0.01")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        return Handler


def need(is_so: object, message: str) -> None:
    """`Refusal` unless it is so."""
    if not is_so:
        raise Refusal(message)


def known(said: Json, fields: str, where: str = "") -> None:
    """`Refusal` where an object has a field that is none of `fields`, or one that is null."""
    for name, value in said.items():
        need(name in fields.split(), f"Unknown parameter: '{where}{name}'.")
        need(value is not None, f"Invalid type for '{where}{name}': got null instead.")


def taken_apart(text: str) -> tuple[str, list[Json]]:
    """The thought of an action text, and its objects."""
    thought, action, written = text.rpartition("\nAction: ")
    said = json.loads(written)
    return thought if action else "", said if isinstance(said, list) else [said]


class ResponsesServer(VendorServer):
    """OpenAI's, after its reference of ``POST /v1/responses``."""

    root = "/v1"
    fields = "model instructions input tools store include max_output_tokens truncation reasoning"
    items: ClassVar[dict[str, str]] = {
        "message": "type id role content status",
        "reasoning": "type id summary encrypted_content status",
        "computer_call": "type id call_id action actions pending_safety_checks status",
        "computer_call_output": "type call_id output acknowledged_safety_checks",
        "function_call": "type id call_id name arguments status",
        "function_call_output": "type call_id output",
    }

    def check(self, path: str, headers: dict[str, str], body: Json) -> None:
        key = headers.get("authorization", "").removeprefix("Bearer ")
        if key != KEY:
            raise Refusal(f"Incorrect API key provided: {key}.", 401)
        if path != "/v1/responses" or "gpt-4o" in body["model"]:
            raise Refusal(f"The model '{body['model']}' does not exist.", 404)
        known(body, self.fields)
        preview = "preview" in body["model"]
        tool = body["tools"][0]
        want = "computer_use_preview" if preview else "computer"
        need(tool["type"] == want, f"Tool '{tool['type']}' is not supported with this model.")
        sized = "type display_width display_height environment"
        known(tool, sized if preview else "type", "tools[0].")
        need(not preview or set(tool) == set(sized.split()), "Missing required parameter")
        need(not preview or body.get("truncation") == "auto", "truncation must be 'auto'")
        for function in body["tools"][1:]:
            known(function, "type name description parameters strict", "tools.")
        self._items(body["input"])

    def _items(self, items: list[Json]) -> None:
        waiting: dict[str, Json] = {}
        for index, item in enumerate(items):
            kind = item.get("type", "message")
            need(kind in self.items, f"Invalid value: '{kind}'.")
            known(item, self.items[kind], f"input[{index}].")
            need(" null" not in json.dumps(item), f"Invalid type for 'input[{index}]': got null.")
            if kind.endswith("_output"):
                call = waiting.pop(item["call_id"], None)
                need(call, f"No tool call found for call_id {item['call_id']}.")
                self._output(item, call or {})
            elif kind.endswith("_call"):
                waiting[item["call_id"]] = item
            elif item.get("role") == "user":
                need(not waiting, f"No tool output found for {list(waiting)}.")
                self._message(item)
            elif kind == "reasoning":
                need(item.get("encrypted_content") == "sealed", f"Item '{item['id']}' not found.")
                follows = items[index + 1]["type"] if index + 1 < len(items) else ""
                need(
                    follows in ("message", "computer_call", "function_call"),
                    f"Item '{item['id']}' was provided without its required following item.",
                )
        need(not waiting, f"No tool output found for {list(waiting)}.")

    def _output(self, item: Json, call: Json) -> None:
        need(item["type"] == call["type"] + "_output", "an output of another kind of call")
        if call["type"] == "function_call":
            need(isinstance(item["output"], str), "Invalid type for output")
            return
        known(item["output"], "type image_url detail", "output.")
        need(item["output"]["type"] == "computer_screenshot", "Invalid type of output")
        checks = item.get("acknowledged_safety_checks", [])
        need(
            [check["id"] for check in checks]
            == [check["id"] for check in call["pending_safety_checks"]],
            "Computer use safety checks must be acknowledged.",
        )
        self.show(_data(item["output"]["image_url"]))

    def _message(self, item: Json) -> None:
        for part in item["content"]:
            if part["type"] == "input_text":
                known(part, "type text", "content.")
            else:
                known(part, "type image_url detail", "content.")
                need(part["type"] == "input_image", f"Invalid value: '{part['type']}'.")
                need(part["detail"] in ("low", "high", "auto", "original"), "Invalid detail")
                self.show(_data(part["image_url"]))

    def say(self, thought: str, called: Sequence[Json], body: Json) -> Json:
        number = next(self.numbers)
        output: list[Json] = [
            {"type": "reasoning", "id": f"rs_{number}", "summary": [],
             "encrypted_content": "sealed", "status": None},
        ]  # fmt: skip
        if thought:
            output.append(self.message(thought))
        actions = [said for said in called if not said["type"].startswith("function_call")]
        if actions and "preview" not in body["model"]:
            output.append(self._call(number, actions=actions))
        elif actions:
            output += [self._call(f"{number}.{i}", action=a) for i, a in enumerate(actions)]
        for said in called:
            if said not in actions:
                own = {"id": f"fc_{number}", "call_id": f"call_f{number}", "status": "completed"}
                output.append(said | own)
        return self.response(output, body)

    def message(self, text: str) -> Json:
        """An item of a response."""
        part = {"type": "output_text", "text": text, "annotations": [], "logprobs": None}
        return {"type": "message", "id": f"msg_{next(self.numbers)}", "role": "assistant",
                "status": "completed", "content": [part]}  # fmt: skip

    def response(self, output: list[Json], body: Json, **fields: Any) -> Json:
        """A response with such an output."""
        return {
            "id": "resp_1", "object": "response", "created_at": 1.0, "model": body["model"],
            "status": "completed", "error": None, "incomplete_details": None, "output": output,
            "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "metadata": {},
            "instructions": None, "temperature": 1.0, "top_p": 1.0,
            "usage": {
                "input_tokens": 100, "input_tokens_details": {"cached_tokens": 60},
                "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 5},
                "total_tokens": 107,
            },
        } | fields  # fmt: skip

    def _call(self, number: object, **said: Any) -> Json:
        check = {"id": f"sc_{number}", "code": "malicious_instructions", "message": None}
        empty: Json = {"action": None, "actions": None}
        return {
            "type": "computer_call", "id": f"cu_{number}", "call_id": f"call_{number}",
            "pending_safety_checks": [check] if str(number)[0] == "1" else [],
            "status": "completed", **(empty | said),
        }  # fmt: skip

    def error(self, refusal: Refusal) -> Json:
        kind = {401: "invalid_api_key", 429: "rate_limit_exceeded"}.get(refusal.status)
        return {"error": {"message": str(refusal), "type": "invalid_request_error", "code": kind}}


class MessagesServer(VendorServer):
    """Anthropic's, after its reference of ``POST /v1/messages``."""

    root = "/v1"
    fields = "model max_tokens system messages tools thinking output_config cache_control"
    betas: ClassVar[dict[str, str]] = {
        "computer_20250124": "computer-use-2025-01-24",
        "computer_20251124": "computer-use-2025-11-24",
    }
    blocks: ClassVar[dict[str, str]] = {
        "text": "type text",
        "image": "type source",
        "thinking": "type thinking signature",
        "tool_use": "type id name input toolset_name",
        "tool_result": "type tool_use_id content toolset_name is_error",
    }

    def check(self, path: str, headers: dict[str, str], body: Json) -> None:
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if headers.get("x-api-key", bearer) != KEY:
            raise Refusal("invalid x-api-key", 401)
        if path.partition("?")[0] != "/v1/messages":
            raise Refusal("Not Found", 404)
        version = headers.get("anthropic-version")
        need(version in ("2023-06-01", "2026-10-21"), "anthropic-version: is required")
        known(body, self.fields)
        self._tools(body, headers.get("anthropic-beta", ""))
        messages = body["messages"]
        need(messages[0]["role"] == "user", "messages: first message must use the user role")
        need(messages[-1]["role"] == "user", "This model does not support assistant prefill")
        waiting: list[Json] = []
        for message in messages:
            known(message, "role content", "messages.")
            need(message["content"], "messages: content must be non-empty")
            for block in message["content"]:
                known(block, self.blocks[block["type"]], "content.")
            waiting = getattr(self, "_" + message["role"])(message["content"], waiting)

    def _tools(self, body: Json, beta: str) -> None:
        tool = body["tools"][0]
        if tool["type"] == "computer_toolset_20260801":
            known(tool, "type configs", "tools.0.")
            need("-4-" not in body["model"], f"'{body['model']}' does not support tool types")
            need(all(set(config) == {"enabled"} for config in tool["configs"].values()), "configs")
        else:
            known(tool, "type name display_width_px display_height_px", "tools.0.")
            need("5-5" not in body["model"], f"'{body['model']}' does not support tool types")
            need(beta == self.betas[tool["type"]], "tools.0: Input tag found using 'type' does not "
                 "match any of the expected tags")  # fmt: skip
        for function in body["tools"][1:]:
            known(function, "name description input_schema", "tools.")

    def _user(self, content: list[Json], waiting: list[Json]) -> list[Json]:
        results = [block for block in content if block["type"] == "tool_result"]
        need(content[: len(results)] == results, "tool_result blocks must come first")
        need(
            [block["tool_use_id"] for block in results] == [call["id"] for call in waiting],
            "`tool_use` ids were found without `tool_result` blocks immediately after",
        )
        for block, call in zip(results, waiting, strict=True):
            need(block.get("toolset_name") == call.get("toolset_name"), "toolset_name mismatch")
            self._parts(block["content"], "is_error" in block)
        self._parts(content[len(results) :], False)
        return []

    def _parts(self, content: list[Json], is_error: bool) -> None:
        for part in content:
            if part["type"] == "text":
                need(part["text"].strip(), "text content blocks must be non-empty")
            elif part["type"] == "image":
                need(not is_error, "all content must be of type text if `is_error` is true")
                known(part["source"], "type media_type data", "source.")
                need(part["source"]["media_type"] == "image/png", "media_type")
                self.show(part["source"]["data"])

    def _assistant(self, content: list[Json], waiting: list[Json]) -> list[Json]:
        need(not waiting, "`tool_use` ids were found without `tool_result` blocks")
        for block in content:
            need(block["type"] not in ("image", "tool_result"), "not in an assistant's message")
            need(block.get("signature", "sealed") == "sealed", "Invalid `signature`")
            need(block["type"] != "text" or block["text"].strip(), "text must be non-empty")
        need(content[-1]["type"] != "thinking", "the final block cannot be `thinking`")
        return [block for block in content if block["type"] == "tool_use"]

    def say(self, thought: str, called: Sequence[Json], body: Json) -> Json:
        content: list[Json] = [{"type": "thinking", "thinking": "Hm.", "signature": "sealed"}]
        if thought:
            content.append({"type": "text", "text": thought})
        for said in called:
            use = said if "input" in said else {"type": "tool_use", "name": "computer",
                                                "input": said}  # fmt: skip
            content.append(use | {"id": f"toolu_{next(self.numbers)}"})
        return self.message(content, body)

    def message(self, content: list[Json], body: Json, stop: str = "tool_use") -> Json:
        """A message with such a content."""
        return {
            "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"],
            "content": content, "stop_reason": stop, "stop_sequence": None,
            "usage": {
                "input_tokens": 10, "cache_creation_input_tokens": 30,
                "cache_read_input_tokens": 60, "output_tokens": 7,
            },
        }  # fmt: skip

    def error(self, refusal: Refusal) -> Json:
        kind = {401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}
        said = {"type": kind.get(refusal.status, "invalid_request_error"), "message": str(refusal)}
        return {"type": "error", "error": said}


class GeminiServer(VendorServer):
    """Google's, after its reference of ``models.generateContent``."""

    root = "/v1beta"
    parts: ClassVar[dict[str, str]] = {
        "user": "text inlineData functionResponse",
        "model": "text thought thoughtSignature functionCall",
    }

    def check(self, path: str, headers: dict[str, str], body: Json) -> None:
        if headers.get("x-goog-api-key") != KEY:
            raise Refusal("API key not valid. Please pass a valid API key.", 400)
        if not path.endswith(":generateContent") or not path.startswith("/v1beta/models/gemini-"):
            raise Refusal(f"{path} is not found for API version v1beta", 404)
        body = camel(body)
        known(body, "systemInstruction contents tools generationConfig")
        known(body["generationConfig"], "maxOutputTokens temperature", "generation_config.")
        computer, functions = body["tools"]
        known(computer["computerUse"], "environment excludedPredefinedFunctions", "tools.")
        need(computer["computerUse"]["environment"].startswith("ENVIRONMENT_"), "environment")
        for function in functions["functionDeclarations"]:
            known(function, "name description parameters", "function_declarations.")
            need(function["parameters"]["type"] == "OBJECT", "Invalid value at 'type'")
        calls: list[Json] = []
        for content in body["contents"]:
            known(content, "role parts", "contents.")
            for part in content["parts"]:
                known(part, self.parts[content["role"]], "parts.")
            if content["role"] == "model":
                need(not calls, "function call turn comes immediately after a user turn")
                calls = self._calls(content["parts"])
            else:
                self._responses(content["parts"], calls)
                calls = []
        need(body["contents"][-1]["role"] == "user", "contents must end with a user turn")

    def _calls(self, parts: list[Json]) -> list[Json]:
        calls = [part for part in parts if "functionCall" in part]
        sealed = all(part.get("thoughtSignature") == SEALED for part in calls[:1])
        need(sealed, "Function call is missing a thought_signature in functionCall parts.")
        return [part["functionCall"] for part in calls]

    def _responses(self, parts: list[Json], calls: list[Json]) -> None:
        given = [part["functionResponse"] for part in parts if "functionResponse" in part]
        need(
            [(one["name"], one.get("id")) for one in given]
            == [(call["name"], call.get("id")) for call in calls],
            "Please ensure that the number of function response parts is equal to the number of "
            "function call parts of the function call turn.",
        )
        for one, call in zip(given, calls, strict=True):
            known(one, "name id response parts", "function_response.")
            need("url" in one["response"], "Computer Use function responses need a url")
            asked = "safety_decision" in call["args"]
            need(
                not asked or one["response"].get("safety_acknowledgement") == "true",
                "a safety decision was not acknowledged",
            )
            for part in one["parts"]:
                self._blob(part["inlineData"])
        for part in parts:
            need(part.get("text", "x"), "Unable to submit request: it must have a text parameter")
            if "inlineData" in part:
                self._blob(part["inlineData"])

    def _blob(self, blob: Json) -> None:
        known(blob, "mimeType data", "inline_data.")
        need(blob["mimeType"] == "image/png", "Unsupported MIME type")
        self.show(blob["data"].translate(str.maketrans("-_", "+/")))  # either base64 is taken

    def say(self, thought: str, called: Sequence[Json], body: Json) -> Json:
        parts: list[Json] = [{"text": "Hm.", "thought": True}]
        if thought:
            parts.append({"text": thought})
        for index, said in enumerate(called):
            call = said | {"id": f"f{next(self.numbers)}"}
            if index == 0:
                doubt = {"decision": "require_confirmation", "explanation": "Who knows?"}
                call["args"] = call["args"] | {"intent": "On.", "safety_decision": doubt}
            parts.append({"functionCall": call} | ({} if index else {"thoughtSignature": SEALED}))
        return self.content(parts)

    def content(self, parts: list[Json], finish: str = "STOP") -> Json:
        """A response with such parts."""
        return {
            "candidates": [
                {"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}
            ],
            "usageMetadata": {
                "promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 2,
                "thoughtsTokenCount": 5, "totalTokenCount": 107,
            },
            "modelVersion": "gemini-3.5-flash",
        }  # fmt: skip

    def error(self, refusal: Refusal) -> Json:
        status = {429: "RESOURCE_EXHAUSTED", 404: "NOT_FOUND"}
        kind = status.get(refusal.status, "INVALID_ARGUMENT")
        return {"error": {"code": refusal.status, "message": str(refusal), "status": kind}}


def _data(url: str) -> str:
    head, _, data = url.partition(",")
    need(head == "data:image/png;base64", "Invalid image URL")
    return data


def camel(said: Any) -> Any:
    """Names as JSON of protocol buffers has them; those with underscores mean the same there."""
    if isinstance(said, list):
        return [camel(one) for one in said]
    if not isinstance(said, dict):
        return said
    free = ("args", "response", "parameters")
    return {
        name if name in free else re.sub("_(.)", lambda found: found[1].upper(), name): (
            value if name in free else camel(value)
        )
        for name, value in said.items()
    }


def fingerprint(picture: Image) -> str:
    """What tells pictures apart."""
    return hashlib.sha256(repr(picture.shape).encode() + picture.tobytes()).hexdigest()


def oracle_brain(
    task: str, dialect: str, seeds: Sequence[int], split: str, **arguments: Any
) -> Brain:
    """Does what a task's oracle did where the screen was the same."""
    known: dict[str, str] = {}
    env = UIEnv(task, dialect=dialect, **arguments)
    for seed in seeds:
        known.update(_shown_and_done(env, seed, split))
    env.close()
    return lambda picture: known[fingerprint(picture)]


def _shown_and_done(env: UIEnv, seed: int, split: str) -> Iterator[tuple[str, str]]:
    options = {"oracle": True, "split": split}
    observation, info = env.reset(seed=seed, options=options)
    done = False
    while not done:
        said = info["oracle"]["action_text"]
        yield fingerprint(observation["screenshot"]), said
        observation, _, terminated, truncated, info = env.step(said)
        done = terminated or truncated
