"""What a task knows of an episode reaches its record, and no agent but one that asks for it."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import paint
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv

from ui_gym.contract.action import Action, Click, Type
from ui_gym.contract.task import Brief, Demo, GroundTruth, Verdict
from ui_gym.playing.env import UIEnv
from ui_gym.playing.vector import UIVectorEnv
from ui_gym_agents.agents import OracleAgent
from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest

Envs = VectorEnv[Any, Any, Any]
SEEDS = (3, 4, 5)


class Secret(paint.PaintText):
    """The goal does not tell the word; judge, oracle and brief all do."""

    def goal(self, params: paint.Scene) -> str:
        return f"Write the word on the {params.target} box."

    def brief(self, device: Any, params: paint.Scene) -> Brief:
        return Brief(self.goal(params), {"word": params.text})

    def blind_rate(self, params: paint.Scene) -> float:
        return 0.015625

    def judge(self, device: Any, params: paint.Scene, history: Sequence[Action]) -> Verdict:
        right = device.texts.get(params.target) == params.text
        wanted = f"wanted {params.text}"
        return Verdict(float(right), done=right, notes=wanted, details={"wanted": params.text})

    def oracle(self, device: Any, params: paint.Scene) -> Iterator[Action | Demo]:
        yield Click(*paint.center(params, params.target))
        yield Demo(Type(params.text), thought=f"It is {params.text}.", caption=params.text)


@contextlib.contextmanager
def threads() -> Iterator[Envs]:
    with contextlib.closing(UIVectorEnv(2, Secret())) as envs:
        yield envs


@contextlib.contextmanager
def processes() -> Iterator[Envs]:
    with contextlib.closing(UIVectorEnv(2, Secret(), workers="processes:2")) as envs:
        yield envs


@contextlib.contextmanager
def sync() -> Iterator[Envs]:
    makers = [lambda: UIEnv(Secret())] * 2
    made = SyncVectorEnv(makers, autoreset_mode=AutoresetMode.DISABLED)
    with contextlib.closing(made) as envs:
        yield envs


@contextlib.contextmanager
def parallel() -> Iterator[Envs]:
    makers = [lambda: UIEnv(Secret())] * 2
    made = AsyncVectorEnv(makers, autoreset_mode=AutoresetMode.DISABLED)
    with contextlib.closing(made) as envs:
        yield envs


def everything(value: Any) -> str:
    """All that can be read in a value, however deep it lies."""
    if isinstance(value, Mapping):
        return " ".join(everything(part) for pair in value.items() for part in pair)
    if dataclasses.is_dataclass(value):
        return everything({f.name: getattr(value, f.name) for f in dataclasses.fields(value)})
    if isinstance(value, np.ndarray):
        return ""  # the picture is what an agent may look at
    if isinstance(value, list | tuple):
        return " ".join(map(everything, value))
    return f"{value!r} {vars(value) if hasattr(value, '__dict__') else ''}"


class Reader:
    """Reads all that it is given, and solves nothing."""

    def __init__(self) -> None:
        self.read = ""

    def act(self, views: Sequence[View]) -> list[Decision]:
        self.read += everything(list(views))
        return [Decision("click(1, 1)") for _ in views]


@pytest.mark.parametrize("envs", [threads, processes, sync, parallel])
def test_an_agent_that_reads_all_it_is_given_finds_no_answer(
    envs: Callable[[], contextlib.AbstractContextManager[Envs]],
) -> None:
    requests = [EpisodeRequest(seed, options={"oracle": True}) for seed in SEEDS]
    reader, oracle = Reader(), OracleAgent()
    with envs() as made:
        collector = Collector(made, reader)
        episodes = collector.collect(requests)
        solved = collector.collect([EpisodeRequest(seed) for seed in SEEDS], oracle)
    for seed, episode in zip(SEEDS, episodes, strict=True):
        params = Secret().draw(seed, "train")
        assert episode.goal in reader.read  # so it does read
        assert params.text not in reader.read
        x, y = paint.center(params, params.target)
        assert f"click({x}, {y})" not in reader.read
        assert episode.params == dataclasses.asdict(params)  # as the record has it
        assert (episode.blind_rate, episode.notes) == (0.015625, f"wanted {params.text}")
    assert "0.015625" not in reader.read
    assert all(episode.success for episode in solved)


def test_an_agent_that_asks_is_told_all() -> None:
    class Knowing(Reader):
        wants_ground_truth = True

    agent = Knowing()
    with threads() as envs:
        Collector(envs, agent).collect([EpisodeRequest(3)])
    params = Secret().draw(3, "train")
    assert everything(GroundTruth(dataclasses.asdict(params), 0.015625, {"word": params.text})) in (
        agent.read
    )


def test_an_env_tells_it_once_and_only_when_asked() -> None:
    with contextlib.closing(UIEnv(Secret())) as env:
        word = Secret().draw(3, "train").text
        _, info = env.reset(seed=3)
        assert word not in everything(info)
        _, info = env.reset(seed=3, options={"ground_truth": True})
        assert info["ground_truth"].hidden == {"word": word}
        info = env.step("wait(0)")[4]
        assert not {"ground_truth", "oracle"} & info.keys()
        _, info = env.reset(seed=3, options={"oracle": True})
        info = env.step(info["oracle"]["action_text"])[4]
        assert info["oracle"] == {"action_text": f'type("{word}")', "caption": word}
