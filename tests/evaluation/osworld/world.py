"""A stand-in for OSWorld's env: task files on a screen that shows what was typed, and who plays it.

It is declared as part of a collection, so that no test over all tasks meets it.
"""

from __future__ import annotations

import dataclasses
import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ui_gym.contract import registry
from ui_gym.contract.action import Action, Finish, Type
from ui_gym.contract.device import DeviceOptions, Element, Frame, Image
from ui_gym.contract.spec import TaskSpec
from ui_gym.contract.task import Task, Verdict
from ui_gym.errors import DeviceError, DeviceLost, DeviceStartError, UserError
from ui_gym.playing.pool import FreshPool
from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.evaluation.osworld.plan import OSWorldOptions
from ui_gym_agents.evaluation.osworld.play import play
from ui_gym_agents.evaluation.osworld.scores import Scores

TASK = "UI/StubWorld-v0"
SIZE = (64, 48)


class Desk:
    """A grey screen with one button; every typed letter is a black pixel of the first row."""

    gone = False
    """Whether no desk can be started any more."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.size = size
        self.text = ""
        self.closed = threading.Event()

    def start(self) -> None:
        if self.gone:
            raise DeviceStartError("the workshop is closed")

    def clear(self) -> None:
        self.text = ""

    def perform(self, action: Action) -> None:
        self.check()
        if isinstance(action, Type):
            self.text += action.text
            if action.text == "crash":
                self.closed.set()
            if action.text == "burn":
                type(self).gone = True
                self.closed.set()
        self.check()

    def capture(self, out: Image | None = None, *, elements: bool = False) -> Frame:
        self.check()
        width, height = self.size
        image = np.empty((height, width, 3), np.uint8) if out is None else out
        image[:] = 128
        image[0, : len(self.text)] = 0
        shown = (Element(7, "button", "Save", (20, 10, 30, 20)),)
        return Frame(image, elements=shown if elements else ())

    def close(self) -> None:
        self.closed.set()

    def check(self) -> None:
        if self.closed.is_set():
            raise DeviceLost("the desk is gone")


@dataclass(frozen=True)
class File:
    id: str
    infeasible: bool
    device: str | None = None


@dataclass(frozen=True)
class Params:
    id: str


class StubWorld(Task[Params, Desk]):
    """Type the wanted text and say that it is done; half of the score for its first half."""

    judged = "end"

    def __init__(self, task_file: str, max_steps: int = 15) -> None:
        self.raw = json.loads(Path(task_file).read_text())
        self.max_steps = max_steps
        self.file = File(self.raw["id"], self.raw.get("want") is None, self.raw.get("device"))
        if "lacks" in self.raw:
            raise UserError(f"{task_file} lacks {self.raw['lacks']}")

    def missing(self) -> list[str]:
        found: list[str] = self.raw.get("missing", [])
        return found

    def sample(self, rng: np.random.Generator) -> Params:
        return Params(self.file.id)

    def goal(self, params: Params) -> str:
        return str(self.raw["instruction"])

    def setup(self, device: Desk, params: Params) -> None:
        device.clear()
        match self.raw.get("broken"):
            case "setup":
                raise UserError("no window 'Notes' is there")
            case "device":
                raise DeviceError("no window came up")

    def judge(self, device: Desk, params: Params, history: Sequence[Action]) -> Verdict:
        if self.raw.get("broken") == "judge":
            raise ValueError("a getter broke")
        gave_up = bool(history) and history[-1] == Finish("infeasible")
        want = self.raw.get("want")
        if want is None or gave_up:
            return Verdict(float(want is None and gave_up))
        if device.text == want:
            return Verdict(1.0)
        return Verdict(0.5 if device.text == want[: len(want) // 2] else 0.0)

    @classmethod
    def pool(cls, options: DeviceOptions) -> Any:
        return FreshPool(lambda: Desk(options.size))


registry.declare(
    TaskSpec(
        "StubWorld", "stubs", f"{__name__}:StubWorld", category="stub", collection="stub-world"
    )
)


def write_tasks(folder: Path, **domains: dict[str, dict[str, Any]]) -> Path:
    """Task files in OSWorld's layout, ``domain={id: {...}}``; the path of their meta file."""
    for domain, tasks in domains.items():
        for name, given in tasks.items():
            path = folder / "examples" / domain / f"{name}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"id": name, "instruction": f"Do {name}.", **given}))
    meta = folder / "test_all.json"
    meta.write_text(json.dumps({domain: list(tasks) for domain, tasks in domains.items()}))
    return meta


HELLO = {"want": "hello"}
INFEASIBLE: dict[str, Any] = {}


class Typist:
    """Types hello and is done; gives up where the goal has a "no"; writes down what it sees."""

    seen: list[View] = []
    over: list[int] = []

    def __init__(self, action_space: Any) -> None:
        type(self).seen, type(self).over = [], []

    def ended(self, slot: int) -> None:
        self.over.append(slot)

    def act(self, views: Sequence[View]) -> list[Decision]:
        self.seen.extend(dataclasses.replace(v, turns=tuple(v.turns)) for v in views)
        return [Decision(self.say(view)) for view in views]

    def say(self, view: View) -> str:
        if "no" in view.goal:
            return "FAIL"
        for word in ("crash", "burn"):
            if word in view.goal:
                return f"pyautogui.write('{word}')"
        return "I am done.\n```DONE```" if view.turns else "pyautogui.write('hello')"


def options(folder: Path, meta: Path | None, **given: Any) -> OSWorldOptions:
    chosen = {
        "agent": f"{__name__}:Typist",
        "model": "typist",
        "task": TASK,
        "screen_width": SIZE[0],
        "screen_height": SIZE[1],
        "test_all_meta_path": meta,
    }
    return OSWorldOptions(result_dir=folder / "results", **{**chosen, **given})


def run(asked: OSWorldOptions, stop_after: int | None = None) -> tuple[Scores, list[str]]:
    """Play; as if Ctrl-C were pressed after so many tasks. The scores, and what was noted."""
    notes: list[str] = []

    def watch(tasks: Iterable[Any], total: int) -> Iterator[Any]:
        for number, task in enumerate(tasks, start=1):
            yield task
            if number == stop_after:
                raise KeyboardInterrupt

    return play(asked, watch, notes.append), notes
