"""Model servers that Ray actors run: adapters go to all, questions to the freest that is left."""

from __future__ import annotations

import json
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from policy_helpers import shake
from waiting import eventually

pytest.importorskip("ray", reason="needs the extra `ray`")

import ray

from ui_gym.errors import UserError
from ui_gym_agents.agents.agent import View
from ui_gym_agents.engines.agent import EngineAgent, engine_agent
from ui_gym_agents.engines.protocol import RequestLimits
from ui_gym_agents.engines.ray_engines import EngineOrder, Member, RayEngine
from ui_gym_agents.policy import VLMPolicy

COMMAND = f"{sys.executable} {Path(__file__).parent / 'served.py'} {{model}} {{host}} {{port}}"
LIMITS = RequestLimits(timeout=60.0, attempts=2, pause=0.01)


@pytest.fixture
def closed() -> Iterator[Callable[[EngineAgent], EngineAgent]]:
    """Agents that are closed at the end, with nothing left of their servers."""
    ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False)
    made: list[EngineAgent] = []

    def keep(agent: EngineAgent) -> EngineAgent:
        made.append(agent)
        return agent

    yield keep
    servers = serving()
    for agent in made:
        agent.close()
    ray.shutdown()
    assert eventually(lambda: not any(map(script, servers)), 30), "a server is left"


def serving() -> list[psutil.Process]:
    """The servers of this process."""
    return [p for p in psutil.Process().children(recursive=True) if "served.py" in script(p)]


def script(process: psutil.Process) -> str:
    """What a process of Python runs; empty if it has ended."""
    try:
        return " ".join(process.cmdline()[1:2])
    except psutil.Error:
        return ""


def told(member: Member) -> dict[str, Any]:
    """What a server says of itself."""
    url = member.engine._client.url + "/models"
    with urllib.request.urlopen(url, timeout=10) as answer:
        found: dict[str, Any] = json.loads(answer.read())
    return found


@pytest.mark.nightly
def test_adapters_go_to_all_and_questions_of_a_lost_server_to_the_others(
    policy: VLMPolicy, views: list[View], closed: Callable[[EngineAgent], EngineAgent]
) -> None:
    agent = closed(engine_agent(policy, f"ray:{COMMAND}?n=2", limits=LIMITS))
    engine = agent.engine
    assert isinstance(engine, RayEngine)
    shake(policy)
    policy.version = 1
    before = agent.act(views)
    assert all(d.failure is None and d.tokens is not None for d in before)
    assert {d.tokens.version for d in before if d.tokens} == {1}
    states = [told(member) for member in engine.members]
    assert [len(state["log"]) for state in states] == [1, 1]
    assert [state["asked"] for state in states] == [2, 2]
    shake(policy)
    policy.version = 2
    agent.synchronize()
    assert [told(m)["log"][-1].split()[0] for m in engine.members] == ["unload", "unload"]
    assert agent.act(views) != before

    first, second = engine.members
    mine = agent.act(views)
    serving()[0].kill()
    submit = agent.submit
    assert submit is not None
    asked = [submit(view) for view in views * 2]
    assert [answer.result(60) for answer in asked] == mine * 2
    assert [first.lost, second.lost].count(True) == 1
    assert agent.metrics()["engines"] == 1
    shake(policy)
    policy.version = 3
    after = agent.act(views)
    assert {d.tokens.version for d in after if d.tokens} == {3}

    left = second if first.lost else first
    servers = serving()
    ray.kill(left.actor)
    assert eventually(lambda: not any(map(script, servers)), 30), "a server outlived its actor"
    with pytest.raises(UserError, match="all engines in Ray are lost"):
        agent.act(views)


@pytest.mark.nightly
def test_a_server_that_does_not_start_says_why(
    policy: VLMPolicy, closed: Callable[[EngineAgent], EngineAgent]
) -> None:
    command = f"{sys.executable} -c 'import sys; sys.exit(\"no weights on {{port}}\")'"
    with pytest.raises(UserError, match="no weights on"):
        engine_agent(policy, f"ray:{command}")
    assert not serving()
    with pytest.raises(UserError, match="Ray has 0"):
        engine_agent(policy, "ray:vllm?n=2")


def test_engines_are_said_by_kind_count_and_gpus() -> None:
    order = EngineOrder.read("vllm?n=2&gpus=0.5")
    assert (order.count, order.gpus, order.wire.needs) == (2, 0.5, "vLLM 0.10.2")
    assert EngineOrder.read("sglang").gpus == 1
    assert EngineOrder.read("serve {model} {port}").gpus == 0
    for wrong in ("vllm?n=0", "vllm?n=two", "vllm?m=1", "nothing", ""):
        with pytest.raises(UserError, match="is no engine; write ray:vllm"):
            EngineOrder.read(wrong)
