"""BrowserPool: lends browsers of the kind that was asked for."""

from __future__ import annotations

from collections.abc import Callable

from ui_gym.browser.device import BrowserDevice
from ui_gym.contract.device import DeviceOptions
from ui_gym.errors import UserError, nearest
from ui_gym.playing.pool import FreshPool


class BrowserPool(FreshPool[BrowserDevice]):
    """A browser for each slot."""

    def __init__(self, options: DeviceOptions) -> None:
        super().__init__(_maker(options))


def _maker(options: DeviceOptions) -> Callable[[], BrowserDevice]:
    kind = options.kind.partition(":")[0]
    if kind in ("auto", "chromium"):
        from ui_gym.browser.chromium import ChromiumDevice

        return lambda: ChromiumDevice(options)
    if kind != "selenium":
        known = ("auto", "chromium", "selenium")
        raise UserError(f"the browser suite has no device {kind!r}. {nearest(kind, known)}")
    from ui_gym.browser import browsers

    browsers.address(options.kind)  # a mistake in it is told now, not at the first reset
    try:
        from ui_gym.browser.webdriver import SeleniumDevice
    except ModuleNotFoundError as error:
        if error.name != "selenium":
            raise
        raise UserError(
            "device='selenium' needs Selenium: pip install 'ui-gym[selenium]'"
        ) from None
    return lambda: SeleniumDevice(options)
