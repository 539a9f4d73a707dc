"""Rewards: what an episode is worth to a learner, as named functions ``(episode, parameters)``.

The five of the CUA-RL recipe (success, completion, efficiency, shaped, comprehensive) and ARPO's.
The env's own judgement is the score in [0, 1]; shaping it is the trainer's business, and happens
here alone. Written with s = success (0 or 1), c = score, n = turns, N = most turns, and shares of
turns v (valid actions), e = 1 - v (errors), r (repeats without effect); o = 1 if turns ran out:

    success        s
    completion     c
    efficiency     s * (1 - slowness * (n - 1) / (N - 1))
    shaped         c - errors * e - repeats * r - overrun * o
    comprehensive  success * s + completion * c + efficiency * efficiency + valid * v
                   - repeats * r - overrun * o
    arpo           c + format * f

f is ARPO's format term: -1 where any turn's text was no action at all, else 0 (ARPO, arXiv
2505.16282, adds it with the weight 0.5). Every reward takes it as the parameter ``format``. The
recipe names its five without formulas that fit other suites; those above are ours.

A user's own reward is named as ``module:function``: it takes an `Episode` and returns a number, or
a number for each turn. Arguments beyond the episode that have numbers as defaults are its
parameters; one that is called ``screenshots`` is given the store of the pictures. Where it raises,
or gives what is no finite number, there is a `RewardFailure`: the episode has no reward then, which
is not a reward of zero.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from types import MappingProxyType
from typing import Any, Protocol

from ui_gym import extras
from ui_gym.contract import registry
from ui_gym.contract.device import Image
from ui_gym.errors import UIGymError, UserError, nearest
from ui_gym_agents.agents.agent import SERVED
from ui_gym_agents.episode import Episode

Parameters = Mapping[str, float]


class RewardFailure(UIGymError):
    """What an episode is worth could not be said: it is left out."""


class PictureSource(Protocol):
    """Pictures by the ids that an episode's turns name."""

    def get(self, key: str) -> Image:
        """The picture, shape (height, width, 3), uint8."""


RewardFunction = Callable[..., float | Sequence[float]]
"""Of an episode and its `Parameters`; and of its `PictureSource`, where it asks for pictures."""


@dataclass(frozen=True)
class Worth:
    """What an episode is worth: `end` for the whole of it, and `turns` for each of its turns.

    `turns` is None where no reward tells the turns apart.
    """

    end: float = 0.0
    turns: tuple[float, ...] | None = None

    @property
    def total(self) -> float:
        """All of it."""
        return self.end + sum(self.turns or ())

    def plus(self, other: Worth, weight: float) -> Worth:
        """This and `weight` times the other."""
        turns = self.turns
        if other.turns is not None:
            own = turns or (0.0,) * len(other.turns)
            turns = tuple(a + weight * b for a, b in zip(own, other.turns, strict=True))
        return Worth(self.end + weight * other.end, turns)


FORMAT = "format"
"""The parameter of every reward: the weight of the format term."""
MAX_TURNS = "max_turns"
"""The parameter of rewards that need N, for episodes that do not know it themselves; 0: the number
that their task is registered with."""
PICTURES = "screenshots"
"""The argument of a user's own reward that is given the store of the pictures."""
ALIASES = MappingProxyType({"score": "completion"})
"""Other names of rewards."""
MALFORMED = ("parse", "name")
"""The errors of a text that is no action: not in the grammar, or no such action."""


