"""Plays AndroidWorld's classes on the built-in phone, and writes what came of it::

    python docs/androidworld_table.py               # the table of docs/androidworld.md
    python docs/androidworld_table.py --catalogue   # ui_gym/android/androidworld/catalogue.toml

It runs where AndroidWorld can be imported. For each class it tells whether AndroidWorld's own code
sets it up, what its own judge says of a phone left alone, of the oracle's play and of a near miss,
and whose the apps are that it is played with. Minutes on an idle machine. Names after the options
are of classes to be played alone, which writes nothing.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ui_gym.android.androidworld import apps, loading, tasks
from ui_gym.android.androidworld.catalogue import ENTRIES
from ui_gym.android.androidworld.tasks import AndroidWorldTask, WorldParams
from ui_gym.contract.action import Action, Answer, Finish
from ui_gym.contract.device import DeviceOptions
from ui_gym.contract.task import Verdict
from ui_gym.errors import DeviceError, TaskError
from ui_gym_agents.marked import put_between
from ui_gym_phone.apps import shelved
from ui_gym_phone.device import PhoneDevice

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/androidworld.md"
CATALOGUE = ROOT / "ui_gym/android/androidworld/catalogue.toml"
BEGIN, END = "<!-- table: written by docs/androidworld_table.py -->\n", "<!-- end of table -->"
INSTANCES = range(5)
"""Instances of a class that are tried: AndroidWorld draws a few that are solved at the start."""


@dataclass(frozen=True)
class Row:
    """What came of a class."""

    name: str
    played_with: str
    sets_up: bool
    idle: float = 0.0
    solved: float | None = None
    near: float | None = None
    steps: int = 0
    why: str = ""

    @property
    def both_ways(self) -> bool:
        """Whether the judge tells right from wrong: a near miss, and a phone left alone."""
        verify = self.name.endswith("Verify") and "StopWatch" not in self.name
        return self.solved == 1.0 and (self.near or 0.0) < 1.0 and (verify or self.idle < 1.0)

    def markdown(self) -> str:
        def mark(yes: bool) -> str:
            return "yes" if yes else "no"

        solved = f"{self.steps} steps" if self.solved == 1.0 else self.why or "no oracle"
        return (
            f"| {self.name} | {self.played_with} | {mark(self.sets_up)} | {mark(self.both_ways)} "
            f"| {solved} |"
        )


def main() -> int:
    arguments = sys.argv[1:]
    if "--catalogue" in arguments:
        CATALOGUE.write_text(catalogue())
        return 0
    importlib.import_module("absl.logging").set_verbosity(-3)  # fatal
    device = PhoneDevice(DeviceOptions(size=(540, 1200)))
    device.start()
    rows = []
    for name in ENTRIES:
        if arguments and name not in arguments:
            continue
        rows.append(played(device, name))
        print(rows[-1].markdown(), flush=True)
    if not arguments:
        PAGE.write_text(put_between(PAGE.read_text(), BEGIN, END, table(rows)))
    return 0


def table(rows: list[Row]) -> str:
    """The table, and how many of which there are."""
    kinds: dict[str, int] = {}
    for row in rows:
        if row.both_ways:
            kinds[row.played_with.split(":")[0]] = kinds.get(row.played_with.split(":")[0], 0) + 1
    told = ", ".join(f"{count} with {kind}" for kind, count in sorted(kinds.items()))
    head = (
        f"Of {len(rows)} classes {sum(row.sets_up for row in rows)} are set up, and "
        f"{sum(row.both_ways for row in rows)} are judged both ways and solved: {told}.\n\n"
        "| class | played with | set up | judged both ways | solved |\n|---|---|---|---|---|\n"
    )
    return head + "\n".join(row.markdown() for row in rows) + "\n"


def played(device: PhoneDevice, name: str) -> Row:
    """Play a class: leave it alone, solve it, miss it nearly."""
    task: AndroidWorldTask = getattr(tasks, name)()
    told = played_with(task)
    try:
        idle, params = _left_alone(device, task)
    except DeviceError as error:
        return Row(name, "not there", False, why=f"lacks {_lacking(str(error))}")
    if not task.has_oracle:
        return Row(name, told, True, idle)
    try:
        solved, steps = _solve(device, task, params)
    except TaskError as error:
        return Row(name, told, True, idle, why=str(error)[:80])
    missed = task.misread(params, task.mistakes[0], np.random.default_rng(0))
    near, _ = _solve(device, task, missed)
    why = f"{steps} of {task.max_steps} steps" if steps > task.max_steps else solved.notes
    score = solved.score if steps <= task.max_steps else 0.0
    return Row(name, told, True, idle, score, near.score, steps, why)


def played_with(task: AndroidWorldTask) -> str:
    """Whose the apps are: the phone's own, or look-alikes of AndroidWorld's."""
    with loading.drawing(0):
        wanted = apps.packages(task._instance(task.draw(0, "train")).app_names)
    alike = [name for name, package in wanted.items() if package in shelved()]
    return f"look-alikes: {', '.join(alike)}" if alike else "the phone's own apps"


def _left_alone(device: PhoneDevice, task: AndroidWorldTask) -> tuple[float, WorldParams]:
    """What the judge says at once, of the first instance that it does not call solved."""
    params, score = task.draw(0, "train"), 1.0
    for number in INSTANCES:
        params = task.draw(number, "train")
        task.setup(device, params)
        task.brief(device, params)
        score = task.judge(device, params, (Finish("success"),)).score
        if score < 1.0 or task.spec.name.endswith("Verify"):
            break
    return score, params


def _solve(device: PhoneDevice, task: AndroidWorldTask, params: WorldParams) -> tuple[Verdict, int]:
    task.setup(device, params)
    done = [*_actions(device, task, params)]
    return task.judge(device, params, done), len(done)


def _actions(device: PhoneDevice, task: AndroidWorldTask, params: WorldParams) -> Iterator[Action]:
    for demo in task.demonstrate(device, params):
        yield demo.action
        if isinstance(demo.action, Answer):
            return
        device.perform(demo.action)
    yield Finish("success")


def _lacking(message: str) -> str:
    found = re.search(r"the app '([^']+)'", message)
    return found[1] if found else message[:80]


# -- the catalogue --

CATEGORIES = {
    "AudioRecorder": "audio recorder", "Browser": "browser", "SimpleCalendar": "calendar",
    "Camera": "camera", "Clock": "clock", "Contacts": "contacts", "Expense": "expense",
    "Files": "files", "Markor": "markor", "OsmAnd": "osmand", "Recipe": "recipe", "Retro": "music",
    "SimpleDraw": "draw", "SaveCopy": "gallery", "SimpleSms": "sms", "OpenApp": "system",
    "System": "system", "Turn": "system", "Vlc": "vlc", "Notes": "joplin", "Sports": "opentracks",
    "Tasks": "tasks",
}  # fmt: skip
"""What a class is about, by how its name begins."""


def catalogue() -> str:
    """The table of AndroidWorld's classes, from its registry and its list of difficulties."""
    classes = loading.task_classes()
    package = Path(str(importlib.import_module("android_world").__file__)).parent
    told = json.loads((package / "task_metadata.json").read_text())
    difficulties = {row["task_name"]: row["difficulty"] for row in told}
    lines = [
        "# AndroidWorld's tasks: class, app, difficulty, steps.\n"
        "# Written by `python docs/androidworld_table.py --catalogue`.\n\ntasks = ["
    ]
    for name, cls in sorted(classes.items()):
        category = next(told for begin, told in CATEGORIES.items() if name.startswith(begin))
        row = [name, category, difficulties[name], int(_complexity(cls) * 10)]
        lines.append(f"    {json.dumps(row)},")
    return "\n".join([*lines, "]\n"])


def _complexity(cls: type[Any]) -> float:
    if isinstance(cls.complexity, int | float):
        return float(cls.complexity)
    with loading.drawing(0):
        return float(cls(cls.generate_random_params()).complexity)


if __name__ == "__main__":
    sys.exit(main())
