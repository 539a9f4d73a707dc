"""Slots in other processes, for machines with more cores than one Python can keep busy.

A `WorkerEnv` stands in its slot for a `UIEnv` that lives in a worker process, which runs
``worker_main.py``, so that deadlines, healing and results are the same as for slots in threads.
Calls and answers are messages with sequence numbers on a socket of each slot; a screenshot lies in
memory that both processes map, and is copied out of it.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import IO, Any

import numpy as np

from ui_gym.contract.device import Image
from ui_gym.contract.spec import TaskSpec
from ui_gym.contract.task import Task
from ui_gym.errors import DeviceError, DeviceLost, DeviceStartError, UserError
from ui_gym.playing.env import RESET_PAUSES, Observation, UIEnv
from ui_gym.playing.slot import close_all
from ui_gym.playing.threads import ThreadRunner

START_SECONDS = 60.0
"""How long a worker process may take to come up."""

CALL_SECONDS = 60.0
"""How long a call from outside the episode (`WorkerEnv.call`) may take."""

ANSWER_SECONDS = 3.0
"""How long a worker may take to answer what needs no device, before it is killed."""


class WorkerLost(DeviceLost):
    """The process that a slot lives in is gone, or does not answer."""


Step = tuple[Observation, float, bool, bool, dict[str, Any]]


@dataclass(frozen=True)
class Blueprint:
    """What a worker needs to make envs like the parent's."""

    spec: TaskSpec
    task: bytes
    """An id or a `Task`, pickled: its module must be found before it is read."""
    arguments: dict[str, Any]
    path: tuple[str, ...]
    """Where the parent finds modules."""

    @classmethod
    def of(cls, env: UIEnv, task: str | Task[Any, Any], arguments: Mapping[str, Any]) -> Blueprint:
        """The blueprint of an `env` that was made by ``UIEnv(task, **arguments)``.

        Raises:
            UserError: something in it cannot go to another process.
        """
        if arguments.get("pool") is not None:
            raise UserError("a pool cannot be given to processes: each makes its own")
        try:
            pickle.dumps(dict(arguments))
            return cls(env.task.spec, pickle.dumps(task), dict(arguments), tuple(sys.path))
        except Exception as error:
            raise UserError(
                f"{env.task.spec.id}: its arguments cannot go to another process ({error}); give "
                "the task by its id, or play in threads"
            ) from None

    def open(self) -> str | Task[Any, Any]:
        """The task, in another process, which finds modules as the parent does from now on."""
        sys.path[:] = [*self.path, *(p for p in sys.path if p not in self.path)]
        self.spec.load()  # registers it, if this process does not know it
        task: str | Task[Any, Any] = pickle.loads(self.task)  # noqa: S301  the parent's own
        return task


class SharedImage:
    """A picture of shape (height, width, 3) in memory without a name: nothing can be left of it."""

    def __init__(self, size: tuple[int, int], descriptor: int | None = None) -> None:
        width, height = size
        needed = width * height * 3
        try:
            self._file = self._open(descriptor)
            if descriptor is None:
                self._file.truncate(needed)
                if hasattr(os, "posix_fallocate"):
                    # Memory that is lacking is an error now, not a SIGBUS when it is written to.
                    os.posix_fallocate(self._file.fileno(), 0, needed)
            self._map = mmap.mmap(self._file.fileno(), needed)
        except OSError as error:
            more = "raise the limit (ulimit -n 1024), " if error.errno == errno.EMFILE else ""
            raise DeviceStartError(
                f"there is no shared memory for screenshots of {width}x{height} "
                f"({error.strerror}): {more}have fewer slots, or play in threads"
            ) from None
        self.array: Image = np.frombuffer(self._map, np.uint8).reshape(height, width, 3)

    @staticmethod
    def _open(descriptor: int | None) -> IO[bytes]:
        if descriptor is not None:
            return os.fdopen(descriptor, "r+b")
        if hasattr(os, "memfd_create"):
            return os.fdopen(os.memfd_create("ui-gym-screenshot"), "r+b")
        return tempfile.TemporaryFile()

    def fileno(self) -> int:
        return self._file.fileno()

    def close(self) -> None:
        """May be repeated."""
        if not self._file.closed:
            del self.array
            with contextlib.suppress(BufferError):  # a thread that hangs may still hold it
                self._map.close()
            self._file.close()


