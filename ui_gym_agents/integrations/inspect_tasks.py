"""Tasks for Inspect: ``inspect eval ui_gym/browser --model ...``, and so android, desktop, osworld.

A sample is an instance that ``ui-gym-eval`` plays, and its score is the env's. Models act by a tool
that has the name and the arguments of Inspect's own computer tool, so that Inspect puts each
vendor's in its place.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from inspect_ai import Task, task
from inspect_ai.agent import AgentPrompt, AgentState, AgentSubmit, react
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, Content, ContentImage, ContentText, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, ToolCallModelInput, ToolDef, ToolError, ToolResult, tool
from inspect_ai.tool import computer as own_computer

from ui_gym.catalog import TaskSource
from ui_gym.contract.action import Answer, Finish, Open, Outcome
from ui_gym.contract.arguments import choose
from ui_gym.contract.mix import Mix
from ui_gym.contract.task import SPLITS, Split
from ui_gym.contract.task import Task as UITask
from ui_gym.errors import ActionError, UserError, nearest
from ui_gym.playing.env import UIEnv
from ui_gym_agents.evaluation.osworld.plan import OSWorldOptions, PlannedTask, make_plan
from ui_gym_agents.integrations.episodes import needs
from ui_gym_agents.integrations.inspect_episode import DIALECT, SampleEnvs, episode_of
from ui_gym_agents.seeds import evaluation_seed
from ui_gym_agents.tasks.mix import members
from ui_gym_agents.tasks.sources import ENV_ARGUMENTS, TaskEntry, entries_of

KNOWN = ("0.3.270", "0.4")
"""From which version of inspect_ai on, and before which, this was written: older ones have another
computer tool."""

INSTRUCTIONS = """You use a {what} through its screen: look at the picture, and act by the tool \
`computer`. A coordinate is [x, y] in whole pixels of the picture, from its top left corner. You \
are shown what came of each call, so that you need not ask for a screenshot, and there is a limit \
to calls. Once all is done, call `submit`, with the answer if the goal asks for one."""
ON_PHONES = """ The keys back, home and recents are the phone's; `open_app` opens an app by its \
name."""

F = TypeVar("F", bound=Callable[..., Any])
Names = str | Sequence[str]
"""Inspect's command makes a list of what has commas."""

logger = logging.getLogger(__name__)


def ours(function: F) -> F:
    """Have Inspect call it ``ui_gym/...``, as what people install is called."""
    function.__module__ = "ui_gym"
    return function


@task
@ours
def browser(
    tasks: Names | None = None,
    split: Split | None = "heldout",
    n: int = 4,
    seed: int = 0,
    max_screenshots: int | None = 3,
    max_steps: int | None = None,
    device: Names = "auto",
    observation: str = "screenshot",
    envs: int = 8,
    **arguments: Any,
) -> Task:
    """Web pages in Chromium, made and judged here.

    Args:
        tasks: Ids or names; those of UI/Browser-v0 if None.
        split: train, heldout or None for both.
        n: Instances of each task.
        seed: The number of the first of them, in the list that ``ui-gym-eval`` plays.
        max_screenshots: Pictures that a model is shown again, beside the first; None: all.
        max_steps: Calls until an episode is cut; each task's own if None.
        device: What is played on, as ``gym.make`` takes it.
        observation: screenshot, elements or both.
        envs: How many are open at once; more samples than these wait for each other.
        arguments: Of the tasks, such as ``level`` or ``compact``.
    """
    how = HowPlayed(max_screenshots, max_steps, device, observation, envs)
    return _suite("browser", "UI/Browser-v0", tasks, split, n, seed, how, arguments)


@task
@ours
def android(
    tasks: Names | None = None,
    split: Split | None = "heldout",
    n: int = 4,
    seed: int = 0,
    max_screenshots: int | None = 3,
    max_steps: int | None = None,
    device: Names = "auto",
    observation: str = "screenshot",
    envs: int = 8,
    **arguments: Any,
) -> Task:
    """Apps of a phone: the built-in one, or phones by ADB. Arguments as of `browser`."""
    how = HowPlayed(max_screenshots, max_steps, device, observation, envs)
    return _suite("android", "UI/Android-v0", tasks, split, n, seed, how, arguments)


