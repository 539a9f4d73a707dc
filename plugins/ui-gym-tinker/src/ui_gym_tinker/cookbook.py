"""ui-gym for tinker-cookbook 0.5: groups of episodes, and their data set, for its ``rl.train``.

    from tinker_cookbook.rl import train
    from ui_gym_tinker.cookbook import UIGymDatasetBuilder, register_tokenizer

    register_tokenizer("tiny-clerk")
    data = UIGymDatasetBuilder(
        model="tiny-clerk", tasks=["UI/DataEntry-v0"], arguments={"compact": True}
    )
    asyncio.run(train.main(train.Config(model_name="tiny-clerk", dataset_builder=data, ...)))

A screenshot goes out as the PNG that it was; the cookbook's own renderers would make a JPEG of it.
A device that fails is an error of its rollout, for ``rollout_error_tolerance`` to handle, and never
a reward. Nothing else of this plugin imports this module, and it needs no transformers 5.20, which
the cookbook refuses.
"""

from __future__ import annotations

import asyncio
import copy
import functools
import logging
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from PIL import Image as PILImage

from ui_gym.catalog import TaskSource
from ui_gym.contract.device import Image
from ui_gym.errors import UserError
from ui_gym.playing.env import UIEnv
from ui_gym.remote.png import png
from ui_gym_agents.agents.agent import View
from ui_gym_agents.integrations.episodes import AsyncEpisode, EpisodeRow, episode_rows, needs
from ui_gym_agents.policy.prompts import Message, PromptBuilder
from ui_gym_agents.policy.weights import resolve
from ui_gym_agents.policy.wording import Wording, wording_of
from ui_gym_tinker.wire import TinkerWire

try:
    import chz
    from tinker.types import ImageChunk, ModelInput
    from tinker_cookbook import tokenizer_utils
    from tinker_cookbook.completers import StopCondition
    from tinker_cookbook.renderers import get_renderer, get_text_content
    from tinker_cookbook.rl.types import (
        ActionExtra,
        Env,
        EnvGroupBuilder,
        Metrics,
        RLDataset,
        RLDatasetBuilder,
        StepResult,
        StopReason,
        Trajectory,
    )
except ImportError as error:
    raise UserError(
        f"tinker-cookbook is not installed, or not whole ({error}); in an environment of its own: "
        "pip install 'tinker-cookbook>=0.5.8,<0.6'"
    ) from error
needs("tinker-cookbook", "0.5.8", "0.6", "browser")  # it is there: its version

SLOTS = 8
"""Episodes that hold a device at the same time."""

log = logging.getLogger(__name__)


def register_tokenizer(name: str, folder: str | Path | None = None) -> None:
    """Let the cookbook find the tokenizer of a model that it does not know.

    Args:
        name: The model, as the server calls it.
        folder: Where it is; `name` is that of an installed model, a folder or a hub's, if None.

    Raises:
        UserError: there is no such model.
    """
    found = resolve(folder or name, weights=False)
    tokenizer_utils.register_tokenizer(name, lambda: _wording(found).tokenizer)


# -- how the model is asked --


@dataclass(frozen=True)
class AskSettings:
    """How a model is asked. May be pickled, which what it asks by may not."""

    model: str
    """Whose tokenizer and processor are taken: an installed name, a folder, or a hub's name."""
    renderer: str | None = None
    """One of the cookbook's; None: the model's own chat template."""
    history: int | None = None
    """Pictures that are shown; None: as the model was trained, or the last three."""

    def prompt(self, folder: Path, taught: PromptBuilder) -> PromptBuilder:
        """The model's own prompt where its folder tells one, else `taught`."""
        prompt = PromptBuilder.of(folder) or taught
        return prompt if self.history is None else replace(prompt, history=self.history)


class PromptWords(Protocol):
    """Views as prompts, and sampled tokens as words."""

    stops: StopCondition

    def prompt(self, view: View) -> ModelInput: ...

    def text(self, ids: Sequence[int]) -> str: ...


