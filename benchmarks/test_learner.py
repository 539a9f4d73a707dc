"""A learner step beside TRL's, in one run: 64 rollouts, two epochs of two gradient steps, on a CPU.

The sides take turns, round by round. `learner_peer.py` beside this file says what each is given.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch

if TYPE_CHECKING:
    from learner_peer import Side

pytest.importorskip("trl", reason="needs trl==1.16: run it by tox -e bench")

ROUNDS = 7
WAYS = ["ui-gym", "trl", "trl, stock model"]
SCREENS = {"one picture a group": 8, "one picture a rollout": 64}
"""Rollouts of a group begin with the same picture; later, each may see another."""

Make = Callable[..., "dict[str, Side]"]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    import learner_peer as peer

    def sides(screens: int, *, epochs: int = 2, parts: int = 2) -> dict[str, Side]:
        torch.set_num_threads(peer.THREADS)
        policy = peer.make_policy()
        rollouts = peer.play(policy, screens)
        peer.shake(policy, seed=1)  # so that ratios are not all 1
        given = {"epochs": epochs, "parts": parts}
        found: dict[str, Side] = {"ui-gym": peer.Ours(policy, rollouts, **given)}
        for way in WAYS[1:]:
            net = peer.peer_net(policy, stock="stock" in way)
            found[way] = peer.Theirs(policy, net, rollouts, tmp_path, **given)
        return found

    return sides


@pytest.mark.parametrize("screens", SCREENS.values(), ids=SCREENS)
def test_losses_and_gradients_are_equal(make: Make, screens: int) -> None:
    sides = make(screens, epochs=1, parts=1)
    ours = sides.pop("ui-gym")
    assert ours.gradient().norm() > 0.01
    for side in sides.values():
        assert ours.loss == pytest.approx(side.loss, rel=1e-4)
        apart = (side.gradient() - ours.gradient()).norm() / ours.gradient().norm()
        assert apart < 1e-4


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("screens", SCREENS)
def test_learner_step(benchmark: Any, make: Make, screens: str, way: str) -> None:
    sides = make(SCREENS[screens])
    walls: dict[str, list[float]] = {name: [] for name in sides}
    cpus: dict[str, list[float]] = {name: [] for name in sides}

    def step(name: str) -> None:
        wall, cpu = time.perf_counter(), time.process_time()
        sides[name].step()
        walls[name].append(time.perf_counter() - wall)
        cpus[name].append(time.process_time() - cpu)

    def others() -> None:
        for name in sides:
            if name != way:
                step(name)

    benchmark.group, benchmark.name = f"learner step, {screens}", way
    benchmark.pedantic(step, args=(way,), setup=others, rounds=ROUNDS)
    phases = {phase: 1000 * s / ROUNDS for phase, s in sides[way].seconds.items()}
    cpu = 1000 * statistics.mean(cpus[way])
    benchmark.extra_info |= {
        "per_second": round(1 / benchmark.stats.stats.median, 3),
        "times_ui-gym": in_pairs(walls[way], walls["ui-gym"]),
        "cpu_ms": round(cpu),
        "cpu_times_ui-gym": in_pairs(cpus[way], cpus["ui-gym"]),
        **{f"{phase}_cpu_ms": round(ms) for phase, ms in phases.items()},
        "rest_cpu_ms": round(cpu - sum(phases.values())),
        "load": round(os.getloadavg()[0], 1),
    }


def in_pairs(these: list[float], those: list[float]) -> float:
    """The median over the rounds of what these took over what those took."""
    return round(statistics.median(a / b for a, b in zip(these, those, strict=True)), 2)
