"""A small run as its listeners see it: a baseline, steps with groups, an evaluation."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

from sqlalchemy import Engine, func, select

from ui_gym_agents.episode import Episode, TokenRecord, Turn
from ui_gym_agents.records.models import TABLES
from ui_gym_agents.training.listeners import Place, RunInfo, RunListener
from ui_gym_agents.training.settings import RunConfig

BASELINE = Place("baseline", 0, "greedy")
FINAL = Place("final", 2, "greedy")


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
    )  # fmt: skip


def report(success: float, n: int) -> SimpleNamespace:
    return SimpleNamespace(success=success, n=n, interval=(0.1, 0.9))


def begin(listener: RunListener, folder: Path, resumed: int | None = None) -> None:
    listener.begun(RunInfo(folder, RunConfig(plugin="grpo"), resumed))


def baseline(listener: RunListener) -> None:
    listener.evaluation_begun(BASELINE, 1)
    listener.episode(episode("e0.0", "e0", success=False), BASELINE)
    listener.evaluation_finished(BASELINE, report(0.0, 1), 0.0)


def step(listener: RunListener, number: int, members: int = 2) -> None:
    listener.step_begun(number, 2)
    for member in range(members):
        name = f"{number}-0.{member}"
        played = episode(name, f"{number}-0", success=bool(member))
        listener.episode(played, Place("step", number))
    listener.step_finished(number, {"loss": 0.5, "kl": float("nan")}, 10.0 * number)


def final(listener: RunListener) -> None:
    listener.evaluation_begun(FINAL, 1)
    listener.episode(episode("e0.0", "e0"), FINAL)
    listener.evaluation_finished(FINAL, report(1.0, 1), 20.0)


def tell(listener: RunListener, folder: Path) -> None:
    """The whole story."""
    begin(listener, folder)
    baseline(listener)
    step(listener, 1)
    step(listener, 2)
    listener.checkpoint(2, folder / "checkpoints" / "step_000002")
    final(listener)
    listener.ended("finished", 2)


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
