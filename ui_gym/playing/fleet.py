"""Fleet: all slots of a vector env, and the queue on which their answers come back.

A slot answers one call at a time. A slot that does not answer before the call's deadline is given
up: its runner replaces whoever does the call, and what they still say carries an old number and is
discarded.
"""

from __future__ import annotations

import contextlib
import heapq
import os
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from gymnasium import logger
from gymnasium.error import ClosedEnvironmentError, Error

from ui_gym.errors import DeviceError, DeviceTimeout
from ui_gym.playing.env import UIEnv
from ui_gym.playing.slot import (
    Answer,
    Call,
    Crew,
    Reset,
    SlotResult,
    SlotRunner,
    Step,
    lost,
)

RESET_TRIES = 3
"""How often a reset that gives no answer is tried, each time on a fresh device."""

CLOSE_SECONDS = 10.0
"""How long `close` waits for the threads, all together."""

WAIT_SLICE = 1.0
"""Seconds of one wait: a Ctrl-C that another thread was handed is seen at the latest then."""

SlotDoing = Literal["idle", "reset", "step"]

_WAKE: Answer = (-1, 0, RuntimeError("no slot answered"))
"""What wakes a `recv`."""


@dataclass(frozen=True)
class SlotState:
    """What a slot does, for who looks on: ``idle`` is one that nothing was asked of since."""

    slot: int
    state: SlotDoing
    seconds: float
    """For so long."""
    restarts: int
    """How often what plays it was lost, or did not answer, and was replaced."""
    node: str
    """The machine or server that it is played at, where it is known."""


@dataclass
class Slot:
    """One slot's runner, and what is known of its episode."""

    number: int
    runner: SlotRunner
    template: UIEnv
    """Draws the seeds: they do not depend on who plays, nor on how often a reset is tried."""
    last: SlotResult | None = None
    needs_reset: bool = True
    pending: Call | None = None
    """The call that was not answered yet."""
    tries: int = 0
    calls: int = 0
    """The number of the last call; a late answer to an earlier one is nobody's."""
    since: float = field(default_factory=time.monotonic)
    """When the last call began, or was over."""
    restarts: int = 0
    faults: list[str] = field(default_factory=list)
    """Why its runner was replaced during the reset in progress."""

    def begin(self, call: Call, tries: int = 1) -> None:
        self.calls += 1
        self.pending, self.tries = call, tries
        self.since = time.monotonic()
        self.needs_reset = True  # until an answer says otherwise
        self.runner.begin(self.calls, call)

    def lost(self, why: object, seconds: float = 0.0) -> SlotResult:
        """The end of its episode, whose device failed."""
        assert self.last is not None
        return lost(self.last, why, seconds)

    def settle(self, result: SlotResult | None) -> None:
        """The pending call is over, with a result or without."""
        self.pending = None
        self.since = time.monotonic()
        if result is not None:
            self.last = result
            self.needs_reset = result.ended
            self.restarts += result.ended and result.info.get("failure") is not None
            if self.faults:
                result.info["faults"] = [*self.faults, *result.info.get("faults", ())]
        self.faults = []

    @property
    def state(self) -> SlotState:
        """What it does. From any thread."""
        call, seconds = self.pending, time.monotonic() - self.since
        doing: SlotDoing = "idle" if call is None else "step" if isinstance(call, Step) else "reset"
        node = str(getattr(self.runner, "node", ""))
        return SlotState(self.number, doing, max(0.0, seconds), self.restarts, node)


