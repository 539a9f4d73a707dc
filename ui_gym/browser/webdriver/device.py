"""SeleniumDevice: any browser that speaks WebDriver, on this machine or on a Selenium Grid.

WebDriver has no way to answer a page's requests, nor to be called by a page. So a page is written
into an empty document, behind the same content security policy, and what it reports waits in the
page (``pages/line.js``) until it is fetched, which every call does. Slower than `ChromiumDevice`,
with the same tasks and the same verdicts.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ui_gym.browser import documents
from ui_gym.browser.chromium import accessibility
from ui_gym.browser.chromium import input as device_input
from ui_gym.browser.chromium.capture import decode
from ui_gym.browser.chromium.protocol import Command
from ui_gym.browser.device import BrowserDevice, PageEvent
from ui_gym.browser.site import Site
from ui_gym.browser.webdriver import browsers
from ui_gym.browser.webdriver.drivers import DriverProcess
from ui_gym.browser.webdriver.session import WebDriverSession
from ui_gym.contract.action import Action, Drag, Scroll
from ui_gym.contract.device import DeviceOptions, Element, Frame, Image
from ui_gym.errors import DeviceError, DeviceLost, DeviceStartError, TaskError, UserError

START = 60.0
"""The least seconds that a session may take to begin: a browser starts, or a Grid has a queue."""

_DOCTYPE = re.compile(r"\s*<!doctype[^>]*>", re.IGNORECASE)
_POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="'
    # A document can say all of it about itself but who may show it in a frame.
    + documents.CONTENT_SECURITY_POLICY.partition("; frame-ancestors")[0]
    + '">'
)

_PREPARE = """
const script = document.createElement("script");
script.textContent = arguments[0];
document.documentElement.append(script);
return Promise.all(arguments[1].map((face) => uiGym.addFace(...face))).then(() => null);
"""
_WRITE = """
document.open();
document.write(arguments[0]);
document.close();
return uiGym.takeErrors();
"""
_FRAMES = "return uiGymLine.frames()"
_CALL = """
if (!window.uiGymLine) return [String(location.href)];
const from = arguments[arguments.length - 1];
return Promise.resolve((() => { %s }).apply(null, arguments))
  .then((value) => [null, value ?? null, ...uiGymLine.told(from)]);
