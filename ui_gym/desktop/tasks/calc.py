"""The tasks with sheets, with Calc of LibreOffice in place of Gnumeric."""

from __future__ import annotations

import inspect
from typing import Any

from ui_gym.contract.registry import register
from ui_gym.desktop.sheet_task import SheetTask
from ui_gym.desktop.spreadsheets import CALC
from ui_gym.desktop.tasks import sheet_cells, sheet_tables


def in_calc(task: type[SheetTask[Any]]) -> type[SheetTask[Any]]:
    """That task as ``DesktopCalc...``."""
    spec = task.spec
    name = spec.name.replace("Desktop", "DesktopCalc", 1)
    summary, rest = inspect.cleandoc(task.__doc__ or "").split("\n", 1)
    doc = f"{summary.removesuffix('.')}, with LibreOffice.\n{rest}".replace("Gnumeric", "Calc")
    fields = {"__doc__": doc, "__module__": __name__, "application": CALC, "compact_goals": ()}
    made: type[SheetTask[Any]] = type(name, (task,), fields)
    registered = register(
        name, suite="desktop", category="calc", difficulty=spec.difficulty,
        max_steps=spec.max_steps, tags=("sheet", "extra", "libreoffice"),
    )  # fmt: skip
    return registered(made)


DesktopCalcEnterCell = in_calc(sheet_cells.DesktopEnterCell)
DesktopCalcFixValue = in_calc(sheet_cells.DesktopFixValue)
DesktopCalcFillBlanks = in_calc(sheet_cells.DesktopFillBlanks)
DesktopCalcSumColumn = in_calc(sheet_tables.DesktopSumColumn)
DesktopCalcSortRows = in_calc(sheet_tables.DesktopSortRows)
DesktopCalcRenameSheet = in_calc(sheet_tables.DesktopRenameSheet)
