"""What one evaluation needs: envs, an agent, and episodes; and how a finished run gives them.

An evaluation is a fixed list of episodes: of each task the instances ``e0``, ``e1``..., each played
as many times as there are attempts. Which episode is which depends on nothing else, so that one
that was killed is continued by asking for the same again: only what is missing is played.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ui_gym import extras
from ui_gym.contract.arguments import check_viewport, choose, make_task
from ui_gym.contract.spec import FOREIGN, TEAMS
from ui_gym.contract.suite import MEMBER_TAG
from ui_gym.contract.task import SPLITS
from ui_gym.dialects import get_dialect
from ui_gym.errors import UserError
from ui_gym_agents.agents import ScriptedAgent, careless_options, make_agent
from ui_gym_agents.agents.agent import SERVED, VENDORS, Agent, is_served
from ui_gym_agents.collecting.collector import (
    Collector,
    EpisodeRequest,
    schedule_for,
)
from ui_gym_agents.engines.protocol import RequestLimits
from ui_gym_agents.episode import Episode, Purpose
from ui_gym_agents.evaluation.evaluate import (
    EvaluationReport,
    TokenPrices,
    goal_sensitivity,
    summarize,
    temperature,
    with_teams,
)
from ui_gym_agents.evaluation.report.folder import evaluation_store, played
from ui_gym_agents.evaluation.report.render import write_reports
from ui_gym_agents.files import replacing
from ui_gym_agents.seeds import derive_noise, evaluation_seed
from ui_gym_agents.store import EpisodeStore
from ui_gym_agents.tasks.mix import make_envs, members, reset_names, screen_size
from ui_gym_agents.tasks.sources import ENV_ARGUMENTS, TaskEntry, variants
from ui_gym_agents.training import checkpoint, outcome
from ui_gym_agents.training.parts import (
    check_model,
    check_prompt,
    choose_device,
    choose_dtype,
    make_prompt,
)
from ui_gym_agents.training.settings import EnvSettings, PolicySettings, TaskSettings

Watch = Callable[[Iterable[Any], int], Iterable[Any]]
"""Passes an iterable of so many things on, and shows how far it is."""


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


@dataclass(frozen=True)
class FinishedEvaluation:
    """A finished evaluation; `files` are what was written, the film first."""

    report: EvaluationReport
    episodes: list[Episode]
    files: list[Path]


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


def play(
    settings: EvaluationPlan, watch: Watch, note: Callable[[str], None] = print
) -> FinishedEvaluation:
    """Play and measure; with a folder to write to, also keep the episodes and the reports.

    Args:
        watch: Shows how far it is.
        note: Gets a line where an earlier evaluation is continued.

    Raises:
        UserError: nothing of it was played.
    """
    settings.check()
    with evaluation_store(settings.out, settings.asked()) as store:
        players = Players(settings)
        plan = [(stage, requests(settings, stage)) for stage in stages(settings)]
        done = played(store)
        wanted = [request.id for _, asked in plan for request in asked]
        missing = sum(id not in done for id in wanted)
        if missing < len(wanted):
            note(f"{len(wanted) - missing} of {len(wanted)} episodes are there already")

        def fresh() -> Generator[Episode, None, None]:
            for stage, asked in plan:
                absent = [request for request in asked if request.id not in done]
                yield from _play(settings, stage, absent, store, players)

        with closing(fresh()) as playing:  # Ctrl-C closes the envs now, not some time later
            done |= {episode.id: episode for episode in watch(playing, missing)}
        episodes = [done[id] for id in wanted]
        sensitivity = players.sensitivity(
            [(stage, [done[request.id] for request in asked]) for stage, asked in plan], store
        )
        report = summarize(
            episodes, greedy=settings.greedy, sensitivity=sensitivity, prices=settings.prices
        )
        return FinishedEvaluation(report, episodes, _keep(settings, store, report, episodes))


def _play(
    settings: EvaluationPlan,
    stage: EvaluationStage,
    asked: list[EpisodeRequest],
    store: EpisodeStore,
    players: Players,
) -> Iterator[Episode]:
    """Play the episodes that are asked for; without any, nothing is started."""
    if not asked:
        return
    limit: dict[str, Any] = {} if settings.max_steps is None else {"max_steps": settings.max_steps}
    envs = make_envs(
        stage.entries,
        slots_for(min(settings.envs, len(asked) * stage.team), stage.team),
        arguments=stage.arguments,
        workers=settings.workers,
        device=settings.device,
        dialect=settings.dialect,
        observation=settings.observation,
        **limit,
    )
    with ExitStack() as stack:
        stack.callback(envs.close)
        agent = players.agent(stage, envs.single_action_space)
        if settings.agent != "policy" and hasattr(agent, "close"):
            stack.callback(agent.close)
        schedule = schedule_for(agent)
        collector = Collector(envs, agent, run_seed=settings.seed, store=store, schedule=schedule)
        with temperature(agent, 0.0 if settings.greedy else None):
            # A team succeeds or fails as one: its first agent's episode stands for all.
            wanted = {request.id for request in asked}
            for episode in collector.episodes(with_teams(asked, stage.team)):
                if episode.id in wanted:
                    yield episode


def slots_for(wanted: int, team: int) -> int:
    """About as many slots as are wanted, in whole teams."""
    return max(1, wanted // team) * team


class Players:
    """The agent of an evaluation, for one stage after the other; a model is loaded once."""

    def __init__(self, settings: EvaluationPlan) -> None:
        self._settings = settings
        self._policy: Any = None

    def agent(self, stage: EvaluationStage, action_space: Any) -> Agent:
        """The agent that plays a stage."""
        name = self._settings.agent
        if name == "policy":
            policy: Agent = self._ask_policy(stage)
            return policy
        if self._settings.script is not None:
            return ScriptedAgent(_script(self._settings.script))
        if ":" in name and not is_served(name):
            return _factory(name)(action_space)
        settings = self._settings
        return make_agent(
            name,
            action_space,
            RequestLimits(settings.server_timeout, attempts=settings.server_attempts),
            suite=stage.entries[0].spec.suite if stage.entries else "desktop",  # OSWorld's files
            elements=settings.observation != "screenshot",
        )

    def sensitivity(
        self, parts: list[tuple[EvaluationStage, list[Episode]]], store: EpisodeStore
    ) -> float | None:
        """The goal sensitivity of a policy: the mean over stages; None for other agents."""
        if self._settings.agent != "policy":
            return None
        found = []
        for stage, episodes in parts:
            policy = self._ask_policy(stage)
            with temperature(policy, 0.0 if self._settings.greedy else None):
                found.append(goal_sensitivity(policy, episodes, store.screenshots))
        known = [rate for rate in found if rate is not None]
        return sum(known) / len(known) if known else None

    def _ask_policy(self, stage: EvaluationStage) -> Any:
        """The model, asked as is right for the stage's screen and dialect."""
        from ui_gym_agents.policy import load_policy
        from ui_gym_agents.policy.options import check_points

        settings = self._settings
        check_points(settings.dialect, stage.size, settings.max_pixels)
        if self._policy is None:
            check_model(settings.model, settings.observation)
            device = choose_device()
            self._policy = load_policy(
                settings.model,
                adapter=settings.adapter,
                max_new_tokens=settings.max_new_tokens,
                dtype=choose_dtype(device) if settings.dtype == "auto" else settings.dtype,
                attention=settings.attention,
                quantize=settings.quantize,
                max_pixels=settings.max_pixels,
                device=device,
            )
        elements = settings.observation != "screenshot"
        self._policy.prompt = make_prompt(
            settings.model,
            settings.prompt,
            settings.history,
            lambda: get_dialect(settings.dialect).prompt(stage.size, elements=elements),
            settings.history_drop,
        )
        check_prompt(self._policy.prompt, settings.observation)
        return self._policy


