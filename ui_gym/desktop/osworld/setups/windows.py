"""Steps about windows, pauses, and the tabs of a Chrome that is open."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ui_gym.desktop.osworld import devtools, pauses
from ui_gym.desktop.osworld.placeholders import expanded
from ui_gym.desktop.osworld.registry import EvaluationContext, setup
from ui_gym.errors import DeviceTimeout, UserError

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
        context.note(f"there is no window {window_name!r} to activate")


@setup("close_window")
def close_window(
    context: EvaluationContext, window_name: str, strict: bool = False, by_class: bool = False
) -> None:
    """Ask a window to close, chosen as by `activate_window`."""
    if not context.device.close_window(window_name, strict=strict, by_class=by_class):
        context.note(f"there is no window {window_name!r} to close")


@setup("change_wallpaper")
def change_wallpaper(context: EvaluationContext, path: str) -> None:
    """Let the desktop's settings name a picture of the machine as its wallpaper."""
    if not path:
        raise UserError("the path is empty")
    address = f"file://{expanded(path, context.device.home)}"
    result = context.device.run(["gsettings", "set", *BACKGROUND, address])
    if result.code != 0:
        said = result.stderr.decode("utf-8", "replace").strip()
        context.note(f"the wallpaper was not changed: {said}")


@setup("sleep")
def sleep(context: EvaluationContext, seconds: float) -> None:
    """Wait so many seconds at most; see `ui_gym.desktop.osworld.pauses`."""
    pauses.pause(context, float(seconds))


TIMEOUT = 30.0
"""Seconds that the browser is given to answer."""

POLL = 0.25


@setup("chrome_open_tabs")
def open_tabs(context: EvaluationContext, urls_to_open: Sequence[str]) -> None:
    """Open an address each in a new tab, and close the first of those that were there before.

    Nothing waits for a page to load: without a network, none does.
    """
    tools = _browser(context)
    before = tools.tabs()
    for url in urls_to_open:
        tools.open(url)
    if before and urls_to_open:
        tools.close(before[0].id)


@setup("chrome_close_tabs")
def close_tabs(context: EvaluationContext, urls_to_close: Sequence[str]) -> None:
    """Close, for each address, the first tab that shows it."""
    tools = _browser(context)
    for url in urls_to_close:
        for tab in tools.tabs():
            if devtools.same_url(tab.url, url):
                tools.close(tab.id)
                break
        else:
            context.note(f"no tab shows {url}")


def _browser(context: EvaluationContext) -> devtools.DevTools:
    """The browser, once it answers."""
    until = time.monotonic() + TIMEOUT
    while (tools := devtools.find(context.device)) is None:
        if time.monotonic() > until:
            raise DeviceTimeout(
                f"no browser answered on its DevTools port within {TIMEOUT:g} s; the task must "
                "launch one with --remote-debugging-port=9222"
            )
        time.sleep(POLL)
    return tools
