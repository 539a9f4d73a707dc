"""The ways to take pictures: which is chosen, that all give the same bytes, and their faults."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from browser_helpers import WritePage
from waiting import eventually

from ui_gym.browser.chromium import capture
from ui_gym.browser.chromium import device as chromium
from ui_gym.browser.chromium.capture import (
    BeginFrameCapture,
    FramebufferCapture,
    ScreenshotCapture,
    choose_capture,
)
from ui_gym.browser.chromium.device import ChromiumDevice
from ui_gym.browser.chromium.process import BROWSER_VARIABLE
from ui_gym.browser.chromium.protocol import Message
from ui_gym.contract import action as act
from ui_gym.contract.device import DeviceOptions, Image
from ui_gym.errors import DeviceError, DeviceSetupError, DeviceStartError, UserError
from ui_gym.playing.env import UIEnv
from ui_gym.xvfb import XServer

SIZE = (640, 420)

LONG = "<p>line {}</p>"
BODY = (
    "<input id=name placeholder=name><button id=press>Press</button><p id=said>not pressed</p>"
    "<div id=pane style='height: 200px; overflow: auto'>"
    + "".join(LONG.format(number) for number in range(60))
    + "</div>"
)
SCRIPT = (
    "const said = document.getElementById('said');"
    "document.getElementById('press').onclick = () => (said.textContent = 'pressed');"
    "uiGym.state = () => ({ name: document.getElementById('name').value });"
)

Show = Callable[[str], ChromiumDevice]


@pytest.fixture
def show(page: WritePage) -> Iterator[Show]:
    """Makes a device that takes pictures in a given way, and shows the page above on it."""
    path = page(BODY, SCRIPT)
    with contextlib.ExitStack() as stack:

        def make(way: str) -> ChromiumDevice:
            device = ChromiumDevice(DeviceOptions(kind=f"chromium:{way}", size=SIZE))
            stack.callback(device.close)
            device.start()
            device.load(path, {})
            return device

        yield make


def story(device: ChromiumDevice) -> list[Image]:
    """Pictures of a page that is used."""
    pictures = [device.capture().image]
    left, top, width, height = device.box("#pane")
    for actions in (
        [act.Click(*device.center("#name")), act.Type("Ann é")],
        [act.Move(*device.center("#press"))],
        [act.Click(*device.center("#press"))],
        [act.Scroll(left + width // 2, top + height // 2, dy=300)],
        [act.Scroll(left + width // 2, top + height // 2, dy=-120), act.Press("tab")],
    ):
        for action in actions:
            device.perform(action)
        pictures.append(device.capture().image)
    return pictures


@pytest.mark.parametrize("way", ["beginframe", "screenshot"])
def test_all_ways_give_the_same_bytes(show: Show, way: str) -> None:
    ours, theirs = story(show("framebuffer")), story(show(way))
    for number, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        np.testing.assert_array_equal(one, other, err_msg=f"picture {number}")
    typed, pressed, scrolled = (not np.array_equal(ours[i], ours[i + 1]) for i in (0, 2, 3))
    assert (typed, pressed, scrolled) == (True, True, True)


def test_a_picture_goes_where_it_is_asked_to(show: Show) -> None:
    device = show("framebuffer")
    out: Image = np.zeros((SIZE[1], SIZE[0], 3), np.uint8)
    frame = device.capture(out, elements=True)
    assert frame.image is out
    assert out.any()
    assert (frame.encoded, frame.format) == (None, None)
    button = next(element for element in frame.elements if element.role == "button")
    assert button.box == device.box("#press")


def test_elements_are_those_of_the_other_ways(show: Show) -> None:
    told = [show(way).capture(elements=True).elements for way in ("framebuffer", "beginframe")]
    assert told[0] == told[1]


def test_a_framed_page_is_renewed(
    show: Show, page: WritePage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chromium, "RENEW_AFTER", 2)
    device = show("framebuffer")
    first = device.capture().image.copy()
    device.evaluate("void localStorage.setItem('kept', 'yes')")
    path = page(BODY, SCRIPT)
    for _ in range(3):
        device.load(path, {})
        np.testing.assert_array_equal(device.capture().image, first)
        assert device.evaluate("localStorage.getItem('kept')") is None
    device.perform(act.Click(*device.center("#name")))
    device.perform(act.Type("x"))
    assert device.state() == {"name": "x"}


def test_a_dead_screen_ends_one_episode_and_heals() -> None:
    with contextlib.closing(UIEnv("Login", device="chromium:framebuffer", timeout=5)) as env:
        first, _ = env.reset(seed=1)
        kept = first["screenshot"].copy()
        device: Any = env.device
        os.killpg(device._capture._server.pid, signal.SIGKILL)
        _, reward, terminated, truncated, info = env.step("click(640, 400)")
        assert (reward, terminated, truncated) == (0.0, False, True)
        assert info["failure"].startswith("device: ")
        again, _ = env.reset(seed=1)
        np.testing.assert_array_equal(again["screenshot"], kept)


def test_the_fastest_way_is_chosen_by_size(monkeypatch: pytest.MonkeyPatch) -> None:
    large, small = DeviceOptions(size=(1280, 800)), DeviceOptions(size=(320, 256))
    assert isinstance(choose_capture(large), FramebufferCapture)
    assert isinstance(choose_capture(small), BeginFrameCapture)
    monkeypatch.setattr(capture, "find_xvfb", lambda: None)
    assert isinstance(choose_capture(large), BeginFrameCapture)
    monkeypatch.setattr(capture, "find_browser", lambda headless=True: "/usr/bin/chromium")
    assert type(choose_capture(large)) is ScreenshotCapture
    with pytest.raises(DeviceStartError, match="apt-get install chromium-headless-shell"):
        choose_capture(DeviceOptions("chromium:beginframe"))


def test_a_headless_shell_that_is_named_has_no_framebuffer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its large pages waited for the frame of a window that there was not."""
    monkeypatch.setenv(BROWSER_VARIABLE, "chromium-headless-shell")
    with contextlib.closing(UIEnv("Login", timeout=5)) as env:
        first, _ = env.reset(seed=0)
        assert first["screenshot"].shape == (800, 1280, 3)
    framed = ChromiumDevice(DeviceOptions("chromium:framebuffer"))
    with pytest.raises(DeviceSetupError, match=r"shell' has no window.*chromium or google-chrome"):
        framed.start()


