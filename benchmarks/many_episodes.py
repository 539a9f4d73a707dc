"""An index of the monitor with a million episodes of one run, as its own `add` takes them in."""

from __future__ import annotations

import io
import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path

from PIL import Image

from ui_gym.contract.registry import specs
from ui_gym_agents.episode import Episode, Purpose, Turn
from ui_gym_agents.monitor.index import MonitorIndex
from ui_gym_agents.monitor.sources import Picture, episode_id, source_id

GROUP = 8
GROUPS = 22
"""Of a training step, each of another task."""
EVALUATED = 3000
"""Episodes of an evaluation: 60 tasks with 50 seeds each."""
TASKS = 60
BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = [a + b for a in ("Ada", "Bo", "Cleo", "Dan", "Eve", "Finn") for b in "abcdefghij"]
METRICS = ("success", "reward", "loss", "kl", "entropy", "grad_norm", "time_env", "time_learn")


@dataclass
class ManyEpisodes:
    """A source of `steps` training steps and `evaluations` in two modes; it is never new."""

    steps: int = 5000
    evaluations: int = 20

    kind = "run"
    place = "many episodes"
    folder: Path | None = None
    id = source_id(place)

    def refresh(self, index: MonitorIndex) -> bool:
        return False

    def episode(self, where: str) -> Episode:
        return replace(self._stories[0], id=where)

    def picture(self, key: str) -> Picture | None:
        return self._picture

    @cached_property
    def _picture(self) -> Picture:
        data = io.BytesIO()
        Image.new("RGB", (1280, 800)).save(data, "WEBP")
        return Picture("image/webp", data.getvalue())

    @cached_property
    def tasks(self) -> list[str]:
        return sorted(spec.id for spec in specs())[:TASKS]

    def fill(self, index: MonitorIndex) -> int:
        """Put all of it into an index in one transaction; returns how many episodes there are."""
        count = 0
        with index.writing():
            config = {"evaluation": {"both": True}, "env": {"dialect": "canonical"}}
            index.put_run(
                self.id, source="run", place=self.place, name="many", plugin="grpo",
                status="finished", begun=BEGUN.isoformat(), changed=BEGUN.isoformat(),
                step=self.steps, steps=self.steps, elapsed=60.0 * self.steps, config=config,
            )  # fmt: skip
            for episode in self._played():
                where = f"episodes/episodes.jsonl:{count}:{count + 1}"
                index.add(self.id, episode_id(where), episode, where)
                count += 1
            self._told(index)
        return count

    def _told(self, index: MonitorIndex) -> None:
        """What the run's log says beside the episodes."""
        for step in range(1, self.steps + 1):
            metrics = dict.fromkeys(METRICS, step / self.steps)
            index.put_step(self.id, step, _at(step), metrics, 60.0 * step)
            names = (f"{step}-{g}.{m}" for g in range(GROUPS) for m in range(GROUP))
            index.put_learned(self.id, step, dict.fromkeys(names, (1.0, 0.5)))
        for step, mode in self._measured():
            kind = "evaluation" if step else "baseline"
            found = {"n": EVALUATED, "success": 0.5, "low": 0.48, "high": 0.52}
            index.put_measurement(self.id, kind, step, mode, _at(step), planned=EVALUATED, **found)

    def _played(self) -> Iterator[Episode]:
        """All episodes, in the order of training."""
        chance, made = random.Random(0), 0
        evaluated = dict.fromkeys(self._measured())
        for step in range(self.steps + 1):
            for mode in ("greedy", "sampled"):
                if (step, mode) in evaluated:
                    purpose = Purpose("evaluation" if step else "baseline", step, mode)
                    for number in range(EVALUATED):
                        task, seed = self.tasks[number % TASKS], number // TASKS
                        yield self._one(chance, purpose, task, seed, f"e{number}.0", "")
            for group in range(GROUPS if step else 0):
                task, seed = self.tasks[chance.randrange(TASKS)], chance.randrange(2**31)
                name = f"{step}-{group}"
                for member in range(GROUP):
                    made += 1
                    purpose = Purpose("step", step)
                    yield self._one(chance, purpose, task, seed, f"{name}.{member}", name)

    def _measured(self) -> list[tuple[int, str]]:
        every = self.steps // max(1, self.evaluations - 1)
        steps = [n * every for n in range(self.evaluations)]
        return list(itertools.product(steps, ("greedy", "sampled")))

    def _one(
        self, chance: random.Random, purpose: Purpose, task: str, seed: int, id: str, group: str
    ) -> Episode:
        story = self._stories[chance.randrange(len(self._stories))]
        won = chance.random() < 0.2 + 0.6 * purpose.step / self.steps
        fault = not won and chance.random() < 0.02
        name = NAMES[seed % len(NAMES)]
        return replace(
            story, task=task, seed=seed, id=id, group=group, purpose=purpose, success=won,
            score=1.0 if won else round(chance.random() * 0.9, 2),
            goal=f"Enter {name} and {NAMES[chance.randrange(len(NAMES))]} into row {seed % 97}.",
            notes="" if won else f"submitted {NAMES[chance.randrange(len(NAMES))]}, not asked for",
            failure="device: the browser is gone" if fault else None,
            truncated=story.truncated and not won, terminated=won or not story.truncated,
            started_at=_at(purpose.step),
        )  # fmt: skip

    @cached_property
    def _stories(self) -> Sequence[Episode]:
        """Two hundred ways to play, of 1 to 15 turns."""
        chance = random.Random(1)
        return [_story(chance, number) for number in range(200)]


def _story(chance: random.Random, number: int) -> Episode:
    turns = []
    for turn in range(chance.randint(1, 15)):
        again = number % 7 == 0 and turn > 2  # one way in seven ends in a loop
        said = f"I see field {chance.randrange(30)}.\nclick({chance.randrange(1280)}, 30)"
        said, key = ("click(1, 1)", _key(number, 3)) if again else (said, _key(number, turn))
        error = "parse" if chance.random() < 0.03 else None
        turns.append(Turn(key, said, action_error=error))
    return Episode(
        task="", seed=0, goal="", turns=turns, split="train", blind_rate=0.1, max_turns=15,
        truncated=len(turns) == 15, final_screenshot_id=_key(number, 99),
        seconds=1.5 * len(turns),
    )  # fmt: skip


def _key(*of: int) -> str:
    return "".join(f"{number:032x}" for number in of)


def _at(step: int) -> str:
    return (BEGUN + timedelta(minutes=step)).isoformat()
