"""A model server with an OpenAI-compatible chat API, vLLM's or SGLang's, as an engine.

The server gets the messages with pictures as PNG and answers with token ids and log-probabilities
(``return_token_ids``). Its prompt ids are what is recorded, so that a template that differs from
the local one leads to no wrong training data; that they hold the right number of image tokens is
checked for every answer. Both servers are asked alike; `Wire` has what differs. They must be vLLM
0.10.2, or an SGLang with https://github.com/sgl-project/sglang/pull/30917 (July 2026), or newer.
Start them so:

    VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 vllm serve MODEL --enable-lora --max-lora-rank 64 \\
        --logprobs-mode processed_logprobs --generation-config vllm

    python -m sglang.launch_server --model-path MODEL --enable-lora --max-lora-rank 64 \\
        --lora-target-modules all

The log-probabilities must be those of the distribution that was sampled from. vLLM's are so with
``processed_logprobs``: its default are those before temperature and logit bias. SGLang's are so
unless it is started with SGLANG_RETURN_ORIGINAL_LOGPROB.

Each version of an adapter is loaded under a name of its own and the one before is unloaded when
its last request is done: under one name, a server may go on with a stale prefix cache
(https://github.com/vllm-project/vllm/issues/42125). A server that was started again knows it no
more, and is given it again.
"""

from __future__ import annotations

import logging
import math
import os
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from ui_gym.errors import UserError
from ui_gym_agents.engines.http import CONNECTIONS, JsonClient, NotServed
from ui_gym_agents.engines.pictures import MOST, HitRate, PictureCache, wire_messages
from ui_gym_agents.engines.protocol import (
    EngineAnswer,
    EngineError,
    EngineQuestion,
    RequestLimits,
    Sampling,
)

log = logging.getLogger(__name__)

KEY = "OPENAI_API_KEY"
"""The environment variable that holds a server's key."""


def environment_key() -> SecretStr | None:
    """The server's key, if the environment has one."""
    key = os.environ.get(KEY)
    return SecretStr(key) if key else None


@dataclass(frozen=True)
class Wire:
    """In what the servers differ."""

    needs: str
    """The first version that gives token ids."""
    beside_v1: bool
    """Adapters are loaded at the server's root rather than below ``/v1``."""
    model: str
    """How an adapter is asked for, of the base model's name and its own."""
    prompt: Callable[[Any], Any]
    """Where the ids of the prompt are in an answer."""
    lacks: Callable[[Exception], bool]
    """Whether a refusal says that the adapter is not loaded."""

    def admin_url(self, url: str) -> str:
        """Where adapters are loaded on the server whose API is at `url`."""
        return url.rstrip("/").removesuffix("/v1") if self.beside_v1 else url


VLLM = Wire(
    needs="vLLM 0.10.2",
    beside_v1=False,
    model="{adapter}",
    prompt=lambda found: found["prompt_token_ids"],
    lacks=lambda refusal: isinstance(refusal, NotServed),
)
SGLANG = Wire(
    needs="an SGLang of July 2026",
    beside_v1=True,
    model="{base}:{adapter}",
    prompt=lambda found: found["choices"][0]["prompt_token_ids"],
    lacks=lambda refusal: "are not loaded" in str(refusal),
)

PARTING = RequestLimits(timeout=2.0, attempts=1)
"""For what is asked of a server while the run closes."""

NEVER = -100
"""The lowest logit bias of the API; e^-100 is nothing in single precision."""