class TemplateWords:
    """By the chat template of the model's own processor, as ui-gym's trainers ask."""

    def __init__(self, wording: Wording, prompt: PromptBuilder) -> None:
        self._wording = copy.copy(wording)
        self._wording.prompt = prompt
        self._wire = TinkerWire(self._wording)
        self.stops: StopCondition = self._wording.stops

    def prompt(self, view: View) -> ModelInput:
        question = self._wording.question(view)
        return self._wire.prompt(question.ids, question.images)

    def text(self, ids: Sequence[int]) -> str:
        return self._wording.text(ids)


class RendererWords:
    """By a renderer of the cookbook's, with the pictures put back as they were."""

    def __init__(self, wording: Wording, prompt: PromptBuilder, asked: AskSettings) -> None:
        self._encoder = wording.encoder
        self._prompt = prompt
        self._name = asked.renderer
        self._renderer = get_renderer(
            asked.renderer, wording.tokenizer, wording.processor.image_processor,
            model_name=asked.model,
        )  # fmt: skip
        self.stops: StopCondition = self._renderer.get_stop_sequences()

    def prompt(self, view: View) -> ModelInput:
        messages, shown = self._prompt.build(view)
        images = view.screenshots[len(view.screenshots) - shown :]
        drawn = _with_pictures(self._encoder.defused(messages), images)
        chunks = self._renderer.build_generation_prompt(drawn).chunks
        places = [i for i, chunk in enumerate(chunks) if isinstance(chunk, ImageChunk)]
        if len(places) != len(images):
            raise UserError(
                f"the renderer {self._name!r} shows {len(places)} of {len(images)} pictures: take "
                "one for models that see, or none for the model's own chat template"
            )
        for place, image in zip(places, images, strict=True):
            exact = {"data": png(image), "format": "png"}
            chunks[place] = chunks[place].model_copy(update=exact)
        return ModelInput(chunks=chunks)

    def text(self, ids: Sequence[int]) -> str:
        return str(get_text_content(self._renderer.parse_response(list(ids))[0]))


def _with_pictures(messages: Sequence[Message], images: Sequence[Image]) -> list[Message]:
    """Messages as the cookbook has them: a text, or parts of which some hold a picture."""
    waiting = iter(images)
    drawn = []
    for message in messages:
        content: Any = [
            part if part["type"] == "text"
            else {"type": "image", "image": PILImage.fromarray(next(waiting))}
            for part in message["content"]
        ]  # fmt: skip
        if all(part["type"] == "text" for part in content):
            content = "".join(part["text"] for part in content)
        drawn.append({"role": message["role"], "content": content})
    return drawn


@functools.cache
def _wording(folder: Path) -> Wording:
    return wording_of(folder)


@functools.cache
def _words(asked: AskSettings, taught: PromptBuilder) -> PromptWords:
    folder = resolve(asked.model, weights=False)
    wording, prompt = _wording(folder), asked.prompt(folder, taught)
    if asked.renderer is None:
        return TemplateWords(wording, prompt)
    return RendererWords(wording, prompt, asked)


_ASKING = threading.Lock()
"""Prompts are made in threads, and a tokenizer is nothing for two of them at once."""


# -- episodes --


class _SeenEpisode(AsyncEpisode):
    """An episode that shows what our own agents see."""

    @property
    def view(self) -> View:
        return self._begun.view

    @property
    def taught(self) -> PromptBuilder:
        """The prompt that says how to act."""
        return self._begun.prompt