def _script(path: Path) -> list[str]:
    try:
        return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"the script {path} cannot be read: {error}") from error


def _factory(name: str) -> Callable[[Any], Agent]:
    """What ``module:name`` names."""
    found = extras.named(f"the agent {name!r}", name, UserError)
    if not callable(found):
        raise UserError(f"{name!r} is no class or function that makes an agent")
    return found  # type: ignore[no-any-return]


def _keep(
    settings: EvaluationPlan, store: EpisodeStore, report: EvaluationReport, episodes: list[Episode]
) -> list[Path]:
    """Write the reports, and the film of the worst episode."""
    if settings.out is None:
        return []
    asked = {
        **settings.asked(),
        "instances of each task": settings.episodes,
        "episodes of each instance": settings.attempts,
    }
    files = write_reports(
        settings.out, report, episodes, store, dialect=settings.dialect, asked=asked
    )
    filmed = [e for e in episodes if e.turns and e.failure is None and e.final_screenshot_id]
    if not filmed:
        return files
    worst = min(filmed, key=lambda e: e.score)
    path = settings.out / "film.png"
    ending = "success" if worst.success else "failure"
    film = outcome.film(worst, store, settings.dialect, f"{worst.goal} - {ending}")
    with replacing(path) as part:
        film.save(part, "PNG")
    return [path, *files]
