"""Steps about windows and pauses: ``open``, ``activate_window``, ``close_window``,
``change_wallpaper``, ``sleep``."""

from __future__ import annotations

from ui_gym.desktop.osworld import pauses
from ui_gym.desktop.osworld.placeholders import expanded
from ui_gym.desktop.osworld.registry import EvaluationContext, setup
from ui_gym.desktop.osworld.setups.notes import note
from ui_gym.errors import UserError

BACKGROUND = ("org.gnome.desktop.background", "picture-uri")
"""Where GNOME keeps its wallpaper, which is where OSWorld's machines look for it."""


@setup("open")
def open_file(context: EvaluationContext, path: str) -> None:
    """Open a file with the program that the desktop has for it, and wait for a window of it."""
    if not path:
        raise UserError("the path is empty")
    context.device.open_file(expanded(path, context.device.home))


@setup("activate_window")
def activate_window(
    context: EvaluationContext, window_name: str, strict: bool = False, by_class: bool = False
) -> None:
    """Bring a window to the front: the first whose title (class) holds, or `strict`: is, that."""
    if not context.device.activate_window(window_name, strict=strict, by_class=by_class):
        note(context, f"there is no window {window_name!r} to activate")


@setup("close_window")
def close_window(
    context: EvaluationContext, window_name: str, strict: bool = False, by_class: bool = False
) -> None:
    """Ask a window to close, chosen as by `activate_window`."""
    if not context.device.close_window(window_name, strict=strict, by_class=by_class):
        note(context, f"there is no window {window_name!r} to close")


@setup("change_wallpaper")
def change_wallpaper(context: EvaluationContext, path: str) -> None:
    """Let the desktop's settings name a picture of the machine as its wallpaper."""
    if not path:
        raise UserError("the path is empty")
    address = f"file://{expanded(path, context.device.home)}"
    result = context.device.run(["gsettings", "set", *BACKGROUND, address])
    if result.code != 0:
        said = result.stderr.decode("utf-8", "replace").strip()
        note(context, f"the wallpaper was not changed: {said}")


@setup("sleep")
def sleep(context: EvaluationContext, seconds: float) -> None:
    """Wait so many seconds at most; see `ui_gym.desktop.osworld.pauses`."""
    pauses.pause(context, float(seconds))
