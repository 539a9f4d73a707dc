"""The compact desktop: a screen of 400x320 pixels that a model of a million parameters reads.

Rows are 40 pixels high and begin where a patch of 40 pixels does: those of a folder, a text and a
sheet; icons have two patches each. Letters have 15 pixels (in the text editor, whose lines are as
high as its letters, 35). Beside that there is only a menu. Files go to the trash unasked.
"""

from __future__ import annotations

from ui_gym.contract.action import Button, Click
from ui_gym.desktop import facts, keyfile
from ui_gym.desktop.content.sheets import CellGrid
from ui_gym.desktop.homes import home_files, with_values

SIZE = (400, 320)
PATCH = 40
TOP = 2 * PATCH
"""Where the first row of a folder or a sheet begins."""
TEXT_TOP = PATCH
"""Where the first line of a text does."""
ROWS = (SIZE[1] - TOP) // PATCH
"""Files that are seen at once."""

GRID = CellGrid(font=11, height=30, width=11.4, indent=1, rows=8, columns=4)
"""Cells of a sheet, 40 pixels high and 80 wide."""

_CELL = 74
"""Where the first of them begins."""

_ICON, _NEXT_ICON = (60, 24), (116, 82)
"""The middle of the first icon, and how far the next ones are: right, down."""
_ICONS_BELOW = 4
"""In a column."""

_SETTINGS = {
    ".config/pcmanfm/default/pcmanfm.conf": {
        "side_pane_mode": "hidden;places", "toolbar": "hidden;navigation;home;",
    },
    ".config/libfm/libfm.conf": {
        "small_icon_size": "36", "big_icon_size": "28", "confirm_trash": "0",
    },
    ".gtkrc-2.0": {"gtk-font-name": '"DejaVu Sans 11"'},
}  # fmt: skip

_STYLE = """
style "menus" { GtkMenuBar::internal-padding = 3 }
class "GtkMenuBar" style "menus"
"""

_ICONS = ".config/pcmanfm/default/desktop-items-0.conf"

_EDITOR: keyfile.Settings = {
    f"{facts.PREFERENCES}view": {
        "use-default-monospace-font": "false", "font-name": "'DejaVu Sans 25.5'",
    },
    f"{facts.PREFERENCES}window": {"path-in-title": "false"},
    "org/xfce/mousepad/state/window": {"width": "uint32 398", "height": "uint32 295"},
}  # fmt: skip

_SHEETS: keyfile.Settings = {
    "org/gnome/gnumeric/core/gui/toolbars": {"standard-visible": "false"},
    "org/gnome/gnumeric/core/gui/window": {"x": "1.0", "y": "1.0"},
}


def settings() -> dict[str, bytes]:
    """The files of a home folder, by their paths, that make it so."""
    home = home_files("ui_gym.desktop.x11", "home")
    shell = home_files("ui_gym.desktop", "shell_home")
    styles = home_files("ui_gym.desktop", "compact_home")
    made = {path: with_values(home[path], values) for path, values in _SETTINGS.items()}
    return {
        **made,
        ".gtkrc-2.0": made[".gtkrc-2.0"] + _STYLE.encode(),
        _ICONS: with_values(shell[_ICONS], {"desktop_font": "DejaVu Sans 11"}),
        keyfile.PATH: keyfile.beginning({**_EDITOR, **_SHEETS}),
        **{path: home[path] + style for path, style in styles.items()},
    }


def middle(row: int, top: int = TOP) -> int:
    """The height of the middle of a row, in pixels."""
    return top + PATCH * row + PATCH // 2


def at_row(row: int, *, top: int = TOP, count: int = 1, button: Button = "left") -> Click:
    """A click in the middle of a row of a folder."""
    return Click(SIZE[0] // 2, middle(row, top), count=count, button=button)


def at_cell(column: int, row: int) -> Click:
    """A click in the middle of a cell of a sheet, both counted from 0."""
    return Click(_CELL + PATCH + 2 * PATCH * column, middle(row))


def icon(index: int) -> tuple[int, int]:
    """The middle of an icon of the desktop, as many as come before it."""
    column, row = divmod(index, _ICONS_BELOW)
    return _ICON[0] + _NEXT_ICON[0] * column, _ICON[1] + _NEXT_ICON[1] * row
