"""How a hand works with spreadsheets: Gnumeric, and Calc of LibreOffice.

Places hold for Gnumeric 1.12 and LibreOffice 7.4 with what `ui_gym.desktop.x11` sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from ui_gym.contract.action import Action, Press, Type, Wait
from ui_gym.desktop import navigation, offices
from ui_gym.desktop.content.sheets import Table, reference
from ui_gym.desktop.device import DesktopDevice, Warm


class Spreadsheet(Protocol):
    """An application for sheets, with the file `file` open."""

    command: tuple[str, ...]
    """Starts it; the file's name follows."""
    warm: tuple[Warm, ...]
    """What of it is started before."""
    process: str
    """The name of its process."""
    rest: float
    """Seconds in which nothing happens once it has started."""

    def show(self, sheet: int) -> Iterator[Action]:
        """From the first sheet to the one of this index."""

    def go_to(self, device: DesktopDevice, file: str, cells: str) -> Iterator[Action]:
        """Select a cell (``"B3"``)."""

    def sort(
        self, device: DesktopDevice, file: str, table: Table, column: int, *, descending: bool
    ) -> Iterator[Action]:
        """Sort the table's rows by a column."""

    def rename(self, device: DesktopDevice, file: str, name: str) -> Iterator[Action]:
        """Give the sheet that shows another name."""

    def save(self) -> Iterator[Action]:
        """Save, and wait until that is done."""


class _Common:
    def show(self, sheet: int) -> Iterator[Action]:
        for _ in range(sheet):
            yield Press("ctrl+pagedown")

    def save(self) -> Iterator[Action]:
        yield Press("ctrl+s")
        for _ in range(4):  # the file is written in the application's own time
            yield Wait(0.5)


class Gnumeric(_Common):
    """Gnumeric."""

    command: tuple[str, ...] = ("gnumeric",)
    warm: tuple[Warm, ...] = ()
    process: str = "gnumeric"
    rest: float = 0.4

    def go_to(self, device: DesktopDevice, file: str, cells: str) -> Iterator[Action]:
        yield navigation.at(navigation.window(device, file), (60, 78))
        yield from _written(cells)

    def sort(
        self, device: DesktopDevice, file: str, table: Table, column: int, *, descending: bool
    ) -> Iterator[Action]:
        last = reference(len(table.titles) - 1, table.height - 1)
        yield from self.go_to(device, file, f"A2:{last}")
        yield Press("alt+d")
        yield Press("s")
        yield from navigation.opened(device, "Sort")
        dialog = navigation.window(device, "Sort")
        yield navigation.at(dialog, (360, 320))  # Clear: all columns are there at first
        yield navigation.at(dialog, (120, 451))
        yield Type(reference(column, 1))
        yield navigation.at(dialog, (352, 451))  # Add
        if descending:
            yield navigation.at(dialog, (134, 256))
        yield navigation.at(dialog, (360, 490))  # OK
        yield from navigation.closed(device, "Sort")
        yield from navigation.opened(device, file)

    def rename(self, device: DesktopDevice, file: str, name: str) -> Iterator[Action]:
        yield Press("alt+o")
        yield Press("s")
        yield Press("down")  # from "Manage Sheets" to "Rename"
        yield Press("enter")
        yield from navigation.opened(device, "Rename Sheet")
        yield from _written(name)
        yield from navigation.closed(device, "Rename Sheet")
        yield from navigation.opened(device, file)


class Calc(_Common):
    """Calc of LibreOffice."""

    command: tuple[str, ...] = offices.LIBREOFFICE
    warm: tuple[Warm, ...] = (offices.LIBREOFFICE_WARM,)
    process: str = offices.LIBREOFFICE_PROCESS
    rest: float = offices.LIBREOFFICE_REST

    def go_to(self, device: DesktopDevice, file: str, cells: str) -> Iterator[Action]:
        # Not by the box with the cell's name: that keeps the keyboard for a while.
        column, row = ord(cells[0]) - ord("A"), int(cells[1:]) - 1
        yield navigation.at(navigation.window(device, file), (76 + 70 * column, 174 + 20 * row))

    def sort(
        self, device: DesktopDevice, file: str, table: Table, column: int, *, descending: bool
    ) -> Iterator[Action]:
        yield from self.go_to(device, file, reference(column, 1))
        yield Press("alt+d")
        for _ in range(2 if descending else 1):  # below "Sort..."
            yield Press("down")
        yield Press("enter")

    def rename(self, device: DesktopDevice, file: str, name: str) -> Iterator[Action]:
        window = navigation.window(device, file)
        yield from navigation.menu(window, (325, 12), (383, 487))
        yield from navigation.opened(device, "Rename Sheet")
        yield from _written(name)
        yield from navigation.closed(device, "Rename Sheet")
        yield from navigation.opened(device, file)


GNUMERIC: Spreadsheet = Gnumeric()
CALC: Spreadsheet = Calc()


def _written(text: str) -> Iterator[Action]:
    """Into the field with the keyboard, in actions that every dialect has words for."""
    yield Press("ctrl+a")
    yield Type(text, enter=True)
