"""The questions that slots of a served model await answers to, each slot its own."""

from __future__ import annotations

import queue
import time
from concurrent.futures import Future

from ui_gym.playing.vector import SlotResult
from ui_gym_agents.agents.agent import Decision, Submit, View
from ui_gym_agents.collecting.stage import FreeStage

WAIT_SLICE = 1.0
"""Seconds of one wait: an episode that is late is seen at the latest then, and so is a Ctrl-C that
another thread was handed."""


class OpenQuestions:
    """At most one a slot; waits for their answers and for the slots' envs together."""

    def __init__(self, stage: FreeStage, submit: Submit) -> None:
        self._stage = stage
        self._submit = submit
        self._asked: dict[int, tuple[Future[Decision], float]] = {}
        """By slot: the question, and when it was asked."""
        self._answered: queue.SimpleQueue[tuple[int, Future[Decision], float]] = queue.SimpleQueue()

    @property
    def slots(self) -> list[int]:
        """Those that await an answer."""
        return list(self._asked)

    def ask(self, slot: int, view: View) -> None:
        """Ask for a slot that waits for no answer."""
        asked = time.perf_counter()
        future = self._submit(view)
        self._asked[slot] = (future, asked)
        future.add_done_callback(lambda done: self._note(slot, done))

    def wait(self) -> tuple[list[tuple[int, Decision, float]], list[SlotResult]]:
        """Answers or results of envs, whichever come first; after a while, maybe neither.

        An answer is (slot, decision, seconds that it took). What a question raised is raised here.
        """
        results: list[SlotResult] = []
        waiting = True
        if self._stage.busy:
            results = self._stage.receive(1, WAIT_SLICE, lambda: not self._answered.empty())
            waiting = False
        return self._take(waiting), results

    def drop(self, slot: int) -> None:
        """Await a slot's answer no more; a question that was not sent yet never is."""
        future, _ = self._asked.pop(slot)
        future.cancel()

    def close(self) -> None:
        """Await no answer any more."""
        for slot in self.slots:
            self.drop(slot)

    def _note(self, slot: int, done: Future[Decision]) -> None:
        """Called in the thread in which the answer came."""
        self._answered.put((slot, done, time.perf_counter()))
        self._stage.wake()

    def _take(self, waiting: bool) -> list[tuple[int, Decision, float]]:
        """All answers that are there; the first is waited for, if `waiting`."""
        found: list[tuple[int, Decision, float]] = []
        while True:
            try:
                slot, future, came = self._answered.get(waiting, WAIT_SLICE)
            except queue.Empty:
                return found
            waiting = False
            asked = self._asked.get(slot)
            if asked is None or asked[0] is not future:
                continue  # it was dropped
            del self._asked[slot]
            found.append((slot, future.result(), came - asked[1]))