def test_an_unknown_way_names_the_nearest() -> None:
    with pytest.raises(UserError, match=r"no way 'framebufer' .* Did you mean 'framebuffer'"):
        choose_capture(DeviceOptions("chromium:framebufer"))


# -- the X server --


def test_a_server_leaves_nothing(scratch: Path) -> None:
    before = set(scratch.iterdir())
    server = XServer((200, 100))
    assert server.screen.shape == (100, 200, 4)
    assert server.alive
    group = [p for p in psutil.process_iter() if _group(p) == server.pid]
    assert group
    server.close()
    server.close()
    assert not any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in group)
    assert set(scratch.iterdir()) == before


def _group(process: psutil.Process) -> int | None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        return os.getpgid(process.pid)
    return None


def test_a_server_ends_with_its_parent(scratch: Path) -> None:
    before = set(scratch.iterdir())
    child = os.fork()
    if child == 0:  # killed below
        with contextlib.suppress(BaseException):
            XServer((200, 100))
            signal.pause()
        os._exit(1)
    try:
        assert eventually(lambda: any((f / "Xvfb_screen0").exists() for f in scratch.iterdir()))
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert eventually(lambda: set(scratch.iterdir()) == before)


def test_without_xvfb_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(DeviceStartError, match="apt-get install xvfb"):
        XServer((200, 100))


def test_a_closed_device_says_so(show: Show) -> None:
    device = show("framebuffer")
    device.close()
    with pytest.raises(DeviceError):
        device.capture()


