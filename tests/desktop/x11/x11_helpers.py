"""What the tests of the X11 device share."""

from __future__ import annotations

from ui_gym.desktop.device import SessionSpec
from ui_gym.desktop.x11.device import X11Device

SIZE = (800, 600)

NOTES = SessionSpec(files={"notes.txt": b"alpha\nbeta\n"}, launch=[["mousepad", "notes.txt"]])


def saved(desktop: X11Device) -> str:
    """What the editor has, after it was told to save it."""
    from ui_gym.contract.action import Press

    desktop.perform(Press("ctrl+s"))
    desktop.capture()
    return (desktop.read("notes.txt") or b"").decode()


def text_point(desktop: X11Device, column: int = 0, line: int = 0) -> tuple[int, int]:
    """Where a letter of the editor's text is, roughly."""
    left, top, _, _ = desktop.windows()[-1].box
    return left + 6 + 9 * column, top + 39 + 19 * line
