"""The Chromium device: the same pictures every time, nothing carried over, right answers."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from browser_helpers import Load, MakeDevice, WritePage

from ui_gym.browser.chromium import device as chromium
from ui_gym.browser.chromium.device import ChromiumDevice
from ui_gym.browser.chromium.process import BROWSER_VARIABLE
from ui_gym.browser.pool import BrowserPool, browser_pool
from ui_gym.contract import action as act
from ui_gym.contract import registry
from ui_gym.contract.device import Device, DeviceOptions
from ui_gym.contract.task import Task
from ui_gym.errors import DeviceError, TaskError, UserError

FULL_CHROMIUM = "/usr/bin/chromium"

TASKS = [
    (name, compact) for name in ("ClickButton", "DataEntry", "Login") for compact in (True, False)
]

FIRST_PICTURES = """
import hashlib, sys
from ui_gym import registry
from ui_gym.browser.chromium.device import ChromiumDevice
from ui_gym.contract.device import DeviceOptions
for argument in sys.argv[1:]:
    name, compact = argument.split(":")
    task = registry.spec(name).load()(compact=compact == "True")
    device = ChromiumDevice(DeviceOptions(size=task.viewport))
    device.start()
    task.setup(device, task.draw(3))
    print(hashlib.sha256(device.capture().image.tobytes()).hexdigest())
    device.close()
