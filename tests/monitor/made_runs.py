"""Runs as a trainer writes them: real files, events, pictures and token records."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ui_gym_agents.episode import Episode, Purpose, TokenRecord, Turn
from ui_gym_agents.store import EpisodeStore
from ui_gym_agents.training.event_log import EventLog
from ui_gym_agents.training.listeners import Listeners, RunInfo
from ui_gym_agents.training.settings import RunConfig

SIZE = (120, 160)
"""Height and width of the pictures."""
POINT = (40, 30)
"""Where the first turn of each episode clicks: x and y, in pixels of its picture."""
TASK = "UI/DataEntry-v0"


def picture(number: int) -> np.ndarray:
    """A picture of its own for each number: a dark square that wanders on a light ground."""
    found = np.full((*SIZE, 3), 235, np.uint8)
    x, y = 8 * (number % 18), 8 * (number // 18 % 13)
    found[y : y + 12, x : x + 12] = (number % 200, 60, 120)
    return found


class MadeRun:
    """A run in a folder, whose story is told by its methods."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        self.settings = settings
        self.tell = Listeners([EventLog(folder)], pytest.fail)
        self._began = datetime.now(UTC)
        self._count = 0

    def episode(
        self,
        name: str,
        purpose: Purpose,
        *,
        success: bool = True,
        seed: int = 1,
        group: str = "",
        turns: int = 2,
        task: str = TASK,
        said: str = "",
        place: str = "",
        **fields: Any,
    ) -> Episode:
        """Play one: it clicks at `POINT`, and then types; `said` stands before each action."""
        if not place:
            place = "episodes"
            if purpose.kind != "step":
                place = f"evaluations/step_{purpose.step:06}-{purpose.mode}"
        store = EpisodeStore(self.folder / place)
        keys = [store.screenshots.put(picture(self._count + n)) for n in range(turns + 1)]
        self._count += turns + 1
        words = [
            f"{said}click({POINT[0]}, {POINT[1]})",
            *[f'{said}type("Iris {n}")' for n in range(turns)],
        ]
        record = TokenRecord((1, 7, 7, 7, 2), (3, 4), (-0.5, -0.25), (keys[0],), version=3)
        played = [
            Turn(keys[n], words[n], tokens=record, times={"act": 0.1, "action": 0.02})
            for n in range(turns)
        ]
        values: dict[str, Any] = {
            "task": task, "seed": seed, "goal": "Enter Iris.", "turns": played, "id": name,
            "group": group, "split": "train", "params": {"row": 2}, "score": float(success),
            "success": success, "terminated": True, "final_screenshot_id": keys[-1], "seconds": 1.5,
            "notes": "" if success else "submitted 'Ines', not asked for", "blind_rate": 0.25,
            "version": 3, "max_turns": 10, "purpose": purpose,
            "started_at": (self._began + timedelta(seconds=self._count)).isoformat(),
        }  # fmt: skip
        made = Episode(**(values | fields))
        store.add([made])
        return made

    def begin(self, resumed: int | None = None) -> None:
        config = RunConfig(plugin="grpo", **self.settings)
        self.tell.begun(RunInfo(self.folder, config, resumed))
        (self.folder / "config.yaml").touch()

    def evaluation(self, kind: str, step: int, outcomes: list[bool], mode: str = "greedy") -> None:
        """An evaluation on seeds 100, 101... with these outcomes."""
        purpose = Purpose(kind, step, mode)  # type: ignore[arg-type]
        self.tell.evaluation_begun(purpose, len(outcomes))
        for number, won in enumerate(outcomes):
            self.episode(f"e{number}.0", purpose, success=won, seed=100 + number, split="heldout")
        rate = sum(outcomes) / len(outcomes)
        report = SimpleNamespace(success=rate, n=len(outcomes), interval=(rate / 2, (1 + rate) / 2))
        self.tell.evaluation_finished(purpose, report, 0.0)

    def step(self, number: int, outcomes: tuple[bool, ...] = (False, True), **fields: Any) -> None:
        """A training step with one group."""
        self.tell.step_begun(number, self.settings.get("steps", 2))
        group = f"{number}-0"
        for member, won in enumerate(outcomes):
            self.episode(
                f"{group}.{member}", Purpose("step", number), success=won, seed=10 + number,
                group=group, **fields,
            )  # fmt: skip
        worth = {
            f"{group}.{member}": (float(won), float(won) - 0.5)
            for member, won in enumerate(outcomes)
        }
        self.tell.learned(number, worth)
        metrics = {
            "success": sum(outcomes) / len(outcomes), "loss": 0.5 / number, "entropy": 0.4,
            "kl": float("nan"), "time_env": 1.0, "time_learn": 2.0,
        }  # fmt: skip
        self.tell.step_finished(number, metrics, 10.0 * number)

    def whole(self) -> None:
        """A whole story: baseline, two steps, a checkpoint, the final evaluation."""
        self.begin()
        self.evaluation("baseline", 0, [False, False, True, False])
        self.step(1)
        self.step(2)
        self.tell.checkpoint(2, self.folder / "checkpoints" / "step_000002")
        self.evaluation("final", 2, [True, True, False, True])
        self.tell.ended("finished", 2)


def clicks(episode: Episode, times: int) -> Episode:
    """The same, saying one thing again and again without effect."""
    turn = dataclasses.replace(episode.turns[0])
    key = turn.screenshot_id
    return dataclasses.replace(episode, turns=[turn] * times, final_screenshot_id=key)
