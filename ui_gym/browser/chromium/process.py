"""One Chromium process: found, started, and ended without a trace."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from ui_gym.browser.chromium.cdp import CdpConnection
from ui_gym.contract.tables import read_table
from ui_gym.errors import DeviceError, DeviceSetupError, DeviceStartError

log = logging.getLogger(__name__)

BROWSER_VARIABLE = "UI_GYM_BROWSER"
"""Environment variable: the browser binary to use instead of the ones that are looked for."""

HEADLESS = ("chromium-headless-shell",)
HEADED = ("/usr/lib/chromium/chromium", "chromium", "google-chrome", "google-chrome-stable")

_TABLE = read_table("ui_gym.browser", "flags")


def without(*features: str) -> str:
    """The flag that turns features off, beside those that are always off. Chromium takes the last
    such flag alone."""
    return "--disable-features=" + ",".join([*_TABLE["chromium_features_off"], *features])


FLAGS: tuple[str, ...] = (*_TABLE["chromium"], without())
_PREFERENCES = json.dumps(_TABLE["chromium_preferences"])


def find_browser(*, headless: bool = True) -> str:
    """The path of a Chromium binary, of one with a window where it is not to be `headless`.

    Raises:
        DeviceStartError: there is none, or the one that the environment names will not do; says
            what to install or to change.
    """
    chosen = os.environ.get(BROWSER_VARIABLE)
    if chosen:
        path = shutil.which(chosen)
        if path is None:
            raise DeviceSetupError(
                f"{BROWSER_VARIABLE}={chosen!r} is no executable; correct or unset it"
            )
        if not headless and path.endswith("headless-shell"):
            raise DeviceSetupError(
                f"{BROWSER_VARIABLE}={chosen!r} has no window, which is needed here; name another "
                "browser (chromium or google-chrome), or unset it"
            )
        return path
    for name in (HEADLESS + HEADED) if headless else HEADED:
        path = shutil.which(name)
        if path is not None:
            return path
    what, package = "browser", "chromium-headless-shell"
    if not headless:
        what, package = "browser with a window (chromium or google-chrome)", "chromium"
    raise DeviceSetupError(
        f"no {what} found: install one (Debian: apt-get install {package}), or name a binary in "
        f"the environment variable {BROWSER_VARIABLE}"
    )


# The shell that removes the profile's folder makes it too: whatever ends us leaves none behind.
# A browser with a window keeps a socket in a folder beside its profile, and a link to it there.
# Where the disk is full, it goes without its preferences.
_SCRIPT = """
p=$1; preferences=$2; shift 2
mkdir -m 700 "$p" || exit
{ mkdir "$p/Default" && printf %s "$preferences" >"$p/Default/Preferences"; } 2>/dev/null
"$@" 3<&0 4>&1 </dev/null >/dev/null
s=$(readlink "$p/SingletonSocket") && rm -rf "${s%/*}"
rm -rf "$p"
"""


class BrowserProcess:
    """A running Chromium and its DevTools connection.

    The browser hangs on our pipe: when it closes, be it by `close` or because this process died,
    the browser ends, and the shell that started it removes the profile folder.
    """

    def __init__(
        self,
        *,
        headless: bool = True,
        extra_flags: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        timeout: float = 20.0,
    ) -> None:
        binary = find_browser(headless=headless)
        self.profile = Path(tempfile.gettempdir(), f"ui-gym-chromium-{secrets.token_hex(8)}")
        flags = [*FLAGS, *extra_flags, "--remote-debugging-pipe", f"--user-data-dir={self.profile}"]
        if headless and not binary.endswith("headless-shell"):
            flags.append("--headless=new")
        if os.geteuid() == 0:
            flags.append("--no-sandbox")  # Chromium refuses to start for root with its sandbox
            log.debug("running as root: the browser's own sandbox is off")
        if _small_shared_memory():
            flags.append("--disable-dev-shm-usage")
        browser_reads, we_write = os.pipe()
        we_read, browser_writes = os.pipe()
        # The shell moves stdin and stdout to the descriptors that Chromium expects, and cleans up.
        # A file without a name, because the profile folder goes as soon as the browser does.
        with tempfile.TemporaryFile() as stderr:
            try:
                self._process = subprocess.Popen(
                    ["/bin/sh", "-c", _SCRIPT, "sh", str(self.profile), _PREFERENCES, binary,
                     *flags],
                    stdin=browser_reads, stdout=browser_writes, stderr=stderr,
                    start_new_session=True,
                    env=_environment(self.profile) | dict(environment or {}),
                )  # fmt: skip
            finally:
                os.close(browser_reads)
                os.close(browser_writes)
            self.connection = CdpConnection(we_read, we_write)
            try:
                got = self.connection.call("Browser.getVersion", timeout=timeout)
            except DeviceError as error:
                self.close()
                raise DeviceStartError(
                    f"{binary} did not start: {error}.{_last_words(stderr)}"
                ) from None
        self.version = got["product"]

    @property
    def pid(self) -> int:
        """The process group of the browser and all its children."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        return not self.connection.lost and self._process.poll() is None

    def close(self) -> None:
        """End the browser and remove its profile. Bounded in time; idempotent."""
        self.connection.close()
        try:
            self._process.wait(timeout=3)
        except subprocess.TimeoutExpired:
            log.debug("browser %d does not end by itself: killed", self._process.pid)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(timeout=10)
        self.connection.join()
        with contextlib.suppress(OSError):
            _remove((self.profile / "SingletonSocket").readlink().parent)
        _remove(self.profile)


def _last_words(stderr: IO[bytes]) -> str:
    stderr.seek(0)
    lines = stderr.read().decode(errors="replace").strip().splitlines()
    return " Its last words: " + " | ".join(lines[-3:]) if lines else ""


def plain_environment(*foreign: str) -> dict[str, str]:
    """Ours, without what would change pixels (locale, time zone) or let the desktop in.

    Variables that begin with one of `foreign` are left out too.
    """
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "DBUS_", *foreign))}
    return env | {"LANG": "C.UTF-8", "TZ": "UTC"}


def _environment(profile: Path) -> dict[str, str]:
    # A browser with a window keeps crash reports, and GTK its settings, outside the profile (where
    # neither may contain the other, else its caches move out).
    kept = {"XDG_CONFIG_HOME": str(profile / "config"), "GSETTINGS_BACKEND": "memory"}
    return plain_environment() | kept


def _small_shared_memory() -> bool:
    """Containers often have 64 MB of /dev/shm, which large pages fill: the renderer then dies."""
    try:
        stats = os.statvfs("/dev/shm")
    except OSError:
        return True
    return stats.f_frsize * stats.f_bavail < 512 << 20


def _remove(folder: Path) -> None:
    """Remove `folder`, also while a dying child still writes into it."""
    deadline = time.monotonic() + 2
    while folder.exists() and time.monotonic() < deadline:
        shutil.rmtree(folder, ignore_errors=True)