"""


def make_task(name: str, compact: bool) -> Task[Any, Any]:
    kind: Any = registry.spec(name).load()
    return kind(compact=compact)  # type: ignore[no-any-return]


def picture(device: ChromiumDevice) -> str:
    return hashlib.sha256(device.capture().image.tobytes()).hexdigest()


def first_picture(device: ChromiumDevice, task: Task[Any, Any], seed: int = 3) -> str:
    task.setup(device, task.draw(seed))
    return picture(device)


def play(device: ChromiumDevice, task: Task[Any, Any], seed: int) -> None:
    """An episode that leaves a focus, a pointer, text and clicks behind."""
    params = task.draw(seed)
    task.setup(device, params)
    for demo in task.demonstrate(device, params):
        device.perform(demo.action)
    device.perform(act.Press("tab"))
    device.perform(act.Click(40, 60))
    device.perform(act.Scroll(40, 100, dy=30))


# -- the same pictures --


@pytest.fixture(scope="module")
def elsewhere() -> dict[tuple[str, bool], str]:
    """The first picture of every task, as another Python process on this machine sees it."""
    told = subprocess.run(
        [sys.executable, "-c", FIRST_PICTURES, *(f"{name}:{compact}" for name, compact in TASKS)],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return dict(zip(TASKS, told.stdout.split(), strict=True))


@pytest.mark.parametrize(("name", "compact"), TASKS)
def test_the_first_picture_is_always_the_same(
    name: str,
    compact: bool,
    elsewhere: dict[tuple[str, bool], str],
    make_device: MakeDevice,
) -> None:
    task = make_task(name, compact)
    one = make_device(task.viewport)
    pictures = [first_picture(one, task)]
    play(one, task, seed=3)
    pictures += [first_picture(one, task) for _ in range(20 if compact else 10)]
    for seed in range(4 if compact else 1):
        play(one, task, seed)
        pictures.append(first_picture(one, task))
    pictures.append(first_picture(make_device(task.viewport), task))
    assert set(pictures) == {elsewhere[name, compact]}
    assert first_picture(one, task, seed=4) != pictures[0]


def test_one_page_holds_an_image_still_and_shows_what_changed(load: Load) -> None:
    shared = load("<input id=a>")
    before = picture(shared)
    assert picture(shared) == before
    shared.perform(act.Click(*shared.center("#a")))
    focused = picture(shared)
    shared.perform(act.Type("x"))
    assert len({before, focused, picture(shared)}) == 3


def test_what_the_pointer_was_over_is_not_under_it_in_the_next_document(load: Load) -> None:
    body = "<style>*:hover { background: red }</style><p>text</p>"
    shared = load(body)
    fresh = picture(shared)
    shared.perform(act.Move(20, 10))
    assert picture(shared) != fresh
    load(body)
    assert picture(shared) == fresh


# -- time and chance --

CLOCK = """
const times = [];
const note = (name) => times.push([name, performance.now()]);
setTimeout(() => note("timeout"), 300);
const ticking = setInterval(() => note("interval"), 400);
const dropped = setTimeout(() => note("dropped"), 100);
clearTimeout(dropped);
setTimeout(() => clearInterval(ticking), 900);
requestAnimationFrame((now) => times.push(["frame", now]));
const read = () => [performance.now(), Date.now(), new Date().toISOString()];
uiGym.state = () => ({ times, clock: read() });
"""


def test_the_clock_stands_still_between_actions(load: Load) -> None:
    shared = load("", CLOCK)
    for _ in range(5):
        shared.capture()
    state = shared.state()
    assert state["times"] == []
    assert state["clock"] == [0, 1768467600000, "2026-01-15T09:00:00.000Z"]


def test_timers_run_when_time_passes_and_in_its_order(load: Load) -> None:
    shared = load("", CLOCK)
    shared.perform(act.Wait(0.3))
    assert shared.state()["times"] == [["frame", 16], ["timeout", 300]]
    shared.perform(act.Wait(1.0))
    state = shared.state()
    assert state["times"][2:] == [["interval", 400], ["interval", 800]]
    assert state["clock"][:2] == [1400, 1768467600000 + 1400]


def test_chance_comes_from_the_seed(shared: ChromiumDevice, page: WritePage) -> None:
    def draw(seed: int) -> Any:
        shared.load(path, {}, seed=seed)
        return shared.evaluate("[Math.random(), Math.random(), Math.random()]")

    path = page()
    first = draw(7)
    assert draw(7) == first
    assert draw(8) != first
    assert len(set(first)) == 3
    assert all(0 <= x < 1 for x in first)


# -- nothing is carried over --

MESS = """
window.leftover = 1;
window.alsoLeft = () => 2;
for (const target of [window, document]) {
  for (const type of ["click", "keydown", "mousemove"]) {
    target.addEventListener(type, () => uiGym.log("old"));
  }
}
window.onclick = window.onblur = document.onkeydown = () => uiGym.log("old");
setInterval(() => uiGym.log("old"), 10);
setTimeout(() => uiGym.log("old"), 500);
requestAnimationFrame(() => uiGym.log("old"));
new MutationObserver(() => uiGym.log("old")).observe(document, { childList: true, subtree: true });
localStorage.setItem("a", "1");
sessionStorage.setItem("b", "1");
document.cookie = "c=1";
history.pushState({}, "", "/elsewhere");
document.documentElement.className = "old";
const sheet = new CSSStyleSheet();
sheet.replaceSync("body { background: red !important }");
document.adoptedStyleSheets = [sheet];
uiGym.state = () => ({ old: true });
"""

LEFT = """[
  typeof leftover, typeof alsoLeft, localStorage.length, sessionStorage.length, document.cookie,
  location.pathname, document.documentElement.className, document.title, typeof onclick,
]"""


def test_nothing_of_a_document_is_left_in_the_next(shared: ChromiumDevice, page: WritePage) -> None:
    clean = page("<p>clean</p>", title="clean")
    shared.load(clean, {})
    fresh, left = picture(shared), shared.evaluate(LEFT)
    shared.load(page("", MESS, title="mess"), {})
    assert shared.evaluate(LEFT)[:5] == ["number", "function", 1, 1, "c=1"]
    shared.perform(act.Click(50, 50))
    assert shared.events  # the listeners were there
    shared.load(clean, {})
    assert picture(shared) == fresh
    for action in (act.Move(20, 20), act.Click(60, 60), act.Press("a"), act.Wait(2)):
        shared.perform(action)
    assert shared.state() == {}
    assert list(shared.events) == []
    assert shared.evaluate(LEFT) == left


def test_what_a_page_reports_while_it_loads_is_not_lost(load: Load) -> None:
    shared = load("", "uiGym.log('ready', { n: 1 });")
    assert [(event.type, event.data) for event in shared.events] == [("ready", {"n": 1})]


def test_events_are_out_of_the_pages_reach(load: Load) -> None:
    shared = load()
    assert shared.evaluate("typeof uiGymEvent") == "undefined"
    shared.evaluate("uiGym.log('one')")
    events = shared.events
    shared.evaluate("uiGym.log('two')")
    assert [event.type for event in events] == ["one"]
    assert [event.type for event in shared.events] == ["one", "two"]


def test_a_page_is_renewed_after_so_many_documents(
    make_device: MakeDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chromium, "RENEW_AFTER", 3)
    task = make_task("Login", True)
    device = make_device(task.viewport)
    pictures, realms = [], []
    for _ in range(7):
        pictures.append(first_picture(device, task))
        realms.append(
            device.evaluate("(uiGym.realm ??= Math.random() * 0 + performance.timeOrigin)")
        )
    assert len(set(pictures)) == 1
    assert [realms.index(realm) for realm in realms] == [0, 0, 0, 3, 3, 3, 6]
    contexts = device.page.connection.call("Target.getBrowserContexts", timeout=10)
    assert len(contexts["browserContextIds"]) == 1
    params = task.draw(3)
    for demo in task.demonstrate(device, params):
        device.perform(demo.action)
    assert task.judge(device, params, ()).success


# -- pictures and elements --


def test_a_picture_is_written_into_the_given_array(load: Load) -> None:
    shared = load("<style>body { background: rgb(10, 120, 230) }</style>")
    batch = np.zeros((2, 256, 320, 3), np.uint8)
    frame = shared.capture(batch[1])
    assert frame.image is not None
    assert np.shares_memory(frame.image, batch)
    assert (batch[1] == (10, 120, 230)).all()
    assert not batch[0].any()
    assert frame.encoded is not None
    decoded = cv2.imdecode(np.frombuffer(frame.encoded, np.uint8), cv2.IMREAD_COLOR)
    assert decoded is not None
    assert np.array_equal(decoded[..., ::-1], batch[1])
    assert frame.format == "png"


def test_elements_are_what_a_screen_reader_says(load: Load) -> None:
    body = """
    <h1>Title</h1><label for=n>Name</label><input id=n value=Ann>
    <input type=password id=p value=abc aria-label=Secret>
    <label><input type=checkbox id=c checked> Tick</label><button id=b disabled>Press</button>
    <a href="#x">Link</a><div hidden>never</div><p style="position:absolute;top:5000px">far</p>
    <select id=s aria-label=Pick><option>one<option>two</select>
    """
    shared = load(body)
    shared.perform(act.Click(*shared.center("#n")))
    elements = shared.capture(elements=True).elements
    told = {(e.role, e.name): e for e in elements}
    assert ("heading", "Title") in told
    assert told["textbox", "Name"].states == ("focused", 'value="Ann"')
    assert told["textbox", "Secret"].states == ('value="•••"',)
    assert told["checkbox", "Tick"].states == ("checked",)
    assert told["button", "Press"].states == ("disabled",)
    assert ("link", "Link") in told
    assert not {"never", "far"} & {e.name for e in elements}
    assert told["textbox", "Name"].box == shared.box("#n")
    assert [e.id for e in elements] == list(range(len(elements)))
    assert shared.capture().elements == ()


def test_a_choice_from_a_select_is_seen_and_made(shared: ChromiumDevice, page: WritePage) -> None:
    shared.load(
        page(
            "<select id=s><option>one<option>two<option>three</select>",
            "uiGym.state = () => ({ chosen: document.getElementById('s').value });",
        ),
        {},
    )
    closed = picture(shared)
    shared.perform(act.Click(*shared.center("#s")))
    frame = shared.capture(elements=True)
    assert hashlib.sha256(frame.image.tobytes()).hexdigest() != closed
    (three,) = [e for e in frame.elements if e.name == "three"]
    shared.perform(act.Click(*three.center))
    assert shared.state() == {"chosen": "three"}


@pytest.mark.parametrize("kind", ["date", "time", "color", "file"])
def test_no_field_opens_a_window_that_would_stop_the_pictures(load: Load, kind: str) -> None:
    shared = load(f"<input id=f type={kind}>")
    left, top, width, height = shared.box("#f")
    for x in (left + width - 12, left + width // 2):
        shared.perform(act.Click(x, top + height // 2))
        shared.capture()


# -- errors --


def test_errors_of_a_page_are_the_tasks(shared: ChromiumDevice, page: WritePage) -> None:
    with pytest.raises(TaskError, match="no such thing"):
        shared.load(page("", "throw new Error('no such thing');"), {})
    with pytest.raises(TaskError, match=r"missing\.html cannot be read: No such file"):
        shared.load(Path("/nowhere/missing.html"), {})
    unmarked = page()
    unmarked.write_text("<!doctype html><p>no mark")
    with pytest.raises(TaskError, match="lacks the mark"):
        shared.load(unmarked, {})
    shared.load(page(), {})
    with pytest.raises(TaskError, match="the page has no element '#nothing'"):
        shared.box("#nothing")
    with pytest.raises(TaskError, match="nonsense is not defined"):
        shared.evaluate("nonsense()")
    assert shared.state() == {}  # and it goes on


def test_a_page_that_was_edited_is_read_again(shared: ChromiumDevice, page: WritePage) -> None:
    path = page("<p>first</p>")
    shared.load(path, {})
    path.write_text(path.read_text().replace("first", "second"))
    shared.load(path, {})
    assert shared.evaluate("document.querySelector('p').textContent") == "second"


def test_a_device_must_be_started_and_may_be_closed_twice() -> None:
    device = ChromiumDevice(DeviceOptions(size=(64, 64)))
    assert isinstance(device, Device)
    with pytest.raises(DeviceError, match="was not started"):
        device.capture()
    device.start()
    pid = device.pid
    device.start()
    assert device.pid == pid
    device.close()
    device.close()
    with pytest.raises(DeviceError, match="the browser is closed"):
        device.perform(act.Click(1, 1))


def test_the_pool_closes_what_it_lent() -> None:
    with pytest.raises(UserError, match=r"no device 'firefox'.*selenium"):
        browser_pool(DeviceOptions("firefox"))
    pool = BrowserPool(DeviceOptions(size=(64, 64)))
    one, two = pool.acquire(), pool.acquire()
    pool.release(one, healthy=True)
    pool.close()
    for device in (one, two):
        with pytest.raises(DeviceError, match="the browser is closed"):
            device.capture()


# -- the other browser --


@pytest.fixture(scope="module")
def full_chromium() -> Iterator[ChromiumDevice]:
    """A Chromium without frame control: pictures are taken in the way that works everywhere."""
    if shutil.which(FULL_CHROMIUM) is None:
        pytest.skip(f"needs {FULL_CHROMIUM}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(BROWSER_VARIABLE, FULL_CHROMIUM)
        device = ChromiumDevice(DeviceOptions(size=(320, 256)))
        device.start()
    yield device
    device.close()


@pytest.mark.parametrize("name", ["ClickButton", "DataEntry", "Login"])
def test_full_chromium_plays_the_same(
    full_chromium: ChromiumDevice, shared: ChromiumDevice, name: str
) -> None:
    task = make_task(name, True)
    params = task.draw(3)
    frames = []
    for device in (full_chromium, shared):
        task.setup(device, params)
        for demo in task.demonstrate(device, params):
            device.perform(demo.action)
            frames.append(device.capture(elements=True))
        assert task.judge(device, params, ()).success
    half = len(frames) // 2
    for frame, reference in zip(frames[:half], frames[half:], strict=True):
        # Not to the byte: it hints its letters.
        assert np.abs(frame.image.astype(int) - reference.image).mean() < 2
        assert list(map(str, frame.elements)) == list(map(str, reference.elements))


def test_full_chromium_scrolls_hovers_and_forgets(
    full_chromium: ChromiumDevice, page: WritePage
) -> None:
    body = (
        "<style>#box:hover { background: red }</style>"
        "<div id=box style='height:200px;overflow:auto'><p style='height:900px'>text</p></div>"
    )
    full_chromium.load(page(body), {})
    fresh = picture(full_chromium)
    full_chromium.perform(act.Scroll(50, 50, dy=123))
    assert full_chromium.evaluate("document.querySelector('#box').scrollTop") == 123
    assert picture(full_chromium) != fresh
    full_chromium.load(page(body), {})
    assert picture(full_chromium) == fresh


def test_a_folder_named_by_the_environment_is_no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BROWSER_VARIABLE, os.fspath(Path(__file__).parent))
    with pytest.raises(DeviceError, match="is no executable; correct or unset it"):
        ChromiumDevice(DeviceOptions()).start()
