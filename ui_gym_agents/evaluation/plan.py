"""What an evaluation plays: a fixed list of episodes; and how a finished run gives them.

Of each task these are the instances ``e0``, ``e1``..., each played as many times as there are
attempts. Which episode is which depends on nothing else, so that an evaluation that was killed is
continued by asking for the same again: only what is missing is played.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ui_gym.contract.arguments import check_viewport, choose, make_task
from ui_gym.contract.spec import FOREIGN, TEAMS
from ui_gym.contract.suite import MEMBER_TAG
from ui_gym.contract.task import SPLITS
from ui_gym.errors import UserError
from ui_gym_agents.agents import careless_options
from ui_gym_agents.agents.agent import SERVED, VENDORS, is_served
from ui_gym_agents.collecting.collector import EpisodeRequest
from ui_gym_agents.engines.protocol import RequestLimits
from ui_gym_agents.episode import Purpose
from ui_gym_agents.evaluation.evaluate import TokenPrices
from ui_gym_agents.seeds import derive_noise, evaluation_seed
from ui_gym_agents.tasks.mix import make_envs, members, reset_names, screen_size
from ui_gym_agents.tasks.sources import ENV_ARGUMENTS, TaskEntry, variants
from ui_gym_agents.training import checkpoint
from ui_gym_agents.training.settings import EnvSettings, PolicySettings, TaskSettings

LOADED: dict[str, Any] = {
    "dtype": "auto", "attention": "auto", "quantize": None, "max_pixels": None
}  # fmt: skip
"""How a model may be loaded, and the defaults."""


@dataclass(frozen=True)
class EvaluationPlan:
    """What is measured, and how."""

    tasks: tuple[TaskEntry, ...]
    arguments: dict[str, Any] = field(default_factory=dict)
    """Of every task, beside its own."""
    agent: str = "policy"
    """``policy``, ``oracle``, ``careless``, ``random``, ``scripted``, a served model as
    ``openai:MODEL@URL`` or as `VENDORS` are named, or a factory as ``module:name``, which is called
    with the envs' action space."""
    script: Path | None = None
    """The actions of the scripted agent, a turn a line."""
    model: str = "tiny-clerk"
    adapter: Path | None = None
    prompt: str = "auto"
    history: int | None = None
    history_drop: int | None = None
    max_new_tokens: int = 24
    dtype: str = "auto"
    attention: str = "auto"
    quantize: str | None = None
    max_pixels: int | None = None
    dialect: str = "cells"
    observation: str = "screenshot"
    device: str = "auto"
    max_steps: int | None = None
    episodes: int = 200
    """Instances of each task."""
    attempts: int = 1
    """Episodes of each instance."""
    greedy: bool = True
    seed: int = 0
    envs: int = 16
    workers: str = "threads"
    """What plays the envs, as `UIVectorEnv` takes it."""
    server_timeout: float = RequestLimits.timeout
    """Seconds that one attempt at an answer of a served model may take."""
    server_attempts: int = RequestLimits.attempts
    """How often an answer is asked for."""
    prices: TokenPrices | None = None
    """Of a served model's tokens."""
    protocol: str = ""
    """The name of the protocol that all this is of; empty if none."""
    out: Path | None = None

    def of_run(self, run: Path, split: str | None) -> EvaluationPlan:
        """These settings with a training run's tasks, model and newest checkpoint.

        Arguments of the tasks that are set here go before the run's own. `split` is whose
        parameters are drawn, whatever the run drew.

        Raises:
            UserError: it is no run, it has no checkpoint, or the checkpoint is damaged.
        """
        import yaml

        path = run / "config.yaml"
        if not path.is_file():
            raise UserError(f"{run} holds no run: {path} is not there")
        newest = checkpoint.latest(run / "checkpoints")
        if newest is None:
            raise UserError(f"{run} has no checkpoint yet")
        checkpoint.load(newest)  # verifies every file
        if not any((newest / name).is_file() for name in ("adapter_config.json", "config.json")):
            raise UserError(
                f"{newest} holds no weights of a model that is played here: the run's plugin keeps "
                f"them otherwise, and measures them itself: ui-gym-train --resume {run}"
            )
        config = yaml.safe_load(path.read_text())
        try:
            tasks = TaskSettings.model_validate(config["tasks"])
            env = EnvSettings.model_validate(config["env"])
            policy = PolicySettings.model_validate(config["policy"])
        except (ValidationError, KeyError, TypeError) as error:
            raise UserError(f"{path} is not the configuration of a run: {error}") from None
        lora = (newest / "adapter_config.json").is_file()
        return dataclasses.replace(
            self,
            tasks=tuple(
                dataclasses.replace(entry, split=choose(split, (*SPLITS, None), "split"), seeds=())
                for entry in variants(tasks.entries())
            ),
            arguments={**tasks.arguments, **self.arguments},
            model=policy.model if lora else str(newest),
            adapter=newest if lora else None,
            prompt=policy.prompt,
            history=policy.history,
            history_drop=policy.history_drop,
            max_new_tokens=policy.max_new_tokens,
            dtype=policy.dtype,
            attention=policy.attention,
            quantize=policy.quantize,
            max_pixels=policy.max_pixels,
            dialect=env.dialect,
            observation=env.observation,
            device=env.device,
            max_steps=env.max_steps,
        )

    def check(self) -> None:
        """Find what cannot be played, before anything is started.

        Raises:
            UserError: says what.
        """
        if self.samples and self.greedy and self.attempts > 1:
            raise UserError(
                "greedy answers make all attempts at an instance the same; add --sample to measure "
                "pass@k"
            )
        if (self.agent == "scripted") != (self.script is not None):
            raise UserError("the scripted agent needs --script FILE, and no other agent takes one")
        if self.agent.startswith(VENDORS):
            self._check_vendor()
        if self.prices is not None and not is_served(self.agent):
            raise UserError(
                f"tokens are counted by servers, and {self.agent} is none: leave --price-in and "
                "--price-out out"
            )
        if self.out is not None and find_spec("jinja2") is None:
            raise UserError("reports need jinja2; to get it: pip install 'ui-gym[agents]'")
        stages(self)

    def _check_vendor(self) -> None:
        from ui_gym_agents.agents.vendor import vendor_class

        vendor_class(self.agent).check(self.agent, self.dialect)
        if self.observation == "elements":
            raise UserError(
                f"{self.agent} calls tools that show pictures: ask for --observation screenshot "
                "or both"
            )

    @property
    def samples(self) -> bool:
        """Whether the agent is a model whose answers are sampled or greedy, as is asked for; a
        vendor's are always sampled."""
        return self.agent == "policy" or self.agent.startswith(SERVED)

    def asked(self) -> dict[str, Any]:
        """All that bears on an episode, as plain JSON values."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        if self.agent != "policy":
            of_policies = ("model", "adapter", "prompt", "history", "history_drop")
            for name in (*of_policies, "max_new_tokens", *LOADED):
                del values[name]
        if not self.samples:
            del values["greedy"]
        for name in (
            "episodes", "attempts", "envs", "workers", "server_timeout", "server_attempts",
            "prices", "out",
        ):  # fmt: skip
            del values[name]
        if not self.protocol:  # older evaluations can be continued
            del values["protocol"]
        for name, default in LOADED.items():
            # Left out where it is the default, so that older evaluations can be continued.
            if values.get(name) == default:
                values.pop(name, None)
        values["tasks"] = [entry.name for entry in self.tasks]
        return {k: str(v) if isinstance(v, Path) else v for k, v in values.items()}


@dataclass(frozen=True)
class EvaluationStage:
    """Tasks that one vector env plays: of one suite and one size of the screen."""

    entries: tuple[TaskEntry, ...]
    arguments: dict[str, Any]
    size: tuple[int, int]
    """(width, height) of the screen, pixels."""
    team: int = 1
    """How many agents play an episode together."""


def stages(settings: EvaluationPlan) -> list[EvaluationStage]:
    """How the tasks are played: as many together as can be.

    Raises:
        UserError: a task does not take an argument.
    """
    found: dict[str, EvaluationStage] = {}
    for entry in settings.tasks:
        arguments = dict(settings.arguments)
        foreign = entry.spec.suite == FOREIGN
        if len(settings.tasks) > 1 and (foreign or not getattr(entry.spec.load(), "levels", None)):
            arguments.pop("level", None)  # of a whole suite, it means the tasks that have levels
        own = {k: v for k, v in arguments.items() if k not in ENV_ARGUMENTS}
        asked = arguments.get("viewport")
        size, team = _screen(entry, {**own, **entry.arguments}, asked)
        # A suite as one env draws its tasks itself, and cannot be part of a mix; nor can others'.
        alone = entry.name if foreign or MEMBER_TAG in entry.spec.tags else ""
        key = repr((entry.spec.suite, size, sorted(arguments), alone))
        stage = found.get(key, EvaluationStage((), arguments, size, team))
        found[key] = dataclasses.replace(stage, entries=(*stage.entries, entry))
    return list(found.values())


def _screen(
    entry: TaskEntry, arguments: Mapping[str, Any], asked: Any
) -> tuple[tuple[int, int], int]:
    """The size of the screen, and how many agents play together."""
    if entry.spec.suite == FOREIGN:
        with closing(make_envs([entry], 1, arguments=arguments)) as one:
            return screen_size(one), 1
    if entry.spec.suite != TEAMS:
        size = make_task(entry.spec.id, arguments).viewport
        return (size if asked is None else check_viewport(asked)), 1
    env = entry.spec.load()(viewport=asked, **arguments)  # its browsers start at its first reset
    first, *others = env.possible_agents
    size = env.action_space(first).size
    env.close()
    return size, 1 + len(others)


def requests(settings: EvaluationPlan, stage: EvaluationStage) -> list[EpisodeRequest]:
    """The episodes of a stage, the same ones in every evaluation."""
    names = reset_names(stage.entries)
    found = []
    mistakes = _mistakes(stage) if settings.agent == "careless" else {}
    purpose = Purpose("evaluation", mode="greedy" if settings.greedy else "sampled")
    for entry in stage.entries:
        # Alone, a task's episodes are called as a training run calls those of its evaluations.
        prefix = f"{entry.name} " if len(settings.tasks) > 1 else ""
        count = min(settings.episodes, len(entry.seeds) or settings.episodes)
        for index in range(count):
            seed = entry.seeds[index] if entry.seeds else evaluation_seed(index)
            found += [
                EpisodeRequest(
                    seed=seed,
                    task="" if MEMBER_TAG in entry.spec.tags else names[entry.variant],
                    group=f"{prefix}e{index}",
                    member=member,
                    split=entry.split,
                    options=careless_options(
                        mistakes[entry.variant],
                        derive_noise(settings.seed, entry.variant, seed, member),
                    )
                    if mistakes
                    else {},
                    purpose=purpose,
                )
                for member in range(settings.attempts)
            ]
    return found


def _mistakes(stage: EvaluationStage) -> dict[str, tuple[str, ...]]:
    """The mistakes of each task of a stage. `UserError` where nothing is known of them."""
    for entry in stage.entries:
        if entry.spec.suite in (FOREIGN, TEAMS) or MEMBER_TAG in entry.spec.tags:
            raise UserError(f"{entry.spec.id} tells no mistakes of its own: ask for --agent oracle")
    tasks = members(stage.entries, stage.arguments)
    return {variant: task.mistakes for variant, task in tasks.items()}
