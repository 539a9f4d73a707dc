"""A policy whose sampling is done by an engine, as an agent."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from ui_gym.errors import UserError
from ui_gym_agents.agents.agent import Decision, Submit, View
from ui_gym_agents.engines.openai import SGLANG, VLLM, OpenAIEngine, environment_key
from ui_gym_agents.engines.protocol import (
    Engine,
    EngineAnswer,
    EngineError,
    EngineQuestion,
    RequestLimits,
    Sampling,
)
from ui_gym_agents.store import screenshot_hash

if TYPE_CHECKING:
    from ui_gym_agents.policy import VLMPolicy

Ask = Callable[[EngineQuestion, Sampling], "Future[EngineAnswer | EngineError]"]
"""An engine's `submit`."""

WIRES = {"openai": VLLM, "vllm": VLLM, "sglang": SGLANG}
"""How servers are spoken to, by what a name begins with."""


class EngineAgent:
    """Asks the policy's prompts of an engine, and records what it samples as the policy would.

    Before acting, the engine is brought to the policy's `version`: its adapter is written to a
    folder of this agent's own in `exchange` (which the engine can read; a temporary one if None)
    and published. It stays there as long as the engine may read it again. A question that the
    engine fails ends its episode as an infrastructure failure.
    """

    def __init__(self, policy: VLMPolicy, engine: Engine, exchange: Path | None = None) -> None:
        self.policy = policy
        self.engine = engine
        self._temporary = None if exchange else tempfile.TemporaryDirectory(prefix="ui-gym-engine-")
        shared = exchange or Path(self._temporary.name if self._temporary else "")
        # Several runs may share a folder, and count their versions alike.
        self._own = shared / f"run-{secrets.token_hex(4)}"
        self._published: int | None = None
        self._words = Lock()
        """Around the tokenizer: answers come in threads of the engine's."""

    @property
    def temperature(self) -> float:
        return self.policy.temperature

    @temperature.setter
    def temperature(self, value: float) -> None:
        self.policy.temperature = value

    def __deepcopy__(self, memo: object) -> EngineAgent:
        """Copies of a policy, which sample while it learns, share the engine."""
        return self

    def act(self, views: Sequence[View]) -> list[Decision]:
        """An answer for each view. `UserError` where the server can never give one."""
        return self.act_as(self.policy, views)

    def act_as(self, policy: VLMPolicy, views: Sequence[View]) -> list[Decision]:
        """As `act`, with the weights, version and temperature of another copy of the policy."""
        try:
            self.synchronize(policy)
        except EngineError as error:
            return [Decision("", failure=f"engine: {error}") for _ in views]
        questions = [policy.question(view) for view in views]
        answers = self.engine.generate(questions, self.sampling(policy))
        return [
            self.decision(policy, question, answer)
            for question, answer in zip(questions, answers, strict=True)
        ]

    @property
    def submit(self) -> Submit | None:
        """Asks for the decision of one view; None where the engine answers whole batches."""
        return self.submit_as(self.policy)

    def submit_as(self, policy: VLMPolicy) -> Submit | None:
        """As `submit`, with the weights, version and temperature of another copy of the policy."""
        ask = getattr(self.engine, "submit", None)
        return None if ask is None else partial(self._submit, ask, policy)

    def _submit(self, ask: Ask, policy: VLMPolicy, view: View) -> Future[Decision]:
        decided: Future[Decision] = Future()
        try:
            self.synchronize(policy)
        except EngineError as error:
            decided.set_result(Decision("", failure=f"engine: {error}"))
            return decided
        with self._words:
            question = policy.question(view)

        def decide(answered: Future[EngineAnswer | EngineError]) -> None:
            if not decided.set_running_or_notify_cancel():
                return
            try:
                with self._words:
                    decision = self.decision(policy, question, answered.result())
            except BaseException as error:
                decided.set_exception(error)
            else:
                decided.set_result(decision)

        ask(question, self.sampling(policy)).add_done_callback(decide)
        return decided

    def synchronize(self, policy: VLMPolicy | None = None) -> None:
        """Bring the engine to the version of `policy` (its own, if None), if it has another.

        Raises:
            EngineError: it could not be; acting tries again.
            UserError: the policy has no adapter, and its weights have changed; or the folder for
                adapters cannot be written.
        """
        policy = policy or self.policy
        version = policy.version
        if self._published == version:
            return
        if policy.has_adapter:
            folder = self._own / f"v{version:06d}"
            try:
                policy.save(folder)
            except OSError as error:
                raise UserError(
                    f"the adapter cannot be written for the engine (--policy.exchange): {error}"
                ) from error
            try:
                self.engine.publish(folder, version)
            finally:
                self._tidy()
        elif version:
            raise UserError(
                "an engine is given new weights as an adapter: set --policy.lora_rank above 0"
            )
        self._published = version

    def metrics(self) -> dict[str, float]:
        """What the engine measured since the last time, by names of metrics."""
        return self.engine.metrics()

    def close(self) -> None:
        """Close the engine, and remove the adapters' folder."""
        self.engine.close()
        shutil.rmtree(self._own, ignore_errors=True)
        if self._temporary is not None:
            self._temporary.cleanup()

    def _tidy(self) -> None:
        """Remove the adapters that the engine reads no more."""
        kept = self.engine.kept()
        for folder in self._own.iterdir():
            if folder not in kept:
                shutil.rmtree(folder, ignore_errors=True)

    @staticmethod
    def sampling(policy: VLMPolicy) -> Sampling:
        """How a policy is sampled."""
        return Sampling(
            policy.temperature,
            policy.max_new_tokens,
            tuple(policy.stops),
            tuple(policy.never_sampled),
        )

    @staticmethod
    def decision(
        policy: VLMPolicy, question: EngineQuestion, answer: EngineAnswer | EngineError
    ) -> Decision:
        """What an engine answered, as a policy's decision with its tokens."""
        if isinstance(answer, EngineError):
            return Decision("", failure=f"engine: {answer}")
        return policy.decision(
            answer.ids,
            prompt_ids=answer.prompt_ids,
            logprobs=answer.logprobs,
            images=tuple(screenshot_hash(image) for image in question.images),
            version=answer.version,
            truncated=answer.finish == "length",
        )


