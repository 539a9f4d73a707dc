"""Slots: envs with a worker thread each, and the queue on which their answers come back.

A slot answers one call at a time. A slot that does not answer before the call's deadline is given
up: its device is closed from outside, its env and thread are replaced by a new env and thread, and
whatever the old thread still says carries an old sequence number and is discarded.
"""

from __future__ import annotations

import contextlib
import copy
import os
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gymnasium import Env, logger
from gymnasium.error import ClosedEnvironmentError

from ui_gym.contract.device import Image
from ui_gym.errors import DeviceError, DeviceTimeout
from ui_gym.playing.env import Observation, Seconds

RESET_TRIES = 3
"""How often a reset that gives no answer is tried, each time on a fresh device."""

CLOSE_SECONDS = 10.0
"""How long `close` waits for the threads, all together."""

WAIT_SLICE = 1.0
"""Seconds of one wait: a Ctrl-C that another thread was handed is seen at the latest then."""


@dataclass(frozen=True)
class SlotResult:
    """What one slot answered to a step, or to a reset (`is_reset`; reward 0, nothing ended)."""

    slot: int
    observation: Observation
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]
    is_reset: bool = False

    @property
    def ended(self) -> bool:
        return self.terminated or self.truncated


class SlotEnv(Protocol):
    """What a slot needs of its env: a `UIEnv`, or what stands for a `UIEnv` in another process."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]: ...

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict[str, Any]]: ...

    def render(self) -> Image | None: ...

    def clone(self) -> SlotEnv: ...

    def abandon(self) -> None: ...

    def close(self) -> None: ...


Call = Callable[[SlotEnv], SlotResult]
"""What a slot's thread does with its env."""

_Answer = tuple[int, int, SlotResult | BaseException]
"""(slot, sequence number, what came of the call)."""

_WAKE: _Answer = (-1, 0, RuntimeError("no slot answered"))
"""What wakes a `recv`."""


class SlotRunner:
    """One env, its thread, and what is known of its episode."""

    def __init__(self, slot: int, env: SlotEnv, answers: queue.SimpleQueue[_Answer]) -> None:
        self.slot = slot
        self.env = env
        self.last: SlotResult | None = None
        self.needs_reset = True
        self.deadline: float | None = None
        """When the pending call must have been answered (monotonic seconds); None when idle."""
        self.call: Call | None = None
        self.resetting = False
        self.tries = 0
        self.sequence = 0
        self._answers = answers
        self._start()

    @property
    def busy(self) -> bool:
        return self.deadline is not None

    def send(self, call: Call, *, timeout: float, resetting: bool, tries: int = 1) -> None:
        """Give the thread a call. The answer comes on the queue, unless it comes too late."""
        self.sequence += 1
        self.call, self.resetting, self.tries = call, resetting, tries
        self.deadline = time.monotonic() + timeout
        self.needs_reset = True  # until an answer says otherwise
        self._inbox.put((self.sequence, call))

    def settle(self, result: SlotResult | None) -> None:
        """The pending call is over, with a result or without."""
        self.deadline = self.call = None
        if result is not None:
            self.last = result
            self.needs_reset = result.ended

    def give_up(self) -> list[threading.Thread]:
        """Replace a thread that hangs. Returns the threads that must still come to an end."""
        hung, env = self._thread, self.env
        self.sequence += 1  # a late answer is nobody's
        self._inbox.put(None)
        self.env = env.clone()
        self._start()
        # In a thread of its own, because closing a device that hangs may hang as well.
        closer = daemon(f"ui-gym-closer-{self.slot}", quietly, env.abandon)
        return [hung, closer]

    def stop(self) -> list[threading.Thread]:
        """Let the thread close its env and end; a busy thread loses its device at once."""
        threads = [self._thread]
        if self.busy:
            threads.append(daemon(f"ui-gym-closer-{self.slot}", quietly, self.env.abandon))
        self._inbox.put(None)
        return threads

    def _start(self) -> None:
        self._inbox: queue.SimpleQueue[tuple[int, Call] | None] = queue.SimpleQueue()
        arguments = (self.slot, self.env, self._inbox, self._answers)
        self._thread = daemon(f"ui-gym-slot-{self.slot}", _work, *arguments)


