"""A small run as its listeners see it: a baseline, steps with groups, an evaluation."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import Engine, func, select

from ui_gym_agents.episode import Episode, Purpose, TokenRecord, Turn
from ui_gym_agents.records.models import TABLES
from ui_gym_agents.store import EpisodeStore
from ui_gym_agents.training.event_log import EventLog
from ui_gym_agents.training.listeners import Learned, Listeners, RunInfo, RunListener
from ui_gym_agents.training.settings import RunConfig

BASELINE = Purpose("baseline", 0, "greedy")
FINAL = Purpose("final", 2, "greedy")


def episode(
    name: str, group: str = "", *, success: bool = True, failure: str | None = None
) -> Episode:
    record = TokenRecord((1, 7, 7, 7, 2), (3, 4), (-0.5, -0.25), ("ab" * 32,), version=3)
    turns = [
        Turn("ab" * 32, 'type("é")', tokens=record, times={"act": 0.1}),
        Turn("cd" * 32, "click(", "cannot read", tokens=record, action_error="parse", reward=1.0),
    ]
    return Episode(
        task="UI/DataEntry-v0", seed=2**31 - 1, goal="copy é", turns=turns, id=name, group=group,
        params={"row": 2}, score=float(success), success=success, terminated=True, failure=failure,
        final_screenshot_id="ef" * 32, seconds=1.5, blind_rate=0.25, version=3, split="train",
        started_at="2026-01-01T08:00:00.250000+00:00", max_turns=20,
    )  # fmt: skip


def report(success: float, n: int) -> SimpleNamespace:
    return SimpleNamespace(success=success, n=n, interval=(0.1, 0.9))


class Run:
    """A run in a folder: it writes the files that a run writes, and tells `listeners`."""

    def __init__(self, folder: Path, *listeners: RunListener) -> None:
        self.folder = folder
        self.tell = Listeners([EventLog(folder), *listeners], pytest.fail)

    def begin(self, resumed: int | None = None) -> None:
        self.tell.begun(RunInfo(self.folder, RunConfig(plugin="grpo"), resumed))

    def episode(self, played: Episode, purpose: Purpose) -> None:
        played.purpose = purpose
        place = "episodes"
        if purpose.kind != "step":
            place = f"evaluations/step_{purpose.step:06}-{purpose.mode}"
        EpisodeStore(self.folder / place).add([played])
        self.tell.episode(played)

    def baseline(self) -> None:
        self.tell.evaluation_begun(BASELINE, 1)
        self.episode(episode("e0.0", "e0", success=False), BASELINE)
        self.tell.evaluation_finished(BASELINE, report(0.0, 1), 0.0)

    def step(self, number: int, members: int = 2, *, learned: Learned | None = None) -> None:
        self.tell.step_begun(number, 2)
        for member in range(members):
            name = f"{number}-0.{member}"
            played = episode(name, f"{number}-0", success=bool(member))
            self.episode(played, Purpose("step", number))
        if learned is not None:
            self.tell.learned(number, learned)
        self.tell.step_finished(number, {"loss": 0.5, "kl": float("nan")}, 10.0 * number)

    def final(self) -> None:
        self.tell.evaluation_begun(FINAL, 1)
        self.episode(episode("e0.0", "e0"), FINAL)
        self.tell.evaluation_finished(FINAL, report(1.0, 1), 20.0)

    def whole(self) -> None:
        """The whole story."""
        self.begin()
        self.baseline()
        self.step(1)
        self.step(2)
        self.tell.checkpoint(2, self.folder / "checkpoints" / "step_000002")
        self.final()
        self.tell.ended("finished", 2)


COUNTS = {
    "training": 1, "environment": 1, "baseline": 1, "evaluation": 1, "step": 2, "rollout_group": 2,
    "rollout": 6, "turn": 12, "action": 12, "observation": 18, "validation": 6, "task": 1,
    "validator": 1,
}  # fmt: skip
"""Rows of the whole story by table."""


def counts(engine: Engine) -> dict[str, int]:
    with engine.connect() as connection:
        return {
            name: connection.execute(select(func.count()).select_from(TABLES[name])).scalar()
            for name in COUNTS
        }  # type: ignore[misc]


def rows(engine: Engine, table: str) -> list[dict]:
    with engine.connect() as connection:
        return [dict(r._mapping) for r in connection.execute(select(TABLES[table]))]


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]
