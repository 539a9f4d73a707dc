"""What a server does to episodes: its faults fail them, and never become a reward."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from pydantic import SecretStr
from serving import AllAtOnce

from tests.engines.model_server import ModelServer
from ui_gym.errors import UserError
from ui_gym.playing.vector import UIVectorEnv
from ui_gym_agents.agents import make_agent
from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.agents.openai_chat import OpenAIAgent
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest, schedule_for
from ui_gym_agents.engines.agent import EngineAgent
from ui_gym_agents.engines.openai import OpenAIEngine
from ui_gym_agents.engines.protocol import RequestLimits
from ui_gym_agents.episode import Turn
from ui_gym_agents.policy import VLMPolicy
from ui_gym_agents.training.context import TrainerContext
from ui_gym_agents.training.run_directory import RunDirectory
from ui_gym_agents.training.settings import (
    EnvSettings,
    PolicySettings,
    RunConfig,
    TaskSettings,
)

MakeVector = Callable[..., UIVectorEnv]
MakeEngine = Callable[..., OpenAIEngine]
GROUPS = [EpisodeRequest(seed=s, group=f"g{s}", member=i) for s in (5, 6) for i in range(4)]
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


@pytest.mark.parametrize("who", ["agent", "policy", "copy"])
def test_every_slot_of_a_policy_keeps_a_question_open(
    who: str, server: ModelServer, policy: VLMPolicy, make_engine: MakeEngine,
    make_vector: MakeVector,
) -> None:  # fmt: skip
    agent = EngineAgent(policy, make_engine(server))
    if who != "agent":
        policy.sampler = agent
    player = {"agent": agent, "policy": policy, "copy": copy.deepcopy(policy)}[who]
    assert schedule_for(player) == "free"
    envs = make_vector(4, max_steps=3)
    server.wait = together = AllAtOnce(4, answers=12)
    episodes = Collector(envs, player, schedule="free").collect(GROUPS)
    assert (together.starved, together.left) == (0, 0)
    assert all(episode.failure is None for episode in episodes)
    own = Collector(envs, InProcess(policy), schedule="cohorts").collect(GROUPS)
    assert [[said(t) for t in e.turns] for e in episodes] == [
        [said(t) for t in e.turns] for e in own
    ]


def test_a_training_keeps_a_question_of_every_slot_open(
    server: ModelServer, folders: dict[str, Path], tmp_path: Path
) -> None:
    config = RunConfig(
        plugin="x",
        tasks=TaskSettings(ids=("PaintText",)),
        env=EnvSettings(num_envs=4, max_steps=3),
        policy=PolicySettings(
            model=str(folders["qwen3_vl"]), lora_rank=2, max_new_tokens=6, threads=1,
            engine=f"openai:tiny@{server.url}",
        ),
    )  # fmt: skip
    run = RunDirectory(tmp_path)
    context = TrainerContext(run=run, config=config)
    server.wait = together = AllAtOnce(4, answers=12)
    try:
        played = context.collector.collect(context.requests(1, 2, 4))
        assert (together.starved, together.left) == (0, 0)
        assert [episode.failure for episode in played] == [None] * 8
        server.wait = together = AllAtOnce(4, answers=12)
        context.evaluate(8, greedy=True)
        assert (together.starved, together.left) == (0, 0)
    finally:
        context.close()
        run.close()


class InProcess:
    """The policy itself, whoever samples for it."""

    def __init__(self, policy: VLMPolicy) -> None:
        self._policy = copy.deepcopy(policy)
        self._policy.sampler = None

    def act(self, views: Sequence[View]) -> list[Decision]:
        return self._policy.act(views)


def said(turn: Turn) -> tuple[object, ...]:
    """What a turn is, but for the last bits of its log-probabilities."""
    assert turn.tokens is not None
    return (turn.screenshot_id, turn.action_text, turn.tokens.prompt_ids, turn.tokens.output_ids)


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
    used = [turn.usage for turn in episode.turns if turn.usage is not None]
    assert len(used) == episode.steps
    assert all(count.prompt > 64 and 1 <= count.completion <= 6 for count in used)
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