@dataclass(frozen=True)
class Reward:
    """A reward by its name. `defaults` has every parameter that it takes."""

    name: str
    summary: str
    defaults: Parameters
    function: RewardFunction
    wants_pictures: bool = False
    """The function takes a third argument, where the episode's pictures are."""
    begin: Callable[[Episode, PictureSource], None] | None = None
    """Begins what will take long for an episode, and does not wait for it."""

    def __call__(self, episode: Episode, parameters: Parameters = MappingProxyType({})) -> float:
        """The reward of an episode, all in all. Errors are those of `worth`."""
        return self.worth(episode, parameters).total

    def worth(
        self,
        episode: Episode,
        parameters: Parameters = MappingProxyType({}),
        pictures: PictureSource | None = None,
    ) -> Worth:
        """What an episode is worth, and its turns.

        Raises:
            UserError: an unknown parameter, or one that is no number.
            ValueError: the episode's infrastructure failed, which says nothing about the agent.
            RewardFailure: the function raised, or gave something else than finite numbers.
        """
        if episode.failure is not None:
            raise ValueError(f"episode {episode.id} has no reward: {episode.failure}; leave it out")
        whole = self.complete(parameters)
        given = (episode, whole, pictures) if self.wants_pictures else (episode, whole)
        try:
            worth = self._read(episode, self.function(*given))
        except UIGymError:
            raise
        except Exception as error:
            raise self._failure(f"raised {type(error).__name__}: {error}") from error
        return replace(worth, end=worth.end + whole[FORMAT] * format_term(episode))

    def _read(self, episode: Episode, value: object) -> Worth:
        """What the function gave, checked."""
        if isinstance(value, Real) and math.isfinite(value):
            return Worth(float(value))
        if not isinstance(value, Iterable) or isinstance(value, str | bytes):
            raise self._failure(f"gave {value!r}, and no finite number")
        turns = list(value)
        for turn in turns:
            if not (isinstance(turn, Real) and math.isfinite(turn)):
                raise self._failure(f"gave {turn!r} for a turn, and no finite number")
        if len(turns) != episode.steps:
            raise self._failure(
                f"gave {len(turns)} numbers for the {episode.steps} turns of the episode"
            )
        return Worth(0.0, tuple(map(float, turns)))

    def _failure(self, what: str) -> RewardFailure:
        return RewardFailure(f"the reward {self.name!r} {what}")

    def complete(self, parameters: Mapping[str, Any]) -> dict[str, float]:
        """`parameters` over the defaults, checked. `UserError` as for a call."""
        for name, value in parameters.items():
            if name not in self.defaults:
                raise UserError(
                    f"the reward {self.name!r} has no parameter {name!r}. "
                    f"{nearest(name, self.defaults)}"
                )
            if not _is_number(value) or not math.isfinite(value):
                raise UserError(
                    f"the reward {self.name!r}: {name} is a finite number, not {value!r}"
                )
        return {**self.defaults, **parameters}


def get_reward(name: str) -> Reward:
    """The reward of a name, or a user's own as ``module:function``.

    Raises:
        UserError: there is none; names the nearest.
    """
    found = REWARDS.get(ALIASES.get(name, name))
    if found is None and name.startswith(SERVED):
        return _judged(name)
    if found is None and ":" in name:
        return own_reward(name, extras.named(f"the reward {name!r}", name, UserError))
    if found is None:
        raise UserError(
            f"there is no reward {name!r}. {nearest(name, REWARDS)} Your own is named as "
            "module:function"
        )
    return found


def _judged(name: str) -> Reward:
    """A judge model's, which a run asks (`judge`). `UserError` where the name is none."""
    model, at, url = name.removeprefix(SERVED).partition("@")
    if not model or (at and not url.startswith(("http://", "https://"))):
        raise UserError(
            f"{name!r} names no judge; write openai:MODEL@URL, such as "
            "openai:Qwen/Qwen3-VL-8B-Instruct@http://127.0.0.1:8000/v1"
        )

    def unasked(episode: Episode, parameters: Parameters, pictures: PictureSource) -> float:
        raise RewardFailure(f"nobody asks the judge {name!r}: a run does, by context.reward")

    return Reward(name, "A judge model's score.", {FORMAT: 0.0}, unasked, wants_pictures=True)


