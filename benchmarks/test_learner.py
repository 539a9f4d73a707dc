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
def test_losses_and_gradients_of_the_first_step_are_equal(make: Make, screens: int) -> None:
    sides = make(screens, epochs=1, parts=1)
    losses = {way: side.step() for way, side in sides.items()}
    ours = sides.pop("ui-gym")
    assert ours.gradient().norm() > 0.01
    for way, side in sides.items():
        assert losses["ui-gym"] == pytest.approx(losses[way], rel=1e-4)
        apart = (side.gradient() - ours.gradient()).norm() / ours.gradient().norm()
        assert apart < 1e-3


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("screens", SCREENS)
def test_learner_step(benchmark: Any, make: Make, screens: str, way: str) -> None:
    sides = make(SCREENS[screens])
    taken: dict[str, list[float]] = {name: [] for name in sides}

    def others() -> None:
        for name, side in sides.items():
            if name != way:
                started = time.perf_counter()
                side.step()
                taken[name].append(time.perf_counter() - started)

    for side in sides.values():
        side.step()
        side.seconds.clear()
    load = os.getloadavg()[0]
    benchmark.group, benchmark.name = f"learner step, {screens}", way
    benchmark.pedantic(sides[way].step, setup=others, rounds=ROUNDS)
    taken[way] = list(benchmark.stats.stats.data)
    pairs = zip(taken[way], taken["ui-gym"], strict=True)
    total = sum(taken[way])
    phases = sides[way].seconds
    benchmark.extra_info |= {
        "per_second": round(1 / benchmark.stats.stats.median, 3),
        "times_as_long_in_pairs": round(statistics.median(a / b for a, b in pairs), 2),
        **{f"{phase}_ms": round(1000 * s / ROUNDS, 1) for phase, s in phases.items()},
        "rest_ms": round(1000 * (total - sum(phases.values())) / ROUNDS, 1),
        "load": round(load, 1),
    }
