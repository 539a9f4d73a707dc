"""The compact file manager: a screen of 400x320 pixels that a model of a million parameters reads.

Its rows are 40 pixels high and begin where a patch of 40 pixels does; names have letters of 15
pixels and begin in the second patch. Beside the list there is only a menu. Files go to the trash
unasked.
"""

from __future__ import annotations

from ui_gym.desktop.homes import home_files, with_values

SIZE = (400, 320)
PATCH = 40
TOP = 2 * PATCH
"""Where the list's first row begins."""
ROWS = (SIZE[1] - TOP) // PATCH
"""Files that are seen at once."""

_SETTINGS = {
    ".config/pcmanfm/default/pcmanfm.conf": {
        "side_pane_mode": "hidden;places", "toolbar": "hidden;navigation;home;",
    },
    ".config/libfm/libfm.conf": {"small_icon_size": "36", "confirm_trash": "0"},
    ".gtkrc-2.0": {"gtk-font-name": '"DejaVu Sans 11"'},
}  # fmt: skip

_STYLE = """
style "menus" { GtkMenuBar::internal-padding = 3 }
class "GtkMenuBar" style "menus"
"""


def settings() -> dict[str, bytes]:
    """The files of a home folder, by their paths, that make it so."""
    home = home_files("ui_gym.desktop.x11", "home")
    made = {path: with_values(home[path], values) for path, values in _SETTINGS.items()}
    return {**made, ".gtkrc-2.0": made[".gtkrc-2.0"] + _STYLE.encode()}


def middle(row: int) -> int:
    """The height of the middle of a row, in pixels."""
    return TOP + PATCH * row + PATCH // 2
