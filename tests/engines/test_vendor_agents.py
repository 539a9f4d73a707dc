"""Models that are asked by their vendors' own APIs, played as `ui-gym-eval` plays them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import paint  # noqa: F401 - registers its tasks
import pytest
from pydantic import SecretStr

from tests.engines.vendor_servers import (
    KEY,
    SEALED,
    Brain,
    GeminiServer,
    MessagesServer,
    ResponsesServer,
    VendorServer,
    oracle_brain,
)
from ui_gym.contract import registry
from ui_gym.contract.action import Answer, Click, Drag, Wait
from ui_gym.dialects import get_dialect
from ui_gym.errors import ActionError, UserError
from ui_gym_agents.agents import make_agent
from ui_gym_agents.agents.agent import View
from ui_gym_agents.agents.anthropic_messages import AnthropicAgent, scale_of, tool_of
from ui_gym_agents.agents.gemini import GeminiAgent
from ui_gym_agents.agents.responses import ResponsesAgent
from ui_gym_agents.agents.vendor import VendorAgent, native_dialect
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.engines.protocol import RequestLimits
from ui_gym_agents.episode import TokenUsage, Turn
from ui_gym_agents.evaluation import cli as eval_cli
from ui_gym_agents.evaluation.plan import EvaluationPlan
from ui_gym_agents.evaluation.play import FinishedEvaluation, play
from ui_gym_agents.policy.prompts import PromptBuilder
from ui_gym_agents.seeds import evaluation_seed
from ui_gym_agents.tasks.sources import TaskEntry

SCREEN = np.zeros((64, 96, 3), np.uint8)
QUICK = RequestLimits(timeout=20.0, attempts=3, pause=0.01)


@dataclass(frozen=True)
class Vendor:
    """An API, and a model of it."""

    model: str
    dialect: str
    server: type[VendorServer]
    agent: type[VendorAgent]

    @property
    def name(self) -> str:
        return f"{self.agent.prefix}{self.model}"


RESPONSES = Vendor("gpt-5.4", "openai", ResponsesServer, ResponsesAgent)
MESSAGES = Vendor("claude-opus-5-5", "anthropic_toolset", MessagesServer, AnthropicAgent)
GEMINI = Vendor("gemini-3.5-flash", "gemini", GeminiServer, GeminiAgent)
VENDORS = (RESPONSES, MESSAGES, GEMINI)
OLDER = (
    Vendor("computer-use-preview", "openai", ResponsesServer, ResponsesAgent),
    Vendor("claude-opus-4-5-20251101", "anthropic", MessagesServer, AnthropicAgent),
    Vendor("claude-sonnet-4-5-20250929", "anthropic", MessagesServer, AnthropicAgent),
    Vendor("gemini-2.5-computer-use-preview-10-2025", "gemini", GeminiServer, GeminiAgent),
)

each_vendor = pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.model)
Serve = Callable[[Vendor, Brain], VendorServer]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Starts servers, whose key the environment has, and stops them."""
    with contextlib.ExitStack() as stack:

        def start(vendor: Vendor, brain: Brain) -> VendorServer:
            monkeypatch.setenv(vendor.agent.keys[0], KEY)
            return stack.enter_context(contextlib.closing(vendor.server(brain)))

        yield start


@pytest.fixture
def made() -> Iterator[Callable[..., Any]]:
    """Makes agents, and closes them."""
    with contextlib.ExitStack() as stack:

        def make(vendor: Vendor, server: VendorServer, **given: Any) -> Any:
            given = {"key": SecretStr(KEY), "limits": QUICK} | given
            agent = vendor.agent(vendor.model, server.url, **given)
            return stack.enter_context(contextlib.closing(agent))

        yield make


def measured(
    vendor: Vendor, server: VendorServer, task: str = "PaintText", **given: Any
) -> FinishedEvaluation:
    entry = TaskEntry(registry.spec(task), split="heldout")
    given = {"dialect": vendor.dialect, "episodes": 2, "envs": 2, "server_attempts": 2} | given
    plan = EvaluationPlan((entry,), agent=f"{vendor.name}@{server.url}", **given)
    return play(plan, lambda steps, total: steps)


