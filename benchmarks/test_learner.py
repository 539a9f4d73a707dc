"""A learner step beside TRL's, in one run: 64 rollouts, two epochs of two gradient steps, on a CPU.

A peer and ours take turns, round by round, and what a peer took is divided by what ours took in the
same round. CPU time says the same on one thread, and a busy machine stretches it less.
`learner_peer.py` beside this file says what each is given.
"""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch

if TYPE_CHECKING:
    from learner_peer import Side

pytest.importorskip("trl", reason="needs trl==1.16: run it by tox -e bench")

ROUNDS = 5
OURS = "ui-gym"
WAYS = (OURS, "ui-gym, pictures unseen", "trl", "trl, spared all but training")
SCREENS = {"one picture a group": 8, "one picture a rollout": 64}
"""Rollouts of a group begin with the same picture; later, each may see another."""

Sides = dict[str, "Side"]


def make(screens: str, folder: Path, **plan: Any) -> Sides:
    """Every side by its way."""
    import learner_peer as peer

    torch.set_num_threads(peer.THREADS)
    found: Sides = {}
    for way in WAYS:
        policy = peer.make_policy()
        rollouts = peer.play(policy, SCREENS[screens])
        found[way] = peer.make_side(way, policy, rollouts, peer.Plan(**plan), folder)
    return found


@pytest.fixture(scope="module")
def sides(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Sides]:
    """What is measured, and what its rollouts see."""
    return request.param, make(request.param, tmp_path_factory.mktemp("trl"))


@pytest.mark.parametrize("screens", SCREENS)
def test_losses_and_gradients_are_equal(tmp_path: Path, screens: str) -> None:
    """Over two gradient steps; in the second, ratios are no longer 1."""
    sides = make(screens, tmp_path, epochs=2, parts=1, rate=1e-3)
    ours = sides.pop(OURS)
    assert ours.gradient().norm() > 0.01
    for side in sides.values():
        assert ours.loss == pytest.approx(side.loss, rel=1e-4)
        apart = (side.gradient() - ours.gradient()).norm() / ours.gradient().norm()
        assert apart < 1e-3


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("sides", SCREENS, indirect=True)
def test_learner_step(benchmark: Any, sides: tuple[str, Sides], way: str) -> None:
    screens, by_way = sides
    pair = (way, OURS if way != OURS else "trl")
    walls: dict[str, list[float]] = {name: [] for name in pair}
    cpus: dict[str, list[float]] = {name: [] for name in pair}

    def step(name: str) -> None:
        wall, cpu = time.perf_counter(), time.process_time()
        by_way[name].step()
        walls[name].append(time.perf_counter() - wall)
        cpus[name].append(time.process_time() - cpu)

    by_way[way].seconds.clear()
    benchmark.group, benchmark.name = f"learner step, {screens}", way
    benchmark.pedantic(lambda: step(way), setup=lambda: step(pair[1]), rounds=ROUNDS)
    phases = {phase: 1000 * s / ROUNDS for phase, s in by_way[way].seconds.items()}
    cpu = 1000 * statistics.mean(cpus[way])
    if way != OURS:
        benchmark.extra_info |= {
            "times_ui-gym": in_pairs(walls[way], walls[OURS]),
            "cpu_times_ui-gym": in_pairs(cpus[way], cpus[OURS]),
        }
    benchmark.extra_info |= {
        "per_second": round(1 / benchmark.stats.stats.median, 3),
        "cpu_ms": round(cpu),
        **{f"{phase}_cpu_ms": round(ms) for phase, ms in phases.items()},
        "rest_cpu_ms": round(cpu - sum(phases.values())),
        "load": round(os.getloadavg()[0], 1),
    }


def in_pairs(these: list[float], those: list[float]) -> float:
    """The median over the rounds of what these took over what those took."""
    return round(statistics.median(a / b for a, b in zip(these, those, strict=True)), 2)
