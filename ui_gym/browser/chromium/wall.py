"""The wall around a page: which of its requests are answered, and which are still on their way."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable

from ui_gym.browser import documents
from ui_gym.browser.chromium.protocol import Command, Message
from ui_gym.browser.site import Site, response
from ui_gym.errors import DeviceTimeout


class RequestWall:
    """Answers the requests of one page (``Fetch.requestPaused``): the files of its site, and the
    empty documents of the made-up origin while the page is opened. All others fail."""

    def __init__(self, host_page: Callable[[str], str]) -> None:
        self._host_page = host_page
        self.site: Site | None = None
        self.opening = False
        """Whether a navigation of ours is under way."""

    def answer(self, params: Message, main_frame: str) -> Command:
        """The command that answers a request; `main_frame` is the frame which shows the page."""
        request, url = params["requestId"], params["request"]["url"]
        leaves = params["resourceType"] == "Document" and params["frameId"] == main_frame
        if self.site and self.site.owns(url) and (self.opening or not leaves):
            return ("Fetch.fulfillRequest", {"requestId": request, **self.site.answer(url)})
        path = url.removeprefix(documents.ORIGIN)
        if self.site or not self.opening or path not in ("/", "/host"):
            # A navigation that is aborted leaves the page where it is; any other failure would
            # put the browser's own error page in its place.
            return ("Fetch.failRequest", {"requestId": request, "errorReason": "Aborted"})
        html, policy = documents.EMPTY_DOCUMENT, documents.CONTENT_SECURITY_POLICY
        if path == "/host":
            html = self._host_page(documents.ORIGIN + "/")
            policy = documents.HOST_SECURITY_POLICY
        headers = {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy}
        answer = response(base64.b64encode(html.encode()).decode(), headers)
        return ("Fetch.fulfillRequest", {"requestId": request, **answer})


class Traffic:
    """Which requests of a page are on their way, by the events of the ``Network`` domain.

    A picture is taken when all files have come: pictures of a style sheet are asked for when
    something that needs them appears.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._open: dict[str, str] = {}

    def note(self, method: str, params: Message) -> None:
        """Take in an event; called on the reader thread."""
        with self._changed:
            if method == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith("data:"):
                    self._open[params["requestId"]] = url
            elif method in ("Network.loadingFinished", "Network.loadingFailed"):
                self._open.pop(params["requestId"], None)
                self._changed.notify_all()

    def forget(self) -> None:
        """Start anew: the page was replaced."""
        with self._changed:
            self._open.clear()
            self._changed.notify_all()

    def settle(self, timeout: float) -> None:
        """Wait until nothing is on its way.

        Raises:
            DeviceTimeout: something still is after `timeout` seconds.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: not self._open, timeout):
                late = ", ".join(sorted(self._open.values())[:3])
                raise DeviceTimeout(f"the page still loads {late} after {timeout:g} s")