def oracle(vendor: Vendor, task: str = "PaintText", **arguments: Any) -> Brain:
    seeds = [evaluation_seed(index) for index in range(2)]
    return oracle_brain(task, vendor.dialect, seeds, "heldout", **arguments)


@pytest.mark.parametrize("vendor", VENDORS + OLDER, ids=lambda vendor: vendor.model)
def test_an_oracle_behind_a_vendors_api_wins(vendor: Vendor, serve: Serve) -> None:
    server = serve(vendor, oracle(vendor))
    finished = measured(vendor, server)
    assert [episode.failure for episode in finished.episodes] == [None, None]
    assert (finished.report.success, finished.report.total.valid_actions) == (1.0, 1.0)
    assert [episode.steps for episode in finished.episodes] == [5, 5]
    assert len(server.bodies) == 10
    assert finished.report.total.usage == TokenUsage(10 * 100, 10 * 7)


@each_vendor
def test_a_browser_task_is_won(vendor: Vendor, serve: Serve) -> None:
    server = serve(vendor, oracle(vendor, "UI/ClickButton-v0", compact=True))
    finished = measured(vendor, server, "UI/ClickButton-v0", arguments={"compact": True})
    assert finished.report.success == 1.0
    assert finished.report.total.valid_actions == 1.0


@each_vendor
def test_an_episode_begins_a_conversation_of_its_own(vendor: Vendor, serve: Serve) -> None:
    server = serve(vendor, oracle(vendor))
    measured(vendor, server, envs=1)
    lengths = [len(conversation(body)) for body in server.bodies]
    assert lengths == sorted(lengths[:5]) * 2
    assert lengths[0] == 1
    assert "finish" in str(server.bodies[0]["tools"])
    signed = str(conversation(server.bodies[1]))  # what was said goes back as it came
    assert "sealed" in signed or SEALED in signed


@each_vendor
def test_old_pictures_leave_and_are_told_as_text(
    vendor: Vendor, serve: Serve, made: Callable[..., Any], make_vector: Callable[..., Any]
) -> None:
    server = serve(vendor, oracle_brain("PaintText", vendor.dialect, [5], "train"))
    agent = made(vendor, server, prompt=PromptBuilder("Look.", history=2))
    envs = make_vector(1, dialect=vendor.dialect)
    request = EpisodeRequest(seed=5, split="train")
    server.pictures = 2
    (episode,) = Collector(envs, agent, max_requeues=0).collect([request])
    assert (episode.failure, episode.success) == (None, True)
    assert "Your steps so far" not in str(server.bodies[1])
    assert "1. {" in str(server.bodies[2]).split("Your steps so far")[1]


def steady(vendor: Vendor) -> Brain:
    """Looks, and does nothing else."""
    waiting = Wait(0.0 if vendor.dialect == "openai" else 1.0)
    said = get_dialect(vendor.dialect).render([waiting], (96, 64))
    return lambda picture: said


@each_vendor
def test_a_model_that_never_ends_is_cut(vendor: Vendor, serve: Serve) -> None:
    finished = measured(vendor, serve(vendor, steady(vendor)), episodes=1, max_steps=12)
    (episode,) = finished.episodes
    assert (episode.truncated, episode.failure, episode.steps) == (True, None, 12)
    assert finished.report.success == 0.0


@each_vendor
def test_what_cannot_be_done_is_told(vendor: Vendor, serve: Serve) -> None:
    dialect = get_dialect(vendor.dialect)
    server = serve(vendor, lambda picture: dialect.render([Drag(1, 2, 3, 4)], (96, 64)))
    (episode,) = measured(vendor, server, episodes=1, max_steps=2).episodes
    assert "paint cannot do that" in episode.turns[0].feedback
    assert episode.turns[0].feedback in str(server.bodies[1])


