"""Somebody else's agent plays in our envs with our policy's words, and is learned from."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch
from waiting import eventually

from tests.engines.model_server import ModelServer
from tests.engines.policy_serving import Gate
from ui_gym.errors import UserError
from ui_gym.playing.vector import UIVectorEnv
from ui_gym_agents.agents.agent import View
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.engines.agent import engine_agent
from ui_gym_agents.episode import Episode, TokenRecord, Turn
from ui_gym_agents.groups.gathering import samples_of
from ui_gym_agents.policy import PromptBuilder, VLMPolicy
from ui_gym_agents.serving.client import RolloutOver, next_rollout
from ui_gym_agents.serving.foreign import ForeignAgent
from ui_gym_agents.serving.rollouts import RolloutError
from ui_gym_agents.store import from_json, to_json
from ui_gym_agents.training import cli
from ui_gym_agents.training.context import TrainerContext
from ui_gym_agents.training.run_directory import RunDirectory
from ui_gym_agents.training.settings import EnvSettings, PolicySettings, RunConfig, TaskSettings

MakeVector = Callable[..., UIVectorEnv]
MakePolicy = Callable[..., VLMPolicy]
AGENTS = "tests.engines.foreign_agents"
ROOT = Path(__file__).parents[2]
REQUESTS = [EpisodeRequest(seed=s, group=f"g{s}", member=i) for s in (5, 6) for i in range(2)]

PLAY = f"""
import os, sys
sys.path.insert(0, {str(ROOT)!r})
from tests.engines.foreign_agents import ask, bare, user
from ui_gym_agents.serving.client import next_rollout, play_all
"""
DIES = (
    PLAY
    + """
def play(rollout):
    rollout.step(ask(rollout, user(rollout.goal)))
    if not os.path.exists("died"):
        open("died", "w").close()
        print("a tyre burst", flush=True)
        os._exit(3)
    bare(rollout)
play_all(play, threads=1)
"""
)


@pytest.fixture
def make_agent(make_policy: MakePolicy) -> Iterator[Callable[..., ForeignAgent]]:
    """Makes agents of a bare policy at temperature 0.7, and closes them."""
    made: list[ForeignAgent] = []

    def make(name: str = f"{AGENTS}:bare", policy: VLMPolicy | None = None) -> ForeignAgent:
        policy = policy or make_policy(prompt=PromptBuilder.bare(), temperature=0.7)
        made.append(ForeignAgent(policy, name, dialect="canonical", slots=3))
        return made[-1]

    yield make
    for agent in made:
        agent.close()


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """The name of the agent whose program is a text; it runs in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def write(text: str) -> str:
        (tmp_path / "agent.py").write_text(text)
        return f"command:{shlex.join([sys.executable, str(tmp_path / 'agent.py')])}"

    return write


def play(agent: ForeignAgent, envs: UIVectorEnv, **options: Any) -> list[Episode]:
    return Collector(envs, agent, **options).collect(REQUESTS)


def tokens(episodes: list[Episode]) -> list[list[TokenRecord | None]]:
    return [[turn.tokens for turn in episode.turns] for episode in episodes]


def test_what_a_foreign_agent_plays_is_what_a_learner_computes_again(
    make_agent: Callable[..., ForeignAgent], make_vector: MakeVector
) -> None:
    agent = make_agent()
    collector = Collector(make_vector(3), agent)
    episodes = collector.collect(REQUESTS)
    assert [episode.failure for episode in episodes] == [None] * 4
    records = [t.tokens for e in episodes for t in e.turns if t.tokens is not None]
    assert len(records) == sum(episode.steps for episode in episodes) > 8
    assert all(len(record.images) == 1 for record in records)
    scored = agent.policy.logprobs(records, collector.store.screenshots)
    for record, scores in zip(records, scored, strict=True):
        sampled = torch.tensor(record.logprobs)
        torch.testing.assert_close(scores.detach(), sampled, atol=1e-5, rtol=0)
    said, again = [
        [[r.output_ids for r in row if r is not None] for row in tokens(played)]
        for played in (episodes, collector.collect(REQUESTS))
    ]
    assert said == again, "a seed repeats itself"


def test_a_greedy_foreign_agent_plays_as_the_policy_itself_does(
    make_agent: Callable[..., ForeignAgent], make_vector: MakeVector
) -> None:
    agent = make_agent()
    agent.temperature = 0.0
    foreign = play(agent, make_vector(3))
    own = Collector(make_vector(3), agent.policy).collect(REQUESTS)
    for ours, theirs in zip(own, foreign, strict=True):
        assert [t.action_text for t in ours.turns] == [t.action_text for t in theirs.turns]
        for mine, its in zip(ours.turns, theirs.turns, strict=True):
            assert mine.tokens is not None
            assert its.tokens is not None
            assert mine.tokens.prompt_ids == its.tokens.prompt_ids
            assert mine.tokens.output_ids == its.tokens.output_ids
            assert mine.tokens.images == its.tokens.images
            assert its.tokens.temperature == 0.0


