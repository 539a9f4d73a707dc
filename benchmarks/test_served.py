"""How many of 32 slots have a request under way to a served model whose answers take unlike times.

Slot by slot, as `Collector` plays a served model, beside batches: all who wait are asked together,
and none acts before the last answer is there. The envs' own steps take next to no time, and their
pictures are of 64x64. An answer takes 0.5 s, log-normal with a sigma of 0.8, over HTTP, from a
process of its own.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import pytest
from gymnasium.vector import AutoresetMode
from latency_server import latency_server, read
from test_collector import Errands

from ui_gym.playing.vector import UIVectorEnv
from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.agents.openai_chat import OpenAIAgent
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.policy.prompts import PromptBuilder

SLOTS = 32
MEDIAN, SIGMA = 0.5, 0.8
"""Of an answer's seconds."""
WARM, SECONDS = 3.0, 20.0
"""Before anything is measured, and while it is."""


class QuickErrands(Errands):
    """Errands whose clicks take no time."""

    def setup(self, device: Any, params: Any) -> None:
        device.begin(params.seed)
        device.perform = lambda action: None


class InBatches:
    """An agent of which whole batches are asked."""

    def __init__(self, agent: OpenAIAgent) -> None:
        self._agent = agent

    def act(self, views: Sequence[View]) -> list[Decision]:
        return self._agent.act(views)


@pytest.mark.parametrize("way", ["in batches", "in cohorts", "ui-gym"])
def test_slots_in_flight(benchmark: Any, way: str) -> None:
    envs = UIVectorEnv(SLOTS, QuickErrands(), autoreset_mode=AutoresetMode.DISABLED)
    figures: dict[str, float] = {}
    with latency_server(MEDIAN, SIGMA) as url:
        agent = OpenAIAgent("m", url, prompt=PromptBuilder(history=3))
        player: Any = agent if way == "ui-gym" else InBatches(agent)
        collector = Collector(
            envs, player, schedule="cohorts" if way == "in cohorts" else "free", keep_pictures=0
        )

        def run() -> None:
            with closing(collector.episodes(EpisodeRequest(seed=s) for s in range(4000))) as played:
                until(played, WARM)
                before = read(url)
                until(played, SECONDS)
                after = read(url)
            seconds = after["at"] - before["at"]
            under_way = (after["total"] - before["total"]) / seconds
            figures["per_second"] = round((after["answered"] - before["answered"]) / seconds, 2)
            figures["slots_in_flight"] = round(under_way, 1)
            figures["share_in_flight"] = round(under_way / SLOTS, 3)

        benchmark.group, benchmark.name = f"turns of {SLOTS} slots of a served model", way
        try:
            benchmark.pedantic(run, rounds=1)
        finally:
            envs.close()
            agent.close()
    benchmark.extra_info |= figures


def until(played: Any, seconds: float) -> None:
    """Let episodes end for so long, and until the next has ended."""
    end = time.monotonic() + seconds
    for _ in played:
        if time.monotonic() > end:
            return