@each_vendor
def test_a_limit_of_rate_or_a_moment_of_overload_is_waited_for(
    vendor: Vendor, serve: Serve, made: Callable[..., Any]
) -> None:
    server = serve(vendor, steady(vendor))
    server.faults = ["429", "529"]
    (decision,) = made(vendor, server).act([View(0, "Look.", [SCREEN])])
    assert (decision.failure, len(server.bodies)) == (None, 1)


@each_vendor
def test_a_server_that_hangs_fails_the_episode(
    vendor: Vendor, serve: Serve, made: Callable[..., Any]
) -> None:
    server = serve(vendor, steady(vendor))
    server.faults = ["hang"]
    agent = made(vendor, server, limits=RequestLimits(timeout=0.2, attempts=1))
    (decision,) = agent.act([View(0, "Look.", [SCREEN])])
    assert str(decision.failure).startswith("server: ")
    assert "failed once" in str(decision.failure)


@each_vendor
def test_a_wrong_key_is_the_users_mistake_and_never_shown(
    vendor: Vendor, serve: Serve, made: Callable[..., Any]
) -> None:
    server = serve(vendor, steady(vendor))
    agent = made(vendor, server, key=SecretStr("sk-wrong-key"))
    with pytest.raises(UserError, match="the key was refused") as caught:
        agent.submit(View(0, "Look.", [SCREEN])).result()
    assert "sk-wrong-key" not in str(caught.value) + repr(vars(agent)) + repr(vars(agent._client))


