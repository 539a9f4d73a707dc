"""ChromiumPage: the life of one page, from its fresh context to its end."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ui_gym.browser import documents
from ui_gym.browser.chromium.capture import PageCapture
from ui_gym.browser.chromium.cdp import CdpConnection, CdpReply
from ui_gym.browser.chromium.protocol import Command, Message, evaluation, value_of
from ui_gym.browser.chromium.wall import RequestWall, Traffic
from ui_gym.browser.device import PageEvent
from ui_gym.browser.site import Site
from ui_gym.errors import DeviceError, DeviceLost

_READY = (
    "new Promise((done) => document.readyState === 'complete' "
    "? done() : addEventListener('load', () => done()))"
)


class ChromiumPage:
    """A page behind its wall, with our world in it: a target of a browser, and our session there.

    A browser without a window makes a fresh context for each page. A browser with a window has one
    page, which is used again.
    """

    def __init__(
        self, connection: CdpConnection, capture: PageCapture, size: tuple[int, int], timeout: float
    ) -> None:
        self._connection = connection
        self._capture = capture
        self._size = size
        self._timeout = timeout
        self._wall = RequestWall(capture.host_page)
        self._session = ""
        self._target = ""
        self._context = ""
        self._contexts: dict[str, int] = {}
        self._app_context: int | None = None
        self._fault: DeviceError | None = None
        self.frame = ""
        """The id of the frame that shows the page."""
        self.traffic = Traffic()
        self.events: list[PageEvent] = []

    @property
    def site(self) -> Site | None:
        """The site that is shown."""
        return self._wall.site

    @property
    def connection(self) -> CdpConnection:
        """The browser's connection.

        Raises:
            DeviceError: the page will answer no more.
        """
        if self._fault is not None:
            raise self._fault
        return self._connection

    def open(self) -> None:
        """Make the page: walls up, world in place, fonts loaded."""
        self.connection.listen(None, None)  # the next page is one of ours
        self._target = self._used_target() if self._capture.framed else self._new_target()
        attached = {"targetId": self._target, "flatten": True}
        self._session = self._ask("Target.attachToTarget", attached)["sessionId"]
        self.connection.listen(self._session, self._on_event)
        self.connection.listen(None, self._on_browser_event)
        self._ask("Target.setDiscoverTargets", {"discover": True, "filter": [{"type": "page"}]})
        self._capture.cropped = False
        commands: list[Command] = [
            ("Page.enable", {}),
            ("Inspector.enable", {}),
            ("Runtime.enable", {}),
            ("Runtime.addBinding", {"name": "uiGymEvent"}),
            ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
            ("Page.setInterceptFileChooserDialog", {"enabled": True}),
            ("Page.addScriptToEvaluateOnNewDocument", {"source": documents.text("world.js")}),
            ("Fetch.enable", {"patterns": [{"urlPattern": "*"}]}),
            ("Target.setAutoAttach",
             {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}),
        ]  # fmt: skip
        if not self._capture.framed:
            commands.append(_metrics(self._size))
        self.run(commands)
        self._show_app()
        for face in documents.faces():
            arguments = ", ".join(json.dumps(part) for part in face)
            self.evaluate(f"uiGym.addFace({arguments})", promise=True)
        self.evaluate(documents.text("sweep.js"))

    def enter(self, site: Site) -> None:
        """Make a fresh page ready for a site."""
        method, metrics = _metrics(site.viewport or self._size)
        self.run([
            # What is laid out may be more than what is seen.
            (method, {**metrics, "dontSetVisibleSize": True}),
            ("Page.addScriptToEvaluateOnNewDocument", {"source": site.scripts(self._size)}),
            ("Network.enable", {}),
        ])  # fmt: skip
        self._capture.cropped = site.viewport is not None
        self._wall.site = site

    def navigate(self, url: str) -> str:
        """Replace the whole page, until it is loaded; the id of its main frame."""
        self._wall.opening = True
        self.frame = self.run([("Page.navigate", {"url": url})])[0]["frameId"]
        self.run([evaluation(_READY, promise=True)])
        self._wall.opening = False
        return self.frame

    def close(self) -> None:
        """Make room for another page in the same browser.

        Raises:
            DeviceError: the page has failed, and the browser is not to be used again.
        """
        self.connection.listen(self._session, None)
        with contextlib.suppress(DeviceError):
            if self._capture.framed:
                wipe = {"origin": documents.ORIGIN, "storageTypes": "all"}
                self.run([("Storage.clearDataForOrigin", wipe)])
                self._ask("Target.detachFromTarget", {"sessionId": self._session})
            else:
                self._ask("Target.closeTarget", {"targetId": self._target})
                self._ask("Target.disposeBrowserContext", {"browserContextId": self._context})

    # -- talking to the page --

    def send(self, commands: Sequence[Command]) -> list[CdpReply]:
        """Send commands in one go; scripts run in the frame that shows the page."""
        app = self._app_context
        if app is not None:
            commands = [
                (method, {"contextId": app, **params}) if method == "Runtime.evaluate" else
                (method, params) for method, params in commands
            ]  # fmt: skip
        return self.connection.send(commands, self._session)

    def run(self, commands: Sequence[Command]) -> list[Message]:
        """Send commands and wait for all of them."""
        return [reply.result(self._timeout) for reply in self.send(commands)]

    def evaluate(self, expression: str, *, promise: bool = False) -> Any:
        """The JSON value of a script, or of what it promises.

        Raises:
            TaskError: the script raised an error.
        """
        return value_of(self.run([evaluation(expression, promise=promise)])[0])

    def settle(self, reply: CdpReply) -> Message:
        """Wait for an input command."""
        return self._capture.settle(reply, self.run, self._timeout)

    def fail(self, fault: DeviceError) -> None:
        """The page will answer no more: wake whoever waits on it."""
        self._fault = self._fault or fault
        self.traffic.forget()
        self._connection.fail_session(self._session, fault)

    # -- the page's beginning --

    def _used_target(self) -> str:
        """The one page of a browser with a window."""
        self._ask("Browser.setDownloadBehavior", {"behavior": "deny"})
        targets = self._ask("Target.getTargets", {})["targetInfos"]
        return str(next(t["targetId"] for t in targets if t["type"] == "page"))

    def _new_target(self) -> str:
        """A page in a fresh context."""
        here = self._ask("Target.createBrowserContext", {})
        self._context = here["browserContextId"]
        self._ask("Browser.setDownloadBehavior", {"behavior": "deny", **here})
        target = {"url": "about:blank", **here, **self._capture.target}
        return str(self._ask("Target.createTarget", target)["targetId"])

    def _ask(self, method: str, params: Mapping[str, Any]) -> Message:
        """The browser's own answer to a command."""
        return self.connection.call(method, params, timeout=self._timeout)

    def _show_app(self) -> None:
        """Go to the empty document of the made-up origin, in a frame where the capture wants it."""
        self.navigate(documents.ORIGIN + ("/host" if self._capture.framed else "/"))
        if self._capture.framed:
            tree = self.run([("Page.getFrameTree", {})])[0]["frameTree"]
            self.frame = tree["childFrames"][0]["frame"]["id"]
            # From here on, scripts run in the frame; the page around it is the capture's.
            self._app_context = self._contexts[self.frame]
            # Without the focus, the first keys go to the page around it.
            self.evaluate(
                "window.focus(); uiGym.onMove = parent.follow; uiGym.onStamp = parent.stamp"
            )

    # -- on the reader thread, which must not wait for the browser --

    def _on_event(self, method: str, params: Message) -> None:
        if method == "Runtime.bindingCalled":
            with contextlib.suppress(ValueError, KeyError, TypeError):
                said = json.loads(params["payload"])
                self.events.append(PageEvent(str(said["type"]), said["data"]))
        elif method == "Fetch.requestPaused":
            self._forget(self._wall.answer(params, self.frame), self._session)
        elif method.startswith("Network."):
            self.traffic.note(method, params)
        elif method == "Page.frameNavigated":
            moved = params["frame"]["id"] == self.frame or "parentId" not in params["frame"]
            if not self._wall.opening and moved:
                # Fonts, clock and walls went with the document that was left.
                self.fail(DeviceError(f"the page went to {params['frame']['url'][:80]!r}"))
        elif method == "Runtime.executionContextCreated":
            context = params["context"]
            if context["auxData"].get("isDefault"):
                self._contexts[context["auxData"]["frameId"]] = context["id"]
        elif method == "Page.javascriptDialogOpening":
            self.fail(DeviceError(f"the page opened a dialog: {params['message'][:80]!r}"))
        elif method in ("Inspector.targetCrashed", "Inspector.detached"):
            self.fail(DeviceLost("the page crashed"))
        elif method == "Target.attachedToTarget":
            # A popup or a worker: pages of this suite have neither, so it ends before it starts.
            self._close_target(params["targetInfo"]["targetId"])

    def _on_browser_event(self, method: str, params: Message) -> None:
        """A page beside ours (a popup, a tab that a click with ctrl opens) ends at once; a page's
        own session is not told of those without an opener."""
        if method != "Target.targetCreated":
            return
        target, context = (params["targetInfo"][key] for key in ("targetId", "browserContextId"))
        if target != self._target and (self._capture.framed or context == self._context):
            self._close_target(target)

    def _close_target(self, target: str) -> None:
        self._forget(("Target.closeTarget", {"targetId": target}), None)

    def _forget(self, command: Command, session: str | None) -> None:
        """Send a command whose answer nobody needs."""
        with contextlib.suppress(DeviceError):
            self._connection.send([command], session)


def _metrics(size: tuple[int, int]) -> Command:
    width, height = size
    return (
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
    )