class OpenAIEngine:
    """Asks a server, many questions at a time.

    Args:
        url: The server's address, up to ``/v1``.
        model: The base model's name on the server, sampled until an adapter is published.
        image_id: The id of an image token, by which prompts are checked; None: the model has none.
        wire: Which server it is.
        key: The server's key, if it wants one.
        run: Adapters are called ``RUN-v000001``... there. None: a name that no other process has,
            since a resumed run may publish other weights as the same version.
        admin_url: Where adapters are loaded; as `wire` has it, if None.
        connections: How many requests are under way at most.
        limits: How long the server is waited for.
        pictures: How many encoded pictures are remembered: the slots times the pictures that a
            prompt shows.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        image_id: int | None,
        wire: Wire = VLLM,
        key: SecretStr | None = None,
        run: str | None = None,
        admin_url: str | None = None,
        connections: int = CONNECTIONS,
        limits: RequestLimits | None = None,
        pictures: int = MOST,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        self.image_id = -1 if image_id is None else image_id  # no token has that id
        self.wire = wire
        self.run = run or f"run-{secrets.token_hex(3)}"
        self.version = 0
        options: dict[str, Any] = {"key": key, "limits": limits, "sleep": sleep}
        self._client = JsonClient(url, connections=connections, **options)
        self._admin = JsonClient(admin_url or wire.admin_url(url), connections=2, **options)
        self._pool = ThreadPoolExecutor(connections, thread_name_prefix="engine")
        self._lock = threading.Lock()
        self._base = model
        self._adapter = ""
        self._busy: Counter[str] = Counter()
        self._loaded: dict[str, Path] = {}
        """Where each adapter lies that the server was given."""
        self._loading = threading.Lock()
        self._loads: Counter[str] = Counter()
        """How often it was given each."""
        self._warned = False
        self._pictures = PictureCache(pictures)
        self._rate = HitRate(self._pictures)

    def generate(
        self, questions: Sequence[EngineQuestion], sampling: Sampling
    ) -> list[EngineAnswer | EngineError]:
        """An answer to each question; see `Engine`."""
        return list(self._pool.map(lambda question: self._answer(question, sampling), questions))

    def submit(
        self, question: EngineQuestion, sampling: Sampling
    ) -> Future[EngineAnswer | EngineError]:
        """An answer to one question, to come, or what went wrong with it."""
        return self._pool.submit(self._answer, question, sampling)

    def publish(self, adapter: Path, version: int) -> None:
        """Load an adapter under its version's name; the server must be able to read the folder."""
        name = f"{self.run}-v{version:06d}"
        with self._loading:
            self._load(name, adapter)
        with self._lock:
            self._adapter, self.version = name, version
            self._loaded[name] = adapter
        self._unload_idle()

    def kept(self) -> set[Path]:
        """The folders of the adapters that were not unloaded yet."""
        with self._lock:
            return set(self._loaded.values())

    def metrics(self) -> dict[str, float]:
        """What was measured since the last time: see `HitRate`."""
        return self._rate.metrics()

    def close(self) -> None:
        """Give up what is under way, unload what was loaded, and close all connections."""
        self._client.close()
        self._pool.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            left, self._loaded = self._loaded, {}
        for name in left:
            if not self._unload(name, PARTING):
                break  # a server that hangs keeps nobody
        self._admin.close()

    # -- one question --

    def _answer(self, question: EngineQuestion, sampling: Sampling) -> EngineAnswer | EngineError:
        try:
            with self._using() as (adapter, version):
                found = self._ask(self._payload(question, sampling, adapter), adapter)
            return self._checked(found, question, sampling, version)
        except EngineError as error:
            return error

    def _ask(self, payload: dict[str, Any], adapter: str) -> Any:
        """What the server answers; it is given the adapter again if it has forgotten it."""
        tries = self._client.limits.attempts
        while True:
            loads, tries = self._loads[adapter], tries - 1
            try:
                return self._client.post("/chat/completions", payload)
            except (EngineError, UserError) as refusal:
                if not (adapter and tries and self.wire.lacks(refusal)):
                    raise
            self._load_again(adapter, loads)

    @contextmanager
    def _using(self) -> Iterator[tuple[str, int]]:
        """The present adapter, if any, and version, kept on the server while this is open."""
        with self._lock:
            adapter, version = self._adapter, self.version
            self._busy[adapter] += 1
        try:
            yield adapter, version
        finally:
            with self._lock:
                self._busy[adapter] -= 1
            self._unload_idle()

    def _payload(
        self, question: EngineQuestion, sampling: Sampling, adapter: str
    ) -> dict[str, Any]:
        named = self.wire.model.format(base=self._base, adapter=adapter)
        return {
            "model": named if adapter else self._base,
            "messages": wire_messages(question.messages, question.images, self._pictures.url),
            "max_tokens": sampling.max_new_tokens,
            "temperature": sampling.temperature,
            "top_p": 1.0,
            "top_k": -1,
            # Else a server may take them from the model's own generation settings.
            "min_p": 0.0,
            "repetition_penalty": 1.0,
            "n": 1,
            "seed": question.noise % 2**63,
            "logprobs": True,
            "return_token_ids": True,
            "skip_special_tokens": False,
            "stop_token_ids": list(sampling.stops),
            "logit_bias": {str(i): NEVER for i in sampling.suppressed},
        }

    def _checked(
        self, found: Any, question: EngineQuestion, sampling: Sampling, version: int
    ) -> EngineAnswer:
        """The server's answer, if it is one that training may rely on."""
        try:
            choice = found["choices"][0]
            prompt = tuple(int(i) for i in self.wire.prompt(found))
            ids = tuple(int(i) for i in choice["token_ids"])
            logprobs = tuple(float(part["logprob"]) for part in choice["logprobs"]["content"])
            finish = choice["finish_reason"]
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise EngineError(
                f"the server's answer lacks {error}: it must know return_token_ids and logprobs "
                f"({self.wire.needs} or newer)"
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
        return EngineAnswer(prompt, ids, logprobs, version, "stop" if ended else "length")

    # -- adapters --

    def _load(self, name: str, adapter: Path) -> None:
        """Give the server an adapter. Called with `_loading`."""
        payload = {"lora_name": name, "lora_path": str(adapter.resolve())}
        try:
            self._admin.post("/load_lora_adapter", payload)
        except NotServed as error:
            raise UserError(
                f"{error}; adapters need a server that takes them (vLLM: --enable-lora and "
                "VLLM_ALLOW_RUNTIME_LORA_UPDATING=1) and that can read their folder "
                f"({adapter}; --policy.exchange sets another)"
            ) from None
        except EngineError as error:
            # An attempt that was answered too late to be heard has loaded it all the same.
            if "already" not in str(error):
                raise
        self._loads[name] += 1

    def _load_again(self, name: str, loads: int) -> None:
        """Give the server an adapter that it has forgotten since it was given `loads` times."""
        with self._loading:
            if self._loads[name] == loads:
                log.warning("the server knows the adapter %s no more, and is given it again", name)
                self._load(name, self._loaded[name])

    def _unload_idle(self) -> None:
        """Unload the adapters of older versions that no request uses any more."""
        with self._lock:
            idle = [n for n in self._loaded if n != self._adapter and not self._busy[n]]
            for name in idle:
                del self._loaded[name]
        for name in idle:
            self._unload(name)

    def _unload(self, name: str, limits: RequestLimits | None = None) -> bool:
        """Whether the server unloaded an adapter."""
        try:
            self._admin.post("/unload_lora_adapter", {"lora_name": name}, limits)
        except Exception as error:  # it costs the server memory, and the run nothing
            log.warning("the adapter %s was not unloaded: %s", name, error)
            return False
        return True
