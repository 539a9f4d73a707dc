"""What each process of a run plays, where each plays its own (``env.per_rank``)."""

from __future__ import annotations

import pytest

from ui_gym.errors import UserError
from ui_gym_agents.collecting.collector import EpisodeRequest
from ui_gym_agents.collecting.shared import own_machines, shares_of
from ui_gym_agents.policy.parallel import Processes


def processes(index: int, count: int) -> Processes:
    found = Processes()
    found.index, found.count = index, count
    return found


def test_whole_groups_go_to_the_processes_in_turn() -> None:
    requests = [
        EpisodeRequest(seed, group=f"g{seed}", member=m) for seed in range(5) for m in (0, 1)
    ]
    shares = shares_of(requests, 3)
    assert [[r.id for r in share] for share in shares] == [
        ["g0.0", "g0.1", "g3.0", "g3.1"],
        ["g1.0", "g1.1", "g4.0", "g4.1"],
        ["g2.0", "g2.1"],
    ]
    assert shares_of(requests[:2], 3)[1:] == [[], []]


@pytest.mark.parametrize("device", ["auto", "chromium:beginframe", "x11", "phone"])
def test_devices_that_nobody_named_are_there_for_every_process(device: str) -> None:
    assert [own_machines(device, processes(i, 2)) for i in range(2)] == [device] * 2


def test_machines_that_are_named_are_one_process_s_each() -> None:
    named = "osworld:http://one:5000,http://two:5000,http://three:5000"
    assert [own_machines(named, processes(i, 2)) for i in range(2)] == [
        "osworld:http://one:5000,http://three:5000",
        "osworld:http://two:5000",
    ]
    with pytest.raises(UserError, match=r"adb:emulator-5554 names 1 machines.* 2 processes"):
        own_machines("adb:emulator-5554", processes(1, 2))