def own_reward(name: str, function: Any) -> Reward:
    """A user's own function as a reward. `UserError` where it cannot take an episode alone."""
    if not callable(function):
        raise UserError(f"the reward {name!r} is {function!r}, and no function of an episode")
    try:
        takes = list(inspect.signature(function).parameters.values())
    except ValueError:  # of a function in C: nobody can say
        takes = []
    named = [p for p in takes[1:] if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    wants = any(p.name == PICTURES for p in named)
    defaults: dict[str, float] = {FORMAT: 0.0}
    for parameter in named:
        if parameter.name == FORMAT:
            raise UserError(f"the reward {name!r}: every reward has `format`; call it otherwise")
        if _is_number(parameter.default):
            defaults[parameter.name] = parameter.default
        elif parameter.default is parameter.empty and parameter.name != PICTURES:
            raise UserError(
                f"the reward {name!r} asks for {parameter.name!r}: it is called with an episode, "
                "and what else it takes has a number as its default"
            )

    def call(
        episode: Episode, parameters: Parameters, pictures: PictureSource | None = None
    ) -> Any:
        given: dict[str, Any] = {key: parameters[key] for key in defaults if key != FORMAT}
        return function(episode, **given, **({PICTURES: pictures} if wants else {}))

    summary = (inspect.getdoc(function) or "").partition("\n")[0]
    return Reward(name, summary, defaults, call, wants_pictures=wants)


def parameters_of(reward: Reward, parameters: Parameters) -> dict[str, float]:
    """Those of the parameters of several rewards that this one takes."""
    return {key: value for key, value in parameters.items() if key in reward.defaults}


def check_parameters(rewards: Iterable[Reward], parameters: Parameters) -> None:
    """See that each parameter is one of these rewards' and a number. `UserError` where not."""
    rewards = list(rewards)
    known = {key for reward in rewards for key in reward.defaults}
    for reward in rewards:
        unknown = {key: value for key, value in parameters.items() if key not in known}
        reward.complete({**parameters_of(reward, parameters), **unknown})


def check_reward(
    reward: str | Mapping[str, float], parameters: Parameters = MappingProxyType({})
) -> None:
    """See that there are such rewards with these parameters, as pydantic asks.

    Raises:
        ValueError: there are not; names the nearest.
    """
    try:
        check_parameters(map(get_reward, weighed(reward)), parameters)
    except UserError as error:
        raise ValueError(str(error)) from None


def weighed(reward: str | Mapping[str, float]) -> dict[str, float]:
    """Names of rewards, one or several, with their weights.

    Raises:
        UserError: a weight is no finite number, or no reward is named.
    """
    parts = {reward: 1.0} if isinstance(reward, str) else dict(reward)
    for name, weight in parts.items():
        if not _is_number(weight) or not math.isfinite(weight):
            raise UserError(f"the weight of the reward {name!r} is a finite number, not {weight!r}")
    if not parts:
        raise UserError(f"no reward is named. {nearest('', REWARDS)}")
    return parts


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def format_term(episode: Episode) -> float:
    """ARPO's: -1 if any turn's text was no action (cut off, not the grammar, unknown), else 0."""
    return -1.0 if any(turn.action_error in MALFORMED for turn in episode.turns) else 0.0


def _success(episode: Episode, parameters: Parameters) -> float:
    return float(episode.success)


def _completion(episode: Episode, parameters: Parameters) -> float:
    return float(episode.score)


def _efficiency(episode: Episode, parameters: Parameters) -> float:
    if not episode.success:
        return 0.0
    # What the episode knows itself is true of its task; the rest is for older records.
    most = episode.max_turns or int(parameters[MAX_TURNS]) or registry.spec(episode.task).max_steps
    spent = (episode.steps - 1) / (most - 1) if most > 1 else 0.0
    return 1.0 - parameters["slowness"] * min(1.0, max(0.0, spent))


def _shaped(episode: Episode, parameters: Parameters) -> float:
    errors = 1.0 - episode.valid_action_share if episode.turns else 0.0
    return (
        episode.score
        - parameters["errors"] * errors
        - parameters["repeats"] * _repeated(episode)
        - parameters["overrun"] * episode.ran_out_of_turns
    )


def _comprehensive(episode: Episode, parameters: Parameters) -> float:
    return (
        parameters["success"] * episode.success
        + parameters["completion"] * episode.score
        + parameters["efficiency"] * _efficiency(episode, parameters)
        + parameters["valid"] * episode.valid_action_share
        - parameters["repeats"] * _repeated(episode)
        - parameters["overrun"] * episode.ran_out_of_turns
    )


def _repeated(episode: Episode) -> float:
    return episode.consecutive_repeats / max(1, episode.steps)


def _known(*rewards: Reward) -> dict[str, Reward]:
    return {reward.name: reward for reward in rewards}


_TURNS = {MAX_TURNS: 0.0}

REWARDS: Mapping[str, Reward] = MappingProxyType(
    _known(
        Reward("success", "1 for a success, else 0.", {FORMAT: 0.0}, _success),
        Reward("completion", "The score: how much was done.", {FORMAT: 0.0}, _completion),
        Reward(
            "efficiency",
            "1 for a success at once, down to 1 - slowness for one in the last turn.",
            {FORMAT: 0.0, "slowness": 0.5, **_TURNS},
            _efficiency,
        ),
        Reward(
            "shaped",
            "The score, less for errors, for repeats without effect and for running out of turns.",
            {FORMAT: 0.0, "errors": 0.2, "repeats": 0.1, "overrun": 0.1},
            _shaped,
        ),
        Reward(
            "comprehensive",
            "A weighted sum of success, score, efficiency and valid actions, less the penalties.",
            {
                FORMAT: 0.0, "success": 0.5, "completion": 0.2, "efficiency": 0.2, "valid": 0.1,
                "slowness": 0.5, "repeats": 0.1, "overrun": 0.1, **_TURNS,
            },
            _comprehensive,
        ),
        Reward("arpo", "The score, less for a text that is no action.", {FORMAT: 0.5}, _completion),
    )
)  # fmt: skip
"""All rewards by name."""