class Fleet:
    """All slots of a vector env, over one queue of answers.

    Its errors state the rule that was broken. Not thread-safe: one thread sends and receives.
    """

    def __init__(self, envs: Sequence[SlotEnv], step_timeout: float, pool: Any | None) -> None:
        self._answers: queue.SimpleQueue[_Answer] = queue.SimpleQueue()
        self._pool = pool
        """The pool, if it is this fleet's to close."""
        self._timeout = step_timeout
        self._leaving: list[threading.Thread] = []
        self._ready: list[SlotResult] = []
        self._process = os.getpid()
        self._closed = False
        """No more calls."""
        self._gone = False
        """`close` came to its end; an interrupted `close` may be repeated."""
        self.runners = [SlotRunner(slot, env, self._answers) for slot, env in enumerate(envs)]

    @property
    def forked(self) -> bool:
        """Whether this is a copy, in a child of the process whose threads these are."""
        return self._process != os.getpid()

    @property
    def used(self) -> bool:
        """Whether a slot was ever sent something."""
        return any(runner.sequence for runner in self.runners)

    @property
    def pending(self) -> list[int]:
        """Slots whose answer has not been received yet."""
        answered = [result.slot for result in self._ready]
        return sorted([runner.slot for runner in self.runners if runner.busy] + answered)

    def send_step(self, slot: int, action: str) -> None:
        self._check_idle(slot)
        self.runners[slot].send(_step(slot, action), timeout=self._timeout, resetting=False)

    def send_reset(self, slot: int, seed: int | None, options: dict[str, Any] | None) -> None:
        self._check_idle(slot)
        call = _reset(slot, seed, options)
        self.runners[slot].send(call, timeout=self._timeout, resetting=True)

    def wake(self) -> None:
        """Let a `recv` that waits ask its `until` again. From any thread."""
        self._answers.put(_WAKE)

    def recv(
        self, at_least: int, timeout: float | None, until: Callable[[], bool] | None = None
    ) -> list[SlotResult]:
        """At least so many answers, and all that are there by then; fewer after `timeout` seconds,
        or once `until()` holds, which is asked before each wait.

        Raises:
            DeviceTimeout: a reset gave no answer in several tries.
            BaseException: whatever an env raised; the other answers stay to be received.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            enough = len(self._ready) >= at_least or (until is not None and until())
            waiting = [runner for runner in self.runners if runner.busy]
            if not waiting:
                break
            now = time.monotonic()
            nearest = min(r.deadline for r in waiting if r.deadline is not None)
            wait = nearest - now if end is None else min(nearest, end) - now
            try:
                wait = min(max(wait, 0.0), WAIT_SLICE)
                answer = self._answers.get(timeout=0 if enough else wait)
            except queue.Empty:
                now = time.monotonic()
                if not self._give_up_late(now) and (enough or (end is not None and now >= end)):
                    break
            else:
                if answer is not _WAKE:
                    self._take(*answer)
        ready, self._ready = self._ready, []
        return ready

    def drain(self) -> None:
        """Await all answers to come, and forget them."""
        while self.pending:
            with contextlib.suppress(Exception):
                self.recv(len(self.pending), None)

    def close(self, timeout: float = CLOSE_SECONDS) -> None:
        """End all threads and, if it is ours, close the pool. May be repeated.

        In a fork of the process that made it, this does nothing: all that is the parent's.
        """
        if self._gone or self.forked:
            return
        self._closed = True
        for runner in self.runners:
            self._leaving += runner.stop()
        self._join(timeout / 2)
        if self._pool is not None:
            self._pool.close()  # which may be what a thread that hangs was waiting for
        self._join(timeout / 2)
        self._gone = True
        if self._leaving:
            stuck = ", ".join(thread.name for thread in self._leaving)
            logger.warn(f"still running {timeout:g} s after close: {stuck}")

    def _join(self, timeout: float) -> None:
        until = time.monotonic() + timeout
        for thread in self._leaving:
            if thread is not threading.current_thread():
                thread.join(max(0.0, until - time.monotonic()))
        self._leaving = [thread for thread in self._leaving if thread.is_alive()]

    def _take(self, slot: int, sequence: int, answer: SlotResult | BaseException) -> None:
        runner = self.runners[slot]
        if sequence != runner.sequence:
            return
        if isinstance(answer, DeviceError) and not runner.resetting:
            answer = self._failed(runner, str(answer))
        if isinstance(answer, BaseException):
            runner.settle(None)
            raise answer
        runner.settle(answer)
        self._ready.append(answer)

    def _give_up_late(self, now: float) -> bool:
        """Give up every slot that is past its deadline; whether there was such a slot."""
        late = [r for r in self.runners if r.deadline is not None and r.deadline <= now]
        for runner in late:
            call, tries = runner.call, runner.tries
            self._leaving = [t for t in self._leaving if t.is_alive()] + runner.give_up()
            if not runner.resetting:
                why = f"no answer within {self._timeout:g} s"
                result = self._failed(runner, why, self._timeout)
                runner.settle(result)
                self._ready.append(result)
            elif tries < RESET_TRIES:
                assert call is not None
                runner.send(call, timeout=self._timeout, resetting=True, tries=tries + 1)
            else:
                runner.settle(None)
                raise DeviceTimeout(
                    f"slot {runner.slot}: {tries} resets in a row gave no answer within "
                    f"{self._timeout:g} s each. Raise step_timeout if the machine is that slow; "
                    "`ui-gym doctor` checks what it lacks"
                )
        return bool(late)

    def _failed(self, runner: SlotRunner, why: str, seconds: float = 0.0) -> SlotResult:
        """The end of an episode whose device failed: what was seen last, and why it ended."""
        assert runner.last is not None
        info = copy.deepcopy(runner.last.info)
        info |= {"score": 0.0, "success": False, "notes": "", "action_error": None}
        info |= {"failure": f"device: {why}", "step": info["step"] + 1}
        info |= {key: Seconds(0.0) for key in info if key.startswith("time_")}
        info["time_action"] = Seconds(seconds)
        observation = copy.deepcopy(runner.last.observation) | {"feedback": ""}
        return SlotResult(runner.slot, observation, 0.0, False, True, info)

    def _check_idle(self, slot: int) -> None:
        if self._closed:
            raise ClosedEnvironmentError("this vector env is closed; make a new one")
        if slot in self.pending:
            raise RuntimeError(
                f"slot {slot} has a call whose answer was not received yet: a slot takes one call "
                "at a time, so recv() its answer first"
            )


def _step(slot: int, action: str) -> Call:
    def call(env: SlotEnv) -> SlotResult:
        return SlotResult(slot, *env.step(action))

    return call


def _reset(slot: int, seed: int | None, options: dict[str, Any] | None) -> Call:
    def call(env: SlotEnv) -> SlotResult:
        observation, info = env.reset(seed=seed, options=options)
        return SlotResult(slot, observation, 0.0, False, False, info, is_reset=True)

    return call


def _work(
    slot: int,
    env: SlotEnv,
    inbox: queue.SimpleQueue[tuple[int, Call] | None],
    answers: queue.SimpleQueue[_Answer],
) -> None:
    """A slot's thread: answer calls until told to stop, then close the env."""
    while (item := inbox.get()) is not None:
        sequence, call = item
        try:
            answer: SlotResult | BaseException = call(env)
        except BaseException as error:
            answer = error
        answers.put((slot, sequence, answer))
    quietly(env.close)


def call_env(env: Env[Any, Any], name: str, arguments: Any, named: Any) -> Any:
    """What a method of an env returns, or the value of an attribute, as Gymnasium's `call` does."""
    found = env.get_wrapper_attr(name)
    return found(*arguments, **named) if callable(found) else found


def quietly(close: Callable[[], None]) -> None:
    """Close something that may be broken already: nobody is left to whom its error matters."""
    with contextlib.suppress(Exception):
        close()


def daemon(name: str, target: Callable[..., None], *arguments: Any) -> threading.Thread:
    """Run something in a thread that keeps nobody from exiting."""
    thread = threading.Thread(target=target, args=arguments, name=name, daemon=True)
    thread.start()
    return thread