class UIGymRolloutEnv(Env):
    """One episode, which holds a device from its first observation to its end.

    It ends with its last step, with the task of asyncio that plays it, or by `close`, whatever is
    first: rollouts that fail, time out or are cancelled leave nothing behind.

    Args:
        row: Which episode.
        asked: How the model is asked.
        slots: Episodes of this event loop that hold a device at the same time; others wait.
    """

    def __init__(self, row: EpisodeRow, asked: AskSettings, slots: int = SLOTS) -> None:
        self.row = row
        self.info: Mapping[str, Any] | None = None
        """The env's info of the last step."""
        self._asked = asked
        self._slots = slots
        self._episode = _SeenEpisode(row.task, row.arguments)
        self._words: PromptWords | None = None
        self._slot: asyncio.Semaphore | None = None
        self._closing: asyncio.Future[None] | None = None

    async def initial_observation(self) -> tuple[ModelInput, StopCondition]:
        """Begin the episode: the first prompt, and what ends an answer.

        Raises:
            DeviceError, TaskError: it could not begin.
            UserError: the task, an argument, the model or the renderer cannot be; or it was closed.
        """
        playing = asyncio.current_task()
        assert playing is not None
        playing.add_done_callback(lambda _: self._end())
        slot = _gate(self._slots)
        await slot.acquire()
        if self._closing is not None:
            slot.release()
            raise _closed()
        self._slot = slot
        await self._episode.reset(self.row.seed)
        observation = await self._observed()
        assert self._words is not None
        return observation, self._words.stops

    async def step(self, action: list[int], *, extra: ActionExtra | None = None) -> StepResult:
        """Do what the sampled tokens say. The reward is the env's.

        Raises:
            DeviceError: the device failed, which is no fault of the model's.
            UserError: it was closed.
        """
        if self._closing is not None or self._words is None:
            raise _closed()
        text = self._words.text(action)
        step = await self._episode.act(text)
        self.info = step.info
        metrics: Metrics = {"action_errors": float(step.info["action_error"] is not None)}
        if step.done:
            self._end()
            why = StopReason.COMPLETED if step.terminated else StopReason.MAX_TURNS
            metrics[f"stop/{why}"] = 1.0
        return StepResult(
            reward=float(step.reward),
            episode_done=step.done,
            next_observation=ModelInput.empty() if step.done else await self._observed(),
            next_stop_condition=self._words.stops,
            metrics=metrics,
            logs={"action": text} | ({"notes": str(step.info["notes"])} if step.done else {}),
        )

    async def close(self) -> None:
        """End the episode, and wait until the device is given back. May be repeated."""
        self._end()
        assert self._closing is not None
        await asyncio.shield(self._closing)

    async def _observed(self) -> ModelInput:
        return await asyncio.to_thread(self._prompted)

    def _prompted(self) -> ModelInput:
        with _ASKING:
            self._words = _words(self._asked, self._episode.taught)
            return self._words.prompt(self._episode.view)

    def _end(self) -> None:
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._give_back())

    async def _give_back(self) -> None:
        try:
            await self._episode.__aexit__(None, None, None)
        finally:
            if self._slot is not None:
                self._slot.release()


def _closed() -> UserError:
    return UserError("this episode is not played, or was closed: an env of the cookbook plays once")


_GATES: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[int, asyncio.Semaphore]] = (
    weakref.WeakKeyDictionary()
)


def _gate(slots: int) -> asyncio.Semaphore:
    """What lets so many episodes of this event loop in."""
    gates = _GATES.setdefault(asyncio.get_running_loop(), {})
    return gates.setdefault(slots, asyncio.Semaphore(slots))


@dataclass
class UIGymEnvGroupBuilder(EnvGroupBuilder):
    """Episodes that begin with the same screen.

    The rewards are those of the steps: the score at the end, or with the argument
    ``reward="progress"`` what each step gained.
    """

    row: EpisodeRow
    group_size: int
    asked: AskSettings
    slots: int = SLOTS
    tags: tuple[str, ...] = ()
    _made: list[UIGymRolloutEnv] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    async def make_envs(self) -> Sequence[UIGymRolloutEnv]:
        """Envs that have no device yet."""
        made = [UIGymRolloutEnv(self.row, self.asked, self.slots) for _ in range(self.group_size)]
        self._made += made
        return made

    async def compute_group_rewards(
        self, trajectory_group: list[Trajectory], env_group: Sequence[Env]
    ) -> list[tuple[float, Metrics]]:
        """Nothing beyond the steps' rewards; score and success as metrics."""
        infos = [
            getattr(env, "info", None) or {"score": 0.0, "success": False} for env in env_group
        ]
        return [
            (0.0, {"score": float(info["score"]), "success": float(info["success"])})
            for info in infos
        ]

    async def cleanup(self) -> None:
        """Give back every device of the group. May be repeated."""
        made, self._made = self._made, []
        for ended in await asyncio.gather(*(env.close() for env in made), return_exceptions=True):
            if isinstance(ended, Exception):
                log.warning("an env of %s did not close: %s", self.row.task, ended)

    def logging_tags(self) -> list[str]:
        """The task's suite and name."""
        return list(self.tags)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_made": []}


