"""PolicyVoice: a policy that answers the requests of agents, and records what it samples."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import wait
from dataclasses import replace
from typing import TYPE_CHECKING

from ui_gym.contract.action import Action
from ui_gym.dialects import Dialect
from ui_gym.errors import ActionError, UserError
from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.engines.agent import EngineAgent
from ui_gym_agents.engines.in_process import InProcessEngine
from ui_gym_agents.engines.protocol import EngineAnswer, EngineError, EngineQuestion, Sampling
from ui_gym_agents.serving.rollouts import Rollout, RolloutError, RolloutSample, Said
from ui_gym_agents.serving.sampler import BatchSampler
from ui_gym_agents.serving.wire import AgentWire, Json, Words, Wrote, refuse

if TYPE_CHECKING:
    from ui_gym_agents.policy import VLMPolicy

LIMITS = ("max_completion_tokens", "max_tokens", "max_output_tokens")
"""What requests call the most tokens of an answer."""


class PolicyVoice:
    """Answers requests with what a policy samples.

    How it is sampled is the policy's: its temperature and its limit of new tokens, which a request
    may lower. So what is recorded is what a learner computes again.

    Args:
        policy: Who answers; where it has a `sampler` with an engine, that one samples.
        dialect: How the policy writes actions, for APIs that have actions of their own.
        expected: How many may ask at a time.
        broken: Is told what no further question would mend.
    """

    def __init__(
        self,
        policy: VLMPolicy,
        dialect: Dialect,
        expected: Callable[[], int],
        broken: Callable[[Exception], None] = lambda error: None,
    ) -> None:
        self.policy = policy
        self.dialect = dialect
        agent = policy.sampler
        self._agent = agent if isinstance(agent, EngineAgent) else None
        self.broken = broken
        engine = InProcessEngine(policy) if self._agent is None else self._agent.engine
        self._sampler = BatchSampler(engine, expected)
        self._words = threading.Lock()
        """Around the tokenizer, which many threads use."""

    async def answer(
        self, rollout: Rollout, wire: AgentWire, body: Json, *, name: str = "", again: bool = False
    ) -> tuple[RolloutSample, Json]:
        """The answer to a request, and the sample that it is of; see `Rollout.begin`.

        Raises:
            RolloutError: the request cannot be, or the engine failed.
        """
        sample, is_new = rollout.begin(body, name=name, again=again, api=type(wire).__name__)
        if not is_new:
            return sample, await asyncio.shield(asyncio.wrap_future(sample.response))
        try:
            answer = await self._answered(rollout, wire, body, sample)
        except BaseException as error:
            rollout.drop(sample)
            told = error if isinstance(error, Exception) else RolloutError(503, "it was given up")
            sample.response.set_exception(told)
            raise
        sample.response.set_result(answer)
        return sample, answer

    def settle(self, rollout: Rollout) -> None:
        """Wait until nothing is sampled for a rollout that has ended, with the weights here."""
        if self._agent is None:
            with rollout.lock:
                asked = [sample.response for sample in rollout.samples]
            wait(asked)

    def close(self) -> None:
        """End the thread that samples; the policy is the owner's to close."""
        self._sampler.close()

    async def _answered(
        self, rollout: Rollout, wire: AgentWire, body: Json, sample: RolloutSample
    ) -> Json:
        asked = await asyncio.to_thread(wire.read, body, rollout)
        if isinstance(asked, dict):
            return asked
        question = await asyncio.to_thread(self._question, asked, sample.noise)
        sampling = self._sampling(question, body)
        answer = await self._sampled(question, sampling)
        sample.said = said = self._said(question, answer)
        id = f"{sample.noise:016x}".zfill(24)
        return wire.write(body, rollout, Wrote(said, answer.finish), id)

    async def _sampled(self, question: EngineQuestion, sampling: Sampling) -> EngineAnswer:
        try:
            if self._agent is not None:
                await asyncio.to_thread(self._agent.synchronize, self.policy)
            answer = await asyncio.wrap_future(self._sampler.ask(question, sampling))
        except EngineError as error:
            answer = error
        except Exception as error:  # no fault of the agent's, which must not be blamed for it
            self.broken(error)
            raise RolloutError(500, f"the policy cannot answer: {error}") from error
        if isinstance(answer, EngineError):
            raise RolloutError(503, f"the engine failed: {answer}")
        return answer

    def _question(self, asked: Words | View, noise: int) -> EngineQuestion:
        if self._agent is not None and isinstance(asked, Words) and asked.calls:
            raise refuse(
                "the engine of this policy (--policy.engine) is told of no tools: leave tools out, "
                "and tell the model in words how to act"
            )
        with self._words:
            try:
                if isinstance(asked, View):
                    return self.policy.question(replace(asked, noise=noise))
                encoder = self.policy.encoder
                messages = encoder.defused(asked.messages)
                sizes = [(image.shape[0], image.shape[1]) for image in asked.images]
                ids = encoder.encode(messages, sizes, encoder.defused(asked.tools))
            except UserError as error:  # a model without eyes, a template without tools
                raise refuse(str(error)) from None
            except Exception as error:  # a template raises what it likes, such as TemplateError
                raise refuse(f"the model's chat template does not take this: {error}") from None
        return EngineQuestion(messages, asked.images, tuple(ids), noise)

    def _sampling(self, question: EngineQuestion, body: Json) -> Sampling:
        policy = self.policy
        asked = [body[name] for name in LIMITS if body.get(name) is not None]
        if not all(type(value) is int and value > 0 for value in asked):
            raise refuse("the most tokens of an answer are a whole number above 0")
        most = min([policy.max_new_tokens, *asked])
        room = getattr(policy.base.config.get_text_config(), "max_position_embeddings", None)
        if room is not None and len(question.ids) + most > room:
            raise refuse(
                f"the prompt has {len(question.ids)} tokens, and with {most} of an answer that is "
                f"more than the model's {room}: shorten the history"
            )
        return replace(EngineAgent.sampling(policy), max_new_tokens=most)

    def _said(self, question: EngineQuestion, answer: EngineAnswer) -> Said:
        with self._words:
            decision = EngineAgent.decision(self.policy, question, answer)
        assert decision.tokens is not None
        return Said(
            decision.action_text,
            decision.tokens,
            question.images,
            self._actions(decision, question),
        )

    def _actions(self, decision: Decision, question: EngineQuestion) -> list[Action]:
        """What the policy's words come to, on the last picture; none where they say nothing."""
        if not question.images:
            return []
        height, width = question.images[-1].shape[:2]
        try:
            return self.dialect.parse(decision.action_text, (width, height))
        except ActionError:
            return []
