"""ChromiumDevice: one page in one Chromium process of its own.

A process a device keeps faults apart (a killed browser ends one slot's episode, no other's), and
the two fast ways to take pictures (see ``capture.py``) work for one page of a process only.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ui_gym.browser import documents
from ui_gym.browser.chromium import accessibility
from ui_gym.browser.chromium import input as device_input
from ui_gym.browser.chromium.capture import choose_capture
from ui_gym.browser.chromium.cdp import CdpReply
from ui_gym.browser.chromium.page import ChromiumPage
from ui_gym.browser.chromium.process import BrowserProcess
from ui_gym.browser.chromium.protocol import Command, Message, evaluation, value_of
from ui_gym.browser.device import BrowserDevice, PageEvent
from ui_gym.browser.site import REST, Site
from ui_gym.contract.action import Action, Scroll
from ui_gym.contract.device import DeviceOptions, Frame, Image
from ui_gym.errors import (
    DeviceError,
    DeviceLost,
    DeviceSetupError,
    DeviceTimeout,
    TaskError,
)

RENEW_AFTER = 500
"""Documents that one page may hold before it is replaced by a fresh one in a fresh context."""

WHEEL_TRIES = 4
"""How often a wheel is sent that no page gets."""

_ERRORS = evaluation("uiGym.takeErrors()")
_WHEELS = evaluation("uiGym.wheels()")
_STATE = evaluation("JSON.stringify(uiGym.state())")


class ChromiumDevice(BrowserDevice):
    """A page in a Chromium of its own, driven over the DevTools pipe.

    Beyond `Device` it gives browser tasks: `load` (the page of an episode), `state` (what the page
    says it holds), `events` (what the page reported; append-only, kept here, out of the page's
    reach) and `box` (where an element is).
    """

    def __init__(self, options: DeviceOptions) -> None:
        self.size = options.size
        self._timeout = options.timeout
        self._capture = choose_capture(options)
        self._process: BrowserProcess | None = None
        self._page: ChromiumPage | None = None
        self._loads = 0
        self._visited = ""
        self._ticking: list[CdpReply] = []
        self._closing = threading.Lock()
        self._closed = False
        self._reader = accessibility.Reader()
        self._state: Message | None = None
        self._judged = False
        self._is_ours = False
        """Whether the page is a built-in one, whose changes are known to be seen (`world.js`)."""

    # -- Device --

    def start(self) -> None:
        if self._process is not None:
            return
        environment = self._capture.start()
        try:
            self._process = BrowserProcess(
                headless=self._capture.headless,
                extra_flags=self._capture.flags,
                environment=environment,
                timeout=self._timeout,
            )
        except BaseException:
            self._capture.close()
            raise
        self._open_page()

    def perform(self, action: Action) -> None:
        site = self.page.site
        batches = device_input.commands(action, site.rest if site else REST)
        self._state = None
        if isinstance(action, Scroll):
            wheel, *batches = batches
            self._turn_wheel(wheel)
        *inputs, at_rest = batches
        if inputs and self._is_ours and (ending := device_input.ending(inputs[-1])):
            inputs[-1] = [*self._capture.expect(*ending), *inputs[-1]]
        for batch in [*inputs, at_rest]:
            # Input is acknowledged when the page's handlers have run; only then time goes on.
            # The last tick is awaited by the next input and the next picture, which might overtake
            # it; all else that is asked is answered after it.
            self._await_tick()
            self._ticking = self.page.send(batch)
        if site:  # what lies where depends on the pictures that were asked for
            self._await_tick()
            self.page.traffic.settle(self._timeout)

    def _turn_wheel(self, batch: Sequence[Command]) -> None:
        """Send a wheel, again where the browser lost it (seen on busy machines)."""
        self._await_tick()
        before = value_of(self.page.run([_WHEELS])[0])
        for _ in range(WHEEL_TRIES):
            # What opened since the last frame is not known yet to scroll.
            self._capture.quieten(self.page.run)
            for reply in self.page.send(batch):
                self.page.settle(reply)
            # A wheel is acknowledged when it is known what scrolls: it does in a frame.
            self._capture.quieten(self.page.run)
            if value_of(self.page.run([_WHEELS])[0]) != before:
                return
        raise DeviceTimeout("the browser gave a wheel to no page")

    def _await_tick(self) -> None:
        replies, self._ticking = self._ticking, []
        for reply in replies:
            self.page.settle(reply)

    def capture(self, out: Image | None = None, *, elements: bool = False) -> Frame:
        if not self._capture.framed:
            self._await_tick()  # a frame asked for would overtake it, and lack what a timer brought
        if self.page.site:
            self.page.traffic.settle(self._timeout)
        frame = self.page.frame if self._capture.framed else None
        also = self._reader.queries(frame) if elements else []
        if self._judged:
            also = [*also, _STATE]
        results, picture = self._capture.take(self.page.run, also, out)
        if self._judged:
            self._state = results.pop()
        return Frame(
            image=picture.image,
            encoded=picture.encoded,
            format=None if picture.encoded is None else "png",
            elements=(
                self._reader.elements(results, self.page.run, self.size, frame) if elements else ()
            ),
            time_capture=picture.time_capture,
            time_decode=picture.time_decode,
        )

    def close(self) -> None:
        with self._closing:
            process, self._process = self._process, None
            self._closed = True
        if self._page is not None:
            self._page.fail(DeviceLost("the browser is closed"))
        if process is not None:
            process.close()
        self._capture.close()

    # -- what browser tasks need --

    def load(self, page: str | Path, params: Mapping[str, Any], *, seed: int = 0) -> None:
        """Show `page` with `params`; its clock, randomness and event log start anew.

        The document is replaced in place, which is many times faster than a navigation. The
        JavaScript realm lives on, so it is for trusted pages; after `RENEW_AFTER` documents the
        page itself is replaced.

        Raises:
            TaskError: the page cannot be read, or its script raised an error.
        """
        if self._loads >= RENEW_AFTER or self.page.site:
            self._renew()
        self._loads += 1
        html = documents.document(page, params, seed)
        self._clear()
        self._is_ours = isinstance(page, str)
        # In one go, so that a frame that is painted unasked shows the page with its mark.
        shown = ("Page.setDocumentContent", {"frameId": self.page.frame, "html": html})
        mark = self._capture.mark() if self._is_ours else ()
        _, errors, *_ = self.page.run([shown, _ERRORS, *mark])
        if broken := value_of(errors):
            raise TaskError(f"page {page}: {'; '.join(broken)}")

    def visit(self, site: Site, path: str, *, stay: bool = False) -> None:
        """Show the file at `path` of a site, in a fresh realm; its clock and event log start anew.

        A navigation: slower than `load`, but nothing is left of the page before. Files of the site
        that it used too are still in the browser's memory. With `stay` there is none where the page
        is the one that is shown already: whoever asks for it starts it anew.

        Raises:
            TaskError: there is no such file.
            DeviceStartError: this way to take pictures cannot show sites.
        """
        url = site.url(path)
        if site.file(url) is None:
            raise TaskError(f"the site {site.folder} has no file {path!r}")
        if self._capture.framed:
            raise DeviceSetupError(
                "a framebuffer cannot show this page; ask for chromium:beginframe or "
                "chromium:screenshot"
            )
        if self._loads >= RENEW_AFTER or (self._loads and site != self.page.site):
            self._renew()
        self._loads += 1
        if self.page.site is None:
            self.page.enter(site)
        # A frame that is asked for while a document of the page is on its way may never come.
        self.page.traffic.settle(self._timeout)
        self._leave()
        if not (stay and url == self._visited):
            self.page.traffic.forget()
            self.page.navigate(url)
            self._visited = url
        self.page.traffic.settle(self._timeout)
        self._forget_document()

    def evaluate(self, expression: str, *, promise: bool = False) -> Any:
        """The JSON value of a script of the task's own; never of anything an agent wrote.

        With `promise`, of what the script promises.
        """
        self._state = None
        self._capture.touched = True
        return self.page.evaluate(expression, promise=promise)

    def state(self) -> dict[str, Any]:
        """What the page's `uiGym.state()` returns; also brings `events` up to date.

        Once it was asked for in an episode, it comes along with each picture: time stands still,
        so that it holds until something is done.
        """
        self._judged = True
        known = self.page.run([_STATE])[0] if self._state is None else self._state
        return json.loads(value_of(known))  # type: ignore[no-any-return]

    @property
    def pid(self) -> int | None:
        """The process group of the browser, while it runs."""
        return self._process.pid if self._process else None

    @property
    def events(self) -> Sequence[PageEvent]:
        """What the page reported since `load`, oldest first."""
        return tuple(self.page.events)

    @property
    def page(self) -> ChromiumPage:
        """The page that is shown.

        Raises:
            DeviceError: there is none.
        """
        if self._page is None:
            raise DeviceError(f"the browser {'is closed' if self._closed else 'was not started'}")
        return self._page

    def _open_page(self) -> None:
        process = self._process
        if process is None or self._closed:  # by another thread, while it started
            raise DeviceLost("the browser is closed")
        self._ticking = []
        self._loads = 0
        self._visited = ""
        self._page = ChromiumPage(process.connection, self._capture, self.size, self._timeout)
        self._page.open()

    def _renew(self) -> None:
        """Replace the page and its context by fresh ones."""
        self.page.close()
        self._open_page()

    def _clear(self) -> None:
        """Take away what the last document left: where the pointer is, globals, storage, events."""
        self._leave(evaluation("uiGym.sweep()", as_user=True))
        # What the last document still had to say has arrived by now.
        self._forget_document()

    def _forget_document(self) -> None:
        self.page.events.clear()
        self._reader.next_page()
        self._state, self._judged = None, False

    def _leave(self, *others: Command) -> None:
        """Take the pointer off the page, and send other commands on the way."""
        self._await_tick()
        left, *replies = self.page.send([device_input.leave(), *others, *self._capture.nudge])
        for reply in replies:
            reply.result(self._timeout)
        self.page.settle(left)