def test_a_step_of_several_samples_is_learned_whole(
    make_agent: Callable[..., ForeignAgent], make_vector: MakeVector
) -> None:
    agent = make_agent(f"{AGENTS}:planner")
    collector = Collector(make_vector(2), agent)
    episode = collector.collect(REQUESTS[:1])[0]
    read = from_json(json.loads(json.dumps(to_json(episode))))
    assert tokens([read]) == tokens([episode])
    for turn in episode.turns:
        assert turn.tokens is not None
        (plan,) = turn.tokens.before
        assert (plan.images, len(turn.tokens.images)) == ((), 1)
        assert turn.tokens.images[0] != turn.screenshot_id, "it was shown half of the screen"
    samples = samples_of(read, 1.0)
    assert len(samples) == 2 * episode.steps
    records = [sample.record for sample in samples]
    scored = agent.policy.logprobs(records, collector.store.screenshots)
    for record, scores in zip(records, scored, strict=True):
        sampled = torch.tensor(record.logprobs)
        torch.testing.assert_close(scores.detach(), sampled, atol=1e-5, rtol=0)


def test_what_the_policy_did_not_say_is_never_learned(
    make_agent: Callable[..., ForeignAgent], make_vector: MakeVector
) -> None:
    episodes = play(make_agent(f"{AGENTS}:silent"), make_vector(2))
    assert all(turn.tokens is None for e in episodes for turn in e.turns)
    assert [samples_of(episode, 1.0) for episode in episodes] == [[]] * 4


def test_an_agent_that_raises_fails_its_episode(
    make_agent: Callable[..., ForeignAgent], make_vector: MakeVector
) -> None:
    episodes = play(make_agent(f"{AGENTS}:clumsy"), make_vector(2), max_requeues=1)
    assert {e.failure for e in episodes} == {"agent: ValueError: no such button"}


def test_an_agent_that_never_ends_is_left(
    make_agent: Callable[..., ForeignAgent], make_vector: MakeVector
) -> None:
    episodes = play(make_agent(f"{AGENTS}:endless"), make_vector(2), episode_timeout=0.5)
    assert {e.failure for e in episodes} == {"collector: it took longer than 0.5 s"}


@pytest.mark.parametrize(
    "text",
    [
        PLAY + "play_all(bare)",
        PLAY + "rollout = next_rollout()\nbare(rollout) if rollout else None\nprint('one')",
    ],
    ids=["all", "one"],
)
def test_a_program_plays(
    text: str, program: Callable[[str], str], make_agent: Callable[..., ForeignAgent],
    make_vector: MakeVector,
) -> None:  # fmt: skip
    episodes = play(make_agent(program(text)), make_vector(2))
    assert [episode.failure for episode in episodes] == [None] * 4
    assert all(turn.tokens is not None for e in episodes for turn in e.turns)


@pytest.mark.parametrize(
    ("text", "said"), [("raise ValueError('no wheels')", "no wheels"), ("", "it said nothing")]
)
def test_a_program_that_does_not_play_is_the_users_mistake(
    text: str, said: str, program: Callable[[str], str],
    make_agent: Callable[..., ForeignAgent], make_vector: MakeVector,
) -> None:  # fmt: skip
    with pytest.raises(UserError, match=f"ended 3 times: .*{said}"):
        play(make_agent(program(text)), make_vector(2))


