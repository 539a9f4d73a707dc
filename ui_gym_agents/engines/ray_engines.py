"""Model servers that Ray actors run, as one engine: ``--policy.engine ray:vllm?n=2``.

Each actor starts a server on the node that it was placed on, where Ray has a GPU for it, and ends
it with itself. Servers listen on their node's address, and want a key that only this run has. An
adapter goes to all of them, through Ray, so that no folder need be shared. A question goes to the
server with the fewest under way. One that is lost is left out: what it was asked is asked of
another.

``ray:COMMAND`` starts any other server that speaks vLLM's API. In the command, ``{model}``,
``{host}``, ``{port}`` and ``{key}`` are filled in; it must serve the model as ``policy``.
"""

from __future__ import annotations

import logging
import os
import secrets
import shlex
import socket
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import ray
from pydantic import SecretStr
from ray.exceptions import RayError

from ui_gym.child_process import ChildProcess
from ui_gym.errors import UserError
from ui_gym.remote.ray_actors import LEAVE_CHILDREN, connect, end_with_node
from ui_gym_agents.engines.openai import SGLANG, VLLM, OpenAIEngine, Wire
from ui_gym_agents.engines.protocol import (
    EngineAnswer,
    EngineError,
    EngineQuestion,
    Sampling,
)

log = logging.getLogger(__name__)

SERVED = "policy"
"""What the model is called on the servers."""

START_SECONDS = 1800.0
"""How long a server may take to load its model."""

ANSWER_SECONDS = 10.0
"""How long an actor may take to say whether its server is there."""

GIVE_SECONDS = 120.0
"""How long an adapter may take to a node."""

_VLLM = (
    "vllm serve {model} --served-model-name policy --host {host} --port {port} --enable-lora "
    "--max-lora-rank 64 --logprobs-mode processed_logprobs --generation-config vllm"
)
_SGLANG = (
    "python -m sglang.launch_server --model-path {model} --served-model-name policy "
    "--host {host} --port {port} --api-key {key} --enable-lora --max-lora-rank 64 "
    "--lora-target-modules all"
)

Adapter = dict[str, bytes]
"""The files of a PEFT folder."""


@dataclass(frozen=True)
class EngineOrder:
    """What is started: the command, how many times, on how many GPUs each."""

    command: str
    wire: Wire
    count: int
    gpus: float

    @classmethod
    def read(cls, said: str) -> EngineOrder:
        """Of ``vllm?n=2``, ``sglang`` or ``COMMAND?n=2&gpus=0.5``. `UserError` for all else."""
        name, _, options = said.partition("?")
        known = {"vllm": (_VLLM, VLLM, 1.0), "sglang": (_SGLANG, SGLANG, 1.0)}
        command, wire, gpus = known.get(name, (name, VLLM, 0.0))
        given = dict(parse_qsl(options, keep_blank_values=True))
        try:
            count, gpus = int(given.pop("n", 1)), float(given.pop("gpus", gpus))
        except ValueError:
            count = 0
        if given or count < 1 or gpus < 0 or "{port}" not in command:
            raise UserError(
                f"'ray:{said}' is no engine; write ray:vllm, ray:sglang, or ray:COMMAND with "
                "{model}, {host} and {port} in it, then ?n=2 for how many, &gpus=1 for GPUs of each"
            )
        return cls(command, wire, count, gpus)


