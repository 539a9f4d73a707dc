"""Writes what is known of tasks before they are imported: ``python docs/tasks_table.py``.

That is the table that `import ui_gym` reads (``ui_gym/tasks.json``), and the tables of tasks in the
documents. With ``--check`` it writes nothing, and its exit status is 1 if a table is out of date.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path

from ui_gym.android import recipe
from ui_gym.android.androidworld import catalogue as androidworld
from ui_gym.browser.miniwob import catalogue
from ui_gym.contract.spec import TaskSpec
from ui_gym.contract.task import Task
from ui_gym.desktop.osworld.spec import OSWORLD
from ui_gym.errors import UserError
from ui_gym.multiagent import registered
from ui_gym.remote.ui_verifiers import DATA_ENTRY
from ui_gym_agents.marked import put_between

ROOT = Path(__file__).resolve().parents[1]
TABLE = "ui_gym/tasks.json"
SUITES = ("android", "browser", "desktop")
NEEDS = {
    androidworld.COLLECTION: androidworld.REMEDY,
    catalogue.COLLECTION: catalogue.REMEDY,
    registered.NEEDED: registered.REMEDY,
}
"""What must be installed for the tasks of a collection: the module of that name."""
DOCUMENTS = {"README.md": "browser", "docs/android.md": "android", "docs/desktop.md": "desktop"}
"""Which suite's table stands in which document."""
BEGIN, END = "<!-- tasks: written by docs/tasks_table.py -->\n", "<!-- end of tasks -->"


def specs() -> list[TaskSpec]:
    """Every task of this repository, by id, as its class was registered."""
    found = {*_registered()}
    taken_over = (recipe.ENTRIES, catalogue.ENTRIES, androidworld.ENTRIES)
    found |= {entry.spec for entries in taken_over for entry in entries.values()}
    return sorted({*found, OSWORLD, DATA_ENTRY, registered.SHARED_BOARD}, key=lambda spec: spec.id)


def _registered() -> Iterator[TaskSpec]:
    """The tasks whose classes lie in the suites' modules."""
    for suite in SUITES:
        tasks = importlib.import_module(f"ui_gym.{suite}.tasks")
        names = [
            f"{tasks.__name__}.{module.name}" for module in pkgutil.iter_modules(tasks.__path__)
        ]
        for name in (f"ui_gym.{suite}.suite", *names):
            for value in vars(importlib.import_module(name)).values():
                if isinstance(value, type) and issubclass(value, Task) and "spec" in vars(value):
                    yield value.spec


def table(tasks: list[TaskSpec]) -> str:
    """The table that `import ui_gym` reads: a line a task, without what is as by default."""
    defaults = {field.name: field.default for field in dataclasses.fields(TaskSpec)}
    lines = [
        json.dumps(
            {name: value for name, value in vars(task).items() if value != defaults[name]},
            ensure_ascii=False,
        )
        for task in tasks
    ]
    rows = ",\n".join(lines)
    return f'{{"needs": {json.dumps(NEEDS)},\n"tasks": [\n{rows}\n]}}\n'


def shown(tasks: list[TaskSpec], suite: str) -> str:
    """The tasks of a suite as Markdown."""
    lines = ["| task | what to do | category | difficulty | steps |", "|---|---|---|---|---|"]
    for task in tasks:
        if task.suite == suite and not task.collection:
            lines.append(
                f"| `{task.id}` | {task.summary} | {task.category} | {task.difficulty} "
                f"| {task.max_steps} |"
            )
    return "\n".join(lines) + "\n"


def updated(document: Path, rows: str) -> str:
    """The document's text with the table as it should be."""
    try:
        return put_between(document.read_text(), BEGIN, END, rows)
    except UserError as error:
        raise SystemExit(f"{document}: {error}") from None


def main() -> int:
    tasks = specs()
    wanted = {name: updated(ROOT / name, shown(tasks, suite)) for name, suite in DOCUMENTS.items()}
    wanted[TABLE] = table(tasks)
    late = [
        name
        for name, new in wanted.items()
        if not (ROOT / name).exists() or (ROOT / name).read_text() != new
    ]
    if late and "--check" in sys.argv:
        print(f"the table of tasks is out of date in {', '.join(late)}: python docs/tasks_table.py")
        return 1
    for name in late:
        (ROOT / name).write_text(wanted[name])
    return 0


if __name__ == "__main__":
    sys.exit(main())