# -- the data set --


class UIGymDataset(RLDataset):
    """Batches of groups; a row is a group.

    Args:
        rows: Which episodes.
        groups_per_batch: How many rows make a batch; the last one may have fewer.
        group: A group, in all but its row.
    """

    def __init__(
        self, rows: Sequence[EpisodeRow], groups_per_batch: int, group: UIGymEnvGroupBuilder
    ) -> None:
        self.rows = rows
        self.groups_per_batch = groups_per_batch
        self._group = group
        self._tags = {row.task: _tags(row.task) for row in rows}

    def get_batch(self, index: int) -> list[UIGymEnvGroupBuilder]:
        start = index * self.groups_per_batch
        rows = self.rows[start : start + self.groups_per_batch]
        return [replace(self._group, row=row, tags=self._tags[row.task]) for row in rows]

    def __len__(self) -> int:
        return -(-len(self.rows) // self.groups_per_batch)


@chz.chz
class UIGymDatasetBuilder(RLDatasetBuilder):
    """Training episodes, and held-out ones if `test_groups` says so.

    Raises (when called):
        UserError: a task, an argument, the model or the renderer cannot be.
    """

    model: str = chz.field(doc="Whose tokenizer and chat template ask: a name, or a folder.")
    tasks: list[str] = chz.field(doc="Ids or names; groups take turns.")
    arguments: dict[str, Any] = chz.field(default_factory=dict, doc="The envs', such as compact.")
    batches: int = chz.field(default=100, doc="Each is an iteration of training.")
    groups_per_batch: int = 8
    group_size: int = 8
    seed: int = chz.field(default=0, doc="Of the first group; the next has the next.")
    test_groups: int = chz.field(default=0, doc="Groups of the split heldout; 0: no evaluation.")
    test_group_size: int = 1
    renderer_name: str | None = chz.field(
        default=None, doc="One of the cookbook's; None: the model's own chat template."
    )
    history: int | None = chz.field(default=None, doc="Pictures that a prompt shows.")
    slots: int = chz.field(default=SLOTS, doc="Episodes that hold a device at the same time.")

    async def __call__(self) -> tuple[UIGymDataset, UIGymDataset | None]:
        await asyncio.to_thread(self._check)
        train = self._dataset(self.batches * self.groups_per_batch, self.group_size)
        if not self.test_groups:
            return train, None
        return train, self._dataset(self.test_groups, self.test_group_size, split="heldout")

    def _dataset(self, groups: int, group_size: int, **more: Any) -> UIGymDataset:
        arguments = {**self.arguments, **more}
        rows = episode_rows(self.tasks, groups, seed=self.seed, **arguments)
        group = UIGymEnvGroupBuilder(rows[0], group_size, self._asked, self.slots)
        return UIGymDataset(rows, self.groups_per_batch, group)

    @property
    def _asked(self) -> AskSettings:
        return AskSettings(self.model, self.renderer_name, self.history)

    def _check(self) -> None:
        """Say at once what no retry would mend."""
        for name in ("batches", "groups_per_batch", "group_size", "test_group_size", "slots"):
            if getattr(self, name) < 1:
                raise UserError(f"{name} is a whole number from 1 on, not {getattr(self, name)}")
        if self.test_groups and self.arguments.get("split", "train") != "train":
            raise UserError(
                f"split={self.arguments['split']!r} trains on what test_groups holds out: leave "
                "one of the two"
            )
        for row in episode_rows(self.tasks, len(self.tasks), **self.arguments):
            UIEnv(row.task, **row.arguments).close()
        with _ASKING:
            _words(self._asked, PromptBuilder())


def _tags(task: str) -> tuple[str, ...]:
    (spec,) = TaskSource(ids=(task,)).select()
    return spec.suite, spec.name
