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
from ui_gym.contract.tables import read_table
from ui_gym.errors import DeviceSetupError, UserError, nearest

if TYPE_CHECKING:
    from selenium.webdriver.chromium.options import ChromiumOptions
    from selenium.webdriver.common.options import ArgOptions
    from selenium.webdriver.firefox.options import Options as FirefoxOptions

_ADDRESS = re.compile(r"(?:([^@:/]*)@)?(https?://.+)")

FIREFOX_PREFERENCES: Mapping[str, str | int | bool] = read_table("ui_gym.browser", "flags")[
    "firefox"
]


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
