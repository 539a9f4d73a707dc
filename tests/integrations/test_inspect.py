"""Inspect plays our tasks, by mock models: its own loop, its tools, its errors."""

from __future__ import annotations

import itertools
import json
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="tox -e inspect")

import anyio
import psutil
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai import eval_async as evaluate_async
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ContentImage,
    Model,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.tool import ToolCall, ToolDef, ToolInfo
from inspect_ai.tool import computer as own_computer

from ui_gym.catalog import TaskSource
from ui_gym.dialects.jsonish import read_objects
from ui_gym.errors import UserError
from ui_gym_agents.agents import OracleAgent
from ui_gym_agents.evaluation.plan import EvaluationPlan
from ui_gym_agents.evaluation.play import play
from ui_gym_agents.integrations import episodes, inspect_tasks
from ui_gym_agents.integrations.inspect_episode import FRAME, assumed_screen, episode_of
from ui_gym_agents.tasks.sources import entries_of

Call = tuple[str, dict[str, Any]]
USAGE = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # else Inspect counts tokens


def says(text: str = "", *calls: Call) -> ModelOutput:
    numbers = itertools.count()
    made = [ToolCall(id=str(next(numbers)), function=f, arguments=given) for f, given in calls]
    message = ChatMessageAssistant(content=text, tool_calls=made or None)
    reason = "tool_calls" if calls else "stop"
    choice = ChatCompletionChoice(message=message, stop_reason=reason)
    return ModelOutput(model="mock", choices=[choice], usage=USAGE)


def model(answer: Callable[[], Any]) -> Model:
    return get_model("mockllm/model", custom_outputs=lambda *_: answer(), memoize=False)


def oracle() -> ModelOutput:
    """Calls the tools as the oracle of the sample's episode says."""
    said = read_objects(episode_of().chat.info["oracle"]["action_text"], "")
    if said[0].get("type") != "tool_use":
        return says("", ("computer", said[0] if len(said) == 1 else {"actions": said}))
    name, given = said[0]["name"], said[0]["input"]
    return says(
        "",
        {
            "answer": ("submit", {"answer": given.get("text")}),
            "finish": ("submit", {"outcome": given.get("outcome")}),
            "open": ("open_app", {"name": given.get("target")}),
        }[name],
    )


def click_button(n: int = 1, **given: Any) -> Task:
    return inspect_tasks.browser(tasks="ClickButton", compact=True, n=n, **given)


def run(
    tmp_path: Path, task: Task, answer: Callable[[], Any], asked: Any = None, **given: Any
) -> EvalLog:
    for sample in task.dataset:
        assert sample.metadata is not None
        sample.metadata["options"] = {} if asked is None else {"oracle": asked}
    played = {"display": "none", "log_dir": str(tmp_path), "max_samples": 3} | given
    (log,) = evaluate(task, model=model(answer), **played)
    return log


def samples(log: EvalLog) -> list[EvalSample]:
    assert log.samples is not None
    return log.samples


def only(log: EvalLog) -> EvalSample:
    (sample,) = samples(log)
    return sample


def browsers() -> list[psutil.Process]:
    return [p for p in psutil.Process().children(recursive=True) if "chrom" in p.name()]


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    """No browser, no X server, no shell that stands before one."""
    before = psutil.Process().children(recursive=True)
    yield
    after = [p for p in psutil.Process().children(recursive=True) if p not in before]
    assert [p.cmdline() for p in after if p.status() != psutil.STATUS_ZOMBIE] == []


@pytest.mark.parametrize("asked", [True, {"lookalike": 0.5, "neighbour": 0.4}])
def test_scores_are_those_of_our_own_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: Any
) -> None:
    log = run(tmp_path, click_button(8), oracle, asked)
    made = types.ModuleType("inspect_agents")
    made.agent = lambda space: OracleAgent(None if asked is True else asked)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "inspect_agents", made)
    plan = EvaluationPlan(
        tasks=tuple(entries_of(TaskSource(ids=("ClickButton",)), split="heldout")),
        arguments={"compact": True}, agent="inspect_agents:agent", dialect="anthropic",
        episodes=8, envs=3,
    )  # fmt: skip
    own = play(plan, lambda steps, total: steps)
    scores = {s.id: (s.scores or {})["env_score"].value for s in samples(log)}
    assert scores == {f"ClickButton/{e.seed}": e.score for e in own.episodes}
    assert log.results is not None
    metrics = log.results.scores[0].metrics
    assert metrics["mean"].value == own.report.total.score
    assert "stderr" in metrics
    assert (asked is True) == (own.report.total.score == 1.0)


def test_a_phones_apps_are_opened_and_its_answers_submitted(tmp_path: Path) -> None:
    task = inspect_tasks.android(tasks=["AndroidEventQuery", "AndroidOpenApp"], n=1)
    log = run(tmp_path, task, oracle, True)
    assert [(s.scores or {})["env_score"].value for s in samples(log)] == [1.0, 1.0]
    used = {e.function for s in samples(log) for e in s.events if e.event == "tool"}
    assert {"computer", "submit"} <= used


