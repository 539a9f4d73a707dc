"""A tab that shows the monitor, driven over the DevTools pipe of the browser's device.

The device itself cannot show a live page: it answers every request of its page itself and stops the
page's clock. So this takes the parts below it (the process with its flags, the connection, the
input), and keeps the wall around them: of all addresses, only this machine's are not led to a proxy
that is dead.
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from waiting import eventually

from ui_gym.browser.chromium import input as device_input
from ui_gym.browser.chromium.process import BrowserProcess
from ui_gym.browser.chromium.protocol import Command, Message, evaluation, value_of
from ui_gym.contract.action import Click, Move, Press, Type

THIS_MACHINE = (
    "--proxy-bypass-list=127.0.0.1",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
"""Takes the place of the device's own flags, with which even this machine is out of reach."""
TIMEOUT = 20.0
"""Seconds that anything may take before it counts as failed, however busy the machine is."""
SIZE = (1280, 800)

SEEN = """
(selector) => [...document.querySelectorAll(selector)]
  .filter((node) => node.getClientRects().length).map((node) => node.innerText ?? "")
"""
MIDDLE = """
(selector) => {
  const node = [...document.querySelectorAll(selector)].find((one) => one.getClientRects().length);
  if (!node) return null;
  node.scrollIntoView({ block: "nearest" });
  const box = node.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
}
"""


class Browser:
    """A Chromium whose tabs reach this machine and nothing else."""

    def __init__(self) -> None:
        self.process = BrowserProcess(extra_flags=THIS_MACHINE, timeout=TIMEOUT)

    def close(self) -> None:
        self.process.close()

    @contextmanager
    def tab(self, size: tuple[int, int] = SIZE) -> Iterator[WatchedPage]:
        """A tab of its own: nothing that others stored or cached is in it."""
        ask = self.process.connection.call
        context = ask("Target.createBrowserContext", {}, timeout=TIMEOUT)
        target = ask("Target.createTarget", {"url": "about:blank", **context}, timeout=TIMEOUT)
        page = WatchedPage(self.process, target["targetId"], size)
        try:
            yield page
        finally:
            page.close()
            ask("Target.disposeBrowserContext", context, timeout=TIMEOUT)


