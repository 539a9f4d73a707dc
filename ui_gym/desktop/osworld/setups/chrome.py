"""Steps for a Chrome that is open: ``chrome_open_tabs``, ``chrome_close_tabs``."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ui_gym.desktop.osworld import devtools
from ui_gym.desktop.osworld.registry import EvaluationContext, setup
from ui_gym.desktop.osworld.setups.notes import note
from ui_gym.errors import DeviceTimeout

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
            note(context, f"no tab shows {url}")


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
