"""What agents share that ask a model by its vendor's own API.

Such a model is not taught to write actions: it calls tools, which are the computer and, for what
the computer has no word for, functions beside it. What it calls becomes the action text, in the
dialect that reads the vendor's format.

The conversation is sent whole in each turn: what the model said goes back as it came, and every
call of it is answered by the screen that followed. The prompt (`PromptBuilder`) decides how much is
shown: a turn whose picture is shown no more leaves with its calls and their answers, and is told as
text.
"""

from __future__ import annotations

import importlib
import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from pydantic import SecretStr

from ui_gym.contract.device import Image
from ui_gym.contract.tables import read_table
from ui_gym.dialects.common import OUTCOMES
from ui_gym.dialects.jsonish import write_object
from ui_gym.errors import UserError
from ui_gym_agents.agents.agent import VENDORS, Decision, View
from ui_gym_agents.agents.usage import UsageFields
from ui_gym_agents.engines.http import BEARER, CONNECTIONS, JsonClient
from ui_gym_agents.engines.pictures import HitRate, PictureCache
from ui_gym_agents.engines.protocol import EngineError, RequestLimits
from ui_gym_agents.policy.prompts import PromptBuilder

log = logging.getLogger(__name__)

Json = dict[str, Any]

HISTORY, DROP = 10, 5
"""6 to 10 pictures are shown: four of five conversations extend the one before, as vendors' caches
of prompts need it."""

WORDS = (
    "You act by calling tools, and see the screen that follows. When the task is done, call "
    "finish. Where it asks for an answer, call answer with that alone instead. A message without a "
    "call counts as the answer and ends the task."
)
ENTER = " A newline at the end of a typed text presses Enter."
"""Of tools that have no other way to say it at once."""

DONE = "The screen shows what came of it."
"""The answer to a call that has no room for a picture."""

_HOMES = {
    "openai-responses:": "responses:ResponsesAgent",
    "anthropic:": "anthropic_messages:AnthropicAgent",
    "gemini:": "gemini:GeminiAgent",
}
assert tuple(_HOMES) == VENDORS


@dataclass(frozen=True)
class Reply:
    """What a model said in a turn.

    `items` go back to the API as they came; `calls` are what it must be answered, in order.
    """

    action_text: str
    items: Sequence[Json] = ()
    calls: Sequence[Json] = ()


@dataclass(frozen=True)
class VendorQuestion:
    """What a model was shown in a turn, and what it replied; None to the last question."""

    text: str
    picture: Image
    """(height, width, 3) uint8."""
    reply: Reply | None = None