class ServerActor:
    """In the actor's process: a model server on this node, which ends with it."""

    def __init__(self, command: str, model: str, key: str) -> None:
        end_with_node()
        self._key = key
        self._host = ray.util.get_node_ip_address()
        self._port = _free_port(self._host)
        self._folder = Path(tempfile.mkdtemp(prefix="ui-gym-engine-"))
        self._ended = threading.Event()
        words = {"model": _found(model), "host": self._host, "port": self._port, "key": key}
        environment = os.environ | {"VLLM_API_KEY": key, "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1"}
        output, given = os.pipe()
        with (self._folder / "log").open("ab") as errors, os.fdopen(given, "wb") as pipe:
            self._process = ChildProcess(
                [part.format_map(words) for part in shlex.split(command)],
                folder=self._folder, environment=environment, stdout=pipe, stderr=errors,
            )  # fmt: skip
        threading.Thread(target=self._drain, args=(output,), daemon=True).start()

    def start(self) -> str:
        """The server's address, once it answers.

        Raises:
            RuntimeError: it ended, and what it said.
        """
        until = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._ended.wait(0.5) or time.monotonic() > until:
                raise RuntimeError(f"the server did not start: {self._said()}")
        return f"http://{self._host}:{self._port}/v1"

    def alive(self) -> bool:
        """Whether the server is there."""
        try:
            socket.create_connection((self._host, self._port), ANSWER_SECONDS / 2).close()
        except OSError:
            return False
        return not self._ended.is_set()

    def take(self, name: str, adapter: Adapter) -> str:
        """Put an adapter where the server can read it: in which folder it lies."""
        folder = self._folder / name
        folder.mkdir(exist_ok=True)
        for file, data in adapter.items():
            (folder / file).write_bytes(data)
        return str(folder)

    def drop(self, folder: str) -> None:
        """Remove an adapter's folder."""
        for file in Path(folder).iterdir():
            file.unlink()
        Path(folder).rmdir()

    def close(self) -> None:
        self._process.close()

    def _answers(self) -> bool:
        try:
            straight = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            straight.open(f"http://{self._host}:{self._port}/v1/models", timeout=5).close()
        except urllib.error.HTTPError as error:
            return error.code != 503  # it may want the key, and is there all the same
        except OSError:
            return False
        return True

    def _drain(self, output: int) -> None:
        with os.fdopen(output, "rb") as pipe, (self._folder / "log").open("ab") as kept:
            for line in pipe:
                kept.write(line)
                kept.flush()
        self._ended.set()

    def _said(self) -> str:
        said = (self._folder / "log").read_text(errors="replace").replace(self._key, "***")
        return said.strip()[-1000:] or "nothing"


def _found(model: str) -> str:
    """The folder of a model on this node, or its name, if the server is to find it itself."""
    from ui_gym_agents.policy.weights import resolve

    try:
        return str(resolve(model))
    except UserError:
        return model


def _free_port(host: str) -> int:
    with socket.socket() as found:
        found.bind((host, 0))
        return int(found.getsockname()[1])


@dataclass
class Member:
    """One of the servers, seen from here."""

    actor: Any
    engine: OpenAIEngine
    busy: int = 0
    """Questions under way."""
    lost: bool = False
    folders: tuple[str, ...] = ()
    """The adapters that lie on its node."""


