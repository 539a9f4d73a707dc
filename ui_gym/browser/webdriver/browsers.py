"""Which WebDriver browser is meant, and how it is asked for: quiet, walled in, the same pixels."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ui_gym.browser.chromium import process
from ui_gym.browser.webdriver.drivers import DRIVERS, find_driver
from ui_gym.errors import DeviceSetupError, UserError, nearest

if TYPE_CHECKING:
    from selenium.webdriver.chromium.options import ChromiumOptions
    from selenium.webdriver.common.options import ArgOptions
    from selenium.webdriver.firefox.options import Options as FirefoxOptions

_ADDRESS = re.compile(r"(?:([^@:/]*)@)?(https?://.+)")

FIREFOX_PREFERENCES: Mapping[str, str | int | bool] = {
    # Walls: every proxy is dead, loopback is no exception, no name is looked up.
    "network.proxy.type": 1, "network.proxy.http": "127.0.0.1", "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1", "network.proxy.ssl_port": 9,
    "network.proxy.socks": "127.0.0.1", "network.proxy.socks_port": 9,
    "network.proxy.socks_remote_dns": True, "network.proxy.no_proxies_on": "",
    "network.proxy.allow_hijacking_localhost": True, "network.dns.disabled": True,
    "network.dns.disablePrefetch": True, "network.prefetch-next": False, "network.trr.mode": 5,
    "network.http.speculative-parallel-limit": 0, "media.peerconnection.enabled": False,
    # Quiet: no first run, no updates, no background traffic.
    "app.update.disabledForTesting": True, "browser.startup.homepage_override.mstone": "ignore",
    "browser.aboutwelcome.enabled": False, "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False, "datareporting.policy.firstRunURL": "",
    "datareporting.healthreport.uploadEnabled": False, "extensions.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False, "toolkit.telemetry.enabled": False,
    # The same pixels everywhere, and nothing that moves.
    "layout.css.devPixelsPerPx": "1.0", "gfx.color_management.mode": 0,
    "gfx.text.subpixel-position.force-disabled": True, "ui.caretBlinkTime": 0,
    "ui.prefersReducedMotion": 1, "general.smoothScroll": False,
    "widget.gtk.overlay-scrollbars.enabled": True, "apz.overscroll.enabled": False,
    "intl.accept_languages": "en-US", "media.volume_scale": "0",
    "security.sandbox.warn_unprivileged_namespaces": False,
}  # fmt: skip


@dataclass(frozen=True)
class BrowserAddress:
    """A browser, and the server that has it: on this machine where `url` is None."""

    browser: str
    url: str | None = None

    @property
    def is_here(self) -> bool:
        """Whether the browser runs on this machine, whoever starts it."""
        return self.url is None or urlsplit(self.url).hostname in ("127.0.0.1", "::1", "localhost")


def address(kind: str) -> BrowserAddress:
    """What a device's kind means: ``selenium``, ``selenium:firefox``, ``selenium:http://host:4444``
    or ``selenium:firefox@http://host:4444``.

    Raises:
        UserError: no such browser.
    """
    _, _, rest = kind.partition(":")
    found = _ADDRESS.fullmatch(rest)
    browser, url = (found[1] or "chrome", found[2]) if found else (rest or _local(), None)
    if browser not in DRIVERS:
        raise UserError(
            f"selenium has no browser {browser!r}. {nearest(browser, DRIVERS)} A server is "
            "written selenium:http://host:4444 or selenium:firefox@http://host:4444"
        )
    return BrowserAddress(browser, url)


def options(asked: BrowserAddress, *, headless: bool) -> ArgOptions:
    """What a session is asked for with.

    Raises:
        DeviceStartError: the browser is not on this machine, where it should be.
    """
    made = _firefox(asked, headless) if asked.browser == "firefox" else _chromium(asked, headless)
    made.set_capability("unhandledPromptBehavior", "ignore")
    return made


def _local() -> str:
    """The browser of this machine: a Chromium if it can be driven, else Firefox."""
    if shutil.which(DRIVERS["chrome"][0]) is None and shutil.which(DRIVERS["firefox"][0]):
        return "firefox"
    return "chrome"


def _chromium(asked: BrowserAddress, headless: bool) -> ChromiumOptions:
    from selenium import webdriver

    made = webdriver.EdgeOptions() if asked.browser == "edge" else webdriver.ChromeOptions()
    binary = ""
    if asked.url is None:
        find_driver(asked.browser)
        if asked.browser == "chrome":
            binary = made.binary_location = process.find_browser(headless=headless)
    for flag in process.FLAGS:
        made.add_argument(flag)
    if headless and not binary.endswith("headless-shell"):
        made.add_argument("--headless=new")
    if asked.is_here and os.geteuid() == 0:
        made.add_argument("--no-sandbox")  # Chromium refuses to start for root with its sandbox
    # Small shared memory of a container makes large pages die; elsewhere it costs little.
    made.add_argument("--disable-dev-shm-usage")
    made.add_experimental_option("prefs", {"download_restrictions": 3})
    return made


def _firefox(asked: BrowserAddress, headless: bool) -> FirefoxOptions:
    from selenium import webdriver

    made = webdriver.FirefoxOptions()
    if asked.url is None:
        find_driver("firefox")
        binary = shutil.which("firefox-esr") or shutil.which("firefox")
        if binary is None:
            raise DeviceSetupError("no Firefox found (Debian: apt-get install firefox-esr)")
        made.binary_location = binary
    if headless:
        made.add_argument("-headless")
    for name, value in FIREFOX_PREFERENCES.items():
        made.set_preference(name, value)
    made.set_capability("webSocketUrl", True)  # for the size of the viewport
    return made
