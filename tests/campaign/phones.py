"""Phones as other machines have them: processes that serve the ADB protocol, each by itself.

Whichever ends is started again, as a phone that was reset comes back with the same address.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from waiting import eventually

SIZE = (256, 320)
"""Of their screens in pixels: that of compact tasks."""


class Phones:
    """So many phones on this machine."""

    def __init__(self, count: int) -> None:
        with ExitStack() as held:
            sockets = [held.enter_context(socket.socket()) for _ in range(count)]
            for one in sockets:
                one.bind(("127.0.0.1", 0))
            self._ports = [one.getsockname()[1] for one in sockets]
        self._ending = threading.Event()
        self._served = [_serve(port) for port in self._ports]
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self._keeper.start()
        assert eventually(lambda: all(map(_listens, self._ports)), 30)

    @property
    def device(self) -> str:
        """What an env's `device` is for them."""
        return "adb-direct:" + ",".join(f"127.0.0.1:{port}" for port in self._ports)

    @property
    def pids(self) -> list[int]:
        return [one.pid for one in self._served]

    def close(self) -> None:
        self._ending.set()
        self._keeper.join()
        for one in self._served:
            one.kill()
            one.wait()

    def _keep(self) -> None:
        while not self._ending.wait(0.2):
            for place, one in enumerate(self._served):
                if one.poll() is not None:
                    self._served[place] = _serve(self._ports[place])


@contextmanager
def phones(count: int) -> Iterator[Phones]:
    made = Phones(count)
    try:
        yield made
    finally:
        made.close()


def _serve(port: int) -> subprocess.Popen[bytes]:
    command = Path(sys.executable).with_name("ui-gym")
    return subprocess.Popen(
        [command, "phone", "--port", str(port), "--size", f"{SIZE[0]}x{SIZE[1]}"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def _listens(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0