def test_the_tool_is_what_vendors_put_their_own_in_place_of() -> None:
    from inspect_ai.tool._tools._computer import is_computer_tool_info

    found = ToolDef(inspect_tasks.computer())
    told = ToolInfo(name=found.name, description="", parameters=found.parameters)
    assert is_computer_tool_info(told)
    assert not found.parallel


def test_the_model_sees_the_goal_the_screen_and_the_newest_pictures(tmp_path: Path) -> None:
    shown = []

    def look(messages: Any, *_: Any) -> ModelOutput:
        parts = [p for m in messages if isinstance(m.content, list) for p in m.content]
        shown.append(sum(isinstance(part, ContentImage) for part in parts))
        return says("", ("computer", {"action": "wait", "duration": 0}))

    mock = get_model("mockllm/model", custom_outputs=look, memoize=False)
    task = click_button(max_screenshots=1, max_steps=4)
    (log,) = evaluate(task, model=mock, display="none", log_dir=str(tmp_path))
    assert shown == [1, 2, 2, 2]
    first = only(log).messages[1]
    assert str(only(log).input) in first.text
    assert "320 x 256 pixels" in first.text


def test_what_went_wrong_is_told_and_the_rest_of_its_turn_left_out(tmp_path: Path) -> None:
    wrong = ("computer", {"action": "left_click", "coordinate": [5000, 4]})
    turns = iter([
        says("", wrong, ("computer", {"action": "left_click", "coordinate": [1, 1]})),
        says("", ("submit", {"outcome": "failure"})),
    ])  # fmt: skip
    sample = only(run(tmp_path, click_button(), lambda: next(turns)))
    first, second = (m for m in sample.messages if m.role == "tool" and m.function == "computer")
    assert "outside the screen" in first.text
    assert "went wrong" in second.text
    assert any("outside the screen" in m.text for m in sample.messages if m.role == "user")
    assert (sample.scores or {})["env_score"].metadata["step"] == 2  # type: ignore[index]


@pytest.mark.parametrize("turn", [says("I think."), says("", ("nothing", {}))])
def test_a_turn_that_does_nothing_costs_a_step(tmp_path: Path, turn: ModelOutput) -> None:
    sample = only(run(tmp_path, click_button(max_steps=3), lambda: turn.model_copy(deep=True)))
    assert sum(message.role == "assistant" for message in sample.messages) == 3
    score = (sample.scores or {})["env_score"]
    assert score.value == 0.0
    assert score.metadata is not None
    assert (score.metadata["success"], score.metadata["step"]) == (False, 3)


def test_a_held_button_is_released_in_the_same_step(tmp_path: Path) -> None:
    calls = [
        {"action": "left_mouse_down", "coordinate": [10, 10]},
        {"action": "mouse_move", "coordinate": [40, 40]},
        {"action": "left_mouse_up"},
    ]
    turns = iter([*(says("", ("computer", call)) for call in calls), says("", ("submit", {}))])
    sample = only(run(tmp_path, click_button(), lambda: next(turns)))
    held, _, released = (
        m.text for m in sample.messages if getattr(m, "function", "") == "computer"
    )
    assert "held" in held
    assert "held" not in released
    assert (sample.scores or {})["env_score"].metadata["step"] == 2  # type: ignore[index]


def test_no_more_envs_are_open_than_were_asked_for(tmp_path: Path) -> None:
    at_once = [0]
    most = []

    async def count() -> ModelOutput:
        at_once[0] += 1
        most.append(at_once[0])
        await anyio.sleep(0.3)  # time for another sample to come in between
        at_once[0] -= 1
        return oracle()

    log = run(tmp_path, click_button(5, envs=1), count, True)
    assert len(samples(log)) == 5
    assert most == [1] * 5


def test_a_limit_of_inspects_leaves_a_score(tmp_path: Path) -> None:
    still = ("computer", {"action": "wait", "duration": 0})
    log = run(tmp_path, click_button(), lambda: says("", still), message_limit=4)
    assert only(log).limit is not None
    assert (only(log).scores or {})["env_score"].value == 0.0


def test_a_device_that_fails_is_an_error_and_its_sample_is_played_again(tmp_path: Path) -> None:
    killed = []

    def kill_once() -> ModelOutput:
        if not killed:
            killed.extend(browsers())
            for process in killed:
                process.kill()
        return oracle()

    log = run(tmp_path, click_button(), kill_once, True, fail_on_error=False)
    assert "DeviceError" in str(only(log).error) or "device" in str(only(log).error)
    assert not only(log).scores
    killed.clear()
    again = run(tmp_path, click_button(), kill_once, True, retry_on_error=1)
    assert again.status == "success"
    assert (only(again).scores or {})["env_score"].value == 1.0
    assert only(again).error_retries


def test_a_run_that_is_cancelled_leaves_no_env(tmp_path: Path) -> None:
    open_ones = []

    async def hang() -> ModelOutput:
        open_ones.append(episode_of())
        await anyio.sleep_forever()
        raise AssertionError

    async def cancelled() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(play_hanging)
            with anyio.fail_after(60):
                while len(open_ones) < 2:
                    await anyio.sleep(0.05)
            assert browsers()
            group.cancel_scope.cancel()

    async def play_hanging() -> None:
        await evaluate_async(click_button(2), model=model(hang), log_dir=str(tmp_path))

    anyio.run(cancelled)
    assert not browsers()


