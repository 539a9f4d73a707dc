"""Playing the task files of a meta file: what is missing is played, by a queue over free slots."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, closing
from typing import Any

from ui_gym.contract.device import DevicePool
from ui_gym.dialects import get_dialect
from ui_gym.errors import DeviceError
from ui_gym_agents.agents.agent import Agent
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.evaluation.osworld.envs import make_envs
from ui_gym_agents.evaluation.osworld.looks import Marked, TextPrompt, UITarsPrompt
from ui_gym_agents.evaluation.osworld.plan import (
    TRAJECTORY_LENGTH,
    OSWorldOptions,
    PlannedTask,
    make_plan,
)
from ui_gym_agents.evaluation.osworld.recorder import TurnRecorder
from ui_gym_agents.evaluation.osworld.results import Results, TaskFolder
from ui_gym_agents.evaluation.osworld.scores import Score, Scores
from ui_gym_agents.evaluation.plan import EvaluationPlan, EvaluationStage
from ui_gym_agents.evaluation.play import Players, Watch
from ui_gym_agents.policy.prompts import PromptBuilder
from ui_gym_agents.policy.weights import resolve
from ui_gym_agents.store import EpisodeStore

REPLAYS = 1
"""How often a task is played again whose infrastructure failed, before it is left."""

PROBED_AFTER = 5
"""After so many failures of devices in a row it is tried whether there still is any."""

UNTOLD = (
    "result_dir",
    "num_envs",
    "domain",
    "trial_id",
    "test_all_meta_path",
    "test_config_base_dir",
)
"""Options that bear on no single result."""


def play(options: OSWorldOptions, watch: Watch, note: Callable[[str], None] = print) -> Scores:
    """Play every task that has no result yet, and give the scores of all.

    Args:
        options: What is measured, and where the results go.
        watch: Shows how far it is.
        note: Gets a line where something is worth to know.

    Raises:
        UserError: an option cannot be, or no task can be played.
        DeviceError: there is nothing to play on; what was played is kept.
    """
    settings = _settings(options)
    settings.check()
    plan = make_plan(options)
    results = Results(options.folder, options.trial_id)
    with results.held():
        _tell(options, results, note)
        folders = {item.key: results.task(item.key) for item in plan.items}
        waiting = [item for item in plan.items if folders[item.key].score is None]
        if len(waiting) < len(plan.items):
            note(f"{len(plan.items) - len(waiting)} of {len(plan.items)} tasks are there already")
        failed = dict.fromkeys((item.key for item in waiting), "it was not played")
        if waiting:
            with closing(_played(options, settings, waiting, folders)) as playing:
                for key, failure in watch(playing, len(waiting)):
                    failed[key] = failure
        return _scores(plan.items, folders, failed, plan.skipped)


def _scores(
    items: Sequence[PlannedTask],
    folders: Mapping[str, TaskFolder],
    failed: Mapping[str, str],
    skipped: Mapping[str, str],
) -> Scores:
    values = {item.key: folders[item.key].score for item in items}
    return Scores.of(
        [
            Score(item.domain, item.infeasible, value)
            for item in items
            if (value := values[item.key]) is not None
        ],
        {key: why for key, why in failed.items() if values[key] is None},
        skipped,
    )


def _played(
    options: OSWorldOptions,
    settings: EvaluationPlan,
    items: Sequence[PlannedTask],
    folders: Mapping[str, TaskFolder],
) -> Generator[tuple[str, str], None, None]:
    """Play; yields the key of each task when it is over, and its failure, if it has one."""
    size = (options.screen_width, options.screen_height)
    with ExitStack() as stack:
        envs, pool = make_envs(options, items)
        stack.callback(pool.close)
        stack.callback(envs.close)
        agent = Players(settings).agent(EvaluationStage((), {}, size), envs.single_action_space)
        if hasattr(agent, "close"):
            stack.callback(agent.close)
        _shape(agent, options)
        seen = Marked(agent) if options.observation_type == "som" else agent
        recorder = TurnRecorder(
            seen,
            {item.seed: folders[item.key] for item in items},
            options.action_space,
            size,
        )
        stack.callback(recorder.close)
        store = EpisodeStore()
        collector = Collector(
            envs, recorder, run_seed=options.seed, store=store, max_requeues=REPLAYS
        )
        in_a_row = 0
        for episode in collector.episodes([_request(item) for item in items]):
            recorder.finish(episode, store.screenshots.get(episode.final_screenshot_id))
            store.screenshots.clear()  # all that is kept is in the folder
            yield episode.group, episode.failure or ""
            in_a_row = in_a_row + 1 if (episode.failure or "").startswith("device: ") else 0
            if in_a_row and in_a_row % PROBED_AFTER == 0:
                _probe(pool, in_a_row)


def _probe(pool: DevicePool, failures: int) -> None:
    """Try whether a device can be had: the tasks may as well lack their programs."""
    try:
        pool.release(pool.acquire(), healthy=True)
    except DeviceError as error:
        raise DeviceError(
            f"the last {failures} tasks failed by the device's fault, and none can be had: {error} "
            "(asked for again, the evaluation goes on)"
        ) from error


def _request(item: PlannedTask) -> EpisodeRequest:
    return EpisodeRequest(item.seed, task=item.key, group=item.key)


def _settings(options: OSWorldOptions) -> EvaluationPlan:
    """As `ui-gym-eval` has them, where an agent is made by them."""
    return EvaluationPlan(
        tasks=(),
        agent=options.agent,
        script=options.script,
        model=options.model,
        adapter=options.adapter,
        history=_history(options),
        max_new_tokens=options.max_tokens,
        dialect=options.action_space,
        observation="both" if options.shows_elements else "screenshot",
        greedy=options.temperature == 0,
    )


def _history(options: OSWorldOptions) -> int | None:
    """The most pictures of a prompt; None for a model that says itself how it was trained."""
    if options.max_trajectory_length is not None:
        return max(1, options.max_trajectory_length)
    if options.agent == "policy" and PromptBuilder.of(resolve(options.model)) is not None:
        return None
    return TRAJECTORY_LENGTH


def _shape(agent: Agent, options: OSWorldOptions) -> None:
    """Ask an agent that has a prompt as the options say."""
    model: Any = agent
    if hasattr(model, "temperature"):
        model.temperature = options.temperature
    if _is_served(agent):
        model.top_p = options.top_p
        model.max_new_tokens = options.max_tokens
        model.prompt = _prompt(options)
    if options.observation_type == "a11y_tree" and hasattr(model, "prompt"):
        model.prompt = TextPrompt(**dataclasses.asdict(model.prompt))


def _is_served(agent: Agent) -> bool:
    """Whether the agent asks a served model, by whatever name it was made."""
    try:
        from ui_gym_agents.agents.openai_chat import OpenAIAgent
    except ModuleNotFoundError:
        return False  # nobody can have made one
    return isinstance(agent, OpenAIAgent)


def _prompt(options: OSWorldOptions) -> PromptBuilder:
    """How a served model is asked."""
    size = (options.screen_width, options.screen_height)
    words = get_dialect(options.action_space).prompt(size, elements=options.shows_elements)
    history = _history(options) or 1
    if options.action_space.startswith("uitars"):
        return UITarsPrompt(words, history=history, system="You are a helpful assistant.")
    return PromptBuilder(words, history=history)


def _tell(options: OSWorldOptions, results: Results, note: Callable[[str], None]) -> None:
    """Write down what is asked for; say what is otherwise than for the results that are there."""
    asked, before = options.to_json(), results.arguments()
    if before is not None:
        told = [name for name in asked if name not in UNTOLD]
        changed = [name for name in told if asked[name] != before.get(name, asked[name])]
        if changed:
            listed = ", ".join(f"{name} {before[name]!r}, now {asked[name]!r}" for name in changed)
            note(f"the results in {results.folder} were asked for with {listed}")
    results.write_arguments(asked)
