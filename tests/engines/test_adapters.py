"""Adapters on a server that is started again, puts them away, or serves two runs."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from policy_helpers import shake

from tests.engines.model_server import ModelServer
from ui_gym.errors import UserError
from ui_gym.playing.vector import UIVectorEnv
from ui_gym_agents.agents.agent import View
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.engines.agent import EngineAgent
from ui_gym_agents.engines.openai import OpenAIEngine
from ui_gym_agents.policy import VLMPolicy

MakeEngine = Callable[..., OpenAIEngine]
MakePolicy = Callable[..., VLMPolicy]


def test_a_server_that_was_started_again_is_given_the_adapter_once(
    either: ModelServer, policy: VLMPolicy, make_engine: MakeEngine, views: list[View],
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    shake(policy)
    agent = EngineAgent(policy, make_engine(either, run="run"))
    before = agent.act(views)
    either.restart()
    with caplog.at_level(logging.WARNING):
        assert agent.act(views) == before
    assert all(decision.tokens is not None for decision in before)
    assert either.log == ["load run-v000000", "restart", "load run-v000000"]
    assert [r.message for r in caplog.records] == [
        "the server knows the adapter run-v000000 no more, and is given it again"
    ]
    submit = agent.submit
    assert submit is not None
    either.restart()
    assert [submit(view).result(20) for view in views] == before


def test_a_collection_goes_on_when_the_server_is_started_again(
    server: ModelServer, policy: VLMPolicy, make_engine: MakeEngine,
    make_vector: Callable[..., UIVectorEnv],
) -> None:  # fmt: skip
    agent = EngineAgent(policy, make_engine(server))
    envs = make_vector(3, max_steps=3)
    asked = [EpisodeRequest(seed=seed) for seed in range(6)]
    playing = Collector(envs, agent, schedule="free", max_requeues=0).episodes(asked)
    episodes = [next(playing)]
    server.restart()
    episodes += playing
    assert [episode.failure for episode in episodes] == [None] * 6


def test_a_server_that_never_keeps_an_adapter_is_the_users_to_mend(
    server: ModelServer, policy: VLMPolicy, make_engine: MakeEngine, views: list[View],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    agent = EngineAgent(policy, make_engine(server))
    monkeypatch.setattr(server, "_take", lambda name, path: server.log.append(f"lost {name}"))
    with pytest.raises(UserError, match=r"no such model or address.*does not exist"):
        agent.act(views)
    assert 1 < len(server.log) <= 16


def test_an_adapter_can_be_read_again_as_long_as_it_is_asked_for(
    either: ModelServer, policy: VLMPolicy, make_engine: MakeEngine, views: list[View],
    tmp_path: Path,
) -> None:  # fmt: skip
    """A server keeps so many adapters in memory, and reads the others when they are needed."""
    shake(policy)
    agent = EngineAgent(policy, make_engine(either, run="run"), tmp_path)
    before = agent.act(views)
    either.evict()
    assert agent.act(views) == before
    shake(policy)
    policy.version += 1
    after = agent.act(views)
    either.evict()
    assert agent.act(views) == after != before
    (own,) = tmp_path.iterdir()
    assert [folder.name for folder in own.iterdir()] == ["v000001"]
    agent.close()
    assert list(tmp_path.iterdir()) == []


def test_runs_that_share_a_folder_keep_apart(
    server: ModelServer, make_policy: MakePolicy, make_engine: MakeEngine, views: list[View],
    tmp_path: Path,
) -> None:  # fmt: skip
    policies = [make_policy(seed=seed) for seed in (1, 2)]
    for policy in policies:
        shake(policy)
    shake(policies[1])
    agents = [EngineAgent(policy, make_engine(server), tmp_path) for policy in policies]
    own = [agent.act(views) for agent in agents]
    assert own[0] != own[1]
    assert len(set(server.paths.values())) == 2
    server.evict()
    assert [agent.act(views) for agent in agents] == own
    agents[0].close()
    server.evict()
    assert agents[1].act(views) == own[1]
    agents[1].close()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_the_users_mistake(
    server: ModelServer, policy: VLMPolicy, make_engine: MakeEngine, views: list[View],
    tmp_path: Path,
) -> None:  # fmt: skip
    (tmp_path / "file").touch()
    agent = EngineAgent(policy, make_engine(server), tmp_path / "file")
    with pytest.raises(UserError, match=r"policy\.exchange.*file"):
        agent.act(views)


def test_a_server_without_adapters_says_what_it_lacks(
    server: ModelServer, policy: VLMPolicy, make_engine: MakeEngine, views: list[View]
) -> None:
    engine = make_engine(server, admin_url=f"{server.url}/nowhere")
    with pytest.raises(UserError, match=r"--enable-lora.*policy\.exchange"):
        EngineAgent(policy, engine).act(views)