class VendorAgent(ABC):
    """Shows a vendor's model the goal and the screen, and plays what it calls.

    Each question is a request of its own. One that the server fails ends its episode as an
    infrastructure failure. Whatever the vendor wants to be confirmed is confirmed (and logged): an
    env is made to be acted on, and a person who would be asked sees no episode.

    Args:
        model: The model's name.
        url: The server's address, with the API's version at its end; the vendor's own if None.
        key: The server's key, if it wants one. Never printed.
        suite: The env's suite, for vendors that are told what kind of screen it is.
        prompt: How the model is asked, and how many pictures it is shown.
        max_new_tokens: Most tokens of an answer, thoughts included.
        options: Further fields of each request, such as those of sampling; they win.
        limits: How long the server is waited for.
    """

    prefix: ClassVar[str]
    server: ClassVar[str]
    keys: ClassVar[tuple[str, ...]]
    """Variables of the environment that may hold the key, the first that is set counts."""
    example: ClassVar[str]
    key_header: ClassVar[str] = BEARER
    usage: ClassVar[UsageFields]
    """Where its answers tell their tokens."""
    words: ClassVar[str] = WORDS + ENTER
    """What the system's words say beside the prompt's own."""

    def __init__(
        self,
        model: str,
        url: str | None = None,
        *,
        key: SecretStr | None = None,
        suite: str = "browser",
        prompt: PromptBuilder | None = None,
        max_new_tokens: int = 8192,
        options: Mapping[str, Any] | None = None,
        connections: int = CONNECTIONS,
        limits: RequestLimits | None = None,
    ) -> None:
        self.model = model
        self.suite = suite
        self.prompt = prompt or PromptBuilder(self.words, history=HISTORY, drop=DROP)
        self.max_new_tokens = max_new_tokens
        self.options = dict(options or {})
        self._client = JsonClient(
            url or self.server, key=key, key_header=self.key_header, headers=self.headers(),
            limits=limits, connections=connections,
        )  # fmt: skip
        self._pool = ThreadPoolExecutor(connections, thread_name_prefix=self.prefix[:-1])
        self._pictures = PictureCache()
        self._rate = HitRate(self._pictures)
        self._replies: dict[int, dict[int, Reply]] = {}
        """Of each slot's episode, by turn."""

    @classmethod
    def named(
        cls,
        name: str,
        action_space: Any,
        limits: RequestLimits | None = None,
        *,
        suite: str = "browser",
    ) -> Self:
        """The agent ``PREFIX:MODEL`` or ``PREFIX:MODEL@URL``, for an env of a suite.

        Raises:
            UserError: no model is named, the address is none, the key is missing, or the env speaks
                a dialect that the model does not.
        """
        dialect = getattr(action_space, "dialect", None)
        model, url = cls.check(name, dialect)
        spoken = cls.spoken(model, dialect)
        return cls(model, url, key=cls.key(), suite=suite, limits=limits, **spoken)

    @classmethod
    def check(cls, name: str, dialect: str | None) -> tuple[str, str | None]:
        """The model and the address that `name` names; raises as `named` does."""
        model, url = cls.split(name)
        if not model:
            raise UserError(
                f"{name!r} names no model; write {cls.prefix}MODEL or {cls.prefix}MODEL@URL, such "
                f"as {cls.prefix}{cls.example}"
            )
        if dialect is not None and dialect not in (known := cls.dialects(model)):
            raise UserError(
                f"{cls.prefix}{model} calls the tools of its vendor, which the dialect {dialect!r} "
                f"cannot read: leave --dialect out, or ask for {' or '.join(known)}"
            )
        if url is None and cls.key() is None:
            raise UserError(f"{cls.server} wants a key: set {' or '.join(cls.keys)}")
        return model, url

    @classmethod
    def split(cls, name: str) -> tuple[str, str | None]:
        """The model and the address in an agent's name, whether they can be or not."""
        model = name.removeprefix(cls.prefix)
        if "@" not in model:
            return model, None
        model, _, url = model.rpartition("@")
        return model, url

    @classmethod
    def key(cls) -> SecretStr | None:
        """The server's key, if the environment has one."""
        found = next((os.environ[name] for name in cls.keys if os.environ.get(name)), None)
        return SecretStr(found) if found else None

    @classmethod
    @abstractmethod
    def dialects(cls, model: str) -> tuple[str, ...]:
        """The dialects that read what a model calls, its own first."""

    @classmethod
    def spoken(cls, model: str, dialect: str | None) -> Json:
        """Arguments of an agent for a model whose env speaks a dialect."""
        return {}

    def headers(self) -> dict[str, str]:
        """What goes with every request, beside the key."""
        return {}

    @abstractmethod
    def path(self) -> str:
        """Where it is asked, below the server's address."""

    @abstractmethod
    def payload(self, words: str, questions: Sequence[VendorQuestion]) -> Json:
        """The request, of the system's words and a conversation; no field of `options`."""

    @abstractmethod
    def read(self, found: Any, asked: VendorQuestion) -> Reply:
        """What the model said to a question; raises what shows that the answer is none.

        A model that declines, or is cut off before it called anything, says nothing: that is its
        own doing, and not the server's.
        """

    def act(self, views: Sequence[View]) -> list[Decision]:
        """What is called in each view. `UserError` where the server can never say."""
        return list(self._pool.map(self._decide, views))

    def submit(self, view: View) -> Future[Decision]:
        """What is called in one view, to come; the future raises what `act` does."""
        return self._pool.submit(self._decide, view)

    def ended(self, slot: int) -> None:
        """Forget the conversation of a slot, whose episode is over."""
        self._replies.pop(slot, None)

    def metrics(self) -> dict[str, float]:
        """What was measured since the last time: see `HitRate`."""
        return self._rate.metrics()

    def close(self) -> None:
        """Give up what is under way, and close all connections."""
        self._client.close()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _decide(self, view: View) -> Decision:
        self._pictures.fit((view.slot + 1) * self.prompt.history)
        if not view.turns:
            self._replies[view.slot] = {}
        replies = self._replies.setdefault(view.slot, {})
        words, questions = conversation(self.prompt, view, replies)
        try:
            found = self._client.post(self.path(), self.payload(words, questions) | self.options)
            reply = self.read(found, questions[-1])
        except EngineError as error:
            return Decision("", failure=f"server: {self.refused(error)}")
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            return Decision("", failure=f"server: its answer is none of this API: {error!r}")
        replies[len(view.turns)] = reply
        return Decision(reply.action_text, usage=self.usage.read(found))

    def refused(self, error: EngineError) -> EngineError:
        """A server's failure; raises `UserError` where it says in other words that it is none."""
        return error


