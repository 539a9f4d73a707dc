"""BatchSampler: questions of many threads, answered by an engine in batches."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future

from ui_gym_agents.engines.protocol import (
    Engine,
    EngineAnswer,
    EngineError,
    EngineQuestion,
    Sampling,
)

LINGER = 0.01
"""Seconds that a batch waits for one question more."""

Answered = Future[EngineAnswer | EngineError]
_Asked = tuple[EngineQuestion, Sampling, Answered]


class BatchSampler:
    """Asks an engine: each question by itself where the engine can, else in batches.

    Args:
        engine: Who samples.
        expected: How many may ask at a time: a batch of so many waits for no more.
    """

    def __init__(self, engine: Engine, expected: Callable[[], int]) -> None:
        self._engine = engine
        self._expected = expected
        self._waiting: queue.SimpleQueue[_Asked | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)
        self._thread.start()

    def ask(self, question: EngineQuestion, sampling: Sampling) -> Answered:
        """The answer to come, or what went wrong with it. For any thread."""
        submit = getattr(self._engine, "submit", None)
        if submit is not None:
            answered: Answered = submit(question, sampling)
            return answered
        answered = Future()
        self._waiting.put((question, sampling, answered))
        return answered

    def close(self) -> None:
        """Answer what was asked, and end. May be repeated."""
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (first := self._waiting.get()) is not None:
            batch, last = self._gathered(first)
            for sampling in dict.fromkeys(asked[1] for asked in batch):
                self._answer([asked for asked in batch if asked[1] == sampling], sampling)
            if last:
                return

    def _gathered(self, first: _Asked) -> tuple[list[_Asked], bool]:
        """What is asked about now, and whether nothing comes after it."""
        batch = [first]
        while len(batch) < self._expected():
            try:
                more = self._waiting.get(timeout=LINGER)
            except queue.Empty:
                break
            if more is None:
                return batch, True
            batch.append(more)
        return batch, False

    def _answer(self, batch: list[_Asked], sampling: Sampling) -> None:
        try:
            answers = self._engine.generate([question for question, _, _ in batch], sampling)
        except Exception as error:  # whatever it is, all who wait are told
            for _, _, answered in batch:
                answered.set_exception(error)
            return
        for (_, _, answered), answer in zip(batch, answers, strict=True):
            answered.set_result(answer)
