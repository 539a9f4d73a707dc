"""Every task of MiniWoB++ against MiniWoB's own env, in the same browser with the same flags.

At the same seed the utterance, the fields and the first picture are equal (to the pixel), and the
same actions end the episode at the same step with the same raw reward. What is not the peer's own:
its pages get our calendar day and no time limit, and for the stock market our clock, because its
price is a function of time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from miniwob_peer import Peer
from miniwob_scripts import script

from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.miniwob.catalogue import ENTRIES
from ui_gym.contract import registry
from ui_gym.contract.action import Action
from ui_gym.contract.device import DeviceOptions, Image

SEEDS = (0, 1)

PAUSES = (0.1, 0.6, 2.0)
"""Seconds of wall time that the peer's page has after an action. What moves there needs some, and
its pictures are taken before the page has all its images: where it differs it is asked again, more
patiently."""
TIMED = ("StockMarket",)

Trace = list[tuple[str, bool, float]]
"""The actions of an episode; after each whether it was over, and the raw reward."""


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    made = Peer(tmp_path_factory.mktemp("peer"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def devices() -> Iterator[dict[tuple[int, int], Any]]:
    """One device, and its pool, for each size of a picture."""
    made: dict[tuple[int, int], Any] = {}
    yield made
    for _, pool in made.values():
        pool.close()


@pytest.mark.parametrize("name", ENTRIES)
def test_a_task_is_as_in_miniwobs_own_env(peer: Peer, devices: Any, name: str) -> None:
    task: Any = registry.spec(f"MiniWoB-{name}").load()()
    if task.viewport not in devices:
        pool = task.pool(DeviceOptions(size=task.viewport))
        devices[task.viewport] = (pool.acquire(), pool)
    timed = name in TIMED
    peer.open(ENTRIES[name].subdomain, page_time=timed)
    for seed in SEEDS:
        ours, actions = played(task, devices[task.viewport][0], seed)
        for pause in PAUSES:
            theirs = replayed(peer, seed, actions, task.step_time if timed else pause)
            same = np.array_equal(ours.picture, theirs.picture)
            if same and ours.trace == theirs.trace:
                break
        assert ours.goal[:256] == theirs.goal
        assert ours.fields == theirs.fields
        different = (ours.picture != theirs.picture).any(-1).mean()
        assert different == 0, f"seed {seed}: {different:.2%} of the pixels differ"
        assert ours.trace == theirs.trace, f"seed {seed}"


@dataclass
class Episode:
    """What is compared."""

    goal: str
    fields: dict[str, str]
    picture: Image
    trace: Trace


def played(task: Any, device: BrowserDevice, seed: int) -> tuple[Episode, list[Action]]:
    """An episode here, and the actions that were done in it."""
    params = task.draw(seed, "train")
    task.setup(device, params)
    brief = task.brief(device, params)
    picture = device.capture().image.copy()
    trace: Trace = []
    done = []
    for action in script(task, device, params):
        device.perform(action)
        verdict = task.judge(device, params, ())
        done.append(action)
        trace.append((str(action), verdict.done, verdict.details["raw_reward"]))
        if verdict.done:
            break
    return Episode(brief.goal, brief.hidden["fields"], picture, trace), done


def replayed(peer: Peer, seed: int, actions: list[Action], pause: float) -> Episode:
    """The same actions there."""
    began, _ = peer.reset(seed)
    trace: Trace = []
    for action in actions:
        told = peer.perform(action, pause)
        trace.append((str(action), told["done"], told["raw_reward"]))
        if told["done"]:
            break
    return Episode(began["utterance"], dict(began["fields"]), began["screenshot"], trace)


def test_the_comparison_notices_a_difference(peer: Peer) -> None:
    """The other seed has another goal, other fields and another picture there."""
    peer.open("click-button")
    one, other = (peer.reset(seed)[0] for seed in SEEDS)
    assert one["utterance"] != other["utterance"]
    assert one["fields"] != other["fields"]
    assert not np.array_equal(one["screenshot"], other["screenshot"])
