"""The tasks with whole columns, rows and sheets, with Calc of LibreOffice."""

from __future__ import annotations

from ui_gym.contract.registry import register
from ui_gym.desktop.spreadsheets import CALC
from ui_gym.desktop.tasks import sheet_tables


@register(
    "DesktopCalcSumColumn", suite="desktop", category="calc", difficulty="medium", max_steps=15,
    tags=("sheet", "extra", "libreoffice"),
)  # fmt: skip
class DesktopCalcSumColumn(sheet_tables.DesktopSumColumn):
    """Sum up a column with a formula, with LibreOffice.

    ## Description
    The goal names a column by its title, and the cell where its sum is to be computed.

    ## Rewards
    1 if the saved workbook holds a formula in that cell whose value is the sum, and all else as it
    was. A number that was typed is no formula, nor is one without cells of the column.

    ## Starting state
    The workbook is open in Calc.
    """

    application = CALC


@register(
    "DesktopCalcSortRows", suite="desktop", category="calc", difficulty="medium", max_steps=20,
    tags=("sheet", "extra", "libreoffice"),
)  # fmt: skip
class DesktopCalcSortRows(sheet_tables.DesktopSortRows):
    """Sort a table by one of its columns, with LibreOffice.

    ## Description
    The goal names a column by its title, and whether the smallest or the largest is to come first.
    The titles stay where they are, and rows stay together.

    ## Rewards
    1 if the rows of the saved workbook are in that order, and all else as it was.

    ## Starting state
    The workbook is open in Calc, with its rows in another order.
    """

    application = CALC


@register(
    "DesktopCalcRenameSheet", suite="desktop", category="calc", difficulty="medium", max_steps=20,
    tags=("sheet", "extra", "libreoffice"),
)  # fmt: skip
class DesktopCalcRenameSheet(sheet_tables.DesktopRenameSheet):
    """Give one of three sheets another name, with LibreOffice.

    ## Description
    The goal names a sheet of the workbook and its new name.

    ## Rewards
    1 if that sheet of the saved workbook has the name, and all else is as it was.

    ## Starting state
    The workbook is open in Calc, with its first sheet in front.
    """

    application = CALC
