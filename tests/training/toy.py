"""A small trainer plugin, as a third party would write it, and its distribution on disk."""

from __future__ import annotations

from pathlib import Path

TRAINER = '''
import json, os, signal, time
from pathlib import Path
from types import SimpleNamespace
import numpy as np
from pydantic import BaseModel, ConfigDict, Field

class Config(BaseModel):
    """How the toy learns."""
    model_config = ConfigDict(frozen=True, extra="forbid")
    lr: float = Field(default=0.1, gt=0, description="Step size.")
    words: tuple[str, ...] = Field(default=(), description="Some words.")
    at: int = Field(default=0, description="The step in which something happens.")
    event: str = Field(default="", description="What happens.")

class Toy:
    """Walks towards 3 with noise from numpy's global generator."""
    api_version = 1
    Config = Config
    defaults = {"tasks.ids": ["UI/Toy-v0"], "run.steps": 6, "run.save_every": 2,
                "evaluation.episodes": 20, "evaluation.quick_episodes": 10, "run.eval_every": 2}

    def __init__(self, config, context):
        self.config, self.context = config, context
        self.x = np.zeros(3)
        context.evaluator = self.evaluate

    def evaluate(self, episodes, greedy):
        if self.config.event == "evaluate" and self.context.step == self.config.at:
            print("waiting", flush=True)
            self.wait_until(lambda: False)
        np.random.rand(5)  # An evaluation that draws must not change the training.
        success = float(max(0, 1 - abs(self.x - 3).mean() / 3))
        return SimpleNamespace(success=success, n=episodes, interval=(success / 2, success))

    def step(self):
        step = self.context.step
        if step == self.config.at:
            self.happen(self.config.event)
        self.x += self.config.lr * (3 - self.x) + 0.01 * np.random.randn(3)
        metrics = {"loss": 1.0, "success": float(self.x.mean()), "time_learn": 0.001}
        if self.config.event.startswith("nan") and step == self.config.at:
            metrics[self.config.event.partition(":")[2] or "loss"] = float("nan")
        return metrics

    def happen(self, event):
        step = self.context.step
        if event == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if event == "raise":
            raise ZeroDivisionError("one too many")
        if event.startswith("ask:"):
            from ui_gym_agents.training.control import ask
            ask(self.context.run.path, event.removeprefix("ask:"))
        if event == "learn":
            self.context.learned({f"{step}-0.0": (1.0, 0.5), "x": (float("nan"), None)})
        if event.startswith("until:"):
            self.wait_until(Path(event.removeprefix("until:")).exists)
        if event == "wait":
            print("waiting", flush=True)
            self.wait_until(self.context.stop_requested)
        if event == "hang":
            print("waiting", flush=True)
            self.wait_until(lambda: False)

    def wait_until(self, condition):
        deadline = time.monotonic() + 60
        while not condition() and time.monotonic() < deadline:
            time.sleep(0.01)

    def save(self, directory):
        (directory / "x.json").write_text(json.dumps(self.x.tolist()))
        (directory / "inner").mkdir()
        (directory / "inner" / "notes.txt").write_text("kept as well")

    def load(self, directory):
        self.x = np.array(json.loads((directory / "x.json").read_text()))

    def close(self):
        Path(self.context.run.path, "closed").touch()

class Old(Toy):
    api_version = 0

class Loose(Toy):
    class Config(BaseModel):
        pass
'''

