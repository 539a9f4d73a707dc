"""An engine on a server: the same tokens and numbers as at home, and no fault becomes a reward."""

from __future__ import annotations

import copy
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from policy_helpers import difference, shake
from waiting import eventually

from tests.engines.model_server import ModelServer
from ui_gym.errors import UserError
from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.engines import EngineAnswer, EngineError, Sampling
from ui_gym_agents.engines.agent import EngineAgent, engine_agent
from ui_gym_agents.engines.in_process import InProcessEngine
from ui_gym_agents.engines.openai import OpenAIEngine
from ui_gym_agents.engines.protocol import RequestLimits
from ui_gym_agents.policy import VLMPolicy
from ui_gym_agents.store import ScreenshotStore

MakeEngine = Callable[..., OpenAIEngine]
SOON = RequestLimits(timeout=1.5, attempts=3, pause=0.01)


def _one(policy: VLMPolicy, engine: OpenAIEngine, view: View) -> EngineAnswer | EngineError:
    sampling = Sampling(1.0, 6, tuple(policy.stops), tuple(policy.never_sampled))
    (answer,) = engine.generate([policy.question(view)], sampling)
    return answer


def _difference(policy: VLMPolicy, decisions: Sequence[Decision], views: Sequence[View]) -> float:
    """Between what the sampler says and what the learner computes."""
    screenshots = ScreenshotStore()
    for view in views:
        for image in view.screenshots:
            screenshots.put(image)
    records = [decision.tokens for decision in decisions if decision.tokens is not None]
    assert len(records) == len(decisions)
    return difference(policy, records, screenshots)


@pytest.mark.parametrize(
    ("kind", "wire"), [("qwen3_vl", "vllm"), ("smolvlm", "vllm"), ("qwen3_vl", "sglang")]
)
@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_sampled_tokens_are_scored_alike_by_the_learner(
    kind: str, wire: str, temperature: float, make_server: Callable[..., ModelServer],
    make_policy: Callable[..., VLMPolicy], make_engine: MakeEngine, views: list[View],
) -> None:  # fmt: skip
    policy = make_policy(kind, temperature=temperature)
    shake(policy)
    policy.version = 3
    engine = make_engine(make_server(kind, wire), image_id=policy.encoder.image_id)
    agent = EngineAgent(policy, engine)
    served, own = agent.act(views), policy.act(views)
    assert {len(d.tokens.images) for d in served if d.tokens} == {1, 2}
    if temperature:
        assert _difference(policy, served, views) < 1e-5
    for there, here in zip(served, own, strict=True):
        assert there.tokens is not None
        assert here.tokens is not None
        assert there.action_text == here.action_text
        assert there.tokens.prompt_ids == here.tokens.prompt_ids
        assert there.tokens.output_ids == here.tokens.output_ids
        assert there.tokens.images == here.tokens.images
        assert (there.tokens.version, there.tokens.temperature) == (3, temperature)


def test_the_process_itself_is_an_engine(policy: VLMPolicy, views: list[View]) -> None:
    shake(policy)
    assert EngineAgent(policy, InProcessEngine(policy)).act(views) == policy.act(views)


def test_every_version_has_a_name_and_the_old_one_is_unloaded(
    either: ModelServer, policy: VLMPolicy, make_engine: MakeEngine, views: list[View],
    tmp_path: Path,
) -> None:  # fmt: skip
    engine = make_engine(either, run="run")
    agent = EngineAgent(policy, engine, tmp_path)
    before = agent.act(views)
    shake(policy)
    policy.version += 1
    after = agent.act(views)
    again = agent.act(views)
    assert before != after == again
    assert _difference(policy, after, views) < 1e-5
    assert either.log == ["load run-v000000", "load run-v000001", "unload run-v000000"]
    (own,) = tmp_path.iterdir()
    assert [folder.name for folder in own.iterdir()] == ["v000001"]
    agent.close()
    assert list(tmp_path.iterdir()) == []
    assert either.log[3:] == ["unload run-v000001"]
    assert list(either.models) == ["tiny"]