def engine_agent(
    policy: VLMPolicy,
    name: str,
    exchange: Path | None = None,
    slots: int = 64,
    limits: RequestLimits | None = None,
) -> EngineAgent:
    """A policy's agent on a server: ``openai:MODEL@URL`` for vLLM, ``sglang:MODEL@URL``; or on
    servers that are started in Ray: ``ray:vllm?n=2`` (`ray_engines`).

    It remembers the encoded pictures of so many `slots`. `limits` say how long the server is
    waited for.

    The key is ``OPENAI_API_KEY`` of the environment, if the server wants one.

    Raises:
        UserError: the name is not so written, or no server starts in Ray.
    """
    kind, _, address = name.partition(":")
    options: dict[str, Any] = {
        "image_id": policy.encoder.image_id,
        "limits": limits,
        "pictures": slots * policy.prompt.history,
    }
    if kind == "ray":
        return EngineAgent(policy, _in_ray(address, policy.name, options), exchange)
    model, _, url = address.rpartition("@")
    if kind not in WIRES or not model:
        raise UserError(
            f"{name!r} is no engine; write openai:MODEL@URL for vLLM or sglang:MODEL@URL for "
            "SGLang, such as openai:Qwen/Qwen2.5-VL-7B-Instruct@http://127.0.0.1:8000/v1, or "
            "ray:vllm?n=2"
        )
    engine = OpenAIEngine(url, model, wire=WIRES[kind], key=environment_key(), **options)
    return EngineAgent(policy, engine, exchange)


def _in_ray(said: str, model: str, options: dict[str, Any]) -> Engine:
    # Imported only here: Ray is an extra.
    from ui_gym_agents.engines.ray_engines import EngineOrder, RayEngine

    folder = Path(model).expanduser()  # actors have working directories of their own
    model = str(folder.resolve()) if folder.is_dir() else model
    return RayEngine(EngineOrder.read(said), model, **options)