class RayEngine:
    """Servers in Ray actors as one engine.

    Args:
        order: What is started.
        model: A folder or name that the nodes know.
        options: Of each `OpenAIEngine`.

    Raises:
        UserError: Ray is not there or has too few GPUs, or a server does not start.
    """

    def __init__(self, order: EngineOrder, model: str, **options: Any) -> None:
        connect(None, order.count)
        have = ray.cluster_resources().get("GPU", 0.0)
        if have < order.count * order.gpus:
            raise UserError(
                f"{order.count} engines with {order.gpus:g} GPUs each are asked for, and Ray has "
                f"{have:g} (--policy.engine ray:...?n=1&gpus=1)"
            )
        self.version = 0
        self._lock = threading.Lock()
        self._closed = False
        self._pool = ThreadPoolExecutor(order.count, thread_name_prefix="engines")
        key = SecretStr(secrets.token_hex(16))
        self.members = [
            Member(actor, OpenAIEngine(url, SERVED, wire=order.wire, key=key, **options))
            for actor, url in _started(order, model, key)
        ]

    def generate(
        self, questions: Sequence[EngineQuestion], sampling: Sampling
    ) -> list[EngineAnswer | EngineError]:
        """An answer to each question; see `Engine`."""
        asked = [self.submit(question, sampling) for question in questions]
        return [answer.result() for answer in asked]

    def submit(
        self, question: EngineQuestion, sampling: Sampling
    ) -> Future[EngineAnswer | EngineError]:
        """An answer to one question, to come, of whichever server is the least busy."""
        answered: Future[EngineAnswer | EngineError] = Future()
        answered.set_running_or_notify_cancel()
        self._ask(answered, question, sampling)
        return answered

    def publish(self, adapter: Path, version: int) -> None:
        """Give an adapter to all servers; one that is lost meanwhile is left out."""
        files = ray.put({path.name: path.read_bytes() for path in adapter.iterdir()})
        list(self._pool.map(lambda member: self._give(member, files, version), self._left()))
        self._left()
        self.version = version

    def kept(self) -> set[Path]:
        """None: what is read again lies on the nodes."""
        return set()

    def metrics(self) -> dict[str, float]:
        """The means of what the servers' engines measured, and how many are left."""
        told = [member.engine.metrics() for member in self.members if not member.lost]
        names = {name for each in told for name in each}
        means = {n: sum(each.get(n, 0.0) for each in told) / len(told) for n in sorted(names)}
        return means | {"engines": float(len(told))}

    def close(self) -> None:
        """End the servers. Closing twice is harmless."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        for member in self.members:
            member.engine.close()
        _end([member.actor for member in self.members])
        self._pool.shutdown()

    # -- inside --

    def _ask(
        self, answered: Future[EngineAnswer | EngineError], question: EngineQuestion,
        sampling: Sampling,
    ) -> None:  # fmt: skip
        try:
            left = self._left()
        except UserError as error:
            answered.set_exception(error)
            return
        with self._lock:
            member = min(left, key=lambda each: each.busy)
            member.busy += 1

        def take(future: Future[EngineAnswer | EngineError]) -> None:
            with self._lock:
                member.busy -= 1
            try:
                said = future.result()
                if isinstance(said, EngineError) and self._is_lost(member):
                    self._ask(answered, question, sampling)
                else:
                    answered.set_result(said)
            except BaseException as error:
                answered.set_exception(error)

        member.engine.submit(question, sampling).add_done_callback(take)

    def _give(self, member: Member, files: Any, version: int) -> None:
        try:
            name = f"v{version:06d}-{secrets.token_hex(2)}"
            told = member.actor.take.remote(name, files)
            folder = ray.get(told, timeout=GIVE_SECONDS)
            member.engine.publish(Path(folder), version)
        except (EngineError, RayError) as error:
            if self._is_lost(member):
                return
            raise EngineError(f"an engine did not take the adapter: {error}") from error
        kept = {str(path) for path in member.engine.kept()}
        for old in {*member.folders, folder} - kept:
            member.actor.drop.remote(old)
        member.folders = tuple(kept)

    def _left(self) -> list[Member]:
        left = [member for member in self.members if not member.lost]
        if not left:
            raise UserError("all engines in Ray are lost: look at their nodes, and resume the run")
        return left

    def _is_lost(self, member: Member) -> bool:
        """Whether a server is gone, after a request to it failed; it is left out from then on."""
        if member.lost or self._closed:
            return member.lost
        try:
            alive = bool(ray.get(member.actor.alive.remote(), timeout=ANSWER_SECONDS))
        except RayError as error:
            log.debug("an engine's actor: %s", error)
            alive = False
        with self._lock:
            first = not (alive or member.lost)
            member.lost = member.lost or not alive
        if first:
            log.warning("an engine in Ray is lost; %d go on", len(self.members) - self._lost)
        return member.lost

    @property
    def _lost(self) -> int:
        return sum(member.lost for member in self.members)


def _started(order: EngineOrder, model: str, key: SecretStr) -> list[tuple[Any, str]]:
    """Actors whose servers answer, and the servers' addresses."""
    made: Any = ray.remote(ServerActor).options(
        num_cpus=0, num_gpus=order.gpus, max_concurrency=4, scheduling_strategy="SPREAD",
        runtime_env={"env_vars": LEAVE_CHILDREN},
    )  # fmt: skip
    actors = [made.remote(order.command, model, key.get_secret_value()) for _ in range(order.count)]
    try:
        urls = ray.get([actor.start.remote() for actor in actors], timeout=START_SECONDS)
    except RayError as error:
        _end(actors)
        raise UserError(f"an engine did not start in Ray: {error}") from None
    except BaseException:
        _end(actors)
        raise
    return list(zip(actors, urls, strict=True))


def _end(actors: Sequence[Any]) -> None:
    """End servers and their actors, whatever they do."""
    if not ray.is_initialized():
        return
    ray.wait(
        [actor.close.remote() for actor in actors], num_returns=len(actors), timeout=ANSWER_SECONDS
    )
    for actor in actors:
        ray.kill(actor)
