"""Which browser an env of the suite plays in."""

from __future__ import annotations

from collections.abc import Callable

from ui_gym.browser.device import BrowserDevice
from ui_gym.contract.device import DeviceOptions, DevicePool
from ui_gym.errors import UserError
from ui_gym.playing import devices
from ui_gym.playing.pool import FreshPool
from ui_gym.xvfb import check_display

KINDS = ("auto", "chromium", "selenium")


def browser_pool(options: DeviceOptions) -> DevicePool:
    """One of the suite's own browsers, or an installed device."""
    return devices.make_pool(options, "browser", dict.fromkeys(KINDS, BrowserPool))


class BrowserPool(FreshPool[BrowserDevice]):
    """A browser for each slot."""

    def __init__(self, options: DeviceOptions) -> None:
        if not options.headless and "http" not in options.kind:  # its window opens here
            check_display()
        super().__init__(_maker(options))


def _maker(options: DeviceOptions) -> Callable[[], BrowserDevice]:
    if options.kind.partition(":")[0] != "selenium":
        from ui_gym.browser.chromium.device import ChromiumDevice

        return lambda: ChromiumDevice(options)
    from ui_gym.browser.webdriver import browsers

    browsers.address(options.kind)  # a mistake in it is told now, not at the first reset
    try:
        from ui_gym.browser.webdriver.device import SeleniumDevice
    except ModuleNotFoundError as error:
        if error.name != "selenium":
            raise
        raise UserError(
            "device='selenium' needs Selenium: pip install 'ui-gym[selenium]'"
        ) from None
    return lambda: SeleniumDevice(options)