"""


class SeleniumDevice(BrowserDevice):
    """A page in a WebDriver session of its own; a browser that is started here ends with it."""

    def __init__(self, options: DeviceOptions) -> None:
        self.size = options.size
        self._address = browsers.address(options.kind)
        self._headless = options.headless
        self._timeout = options.timeout
        self._driver: DriverProcess | None = None
        self._session: WebDriverSession | None = None
        self._fault: DeviceError | None = None
        self._events: list[PageEvent] = []
        self._told = 0
        self._ids = accessibility.element_ids()
        self._closing = threading.Lock()

    # -- Device --

    def start(self) -> None:
        if self._session is not None:
            return
        start_timeout = max(START, self._timeout)
        asked = browsers.options(self._address, headless=self._headless)
        try:
            url = self._address.url
            if url is None:
                self._driver = DriverProcess(self._address.browser, start_timeout)
                url = self._driver.url
            self._session = WebDriverSession(url, asked, self._timeout, start_timeout)
            self._session.resize(self.size)
        except BaseException as error:
            self.close()
            if isinstance(error, DeviceError) and not isinstance(error, DeviceStartError):
                raise DeviceStartError(f"{self._address.browser} did not start: {error}") from None
            raise

    def perform(self, action: Action) -> None:
        batches = device_input.commands(action)
        act = WebDriverSession.drag if isinstance(action, Drag) else WebDriverSession.act
        if isinstance(action, Scroll):
            # What opened since the last frame is not known yet to scroll.
            self._call(_FRAMES)
        # Else two clicks of two steps would make a double click, if the steps are fast.
        self._do(WebDriverSession.release)
        for batch in batches:
            method, params = batch[0]
            if method == "Runtime.evaluate":  # it moves the page's clock
                self._call(params["expression"])
            else:
                self._do(act, batch)
                if isinstance(action, Scroll):
                    self._call(_FRAMES)

    def capture(self, out: Image | None = None, *, elements: bool = False) -> Frame:
        told = self._elements() if elements else ()
        started = time.perf_counter()
        encoded = self._do(WebDriverSession.screenshot)
        captured = time.perf_counter()
        image = decode(encoded, self.size, out)
        return Frame(
            image=image,
            encoded=encoded,
            format="png",
            elements=told,
            time_capture=captured - started,
            time_decode=time.perf_counter() - captured,
        )

    def close(self) -> None:
        with self._closing:
            driver, self._driver = self._driver, None
            session, self._session = self._session, None
            self._fault = self._fault or DeviceLost("the browser is closed")
        if driver is not None:
            driver.close()  # and the session with it
        if session is not None:
            session.close(remote=driver is None)

    # -- what browser tasks need --

    def load(self, page: str | Path, params: Mapping[str, Any], *, seed: int = 0) -> None:
        """Show `page` with `params`, in a fresh realm; its clock and event log start anew.

        Raises:
            TaskError: the page cannot be read, or its script raised an error.
        """
        html = documents.document(page, params, seed)
        doctype = _DOCTYPE.match(html)
        cut = doctype.end() if doctype else 0
        self._do(WebDriverSession.blank)
        script = documents.text("line.js") + documents.text("world.js")
        self._do(WebDriverSession.script, _PREPARE, script, documents.faces())
        self._events, self._told = [], 0
        self._ids = accessibility.element_ids()
        broken = self._call(_WRITE, html[:cut] + _POLICY + html[cut:])
        if broken:
            raise TaskError(f"page {page}: {'; '.join(broken)}")

    def visit(self, site: Site, path: str, *, stay: bool = False) -> None:
        """Sites need their requests answered, which WebDriver cannot."""
        raise UserError('this task is shown by Chromium only; make it with device="chromium"')

    def evaluate(self, expression: str, *, promise: bool = False) -> Any:
        """The JSON value of a script of the task's own, or of what it promises."""
        return self._call(f"return ({expression}\n)")

    @property
    def events(self) -> Sequence[PageEvent]:
        """What the page reported since `load`, oldest first."""
        return tuple(self._events)

    @property
    def pid(self) -> int | None:
        """The process session of the driver and its browser, where they were started here."""
        return self._driver.pid if self._driver else None

    # -- talking to the browser --

    def _elements(self) -> tuple[Element, ...]:
        def run(commands: Sequence[Command]) -> Any:
            return self._do(WebDriverSession.devtools, commands)

        answers = run(accessibility.queries())
        if answers is not None:
            return accessibility.elements(answers, run, self.size, self._ids)
        found = self.evaluate(documents.text("elements.js").rstrip().rstrip(";"))
        return tuple(
            Element(number, role, name, tuple(box), tuple(states))
            for number, role, name, box, states in found
        )

    def _call(self, body: str, *arguments: object) -> Any:
        """Run the body of a function in the page, and take what the page reported meanwhile."""
        gone, *rest = self._do(WebDriverSession.script, _CALL % body, *arguments, self._told)
        if gone is not None:
            # Fonts, clock and walls went with the document that was left.
            self._fault = self._fault or DeviceError(f"the page went to {gone[:80]!r}")
            raise self._fault
        value, told, self._told = rest
        for line in told.splitlines():
            with contextlib.suppress(ValueError, KeyError, TypeError):
                said = json.loads(line)
                self._events.append(PageEvent(str(said["type"]), said["data"]))
        return value

    def _do(self, what: Callable[..., Any], *arguments: Any) -> Any:
        """Let the session do something."""
        if self._fault is not None:
            raise self._fault
        if self._session is None:
            raise DeviceError("the browser was not started")
        try:
            return what(self._session, *arguments)
        except DeviceError as error:
            # What was sent may still be done later: nothing that follows would be sure.
            self._fault = self._fault or error
            raise
