"""Plays an evaluation: its envs, its agent, and what is kept of it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ui_gym import extras
from ui_gym.dialects import get_dialect
from ui_gym.errors import UserError
from ui_gym_agents.agents import ScriptedAgent, make_agent
from ui_gym_agents.agents.agent import Agent, is_served
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest, schedule_for
from ui_gym_agents.engines.protocol import RequestLimits
from ui_gym_agents.episode import Episode
from ui_gym_agents.evaluation.evaluate import (
    EvaluationReport,
    goal_sensitivity,
    summarize,
    temperature,
    with_teams,
)
from ui_gym_agents.evaluation.plan import EvaluationPlan, EvaluationStage, requests, stages
from ui_gym_agents.evaluation.report.folder import evaluation_store, played
from ui_gym_agents.evaluation.report.render import write_reports
from ui_gym_agents.files import replacing
from ui_gym_agents.store import EpisodeStore
from ui_gym_agents.tasks.mix import make_envs
from ui_gym_agents.training import outcome
from ui_gym_agents.training.parts import (
    check_model,
    check_prompt,
    choose_device,
    choose_dtype,
    make_prompt,
)

Watch = Callable[[Iterable[Any], int], Iterable[Any]]
"""Passes an iterable of so many things on, and shows how far it is."""


@dataclass(frozen=True)
class FinishedEvaluation:
    """A finished evaluation; `files` are what was written, the film first."""

    report: EvaluationReport
    episodes: list[Episode]
    files: list[Path]


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
