"""Task: what is to be done, how it starts, how it is judged, and how it is solved.

A task is plain synchronous Python. Its randomness is all in `sample`; the rest are functions of
the sampled params and the device, so that a task's logic is tested without a device.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, TypeVar

import numpy as np

from ui_gym.contract.action import Action
from ui_gym.contract.device import DeviceOptions, DevicePool
from ui_gym.contract.harm import AllowedChange, Fact
from ui_gym.contract.spec import Difficulty, TaskSpec
from ui_gym.errors import TaskError, UserError, nearest

Split = Literal["train", "heldout"]
SPLITS: tuple[Split, ...] = ("train", "heldout")
Judged = Literal["steps", "end"]

HELDOUT_SHARE = 0.2
"""The share of the parameter space that no training seed draws."""

P = TypeVar("P")
D = TypeVar("D")


@dataclass(frozen=True)
class Verdict:
    """A judgement: `score` in [0, 1]; `done` ends the episode; `notes` say why, for people, and
    `details` in values, for programs."""

    score: float
    done: bool = False
    notes: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0.0 <= self.score <= 1.0:
            raise TaskError(f"a score lies in [0, 1], not {self.score!r}")

    @property
    def success(self) -> bool:
        return self.score >= 1.0


@dataclass(frozen=True)
class Demo:
    """One step of an oracle: the action, and what a learner may be told about it.

    `thought` is the reasoning that leads to the action; `caption` is what the picture
    says: a training target that teaches a model to see, never part of its answer.
    """

    action: Action
    thought: str = ""
    caption: str = ""


@dataclass(frozen=True)
class Brief:
    """What an episode is about: its goal, and what the task knows beside it and no agent is told.

    `hidden` becomes a part of the episode's `GroundTruth`.
    """

    goal: str
    hidden: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class GroundTruth:
    """What a task knows of one episode, for records, demonstrators and tests.

    `params` are the sampled params in plain values, `blind_rate` is `Task.blind_rate` of them, and
    `hidden` is what the task's `Brief` adds. An env gives it to those who ask, see `UIEnv`; an
    agent that is to be measured must not see it.
    """

    params: Any
    blind_rate: float | None = None
    hidden: Mapping[str, Any] = field(default_factory=dict)


class Task(Generic[P, D]):
    """Base class of tasks: `P` is its params (a frozen dataclass), `D` its suite's device.

    Keyword arguments of `__init__` are the task's arguments, as given to `gym.make`.
    """

    spec: ClassVar[TaskSpec]
    viewport: tuple[int, int] = (1280, 800)
    """(width, height) of the screen that this task wants, in pixels."""
    mistakes: tuple[str, ...] = ()
    """Names of the misunderstandings that `misread` knows."""
    excesses: tuple[str, ...] = ()
    """Names of the ways to do too much that `overdo` knows."""
    incidental: ClassVar[Sequence[AllowedChange]] = ()
    """What always may change beside the task; a suite says it for all of its tasks."""
    judged: ClassVar[Judged] = "steps"
    """When `judge` is asked: after each step, or only at the end of the episode, which is for a
    judge that changes what it looks at. There, every score before the end is 0."""
    levels: ClassVar[Mapping[Difficulty, Mapping[str, Any]]] = {}
    """What the argument `level` stands for: values of other arguments, for each level."""
    meanings: ClassVar[Mapping[str, str]] = {}
    """What arguments mean that many tasks share, for their docstrings."""
    made_with: Mapping[str, Any] | None = None
    """The arguments that `make_task` made it with; None where somebody else made it."""
    _max_steps: int | None = None

    def sample(self, rng: np.random.Generator) -> P:
        """All that varies, drawn from `rng` alone."""
        raise NotImplementedError

    def goal(self, params: P) -> str:
        """The sentence that the agent reads."""
        raise NotImplementedError

    def setup(self, device: D, params: P) -> None:
        """Bring the device to the starting state, with the goal not yet reached."""
        raise NotImplementedError

    def brief(self, device: D, params: P) -> Brief:
        """The goal as the agent reads it, asked for after `setup`.

        For tasks whose params do not tell it, because it is made on the device.
        """
        return Brief(self.goal(params))

    def judge(self, device: D, params: P, history: Sequence[Action]) -> Verdict:
        """The score now, from the device's state and the actions done so far."""
        raise NotImplementedError

    def facts_of(self, device: D, params: P) -> Iterable[Fact]:
        """What the device holds and how it is set, as far as harm to it would matter.

        Read after `setup`, and again whenever `judge` gives a score above 0: what differs and
        neither `may_change` nor is `incidental` makes that score 0.
        """
        return ()

    def may_change(self, params: P) -> Sequence[AllowedChange] | None:
        """What the goal asks to change, and what follows from that; nothing, where it is empty.

        None, of a task that does not say it: then no facts are read, and none compared.
        """
        return None

    def oracle(self, device: D, params: P) -> Iterator[Action | Demo]:
        """Solve it through the same actions; may look into the device between them."""
        raise NotImplementedError

    def misread(self, params: P, mistake: str, rng: np.random.Generator) -> P:
        """The params as somebody careless would take them who makes `mistake`.

        The oracle played on these is a near miss, and a clumsy demonstration. `params` may have
        been misread already, by another mistake.
        """
        raise NotImplementedError

    def overdo(self, device: D, params: P, excess: str) -> None:
        """Do to the device, after `setup`, what somebody does who does too much: something beside
        what is asked for, or that more often than asked.

        The oracle, which must still find its way, is played after it, and the episode is no
        success (`ui_gym.testing.check_ui_env`).
        """
        raise NotImplementedError

    def blind_rate(self, params: P) -> float | None:
        """The success rate of a guesser who does all right but cannot tell what the goal means.

        What a success rate must be read against; None if the task does not know.
        """
        return None

    @classmethod
    def pool(cls, options: DeviceOptions) -> DevicePool:
        """The suite's devices."""
        raise NotImplementedError

    # -- what the base class gives --

    def choose(self, seed: int, asked: str | None) -> Task[Any, Any]:
        """The task that the episode of `seed` plays, where the id or name `asked` may be given:
        this one, unless this is a suite.

        Raises:
            UserError: another one was asked for.
        """
        if asked is not None and not self.spec.is_called(asked):
            raise UserError(
                f"this env plays {self.spec.id} alone, not {asked!r}; make an env of that task"
            )
        return self

    @property
    def max_steps(self) -> int:
        """Steps until truncation: the registered number, where the task's `__init__` sets none."""
        return self._max_steps or self.spec.max_steps

    @max_steps.setter
    def max_steps(self, steps: int | None) -> None:
        self._max_steps = steps

    @property
    def has_oracle(self) -> bool:
        """Whether somebody wrote down how it is solved."""
        return type(self).oracle is not Task.oracle

    def split_of(self, params: P) -> Split:
        """The split that params belong to."""
        return split_of(params)

    def at_level(self, level: Difficulty | None, **given: Any) -> dict[str, Any]:
        """The arguments of a level (by default the registered difficulty), and over them what was
        `given` beside it and is not None.

        Raises:
            UserError: there is no such level.
        """
        chosen = level or self.spec.difficulty
        if chosen not in self.levels:
            raise UserError(
                f"{self.spec.id} has no level {chosen!r}. {nearest(str(chosen), self.levels)}"
            )
        own = {name: value for name, value in given.items() if value is not None}
        return {**self.levels[chosen], **own}

    def check_range(self, name: str, value: Any, low: int, high: int) -> int:
        """`value` if it is a whole number from `low` to `high`, else a `UserError`."""
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise UserError(f"{self.spec.name}: {name} must be {low} to {high}, not {value!r}")
        return value

    def check_flag(self, name: str, value: Any) -> bool:
        """`value` if it is True or False, else a `UserError`."""
        if not isinstance(value, bool):
            raise UserError(f"{self.spec.name}: {name} is True or False, not {value!r}")
        return value

    def draw(self, seed: int, split: Split | None = None) -> P:
        """The params of `seed` within `split`; the same seed always gives the same params."""
        rng = np.random.default_rng(seed)
        for _ in range(1000):
            params = self.sample(rng)
            if split is None or self.split_of(params) == split:
                return params
        raise TaskError(
            f"{self.spec.id}: 1,000 draws of seed {seed} gave nothing in the split {split!r}; "
            "its params vary too little"
        )

    def demonstrate(self, device: D, params: P) -> Iterator[Demo]:
        """The oracle's steps, each as a `Demo`."""
        for step in self.oracle(device, params):
            yield step if isinstance(step, Demo) else Demo(step)

    def misunderstand(self, params: P, rates: dict[str, float], seed: int) -> P:
        """`params` after each mistake of `rates` (name -> probability) had its chance.

        Each mistake has a generator of its own, so that one's rate never changes another's draw.
        """
        for mistake, rate in sorted(rates.items()):
            if mistake not in self.mistakes:
                raise UserError(
                    f"{self.spec.id} knows no mistake {mistake!r}. "
                    f"{nearest(mistake, self.mistakes)}"
                )
            digest = hashlib.sha256(f"{mistake}:{seed}".encode()).digest()
            rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
            if rng.random() < rate:
                params = self.misread(params, mistake, rng)
        return params


def params_json(params: object) -> str:
    """The canonical JSON of a task's params: sorted keys, no spaces."""
    return json.dumps(params, sort_keys=True, separators=(",", ":"), default=_plain)


def split_of(params: object) -> Split:
    """The split that params belong to, by a hash of their values."""
    digest = hashlib.sha256(params_json(params).encode()).digest()
    return "heldout" if int.from_bytes(digest[:8], "big") / 2**64 < HELDOUT_SHARE else "train"


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    raise TypeError(f"params hold a {type(value).__name__}; use plain values")
