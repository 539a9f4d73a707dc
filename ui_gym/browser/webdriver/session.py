"""One WebDriver session: the commands that the device needs, and one place for what goes wrong."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.common import exceptions as said
from selenium.webdriver.common.proxy import Proxy
from selenium.webdriver.remote.client_config import ClientConfig
from selenium.webdriver.remote.command import Command as Name
from selenium.webdriver.remote.remote_connection import RemoteConnection
from urllib3 import exceptions as http

from ui_gym.browser.chromium import input as device_input
from ui_gym.browser.chromium.protocol import Command, Message
from ui_gym.browser.webdriver.gestures import gesture
from ui_gym.errors import DeviceError, DeviceLost, DeviceStartError, DeviceTimeout, TaskError

if TYPE_CHECKING:
    from selenium.webdriver.common.options import ArgOptions

GOODBYE = 5.0
"""How many seconds a server may take to end a session."""

_DEVTOOLS = {"chrome": "goog", "MicrosoftEdge": "ms"}
"""Whose extension of WebDriver takes DevTools commands, by browser."""

_LOST = ("disconnected", "not reachable", "crashed", "already closed", "not connected", "decode")


class WebDriverSession:
    """A session on a WebDriver server. Every command has a deadline.

    Raises:
        DeviceStartError: the server has no such browser, or is not there.
    """

    def __init__(self, url: str, asked: ArgOptions, timeout: float, start_timeout: float) -> None:
        self._timeout = start_timeout
        local = urlsplit(url).hostname in ("127.0.0.1", "::1", "localhost")
        self._config = ClientConfig(
            url,
            proxy=Proxy({"proxyType": "DIRECT"}) if local else None,
            # A command that was not answered may have been done: none is sent twice.
            init_args_for_pool_manager={"init_args_for_pool_manager": {"retries": False}},
            timeout=start_timeout,  # type: ignore[arg-type]
            websocket_timeout=timeout,
        )
        connection = RemoteConnection(client_config=self._config)
        vendor = _DEVTOOLS.get(asked.capabilities["browserName"])
        path = f"/session/$sessionId/{vendor}/cdp/execute"
        connection.extra_commands = {"devtools": ("POST", path)} if vendor else {}  # type: ignore[dict-item]
        try:
            with self._mapped("new session"):
                self._driver = webdriver.Remote(connection, options=asked)
        except DeviceError as error:
            connection.close()
            raise DeviceStartError(f"{url} began no session: {error}") from None
        self._has_devtools = vendor is not None
        capabilities = self._driver.capabilities
        self._control = (
            "Meta" if "mac" in capabilities.get("platformName", "").lower() else "Control"
        )
        with self._mapped("timeouts"):
            self._driver.set_page_load_timeout(timeout)
            self._driver.set_script_timeout(timeout)
        self._timeout = self._config.timeout = timeout

    def resize(self, size: tuple[int, int]) -> None:
        """Make the viewport `size` (width, height).

        Raises:
            DeviceStartError: the browser cannot.
        """
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        if self.devtools([
            ("Emulation.setDeviceMetricsOverride", metrics),
            ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
        ]) is not None:  # fmt: skip
            return
        # A window of Firefox gets no narrower than 500 pixels, but what it shows can be.
        try:
            self._driver.browsing_context.set_viewport(
                context=self._driver.current_window_handle,
                viewport={"width": width, "height": height},
            )
            self._driver._websocket_connection.close()  # type: ignore[union-attr]
        except Exception as error:  # of three libraries
            raise DeviceStartError(f"cannot show {width}x{height} pixels: {error}") from None
        seen = self.script("return [innerWidth, innerHeight]")
        if tuple(seen) != size:
            raise DeviceStartError(f"the browser shows {seen} pixels, not {width}x{height}")

    def blank(self) -> None:
        """Go to an empty page, with the pointer where nothing will be under it."""
        if self.devtools([device_input.leave()]) is None:
            self.act([("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": 0, "y": 0})])
        with self._mapped("get"):
            self._driver.get("about:blank")

    def act(self, batch: Sequence[Command]) -> None:
        """Do input commands, one after the other."""
        with self._mapped("actions"):
            self._driver.execute(Name.W3C_ACTIONS, {"actions": gesture(batch, self._control)})

    def drag(self, batch: Sequence[Command]) -> None:
        """Do a part of a drag."""
        # chromedriver forgets from call to call which button is held, and then moves select no
        # text; in one call, no page time could pass between them.
        if self.devtools(batch) is None:
            self.act(batch)

    def release(self) -> None:
        """Forget the input so far: what is pressed, and when."""
        with self._mapped("release actions"):
            self._driver.execute(Name.W3C_CLEAR_ACTIONS)

    def script(self, body: str, *arguments: Any) -> Any:
        """What the body of a function returns, or promises, in the page."""
        with self._mapped("script"):
            return self._driver.execute_script(body, *arguments)

    def screenshot(self) -> bytes:
        """A PNG picture of the viewport."""
        shot = self.devtools(
            [("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})]
        )
        if shot is not None:
            return base64.b64decode(shot[0]["data"])
        with self._mapped("screenshot"):
            return self._driver.get_screenshot_as_png()

    def devtools(self, commands: Sequence[Command]) -> list[Message] | None:
        """The results of DevTools commands; None where the browser does not know them."""
        if not self._has_devtools:
            return None
        results = []
        for method, params in commands:
            with self._mapped(method):
                sent = {"cmd": method, "params": dict(params)}
                results.append(self._driver.execute("devtools", sent)["value"])
        return results

    def close(self, *, remote: bool) -> None:
        """Leave the server; end the session there if it does not go by itself."""
        if remote:
            self._config.timeout = GOODBYE
            with contextlib.suppress(DeviceError), self._mapped("quit"):
                self._driver.execute(Name.QUIT)
        with contextlib.suppress(Exception):
            self._driver.command_executor.close()  # type: ignore[union-attr]

    @contextlib.contextmanager
    def _mapped(self, command: str) -> Iterator[None]:
        """Failures of the server, the browser and the page, as errors of this package."""
        late = f"the browser did not answer {command} within {self._timeout:g} s"
        try:
            yield
        except said.UnexpectedAlertPresentException as error:
            text = error.alert_text or self._dialog()
            raise DeviceError(f"the page opened a dialog: {text[:80]!r}") from None
        except http.NewConnectionError as error:  # refused at once; urllib3 calls that a timeout
            raise DeviceLost(f"the driver is gone: {error}") from None
        except (said.TimeoutException, http.TimeoutError):
            raise DeviceTimeout(late) from None
        except said.JavascriptException as error:
            raise TaskError(f"a script in the page failed: {error.msg}") from None
        except (said.InvalidSessionIdException, said.NoSuchWindowException) as error:
            raise DeviceLost(f"the browser is gone: {_first_line(error)}") from None
        except said.WebDriverException as error:
            line = _first_line(error)
            if any(word in line for word in _LOST):
                raise DeviceLost(f"the browser is gone: {line}") from None
            raise DeviceError(f"the browser failed at {command}: {line}") from None
        except (http.HTTPError, OSError) as error:
            raise DeviceLost(f"the driver is gone: {error}") from None

    def _dialog(self) -> str:
        """What an open dialog says."""
        with contextlib.suppress(said.WebDriverException, http.HTTPError, OSError):
            return str(self._driver.execute(Name.W3C_GET_ALERT_TEXT)["value"])
        return ""


def _first_line(error: said.WebDriverException) -> str:
    return (error.msg or type(error).__name__).strip().splitlines()[0]
