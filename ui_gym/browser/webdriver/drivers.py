"""Driver processes: a browser's WebDriver server on this machine, ended without a trace."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from ui_gym.browser.chromium.process import plain_environment
from ui_gym.errors import DeviceSetupError, DeviceStartError

DRIVERS = {
    "chrome": ("chromedriver", "Debian: apt-get install chromium-driver"),
    "firefox": (
        "geckodriver",
        "Debian has no package of it: cargo install geckodriver, or "
        "https://github.com/mozilla/geckodriver/releases",
    ),
    "edge": ("msedgedriver", "https://developer.microsoft.com/microsoft-edge/tools/webdriver"),
}
"""By browser: the command, and where it comes from. Nothing is ever downloaded from here."""

# Browsers leave the driver's process group, but not its session. When our end of the pipe closes,
# be it by `close` or because this process died, everything in the session ends, and then nobody
# writes into the folder any more.
_KEEPER = r"""
folder=$1; shift
{ "$@" </dev/null >"$folder/log" 2>&1; echo "(ended: $?)" >>"$folder/log"; } &
read -r _
[ -e /proc/self/stat ] || kill "$!"
left=1
while [ -n "$left" ]; do
  left=
  for stat in /proc/[0-9]*/stat; do
    read -r line <"$stat" || continue
    set -- ${line##*) }
    [ "$4" = "$$" ] && [ "$1" != Z ] && [ "${line%% *}" != "$$" ] || continue
    kill -9 "${line%% *}" && left=1
  done
done 2>/dev/null
rm -rf "$folder"
"""

_LISTENS = re.compile(r"(?:started successfully on port |Listening on \S*:)(\d+)")
# chromedriver asks for the same port twice, by IPv6 and IPv4, and ends if somebody has one of them.
_TAKEN = "Address already in use"


class _PortTaken(DeviceStartError):
    """Somebody else has the port that the driver chose; it chooses another when started again."""


def find_driver(browser: str) -> str:
    """The path of a browser's driver.

    Raises:
        DeviceStartError: there is none; says where to get it.
    """
    command, source = DRIVERS[browser]
    path = shutil.which(command)
    if path is None:
        raise DeviceSetupError(f"{browser} is driven by {command}, which is not here ({source})")
    return path


class DriverProcess:
    """A running driver, the browsers that it starts, and the folder of all their files."""

    def __init__(self, browser: str, timeout: float) -> None:
        path = find_driver(browser)
        deadline = time.monotonic() + timeout
        while True:
            self._start(browser, path)
            try:
                self.url = f"http://127.0.0.1:{self._port(path, timeout, deadline)}"
                return
            except _PortTaken as error:
                self.close()
                if time.monotonic() >= deadline:
                    raise DeviceStartError(str(error)) from None
            except BaseException:
                self.close()
                raise

    def _start(self, browser: str, path: str) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="ui-gym-webdriver-"))
        # Profiles and caches go where they are removed.
        home = {"HOME": str(self._folder), "TMPDIR": str(self._folder)}
        command = [path, "--port=0"]
        if browser == "firefox":
            # geckodriver refuses all requests on a port that it was let choose.
            command = [path, f"--port={_free_port()}", f"--websocket-port={_free_port()}"]
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", _KEEPER, "sh", str(self._folder), *command],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, env=plain_environment("MOZ_") | home,
        )  # fmt: skip

    @property
    def pid(self) -> int:
        """The session of the driver and its browsers."""
        return self._process.pid

    def close(self) -> None:
        """End the driver and its browsers, and remove their files. Bounded; may be repeated."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(timeout=10)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _port(self, path: str, timeout: float, deadline: float) -> int:
        """Where the driver listens, as it tells when it does."""
        pause = threading.Event()
        said = ""
        while time.monotonic() < deadline and "(ended:" not in said:
            with contextlib.suppress(OSError):
                said = (self._folder / "log").read_text(errors="replace")
            found = _LISTENS.search(said)
            if found:
                return int(found[1])
            pause.wait(0.01)
        words = " | ".join(said.strip().splitlines()[-3:])
        raise (_PortTaken if _TAKEN in said else DeviceStartError)(
            f"{path} did not start within {timeout:g} s."
            + (f" Its last words: {words}" if words else "")
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