PLAYER = '''
import os, signal, subprocess
from pathlib import Path
import numpy as np
import paint, room  # of the tests' folder, which is on the path of who asks for this trainer
from ui_gym_agents.agents.agent import Decision
from ui_gym_toy import Config, Toy

class PlayerConfig(Config):
    """What happens, and when."""
    when: str = "step"
    disk: str = ""
    """A folder on the disk that is filled; by default, that of the run."""
    leave: int = 0
    groups: int = 4
    notes: int = 0
    """Letters that are noted in each step, and told of what was learned."""
    numbers: int = 0
    """Metrics beside those that the toy has."""

class Player(Toy):
    """Clicks boxes of the paint suite, the more often the right one the more often it did.

    In the middle of what is called `when` (`step`, `played`, `save`, or a kind of evaluation), at
    its turn, or step, number `at`, it is killed, a disk is filled but for `leave` bytes, or a
    command is run (`run:COMMAND`).
    """
    Config = PlayerConfig
    defaults = {"tasks.ids": ["PaintClick"], "env.dialect": "canonical", "env.num_envs": 2,
                "run.steps": 4, "run.save_every": 1, "run.eval_every": 2, "run.records": "off",
                "evaluation.episodes": 6, "evaluation.quick_episodes": 4}

    def __init__(self, config, context):
        self.config, self.context = config, context
        self.disk = Path(config.disk or context.run.path.parent)
        self.skill = np.zeros(1)
        self.asked = 0
        context.player = self

    def act(self, views):
        purpose = self.context.evaluating
        if self.asked is not purpose:
            self.asked, self.turns = purpose, 0
        self.turns += len(views)
        if self.measuring:
            self.happen(purpose.kind, self.turns)
        return [Decision(self.choose(view)) for view in views]

    def choose(self, view):
        draw = np.random.default_rng(view.noise)
        color = next(name for name in paint.COLORS if f" {name} " in view.goal)
        meant = (view.screenshot == paint.COLORS[color]).all(axis=-1)
        if draw.random() > self.skill[0]:
            meant[:] = True
        y, x = draw.choice(np.argwhere(meant))
        return f"click({x}, {y})"

    measuring = True

    def step(self):
        self.measuring, step = False, self.context.step
        self.happen("step", step)
        asked = self.context.requests(step, self.config.groups, 2)
        played = self.context.collector.collect(asked)
        self.context.observe(played)
        self.happen("played", step)
        learned = {episode.id: (episode.score, None) for episode in played}
        self.context.learned({**learned, "x" * self.config.notes: (0.0, None)})
        success = float(np.mean([episode.success for episode in played])) if played else 0.0
        self.skill += self.config.lr * (1 + success) + 0.001 * np.random.randn(1)
        if self.config.notes:
            self.context.note("x" * self.config.notes)
        if self.config.event == "fill for a moment":
            room.free(self.disk)
        self.measuring = True
        return {"success": success, "skill": self.skill[0],
                **{f"number_{i}": np.random.rand() for i in range(self.config.numbers)}}

    def happen(self, when, number):
        if (self.config.when, self.config.at) != (when, number):
            return
        if self.config.event == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.config.event.startswith("fill"):
            room.fill(self.disk, self.config.leave)
        if self.config.event.startswith("run:"):
            subprocess.run(self.config.event.removeprefix("run:"), shell=True, check=True)

    def save(self, directory):
        self.happen("save", self.context.step)
        np.save(directory / "skill.npy", self.skill)
        weights = np.random.default_rng(self.context.step).random(2000)
        (directory / "inner").mkdir()
        for part in range(4):
            np.save(directory / "inner" / f"weights_{part}.npy", weights + part)

    def load(self, directory):
        self.skill = np.load(directory / "skill.npy")
'''

TASKS = """
from ui_gym.contract.registry import register
from ui_gym.contract.task import Task

@register("Toy", suite="toys", category="walking", tags=("small",))
class Toy(Task):
    \"\"\"A task that nobody plays.\"\"\"
"""

ENTRY_POINTS = """
[ui_gym.trainers]
toy = ui_gym_toy:Toy
toy-old = ui_gym_toy:Old
toy-player = ui_gym_toy_player:Player
toy-loose = ui_gym_toy:Loose
toy-broken = ui_gym_toy_broken:Trainer

[ui_gym.tasks]
Toy = ui_gym_toy_tasks:Toy
"""


def install(folder: Path) -> None:
    """Install the distribution ``ui-gym-toy`` into a folder that is on the path of Python."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ui_gym_toy.py").write_text(TRAINER)
    (folder / "ui_gym_toy_player.py").write_text(PLAYER)
    (folder / "ui_gym_toy_tasks.py").write_text(TASKS)
    (folder / "ui_gym_toy_broken.py").write_text("import a_module_that_nobody_has\n")
    info = folder / "ui_gym_toy-1.2.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ui-gym-toy\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
