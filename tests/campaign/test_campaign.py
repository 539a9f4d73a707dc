"""The campaign: its table, its checker of histories, and the whole of it."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.campaign.causes import FAULTS
from tests.campaign.evaluation import TROUBLES
from tests.campaign.history import Asked, History, violations
from tests.campaign.table import PAGE, page, table
from ui_gym_agents.episode import Episode, TokenRecord, Turn

ASKED = Asked(steps=2, groups=1, group_size=2)


def test_the_table_has_forty_faults_each_with_tests_that_are_there() -> None:
    lines = table()
    assert [line.number for line in lines] == list(range(1, 41))
    assert [f"{line.number}: {name}" for line in lines for name in line.missing] == []
    assert all(line.tests for line in lines)
    # The last is looked for after every campaign.
    caused = {fault.number for fault in FAULTS} | {number for number, *_ in TROUBLES} | {40}
    assert caused == {line.number for line in lines if line.campaign}
    assert PAGE.read_text() == page(), "to write it anew: python -m tests.campaign.table"


def episode(
    name: str, version: int, *, success: bool = True, failure: str | None = None
) -> Episode:
    record = TokenRecord((1,), (2,), (-0.5,), version=version)
    turns = [Turn("ab" * 32, "click(1, 1)", tokens=record)]
    return Episode(
        task="UI/ClickButton-v0", seed=1, goal="Click.", turns=turns, id=name,
        group=name.partition(".")[0], success=success and failure is None, failure=failure,
    )  # fmt: skip


def sound() -> History:
    """A run of two steps and an evaluation in which nothing went wrong but a device."""
    played = [
        episode("1-0.0", 0), episode("1-0.1", 0, success=False),
        episode("2-0.0", 4), episode("2-0.1", 4, failure="device: lost"),
    ]  # fmt: skip
    train = {"kind": "train", "failed_episodes": 0, "updates": 4}
    return History(
        metrics=[
            {**train, "step": 1, "episodes": 2, "success": 0.5},
            {**train, "step": 2, "episodes": 1, "success": 1.0, "failed_episodes": 1, "updates": 8},
            {"kind": "final", "step": 2, "mode": "greedy", "n": 1, "success": 1.0},
        ],
        events=[
            {"event": "learned", "step": 1, "episodes": {"1-0.0": [], "1-0.1": []}},
            {"event": "learned", "step": 2, "episodes": {"2-0.0": []}},
        ],
        played=played,
        measured={"step_000002-greedy": [episode("e0", 8)]},
    )  # fmt: skip


def test_a_sound_history_breaks_no_rule() -> None:
    assert violations(sound(), ASKED) == []


def test_a_step_that_was_torn_and_played_again_alike_is_sound() -> None:
    history = sound()
    again = dataclasses.replace(history, played=[history.played[0], *history.played])
    assert violations(again, ASKED) == []


Change = Callable[[History], dict[str, Any]]

BROKEN: dict[str, tuple[Change, str]] = {
    "a lost step": (lambda h: {"metrics": h.metrics[1:]}, "the steps are [2]"),
    "a doubled step": (
        lambda h: {"metrics": [h.metrics[0], *h.metrics]}, "the steps are [1, 1, 2]",
    ),
    "a lost episode": (lambda h: {"played": h.played[1:]}, "step 1 counts 2 episodes, and 1"),
    "an episode that was played twice, and otherwise": (
        lambda h: {"played": [dataclasses.replace(h.played[0], goal="Another."), *h.played]},
        "episode 1-0.0 is there 2 times, and not alike",
    ),
    "a failure that is counted as a success": (
        lambda h: {"metrics": [h.metrics[0], {**h.metrics[1], "episodes": 2, "failed_episodes": 0},
                               h.metrics[2]]},
        "step 2 counts 0 failures of 1",
    ),
    "another rate": (
        lambda h: {"metrics": [{**h.metrics[0], "success": 1.0}, *h.metrics[1:]]},
        "step 1 tells of 1.000 where 1 of 2 succeeded",
    ),
    "learning from another step's": (
        lambda h: {"events": [h.events[0], {**h.events[1], "episodes": {"1-0.0": []}}]},
        "step 2 learned from ['1-0.0']",
    ),
    "learning from a failure": (
        lambda h: {"events": [h.events[0], {**h.events[1], "episodes": {"2-0.1": []}}]},
        "step 2 learned from ['2-0.1']",
    ),
    "stale weights": (
        lambda h: {"played": [*h.played[:2], episode("2-0.0", 0), h.played[3]]},
        "episode 2-0.0 was played by the weights {0}, not 4",
    ),
    "an evaluation that counts twice": (
        lambda h: {"measured": {k: [*v, *v] for k, v in h.measured.items()}},
        "evaluation step_000002-greedy counts 1 episodes, and 2 are there",
    ),
    "an evaluation that is lost": (
        lambda h: {"measured": {}}, "evaluation step_000002-greedy counts 1 episodes, and 0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_each_rule_can_be_broken(what: str) -> None:
    change, told = BROKEN[what]
    history = sound()
    found = violations(dataclasses.replace(history, **change(history)), ASKED)
    assert any(told in line for line in found), found


@pytest.mark.nightly
@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None or not shutil.which("Xvfb"),
    reason="needs root, unshare and Xvfb",
)
def test_nothing_is_lost_and_nothing_doubled() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o711)  # pytest's own are closed to the database's user
        done = subprocess.run(
            [sys.executable, "-m", "tests.campaign", "--out", f"{folder}/campaign"],
            cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=3600,
            check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
