"""A policy whose weights are on a Tinker server, as an agent."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ui_gym.errors import UserError
from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.engines.protocol import EngineQuestion
from ui_gym_agents.policy.wording import Wording
from ui_gym_agents.store import screenshot_hash
from ui_gym_tinker.service import Service, ServiceError
from ui_gym_tinker.wire import TinkerWire

if TYPE_CHECKING:
    import tinker

CLOSING = 5.0
"""Seconds that the end of the thread of questions may take."""


@dataclass
class TokenCounts:
    """Tokens that the server was sent and sampled."""

    prefill: int = 0
    sample: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, prompt: int, answer: int) -> None:
        with self.lock:
            self.prefill += prompt
            self.sample += answer

    def take(self) -> tuple[int, int]:
        """Those since the last time: of prompts, and of answers."""
        with self.lock:
            found = self.prefill, self.sample
            self.prefill = self.sample = 0
        return found


class Questions:
    """A thread in which questions wait for their answers, each with a deadline of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="tinker-questions", daemon=True
        )
        self._thread.start()

    def ask(self, future: Any, timeout: float) -> Future[Any]:
        """What a future of the SDK's gives; `TimeoutError` after so many seconds, and it is
        cancelled."""
        return asyncio.run_coroutine_threadsafe(self._awaited(future, timeout), self._loop)

    def close(self) -> None:
        """Cancel what is not answered, and end the thread. Closing twice is harmless."""
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._cancel(), self._loop)
        self._thread.join(CLOSING)
        if not self._thread.is_alive():
            self._loop.close()

    async def _cancel(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        self._loop.call_soon(self._loop.stop)

    @staticmethod
    async def _awaited(future: Any, timeout: float) -> Any:
        async with asyncio.timeout(timeout):
            return await asyncio.wrap_future(future.future())


class TinkerAgent:
    """Asks a sampling client for answers, and records what it samples as a policy would.

    `version` counts the optimizer's steps that the weights of `sampler` have behind them; both are
    set together, by `take`. A question that is not answered in time, or fails, ends its episode as
    an infrastructure failure, so that it is played again.

    Args:
        wording: How the model is asked.
        service: The session.
        questions: Where answers are waited for.
        timeout: Seconds that an answer may take.
    """

    def __init__(
        self, wording: Wording, service: Service, questions: Questions, *, timeout: float
    ) -> None:
        self.wording = wording
        self.wire = TinkerWire(wording)
        self.counts = TokenCounts()
        self.version = 0
        self.sampler: tinker.SamplingClient | None = None
        self.begin: Callable[[], None] = lambda: None
        """Is called for the first question, where there are no weights yet; it calls `take`."""
        self.failure = ""
        """Why a question was not answered, of the last such."""
        self.temperature = wording.temperature
        self._service = service
        self._questions = questions
        self._timeout = timeout
        self._words = threading.Lock()
        """Around the tokenizer, which answers use in threads of their own."""

    def double(self) -> TinkerAgent:
        """Another one with the same weights, for a thread that plays ahead; tokens are counted
        together."""
        found = TinkerAgent(self.wording, self._service, self._questions, timeout=self._timeout)
        found._words, found.counts, found.wire = self._words, self.counts, self.wire
        return found

    def take(self, sampler: tinker.SamplingClient, version: int) -> None:
        """Sample with these weights from now on."""
        self.sampler, self.version = sampler, version

    def act(self, views: Sequence[View]) -> list[Decision]:
        """An answer for each view."""
        return [future.result() for future in [self.submit(view) for view in views]]

    def submit(self, view: View) -> Future[Decision]:
        """Ask for the decision of one view."""
        from tinker import types

        if self.sampler is None:
            self.begin()
        assert self.sampler is not None, "take() comes first"
        decided: Future[Decision] = Future()
        version, temperature = self.version, self.temperature
        with self._words:
            question = self.wording.question(view)
            prompt = self.wire.prompt(question.ids, question.images)
        params = types.SamplingParams(
            max_tokens=self.wording.max_new_tokens,
            seed=view.noise % 2**31,
            temperature=temperature,
            stop=list(self.wording.stops),
        )

        def decide(answered: Future[Any]) -> None:
            if not decided.set_running_or_notify_cancel():
                return
            try:
                decided.set_result(self._decision(question, answered, version, temperature))
            except BaseException as error:
                decided.set_exception(error)

        asked = self.sampler.sample(prompt, 1, params)
        answered = self._questions.ask(asked, self._timeout)
        decided.add_done_callback(lambda done: answered.cancel() if done.cancelled() else None)
        answered.add_done_callback(decide)
        return decided

    def _decision(
        self, question: EngineQuestion, answered: Future[Any], version: int, temperature: float
    ) -> Decision:
        try:
            sequence = answered.result().sequences[0]
        except TimeoutError:
            self._service.lost = True
            return self._failed(f"no answer in {self._timeout:g} s (--policy.engine_timeout)")
        except Exception as error:
            told = self._service.told("an answer", error)
            if isinstance(told, UserError):
                raise told from error
            return self._failed(str(told))
        try:
            ids, logprobs = self._checked(sequence)
        except ServiceError as error:
            return self._failed(str(error))
        self.counts.add(len(question.ids), len(ids))
        with self._words:
            return self.wording.decision(
                ids,
                prompt_ids=question.ids,
                logprobs=logprobs,
                images=tuple(screenshot_hash(image) for image in question.images),
                version=version,
                truncated=ids[-1] not in self.wording.stops,
                temperature=temperature,
            )

    def _failed(self, why: str) -> Decision:
        self.failure = why
        return Decision("", failure=f"tinker: {why}")

    def _checked(self, sequence: Any) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """The tokens that were sampled, and their log-probabilities."""
        ids = tuple(int(i) for i in sequence.tokens)
        logprobs = tuple(float(p) for p in sequence.logprobs or ())
        if not ids or len(ids) != len(logprobs):
            raise ServiceError(
                f"an answer of {len(ids)} tokens came with {len(logprobs)} log-probabilities"
            )
        wrong = set(ids) & set(self.wording.never_sampled)
        if wrong:
            raise ServiceError(
                f"an answer holds the tokens {sorted(wrong)}, which stand for pictures or turns: "
                "it cannot be learned from"
            )
        return ids, logprobs