class Worker:
    """One worker process, started when a slot first needs it and again when it was lost."""

    def __init__(self, index: int, blueprint: Blueprint) -> None:
        self.index = index
        self._blueprint = blueprint
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._control: Connection | None = None
        self._envs = 0
        self._closed = False

    def open_env(self, image: SharedImage) -> tuple[Connection, int]:
        """A new env in the process: the connection to it, and its id there.

        Raises:
            WorkerLost: the process is gone.
            DeviceStartError: it cannot be started.
        """
        ours, theirs = socket.socketpair()
        with self._lock, theirs:
            if self._closed:
                raise WorkerLost("the worker process is closed")
            if self._process is None or self._process.poll() is not None:
                self._start()
            assert self._socket is not None
            self._envs += 1
            try:
                self._ask(("open", self._envs))
                socket.send_fds(self._socket, [b"s"], [theirs.fileno(), image.fileno()])
                self._answer(START_SECONDS)
            except (OSError, EOFError) as error:
                ours.close()
                self._kill()  # so that the next try starts another one
                raise WorkerLost(f"{self}: {error or 'it ended'}") from None
            return Connection(ours.detach()), self._envs

    def abandon(self, env_id: int) -> None:
        """Close the device of an env under whoever uses it; a process that hangs is killed."""
        with self._lock:
            try:
                self._ask(("abandon", env_id))
                self._answer(ANSWER_SECONDS)
            except (OSError, EOFError):
                self._kill()

    def close(self) -> None:
        """End the process: by itself in `ANSWER_SECONDS`, else by force. May be repeated."""
        with self._lock:
            self._closed = True
            process, control, channel = self._process, self._control, self._socket
            self._process = self._control = self._socket = None
            for end in (control, channel):
                if end is not None:
                    end.close()
            if process is not None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=2 * ANSWER_SECONDS)
                _end(process)

    def __str__(self) -> str:
        process = self._process
        code = process.poll() if process is not None else None
        how = "" if code is None else f" (exit {code})" if code >= 0 else f" (signal {-code})"
        return f"worker process {self.index}{how}"

    # -- inside, under the lock --

    def _start(self) -> None:
        self._kill()
        control, their_control = socket.socketpair()
        channel, their_channel = socket.socketpair()
        with their_control, their_channel:
            numbers = [str(their_control.fileno()), str(their_channel.fileno())]
            self._process = subprocess.Popen(
                [sys.executable, "-m", "ui_gym.playing.worker_main", *numbers],
                stdin=subprocess.DEVNULL,
                pass_fds=[int(number) for number in numbers],
                # Ctrl-C is for the parent, which ends its workers in order.
                start_new_session=True,
            )
        self._control, self._socket = Connection(control.detach()), channel
        try:
            self._ask(self._blueprint)
            self._answer(START_SECONDS)
        except (OSError, EOFError) as error:
            self._kill()
            raise DeviceStartError(f"{self} did not start: {error or 'it ended'}") from None

    def _ask(self, message: Any) -> None:
        if self._control is None:
            raise EOFError
        self._control.send(message)

    def _answer(self, seconds: float) -> None:
        assert self._control is not None
        if not self._control.poll(seconds):
            raise TimeoutError(f"no answer within {seconds:g} s")
        error = self._control.recv()
        if error is not None:
            raise error

    def _kill(self) -> None:
        for end in (self._control, self._socket):
            if end is not None:
                end.close()
        self._control = self._socket = None
        if self._process is not None:
            _end(self._process)


class Workers:
    """All worker processes of a vector env; closed like a pool."""

    def __init__(self, count: int, blueprint: Blueprint) -> None:
        self._workers = [Worker(index, blueprint) for index in range(count)]

    def of(self, slot: int) -> Worker:
        """The process that a slot lives in."""
        return self._workers[slot % len(self._workers)]

    def close(self) -> None:
        close_all(self._workers)