def test_a_program_that_dies_is_started_again_and_so_is_its_episode(
    program: Callable[[str], str], make_agent: Callable[..., ForeignAgent],
    make_vector: MakeVector, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    episodes = play(make_agent(program(DIES)), make_vector(2))
    assert [episode.failure for episode in episodes] == [None] * 4
    assert "agent: its program ended: a tyre burst" in caplog.text
    assert caplog.text.count("again: ") == 1


def test_a_program_that_dies_while_the_env_is_at_work_fails_its_episode(
    make_agent: Callable[..., ForeignAgent],
) -> None:
    agent = make_agent(f"{AGENTS}:silent")
    first = agent.submit(View(0, "Go", [], noise=1))
    assert first.result(10).tokens is None
    assert agent._lost(agent._secret, "it fell") is False
    turns = [Turn("", "click(1, 1)")]
    assert agent.submit(View(0, "Go", [], turns=turns, noise=2)).result(10).failure == (
        "agent: it fell"
    )


def test_an_episode_is_not_given_to_a_program_that_is_gone(
    make_agent: Callable[..., ForeignAgent],
) -> None:
    agent = make_agent("command:true")
    agent._started = True  # nobody plays but this test

    gone, other = (f"{agent._secret}-{number}" for number in (1, 2))

    async def ask() -> None:
        asking = asyncio.create_task(agent.next(gone))
        await asyncio.sleep(0)
        assert agent._lost(gone, "it fell") is False
        assert await asking == await agent.next(gone) == {"over": True}
        agent.submit(View(0, "Go", [], noise=1))
        with pytest.raises(RolloutError, match="not started by the trainer"):
            await agent.next("somebody else")
        given = await agent.next(other)
        assert given["env"]["goal"] == "Go"

    asyncio.run(ask())


@pytest.mark.parametrize("name", ["command:", "command:no-such-program-here", f"{AGENTS}:nobody"])
def test_an_agent_that_is_not_there_is_named(
    name: str, make_agent: Callable[..., ForeignAgent]
) -> None:
    with pytest.raises(UserError, match=r"names no program|nobody"):
        make_agent(name)


def test_nothing_is_sampled_once_an_episode_is_over(
    make_agent: Callable[..., ForeignAgent],
) -> None:
    """A learner may change the weights as soon as `ended` returns."""
    agent = make_agent()
    gate = Gate(agent.policy)
    agent.submit(View(0, "Go", [], noise=1))
    (played,) = agent._by_slot.values()
    body = {"messages": [{"role": "user", "content": "x"}]}
    url = f"{agent._server.url}/chat/completions"
    headers = {"Authorization": f"Bearer {played.rollout.key}"}

    def post() -> httpx.Response:
        return httpx.post(url, json=body, headers=headers, trust_env=False, timeout=20)

    asking = threading.Thread(target=post)
    asking.start()
    assert gate.asked.wait(10)
    ending = threading.Thread(target=agent.ended, args=(0,))
    ending.start()
    assert eventually(lambda: played.rollout.over)
    assert ending.is_alive()
    gate.open.set()
    ending.join(10)
    asking.join(10)
    assert not ending.is_alive()
    found = post()
    assert found.status_code == 401
    assert played.rollout.key not in found.text


def test_a_program_of_nobody_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(UserError, match="says nothing"):
        next_rollout()
    assert next_rollout("http://127.0.0.1:9/v1") is None
    assert issubclass(RolloutOver, Exception)


def test_an_engine_samples_for_a_foreign_agent(
    server: ModelServer, make_policy: MakePolicy, make_vector: MakeVector,
    make_agent: Callable[..., ForeignAgent],
) -> None:  # fmt: skip
    policy = make_policy(prompt=PromptBuilder.bare(), temperature=0.0)
    policy.sampler = engine_agent(policy, f"openai:tiny@{server.url}")
    served = play(make_agent(policy=policy), make_vector(2))
    own = make_policy(prompt=PromptBuilder.bare(), temperature=0.0)
    here = play(make_agent(policy=own), make_vector(2))
    assert [[t.action_text for t in e.turns] for e in served] == [
        [t.action_text for t in e.turns] for e in here
    ]
    assert server.requests
    policy.close()


def test_an_evaluation_is_played_by_the_agent(folders: dict[str, Path], tmp_path: Path) -> None:
    config = RunConfig(
        plugin="x",
        tasks=TaskSettings(ids=("PaintText",)),
        env=EnvSettings(num_envs=2, max_steps=3),
        policy=PolicySettings(
            model=str(folders["qwen3_vl"]), lora_rank=2, max_new_tokens=6, threads=1,
            agent=f"{AGENTS}:planner",
        ),
    )  # fmt: skip
    run = RunDirectory(tmp_path)
    context = TrainerContext(run=run, config=config)
    try:
        assert isinstance(context.player, ForeignAgent)
        context.evaluate(2, greedy=True)
        lines = [path.read_text() for path in tmp_path.rglob("episodes.jsonl")]
        episodes = [from_json(json.loads(line)) for text in lines for line in text.splitlines()]
        records = [turn.tokens for e in episodes for turn in e.turns]
        assert len(records) == 6
        assert {r.temperature for r in records if r is not None} == {0.0}
        assert all(r is not None and len(r.before) == 1 for r in records)
    finally:
        context.close()
        run.close()


def test_grpo_learns_from_what_an_agent_played(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_reward_of_agents.py").write_text(
        "def letters(episode):\n"
        "    return sum(map(ord, ''.join(t.action_text for t in episode.turns))) % 5 / 4\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    arguments = (
        "--plugin", "grpo", "--tasks.ids", '["PaintText"]', "--env.num_envs", "4",
        "--env.max_steps", "2", "--run.directory", "run", "--run.steps", "1",
        "--run.eval_every", "0", "--run.records", "off", "--evaluation.episodes", "0",
        "--policy.model", str(folders["qwen3_vl"]), "--policy.lora_rank", "2",
        "--policy.max_new_tokens", "6", "--policy.threads", "1",
        "--policy.agent", f"{AGENTS}:planner", "--trainer.groups", "2",
        "--trainer.group_size", "4", "--trainer.refill", "1",
        "--trainer.reward", "own_reward_of_agents:letters",
    )  # fmt: skip
    assert cli.main(list(arguments)) == 0
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    (row,) = [r for r in map(json.loads, lines) if r["kind"] == "train"]
    assert row["episodes"] == 8
    assert row["grad_norm"] > 0
