"""Pages cannot reach out, nor each other. Each way out has a positive control.

The control is the same browser without our walls: it does reach the listener, so a listener that
hears nothing from our device means that a wall holds.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import socketserver
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_helpers import SIZE
from waiting import eventually

from ui_gym import action as act
from ui_gym.browser import pages, process
from ui_gym.browser.chromium import ChromiumDevice
from ui_gym.browser.process import BrowserProcess
from ui_gym.device import DeviceOptions

WALLS = ("--host-resolver-rules", "--proxy-", "--disable-quic", "--force-webrtc")

QUIET_SECONDS = 1.0
"""How long the listener must hear nothing, after a page of ours tried everything."""

SCRIPT = """(() => {
  const url = %(url)s;
  const add = (tag, attributes = {}) => {
    const node = Object.assign(document.createElement(tag), attributes);
    document.body.append(node);
    return node;
  };
  try { %(source)s } catch (error) {}
})()"""

ATTEMPTS = {
    "fetch": "fetch(url, { mode: 'no-cors' }).catch(() => 0)",
    "xhr": "const x = new XMLHttpRequest(); x.open('GET', url); x.send()",
    "beacon": "navigator.sendBeacon(url, 'data')",
    "image": "new Image().src = url",
    "script": "add('script', { src: url })",
    "style": "add('link', { rel: 'stylesheet', href: url })",
    "prefetch": "add('link', { rel: 'prefetch', href: url })",
    "font": "new FontFace('F', `url(${url})`).load().catch(() => 0)",
    "video": "add('video', { src: url }).load()",
    "websocket": "new WebSocket(url.replace('http', 'ws'))",
    "eventsource": "new EventSource(url)",
    "iframe": "add('iframe', { src: url })",
    "object": "add('object', { data: url })",
    "worker": "new Worker(URL.createObjectURL(new Blob([`fetch('${url}', { mode: 'no-cors' })`])))",
    "nested": "add('iframe', { srcdoc: `<img src='${url}'>` })",
    "window.open": "window.open(url)",
    "target": "add('a', { href: url, target: '_blank' }).click()",
    "download": "add('a', { href: url, download: 'file.txt' }).click()",
    "post": "add('form', { method: 'post', action: url, target: 'hidden' }).submit()",
}
"""Scripts that ask for `url`, and leave the page where it is."""

REFRESH = "add('meta', { httpEquiv: 'refresh', content: `0;url=${url}` })"
NAVIGATIONS = {
    "location": "location.href = url",
    "link": "add('a', { href: url }).click()",
    "form": "add('form', { action: url }).submit()",
    "refresh": f"document.head.append({REFRESH})",
}
"""Scripts that take the page itself to `url`."""


def script(source: str, url: str) -> str:
    return SCRIPT % {"url": json.dumps(url), "source": source}


# -- what listens --


class Listener:
    """A web server that notes which paths are asked for."""

    def __init__(self) -> None:
        self.heard: set[str] = set()
        listener = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                words = self.rfile.readline().decode("latin-1").split()
                listener.heard.add(words[1].strip("/?") if len(words) > 1 else "?")
                body = b"<!doctype html><title>outside</title><p>outside</p>"
                head = f"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}"
                self.wfile.write(head.encode() + b"\r\nConnection: close\r\n\r\n" + body)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                """A browser that hangs up is no news."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/{path}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    made = Listener()
    yield made
    made.close()


@pytest.fixture
def udp() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.bind(("127.0.0.1", 0))
        yield made


# -- a browser without walls --


class Plain:
    """The same browser, at the listener's page, with nothing of ours in its way."""

    def __init__(self) -> None:
        with pytest.MonkeyPatch.context() as patch:
            flags = tuple(flag for flag in process.FLAGS if not flag.startswith(WALLS))
            assert len(flags) == len(process.FLAGS) - 5
            patch.setattr(process, "FLAGS", flags)
            self._process = BrowserProcess()
        self.context = self.call("Target.createBrowserContext")["browserContextId"]
        self.downloads = Path(tempfile.mkdtemp())
        where = {"downloadPath": str(self.downloads), "browserContextId": self.context}
        self.call("Browser.setDownloadBehavior", {"behavior": "allow", **where})

    def open(self, url: str) -> str:
        """A page at `url`, once it is loaded: its session."""
        target = self.call(
            "Target.createTarget", {"url": "about:blank", "browserContextId": self.context}
        )["targetId"]
        attached = {"targetId": target, "flatten": True}
        session = str(self.call("Target.attachToTarget", attached)["sessionId"])
        self.call("Page.navigate", {"url": url}, session)
        assert eventually(lambda: self.evaluate(session, "document.readyState") == "complete")
        return session

    def evaluate(self, session: str, expression: str) -> Any:
        result = self.call(
            "Runtime.evaluate",
            {"expression": expression, "returnByValue": True, "userGesture": True},
            session,
        )
        return result["result"].get("value")

    def call(self, method: str, params: Any = None, session: str | None = None) -> Any:
        return self._process.connection.call(method, params, session=session, timeout=20)

    def close(self) -> None:
        self._process.close()
        shutil.rmtree(self.downloads)


