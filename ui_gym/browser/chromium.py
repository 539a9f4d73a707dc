"""ChromiumDevice: one page in one Chromium process of its own.

A process a device keeps faults apart (a killed browser ends one slot's episode, no other's), and
the two fast ways to take pictures (see ``capture.py``) work for one page of a process only.
"""

from __future__ import annotations

import base64
import contextlib
import json
import logging
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ui_gym.browser import accessibility, pages
from ui_gym.browser import input as device_input
from ui_gym.browser.capture import choose_capture
from ui_gym.browser.cdp import Reply
from ui_gym.browser.device import Event, PageQueries
from ui_gym.browser.process import BrowserProcess
from ui_gym.browser.protocol import Command, Message
from ui_gym.browser.site import Site, Traffic
from ui_gym.contract.action import Action, Scroll
from ui_gym.contract.device import DeviceOptions, Frame, Image
from ui_gym.errors import (
    DeviceError,
    DeviceLost,
    DeviceStartError,
    DeviceTimeout,
    TaskError,
)

log = logging.getLogger(__name__)

RENEW_AFTER = 500
"""Documents that one page may hold before it is replaced by a fresh one in a fresh context."""


WHEEL_TRIES = 4
"""How often a wheel is sent that no page gets."""


class ChromiumDevice(PageQueries):
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
        self._session = ""
        self._target = ""
        self._context = ""
        self._frame_id = ""
        self._contexts: dict[str, int] = {}
        self._app_context: int | None = None
        self._loads = 0
        self._opening = False
        self._site: Site | None = None
        self._visited = ""
        self._traffic = Traffic()
        self._fault: DeviceError | None = None
        self._events: list[Event] = []
        self._ticking: list[Reply] = []
        self._closing = threading.Lock()
        self._reader = accessibility.Reader()
        self._state: Message | None = None
        self._judged = False

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
        rest = self._site.rest if self._site else device_input.REST
        batches = device_input.commands(action, rest)
        self._state = None
        if isinstance(action, Scroll):
            wheel, *batches = batches
            self._turn_wheel(wheel)
        for batch in batches:
            # Input is acknowledged when the page's handlers have run; only then time goes on.
            # The last tick is awaited by the next input alone, which might overtake it; all
            # else that is asked is answered after it.
            self._await_tick()
            self._ticking = self._send(batch)
            if batch is not batches[-1] or self._site:
                self._await_tick()
        if self._site:  # what lies where depends on the pictures that were asked for
            self._traffic.settle(self._timeout)

    def _turn_wheel(self, batch: Sequence[Command]) -> None:
        """Send a wheel, again where the browser lost it (seen on busy machines)."""
        self._await_tick()
        before = _value(self._run([_WHEELS])[0])
        for _ in range(WHEEL_TRIES):
            # What opened since the last frame is not known yet to scroll.
            self._capture.quieten(self._run)
            for reply in self._send(batch):
                self._settle(reply)
            # A wheel is acknowledged when it is known what scrolls: it does in a frame.
            self._capture.quieten(self._run)
            if _value(self._run([_WHEELS])[0]) != before:
                return
        raise DeviceTimeout("the browser gave a wheel to no page")

    def _await_tick(self) -> None:
        replies, self._ticking = self._ticking, []
        for reply in replies:
            self._settle(reply)

    def capture(self, out: Image | None = None, *, elements: bool = False) -> Frame:
        if self._site:
            self._traffic.settle(self._timeout)
        frame = self._frame_id if self._capture.framed else None
        also = self._reader.queries(frame) if elements else []
        if self._judged:
            also = [*also, _STATE]
        results, picture = self._capture.take(self._run, also, out)
        if self._judged:
            self._state = results.pop()
        return Frame(
            image=picture.image,
            encoded=picture.encoded,
            format=None if picture.encoded is None else "png",
            elements=(
                self._reader.elements(results, self._run, self.size, frame) if elements else ()
            ),
            time_capture=picture.time_capture,
            time_decode=picture.time_decode,
        )

    def close(self) -> None:
        with self._closing:
            process, self._process = self._process, None
            self._fault = self._fault or DeviceLost("the browser is closed")
        self._traffic.forget()
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
        if self._loads >= RENEW_AFTER or self._site:
            self._renew()
        self._loads += 1
        html = pages.document(page, params, seed)
        self._clear()
        self._run([("Page.setDocumentContent", {"frameId": self._frame_id, "html": html})])
        broken = self.evaluate("uiGym.takeErrors()")
        if broken:
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
            raise DeviceStartError(
                "a framebuffer cannot show this page; ask for chromium:beginframe or "
                "chromium:screenshot"
            )
        if self._loads >= RENEW_AFTER or (self._loads and site != self._site):
            self._renew()
        self._loads += 1
        if self._site is None:
            self._enter(site)
        # A frame that is asked for while a document of the page is on its way may never come.
        self._traffic.settle(self._timeout)
        self._leave()
        if not (stay and url == self._visited):
            self._traffic.forget()
            self._navigate(url)
            self._visited = url
        self._traffic.settle(self._timeout)
        self._forget_document()

    def evaluate(self, expression: str, *, promise: bool = False) -> Any:
        """The JSON value of a script of the task's own; never of anything an agent wrote.

        With `promise`, of what the script promises.
        """
        self._state = None
        return _value(self._run([_evaluate(expression, promise=promise)])[0])

    def state(self) -> dict[str, Any]:
        """What the page's `uiGym.state()` returns; also brings `events` up to date.

        Once it was asked for in an episode, it comes along with each picture: time stands still,
        so that it holds until something is done.
        """
        self._judged = True
        known = self._run([_STATE])[0] if self._state is None else self._state
        return json.loads(_value(known))  # type: ignore[no-any-return]

    @property
    def pid(self) -> int | None:
        """The process group of the browser, while it runs."""
        return self._process.pid if self._process else None

    # -- the page --

    def _open_page(self) -> None:
        """Make a fresh page: walls up, world in place, fonts loaded."""
        self._ticking = []
        self._session = self._connection().call(
            "Target.attachToTarget", {"targetId": self._new_target(), "flatten": True},
            timeout=self._timeout,
        )["sessionId"]  # fmt: skip
        self._connection().listen(self._session, self._on_event)
        self._connection().listen(None, self._on_browser_event)
        self._connection().call(
            "Target.setDiscoverTargets", {"discover": True, "filter": [{"type": "page"}]},
            timeout=self._timeout,
        )  # fmt: skip
        self._loads = 0
        self._site = None
        self._visited = ""
        self._capture.cropped = False
        self._contexts = {}
        self._app_context = None
        commands: list[Command] = [
            ("Page.enable", {}),
            ("Inspector.enable", {}),
            ("Runtime.enable", {}),
            ("Runtime.addBinding", {"name": "uiGymEvent"}),
            ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
            ("Page.setInterceptFileChooserDialog", {"enabled": True}),
            ("Page.addScriptToEvaluateOnNewDocument", {"source": pages.world_script()}),
            ("Fetch.enable", {"patterns": [{"urlPattern": "*"}]}),
            ("Target.setAutoAttach",
             {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}),
        ]  # fmt: skip
        if not self._capture.framed:
            width, height = self.size
            metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            commands.append(("Emulation.setDeviceMetricsOverride", metrics))
        self._run(commands)
        self._show_app()
        for face in pages.faces():
            arguments = ", ".join(json.dumps(part) for part in face)
            self._run([_evaluate(f"uiGym.addFace({arguments})", promise=True)])
        self._run([_evaluate(pages.sweep_script())])

    def _new_target(self) -> str:
        """A page in a fresh context; a browser with a window has one page, which is used again."""
        connection, timeout = self._connection(), self._timeout
        connection.listen(None, None)  # the next page is one of ours
        deny: Message = {"behavior": "deny"}
        if self._capture.framed:
            connection.call("Browser.setDownloadBehavior", deny, timeout=timeout)
            targets = connection.call("Target.getTargets", timeout=timeout)["targetInfos"]
            self._target = next(t["targetId"] for t in targets if t["type"] == "page")
            return self._target
        self._context = connection.call("Target.createBrowserContext", timeout=timeout)[
            "browserContextId"
        ]
        deny["browserContextId"] = self._context
        connection.call("Browser.setDownloadBehavior", deny, timeout=timeout)
        target = {"url": "about:blank", "browserContextId": self._context, **self._capture.target}
        self._target = connection.call("Target.createTarget", target, timeout=timeout)["targetId"]
        return self._target

    def _show_app(self) -> None:
        """Go to the empty document of the made-up origin, in a frame where the capture wants it."""
        main = self._navigate(pages.ORIGIN + ("/host" if self._capture.framed else "/"))
        if self._capture.framed:
            tree = self._run([("Page.getFrameTree", {})])[0]["frameTree"]
            self._frame_id = tree["childFrames"][0]["frame"]["id"]
            # From here on, scripts run in the frame; the page around it is the capture's.
            self._app_context = self._contexts[self._frame_id]
            self._capture.opened(self._contexts[main])
            # Without the focus, the first keys go to the page around it.
            self._run([_evaluate("window.focus(); uiGym.onMove = parent.follow")])

    def _navigate(self, url: str) -> str:
        """Replace the whole page, until it is loaded; the id of its main frame."""
        self._opening = True
        self._frame_id = self._run([("Page.navigate", {"url": url})])[0]["frameId"]
        self._run([_evaluate(_READY, promise=True)])
        self._opening = False
        return self._frame_id

    def _enter(self, site: Site) -> None:
        """Make a fresh page ready for a site."""
        width, height = site.viewport or self.size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._run(
            [
                # What is laid out may be more than what is seen.
                ("Emulation.setDeviceMetricsOverride", metrics | {"dontSetVisibleSize": True}),
                ("Page.addScriptToEvaluateOnNewDocument", {"source": site.scripts(self.size)}),
                ("Network.enable", {}),
            ]
        )
        self._capture.cropped = site.viewport is not None
        self._site = site

    def _clear(self) -> None:
        """Take away what the last document left: where the pointer is, globals, storage, events."""
        self._leave(_evaluate("uiGym.sweep()", as_user=True))
        # What the last document still had to say has arrived by now.
        self._forget_document()

    def _forget_document(self) -> None:
        self._events = []
        self._reader.next_page()
        self._state, self._judged = None, False

    def _leave(self, *others: Command) -> None:
        """Take the pointer off the page, and send other commands on the way."""
        self._await_tick()
        left, *replies = self._send([device_input.leave(), *others, *self._capture.nudge])
        for reply in replies:
            reply.result(self._timeout)
        self._settle(left)

    def _renew(self) -> None:
        """Replace the page and its context by fresh ones."""
        connection, old_session, old_context = self._connection(), self._session, self._context
        connection.listen(old_session, None)
        with contextlib.suppress(DeviceError):
            if self._capture.framed:
                wipe = {"origin": pages.ORIGIN, "storageTypes": "all"}
                self._run([("Storage.clearDataForOrigin", wipe)])
                connection.call(
                    "Target.detachFromTarget", {"sessionId": old_session}, timeout=self._timeout
                )
            else:
                connection.call(
                    "Target.closeTarget", {"targetId": self._target}, timeout=self._timeout
                )
                connection.call(
                    "Target.disposeBrowserContext", {"browserContextId": old_context},
                    timeout=self._timeout,
                )  # fmt: skip
        self._open_page()

    def _on_event(self, method: str, params: Message) -> None:
        """On the reader thread: must not wait for the browser."""
        if method == "Runtime.bindingCalled":
            with contextlib.suppress(ValueError, KeyError, TypeError):
                said = json.loads(params["payload"])
                self._events.append(Event(str(said["type"]), said["data"]))
        elif method == "Fetch.requestPaused":
            self._answer_request(params)
        elif method.startswith("Network."):
            self._traffic.note(method, params)
        elif method == "Page.frameNavigated":
            moved = params["frame"]["id"] == self._frame_id or "parentId" not in params["frame"]
            if not self._opening and moved:
                # Fonts, clock and walls went with the document that was left.
                self._fail(DeviceError(f"the page went to {params['frame']['url'][:80]!r}"))
        elif method == "Runtime.executionContextCreated":
            context = params["context"]
            if context["auxData"].get("isDefault"):
                self._contexts[context["auxData"]["frameId"]] = context["id"]
        elif method == "Page.javascriptDialogOpening":
            self._fail(DeviceError(f"the page opened a dialog: {params['message'][:80]!r}"))
        elif method in ("Inspector.targetCrashed", "Inspector.detached"):
            self._fail(DeviceLost("the page crashed"))
        elif method == "Target.attachedToTarget":
            # A popup or a worker: pages of this suite have neither, so it ends before it starts.
            self._forget("Target.closeTarget", {"targetId": params["targetInfo"]["targetId"]}, None)

    def _on_browser_event(self, method: str, params: Message) -> None:
        """On the reader thread. A page beside ours (a popup, a tab that a click with ctrl opens)
        ends at once; a page's own session is not told of those without an opener."""
        if method != "Target.targetCreated":
            return
        target, context = (params["targetInfo"][key] for key in ("targetId", "browserContextId"))
        if target != self._target and (self._capture.framed or context == self._context):
            self._forget("Target.closeTarget", {"targetId": target}, None)

    def _answer_request(self, params: Message) -> None:
        """Serve the files of a site, or the empty documents of the made-up origin, once; fail
        everything else."""
        request, url = params["requestId"], params["request"]["url"]
        leaves = params["resourceType"] == "Document" and params["frameId"] == self._frame_id
        if self._site and self._site.owns(url) and (self._opening or not leaves):
            answer = self._site.answer(url)
            self._forget("Fetch.fulfillRequest", {"requestId": request, **answer})
            return
        path = url.removeprefix(pages.ORIGIN)
        if self._site or not self._opening or path not in ("/", "/host"):
            # A navigation that is aborted leaves the page where it is; any other failure would
            # put the browser's own error page in its place.
            self._forget("Fetch.failRequest", {"requestId": request, "errorReason": "Aborted"})
            return
        html, policy = pages.EMPTY_DOCUMENT, pages.CONTENT_SECURITY_POLICY
        if path == "/host":
            html, policy = self._capture.host_page(pages.ORIGIN + "/"), pages.HOST_SECURITY_POLICY
        headers = {
            "Content-Type": "text/html; charset=utf-8",
            "Content-Security-Policy": policy,
        }
        self._forget(
            "Fetch.fulfillRequest",
            {"requestId": request, "responseCode": 200,
             "body": base64.b64encode(html.encode()).decode(),
             "responseHeaders": [{"name": k, "value": v} for k, v in headers.items()]},
        )  # fmt: skip

    # -- talking to the browser --

    def _connection(self) -> Any:
        process = self._process
        if self._fault is not None:
            raise self._fault
        if process is None:
            raise DeviceError("the browser was not started")
        return process.connection

    def _send(self, commands: Sequence[Command]) -> list[Reply]:
        app = self._app_context
        if app is not None:
            commands = [
                (method, {"contextId": app, **params}) if method == "Runtime.evaluate" else
                (method, params) for method, params in commands
            ]  # fmt: skip
        return self._connection().send(commands, self._session)  # type: ignore[no-any-return]

    def _run(self, commands: Sequence[Command]) -> list[Message]:
        """Send commands and wait for all of them."""
        return [reply.result(self._timeout) for reply in self._send(commands)]

    def _settle(self, reply: Reply) -> Message:
        """Wait for an input command."""
        return self._capture.settle(reply, self._run, self._timeout)

    def _forget(self, method: str, params: Message, session: str | None = "") -> None:
        """Send a command whose answer nobody needs."""
        process = self._process
        if process is not None:
            with contextlib.suppress(DeviceError):
                process.connection.send(
                    [(method, params)], self._session if session == "" else session
                )

    def _fail(self, fault: DeviceError) -> None:
        """The page will answer no more: wake whoever waits on it."""
        self._fault = self._fault or fault
        self._traffic.forget()
        process = self._process
        if process is not None:
            process.connection.fail_session(self._session, fault)


_READY = (
    "new Promise((done) => document.readyState === 'complete' "
    "? done() : addEventListener('load', () => done()))"
)


def _evaluate(expression: str, *, promise: bool = False, as_user: bool = False) -> Command:
    return (
        "Runtime.evaluate",
        {"expression": expression, "returnByValue": True, "awaitPromise": promise,
         "userGesture": as_user},
    )  # fmt: skip


_WHEELS = _evaluate("uiGym.wheels()")
_STATE = _evaluate("JSON.stringify(uiGym.state())")


def _value(result: Message) -> Any:
    """The value of a `Runtime.evaluate`; a script error is a bug of the page or the task."""
    if "exceptionDetails" in result:
        details = result["exceptionDetails"]
        text = details.get("exception", {}).get("description") or details.get("text")
        raise TaskError(f"a script in the page failed: {text}")
    return result["result"].get("value")
