"""Any model behind an OpenAI-compatible chat API as an agent, to be measured."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from pydantic import SecretStr

from ui_gym.dialects import get_dialect
from ui_gym.errors import UserError
from ui_gym_agents.agents.agent import SERVED, Decision, View
from ui_gym_agents.agents.usage import CHAT
from ui_gym_agents.engines.http import CONNECTIONS, JsonClient
from ui_gym_agents.engines.openai import environment_key
from ui_gym_agents.engines.pictures import HitRate, PictureCache, conversation
from ui_gym_agents.engines.protocol import EngineError, RequestLimits
from ui_gym_agents.policy.prompts import PromptBuilder

OPENAI = "https://api.openai.com/v1"


class OpenAIAgent:
    """Shows a served model the goal and the screen, and plays what it writes.

    Each question is a request of its own, `connections` at most at a time. One that the server
    fails ends its episode as an infrastructure failure. `temperature` and `top_p` may be set at any
    time.

    Args:
        model: The model's name on the server.
        url: The server's address, up to ``/v1``.
        key: The server's key, if it wants one. Never printed.
        prompt: How the model is asked.
        temperature: Of sampling.
        top_p: The share of the likeliest tokens that is sampled from; the server's own if None.
        max_new_tokens: Most tokens of an answer, thoughts included.
        limits: How long the server is waited for.
    """

    def __init__(
        self,
        model: str,
        url: str = OPENAI,
        *,
        key: SecretStr | None = None,
        prompt: PromptBuilder | None = None,
        temperature: float = 1.0,
        top_p: float | None = None,
        max_new_tokens: int = 2048,
        connections: int = CONNECTIONS,
        limits: RequestLimits | None = None,
    ) -> None:
        self.model = model
        self.key = key
        self.prompt = prompt or PromptBuilder()
        self.temperature = temperature
        self.top_p = top_p
        self.max_new_tokens = max_new_tokens
        self._client = JsonClient(url, key=key, limits=limits, connections=connections)
        self._pool = ThreadPoolExecutor(connections, thread_name_prefix="openai")
        self._pictures = PictureCache()
        self._rate = HitRate(self._pictures)

    @classmethod
    def named(
        cls,
        name: str,
        action_space: Any,
        limits: RequestLimits | None = None,
        *,
        elements: bool = False,
    ) -> OpenAIAgent:
        """The agent ``openai:MODEL@URL``, taught the dialect of an env's action space.

        With `elements`, the env lists them, and it is taught to name them.
        Without ``@URL`` it is OpenAI's own server. The key is ``OPENAI_API_KEY`` of the
        environment.

        Raises:
            UserError: no model is named, or the address is none.
        """
        model, url = name.removeprefix(SERVED), OPENAI
        if "@" in model:
            model, _, url = model.rpartition("@")
        if not model:
            raise UserError(
                f"{name!r} names no model; write openai:MODEL@URL, such as "
                "openai:Qwen/Qwen3-VL-8B-Instruct@http://127.0.0.1:8000/v1"
            )
        words = ""
        if hasattr(action_space, "dialect"):
            dialect = get_dialect(action_space.dialect)
            words = dialect.prompt(action_space.size, elements=elements)
        prompt = PromptBuilder(words, history=3)
        return cls(model, url, key=environment_key(), prompt=prompt, limits=limits)

    def act(self, views: Sequence[View]) -> list[Decision]:
        """An answer for each view. `UserError` where the server can never give one."""
        return list(self._pool.map(self._decide, views))

    def submit(self, view: View) -> Future[Decision]:
        """An answer for one view, to come; the future raises what `act` does."""
        return self._pool.submit(self._decide, view)

    def metrics(self) -> dict[str, float]:
        """What was measured since the last time: see `HitRate`."""
        return self._rate.metrics()

    def close(self) -> None:
        """Give up what is under way, and close all connections."""
        self._client.close()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _decide(self, view: View) -> Decision:
        self._pictures.fit((view.slot + 1) * self.prompt.history)
        payload: dict[str, Any] = {
            "model": self.model,
            "messages": conversation(self.prompt, view, self._pictures.url),
            "temperature": self.temperature,
            "max_completion_tokens": self.max_new_tokens,
            "seed": view.noise % 2**31,
        }
        if self.top_p is not None:
            payload["top_p"] = self.top_p
        try:
            found = self._client.post("/chat/completions", payload)
            # A model that declines says nothing: that is its own doing, and not the server's.
            said = str(found["choices"][0]["message"]["content"] or "")
            return Decision(said, usage=CHAT.read(found))
        except EngineError as error:
            return Decision("", failure=f"server: {error}")
        except (KeyError, IndexError, TypeError) as error:
            return Decision("", failure=f"server: its answer is no chat completion: {error!r}")