@pytest.fixture(scope="module")
def plain() -> Iterator[Plain]:
    browser = Plain()
    yield browser
    browser.close()


@pytest.fixture(scope="module", params=["all walls", "without the content security policy"])
def walled(request: pytest.FixtureRequest) -> Iterator[ChromiumDevice]:
    """Our device; and one whose pages lack the first wall, so that the others are tested too."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param != "all walls":
            patch.setattr(pages, "CONTENT_SECURITY_POLICY", "script-src * 'unsafe-inline'")
        device = ChromiumDevice(DeviceOptions(size=SIZE))
        device.start()
    yield device
    device.close()


def still_ours(device: ChromiumDevice) -> bool:
    return bool(
        device.evaluate("location.origin") == pages.ORIGIN
        and device.evaluate("document.querySelector('#home') !== null")
    )


# -- the ways out --


def test_without_walls_every_way_is_open(plain: Plain, listener: Listener) -> None:
    session = plain.open(listener.url("plain"))
    for name, source in ATTEMPTS.items():
        plain.evaluate(session, script(source, listener.url(f"plain-{name}")))
    for name, source in NAVIGATIONS.items():
        leaver = plain.open(listener.url("plain"))
        plain.evaluate(leaver, script(source, listener.url(f"plain-{name}")))
    wanted = {f"plain-{name}" for name in (*ATTEMPTS, *NAVIGATIONS)}
    assert eventually(lambda: wanted <= listener.heard), wanted - listener.heard


def test_with_walls_nothing_comes_out(
    walled: ChromiumDevice, listener: Listener, page: Callable[..., Path]
) -> None:
    heard = set(listener.heard)
    walled.load(page("<p id=home>home</p>"), {})
    for name, source in (ATTEMPTS | NAVIGATIONS).items():
        walled.evaluate(script(source, listener.url(f"walled-{name}")))
        walled.perform([act.Wait(1)])
    for scheme in ("https", "ftp"):
        url = listener.url(f"walled-{scheme}").replace("http", scheme)
        walled.evaluate(script(NAVIGATIONS["location"], url))
        walled.evaluate(script(ATTEMPTS["fetch"], url))
    assert not eventually(lambda: listener.heard != heard, QUIET_SECONDS), listener.heard - heard
    assert still_ours(walled)
    walled.load(page("<p id=home>next</p>"), {})
    assert still_ours(walled)


def test_the_page_stays_when_an_agent_clicks_a_way_out(
    shared: ChromiumDevice, listener: Listener, page: Callable[..., Path]
) -> None:
    heard = set(listener.heard)
    urls = [listener.url("link"), "/elsewhere", "mailto:somebody@example.org", "file:///etc/hosts"]
    links = "".join(f"<p><a href='{url}'>x</a> <a href='{url}' target=_blank>x</a>" for url in urls)
    shared.load(page("<p id=home>home</p>" + links), {})
    spots = [e.center for e in shared.capture(elements=True).elements if e.role == "link"]
    assert len(spots) == 2 * len(urls)
    for x, y in spots:
        for arguments in ({}, {"button": "middle"}, {"keys": "ctrl"}, {"keys": "shift"}):
            shared.perform([act.Click(x, y, **arguments)])  # type: ignore[arg-type]
    assert not eventually(lambda: listener.heard != heard, QUIET_SECONDS / 4)
    assert still_ours(shared)
    targets = shared._connection().call("Target.getTargets", timeout=10)["targetInfos"]
    assert [t["type"] for t in targets if t["attached"]].count("page") == 1


FRAMES = """Array.from(frames).map((frame) => {
  try { return frame.document.body.textContent; } catch { return "not ours"; }
})"""


def test_files_cannot_be_read(
    plain: Plain, shared: ChromiumDevice, page: Callable[..., Path], tmp_path: Path
) -> None:
    secret = tmp_path / "secret.html"
    secret.write_text("<!doctype html><title>secret</title><p>secret</p>")
    beside = tmp_path / "beside.html"
    beside.write_text("<!doctype html><title>beside</title>")
    session = plain.open(beside.as_uri())
    plain.evaluate(session, script(NAVIGATIONS["location"], secret.as_uri()))
    assert eventually(lambda: plain.evaluate(session, "document.title") == "secret")

    shared.load(page("<p id=home>home</p>"), {})
    for source in (*NAVIGATIONS.values(), ATTEMPTS["iframe"], ATTEMPTS["fetch"]):
        shared.evaluate(script(source, secret.as_uri()))
        shared.perform([act.Wait(1)])
    shared.capture()
    assert still_ours(shared)
    assert shared.evaluate(FRAMES) == [""]


def test_a_page_of_data_does_not_take_the_pages_place(
    shared: ChromiumDevice, page: Callable[..., Path]
) -> None:
    shared.load(page("<p id=home>home</p>"), {})
    for source in (NAVIGATIONS["location"], NAVIGATIONS["link"]):
        shared.evaluate(script(source, "data:text/html,<p>instead</p>"))
        shared.perform([act.Wait(1)])
    assert still_ours(shared)


SAVE = """(() => {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob(["saved"]));
  a.download = "saved.txt";
  document.body.append(a);
  a.click();
})()"""


def test_nothing_is_saved(
    plain: Plain, listener: Listener, page: Callable[..., Path], monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path, make_device: Callable[..., ChromiumDevice],
) -> None:  # fmt: skip
    session = plain.open(listener.url("plain"))
    plain.evaluate(session, SAVE)
    assert eventually(lambda: any(f.read_text() == "saved" for f in plain.downloads.iterdir()))

    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    device = make_device()
    device.load(page(), {})
    device.evaluate(SAVE)
    device.perform([act.Wait(1)])
    assert not eventually(lambda: list((tmp_path / "home").rglob("saved*")), QUIET_SECONDS / 2)


WEBRTC = """
window.peer = new RTCPeerConnection({ iceServers: [{ urls: "stun:127.0.0.1:PORT" }] });
peer.createDataChannel("x");
peer.createOffer().then((offer) => peer.setLocalDescription(offer));
"""


def silent(udp: socket.socket) -> bool:
    """Whether nothing comes for a while."""
    udp.settimeout(QUIET_SECONDS)
    try:
        udp.recv(2048)
    except TimeoutError:
        return True
    return False


def test_no_datagram_leaves_by_webrtc(
    plain: Plain, walled: ChromiumDevice, listener: Listener, udp: socket.socket,
    page: Callable[..., Path],
) -> None:  # fmt: skip
    source = WEBRTC.replace("PORT", str(udp.getsockname()[1]))
    session = plain.open(listener.url("plain"))
    plain.evaluate(session, source)
    udp.settimeout(10)
    try:
        udp.recv(2048)
    except TimeoutError:
        pytest.skip("WebRTC finds no network interface here, walls or not")
    plain.evaluate(session, "peer.close()")
    assert eventually(lambda: silent(udp))  # what comes now is not the control's
    walled.load(page(), {})
    walled.evaluate(source)
    walled.perform([act.Wait(5)])
    assert silent(udp)


# -- each other --

WRITE = """(async () => {
  document.cookie = "mark=set; max-age=3600";
  localStorage.setItem("mark", "set");
  const opened = indexedDB.open("mark");
  await new Promise((done) => (opened.onsuccess = opened.onerror = done));
  opened.result?.close();
})()"""
READ = """(async () => {
  const databases = await indexedDB.databases();
  return [document.cookie, localStorage.getItem("mark"), databases.map((d) => d.name).join()];
})()"""


def promised(device: ChromiumDevice, expression: str) -> Any:
    """What the promise of an expression comes to."""
    device.evaluate(f"void {expression}.then((value) => (window.came = [value]))")
    assert eventually(lambda: device.evaluate("window.came !== undefined"))
    return device.evaluate("(([value]) => (delete window.came, value))(window.came)")


def test_what_one_device_stores_no_other_sees(
    shared: ChromiumDevice, make_device: Callable[..., ChromiumDevice], page: Callable[..., Path]
) -> None:
    other = make_device()
    for device in (shared, other):
        device.load(page(), {})
    promised(shared, WRITE)
    assert promised(shared, READ) == ["mark=set", "set", "mark"]
    assert promised(other, READ) == ["", None, ""]


def test_what_one_device_copies_no_other_pastes(
    shared: ChromiumDevice, make_device: Callable[..., ChromiumDevice], page: Callable[..., Path]
) -> None:
    field = page(
        "<input id=f value='a secret'>",
        "uiGym.state = () => ({ value: f.value }); const f = document.getElementById('f');",
    )
    other = make_device()
    for device in (shared, other):
        device.load(field, {})
        device.perform([act.Click(*device.center("#f"))])
    shared.perform(
        [act.Press("ctrl+a"), act.Press("ctrl+c"), act.Press("end"), act.Press("ctrl+v")]
    )
    assert shared.state() == {"value": "a secreta secret"}
    other.perform([act.Press("end"), act.Press("ctrl+v")])
    assert other.state() == {"value": "a secret"}


@pytest.mark.parametrize("way", ["beginframe", "framebuffer"])
def test_what_one_episode_copies_the_next_does_not_paste(
    page: Callable[..., Path], way: str
) -> None:
    field = page(
        "<input id=f value='a secret'>",
        "uiGym.state = () => ({ value: f.value }); const f = document.getElementById('f');",
    )
    device = ChromiumDevice(DeviceOptions(kind=f"chromium:{way}", size=(320, 256)))
    with contextlib.closing(device):
        device.start()
        device.load(field, {})
        click = act.Click(*device.center("#f"))
        paste = [act.Press("end"), act.Press("ctrl+v")]
        device.perform([click, act.Press("ctrl+a"), act.Press("ctrl+c"), *paste])
        assert device.state() == {"value": "a secreta secret"}
        device.load(field, {})
        device.perform([click, *paste])
        assert device.state() == {"value": "a secret"}
