"""Pages cannot reach out, nor each other. Each way out has a positive control.

The control is the same browser without our walls: it does reach the listener, so a listener that
hears nothing from our device means that a wall holds.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_helpers import SIZE, Listener, Load, MakeDevice, WritePage, pages_of
from waiting import eventually

from ui_gym.browser import documents
from ui_gym.browser.chromium import process
from ui_gym.browser.chromium.device import ChromiumDevice
from ui_gym.browser.chromium.process import BrowserProcess
from ui_gym.contract import action as act
from ui_gym.contract.device import DeviceOptions
from ui_gym.errors import DeviceError

WALLS = ("--host-resolver-rules", "--proxy-", "--disable-quic", "--force-webrtc", "--block-new")

each_way = pytest.mark.parametrize("way", ["beginframe", "framebuffer"])
"""Without a window, and with one."""

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
    "sharedworker": (
        "new SharedWorker(URL.createObjectURL(new Blob([`fetch('${url}', { mode: 'no-cors' })`])))"
    ),
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
            assert len(flags) == len(process.FLAGS) - 6
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

    def shows(self, session: str, title: str) -> bool:
        """Whether it is a page of this title, by now."""
        with contextlib.suppress(DeviceError):  # it is just going there
            return bool(self.evaluate(session, "document.title") == title)
        return False

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
            patch.setattr(documents, "CONTENT_SECURITY_POLICY", "script-src * 'unsafe-inline'")
        device = ChromiumDevice(DeviceOptions(size=SIZE))
        device.start()
    yield device
    device.close()


def secure(url: str) -> str:
    return url.replace("http:", "https:")


def still_ours(device: ChromiumDevice) -> bool:
    return bool(
        device.evaluate("location.origin") == documents.ORIGIN
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
    leaver = plain.open(listener.url("plain"))
    plain.evaluate(leaver, script(NAVIGATIONS["location"], secure(listener.url("plain-https"))))
    wanted = {f"plain-{name}" for name in (*ATTEMPTS, *NAVIGATIONS)} | {"https"}
    assert eventually(lambda: wanted <= listener.heard), wanted - listener.heard


def test_with_walls_nothing_comes_out(
    walled: ChromiumDevice, listener: Listener, page: WritePage
) -> None:
    listener.heard.discard("https")
    heard = set(listener.heard)
    walled.load(page("<p id=home>home</p>"), {})
    for name, source in (ATTEMPTS | NAVIGATIONS).items():
        walled.evaluate(script(source, listener.url(f"walled-{name}")))
        walled.perform(act.Wait(1))
    for way in (NAVIGATIONS["location"], ATTEMPTS["fetch"]):
        walled.evaluate(script(way, secure(listener.url("walled-https"))))
    assert not eventually(lambda: listener.heard != heard, QUIET_SECONDS), listener.heard - heard
    assert still_ours(walled)
    walled.load(page("<p id=home>next</p>"), {})
    assert still_ours(walled)


@each_way
def test_the_page_stays_when_an_agent_clicks_a_way_out(
    make_device: MakeDevice, listener: Listener, page: WritePage,
    way: str,
) -> None:  # fmt: skip
    device = make_device(kind=f"chromium:{way}")
    heard = set(listener.heard)
    urls = [listener.url("link"), "/elsewhere", "#", "file:///etc/hosts"]
    if way != "framebuffer":  # there it ends the episode
        urls.append("mailto:somebody@example.org")
    links = "".join(f"<p><a href='{url}'>x</a> <a href='{url}' target=_blank>x</a>" for url in urls)
    device.load(page("<p id=home>home</p>" + links), {})
    spots = [e.center for e in device.capture(elements=True).elements if e.role == "link"]
    assert len(spots) == 2 * len(urls)
    for x, y in spots:
        for arguments in ({}, {"button": "middle"}, {"keys": "ctrl"}, {"keys": "shift"}):
            device.perform(act.Click(x, y, **arguments))  # type: ignore[arg-type]
    assert not eventually(lambda: listener.heard != heard, QUIET_SECONDS / 4)
    assert still_ours(device)
    assert eventually(lambda: len(pages_of(device)) == 1)
    device.capture()


FRAMES = """Array.from(frames).map((frame) => {
  try { return frame.document.body.textContent; } catch { return "not ours"; }
})"""


def test_files_cannot_be_read(load: Load, plain: Plain, tmp_path: Path) -> None:
    secret = tmp_path / "secret.html"
    secret.write_text("<!doctype html><title>secret</title><p>secret</p>")
    beside = tmp_path / "beside.html"
    beside.write_text("<!doctype html><title>beside</title>")
    session = plain.open(beside.as_uri())
    plain.evaluate(session, script(NAVIGATIONS["location"], secret.as_uri()))
    assert eventually(lambda: plain.shows(session, "secret"))

    shared = load("<p id=home>home</p>")
    for source in (*NAVIGATIONS.values(), ATTEMPTS["iframe"], ATTEMPTS["fetch"]):
        shared.evaluate(script(source, secret.as_uri()))
        shared.perform(act.Wait(1))
    shared.capture()
    assert still_ours(shared)
    assert shared.evaluate(FRAMES) == [""]


@pytest.mark.parametrize("scheme", ["http", "https", "view-source", "file"])
def test_even_the_browser_itself_cannot_go_there(
    plain: Plain, shared: ChromiumDevice, listener: Listener, page: WritePage,
    tmp_path: Path, scheme: str,
) -> None:  # fmt: skip
    secret = tmp_path / "secret.html"
    secret.write_text("<!doctype html><title>outside</title>")
    listener.heard.discard("https")
    url, heard = {
        "http": (listener.url("itself"), "itself"),
        "https": (secure(listener.url("itself")), "https"),
        "view-source": ("view-source:" + listener.url("source"), "source"),
        "file": (secret.as_uri(), ""),
    }[scheme]
    shared.load(page("<p id=home>home</p>"), {})
    for source in NAVIGATIONS.values():
        shared.evaluate(script(source, url))
        shared.perform(act.Wait(1))
    [answer] = shared.page.run([("Page.navigate", {"url": url})])
    assert answer["errorText"] == "net::ERR_ABORTED"
    assert still_ours(shared)
    assert heard not in listener.heard

    session = plain.open(listener.url("plain"))
    plain.call("Page.navigate", {"url": url}, session)
    if heard:
        assert eventually(lambda: heard in listener.heard)
    else:
        assert eventually(lambda: plain.shows(session, "outside"))


@pytest.mark.parametrize(
    ("way", "url"),
    [("beginframe", "data:text/html,<p>instead</p>"), ("framebuffer", "chrome://version/")],
)
def test_where_only_the_browser_itself_can_go_its_page_cannot(
    make_device: MakeDevice, page: WritePage, way: str, url: str
) -> None:
    device = make_device(kind=f"chromium:{way}")
    device.load(page("<p id=home>home</p>"), {})
    for source in NAVIGATIONS.values():
        device.evaluate(script(source, url))
        device.perform(act.Wait(1))
    device.capture()
    assert still_ours(device)

    def told() -> str:
        try:
            device.capture()
        except DeviceError as error:
            return str(error)
        return ""

    with contextlib.suppress(DeviceError):  # it may be noticed at once
        device.page.run([("Page.navigate", {"url": url})])
    assert eventually(lambda: told() == f"the page went to {url!r}")


FRAME_OF_DATA = """
window.said = 0;
addEventListener("message", () => (window.said += 1));
const frame = document.createElement("iframe");
frame.src = "data:text/html,<script>parent.postMessage(1, '*')</script>";
document.body.append(frame);
"""


def test_a_frame_of_data_does_not_run(load: Load, plain: Plain, listener: Listener) -> None:
    session = plain.open(listener.url("plain"))
    plain.evaluate(session, FRAME_OF_DATA)
    assert eventually(lambda: plain.evaluate(session, "said") == 1)
    shared = load()
    shared.evaluate(FRAME_OF_DATA)
    assert not eventually(lambda: shared.evaluate("said") > 0, QUIET_SECONDS / 2)


SAVE = """(() => {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob(["saved"]));
  a.download = "saved.txt";
  document.body.append(a);
  a.click();
})()"""


def test_nothing_is_saved(
    plain: Plain, listener: Listener, page: WritePage, monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path, make_device: MakeDevice,
) -> None:  # fmt: skip
    session = plain.open(listener.url("plain"))
    plain.evaluate(session, SAVE)
    assert eventually(lambda: any(f.read_text() == "saved" for f in plain.downloads.iterdir()))

    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    device = make_device()
    device.load(page(), {})
    device.evaluate(SAVE)
    device.perform(act.Wait(1))
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
    page: WritePage,
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
    walled.perform(act.Wait(5))
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


def test_pages_of_one_browser_see_what_one_of_them_stores(plain: Plain, listener: Listener) -> None:
    one, other = (plain.open(listener.url("plain")) for _ in range(2))
    plain.evaluate(one, f"void {WRITE}")
    seen = "[document.cookie, localStorage.getItem('mark')]"
    assert eventually(lambda: plain.evaluate(other, seen) == ["mark=set", "set"])


@each_way
def test_what_one_device_stores_no_other_sees(
    make_device: MakeDevice, page: WritePage, way: str
) -> None:
    one, other = (make_device(kind=f"chromium:{way}") for _ in range(2))
    for device in (one, other):
        device.load(page(), {})
    promised(one, WRITE)
    assert promised(one, READ) == ["mark=set", "set", "mark"]
    assert promised(other, READ) == ["", None, ""]


@each_way
@pytest.mark.parametrize("elsewhere", ["another device", "the next episode"])
def test_what_is_copied_is_not_pasted_elsewhere(
    make_device: MakeDevice, page: WritePage, way: str, elsewhere: str
) -> None:
    field = page(
        "<input id=f value='a secret'>",
        "uiGym.state = () => ({ value: f.value }); const f = document.getElementById('f');",
    )
    devices = [make_device(kind=f"chromium:{way}") for _ in range(2)]
    one, other = devices if elsewhere == "another device" else (devices[0], devices[0])

    def does(device: ChromiumDevice, *chords: str) -> str:
        device.perform(act.Click(*device.center("#f")))
        for chord in (*chords, "end", "ctrl+v"):
            device.perform(act.Press(chord))
        return str(device.state()["value"])

    other.load(field, {})
    one.load(field, {})
    assert does(one, "ctrl+a", "ctrl+c") == "a secreta secret"
    if one is other:
        other.load(field, {})
    assert does(other) == "a secret"