@pytest.mark.parametrize("way", ["beginframe", "framebuffer", "screenshot"])
def test_what_a_timer_brings_is_in_the_next_picture(way: str, page: WritePage) -> None:
    body = "<div id=pad style='position: fixed; inset: 0; background: #fff'></div>"
    # Busy for a while, as pages are that open something large.
    script = """
    const pad = document.getElementById("pad");
    let turn = 0;
    addEventListener("click", () => setTimeout(() => {
      let sum = 0;
      for (let i = 0; i < 3e6; i += 1) sum += i % 7;
      turn += sum > 0;
      pad.style.background = turn % 2 ? "#000" : "#fff";
    }, 10));
    uiGym.state = () => ({ turn });
    """
    with contextlib.closing(ChromiumDevice(DeviceOptions(f"chromium:{way}", SIZE))) as device:
        device.start()
        device.load(page(body, script), {}, seed=0)
        for turn in range(1, 13):
            device.perform(act.Click(300, 200))
            shown = int(device.capture().image[200, 300, 0])
            assert shown == (0 if turn % 2 else 255), f"the picture after click {turn} is old"


LATER = {
    "text": "thing.textContent = 'open'; thing.style.background = '#000'",
    "canvas": "thing.getContext('2d').fillRect(0, 0, 200, 100)",
}
"""What an event does that comes by itself, behind what a click has changed."""


@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize("way", ["beginframe", "framebuffer", "screenshot"])
@pytest.mark.parametrize("kind", [Path, str], ids=["author's", "ours"])
def test_what_comes_behind_a_click_is_in_its_picture(
    kind: type[Path] | type[str], way: str, later: str, page: WritePage
) -> None:
    thing = "<canvas width=200 height=100>" if later == "canvas" else "<div>shut</div>"
    body = f"<details style='position: fixed'><summary>more</summary></details>{thing}"
    script = f"""
    const thing = document.querySelector("details + *");
    thing.style.cssText = "position: absolute; left: 100px; top: 50px; width: 200px; height: 100px";
    document.querySelector("details").ontoggle = () => {{ {LATER[later]} }};
    """
    with contextlib.closing(ChromiumDevice(DeviceOptions(f"chromium:{way}", SIZE))) as device:
        device.start()
        for _ in range(8):
            device.load(kind(page(body, script)), {})
            summary = device.center("summary")
            assert device.capture().image[140, 290].all()
            device.perform(act.Click(*summary))
            assert not device.capture().image[140, 290].any()


def test_what_a_script_changes_behind_an_action_is_in_its_picture(
    show: Show, page: WritePage
) -> None:
    device = show("framebuffer")
    device.load(str(page(BODY, SCRIPT)), {})  # as a built-in page
    press = device.center("#press")
    for text in ("first", "second"):
        device.perform(act.Click(*press))
        device.capture()
        device.perform(act.Click(*press))
        device.evaluate(f"document.querySelector('#name').value = '{text}'")
        shown = device.capture().image
        device.perform(act.Wait(0.1))
        np.testing.assert_array_equal(device.capture().image, shown)


def test_an_action_on_a_page_that_was_in_no_picture_is_in_the_first(
    show: Show, page: WritePage
) -> None:
    device, path = show("framebuffer"), str(page(BODY, SCRIPT))  # as a built-in page
    device.load(path, {})
    name = device.center("#name")
    unfocused = device.capture().image
    device.perform(act.Click(*name))  # which moves the focus, and changes no element
    focused = device.capture().image
    assert not np.array_equal(focused, unfocused)
    for _ in range(20):
        device.load(path, {})
        device.perform(act.Click(*name))
        np.testing.assert_array_equal(device.capture().image, focused)


def test_a_browser_with_a_window_shows_one_page_and_looks_into_no_form(
    show: Show, page: WritePage
) -> None:
    device = show("framebuffer")
    form = page("<form><input name=name><input name=email type=email><input type=password></form>")
    assert device.pid is not None
    children = psutil.Process(device.pid).children(recursive=True)
    assert sum("--type=renderer" in child.cmdline() for child in children) == 1
    told: list[Message] = []
    connection = device.page.connection
    connection.listen(None, lambda _, params: told.append(params))
    asked = {"traceConfig": {"includedCategories": ["toplevel"]}}
    connection.call("Tracing.start", asked, timeout=10)
    for _ in range(5):
        device.load(form, {})
        device.capture()
    connection.call("Tracing.end", {}, timeout=10)
    assert eventually(lambda: any("dataLossOccurred" in params for params in told))
    places = {event["args"].get("src_file") for params in told for event in params.get("value", ())}
    assert "content/browser/devtools/devtools_pipe_handler.cc" in places
    assert not [place for place in places if place and "autofill" in place]