class WorkerEnv:
    """What a slot needs of an env, done by an env in a worker process.

    Where a `UIEnv` tells of a failing device in its results, this raises `WorkerLost` when the
    process itself is lost in a step; a reset starts it anew.
    """

    def __init__(self, worker: Worker, template: UIEnv) -> None:
        self._worker = worker
        self._template = template
        self._sequence = 0
        self._env_id: int | None = None
        self._connection: Connection | None = None
        self._image = SharedImage(template.size)
        self._abandoned = False
        self._last: Image | None = None
        self._set: dict[str, Any] = {}
        """Attributes that were set from outside, for the env of the next process as well."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """As `UIEnv.reset`; seeds are drawn here, so that they do not depend on the process."""
        seed = self._template.draw_seed(seed)
        for last_try in (*(False for _ in RESET_PAUSES), True):
            try:
                answer: tuple[Observation, dict[str, Any]] = self._call("reset", seed, options)
                return self._seen(answer[0]), answer[1]
            except WorkerLost:
                self._leave()
                if last_try or self._abandoned:
                    raise
        raise AssertionError("unreachable")

    def step(self, action: str) -> Step:
        """As `UIEnv.step`."""
        answer: Step = self._call("step", action)
        return self._seen(answer[0]), *answer[1:]

    def render(self) -> Image | None:
        """The last screenshot, in ``rgb_array`` mode."""
        if self._template.render_mode != "rgb_array" or self._last is None:
            return None
        return self._last.copy()

    def clone(self) -> WorkerEnv:
        """An env with the same arguments, in the same process if that still lives."""
        clone = WorkerEnv(self._worker, self._template.clone())
        clone._set = dict(self._set)
        return clone

    def call(self, name: str, *arguments: Any, **named: Any) -> Any:
        """What a method of the env over there returns, or the value of an attribute.

        Raises:
            UserError: what comes of it cannot go to another process.
        """
        return self._call("call", name, arguments, named, timeout=CALL_SECONDS)

    def set(self, name: str, value: Any) -> None:
        """Set an attribute of the env over there."""
        self._call("set", name, value, timeout=CALL_SECONDS)
        self._set[name] = value
        self._template.set_wrapper_attr(name, value)

    def abandon(self) -> None:
        """From any thread, for good: a call in progress fails."""
        self._abandoned = True
        env_id = self._env_id
        if env_id is not None:
            self._worker.abandon(env_id)
        self._leave()

    def close(self) -> None:
        """Close the env over there. May be repeated."""
        with contextlib.suppress(DeviceError, OSError):
            if self._connection is not None and not self._abandoned:
                self._call("close", timeout=ANSWER_SECONDS)
        self._abandoned = True
        self._leave()

    # -- inside --

    def _call(self, method: str, *arguments: Any, timeout: float | None = None) -> Any:
        connection = self._connect()
        self._sequence += 1
        try:
            connection.send((self._sequence, method, arguments))
            if not connection.poll(timeout):
                raise WorkerLost(f"{self._worker}: no answer within {timeout:g} s")
            sequence, error, answer = connection.recv()
        except (OSError, EOFError):
            raise WorkerLost(f"{self._worker} ended") from None
        if sequence != self._sequence:
            raise WorkerLost(f"{self._worker} answered call {sequence}, not {self._sequence}")
        if error is not None:
            raise error
        return answer

    def _connect(self) -> Connection:
        if self._abandoned:
            raise WorkerLost("this env was taken away from its slot")
        if self._connection is None:
            self._connection, self._env_id = self._worker.open_env(self._image)
            for name, value in self._set.items():
                self._call("set", name, value, timeout=CALL_SECONDS)
        return self._connection

    def _leave(self) -> None:
        connection, self._connection = self._connection, None
        self._env_id = None
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.close()
        if self._abandoned:
            self._image.close()

    def _seen(self, observation: Observation) -> Observation:
        """The observation with its screenshot, which came by the shared memory."""
        if self._template.observation_mode != "elements":
            self._last = self._image.array.copy()
            self._last.setflags(write=False)
            observation["screenshot"] = self._last
        return observation


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and its group, surely."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class ProcessRunner(ThreadRunner[WorkerEnv]):
    """Plays a slot in a worker process; the thread here waits for it."""

    def call(self, name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
        return self.env.call(name, *arguments, **named)

    def set(self, name: str, value: Any) -> None:
        self.env.set(name, value)
