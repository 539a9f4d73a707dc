"""A server that speaks the chat API as vLLM or as SGLang does, with a tiny model behind it.

Prompts are made by the model's own processor from the messages and the PNG pictures that come in,
not by the code under test. `faults` are done in turn, one a request, before all goes well:
``"500"``, ``"hang"``, ``"cut"`` (the connection ends inside the answer), ``"short"`` (an answer
that ends before its end), ``"count"`` (an image token too few), ``"400"``, ``"junk"``.

As SGLang, adapters are loaded at the root of the server and asked for as ``BASE:ADAPTER``, whatever
the base is called; the prompt's ids come with each choice; and refusals are worded as there (after
``http_server.py``, ``lora_registry.py`` and ``openai/serving_chat.py`` of SGLang, August 2026).
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image as PILImage

from ui_gym.contract.device import Image
from ui_gym_agents.engines import EngineQuestion
from ui_gym_agents.policy import PromptBuilder, VLMPolicy, load_policy

HANG = 4.0
"""Seconds: longer than a test that meets it waits for an answer."""


class ModelServer:
    """Serves the model of a folder as ``tiny``, and adapters by their names, until closed."""

    def __init__(self, folder: Path, wire: str = "vllm") -> None:
        self.folder = folder
        self.wire = wire
        self.models = {"tiny": self._load(None)}
        self.faults: list[str] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.log: list[str] = []
        self.gate: threading.Event | None = None
        """While it is there and not set, answers wait for it."""
        self.wait: Callable[[], None] = lambda: None
        """Called before each answer, in a thread of its own."""
        self.paths: dict[str, str] = {}
        """Where the adapters lie that it was given."""
        self.template = ("<none>", "")
        """What the chat template has in place of what, for another turn of phrase."""
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def close(self) -> None:
        self._stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def restart(self) -> None:
        """Forget all adapters, as a server that was started again."""
        self.models = {"tiny": self.models["tiny"]}
        self.paths.clear()
        self.log.append("restart")

    def evict(self) -> None:
        """Put all adapters away, to be read again when they are asked for."""
        self.models = {"tiny": self.models["tiny"]}

    def _load(self, adapter: Path | None) -> VLMPolicy:
        return load_policy(self.folder, adapter=adapter, threads=1, prompt=PromptBuilder.bare())

    # -- what it does --

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        return self._as_sglang(path, body) if self.wire == "sglang" else self._as_vllm(path, body)

    def _as_vllm(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        if path == "/v1/load_lora_adapter":
            name = body["lora_name"]
            if name in self.models:
                return 400, _error(f"The lora adapter '{name}' has already been loaded.")
            self._take(name, body["lora_path"])
            return 200, f"Success: LoRA adapter '{name}' added successfully."
        if path == "/v1/unload_lora_adapter":
            self._drop(body["lora_name"])
            return 200, "Success"
        if path != "/v1/chat/completions" or not self._has(body["model"]):
            return 404, _error(f"The model `{body.get('model')}` does not exist.")
        return 200, self._complete(body, body["model"])

    def _as_sglang(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        loaded = list(self.paths)
        if path == "/load_lora_adapter":
            name = body["lora_name"]
            if name in self.models:
                said = f"LoRA with name {name} already exists. Loaded LoRAs: {loaded}"
                return 400, {"success": False, "error_message": said, "loaded_adapters": {}}
            self._take(name, body["lora_path"])
            return 200, {"success": True, "error_message": "", "loaded_adapters": {name: ""}}
        if path == "/unload_lora_adapter":
            self._drop(body["lora_name"])
            return 200, {"success": True, "error_message": "", "loaded_adapters": {}}
        if path != "/v1/chat/completions":
            return 404, {"detail": "Not Found"}
        _, colon, adapter = body["model"].partition(":")
        if colon and adapter not in loaded:
            said = f"The following requested LoRA adapters are not loaded: {adapter}"
            return 400, {"object": "error", "message": said, "type": "BadRequest", "code": 400}
        self._has(adapter)
        found = self._complete(body, adapter or "tiny")
        if "prompt_token_ids" in found:
            found["choices"][0]["prompt_token_ids"] = found.pop("prompt_token_ids")
        return 200, found

    def _take(self, name: str, path: str) -> None:
        self.models[name] = self._load(Path(path))
        self.paths[name] = path
        self.log.append(f"load {name}")

    def _has(self, name: str) -> bool:
        """Whether a model is served; an adapter that was put away is read again."""
        with self._lock:
            if name not in self.models and name in self.paths:
                self.models[name] = self._load(Path(self.paths[name]))
        return name in self.models

    def _drop(self, name: str) -> None:
        self.models.pop(name, None)
        self.paths.pop(name, None)
        self.log.append(f"unload {name}")

    def _complete(self, body: dict[str, Any], name: str) -> dict[str, Any]:
        model = self.models[name]
        messages, images = _read(body["messages"])
        text = model.processor.apply_chat_template(
            messages, add_generation_prompt=True, tokenize=False
        ).replace(*self.template)
        batch = model.processor(text=[text], images=[images] if images else None)
        prompt = tuple(int(i) for i in np.asarray(batch["input_ids"][0]))
        question = EngineQuestion(messages, images, prompt, body["seed"])
        if self.gate is not None:
            self.gate.wait(HANG)
        self.wait()
        with self._lock:
            (sample,) = model.sample(
                [question],
                temperature=body["temperature"],
                max_new_tokens=body.get("max_tokens", 6),
            )
        content = [{"token": "", "logprob": v, "top_logprobs": []} for v in sample.logprobs]
        choice: dict[str, Any] = {
            "index": 0,
            "message": {"role": "assistant", "content": model.text(sample.ids)},
            "finish_reason": "length" if sample.truncated else "stop",
        }
        used = {"prompt_tokens": len(prompt), "completion_tokens": len(sample.ids)}
        found: dict[str, Any] = {
            "object": "chat.completion", "choices": [choice],
            "usage": used | {"total_tokens": sum(used.values()), "prompt_tokens_details": None},
        }  # fmt: skip
        if body.get("logprobs"):
            choice["logprobs"] = {"content": content}
        if body.get("return_token_ids"):
            choice["token_ids"] = list(sample.ids)
            found["prompt_token_ids"] = list(prompt)
        return found

    def _spoil(self, fault: str, found: dict[str, Any]) -> None:
        choice = found["choices"][0]
        if fault == "count":
            image = self.models["tiny"].encoder.image_id
            (choice if self.wire == "sglang" else found)["prompt_token_ids"].remove(image)
        elif fault == "short":
            choice["token_ids"] = choice["token_ids"][:2]
            choice["logprobs"]["content"] = choice["logprobs"]["content"][:2]
            choice["finish_reason"] = "abort"
        elif fault == "junk":
            found["choices"] = []

    # -- how it is spoken to --

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with server._lock:
                    server.requests.append(body)
                    server.headers.append(dict(self.headers))
                    chat = self.path.endswith("/chat/completions")
                    fault = server.faults.pop(0) if server.faults and chat else ""
                if fault == "hang":
                    server._stopping.wait(HANG)
                    self.close_connection = True
                    return
                if fault.isdigit():
                    self._send(int(fault), json.dumps(_error("out of order")).encode())
                    return
                status, found = server.answer(self.path, body)
                if fault and fault != "cut":
                    server._spoil(fault, found)
                text = found if isinstance(found, str) else json.dumps(found)
                self._send(status, text.encode(), cut=fault == "cut")

            def _send(self, status: int, body: bytes, cut: bool = False) -> None:
                self.close_connection = cut
                with contextlib.suppress(ConnectionError):  # nobody waits any more
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body[: len(body) // 2] if cut else body)

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        return Handler


def _read(messages: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[Image]]:
    """Messages with bare places for pictures, and the pictures."""
    images: list[Image] = []
    found = []
    for message in messages:
        parts = []
        for part in message["content"]:
            if part["type"] != "image_url":
                parts.append(part)
                continue
            head, _, data = part["image_url"]["url"].partition(",")
            assert head == "data:image/png;base64"
            picture = PILImage.open(io.BytesIO(base64.b64decode(data)))
            assert picture.format == "PNG"
            images.append(np.asarray(picture))
            parts.append({"type": "image"})
        found.append({**message, "content": parts})
    return found, images


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "BadRequestError", "code": 400}}
