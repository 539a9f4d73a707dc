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
        loss = float("nan") if self.config.event == "nan" and step == self.config.at else 1.0
        return {"loss": loss, "success": float(self.x.mean()), "time_learn": 0.001}

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
toy-loose = ui_gym_toy:Loose
toy-broken = ui_gym_toy_broken:Trainer

[ui_gym.tasks]
Toy = ui_gym_toy_tasks:Toy
"""


def install(folder: Path) -> None:
    """Install the distribution ``ui-gym-toy`` into a folder that is on the path of Python."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ui_gym_toy.py").write_text(TRAINER)
    (folder / "ui_gym_toy_tasks.py").write_text(TASKS)
    (folder / "ui_gym_toy_broken.py").write_text("import a_module_that_nobody_has\n")
    info = folder / "ui_gym_toy-1.2.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ui-gym-toy\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