def vendor_class(name: str) -> type[VendorAgent]:
    """Whose agent's name begins as one of `VENDORS` does."""
    prefix = next(prefix for prefix in VENDORS if name.startswith(prefix))
    module, _, attribute = _HOMES[prefix].partition(":")
    found: type[VendorAgent] = getattr(
        importlib.import_module(f"{__package__}.{module}"), attribute
    )
    return found


def native_dialect(name: str) -> str:
    """The dialect that reads what the model of such a name calls."""
    found = vendor_class(name)
    return found.dialects(found.split(name)[0])[0]


def conversation(
    prompt: PromptBuilder, view: View, replies: Mapping[int, Reply]
) -> tuple[str, list[VendorQuestion]]:
    """The system's words, and what was shown and said, as far as the prompt shows it.

    A turn that nobody remembers as a `Reply` (another agent played it) is told as text.

    Raises:
        UserError: the env shows no pictures.
    """
    messages, shown = prompt.build(view)
    pictures = iter([*view.screenshots[len(view.screenshots) - shown :], view.screenshot])
    turn = len(view.turns) - sum(message["role"] == "assistant" for message in messages)
    words: list[str] = []
    questions: list[VendorQuestion] = []
    for message in messages:
        content = message["content"]
        text = "\n\n".join(part["text"] for part in content if part["type"] == "text")
        if message["role"] == "system":
            words.append(text)
        elif message["role"] == "user":
            questions.append(VendorQuestion(text, next(pictures)))
        else:
            said, known = view.turns[turn].action_text, replies.get(turn)
            reply = known if known is not None and known.action_text == said else Reply(said)
            questions[-1] = replace(questions[-1], reply=reply)
            turn += 1
    return "\n\n".join(words), questions


def functions() -> list[tuple[str, str, Json]]:
    """The functions beside a computer: name, description, and JSON schema of the arguments."""
    meanings: dict[str, str] = read_table("ui_gym.dialects", "texts")["functions"]["meanings"]
    text = {"type": "string"}
    fields: dict[str, Json] = {
        "answer": {"text": text},
        "open": {"target": text},
        "finish": {"outcome": text | {"enum": list(OUTCOMES)}, "message": text},
    }
    return [
        (name, meanings[name],
         {"type": "object", "properties": own, "required": list(own)[:1]})
        for name, own in fields.items()
    ]  # fmt: skip


def action_text(objects: Sequence[Json]) -> str:
    """What a model said as JSON; empty where it said nothing."""
    lines = [write_object(said) for said in objects]
    return lines[0] if len(lines) == 1 else "[" + ",\n ".join(lines) + "]" if lines else ""
