"""Chrome's DevTools protocol over a device's connection: its tabs, and what is in them.

Chrome must have been started with ``--remote-debugging-port``. Its HTTP endpoints and the
WebSocket of each page are described at https://chromedevtools.github.io/devtools-protocol/.
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import re
import time
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ui_gym.desktop.device import DesktopDevice
from ui_gym.desktop.osworld.metrics.chrome import same_url
from ui_gym.desktop.osworld.wire import WebSocket, connect, request
from ui_gym.errors import DeviceError, DeviceTimeout

__all__ = ["PORTS", "DevTools", "DevToolsPage", "Tab", "find", "same_url"]

PORTS = (9222, 1337)
"""Where OSWorld's machine shows Chrome's port to others, and Chrome's own there."""
TIMEOUT = 10.0
"""Seconds for one answer."""
GONE = ("context was destroyed", "Cannot find context", "navigated or closed")
"""What Chrome says where a page was left while it was asked."""


@dataclass(frozen=True)
class Tab:
    """An open tab."""

    id: str
    title: str
    url: str


def find(device: DesktopDevice, timeout: float = TIMEOUT) -> DevTools | None:
    """Chrome on that device; None where none runs with a debugging port.

    Raises:
        DeviceLost, DeviceTimeout: the machine itself failed.
    """
    for port in PORTS:
        connection = connect(device, port)
        if connection is None:
            continue
        try:
            status, body = request(connection, "GET", "/json/version", timeout=timeout)
        except DeviceError:  # a forwarder listens, and Chrome behind it does not
            continue
        if status == 200 and b'"Browser"' in body:
            return DevTools(device, port, timeout)
    return None


class DevTools:
    """The browser. Methods raise `DeviceError` where it does not do as it should."""

    def __init__(self, device: DesktopDevice, port: int, timeout: float = TIMEOUT) -> None:
        self._device = device
        self._port = port
        self._timeout = timeout

    def tabs(self) -> list[Tab]:
        """The open tabs, the one used last first; none where what answers is not Chrome."""
        try:
            found = json.loads(self._get("GET", "/json/list"))
        except (ValueError, RecursionError):  # a program that an agent started may answer there
            return []
        if not isinstance(found, list):
            return []
        pages = [one for one in found if isinstance(one, dict) and one.get("type") == "page"]
        tabs = [tab for tab in map(_tab, pages) if tab is not None]
        return [tab for tab in tabs if not tab.url.startswith("devtools://")]

    def open(self, url: str = "about:blank") -> Tab:
        """A new tab with that address."""
        tab = _tab(self._json("PUT", "/json/new?" + urllib.parse.quote(url, safe="")))
        if tab is None:
            raise DeviceError("what answers at Chrome's port names no tab")
        return tab

    def close(self, tab_id: str) -> None:
        """Close a tab."""
        self._get("GET", f"/json/close/{tab_id}")

    def activate(self, tab_id: str) -> None:
        """Bring a tab to the front."""
        self._get("GET", f"/json/activate/{tab_id}")

    @contextlib.contextmanager
    def page(self, tab: Tab) -> Iterator[DevToolsPage]:
        """What is in a tab."""
        connection = connect(self._device, self._port)
        if connection is None:
            raise DeviceError("Chrome is gone")
        path = f"/devtools/page/{tab.id}"
        with WebSocket(connection, path, timeout=self._timeout) as wire:
            yield DevToolsPage(wire, self._timeout)

    @contextlib.contextmanager
    def visit(self, url: str, timeout: float = 60.0) -> Iterator[DevToolsPage]:
        """A page in a tab of its own, which is closed afterwards."""
        tab = self.open(url)
        try:
            with self.page(tab) as page:
                page.wait_loaded(timeout)
                yield page
        finally:
            self.close(tab.id)

    def _json(self, method: str, path: str) -> Any:
        try:
            return json.loads(self._get(method, path))
        except (ValueError, RecursionError) as error:
            raise DeviceError(f"Chrome's answer to {path} is not JSON: {error}") from error

    def _get(self, method: str, path: str) -> bytes:
        connection = connect(self._device, self._port)
        if connection is None:
            raise DeviceError("Chrome is gone")
        status, body = request(connection, method, path, timeout=self._timeout)
        if status != 200:
            raise DeviceError(f"Chrome answered {status} to {path}: {body[:200]!r}")
        return body


def _tab(entry: object) -> Tab | None:
    """What Chrome says of a tab; None where it is nothing that Chrome would say."""
    if not isinstance(entry, dict):
        return None
    said = [entry.get(key, "") for key in ("id", "title", "url")]
    if not all(isinstance(text, str) for text in said) or not re.fullmatch(r"[\w-]+", said[0]):
        return None
    return Tab(*said)


class DevToolsPage:
    """A page that can be asked."""

    def __init__(self, wire: WebSocket, timeout: float) -> None:
        self._wire = wire
        self._timeout = timeout
        self._ids = itertools.count(1)

    def command(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Do a command of the protocol; its result.

        Raises:
            DeviceTimeout: no answer.
            DeviceError: Chrome refused.
        """
        number = next(self._ids)
        self._wire.send({"id": number, "method": method, "params": parameters})
        deadline = time.monotonic() + self._timeout
        while (left := deadline - time.monotonic()) > 0:
            message = self._wire.receive(left)
            if not isinstance(message, dict) or message.get("id") != number:  # an event
                continue
            if "error" in message:
                raise DeviceError(f"Chrome refused {method}: {message['error'].get('message')}")
            return dict(message.get("result", {}))
        raise DeviceTimeout(f"Chrome did not answer {method} within {self._timeout:g} s")

    def evaluate(self, function: str, *arguments: Any) -> Any:
        """What a JavaScript function returns for these arguments; None where it throws, or where
        the page went away meanwhile."""
        given = ", ".join(json.dumps(argument) for argument in arguments)
        try:
            done = self.command(
                "Runtime.evaluate",
                expression=f"({function})({given})",
                returnByValue=True,
                awaitPromise=True,
            )
        except DeviceError as error:
            if any(words in str(error) for words in GONE):
                return None
            raise
        if "exceptionDetails" in done:
            return None
        return done.get("result", {}).get("value")

    def await_value(self, function: str, *arguments: Any, timeout: float) -> Any:
        """What a JavaScript function returns as soon as that is something, as Playwright waits for
        an element that a click brings; None after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        while not (found := self.evaluate(function, *arguments)):
            if (left := deadline - time.monotonic()) <= 0:
                return found
            time.sleep(min(0.1, left))
        return found

    def wait_loaded(self, timeout: float = 10.0) -> bool:
        """Whether the page has loaded within `timeout` seconds."""
        deadline = time.monotonic() + timeout
        while True:
            state = self.evaluate("() => [document.readyState, location.href]")
            if state and state[0] == "complete" and state[1] != "about:blank":
                return True
            if (left := deadline - time.monotonic()) <= 0:
                return False
            time.sleep(min(0.1, left))

    def content(self) -> str:
        """The page as HTML, as it is now."""
        return str(self.evaluate("() => document.documentElement.outerHTML") or "")

    def pdf(self) -> bytes:
        """The page printed to PDF."""
        return base64.b64decode(self.command("Page.printToPDF").get("data", ""))
