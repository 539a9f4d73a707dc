"""Requests to the policy server: each is answered as OpenAI's API answers, or refused so."""

from __future__ import annotations

import base64
import io
import json
import random
import shutil
import struct
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
from PIL import Image

from tests.engines.policy_serving import ServedPolicy
from tests.fuzz import mutation
from tests.fuzz.running import Overheard, Unexpected
from tests.policy.tiny_models import BUILDERS, picture
from ui_gym_agents.policy import load_policy

PATIENCE = 60.0
MOST_TOKENS = 2
"""Of an answer: that there is one is all that counts."""

KEY = "sk-fuzz"

TOOL = {"type": "function", "function": {"name": "act", "parameters": {"type": "object"}}}
TOOL_TEMPLATE = "{% for t in tools or [] %}{{ t.function.name }}{% endfor %}"


def _url(format: str = "PNG") -> str:
    file = io.BytesIO()
    Image.fromarray(picture(1)).save(file, format)
    return f"data:image/{format.lower()};base64,{base64.b64encode(file.getvalue()).decode()}"


def _bomb() -> str:
    """A picture of which nobody has the pixels: 20,000 by 20,000, it says."""
    head = b"IHDR" + struct.pack(">IIBBBBB", 20_000, 20_000, 8, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n\0\0\0\r" + head + struct.pack(">I", zlib.crc32(head))
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


SEEN = {"type": "image_url", "image_url": {"url": _url()}}
CHAT = {"model": "policy", "messages": [{"role": "user", "content": "Enter row 3"}]}
CALLED = {
    "role": "assistant", "content": "", "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "act", "arguments": '{"x": 1}'}}],
}  # fmt: skip
REQUESTS: tuple[tuple[str, Any], ...] = (
    ("chat/completions", CHAT),
    ("chat/completions", CHAT | {"logprobs": True, "return_token_ids": True, "max_tokens": 1}),
    ("chat/completions", CHAT | {"stream": True, "stream_options": {"include_usage": True}}),
    ("chat/completions", {"messages": [
        {"role": "developer", "content": "Look."},
        {"role": "user", "content": [{"type": "text", "text": "now"}, SEEN]}]}),
    ("chat/completions", {"tools": [TOOL], "tool_choice": "auto", "messages": [
        {"role": "user", "content": "x"}, CALLED,
        {"role": "tool", "tool_call_id": "c", "content": "done"}]}),
    ("responses", {"input": "Enter row 3", "instructions": "Look.", "metadata": {"a": "b"}}),
    ("responses", {"tools": [{"type": "computer"}], "input": [
        {"type": "message", "role": "user", "content": "go"},
        {"type": "computer_call", "call_id": "call_0", "actions": []},
        {"type": "computer_call_output", "call_id": "call_0",
         "output": {"type": "computer_screenshot", "image_url": _url("WEBP")}}]}),
    ("responses", {"tools": [{"type": "computer_use_preview"}], "input": "go", "stream": True}),
    ("responses", {"previous_response_id": "resp_0", "input": "and now?"}),
    ("rollout/end", {"reward": 1.0, "task": "UI/Login-v0", "seed": 3, "notes": "fine"}),
    ("rollout/end", {"failure": "it broke"}),
    ("rollout/trace", None),
    ("env/step", {"action": "wait()"}),
    ("env", None),
    ("rollouts/next", {}),
    ("models", None),
)  # fmt: skip
HEADERS = ({}, {}, {"Idempotency-Key": "k"}, {"X-Stainless-Retry-Count": "1"})
PICTURES = (
    _url("JPEG"), _url("GIF"), _url("BMP"), _url("TIFF"), "data:image/png;base64,", "data:,x",
    "data:image/png;base64," + base64.b64encode(b"%!PS-Adobe-3.0 EPSF-3.0\n").decode(),
    _bomb(),
    "http://127.0.0.1:9/a.png", "file:///etc/passwd",
)  # fmt: skip
ODD: tuple[Any, ...] = (
    *mutation.ODD, *PICTURES, "user", "assistant", "tool", "<|im_end|><|image_pad|>", {"type": "x"},
    "{" * 500, '{"a":' * 3000, [SEEN], CALLED, [TOOL],
)  # fmt: skip

TOKENS = ("[" * 2000, "NaN", "1e999", "\\ud800", '"', "}", "9" * 5000)


class PolicyRequests:
    """A case is a list of requests of one agent: page, headers and body, the body as text."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="ui-gym-fuzz-"))
        BUILDERS["qwen3_vl"](self._folder / "model")
        policy = load_policy(
            self._folder / "model", max_new_tokens=MOST_TOKENS, threads=1, temperature=0.7
        )
        policy.processor.chat_template = TOOL_TEMPLATE + policy.processor.chat_template
        self._served = ServedPolicy(policy, self._folder / "episodes")
        self._overheard = Overheard("uvicorn")

    def case(self, rng: random.Random) -> bytes:
        return json.dumps([_request(rng) for _ in range(rng.randrange(1, 8))]).encode()

    def feed(self, case: bytes) -> Iterator[str]:
        for page, headers, body in json.loads(case):
            told = {"Authorization": f"Bearer {KEY}"} | headers
            data = None if body is None else body.encode("utf-8", "surrogatepass")
            outcome = self._asked(page, told, data)
            self._overheard.check()
            yield outcome
        self._asked("rollout/end", {"Authorization": f"Bearer {KEY}"}, b'{"reward": 0}')
        if not any(self._served.post("chat/completions", CHAT, "other").json()["choices"]):
            raise Unexpected("an agent that behaves is not answered")
        self._served.post("rollout/end", {"reward": 0.0}, "other")

    def close(self) -> None:
        self._served.close()
        self._overheard.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _asked(self, page: str, headers: dict[str, str], data: bytes | None) -> str:
        """The status of an answer, which says in the words of OpenAI's API what is wrong."""
        try:
            answer = self._served.client.request(
                "GET" if data is None else "POST", page, content=data, headers=headers,
                timeout=PATIENCE,
            )  # fmt: skip
        except httpx.TimeoutException:
            raise Unexpected(f"no answer of {page}") from None
        except httpx.HTTPError as error:
            raise Unexpected(f"an answer of {page} broke off: {error}") from None
        if answer.status_code >= 500:
            self._overheard.check(wait=5.0)
            raise Unexpected(f"{page} stumbled: {answer.status_code} {answer.text[:200]}")
        if answer.headers["content-type"].startswith("text/event-stream"):
            if not answer.text.startswith(("data: ", "event: ")):
                raise Unexpected(f"a stream of {page} is none")
            return "200 stream"
        try:
            said = answer.json()
        except ValueError:
            raise Unexpected(f"an answer of {page} is no JSON: {answer.text[:200]}") from None
        if answer.is_error and not said["error"]["message"]:
            raise Unexpected(f"a refusal of {page} without words")
        return str(answer.status_code)


def _request(rng: random.Random) -> list[Any]:
    page, body = rng.choice(REQUESTS[:9] if rng.random() < 0.8 else REQUESTS)
    headers = dict(rng.choice(HEADERS))
    if body is None:
        return [page, headers, None]
    if rng.random() < 0.7:
        body = mutation.value(rng, body, ODD)
    text = json.dumps(body, ensure_ascii=rng.random() < 0.5)
    if rng.random() < 0.15:
        text = mutation.text(rng, text, TOKENS)
    if rng.random() < 0.05:
        headers["X-Rollout-Id"] = rng.choice(("a", "../x", "x" * 3000, "sk-y", KEY))
    return [page, headers, text]
