"""Tasks as TRL's environments: `UIGymSpec` gives `GRPOTrainer` its dataset and its environments.

TRL itself is not imported here: its trainer calls what it is given.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import queue
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from PIL import Image as PILImage

from ui_gym.contract.action import Finish
from ui_gym.contract.device import Image
from ui_gym.errors import UserError
from ui_gym.playing.env import UIEnv
from ui_gym_agents.chat import TOOL, ChatEpisode, Message
from ui_gym_agents.integrations.episodes import needs
from ui_gym_agents.integrations.lazy_picture import LazyPicture, LazyText, lazy_works
from ui_gym_agents.policy.prompts import PromptBuilder

if TYPE_CHECKING:
    from datasets import Dataset

KNOWN = ("1.14", "1.17")
"""From which version of TRL on, and before which, this was tried: what it asks of environments is
experimental."""

CALLING = (
    "Give it to the tool `act`, one call in each turn. Once there is nothing left to do, answer "
    "without a call."
)
OVER = "The episode is over."

Content = str | list[Mapping[str, Any]]
"""What TRL puts into a message: a text, or parts ``{"type": "text" | "image", ...}``."""


class UIGymSpec:
    """A task for TRL's `GRPOTrainer`: its three properties are arguments of the same names.

    Args:
        task: An id or name.
        seeds: How many starts `train_dataset` has. The rollouts of a group share theirs.
        heldout_seeds: How many `eval_dataset` has.
        first_seed: The first of them; they count up from it.
        prompt: How the first question is put; by default as `ChatEpisode` puts it, and that there
            is a tool to call.
        lazy: Whether the slots of a batch step at once. Where Pillow cannot, they do not.
        arguments: The env's, such as ``dialect``, ``observation``, ``split`` or ``max_steps``, and
            the task's own.

    Raises:
        UserError: TRL is not installed, or of another version; an argument is unknown.
    """

    def __init__(
        self,
        task: str,
        *,
        seeds: int = 1024,
        heldout_seeds: int = 64,
        first_seed: int = 0,
        prompt: PromptBuilder | None = None,
        lazy: bool = True,
        **arguments: Any,
    ) -> None:
        needs("trl", *KNOWN, "trl")
        if min(seeds, heldout_seeds) < 1 or first_seed < 0:
            raise UserError("there are seeds from 1 on, and the first is 0 or above")
        self._env = UIEnv(task, **arguments)
        self._prompt = prompt or _asked(self._env)
        self._lazy = lazy and lazy_works()
        self._counts = {"train": seeds, "heldout": heldout_seeds}
        self._first = first_seed

    @functools.cached_property
    def train_dataset(self) -> Dataset:
        """A row for each seed: ``seed``, ``split``, and a ``prompt`` that `reset` completes."""
        return self._rows(self._counts["train"], self._env.split)

    @functools.cached_property
    def eval_dataset(self) -> Dataset:
        """The same of held-out parameters, which no training row has."""
        return self._rows(self._counts["heldout"], "heldout")

    @functools.cached_property
    def environment_factory(self) -> Callable[[], UIGymRollout]:
        """Makes a slot. TRL asks for as many as it generates at once in a process."""
        return functools.partial(UIGymRollout, self._env, self._prompt, lazy=self._lazy)

    @property
    def reward_funcs(self) -> list[Any]:
        """None beside the score, which TRL asks each environment for. Yours are added to it."""
        return []

    def _rows(self, count: int, split: str | None) -> Dataset:
        from datasets import Dataset

        return Dataset.from_dict(
            {
                "prompt": [[{"role": "user", "content": ""}]] * count,
                "seed": list(range(self._first, self._first + count)),
                "split": [split] * count,
            }
        )


@dataclass(frozen=True)
class Shown:
    """What came of a reset or a step."""

    text: str
    picture: Image | None


class UIGymRollout:
    """One slot of a batch. Its public methods are what TRL calls, and what its model may call.

    The env is played in a thread of its own, to which it belongs. It is closed when the slot is
    forgotten, or at exit, since TRL closes nothing.
    """

    def __init__(self, env: UIEnv, prompt: PromptBuilder, *, lazy: bool = True) -> None:
        self._chat = ChatEpisode(env.clone(), prompt=prompt)
        self._lazy = lazy
        self._thread = ThreadPoolExecutor(1, "ui-gym-trl")
        self._last: Future[Shown] | None = None
        self._over = False
        _OPEN.add(self._chat)
        _closer()
        weakref.finalize(self, _FORGOTTEN.put, (self._thread, self._chat)).atexit = False

    def reset(
        self,
        seed: int | None = None,
        split: str | None = None,
        task: str | None = None,
        **row: Any,
    ) -> Content:
        """Begin the episode of a dataset's row: the question and the screen.

        Raises:
            UserError: the row has no seed.
            DeviceError: no device could be had, three times in a row; raised when it is looked at.
        """
        if seed is None:
            raise UserError(
                "a row without a seed starts anywhere, and the rollouts of a group must share "
                "their start: give train_dataset=spec.train_dataset, or a dataset with a column "
                "'seed'"
            )
        given = {"split": split, "task": task}
        options = {name: value for name, value in given.items() if value is not None}
        return self._send(self._begin, seed, options)

    def act(self, action: str) -> Content:
        """Do something on the screen, and see what comes of it.

        Args:
            action: One action or several, as the instructions say.
        """
        self._wait()
        return OVER if self._over else self._send(self._step, action)

    def get_reward(self) -> float | None:
        """The score, 0 to 1, of the episode, which ends here if it did not yet.

        None if the device failed: TRL gives such a rollout no advantage and leaves it out of its
        group's mean, so that nothing is learned from it.
        """
        self._wait()
        if not self._over:
            self._thread.submit(self._finish).result()
        info = self._chat.info
        return None if info["failure"] else float(info["score"])

    def _send(self, play: Callable[..., Shown], *given: Any) -> Content:
        answer = self._last = self._thread.submit(play, *given)
        if self._chat.env.observation_mode == "elements":
            return answer.result().text  # a language model's template takes nothing else
        if self._lazy:
            size = self._chat.env.size
            return [
                LazyText(lambda: answer.result().text),
                {"type": "image", "image": LazyPicture(size, lambda: _picture(answer.result()))},
            ]
        shown = answer.result()
        return [
            {"type": "text", "text": shown.text},
            {"type": "image", "image": PILImage.fromarray(_picture(shown))},
        ]

    def _wait(self) -> None:
        """Raises what the last reset or step raised."""
        if self._last is None:
            raise UserError("no episode is played: call reset() first")
        self._last.result()

    # -- in the thread --

    def _begin(self, seed: int, options: dict[str, Any]) -> Shown:
        self._over = False
        messages = self._chat.reset(seed=seed, options=options)
        return self._shown(_texts(messages))

    def _step(self, action: str) -> Shown:
        step = self._chat.act({"name": TOOL["function"]["name"], "arguments": {"action": action}})
        self._over = step.done
        said = _texts(step.news)
        if failure := step.info["failure"]:
            said.append(f"It was lost ({failure}).")
        return self._shown([*said, OVER] if step.done else said)

    def _finish(self) -> None:
        """What a task that nothing on the screen ends is judged by."""
        env = self._chat.env
        if env.dialect.can_say(Finish()):
            self._chat.act(env.dialect.render([Finish()], env.size))
        self._over = True

    def _shown(self, texts: Sequence[str]) -> Shown:
        screenshots = self._chat.view.screenshots
        return Shown("\n\n".join(texts), screenshots[-1] if screenshots else None)


def write_actions(processor: Any) -> None:
    """Have a model call `act` by writing an action, for models that were taught to write them.

    Whatever the model says is then the call's argument, and what the tool shows is a user's
    message. The chat template is otherwise the processor's own. Such a model calls in every turn:
    say by ``max_tool_calling_iterations`` how many it has.

    Args:
        processor: A processor with a tokenizer and a chat template, or a tokenizer; it is changed.

    Raises:
        UserError: its chat template begins no answer, so that none can be told apart.
    """
    tokenizer = getattr(processor, "tokenizer", processor)
    template = _AS_TURNS + processor.chat_template
    text = "?" if tokenizer is processor else [{"type": "text", "text": "?"}]
    bare, begun = (
        str(
            processor.apply_chat_template(
                [{"role": "user", "content": text}], chat_template=template, tokenize=False,
                add_generation_prompt=begin,
            )
        )
        for begin in (False, True)
    )  # fmt: skip
    if not begun.startswith(bare) or begun == bare:
        raise UserError("this model's chat template does not say where its answer begins")
    processor.chat_template = template
    tokenizer.response_template = {
        "defaults": {"role": "assistant"},
        "start_anchor": begun[len(bare) :],
        "fields": {
            "tool_calls": {
                "open_pattern": "^",
                "close": tokenizer.eos_token,
                "repeats": True,
                "content": "text",
                "transform": {
                    "type": "function",
                    "function": {
                        "name": TOOL["function"]["name"],
                        "arguments": {"action": "{content}"},
                    },
                },
            }
        },
    }


_AS_TURNS = """\
{%- set turns = namespace(all=[]) -%}
{%- for message in messages -%}
{%- if message.role == 'tool' -%}
{%- set turn = {'role': 'user', 'content': message.content} -%}
{%- elif message.tool_calls -%}
{%- set call = message.tool_calls[0].function -%}
{%- set known = call.arguments.action is defined -%}
{%- set said = call.arguments.action if known else call.name ~ (call.arguments | tojson) -%}
{%- set parts = said if message.content is string else [{'type': 'text', 'text': said}] -%}
{%- set turn = {'role': message.role, 'content': parts} -%}
{%- else -%}
{%- set turn = message -%}
{%- endif -%}
{%- set turns.all = turns.all + [turn] -%}
{%- endfor -%}
{%- set messages = turns.all -%}
{%- set tools = none -%}
"""
"""Before a chat template: calls are what the model said, and tools answer as users do."""


def _asked(env: UIEnv) -> PromptBuilder:
    """As `ChatEpisode` asks, and by which tool."""
    plain = ChatEpisode(env).prompt
    return replace(plain, dialect_prompt=f"{plain.dialect_prompt}\n\n{CALLING}")


def _texts(messages: Sequence[Message]) -> list[str]:
    parts = [part for message in messages for part in message["content"]]
    return [part["text"] for part in parts if part["type"] == "text"]


def _picture(shown: Shown) -> Image:
    assert shown.picture is not None
    return shown.picture


_OPEN: set[ChatEpisode] = set()

_FORGOTTEN: queue.SimpleQueue[tuple[ThreadPoolExecutor, ChatEpisode]] = queue.SimpleQueue()
"""A finalizer may run in the middle of anything, with any lock held: it may put something here, and
nothing else."""


@functools.cache
def _closer() -> threading.Thread:
    """Closes the envs of slots that were forgotten, each after what it still does."""

    def run() -> None:
        while True:
            _close(*_FORGOTTEN.get())  # which keeps none of them alive while it waits

    started = threading.Thread(target=run, name="forgotten-slots", daemon=True)
    started.start()
    return started


def _close(thread: ThreadPoolExecutor, chat: ChatEpisode) -> None:
    with contextlib.suppress(RuntimeError):  # at exit no thread takes anything any more
        thread.submit(chat.close)
        _OPEN.discard(chat)
    thread.shutdown(wait=False)


@atexit.register
def _close_all() -> None:
    for chat in list(_OPEN):
        chat.close()
