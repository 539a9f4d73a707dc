"""The tasks with the cells of a sheet, with Calc of LibreOffice."""

from __future__ import annotations

from ui_gym.contract.registry import register
from ui_gym.desktop.spreadsheets import CALC
from ui_gym.desktop.tasks import sheet_cells


@register(
    "DesktopCalcEnterCell", suite="desktop", category="calc", difficulty="easy", max_steps=15,
    tags=("sheet", "extra", "libreoffice"),
)  # fmt: skip
class DesktopCalcEnterCell(sheet_cells.DesktopEnterCell):
    """Write a value into an empty cell of a spreadsheet, with LibreOffice.

    ## Description
    The goal names a cell beside or below a table, one of two sheets, and a number or a word.

    ## Rewards
    1 if the saved workbook holds the value in that cell, and all else as it was.

    ## Starting state
    The workbook is open in Calc, with its first sheet in front.
    """

    application = CALC


@register(
    "DesktopCalcFixValue", suite="desktop", category="calc", difficulty="medium", max_steps=15,
    tags=("sheet", "extra", "libreoffice"),
)  # fmt: skip
class DesktopCalcFixValue(sheet_cells.DesktopFixValue):
    """Correct one number of a table that the goal tells by its row and column, with LibreOffice.

    ## Description
    The goal says what stands first in the row, the title of the column, and the right number. The
    cell is to be found.

    ## Rewards
    1 if the saved workbook holds that number there, and all else as it was.

    ## Starting state
    The workbook is open in Calc.
    """

    application = CALC


@register(
    "DesktopCalcFillBlanks", suite="desktop", category="calc", difficulty="medium", max_steps=25,
    tags=("sheet", "extra", "libreoffice"),
)  # fmt: skip
class DesktopCalcFillBlanks(sheet_cells.DesktopFillBlanks):
    """Fill all empty cells of a column, with LibreOffice.

    ## Description
    The goal names a column by its title, and what is to stand in each of its two to four empty
    cells. Another column has empty cells, too.

    ## Rewards
    1 if the saved workbook holds the value in all of them, and all else as it was.

    ## Starting state
    The workbook is open in Calc.
    """

    application = CALC
