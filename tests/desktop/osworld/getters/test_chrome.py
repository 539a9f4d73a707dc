"""Getters of Chrome's tabs, on a Chromium that runs; and what its connection does when it fails."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fake import FakeDesktop
from getter_case import Cloud, world
from serving import QuietHandler, serving
from waiting import eventually

from ui_gym.desktop.osworld import devtools
from ui_gym.desktop.osworld.registry import GETTERS, EvaluationContext
from ui_gym.errors import DeviceError, DeviceLost, DeviceTimeout

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
SHOP = """<!doctype html><title>Shop</title><body>
<div class="date"> Sat, Feb 01 </div>
<p class="place">Boston</p><p class="place">  New York </p>
<div class="trip">SEA<span>to</span>NYC</div>
<div class="box"><h3>First</h3>x</div><div class="box">none</div>
<div class="box"><h3>Second</h3></div>
<a class="filter">Women</a><a class="filter">Nike</a>
<ul class="crumbs"><li class="catAllProducts"><span>Toys</span><li class="catAllProducts"></ul>
<form><input value="James"><label>Your <b>size</b></label></form>
<a id="next" href="/rank">Rank</a>
<button id="later" onclick="setTimeout(() => location.assign('/rank'), 300)">Later</button>
</body>"""
RANK = "<!doctype html><title>Rank</title><p id=rank data-x=7>372</p>"


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of a web site of two pages."""

    class Handler(QuietHandler):
        def answer(self) -> None:
            page = RANK if self.path == "/rank" else SHOP
            self.say(page.encode(), kind="text/html; charset=utf-8")

    with serving(Handler) as server:
        yield f"http://127.0.0.1:{server.server_port}"


