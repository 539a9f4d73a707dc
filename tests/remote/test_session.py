"""A session's slots, with runners that say in which order they are asked."""

from __future__ import annotations

import threading
from typing import Any

from ui_gym.playing.slot import Call, Deliver
from ui_gym.remote.session import Session


class SlowRunner:
    """Notes what it is asked; to be replaced takes it until `go` is set."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.go = threading.Event()
        self.replacing = threading.Event()

    def begin(self, number: int, call: Call) -> None:
        self.asked.append(number)

    def replace(self) -> list[threading.Thread]:
        self.replacing.set()
        self.go.wait(10)
        self.asked.append("replaced")
        return []

    def stop(self, *, busy: bool) -> list[threading.Thread]:
        return []


class OneRunner:
    def __init__(self, runner: SlowRunner) -> None:
        self._runner = runner

    def runner(self, slot: int, deliver: Deliver) -> Any:
        return self._runner

    def close(self) -> None:
        """There is nothing to close."""


def reset(call: int) -> dict[str, Any]:
    return {"slot": 0, "call": call, "held": 0, "reset": [1, None], "sets": {}}


def test_no_call_begins_while_a_runner_is_being_replaced() -> None:
    """Else the runner that goes would take it along, and nobody would answer."""
    runner = SlowRunner()
    session = Session(OneRunner(runner), lambda: None, lambda count: None)
    session.handle(reset(1))
    abandoning = threading.Thread(target=session.handle, args=({"slot": 0, "abandon": 1},))
    abandoning.start()
    assert runner.replacing.wait(10)
    next_call = threading.Thread(target=session.handle, args=(reset(3),))
    next_call.start()
    next_call.join(0.1)
    runner.go.set()
    next_call.join(10)
    abandoning.join(10)
    assert runner.asked == [1, "replaced", 3]


def test_a_reset_gives_up_what_is_in_progress_though_that_was_not_said() -> None:
    runner = SlowRunner()
    runner.go.set()
    session = Session(OneRunner(runner), lambda: None, lambda count: None)
    session.handle(reset(1))
    session.handle(reset(3))
    session.handle({"slot": 0, "abandon": 1})  # which comes late
    assert runner.asked == [1, "replaced", 3]
