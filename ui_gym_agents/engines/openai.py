"""A model server with vLLM's OpenAI-compatible chat API as an engine.

The server gets the messages with pictures as PNG and answers with token ids and log-probabilities
(``return_token_ids``, vLLM 0.10.2 and newer). Its prompt ids are what is recorded, so that a
template that differs from the local one leads to no wrong training data; that they hold the right
number of image tokens is checked for every answer. Start it so:

    VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 vllm serve MODEL --enable-lora --max-lora-rank 64 \\
        --logprobs-mode processed_logprobs --generation-config vllm

With ``processed_logprobs`` the log-probabilities are those of the distribution that was sampled
from; vLLM's default are those before temperature and logit bias, which differ.

Each version of an adapter is loaded under a name of its own and the one before is unloaded when
its last request is done: under one name, a server may go on with a stale prefix cache
(https://github.com/vllm-project/vllm/issues/42125).
"""

from __future__ import annotations

import logging
import math
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from ui_gym_agents.engines.http import JsonClient, Patience
from ui_gym_agents.engines.pictures import wire_messages
from ui_gym_agents.engines.protocol import Answer, EngineError, Question, Sampling

log = logging.getLogger(__name__)

KEY = "OPENAI_API_KEY"
"""The environment variable that holds a server's key."""

NEVER = -100
"""The lowest logit bias of the API; e^-100 is nothing in single precision."""


class OpenAIEngine:
    """Asks a server, many questions at a time.

    Args:
        url: The server's address, up to ``/v1``.
        model: The base model's name on the server, sampled until an adapter is published.
        image_id: The id of an image token, by which prompts are checked.
        key: The server's key, if it wants one.
        run: Adapters are called ``RUN-v000001``... there. None: a name that no other process has,
            since a resumed run may publish other weights as the same version.
        admin_url: Where adapters are loaded; `url`, if None.
        connections: How many requests are under way at most.
        patience: How long the server is waited for.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        image_id: int,
        key: SecretStr | None = None,
        run: str | None = None,
        admin_url: str | None = None,
        connections: int = 64,
        patience: Patience | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.image_id = image_id
        self.run = run or f"run-{secrets.token_hex(3)}"
        self.version = 0
        options: dict[str, Any] = {"key": key, "patience": patience, "sleep": sleep}
        self._client = JsonClient(url, connections=connections, **options)
        self._admin = JsonClient(admin_url or url, connections=2, **options)
        self._pool = ThreadPoolExecutor(connections, thread_name_prefix="engine")
        self._lock = threading.Lock()
        self._model = model
        self._busy: Counter[str] = Counter()
        self._loaded: list[str] = []
        self._warned = False

    def generate(
        self, questions: Sequence[Question], sampling: Sampling
    ) -> list[Answer | EngineError]:
        """An answer to each question; see `Engine`."""
        return list(self._pool.map(lambda question: self._answer(question, sampling), questions))

    def publish(self, adapter: Path, version: int) -> None:
        """Load an adapter under its version's name; the server must be able to read the folder."""
        name = f"{self.run}-v{version:06d}"
        payload = {"lora_name": name, "lora_path": str(adapter.resolve())}
        try:
            self._admin.post("/load_lora_adapter", payload)
        except EngineError as error:
            # An attempt that was answered too late to be heard has loaded it all the same.
            if "already" not in str(error):
                raise
        with self._lock:
            self._model, self.version = name, version
            self._loaded.append(name)
        self._unload_idle()

    def close(self) -> None:
        """Unload what was loaded, and close all connections."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            left, self._loaded = self._loaded, []
        for name in left:
            self._unload(name)
        self._client.close()
        self._admin.close()

    # -- one question --

    def _answer(self, question: Question, sampling: Sampling) -> Answer | EngineError:
        try:
            with self._using() as (model, version):
                found = self._client.post(
                    "/chat/completions", self._payload(question, sampling, model)
                )
            return self._checked(found, question, sampling, version)
        except EngineError as error:
            return error

    @contextmanager
    def _using(self) -> Iterator[tuple[str, int]]:
        """The present model and version, kept on the server while this is open."""
        with self._lock:
            model, version = self._model, self.version
            self._busy[model] += 1
        try:
            yield model, version
        finally:
            with self._lock:
                self._busy[model] -= 1
            self._unload_idle()

    def _payload(self, question: Question, sampling: Sampling, model: str) -> dict[str, Any]:
        return {
            "model": model,
            "messages": wire_messages(question.messages, question.images),
            "max_tokens": sampling.max_new_tokens,
            "temperature": sampling.temperature,
            "top_p": 1.0,
            "top_k": -1,
            "n": 1,
            "seed": question.noise % 2**63,
            "logprobs": True,
            "return_token_ids": True,
            "skip_special_tokens": False,
            "stop_token_ids": list(sampling.stops),
            "logit_bias": {str(i): NEVER for i in sampling.suppressed},
        }

    def _checked(self, found: Any, question: Question, sampling: Sampling, version: int) -> Answer:
        """The server's answer, if it is one that training may rely on."""
        try:
            choice = found["choices"][0]
            prompt = tuple(int(i) for i in found["prompt_token_ids"])
            ids = tuple(int(i) for i in choice["token_ids"])
            logprobs = tuple(float(part["logprob"]) for part in choice["logprobs"]["content"])
            finish = choice["finish_reason"]
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise EngineError(
                f"the server's answer lacks {error}: it must know return_token_ids and logprobs "
                "(vLLM 0.10.2 or newer)"
            ) from None
        have, need = prompt.count(self.image_id), question.ids.count(self.image_id)
        if have != need:
            raise EngineError(
                f"the server saw {have} image tokens where the {len(question.images)} pictures "
                f"make {need}: its image settings differ from the model folder's"
            )
        if len(ids) != len(logprobs) or not ids:
            raise EngineError(f"the answer has {len(ids)} tokens and {len(logprobs)} logprobs")
        if not all(math.isfinite(value) and value < 1e-3 for value in logprobs):
            raise EngineError("the answer's log-probabilities are none")
        forbidden = set(ids) & set(sampling.suppressed)
        if forbidden:
            raise EngineError(
                f"the answer holds tokens that are never sampled: {sorted(forbidden)}"
            )
        ended = ids[-1] in sampling.stops
        if not ended and (finish != "length" or len(ids) < sampling.max_new_tokens):
            raise EngineError(f"the answer was cut off after {len(ids)} tokens ({finish})")
        if prompt != question.ids and not self._warned:
            self._warned = True
            log.warning(
                "the server's chat template writes other tokens than the model folder's; "
                "the server's are recorded"
            )
        return Answer(prompt, ids, logprobs, version, "stop" if ended else "length")

    # -- adapters --

    def _unload_idle(self) -> None:
        """Unload the adapters of older versions that no request uses any more."""
        with self._lock:
            idle = [n for n in self._loaded if n != self._model and not self._busy[n]]
            self._loaded = [name for name in self._loaded if name not in idle]
        for name in idle:
            self._unload(name)

    def _unload(self, name: str) -> None:
        try:
            self._admin.post("/unload_lora_adapter", {"lora_name": name})
        except Exception as error:  # it costs the server memory, and the run nothing
            log.warning("the adapter %s was not unloaded: %s", name, error)