@task
@ours
def desktop(
    tasks: Names | None = None,
    split: Split | None = "heldout",
    n: int = 4,
    seed: int = 0,
    max_screenshots: int | None = 3,
    max_steps: int | None = None,
    device: Names = "auto",
    observation: str = "screenshot",
    envs: int = 8,
    **arguments: Any,
) -> Task:
    """Programs of a Linux desktop. Arguments as of `browser`."""
    how = HowPlayed(max_screenshots, max_steps, device, observation, envs)
    return _suite("desktop", "UI/Desktop-v0", tasks, split, n, seed, how, arguments)


@task
@ours
def osworld(
    tasks: Names | None = None,
    meta: str | None = None,
    domain: str = "all",
    max_screenshots: int | None = 3,
    max_steps: int | None = None,
    device: Names = "auto",
    observation: str = "screenshot",
    envs: int = 8,
    **arguments: Any,
) -> Task:
    """OSWorld's task files, each of which has one instance.

    Args:
        tasks: Their ids, or ``domain/id``; all of `meta` if None.
        meta: OSWorld's ``test_all.json``, beside ``examples``; our own task files if None.
        domain: Only those of this domain.
        max_screenshots: As of `browser`, and so the rest.
        device: The machines, as ``osworld:http://one:5000,http://two:5000``; by default what the
            files are meant for, or a desktop here.
    """
    check_version()
    plan = make_plan(
        OSWorldOptions(
            result_dir=Path(), test_all_meta_path=None if meta is None else Path(meta),
            domain=domain, arguments=arguments,
        )
    )  # fmt: skip
    for key, why in plan.skipped.items():
        logger.warning("%s cannot be played: %s", key, why)
    items = _chosen(plan.items, _listed(tasks))
    kinds = {getattr(item.task, "file").device or "auto" for item in items}  # noqa: B009
    if device == "auto" and len(kinds) > 1:
        raise UserError(
            f"these task files are meant for different devices ({', '.join(sorted(kinds))}): name "
            "the machines by device=, or choose among them by domain="
        )
    samples = [_sample(item.key, item.key, item.task, item.seed, None) for item in items]
    how = HowPlayed(max_screenshots, max_steps, device, observation, envs)
    return _made("desktop", {item.key: item.task for item in items}, samples, how, {})


def computer(max_screenshots: int | None = 3) -> Tool:
    """The computer tool, for solvers of your own: it plays the episode of the present sample.

    Args:
        max_screenshots: How many of its pictures a model is shown again; None: all.
    """

    @tool(name="computer", model_input=_newest(max_screenshots))
    def made() -> Tool:
        async def execute(
            action: str | None = None,
            coordinate: list[int] | None = None,
            duration: float | None = None,
            region: list[int] | None = None,
            scroll_amount: int | None = None,
            scroll_direction: Literal["up", "down", "left", "right"] | None = None,
            start_coordinate: list[int] | None = None,
            text: str | None = None,
            repeat: int | None = None,
            press_enter: bool | None = None,
            actions: list[dict[str, object]] | None = None,
        ) -> ToolResult:
            """Use the mouse and the keyboard, and see the screen after it.

            Args:
                action: key, hold_key, type, mouse_move, left_mouse_down, left_mouse_up, left_click,
                    left_click_drag, right_click, middle_click, double_click, triple_click, scroll,
                    wait, screenshot, zoom or navigate.
                coordinate: [x, y] in pixels: where to click, move, scroll or drag to. Without it,
                    a click is where the pointer is.
                duration: Seconds to wait, or to hold a key.
                region: [x0, y0, x1, y1], what to zoom into.
                scroll_amount: Notches of the wheel, of 100 pixels each.
                scroll_direction: The side of which more is to be shown.
                start_coordinate: [x, y] where a drag begins.
                text: What to type, the key or chord to press as xdotool calls it ("Return",
                    "ctrl+a"), keys to hold in a click, or the address to navigate to.
                repeat: How often to press the key, 1 to 100.
                press_enter: Whether to press Enter after what is typed.
                actions: Several actions to do one after the other, each an object with the
                    arguments above.
            """
            given = {
                "action": action, "coordinate": coordinate, "duration": duration, "region": region,
                "scroll_amount": scroll_amount, "scroll_direction": scroll_direction,
                "start_coordinate": start_coordinate, "text": text, "repeat": repeat,
                "press_enter": press_enter, "actions": actions,
            }  # fmt: skip
            return cast(ToolResult, await episode_of().use(given))

        return execute

    return made()


