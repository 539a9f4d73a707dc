"""What several of the browser's tests need."""

from __future__ import annotations

import io
import socketserver
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil

from ui_gym.browser.chromium.device import ChromiumDevice
from ui_gym.browser.pool import BrowserPool
from ui_gym.contract.action import Action
from ui_gym.contract.device import DeviceOptions
from ui_gym.contract.task import Task

SIZE = (320, 256)

MakeDevice = Callable[..., ChromiumDevice]
"""The type of the fixture `make_device`."""
WritePage = Callable[..., Path]
"""The type of the fixture `page`."""
Load = Callable[..., ChromiumDevice]
"""The type of the fixture `load`."""

HANGING = (Path(__file__).parent / "tasks/hanging.js").read_text()
"""Gives what does not fit on a page, by its id or class."""

TROUBLE = """
const link = (attributes) => {
  const node = Object.assign(document.createElement("a"), { href: "about:blank", ...attributes });
  node.onclick = (event) => event.stopPropagation();
  document.body.append(node);
  node.click();
};
const troubles = {
  none: () => {},
  loop: () => { for (;;); },
  memory: () => { for (let all = []; ; ) all = [all, new Array(2 ** 20).fill(1.5)]; },
  alert: () => alert("Are you sure?"),
  confirm: () => confirm("Are you sure?"),
  prompt: () => prompt("Are you sure?"),
  stay: () => addEventListener("beforeunload", (event) => event.preventDefault()),
  question: () => { troubles.stay(); troubles.leave(); },
  leave: () => { location.href = "about:blank"; },
  close: () => {
    window.close();
    top.close();
    troubles.save();
  },
  open: () => {
    window.open("about:blank");
    link({ target: "_blank" });
    link({ target: "_blank", rel: "opener" });
    document.body.append(document.createElement("iframe"));
    frames[0].open("about:blank");
  },
  window: () => {
    window.print();
    document.documentElement.requestFullscreen().catch(() => {});
    document.body.requestPointerLock()?.catch(() => {});
    Object.assign(document.createElement("input"), { type: "file" }).click();
  },
  save: () => {
    link({ href: URL.createObjectURL(new Blob(["saved"])), download: "saved.txt" });
    link({ href: "data:application/octet-stream,saved", download: "saved.txt" });
  },
};
addEventListener("click", () => {
  troubles[uiGym.params.trouble]();
  uiGym.log("click");
});
"""
"""The script of a page that makes the trouble in its params when it is clicked."""


def browsers(scratch: Path) -> list[psutil.Process]:
    """All browser processes that work in `scratch`, whoever their parent is by now."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        told = process.info["cmdline"] or []
        alive = process.info["status"] != psutil.STATUS_ZOMBIE
        if alive and any(str(scratch) in part for part in told):
            found.append(process)
    return found


def pages_of(device: ChromiumDevice) -> list[str]:
    """Where all the pages are that a device's browser has."""
    told = device.page.connection.call("Target.getTargets", timeout=10)["targetInfos"]
    return [target["url"] for target in told if target["type"] == "page"]


def play(task: Task[Any, Any], device: ChromiumDevice, seed: int) -> Iterator[int]:
    """Plays the oracle's episode, and stops at each screen, the last one too; it must succeed."""
    params = task.draw(seed)
    task.setup(device, params)
    done: list[Action] = []
    yield 0
    for demo in task.demonstrate(device, params):
        action = demo.action
        if not action.ends_episode:  # which no device does
            device.perform(action)
        done.append(action)
        yield len(done)
    verdict = task.judge(device, params, done)
    assert verdict.success, verdict.notes


class KeptPool:
    """A pool whose browsers are lent again, as long as they are in order."""

    def __init__(self, options: DeviceOptions) -> None:
        self._pool = BrowserPool(options)
        self._idle: list[Any] = []

    def acquire(self) -> Any:
        return self._idle.pop() if self._idle else self._pool.acquire()

    def release(self, device: Any, *, healthy: bool) -> None:
        if healthy:
            self._idle.append(device)
        else:
            self._pool.release(device, healthy=False)

    def close(self) -> None:
        self._pool.close()


TLS_HANDSHAKE = b"\x16"


class Listener:
    """A web server on this machine that notes which paths are asked for."""

    def __init__(self) -> None:
        self.heard: set[str] = set()
        listener = self

        class Handler(socketserver.StreamRequestHandler):
            rfile: io.BufferedReader

            def handle(self) -> None:
                if self.rfile.peek(1)[:1] == TLS_HANDSHAKE:
                    listener.heard.add("https")
                    return
                words = self.rfile.readline().decode("latin-1").split()
                listener.heard.add(words[1].strip("/?") if len(words) > 1 else "?")
                body = b"<!doctype html><title>outside</title><p>outside</p>"
                head = f"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}"
                self.wfile.write(head.encode() + b"\r\nConnection: close\r\n\r\n" + body)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                """A browser that hangs up is no news."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/{path}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
