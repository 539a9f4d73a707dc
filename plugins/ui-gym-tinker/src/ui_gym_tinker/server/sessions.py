"""Who is here: sessions, their training runs and their samplers, and whose turn it is.

A session lives as long as its client says that it does (``session_heartbeat``, every 10 s). Once it
is silent for `timeout` seconds, or has finished, its runs and samplers are freed.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from ui_gym_tinker.server.adapters import AdapterShape
from ui_gym_tinker.server.errors import BadRequest, HttpRefusal
from ui_gym_tinker.server.hosted import HostedModel
from ui_gym_tinker.server.snapshots import Snapshot
from ui_gym_tinker.server.training import TrainingRun

REMEMBERED = 1000
"""Sessions that have ended and of which it is still known why."""

RECORDED = 100_000
"""Sequences of a session whose log-probabilities are kept for `stable_reinforce`."""

Job = Callable[[], None]


@dataclass(eq=False)
class RunRecord:
    """A training run as its session knows it; `training` is None until it was made."""

    id: str
    session: str
    model: HostedModel
    shape: AdapterShape
    user_metadata: Mapping[str, str] | None = None
    training: TrainingRun | None = None
    inflight: Snapshot | None = None
    next_seq: int = 1
    waiting: dict[int, Job] = field(default_factory=dict)
    last_request: float = field(default_factory=time.time)

    def ready(self) -> TrainingRun:
        """Raises `BadRequest` where it could not be made."""
        if self.training is None:
            raise BadRequest(f"the training run {self.id} was not made, or was unloaded")
        return self.training


@dataclass(eq=False)
class SamplerRecord:
    """A sampler: of a snapshot, of whatever `run` publishes in flight, or of the bare model."""

    id: str
    session: str
    model: HostedModel
    snapshot: Snapshot | None = None
    run: RunRecord | None = None
    model_path: str | None = None
    clients: int = 0
    """How many copies of the client have joined it."""

    @property
    def current(self) -> Snapshot | None:
        """What is sampled from now; None: the bare model."""
        return self.snapshot if self.run is None else self.run.inflight


@dataclass(eq=False)
class ClientSession:
    """A client, from ``create_session`` on. `seen` is by the monotonic clock."""

    id: str
    user_metadata: Mapping[str, Any] | None
    display_name: str | None
    seen: float
    created: float = field(default_factory=time.time)
    runs: dict[str, RunRecord] = field(default_factory=dict)
    samplers: dict[str, SamplerRecord] = field(default_factory=dict)
    recorded: dict[str, np.ndarray] = field(default_factory=dict)
    """Log-probabilities of sampled sequences, where that was asked for, by their ids."""

    def record(self, sequence_id: str, logprobs: np.ndarray) -> None:
        """Keep what was sampled, in place of what was sampled long ago."""
        self.recorded[sequence_id] = logprobs
        while len(self.recorded) > RECORDED:
            del self.recorded[next(iter(self.recorded))]


class ClientSessions:
    """The sessions of a server. For any thread."""

    def __init__(self, timeout: float, ended: Callable[[ClientSession, str], None]) -> None:
        self.timeout = timeout
        self._ended = ended
        self._live: dict[str, ClientSession] = {}
        self._gone: dict[str, str] = {}
        self._made_by: dict[str, str] = {}
        self._lock = threading.RLock()

    def begin(
        self, user_metadata: Mapping[str, Any] | None, display_name: str | None, key: str
    ) -> ClientSession:
        """A new session; the one that a request with the same idempotency `key` began."""
        with self._lock:
            again = self._live.get(self._made_by.get(key, ""))
            if key and again is not None:
                return again
            found = ClientSession(str(uuid.uuid4()), user_metadata, display_name, time.monotonic())
            self._live[found.id] = found
            if key:
                self._made_by[key] = found.id
            return found

    def get(self, session_id: str) -> ClientSession:
        """A session, which has now been heard of.

        Raises:
            HttpRefusal: (410) it has ended; (404) it was never there.
        """
        with self._lock:
            found = self._live.get(session_id)
            if found is None:
                self._refuse(session_id, f"there is no session {session_id!r}: {_RESTARTED}")
            found.seen = time.monotonic()
            return found

    def run(self, model_id: str) -> RunRecord:
        """A training run, by its id. Raises as `get`."""
        session_id = model_id.partition(":")[0]
        with self._lock:
            session = self._live.get(session_id)
            if session is None or model_id not in session.runs:
                self._refuse(session_id, f"there is no training run {model_id!r}: {_RESTARTED}")
            session.seen = time.monotonic()
            found = session.runs[model_id]
            found.last_request = time.time()
            return found

    def sampler(self, sampler_id: str) -> SamplerRecord:
        """A sampler, by its id. Raises as `get`."""
        session_id = sampler_id.partition(":")[0]
        with self._lock:
            session = self._live.get(session_id)
            if session is None or sampler_id not in session.samplers:
                self._refuse(session_id, f"there is no sampler {sampler_id!r}: {_RESTARTED}")
            session.seen = time.monotonic()
            return session.samplers[sampler_id]

    def in_order(self, run: RunRecord, seq: int | None, job: Job, submit: Callable[[Job], None]) \
            -> bool:  # fmt: skip
        """Submit a run's jobs in the order of their `seq`, each once those before it are there.

        False: a job of that place was done before.
        """
        with self._lock:
            seq = run.next_seq if seq is None else seq
            if seq < run.next_seq or seq in run.waiting:
                return False
            run.waiting[seq] = job
            while (following := run.waiting.pop(run.next_seq, None)) is not None:
                run.next_seq += 1
                submit(following)
            return True

    def finish(self, session_id: str, why: str) -> None:
        """End a session. May be repeated."""
        with self._lock:
            found = self._live.pop(session_id, None)
            if found is None:
                return
            self._gone[session_id] = why
            while len(self._gone) > REMEMBERED:
                del self._gone[next(iter(self._gone))]
            self._made_by = {k: v for k, v in self._made_by.items() if v != session_id}
        self._ended(found, why)

    def unload(self, run: RunRecord) -> None:
        """Forget a training run."""
        with self._lock:
            session = self._live.get(run.session)
            if session is not None:
                session.runs.pop(run.id, None)

    def expire(self) -> None:
        """End the sessions that were silent for too long."""
        now = time.monotonic()
        with self._lock:
            silent = [one.id for one in self._live.values() if now - one.seen > self.timeout]
        for session_id in silent:
            self.finish(
                session_id,
                f"the session {session_id} has expired: its client was silent for "
                f"{self.timeout:g} s (--session-timeout). Begin a new one, and go on from a "
                "checkpoint",
            )

    def all(self) -> list[ClientSession]:
        """Those that live, the newest first."""
        with self._lock:
            return sorted(self._live.values(), key=lambda one: -one.created)

    def why_gone(self, session_id: str) -> str | None:
        """Why a session has ended; None where it has not, or nothing is known of it."""
        with self._lock:
            return self._gone.get(session_id)

    def _refuse(self, session_id: str, otherwise: str) -> NoReturn:
        why = self._gone.get(session_id)
        raise HttpRefusal(404 if why is None else 410, why or otherwise)


_RESTARTED = "it was never made, or the server was started again since. Go on from a checkpoint"