def test_a_run_that_is_cancelled_within_a_step_does_not_wait_for_it(tmp_path: Path) -> None:
    """The browser stands still, and the device would wait longer than a test may take."""
    began = anyio.Event()

    def stand_still() -> ModelOutput:
        for process in browsers():
            process.suspend()
        began.set()
        return oracle()

    async def play_waiting() -> None:
        task = click_button(timeout=1000)
        for sample in task.dataset:
            sample.metadata = {**(sample.metadata or {}), "options": {"oracle": True}}
        await evaluate_async(task, model=model(stand_still), log_dir=str(tmp_path))

    async def cancelled() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(play_waiting)
            await began.wait()
            await anyio.sleep(1)
            assert browsers()
            group.cancel_scope.cancel()

    anyio.run(cancelled)


@pytest.mark.parametrize("name", ["browser", "android", "desktop", "osworld"])
def test_the_tasks_are_found_by_name(name: str) -> None:
    from inspect_ai._util.registry import registry_lookup

    made = registry_lookup("task", f"ui_gym/{name}")
    assert callable(made)
    task = made()
    assert len(task.dataset) > 10
    assert len({sample.id for sample in task.dataset}) == len(task.dataset)
    assert all(sample.input for sample in task.dataset)


def test_seed_counts_on_in_the_list_of_instances() -> None:
    ids = [sample.id for sample in click_button(4).dataset]
    assert [sample.id for sample in click_button(2, seed=2).dataset] == ids[2:]


def test_task_files_are_chosen_by_id() -> None:
    task = inspect_tasks.osworld(tasks="mousepad/append-a-line,back-up-the-notes")
    assert len(task.dataset) == 2


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: inspect_tasks.browser(tasks="ClickButon"), "Did you mean 'UI/ClickButton-v0'"),
        (lambda: inspect_tasks.browser(tasks="AndroidWifi"), "a task of ui_gym/android"),
        (lambda: inspect_tasks.browser(split="test"), "no split 'test'"),
        (lambda: click_button(0), "n is 1 or more"),
        (lambda: click_button(seed=-1), "seed 0 or more"),
        (lambda: click_button(envs=0), "envs is 1 or more"),
        (lambda: click_button(colour=3), "takes no argument 'colour'"),
        (lambda: click_button(device="osworld:http://a"), "no device 'osworld'"),
        (lambda: inspect_tasks.browser(tasks={"a": 1}), "tasks is a name or several"),
        (lambda: inspect_tasks.osworld(device="osworld:"), "say which machine"),
        (lambda: inspect_tasks.osworld(device={"osworld": None}), "device is a name or several"),
        (lambda: inspect_tasks.osworld(tasks="nothing"), "no task file 'nothing'"),
        (lambda: inspect_tasks.osworld(meta="/nowhere.json"), "cannot be read"),
    ],
)
def test_a_mistake_is_named_before_anything_is_played(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        make()


@pytest.mark.parametrize("found", ["0.3.269", "0.2.1", "0.4.0"])
def test_another_version_is_refused_with_the_range(
    monkeypatch: pytest.MonkeyPatch, found: str
) -> None:
    monkeypatch.setattr(episodes, "version", lambda _: found)
    with pytest.raises(UserError, match=r"inspect_ai>=0\.3\.270,<0\.4"):
        click_button()


def test_another_computer_tool_is_warned_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert ToolDef(own_computer()).parameters.properties.keys()
    click_button()
    assert "other arguments" not in caplog.text
    monkeypatch.setattr(inspect_tasks, "own_computer", inspect_tasks.submit)
    click_button()
    assert "other arguments" in caplog.text


def test_only_where_inspect_assumes_a_size_is_the_screen_framed() -> None:
    api = types.SimpleNamespace
    older, newer = (api(computer_use_toolset=lambda new=new: new) for new in (False, True))
    assert assumed_screen(api(api=older, name="claude-sonnet-4-5")) == FRAME  # type: ignore[arg-type]
    assert assumed_screen(api(api=newer, name="claude-opus-5-5")) is None  # type: ignore[arg-type]
    assert assumed_screen(api(api=api(), name="gemini-3-flash-preview")) == FRAME  # type: ignore[arg-type]
    assert assumed_screen(api(api=api(), name="gpt-5.4")) is None  # type: ignore[arg-type]


def test_a_tool_outside_of_our_tasks_says_where_it_belongs() -> None:
    with pytest.raises(UserError, match="ui_gym/browser"):
        episode_of()


def test_logs_hold_what_was_played(tmp_path: Path) -> None:
    sample = only(run(tmp_path, click_button(), oracle, True))
    assert sample.metadata["task"] == "UI/ClickButton-v0"
    score = (sample.scores or {})["env_score"]
    assert score.metadata is not None
    assert score.metadata["success"] is True
    assert json.dumps(score.metadata)
