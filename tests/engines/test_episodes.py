"""What a server does to episodes: its faults fail them, and never become a reward."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from model_server import ModelServer
from pydantic import SecretStr

from ui_gym.errors import UserError
from ui_gym.playing.vector import UIVectorEnv
from ui_gym_agents.agents import make_agent
from ui_gym_agents.agents.openai_chat import OpenAIAgent
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.engines.agent import EngineAgent
from ui_gym_agents.engines.http import RequestLimits
from ui_gym_agents.engines.openai import OpenAIEngine
from ui_gym_agents.policy import VLMPolicy

MakeVector = Callable[..., UIVectorEnv]
MakeEngine = Callable[..., OpenAIEngine]
GROUP = [EpisodeRequest(seed=5, group="g", member=i) for i in range(3)]


def test_a_fault_fails_its_episode_alone_and_it_is_played_again(
    server: ModelServer, policy: VLMPolicy, make_engine: MakeEngine, make_vector: MakeVector
) -> None:
    agent = EngineAgent(policy, make_engine(server, connections=1))
    agent.synchronize()
    envs = make_vector(3)
    whole = Collector(envs, agent, schedule="cohorts").collect(GROUP)
    assert all(e.failure is None and e.turns[-1].tokens is not None for e in whole)

    server.faults = ["count"]
    again = Collector(envs, agent, schedule="cohorts").collect(GROUP)
    assert not server.faults
    assert [[t.tokens for t in e.turns] for e in again] == [
        [t.tokens for t in e.turns] for e in whole
    ]

    server.faults = ["count"]
    failed = Collector(envs, agent, schedule="cohorts", max_requeues=0).collect(GROUP)
    (one,) = [e for e in failed if e.failure is not None]
    assert str(one.failure).startswith("engine: the server saw ")
    assert (one.score, one.success, one.steps) == (0.0, False, 1)

    server.faults = ["count"]
    (group,) = Collector(envs, agent, schedule="cohorts", max_requeues=0).groups(GROUP)
    assert len(group) == 2, "the failed member is left out of its group"


def test_a_served_model_is_an_agent_by_name(
    server: ModelServer, make_vector: MakeVector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    envs = make_vector(2)
    agent = make_agent(f"openai:tiny@{server.url}", envs.single_action_space)
    assert isinstance(agent, OpenAIAgent)
    agent.max_new_tokens = 6
    (episode,) = Collector(envs, agent).collect(GROUP[:1])
    agent.close()
    assert episode.failure is None
    assert episode.steps > 1
    assert any(turn.action_text for turn in episode.turns)
    first, second = server.requests[:2]
    assert server.headers[0]["Authorization"] == "Bearer sk-secret"
    assert "sk-secret" not in repr(vars(agent)) + repr(agent.key)
    system, user = first["messages"]
    assert "click(" in system["content"][0]["text"]
    assert user["content"][0]["text"].startswith(episode.goal)
    pictures = [
        part for m in second["messages"] for part in m["content"] if part["type"] == "image_url"
    ]
    assert len(pictures) == 2


def test_a_served_model_needs_no_torch() -> None:
    code = "import sys, ui_gym_agents.agents.openai_chat; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


@pytest.mark.parametrize("fault", ["500", "junk", "400"])
def test_a_served_agents_fault_is_no_answer(
    fault: str, server: ModelServer, make_vector: MakeVector
) -> None:
    limits = RequestLimits(timeout=20, attempts=2, pause=0.01)
    agent = OpenAIAgent("tiny", server.url, limits=limits)
    server.faults = [fault] * 2
    envs = make_vector(1)
    (episode,) = Collector(envs, agent, max_requeues=0).collect(GROUP[:1])
    agent.close()
    assert episode.failure is not None
    assert episode.failure.startswith("server: ")


def test_a_wrong_key_or_name_is_the_users_mistake(
    server: ModelServer, make_vector: MakeVector
) -> None:
    envs = make_vector(1)
    agent = OpenAIAgent("tiny", server.url, key=SecretStr("sk-secret"))
    server.faults = ["401"]
    with pytest.raises(UserError, match="the key was refused") as caught:
        Collector(envs, agent).collect(GROUP[:1])
    agent.close()
    assert "sk-secret" not in str(caught.value)
    for name, said in (("openai:", "names no model"), ("openai:m@nowhere", "begins with http")):
        with pytest.raises(UserError, match=said):
            make_agent(name, envs.single_action_space)