@tool
@ours
def submit() -> Tool:
    """Ends the episode of the present sample, for solvers of your own."""

    async def execute(
        answer: str = "", outcome: Literal["success", "failure", "infeasible"] = "success"
    ) -> ToolResult:
        """Say that the task is done, or that it cannot be.

        Args:
            answer: What the goal asks for; empty if it asks for nothing.
            outcome: success, failure (you give up) or infeasible (nobody could do it).
        """
        episode = episode_of()
        if not episode.over:
            try:
                ending = _ending(answer, outcome)
            except ActionError as error:
                raise ToolError(str(error)) from None
            await episode.act(ending)
        return answer

    return execute


@tool
@ours
def open_app() -> Tool:
    """Opens apps of phones, for solvers of your own."""

    async def execute(name: str) -> ToolResult:
        """Open an app.

        Args:
            name: Its name, such as Settings.
        """
        episode = episode_of()
        if not episode.over:
            try:
                opening = Open(name)
            except ActionError as error:
                raise ToolError(str(error)) from None
            await episode.act(opening)
        return cast(ToolResult, episode.shown())

    return execute


@scorer(metrics=[mean(), stderr()])
@ours
def env_score() -> Scorer:
    """The env's score, 0 to 1. An episode without one, since its device failed, is an error."""

    async def judge(state: TaskState, target: Target) -> Score:
        info = await episode_of(state.store).finish()
        known = ("success", "task", "seed", "split", "step", "max_steps")
        return Score(
            value=float(info["score"]),
            answer=state.output.completion,
            explanation=info["notes"] or None,
            metadata={name: info[name] for name in known},
        )

    return judge


def check_version() -> None:
    """`UserError` where inspect_ai is none that this was written for.

    Where only its computer tool has changed, a line of the log says what that costs.
    """
    needs("inspect_ai", *KNOWN, "inspect")
    theirs, here = (
        set(ToolDef(each).parameters.properties) for each in (own_computer(), computer())
    )
    if theirs != here:
        logger.warning(
            "inspect_ai %s has a computer tool with other arguments (%s): models are offered ours "
            "as it is, and not their vendor's own",
            version("inspect_ai"), ", ".join(sorted(theirs ^ here)),
        )  # fmt: skip


@dataclass(frozen=True)
class HowPlayed:
    """What the tasks' arguments of these names say."""

    max_screenshots: int | None
    max_steps: int | None
    device: Names
    observation: str
    envs: int


def _suite(
    suite: str,
    whole: str,
    tasks: Names | None,
    split: Split | None,
    n: int,
    seed: int,
    how: HowPlayed,
    arguments: Mapping[str, Any],
) -> Task:
    """Instances of a suite's tasks, those of the env `whole` if none are named."""
    check_version()
    if n < 1 or seed < 0:
        raise UserError(f"n is 1 or more, and seed 0 or more; not {n!r} and {seed!r}")
    choose(split, (*SPLITS, None), "split")
    entries = entries_of(TaskSource(ids=_listed(tasks) or (whole,)), split=split)
    for entry in entries:
        if entry.spec.suite != suite:
            raise UserError(f"{entry.spec.id} is a task of ui_gym/{entry.spec.suite}, not {suite}")
    played = members(entries, arguments)
    seeds = [evaluation_seed(index) for index in range(seed, seed + n)]
    samples = [
        _sample(f"{entry.spec.name}/{one}", entry.variant, played[entry.variant], one, entry)
        for entry in entries
        for one in seeds
    ]
    shared = {name: value for name, value in arguments.items() if name in ENV_ARGUMENTS}
    return _made(suite, played, samples, how, shared)