def test_what_is_under_way_keeps_its_version(
    either: ModelServer, policy: VLMPolicy, make_engine: MakeEngine, views: list[View],
    tmp_path: Path,
) -> None:  # fmt: skip
    engine = make_engine(either, run="run")
    policy.save(tmp_path / "a")
    engine.publish(tmp_path / "a", 1)
    either.gate = threading.Event()
    found: list[Any] = []
    asking = threading.Thread(target=lambda: found.append(_one(policy, engine, views[0])))
    asking.start()
    eventually(lambda: any("run-v000001" in r.get("model", "") for r in either.requests))
    engine.publish(tmp_path / "a", 2)
    assert either.log == ["load run-v000001", "load run-v000002"]
    either.gate.set()
    asking.join(5)
    assert found[0].version == 1
    assert either.log[2:] == ["unload run-v000001"]


def test_closing_gives_up_what_hangs(
    either: ModelServer, policy: VLMPolicy, make_engine: MakeEngine, views: list[View],
    tmp_path: Path,
) -> None:  # fmt: skip
    """The question, and the unloading of the adapter after it."""
    engine = make_engine(either, limits=RequestLimits(timeout=60.0))
    policy.save(tmp_path)
    engine.publish(tmp_path, 1)
    either.gate = threading.Event()
    found: list[Any] = []
    asking = threading.Thread(target=lambda: found.append(_one(policy, engine, views[0])))
    asking.start()
    assert eventually(lambda: any("messages" in r for r in either.requests))
    either.faults = ["hang"] * 3
    closing = threading.Thread(target=engine.close)
    closing.start()
    asking.join(20)
    closing.join(20)
    assert not closing.is_alive()
    either.gate.set()
    assert isinstance(found[0], EngineError)
    assert "was given up: the client is closed" in str(found[0])


def test_an_adapter_that_is_there_already_is_taken(
    either: ModelServer, policy: VLMPolicy, make_engine: MakeEngine, tmp_path: Path
) -> None:
    """The answer to a first attempt may be lost after it was done."""
    engine = make_engine(either, run="run")
    policy.save(tmp_path)
    either.models["run-v000004"] = either.models["tiny"]
    engine.publish(tmp_path, 4)
    assert engine.version == 4


def test_two_processes_never_share_a_name(server: ModelServer, make_engine: MakeEngine) -> None:
    assert make_engine(server).run != make_engine(server).run


@pytest.mark.parametrize("fault", ["500", "503", "429", "hang", "cut"])
def test_a_fault_that_passes_is_survived(
    fault: str, server: ModelServer, policy: VLMPolicy, make_engine: MakeEngine, views: list[View]
) -> None:
    pauses: list[float] = []
    engine = make_engine(server, sleep=pauses.append, limits=SOON)
    expected = _one(policy, engine, views[1])
    server.faults = [fault, fault]
    assert _one(policy, engine, views[1]) == expected
    assert isinstance(expected, EngineAnswer)
    assert pauses == [0.01, 0.02]


class AskingServer(ModelServer):
    """Says with each refusal for how long it wants to be left alone."""

    asks = ""

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(super()._handler()):  # type: ignore[misc]
            def send_response(self, code: int, message: str | None = None) -> None:
                super().send_response(code, message)
                if code >= 400:
                    self.send_header("Retry-After", server.asks)

        return Handler


@pytest.fixture
def asking(folders: dict[str, Path]) -> Iterator[AskingServer]:
    found = AskingServer(folders["qwen3_vl"])
    yield found
    found.close()


ASKED = {
    "7": [7.0, 7.0],
    "0": [0.5, 1.0],  # no shorter than one's own
    "0.75": [0.75, 1.0],
    "86400": [20.0, 20.0],
    "inf": [20.0, 20.0],
    "nan": [0.5, 1.0],
    "-5": [0.5, 1.0],
    "soon": [0.5, 1.0],
    "Fri, 31 Dec 2100 23:59:59 GMT": [0.5, 1.0],
}


