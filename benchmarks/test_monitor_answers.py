"""What the monitor answers from an index with a million episodes of one run, over HTTP.

The run: 5,000 training steps of 22 groups of 8 episodes each, on 60 tasks, and evaluations of 3,000
episodes at 20 steps in two modes. Each answer is asked for `TIMES` times from a client of the same
process, one after the other; the index is a file, with the cache that the monitor gives it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from statistics import median
from typing import Any

import httpx
import pytest
from many_episodes import ManyEpisodes

from ui_gym_agents.monitor.app import MonitorServer
from ui_gym_agents.monitor.index import MonitorIndex
from ui_gym_agents.monitor.library import Library, Shelf

TIMES = 5
BAR = 1.0
"""Seconds that an answer may take."""

RUN = ManyEpisodes.id
TASK = "{task}"
ANSWERS: dict[str, tuple[str, Mapping[str, str]]] = {
    "runs": ("runs", {}),
    "run": (f"runs/{RUN}", {}),
    "steps": (f"runs/{RUN}/steps", {}),
    "new steps": (f"runs/{RUN}/steps", {"after": "4999"}),
    "episodes": (f"runs/{RUN}/episodes", {}),
    "episodes, a late page": (f"runs/{RUN}/episodes", {"after": "1000:1000"}),
    "episodes, oldest": (f"runs/{RUN}/episodes", {"order": "old"}),
    "episodes, worst": (f"runs/{RUN}/episodes", {"order": "worst"}),
    "episodes, best": (f"runs/{RUN}/episodes", {"order": "best"}),
    "episodes, best, a late page": (f"runs/{RUN}/episodes", {"order": "best", "after": "1.0:9000"}),
    "episodes, longest": (f"runs/{RUN}/episodes", {"order": "long"}),
    "episodes of a kind": (f"runs/{RUN}/episodes", {"kind": "evaluation"}),
    "episodes of a kind, worst": (f"runs/{RUN}/episodes", {"kind": "baseline", "order": "worst"}),
    "episodes of a step": (f"runs/{RUN}/episodes", {"kind": "step", "step": "2500"}),
    "episodes of a step alone": (f"runs/{RUN}/episodes", {"step": "2500"}),
    "episodes of a mode": (f"runs/{RUN}/episodes", {"mode": "greedy"}),
    "episodes of an evaluation": (
        f"runs/{RUN}/episodes", {"kind": "evaluation", "step": "2630", "mode": "greedy"},
    ),
    "episodes of a task": (f"runs/{RUN}/episodes", {"task": TASK}),
    "episodes of a task, worst": (f"runs/{RUN}/episodes", {"task": TASK, "order": "worst"}),
    "episodes of a task, longest": (f"runs/{RUN}/episodes", {"task": TASK, "order": "long"}),
    "episodes of a suite": (f"runs/{RUN}/episodes", {"suite": "miniwob"}),
    "episodes of a suite, oldest": (f"runs/{RUN}/episodes", {"suite": "core", "order": "old"}),
    "episodes of a seed": (f"runs/{RUN}/episodes", {"seed": "7"}),
    "episodes of a group": (f"runs/{RUN}/episodes", {"group": "2500-3", "step": "2500"}),
    "episodes of a group alone": (f"runs/{RUN}/episodes", {"group": "2500-3"}),
    "episodes without success": (f"runs/{RUN}/episodes", {"won": "0"}),
    "episodes without success, longest": (f"runs/{RUN}/episodes", {"won": "0", "order": "long"}),
    "episodes without success, best": (f"runs/{RUN}/episodes", {"won": "0", "order": "best"}),
    "episodes with loops": (f"runs/{RUN}/episodes", {"what": "loop"}),
    "episodes with loops, worst": (f"runs/{RUN}/episodes", {"what": "loop", "order": "worst"}),
    "wrong ends, longest": (f"runs/{RUN}/episodes", {"what": "wrong", "order": "long"}),
    "faults": (f"runs/{RUN}/episodes", {"what": "fault"}),
    "wrong ends of a task": (f"runs/{RUN}/episodes", {"what": "wrong", "task": TASK}),
    "search, one word": (f"runs/{RUN}/episodes", {"q": "Cleod"}),
    "search, a word of all": (f"runs/{RUN}/episodes", {"q": "click"}),
    "search, two words": (f"runs/{RUN}/episodes", {"q": "Cleod Adaa"}),
    "search, nothing found": (f"runs/{RUN}/episodes", {"q": "zebra"}),
    "search, worst": (f"runs/{RUN}/episodes", {"q": "Cleod", "order": "worst"}),
    "search in failures": (f"runs/{RUN}/episodes", {"q": "submitted Finnj", "won": "0"}),
    "search in a task": (f"runs/{RUN}/episodes", {"q": "click", "task": TASK}),
    "groups": (f"runs/{RUN}/groups", {}),
    "groups of a step": (f"runs/{RUN}/groups", {"step": "2500"}),
    "a group": (f"runs/{RUN}/groups/2500-3", {"step": "2500"}),
    "a group without its step": (f"runs/{RUN}/groups/2500-3", {}),
    "an episode": (f"runs/{RUN}/episodes/{{episode}}", {}),
    "an episode of a search": (f"runs/{RUN}/episodes/{{episode}}", {"q": "click", "won": "0"}),
    "an episode of the worst": (f"runs/{RUN}/episodes/{{episode}}", {"order": "worst"}),
    "failures": (f"runs/{RUN}/failures", {}),
    "failures of a step": (f"runs/{RUN}/failures", {"kind": "step", "step": "2500"}),
    "failures of a task": (f"runs/{RUN}/failures", {"task": TASK}),
    "failures of a kind": (f"runs/{RUN}/failures", {"kind": "evaluation"}),
    "failures searched": (f"runs/{RUN}/failures", {"q": "Cleod"}),
    "failures with loops": (f"runs/{RUN}/failures", {"what": "loop"}),
    "seeds": (f"runs/{RUN}/seeds", {}),
    "seeds of a task": (f"runs/{RUN}/seeds", {"task": TASK}),
    "through": (f"runs/{RUN}/through", {"task": TASK, "seed": "7"}),
    "choices": ("compare/choices", {}),
    "compare": (
        "compare",
        {"a": f"{RUN}/baseline/0/greedy", "b": f"{RUN}/evaluation/4997/greedy"},
    ),
    "compare, one page of flips": (
        "compare",
        {"a": f"{RUN}/baseline/0/greedy", "b": f"{RUN}/evaluation/4997/greedy", "show": "b_only"},
    ),
}  # fmt: skip


class ManyShelf(Shelf):
    """A shelf with one source."""

    def sources(self) -> Iterator[Any]:
        yield ManyEpisodes()


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MonitorIndex]:
    made = MonitorIndex(tmp_path_factory.mktemp("million") / "index.sqlite")
    assert ManyEpisodes().fill(made) == 1_000_000
    yield made
    made.close()


@pytest.fixture(scope="module")
def client(index: MonitorIndex, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    shelf = ManyShelf(tmp_path_factory.mktemp("shelf"))
    server = MonitorServer(Library([shelf], index))
    with server, httpx.Client(base_url=f"{server.url}/api/", timeout=120) as made:
        yield made


def test_answers_from_a_million_episodes(benchmark: Any, client: httpx.Client) -> None:
    names = _names(client)
    taken: dict[str, list[float]] = {}

    def ask_all() -> None:
        for name, (path, params) in ANSWERS.items():
            told = {key: value.format(**names) for key, value in params.items()}
            taken[name] = [_seconds(client, path.format(**names), told) for _ in range(TIMES)]

    benchmark.group = "answers from a million episodes"
    benchmark.pedantic(ask_all, rounds=1)
    for name, seconds in taken.items():
        benchmark.extra_info[f"{name}, ms"] = round(1000 * median(seconds), 1)
        print(f"{name:40} median {1000 * median(seconds):7.1f} ms, max {1000 * max(seconds):7.1f}")
    assert not [name for name, seconds in taken.items() if median(seconds) > BAR]


def _seconds(client: httpx.Client, path: str, params: Mapping[str, str]) -> float:
    begun = time.perf_counter()
    answer = client.get(path, params=params)
    seconds = time.perf_counter() - begun
    assert answer.status_code == 200, answer.text
    return seconds


def _names(client: httpx.Client) -> dict[str, str]:
    """A task and an episode of the middle of the run."""
    found = client.get(f"runs/{RUN}/episodes", params={"kind": "step", "step": "2500"}).json()
    return {"task": found["episodes"][0]["task"], "episode": found["episodes"][0]["id"]}