def _sample(
    id: str, play: str, played: UITask[Any, Any], seed: int, entry: TaskEntry | None
) -> Sample:
    split = None if entry is None else entry.split
    return Sample(
        id=id,
        input=played.goal(played.draw(seed, split)),
        metadata={"task": played.spec.id, "play": play, "seed": seed, "split": split},
    )


def _made(
    suite: str,
    played: Mapping[str, UITask[Any, Any]],
    samples: Iterable[Sample],
    how: HowPlayed,
    arguments: Mapping[str, Any],
) -> Task:
    if how.envs < 1:
        raise UserError(f"envs is 1 or more, not {how.envs!r}")
    device = ",".join(_listed(how.device, "device"))
    env = UIEnv(
        Mix(played), device=device, dialect=DIALECT, observation=how.observation, split=None,
        max_steps=how.max_steps, **arguments,
    )  # fmt: skip
    envs = SampleEnvs(env, device, how.envs)
    phone = suite == "android"
    told = INSTRUCTIONS.format(what="phone" if phone else "computer")
    return Task(
        dataset=MemoryDataset(list(samples), name=f"ui_gym_{suite}"),
        setup=_begin(envs),
        solver=react(
            prompt=AgentPrompt(told + ON_PHONES * phone, None, None, None),
            tools=[computer(how.max_screenshots), *([open_app()] if phone else [])],
            submit=AgentSubmit(tool=submit()),
            on_continue=_go_on,
        ),
        cleanup=envs.close,
        scorer=env_score(),
    )


def _begin(envs: SampleEnvs) -> Solver:
    """Begins the episode, and shows the model its screen."""

    @solver(name="begin")
    def made() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            episode = await envs.open(state, get_model())
            width, height = episode.screen.frame or episode.screen.size
            goal = f"{episode.chat.view.goal}\n\nThe picture is {width} x {height} pixels."
            asked: list[Content] = [ContentText(text=goal), *episode.shown()]
            state.messages = [*state.messages[:-1], ChatMessageUser(content=asked)]
            return state

        return solve

    return made()


async def _go_on(state: AgentState) -> bool | str:
    """Whether there is a next turn, and what is said in it.

    What went wrong is said here too, for OpenAI's computer tool takes no words.
    """
    episode = episode_of()
    wrong = await episode.end_turn()
    if episode.over:
        return False
    return (wrong or True) if state.output.message.tool_calls else True


def _newest(count: int | None) -> ToolCallModelInput | None:
    """Leaves the pictures of the newest `count` results to the model."""
    if count is None:
        return None

    def model_input(
        index: int, total: int, content: str | list[Content], hints: Any
    ) -> str | list[Content]:
        if isinstance(content, str) or total - index <= count:
            return content
        gone = ContentText(text="(This picture of the screen is shown no more.)")
        return [gone if isinstance(part, ContentImage) else part for part in content]

    return model_input


def _ending(answer: str, outcome: Outcome) -> Answer | Finish:
    return Answer(answer) if answer and outcome == "success" else Finish(outcome, answer)


def _chosen(items: Sequence[PlannedTask], names: tuple[str, ...]) -> list[PlannedTask]:
    known = {name: item for item in items for name in (item.id, item.key)}
    for name in names:
        if name not in known:
            raise UserError(f"there is no task file {name!r}. {nearest(name, known)}")
    return [known[name] for name in names] or list(items)


def _listed(names: Any, what: str = "tasks") -> tuple[str, ...]:
    """Names, in a list or with commas."""
    several = names.split(",") if isinstance(names, str) else names or ()
    if isinstance(several, Mapping) or not all(isinstance(name, str) for name in several):
        raise UserError(f"{what} is a name or several, as in -T {what}=ONE,TWO; not {names!r}")
    return tuple(name.strip() for name in several)