class Fleet:
    """All slots of a vector env, over one queue of answers.

    Its errors state the rule that was broken. Not thread-safe: one thread sends and receives. What
    a step costs here does not grow with the number of slots.

    Args:
        crew: What plays the slots; closed with the fleet.
        count: How many slots.
        step_timeout: Seconds within which a slot must answer.
        first: An env like those of the slots.
    """

    def __init__(self, crew: Crew, count: int, step_timeout: float, first: UIEnv) -> None:
        self._answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        self._timeout = step_timeout
        self._leaving: list[threading.Thread] = []
        self._ready: dict[int, SlotResult] = {}
        """Answers that were not received yet, by slot, in the order in which they came."""
        self._busy: set[int] = set()
        self._deadlines: list[tuple[float, int, int]] = []
        """A heap of (monotonic seconds, slot, number of the call); calls that are over too."""
        self._process = os.getpid()
        self._closed = False
        """No more calls."""
        self._gone = False
        """`close` came to its end; an interrupted `close` may be repeated."""
        self._crew = crew
        self.slots = [
            Slot(slot, crew.runner(slot, self._answers.put), first.clone()) for slot in range(count)
        ]

    @property
    def forked(self) -> bool:
        """Whether this is a copy, in a child of the process whose threads these are."""
        return self._process != os.getpid()

    @property
    def used(self) -> bool:
        """Whether a slot was ever sent something."""
        return any(slot.calls for slot in self.slots)

    @property
    def pending(self) -> list[int]:
        """Slots whose answer has not been received yet."""
        return sorted(self._busy | self._ready.keys())

    @property
    def pending_count(self) -> int:
        return len(self._busy) + len(self._ready)

    def is_pending(self, slot: int) -> bool:
        return slot in self._busy or slot in self._ready

    def send(self, slot: int, call: Call) -> None:
        """Give a slot a call. `recv` brings its answer."""
        if self._closed:
            raise ClosedEnvironmentError("this vector env is closed; make a new one")
        if self.is_pending(slot):
            raise RuntimeError(
                f"slot {slot} has a call whose answer was not received yet: a slot takes one call "
                "at a time, so recv() its answer first"
            )
        if isinstance(call, Reset):
            with contextlib.suppress(Error):  # a wrong seed is refused by who plays, as an answer
                seed = self.slots[slot].template.draw_seed(call.seed)
                call = Reset(seed, call.options)
        self._begin(self.slots[slot], call)

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
            if not self._busy:
                break
            now = time.monotonic()
            nearest = self._nearest_deadline()
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
        ready = list(self._ready.values())
        self._ready.clear()
        return ready

    def drain(self) -> None:
        """Await all answers to come, and forget them."""
        while self.pending_count:
            with contextlib.suppress(Exception):
                self.recv(self.pending_count, None)

    def close(self, timeout: float = CLOSE_SECONDS) -> None:
        """End all runners and what they share. May be repeated.

        In a fork of the process that made it, this does nothing: all that is the parent's.
        """
        if self._gone or self.forked:
            return
        self._closed = True
        for slot in self.slots:
            self._leaving += slot.runner.stop(busy=slot.number in self._busy)
        self._join(timeout / 2)
        self._crew.close()  # which may be what a thread that hangs was waiting for
        self._join(timeout / 2)
        self._gone = True
        if self._leaving:
            stuck = ", ".join(thread.name for thread in self._leaving)
            logger.warn(f"still running {timeout:g} s after close: {stuck}")

    def _begin(self, slot: Slot, call: Call, tries: int = 1) -> None:
        self._busy.add(slot.number)
        slot.begin(call, tries)
        deadline = time.monotonic() + self._timeout
        heapq.heappush(self._deadlines, (deadline, slot.number, slot.calls))

    def _settle(self, slot: Slot, result: SlotResult | None) -> None:
        self._busy.discard(slot.number)
        slot.settle(result)
        if result is not None:
            self._ready[slot.number] = result

    def _join(self, timeout: float) -> None:
        until = time.monotonic() + timeout
        for thread in self._leaving:
            if thread is not threading.current_thread():
                thread.join(max(0.0, until - time.monotonic()))
        self._leaving = [thread for thread in self._leaving if thread.is_alive()]

    def _take(self, number: int, call: int, answer: SlotResult | BaseException) -> None:
        slot = self.slots[number]
        if call != slot.calls or slot.pending is None:
            return
        if isinstance(answer, DeviceError) and isinstance(slot.pending, Step):
            answer = slot.lost(answer)
        if isinstance(answer, BaseException):
            self._settle(slot, None)
            raise answer
        self._settle(slot, answer)

    def _nearest_deadline(self) -> float:
        """When the first of the pending calls must have been answered."""
        while True:
            deadline, number, call = self._deadlines[0]
            slot = self.slots[number]
            if slot.pending is not None and call == slot.calls:
                return deadline
            heapq.heappop(self._deadlines)

    def _give_up_late(self, now: float) -> bool:
        """Give up every slot that is past its deadline; whether there was such a slot."""
        any_late = False
        while self._busy and self._nearest_deadline() <= now:
            any_late = True
            self._give_up(self.slots[heapq.heappop(self._deadlines)[1]])
        return any_late

    def _give_up(self, slot: Slot) -> None:
        call, tries = slot.pending, slot.tries
        assert call is not None
        slot.calls += 1  # a late answer is nobody's
        why = f"no answer within {self._timeout:g} s"
        if isinstance(call, Reset):  # a lost step is counted with its result
            slot.restarts += 1
            slot.faults.append(why)
        self._leaving = [t for t in self._leaving if t.is_alive()] + [*slot.runner.replace()]
        if isinstance(call, Step):
            self._settle(slot, slot.lost(why, self._timeout))
        elif tries < RESET_TRIES:
            self._begin(slot, call, tries + 1)
        else:
            self._settle(slot, None)
            raise DeviceTimeout(
                f"slot {slot.number}: {tries} resets in a row gave no answer within "
                f"{self._timeout:g} s each. Raise step_timeout if the machine is that slow; "
                "`ui-gym doctor` checks what it lacks"
            )