@pytest.mark.parametrize(("asks", "pauses"), ASKED.items(), ids=ASKED)
@pytest.mark.parametrize("fault", ["429", "503"])
def test_a_server_is_left_alone_for_as_long_as_it_asks_and_no_longer_than_the_limit(
    fault: str, asks: str, pauses: list[float], asking: AskingServer, policy: VLMPolicy,
    make_engine: MakeEngine, views: list[View],
) -> None:  # fmt: skip
    done: list[float] = []
    engine = make_engine(asking, sleep=done.append, limits=RequestLimits(attempts=3))
    asking.asks, asking.faults = asks, [fault, fault]
    assert isinstance(_one(policy, engine, views[0]), EngineAnswer)
    assert done == pauses


def test_what_a_server_asked_for_before_it_hung_is_forgotten(
    asking: AskingServer, policy: VLMPolicy, make_engine: MakeEngine, views: list[View]
) -> None:
    done: list[float] = []
    engine = make_engine(asking, sleep=done.append, limits=SOON)
    asking.asks, asking.faults = "3", ["429", "cut"]
    assert isinstance(_one(policy, engine, views[0]), EngineAnswer)
    assert done == [3.0, 0.02]


def test_closing_ends_a_pause_that_a_server_asked_for(
    asking: AskingServer, policy: VLMPolicy, make_engine: MakeEngine, views: list[View],
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    caplog.set_level(logging.DEBUG, "ui_gym_agents.engines.http")
    engine = make_engine(asking, limits=RequestLimits(longest_pause=3600.0))
    asking.asks, asking.faults = "3600", ["429"]
    found: list[Any] = []
    asker = threading.Thread(target=lambda: found.append(_one(policy, engine, views[0])))
    asker.start()
    assert eventually(lambda: "attempt 1: status 429" in caplog.text)
    engine.close()
    asker.join(20)
    assert isinstance(found[0], EngineError)
    assert "was not asked: the client is closed" in str(found[0])
    assert len(asking.requests) == 1


@pytest.mark.parametrize(
    ("faults", "said", "requests"),
    [
        (["500"] * 3, r"failed 3 times, at last with status 500: out of order", 3),
        (["hang"] * 3, r"failed 3 times, at last with ReadTimeout", 3),
        (["cut"] * 3, r"failed 3 times, at last with RemoteProtocolError", 3),
        (["400"], r"refused the request, status 400: out of order", 1),
        (["short"], r"cut off after 2 tokens \(abort\)", 1),
        (["count"], r"saw 11 image tokens where the 2 pictures make 12", 1),
        (["junk"], r"must know return_token_ids", 1),
    ],
)
def test_a_fault_that_stays_is_the_engines(
    faults: list[str], said: str, requests: int, either: ModelServer, policy: VLMPolicy,
    make_engine: MakeEngine, views: list[View],
) -> None:  # fmt: skip
    engine = make_engine(either, limits=SOON)
    either.faults = list(faults)
    answer = _one(policy, engine, views[1])
    assert isinstance(answer, EngineError)
    with pytest.raises(EngineError, match=said):
        raise answer
    assert len(either.requests) == requests
    assert isinstance(_one(policy, engine, views[1]), EngineAnswer)


def test_one_failed_question_leaves_the_others_alone(
    server: ModelServer, policy: VLMPolicy, make_engine: MakeEngine, views: list[View]
) -> None:
    agent = EngineAgent(policy, make_engine(server, connections=1))
    agent.act(views[:1])
    server.faults = ["count"]
    failed, *well = agent.act(views)
    assert failed.tokens is None
    assert failed.failure is not None
    assert failed.failure.startswith("engine: the server saw")
    assert all(d.failure is None and d.tokens is not None for d in well)


def test_a_server_that_is_gone_fails_the_episodes_and_is_tried_again(
    server: ModelServer, policy: VLMPolicy, make_engine: MakeEngine, views: list[View]
) -> None:
    engine = make_engine(server)
    agent = EngineAgent(policy, engine)
    publish, engine.publish = engine.publish, _refuse  # type: ignore[method-assign,assignment]
    assert [d.failure for d in agent.act(views)] == ["engine: nobody there"] * 4
    engine.publish = publish  # type: ignore[method-assign]
    assert all(d.failure is None for d in agent.act(views))


def _refuse(adapter: Path, version: int) -> None:
    raise EngineError("nobody there")


def test_a_model_that_is_not_served_is_the_users_mistake(
    server: ModelServer, policy: VLMPolicy, views: list[View]
) -> None:
    engine = OpenAIEngine(server.url, "huge", image_id=policy.encoder.image_id)
    with pytest.raises(UserError, match=r"no such model or address.*`huge` does not exist"):
        _one(policy, engine, views[0])
    engine.close()
    with pytest.raises(UserError, match="begins with http"):
        OpenAIEngine("127.0.0.1:8000", "tiny", image_id=1)


def test_a_template_of_another_mind_is_recorded_as_it_is(
    server: ModelServer, policy: VLMPolicy, make_engine: MakeEngine, views: list[View],
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    shake(policy)
    server.template = ("assistant", "row")
    agent = EngineAgent(policy, make_engine(server))
    with caplog.at_level(logging.WARNING):
        decisions = agent.act(views)
    assert all(
        d.tokens is not None and d.tokens.prompt_ids != policy.question(v).ids
        for d, v in zip(decisions, views, strict=True)
    )
    assert _difference(policy, decisions, views) < 1e-5
    assert [r.message for r in caplog.records if "template" in r.message] == [
        "the server's chat template writes other tokens than the model folder's; "
        "the server's are recorded"
    ]


def test_weights_without_an_adapter_cannot_be_published(
    make_policy: Callable[..., VLMPolicy], server: ModelServer, make_engine: MakeEngine,
    views: list[View],
) -> None:  # fmt: skip
    policy = make_policy(lora_rank=0)
    agent = EngineAgent(policy, make_engine(server))
    assert agent.act(views)[0].failure is None
    policy.version = 1
    with pytest.raises(UserError, match=r"set --policy\.lora_rank"):
        agent.act(views)


def test_a_policy_with_a_sampler_acts_by_it_and_so_do_its_copies(
    server: ModelServer, policy: VLMPolicy, make_engine: MakeEngine, views: list[View]
) -> None:
    """An asynchronous trainer samples with a copy while the policy itself learns on."""
    policy.sampler = EngineAgent(policy, make_engine(server, run="run"))
    copied = copy.deepcopy(policy)
    shake(policy)
    policy.version = 1
    old, new = copied.act(views), policy.act(views)
    assert server.log == ["load run-v000000", "load run-v000001", "unload run-v000000"]
    assert {d.tokens.version for d in old if d.tokens} == {0}
    assert {d.tokens.version for d in new if d.tokens} == {1}
    assert _difference(copied, old, views) < 1e-5
    assert _difference(policy, new, views) < 1e-5
    assert _difference(policy, old, views) > 1e-3
    policy.close()
    assert list(server.models) == ["tiny"]


@pytest.mark.parametrize("name", ["tiny@http://127.0.0.1:1/v1", "openai:tiny", "sglang:@http://x"])
def test_an_engine_is_named_as_an_agent_is(name: str, policy: VLMPolicy) -> None:
    with pytest.raises(UserError, match="write openai:MODEL@URL for vLLM or sglang:MODEL@URL"):
        engine_agent(policy, name)


@pytest.mark.parametrize(("kind", "asked"), [("openai", "{}"), ("sglang", "org/tiny:{}")])
def test_an_engines_name_says_how_it_is_spoken_to(
    kind: str, asked: str, make_server: Callable[..., ModelServer], policy: VLMPolicy,
    views: list[View],
) -> None:  # fmt: skip
    server = make_server(wire="vllm" if kind == "openai" else kind)
    agent = engine_agent(policy, f"{kind}:org/tiny@{server.url}")
    assert all(d.failure is None for d in agent.act(views))
    (name,) = [name for name in server.models if name != "tiny"]
    chats = [r for r in server.requests if "messages" in r]
    assert {r["model"] for r in chats} == {asked.format(name)}
    # What a server might else take from the model's own generation settings.
    neutral = {"top_p": 1.0, "top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}
    assert all(chat.items() >= neutral.items() for chat in chats)
    agent.close()
    assert list(server.models) == ["tiny"]