@each_vendor
def test_a_wrong_key_ends_an_evaluation(
    vendor: Vendor, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(vendor, steady(vendor))
    monkeypatch.setenv(vendor.agent.keys[0], "sk-wrong-key")
    with pytest.raises(UserError, match="the key was refused"):
        measured(vendor, server)


@each_vendor
def test_an_episode_whose_server_hung_is_played_again_from_its_beginning(
    vendor: Vendor, serve: Serve
) -> None:
    server = serve(vendor, oracle(vendor))
    server.brain = hung_once(server, server.brain, at=3)
    finished = measured(vendor, server, envs=1, server_timeout=1.0, server_attempts=1)
    assert finished.report.success == 1.0
    lengths = [len(conversation(body)) for body in server.bodies]
    assert lengths.count(1) == 3


def hung_once(server: VendorServer, brain: Brain, at: int) -> Brain:
    """A brain after whose so many-th answer the server hangs for one request."""

    def think(picture: Any) -> str:
        if len(server.bodies) == at:
            server.faults = ["hang"]
        return brain(picture)

    return think


@each_vendor
def test_without_a_key_nothing_is_started(vendor: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in vendor.agent.keys:
        monkeypatch.delenv(name, raising=False)
    entry = TaskEntry(registry.spec("PaintText"), split="heldout")
    plan = EvaluationPlan((entry,), agent=vendor.name, dialect=vendor.dialect)
    with pytest.raises(UserError, match=f"set {vendor.agent.keys[0]}"):
        plan.check()
    monkeypatch.setenv(vendor.agent.keys[-1], KEY)
    plan.check()


@each_vendor
def test_what_a_vendors_model_cannot_play_is_refused(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(vendor.agent.keys[0], KEY)
    entry = TaskEntry(registry.spec("PaintText"), split="heldout")
    for given, said in (
        ({"dialect": "cells"}, f"leave --dialect out, or ask for {vendor.dialect}"),
        ({"observation": "elements"}, "--observation screenshot or both"),
        ({"agent": vendor.agent.prefix}, "names no model"),
    ):
        plan = {"agent": vendor.name, "dialect": vendor.dialect} | given
        with pytest.raises(UserError, match=said):
            EvaluationPlan((entry,), **plan).check()
    with pytest.raises(UserError, match="begins with http"):
        make_agent(f"{vendor.name}@nowhere", None)


@each_vendor
def test_a_vendors_dialect_is_chosen_unless_another_is_given(
    vendor: Vendor,
    serve: Serve,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server = serve(vendor, oracle(vendor))
    asked = ["ui-gym-eval", "--task", "PaintText", "--agent", f"{vendor.name}@{server.url}",
             "--episodes", "2", "--attempts", "1"]  # fmt: skip
    monkeypatch.setattr("sys.argv", asked)
    assert eval_cli.main() == 0
    assert "100.0 %" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", [*asked, "--dialect", "uitars"])
    assert eval_cli.main() == 2
    assert "leave --dialect out" in capsys.readouterr().err


@each_vendor
def test_a_vendors_model_plays_a_runs_tasks_in_its_own_dialect(
    vendor: Vendor, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[EvaluationPlan] = []
    monkeypatch.setattr(
        EvaluationPlan, "of_run", lambda plan, run, split: replace(plan, dialect="cells")
    )
    monkeypatch.setattr(
        "ui_gym_agents.evaluation.play.play", lambda plan, *given: played.append(plan)
    )
    monkeypatch.setattr(eval_cli, "print_report", lambda *given: None)
    monkeypatch.setattr("sys.argv", ["ui-gym-eval", "--run", "runs/x", "--agent", vendor.name])
    with contextlib.suppress(AttributeError):  # there is no report
        eval_cli.main()
    assert (played[0].dialect, played[0].samples) == (vendor.dialect, False)


def test_turns_that_somebody_else_played_are_told_as_text(
    serve: Serve, made: Callable[..., Any]
) -> None:
    for vendor in VENDORS:
        server = serve(vendor, steady(vendor))
        turns = [Turn("", "click(1, 2)", feedback="No."), Turn("", "")]
        view = View(0, "Look.", [SCREEN] * 3, turns=turns)
        (decision,) = made(vendor, server).act([view])
        assert decision.failure is None
        assert "click(1, 2)" in str(conversation(server.bodies[0]))


def raw(vendor: Vendor, server: Any, kind: str) -> dict[str, Any]:
    """An answer without a call."""
    body = {"model": vendor.model}
    if vendor is MESSAGES:
        text = [{"type": "text", "text": "42"}]
        call = {"type": "tool_use", "id": "t", "name": "left_click", "toolset_name": "computer"}
        return {
            "message": server.message(text, body, "end_turn"),
            "refusal": server.message(text, body, "refusal"),
            "cut": server.message([*text, call | {"input": {}}], body, "max_tokens"),
            "nothing": server.message([], body, "end_turn"),
        }[kind]
    if vendor is GEMINI:
        return {
            "message": server.content([{"text": "42"}]),
            "refusal": {"promptFeedback": {"blockReason": "SAFETY"}},
            "cut": server.content([{"text": "42"}], "MAX_TOKENS"),
            "nothing": {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]},
        }[kind]
    said = server.message("42")
    refusal = said | {"content": [{"type": "refusal", "refusal": "No."}]}
    thought = {"type": "reasoning", "id": "rs_0", "summary": [], "encrypted_content": "sealed"}
    half = {"type": "function_call", "id": "fc", "call_id": "c", "name": "answer",
            "arguments": "{", "status": "incomplete"}  # fmt: skip
    return {
        "message": server.response([thought, said], body),
        "refusal": server.response([refusal], body),
        "cut": server.response([said, thought, half], body, status="incomplete"),
        "nothing": server.response([thought], body, status="incomplete"),
    }[kind]


@each_vendor
@pytest.mark.parametrize("kind", ["message", "refusal", "cut", "nothing"])
def test_a_message_without_a_call_is_an_answer_if_it_is_whole(
    vendor: Vendor, kind: str, serve: Serve, made: Callable[..., Any]
) -> None:
    server = serve(vendor, steady(vendor))
    server.raw = [raw(vendor, server, kind)]
    agent = made(vendor, server)
    (decision,) = agent.act([View(0, "Look.", [SCREEN])])
    assert decision.failure is None
    read = [Answer("42")] if kind == "message" else []
    assert parsed(vendor, decision.action_text) == read
    turns = [Turn("", decision.action_text, feedback="Go on.")]
    (decision,) = agent.act([View(0, "Look.", [SCREEN] * 2, turns=turns)])  # and it goes on
    assert decision.failure is None
    assert decision.action_text


@each_vendor
@pytest.mark.parametrize(
    "found", [{}, {"output": 3, "content": 3}, {"candidates": [{}, 3], "a": 1}]
)
def test_an_answer_that_is_none_fails_the_episode(
    vendor: Vendor, found: dict[str, Any], serve: Serve, made: Callable[..., Any]
) -> None:
    server = serve(vendor, steady(vendor))
    server.raw = [found]
    (decision,) = made(vendor, server).act([View(0, "Look.", [SCREEN])])
    if vendor is GEMINI and "candidates" in found:
        assert (decision.failure, decision.action_text) == (None, "")
    else:
        assert str(decision.failure).startswith("server: its answer is none of this API")


@pytest.mark.parametrize("vendor", [RESPONSES, MESSAGES], ids=lambda vendor: vendor.model)
def test_of_calls_that_are_cut_the_whole_ones_are_done(
    vendor: Vendor, serve: Serve, made: Callable[..., Any]
) -> None:
    server: Any = serve(vendor, steady(vendor))
    called = json.loads(get_dialect(vendor.dialect).render([Click(3, 4)], (96, 64)))
    whole = server.say("", [called], {"model": vendor.model})
    cut = raw(vendor, server, "cut")
    key = "output" if vendor is RESPONSES else "content"
    cut[key] = whole[key] + cut[key][1:]
    server.raw = [cut]
    agent = made(vendor, server)
    (decision,) = agent.act([View(0, "Look.", [SCREEN])])
    assert parsed(vendor, decision.action_text) == [Click(3, 4)]
    turns = [Turn("", decision.action_text)]
    (decision,) = agent.act([View(0, "Look.", [SCREEN] * 2, turns=turns)])
    assert decision.failure is None


def test_a_response_that_failed_fails_the_episode(serve: Serve, made: Callable[..., Any]) -> None:
    server: Any = serve(RESPONSES, steady(RESPONSES))
    failed = {"status": "failed", "error": {"code": "server_error", "message": "Oh."}}
    server.raw = [server.response([], {"model": "gpt-5.4"}, **failed)]
    (decision,) = made(RESPONSES, server).act([View(0, "Look.", [SCREEN])])
    assert "Oh." in str(decision.failure)


@pytest.mark.parametrize("size", [(1080, 1920), (2400, 1080), (720, 1280)])
def test_anthropics_models_see_large_screens_smaller_and_point_at_them_whole(
    size: tuple[int, int], serve: Serve, made: Callable[..., Any]
) -> None:
    screen = np.zeros((*size, 3), np.uint8)
    seen: list[tuple[int, ...]] = []

    def corner(picture: Any) -> str:
        seen.append(picture.shape)
        x, y = picture.shape[1] - 1, picture.shape[0] - 1
        return get_dialect(MESSAGES.dialect).render([Click(x, y)], (x + 1, y + 1))

    agent = made(MESSAGES, serve(MESSAGES, corner))
    (decision,) = agent.act([View(0, "Look.", [screen])])
    ((height, width, _),) = seen
    assert max(height, width) <= 1568
    assert height * width <= 1_150_000
    (click,) = get_dialect(MESSAGES.dialect).parse(decision.action_text, size[::-1])
    assert click.points()[0] == pytest.approx((size[1] - 1, size[0] - 1), abs=2 / scale_of(screen))
    if scale_of(screen) == 1.0:
        assert click == Click(size[1] - 1, size[0] - 1)


@pytest.mark.parametrize(
    ("model", "tool"),
    [
        ("claude-3-7-sonnet-20250219", "computer_20250124"),
        ("claude-sonnet-4-20250514", "computer_20250124"),
        ("claude-opus-4-1", "computer_20250124"),
        ("claude-sonnet-4-5", "computer_20250124"),
        ("claude-haiku-4-5-20251001", "computer_20250124"),
        ("claude-opus-4-5-20251101", "computer_20251124"),
        ("claude-sonnet-4-6", "computer_20251124"),
        ("claude-opus-4-7", "computer_20251124"),
        ("claude-sonnet-5", "computer_toolset_20260801"),
        ("claude-opus-5-5", "computer_toolset_20260801"),
        ("my-proxy", "computer_toolset_20260801"),
    ],
)
def test_a_model_of_anthropics_has_the_tool_of_its_generation(model: str, tool: str) -> None:
    assert tool_of(model).type == tool
    assert native_dialect(f"anthropic:{model}@http://x/v1") == tool_of(model).dialect


def test_another_generation_of_the_tool_can_be_asked_for(
    serve: Serve, make_vector: Callable[..., Any]
) -> None:
    server = serve(MESSAGES, steady(MESSAGES))
    for model, dialect, tool in (
        ("claude-sonnet-5", "anthropic", "computer_20251124"),
        ("claude-opus-4-6", "anthropic_toolset", "computer_toolset_20260801"),
        ("claude-sonnet-4-5", "anthropic", "computer_20250124"),
    ):
        space = make_vector(1, dialect=dialect).single_action_space
        agent: Any = make_agent(f"anthropic:{model}@{server.url}", space)
        agent.close()
        assert agent.tool.type == tool


def test_gemini_is_told_the_kind_of_screen(serve: Serve, made: Callable[..., Any]) -> None:
    for suite, environment in (
        ("browser", "BROWSER"), ("android", "MOBILE"), ("desktop", "DESKTOP"), ("paint", "DESKTOP"),
    ):  # fmt: skip
        server = serve(GEMINI, steady(GEMINI))
        made(GEMINI, server, suite=suite).act([View(0, "Look.", [SCREEN])])
        tool = server.bodies[0]["tools"][0]["computerUse"]
        assert tool["environment"] == f"ENVIRONMENT_{environment}"
        assert ("navigate" in tool["excludedPredefinedFunctions"]) == (suite == "browser")


@each_vendor
def test_a_prompt_without_words_is_none(
    vendor: Vendor, serve: Serve, made: Callable[..., Any]
) -> None:
    server = serve(vendor, steady(vendor))
    agent = made(vendor, server, prompt=PromptBuilder.bare())
    (decision,) = agent.act([View(0, "Look.", [SCREEN])])
    assert decision.failure is None
    assert not {"system", "systemInstruction"} & server.bodies[0].keys()


@each_vendor
def test_elements_are_told_beside_the_picture(vendor: Vendor, serve: Serve) -> None:
    server = serve(vendor, oracle(vendor))
    finished = measured(vendor, server, episodes=1, observation="both")
    assert finished.report.success == 1.0
    assert all('button \\"red\\"' in json.dumps(body) for body in server.bodies)


def test_further_fields_of_a_request_win(serve: Serve, made: Callable[..., Any]) -> None:
    server = serve(RESPONSES, steady(RESPONSES))
    options = {"reasoning": {"effort": "low"}, "max_output_tokens": 99}
    made(RESPONSES, server, options=options).act([View(0, "Look.", [SCREEN])])
    assert server.bodies[0].items() >= options.items()


def test_a_served_chat_model_is_taught_elements_where_the_env_lists_them(
    make_vector: Callable[..., Any],
) -> None:
    space = make_vector(1).single_action_space
    for elements in (True, False):
        agent: Any = make_agent("openai:m@http://127.0.0.1:9/v1", space, elements=elements)
        agent.close()
        assert ("element=12" in agent.prompt.dialect_prompt) == elements


def conversation(body: dict[str, Any]) -> list[Any]:
    """What was shown and said, in whichever API."""
    found = body.get("input") or body.get("messages") or body["contents"]
    return list(found)


def parsed(vendor: Vendor, text: str) -> list[Any]:
    """The actions of an action text; none, where it has none."""
    try:
        return get_dialect(vendor.dialect).parse(text, (96, 64))
    except ActionError:
        return []