class WatchedPage:
    """A tab, and what it did: its requests, its console, its dialogs."""

    def __init__(self, process: BrowserProcess, target: str, size: tuple[int, int]) -> None:
        self._connection = process.connection
        attached = {"targetId": target, "flatten": True}
        self._session = self._connection.call("Target.attachToTarget", attached, timeout=TIMEOUT)[
            "sessionId"
        ]
        self._changed = threading.Condition()
        self.requests: list[dict[str, Any]] = []
        """Each with its url, method and, once it is over, the `bytes` that came for it."""
        self.console: list[str] = []
        """Errors and warnings: of scripts, of the policy, of requests."""
        self.dialogs: list[str] = []
        self._connection.listen(self._session, self._on_event)
        for domain in ("Page", "Runtime", "Network", "Log", "DOM", "Accessibility"):
            self.run((f"{domain}.enable", {}))
        self.run(("Emulation.setFocusEmulationEnabled", {"enabled": True}))
        self.resize(size)

    def close(self) -> None:
        self._connection.listen(self._session, None)

    # -- where it is --

    def open(self, url: str) -> None:
        """Load a page anew."""
        told = self.run(("Page.navigate", {"url": url}))
        assert "errorText" not in told, f"{url}: {told['errorText']}"
        self.until("document.readyState === 'complete'")

    def reload(self) -> None:
        self.js("window.old = true")
        self.run(("Page.reload", {}))
        self.until("!window.old && document.readyState === 'complete'")

    def go(self, hash: str) -> None:
        """Follow a link of the page: only the hash changes."""
        self.js(f"location.hash = {json.dumps(hash)}")

    # -- what it shows --

    def js(self, expression: str, *of: Any, promise: bool = False) -> Any:
        """The value of a script; with arguments, `expression` is the function they are given to."""
        if of:
            expression = f"({expression})({', '.join(map(json.dumps, of))})"
        return value_of(self.run(evaluation(expression, promise=promise)))

    def until(self, expression: str, seconds: float = TIMEOUT) -> None:
        """Wait until a script's value is true."""
        held = eventually(lambda: self._js_while_loading(expression), seconds)
        assert held, f"never true: {expression}\n{self.text()[:2000]}\n{self.console}"

    def until_seen(self, *texts: str) -> None:
        """Wait until all of `texts` stand on the page."""
        held = eventually(lambda: all(text in self.text() for text in texts), TIMEOUT)
        assert held, f"{texts} in {self.text()[:2000]!r}\n{self.console}"

    def text(self) -> str:
        return str(self._js_while_loading("document.body.innerText") or "")

    def seen(self, selector: str) -> list[str]:
        """The texts of all elements of a selector that are shown."""
        return list(self.js(SEEN, selector))

    def picture(self) -> bytes:
        """What is painted, as PNG."""
        return base64.b64decode(self.run(("Page.captureScreenshot", {"format": "png"}))["data"])

    # -- what is done to it --

    def press(self, *chords: str) -> None:
        for chord in chords:
            self._act(Press(chord))

    def type(self, text: str) -> None:
        self._act(Type(text))

    def click(self, selector: str) -> None:
        self.until(f"({MIDDLE})({json.dumps(selector)}) !== null")
        x, y = self.js(MIDDLE, selector)
        self._act(Click(round(x), round(y)))

    def move(self, x: float, y: float) -> None:
        self._act(Move(round(x), round(y)))

    def resize(self, size: tuple[int, int], *, scale: float = 1.0) -> None:
        """Give the window a size, in pixels of the screen; `scale` is the browser's zoom."""
        width, height = (round(side / scale) for side in size)
        metrics = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
        self.run(("Emulation.setDeviceMetricsOverride", metrics))

    def prefer(self, theme: str) -> None:
        """What the system's theme is: dark or light."""
        feature = {"name": "prefers-color-scheme", "value": theme}
        self.run(("Emulation.setEmulatedMedia", {"features": [feature]}))

    def cut_off(self) -> None:
        """Take the network away."""
        gone = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        self.run(("Network.emulateNetworkConditions", gone))

    def run(self, command: Command) -> Message:
        """The answer to a command of the DevTools protocol."""
        return self._connection.send([command], self._session)[0].result(TIMEOUT)

    # -- what it asked for --

    def urls(self) -> list[str]:
        """All that was asked for, beside what lies in the page itself."""
        with self._changed:
            found = [request["url"] for request in self.requests]
        return [url for url in found if not url.startswith(("data:", "blob:"))]

    def received(self) -> int:
        """Bytes of all answers by now, as they came over the wire, headers included."""
        with self._changed:
            return int(sum(request["bytes"] for request in self.requests))

    def _act(self, action: Any) -> None:
        batches = device_input.commands(action)
        sent = [one for batch in batches for one in batch if one[0] != "Runtime.evaluate"]
        for reply in self._connection.send(sent, self._session):
            reply.result(TIMEOUT)

    def _js_while_loading(self, expression: str) -> Any:
        """The value of a script; None where its document has just gone or has no body yet."""
        answer = self.run(evaluation(f"(() => {{ try {{ return {expression} }} catch {{}} }})()"))
        return answer["result"].get("value")

    def _on_event(self, method: str, params: Message) -> None:
        with self._changed:
            if method == "Network.requestWillBeSent":
                request = params["request"]
                self.requests.append({
                    "id": params["requestId"], "url": request["url"], "method": request["method"],
                    "bytes": 0,
                })  # fmt: skip
            elif method == "Network.loadingFinished":
                for request in self.requests:
                    if request["id"] == params["requestId"]:
                        request["bytes"] = params["encodedDataLength"]
            elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
                said = [str(one.get("value", one.get("description"))) for one in params["args"]]
                self.console.append(f"{params['type']}: {' '.join(said)}")
            elif method == "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                said = details.get("exception", {}).get("description", details["text"])
                self.console.append(f"thrown: {said}")
            elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                entry = params["entry"]
                self.console.append(f"{entry['level']}: {entry['text']} {entry.get('url', '')}")
            elif method == "Page.javascriptDialogOpening":
                self.dialogs.append(params["message"])
                # Nobody waits for it here: this is the thread that reads answers.
                closed = ("Page.handleJavaScriptDialog", {"accept": False})
                self._connection.send([closed], self._session)


def file_url(path: Path) -> str:
    return path.absolute().as_uri()