@pytest.fixture(scope="module")
def chrome_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The debugging port of a Chromium."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    profile = tmp_path_factory.mktemp("profile")
    options = ["--headless=new", "--remote-debugging-port=0", "--no-first-run", "--disable-gpu"]
    options += ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"]
    process = subprocess.Popen(
        [CHROMIUM, *options, f"--user-data-dir={profile}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        written = profile / "DevToolsActivePort"
        assert eventually(
            lambda: written.exists() and len(written.read_text().split()) > 1, seconds=60
        )
        yield int(written.read_text().split()[0])
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture
def context(desktop: FakeDesktop, chrome_port: int, tmp_path: Path) -> EvaluationContext:
    desktop.ports[9222] = ("127.0.0.1", chrome_port)
    folder = tmp_path / "episode"
    folder.mkdir()
    return EvaluationContext(desktop, Cloud(tmp_path / "cloud"), folder, (1920, 1080))


@pytest.fixture
def shop(context: EvaluationContext, site: str) -> Iterator[str]:
    """The address of the shop, which is in the active tab."""
    browser = devtools.find(context.device)
    assert browser is not None
    tab = browser.open(f"{site}/shop?size=L#top")
    world(address=tab.url.removeprefix("http://"))(context)
    yield tab.url
    browser.close(tab.id)


def parse(context: EvaluationContext, category: str, **config: Any) -> Any:
    whole = {"goto_prefix": "http://", "category": category, **config}
    return GETTERS["active_tab_html_parse"](context, whole)


def test_open_tabs_are_told(context: EvaluationContext, shop: str) -> None:
    def tabs() -> list[dict[str, str]]:
        found: list[dict[str, str]] = GETTERS["open_tabs_info"](context, {})
        return found

    assert eventually(lambda: {"title": "Shop", "url": shop} in tabs())
    assert "about:blank" in [tab["url"] for tab in tabs()]


def test_the_active_tab_is_told_with_its_content(context: EvaluationContext, shop: str) -> None:
    found = GETTERS["active_tab_info"](context, {"goto_prefix": "http://"})
    assert (found["title"], found["url"]) == ("Shop", shop)
    assert 'class="date"' in found["content"]


def test_without_an_address_bar_the_last_tab_is_the_active_one(
    context: EvaluationContext, shop: str
) -> None:
    context.device.tree = ""
    assert GETTERS["active_url_from_accessTree"](context, {}) == shop
    assert GETTERS["active_tab_info"](context, {})["url"] == shop


def test_texts_are_found_by_class(context: EvaluationContext, shop: str) -> None:
    found = parse(
        context,
        "class",
        class_singleObject={"date": "time", "nowhere": "none"},
        class_multiObject={"place": {"0": "from", "1": "to", "2": "beyond"}},
        class_multiObject_child={"trip": {"0": "start", "1": "end"}},
        class_multiObject_only_child={"box": {"1": "second"}},
        class_multiObject_search_exist={"filter": ["Women", "Men", "is_other_exist"]},
    )
    assert found == {
        "time": "Sat, Feb 01",
        "none": "",
        "from": "Boston",
        "to": "New York",
        "beyond": "",
        "start": "SEA",
        "end": "NYC",
        "second": "Second",
        "Women": True,
        "Men": False,
        "is_other_exist": True,
    }


def test_texts_are_found_by_path_and_label(context: EvaluationContext, shop: str) -> None:
    paths = {"/html/body/p[2]": "place", "/html/body/p[9]": "none", "///": "wrong"}
    assert parse(context, "xpath", xpathObject=paths) == {
        "place": "New York",
        "none": "",
        "wrong": "",
    }
    inputs = {"//form/input": "name", "//form/select": "none"}
    assert parse(context, "input", inputObject=inputs) == {"name": "James", "none": ""}
    labels = {"your  Size": "label", "nothing": "none"}
    assert parse(context, "label", labelObject=labels) == {"label": "Your size", "none": ""}


def test_filters_are_found_by_class_and_address(context: EvaluationContext, shop: str) -> None:
    found = parse(
        context,
        "class&url",
        class_multiObject={"filter": ["women", "nike"]},
        class_multiObject_li={"crumbs": ["Toys"]},
        url_include_expected=["size=L", "colour"],
        url_include_expected_multichoice={"shop": "In Shop", "Toys": "Toys"},
    )
    assert found == {
        "women": True,
        "nike": True,
        "toys": True,
        "is_other_exist": False,
        "size=l": True,
        "colour": False,
        "in shop": True,
    }
    assert parse(context, "class&url", class_multiObject={"filter": ["nike"]}) == {
        "nike": True,
        "is_other_exist": True,
    }


def test_a_page_is_visited_in_a_tab_of_its_own(context: EvaluationContext, site: str) -> None:
    def tabs() -> list[str]:
        return [tab["url"] for tab in GETTERS["open_tabs_info"](context, {})]

    before = tabs()
    found = GETTERS["page_info"](context, {"url": f"{site}/rank"})
    assert (found["title"], found["url"]) == ("Rank", f"{site}/rank")
    assert "372" in found["content"]
    # A starting Chrome still changes what its own tab shows.
    assert eventually(lambda: f"{site}/rank" not in tabs() and len(tabs()) == len(before))


def test_a_page_is_printed(context: EvaluationContext, site: str) -> None:
    found = GETTERS["pdf_from_url"](context, {"path": f"{site}/rank", "dest": "a.pdf"})
    assert Path(found).read_bytes().startswith(b"%PDF")


def test_a_page_that_a_click_leads_to_may_take_its_time(
    context: EvaluationContext, site: str
) -> None:
    info = {"action": "click_and_inner_text", "selector": ["#later", "#rank"]}
    config = {"url": f"{site}/shop", "infos": [info], "backups": ["backup"]}
    assert GETTERS["info_from_website"](context, config) == ["372"]


def test_infos_are_read_off_a_web_site(context: EvaluationContext, site: str) -> None:
    infos = [
        {"action": "inner_text", "selector": ".date"},
        {"action": "click_and_inner_text", "selector": ["#next", "#rank"]},
        {"action": "click_and_attribute", "selector": ["#next", "#rank"], "attribute": "data-x"},
    ]
    config = {"url": f"{site}/shop", "infos": infos, "backups": ["backup"]}
    assert GETTERS["info_from_website"](context, config) == ["Sat, Feb 01", "372", "7"]
    infos[0]["selector"] = ".nowhere"
    assert GETTERS["info_from_website"](context, config) == ["backup"]


@pytest.mark.parametrize(
    ("name", "nothing"),
    [
        ("open_tabs_info", []),
        ("active_tab_info", None),
        ("active_tab_html_parse", None),
        ("page_info", None),
        ("pdf_from_url", None),
        ("info_from_website", ["backup"]),
    ],
)
def test_without_chrome_there_is_nothing(
    name: str, nothing: Any, desktop: FakeDesktop, tmp_path: Path
) -> None:
    context = EvaluationContext(desktop, Cloud(tmp_path / "cloud"), tmp_path, (1920, 1080))
    config = {"category": "class", "url": "", "path": "", "dest": "a", "backups": ["backup"]}
    assert GETTERS[name](context, config) == nothing


def test_a_lost_machine_is_not_taken_for_a_closed_chrome(
    desktop: FakeDesktop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(port: int) -> socket.socket:
        raise DeviceLost("the machine is gone")

    monkeypatch.setattr(desktop, "connect", connect)
    context = EvaluationContext(desktop, Cloud(tmp_path / "cloud"), tmp_path, (1920, 1080))
    with pytest.raises(DeviceLost):
        GETTERS["open_tabs_info"](context, {})


def test_large_messages_and_many_of_them_pass(context: EvaluationContext, shop: str) -> None:
    browser = devtools.find(context.device)
    assert browser is not None
    with browser.page(browser.tabs()[0]) as page:
        page.command("Runtime.enable")  # events come between the answers from now on
        for size in (1, 125, 126, 70_000, 300_000):
            text = "ä" * size
            assert page.evaluate("(text) => text + '!'", text) == text + "!"
        assert page.evaluate("() => { throw new Error('no') }") is None
        with pytest.raises(DeviceError, match=r"Chrome refused No\.such"):
            page.command("No.such")


def answering(reply: bytes) -> Iterator[tuple[str, int]]:
    """The address of a server that sends this to whoever connects, and hangs up."""
    server = socket.create_server(("127.0.0.1", 0))
    stop = threading.Event()

    def serve() -> None:
        server.settimeout(0.1)
        while not stop.is_set():
            try:
                connection, _ = server.accept()
            except TimeoutError:
                continue
            with connection:
                connection.recv(1 << 16)
                connection.sendall(reply)
                if not reply:
                    stop.wait(5)

    thread = threading.Thread(target=serve)
    thread.start()
    yield server.getsockname()[:2]
    stop.set()
    thread.join()
    server.close()


@pytest.fixture
def serve() -> Iterator[Callable[[bytes], tuple[str, int]]]:
    running: list[Iterator[tuple[str, int]]] = []

    def start(reply: bytes) -> tuple[str, int]:
        running.append(answering(reply))
        return next(running[-1])

    yield start
    for server in running:
        next(server, None)


@pytest.mark.parametrize(
    "reply", [b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", b"not http\r\n\r\n", b"HTTP/1.1 200"]
)
def test_what_is_no_chrome_is_not_taken_for_one(
    reply: bytes, desktop: FakeDesktop, serve: Callable[[bytes], tuple[str, int]]
) -> None:
    desktop.ports[9222] = serve(reply)
    assert devtools.find(desktop) is None


def test_a_port_that_does_not_answer_is_given_up(
    desktop: FakeDesktop, serve: Callable[[bytes], tuple[str, int]]
) -> None:
    desktop.ports[9222] = serve(b"")
    assert devtools.find(desktop, timeout=0.3) is None


def test_a_page_that_does_not_answer_is_a_timeout(
    desktop: FakeDesktop, serve: Callable[[bytes], tuple[str, int]]
) -> None:
    desktop.ports[9222] = serve(b"")
    browser = devtools.DevTools(desktop, 9222, timeout=0.3)
    tab = devtools.Tab("1", "", "")
    with pytest.raises(DeviceTimeout), browser.page(tab):
        pass
    desktop.ports[9222] = serve(b"HTTP/1.1 404 Not Found\r\n\r\n")
    with pytest.raises(DeviceError, match="404 Not Found"), browser.page(tab):
        pass
