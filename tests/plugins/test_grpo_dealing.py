"""Which process learns from which episode."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from grpo_helpers import make_policy, play_episodes, trajectory
from three_processes import ThreeProcesses

from ui_gym_agents.groups.gathering import Batch
from ui_gym_agents.policy.dealing import deal
from ui_gym_agents.store import ScreenshotStore
from ui_gym_agents.training.context import TrainerContext
from ui_gym_agents.training.run_directory import RunDirectory
from ui_gym_agents.training.settings import RunConfig
from ui_gym_grpo import GRPOConfig
from ui_gym_grpo.dealing import dealt
from ui_gym_grpo.trainer import owners_of, records_of


def dealt_out(loads: Sequence[int], batches: Sequence[Sequence[int]], count: int) -> list[int]:
    """The owners of episodes that are as much work in each of their minibatches."""
    each = [
        {number: load for number, batch in enumerate(batches) if episode in batch}
        for episode, load in enumerate(loads)
    ]
    return deal(each, count)


def test_equal_episodes_are_dealt_out_evenly_in_every_minibatch() -> None:
    first, second = [[0, 1, 2, 3], [4, 5, 6, 7]], [[0, 2, 4, 6], [1, 3, 5, 7]]
    owners = dealt_out([100] * 8, [*first, *second], 2)
    for batch in (*first, *second):
        assert sum(owners[episode] for episode in batch) == 2


@pytest.mark.parametrize("count", [2, 4, 8])
def test_no_process_waits_long_for_another(count: int) -> None:
    """Episodes of very different lengths, in random minibatches of two passes."""
    rng = np.random.default_rng(0)
    loads = rng.integers(200, 2000, 64).tolist()
    batches = [part.tolist() for _ in range(2) for part in np.split(rng.permutation(64), 2)]
    owners = dealt_out(loads, batches, count)
    for batch in batches:
        shares = np.bincount(
            [owners[e] for e in batch], weights=[loads[e] for e in batch], minlength=count
        )
        assert shares.max() < 1.35 * shares.mean()


def test_one_process_has_all() -> None:
    assert dealt_out([3, 1, 2], [[0, 1, 2]], 1) == [0, 0, 0]


def test_a_process_gets_the_pictures_of_its_episodes_alone(tiny: Path, tmp_path: Path) -> None:
    store = ScreenshotStore()
    played = [trajectory(e) for e in play_episodes(make_policy(tiny, threads=1), store, 6, turns=3)]
    processes: Any = ThreeProcesses()
    context = TrainerContext(
        RunDirectory(tmp_path / "run"), RunConfig(plugin="grpo"), processes=processes, step=1
    )

    def collect() -> Batch:
        return Batch(trajectories=dealt(played, GRPOConfig(), context))

    batch = context.from_main(collect, records_of, store, owners=owners_of)
    owners = [one.owner for one in batch.trajectories]
    assert sorted(owners) == [0, 0, 1, 1, 2, 2]
    for index, pictures in enumerate(processes.handed):
        own = [one for one in batch.trajectories if one.owner == index]
        wanted = {key for one in own for s in one.samples for key in s.record.images}
        assert {store.put(picture) for picture in pictures} == wanted
        assert len(pictures) == 6  # two episodes of three pictures each, of 18 in all
    # Where nobody says whose records they are, all get all.
    context.from_main(collect, records_of, store)
    assert [len(pictures) for pictures in processes.handed] == [18] * 3
    context.run.close()
