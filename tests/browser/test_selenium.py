"""Any WebDriver browser plays the same tasks, judged the same; faults heal, nothing is left."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from browser_helpers import SIZE, TROUBLE, WritePage, browsers
from waiting import eventually

pytest.importorskip("selenium", reason="needs the extra `selenium`")

from ui_gym.browser.chromium import process as browser_process
from ui_gym.browser.chromium.device import ChromiumDevice
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.pool import browser_pool
from ui_gym.browser.site import Site
from ui_gym.browser.webdriver import browsers as addresses
from ui_gym.browser.webdriver.device import SeleniumDevice
from ui_gym.browser.webdriver.drivers import DriverProcess
from ui_gym.contract import action as act
from ui_gym.contract import registry
from ui_gym.contract.action import Action
from ui_gym.contract.device import DeviceOptions
from ui_gym.errors import DeviceError, DeviceLost, DeviceStartError, DeviceTimeout, UserError
from ui_gym.playing.env import UIEnv

Devices = Callable[[str, tuple[int, int]], BrowserDevice]

needs_chromedriver = pytest.mark.skipif(
    shutil.which("chromedriver") is None, reason="needs chromedriver (Debian: chromium-driver)"
)
needs_firefox = pytest.mark.skipif(
    shutil.which("geckodriver") is None or shutil.which("firefox-esr") is None,
    reason="needs firefox-esr and geckodriver",
)
each_browser = pytest.mark.parametrize(
    "kind",
    [
        pytest.param("server", marks=needs_chromedriver),
        pytest.param("selenium:firefox", marks=needs_firefox),
    ],
)

FIELDS = """<style>
  body > * { position: absolute; margin: 0 }
  #area { left: 8px; top: 8px; width: 300px; height: 70px }
  #pad { left: 8px; top: 90px; width: 140px; height: 60px; background: #dde }
  #box { left: 160px; top: 90px; width: 140px; height: 100px; overflow: auto }
  #box div { width: 600px; height: 900px }
</style><textarea id="area"></textarea><div id="pad"></div><div id="box"><div></div></div>"""

NOTES = """
const seen = [];
const [area, box] = ["area", "box"].map((name) => document.getElementById(name));
for (const type of ["keydown", "mousedown", "mouseup", "mousemove", "click", "dblclick", "wheel"]) {
  addEventListener(type, (event) => {
    const key = type === "keydown" ? [event.key, event.code] : [event.clientX, event.clientY];
    uiGym.log(type, { key, time: Date.now(), ctrl: event.ctrlKey, target: event.target.id });
  });
}
const at = () => [box.scrollLeft, box.scrollTop];
uiGym.state = () => ({ text: area.value, focused: document.activeElement.id, at: at() });
"""


@contextlib.contextmanager
def serving() -> Iterator[DriverProcess]:
    """A chromedriver that serves whoever comes."""
    with pytest.MonkeyPatch.context() as patch:
        # A Chrome with windows has a socket in its profile, whose path may have 108 characters.
        patch.setattr(tempfile, "tempdir", "/tmp")
        process = DriverProcess("chrome", 30)
    with contextlib.closing(process):
        yield process


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server's browsers."""
    with serving() as process:
        yield f"selenium:{process.url}"


@pytest.fixture(scope="module")
def devices(request: pytest.FixtureRequest) -> Iterator[Devices]:
    """Started devices by kind (``server``: on the chromedriver above) and size, shared."""
    made: dict[tuple[str, tuple[int, int]], BrowserDevice] = {}

    def get(kind: str, size: tuple[int, int] = SIZE) -> BrowserDevice:
        if (kind, size) not in made:
            address = request.getfixturevalue("server") if kind == "server" else kind
            options = DeviceOptions(address, size=size)
            maker = ChromiumDevice if kind == "auto" else SeleniumDevice
            device = maker(options)
            device.start()
            made[kind, size] = device
        return made[kind, size]

    yield get
    for device in made.values():
        device.close()


# -- addresses --


@pytest.mark.parametrize(
    ("kind", "browser", "url"),
    [
        ("selenium:chrome", "chrome", None),
        ("selenium:firefox", "firefox", None),
        ("selenium:edge", "edge", None),
        ("selenium:http://grid:4444", "chrome", "http://grid:4444"),
        ("selenium:https://grid/wd/hub", "chrome", "https://grid/wd/hub"),
        ("selenium:firefox@http://me:secret@grid:4444", "firefox", "http://me:secret@grid:4444"),
    ],
)
def test_addresses(kind: str, browser: str, url: str | None) -> None:
    assert addresses.address(kind) == addresses.BrowserAddress(browser, url)


def test_wrong_addresses_are_told_before_anything_starts() -> None:
    with pytest.raises(UserError, match=r"no browser 'firefix'. Did you mean 'firefox'\?"):
        browser_pool(DeviceOptions("selenium:firefix"))
    with pytest.raises(UserError, match=r"no device 'selenum'. Did you mean 'selenium'\?"):
        browser_pool(DeviceOptions("selenum:chrome"))


@pytest.mark.parametrize(
    ("kind", "hint"),
    [("chrome", "chromedriver.*apt-get install chromium-driver"), ("firefox", "geckodriver")],
)
def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch, kind: str, hint: str) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DeviceStartError, match=hint):
        SeleniumDevice(DeviceOptions(f"selenium:{kind}")).start()


@needs_chromedriver
def test_a_driver_that_ends_at_once_is_quoted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scratch: Path
) -> None:
    broken = tmp_path / "chromedriver"
    broken.write_text("#!/bin/sh\necho 'missing library libfoo.so' >&2\nexit 127\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    before = set(os.listdir(scratch))
    with pytest.raises(DeviceStartError, match=r"did not start.*libfoo\.so"):
        SeleniumDevice(DeviceOptions("selenium:chrome")).start()
    assert set(os.listdir(scratch)) == before


def test_a_server_that_is_not_there_is_told() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(DeviceStartError, match=f"127.0.0.1:{port} began no session"):
        SeleniumDevice(DeviceOptions(f"selenium:http://127.0.0.1:{port}")).start()


# -- the same tasks, judged the same --


def play(device: BrowserDevice, task: Any, *, spoil: bool = False) -> tuple[Any, list[Any]]:
    """The verdict and the page's events, after the oracle's moves; spoilt, with slips."""
    params = task.sample(np.random.default_rng(3))
    task.setup(device, params)
    done: list[Action] = []
    for demo in task.oracle(device, params):
        action = demo.action
        if spoil and isinstance(action, act.Type):
            action = act.Type(f"{action.text}x", clear=action.clear, enter=action.enter)
        done.append(action)
        if not action.ends_episode:
            device.perform(action)
    verdict = task.judge(device, params, done)
    return verdict, [(event.type, event.data) for event in device.events]


@each_browser
@pytest.mark.parametrize(
    ("name", "arguments", "spoil"),
    [
        ("ClickButton", {"compact": True}, False),
        ("Login", {"compact": True}, False),
        ("Login", {"compact": True}, True),
        ("DataEntry", {"compact": True}, False),
        ("DataEntry", {"compact": True}, True),
        ("KanbanDrag", {}, False),
        ("TextFormat", {}, False),
        ("TableEdit", {}, False),
        ("SettingsTree", {}, False),
    ],
)
def test_tasks_are_judged_as_in_chromium(
    devices: Devices, kind: str, name: str, arguments: dict[str, Any], spoil: bool
) -> None:
    task = registry.spec(name).load()(**arguments)
    expected = play(devices("auto", task.viewport), task, spoil=spoil)
    assert play(devices(kind, task.viewport), task, spoil=spoil) == expected
    assert (expected[0].score == 1) is not spoil


@each_browser
def test_an_env_is_the_same_on_it(devices: Devices, kind: str, request: Any) -> None:
    device = request.getfixturevalue("server") if kind == "server" else kind
    with (
        contextlib.closing(UIEnv("ClickButton", compact=True)) as ours,
        contextlib.closing(UIEnv("ClickButton", compact=True, device=device)) as env,
    ):
        expected, _ = ours.reset(seed=5)
        first, _ = env.reset(seed=5)
        assert first["goal"] == expected["goal"]
        assert first["screenshot"].shape == expected["screenshot"].shape
        env.reset(seed=6)
        again, _ = env.reset(seed=5)
        assert np.array_equal(again["screenshot"], first["screenshot"])


@needs_chromedriver
def test_pictures_in_chrome_are_those_of_our_own_device(devices: Devices) -> None:
    task = registry.spec("Login").load()(compact=True)
    pictures = []
    for kind in ("auto", "selenium:chrome"):
        device = devices(kind, SIZE)
        task.setup(device, task.sample(np.random.default_rng(1)))
        pictures.append(device.capture().image)
    assert np.array_equal(*pictures)


@each_browser
def test_elements_are_told_as_in_chromium(devices: Devices, kind: str) -> None:
    task = registry.spec("Login").load()(compact=True)
    told = []
    for name in ("auto", kind):
        device = devices(name, SIZE)
        task.setup(device, task.sample(np.random.default_rng(1)))
        device.perform(act.Click(*device.center("input")))
        device.perform(act.Type("me"))
        told.append(device.capture(elements=True).elements)
    expected, found = told
    assert [(e.role, e.name, e.states) for e in found] == [
        (e.role, e.name, e.states) for e in expected
    ]
    for one, other in zip(found, expected, strict=True):
        assert np.allclose(one.box, other.box, atol=2)
    assert len({e.id for e in found}) == len(found)


# -- input --


@each_browser
def test_actions_arrive_as_in_chromium(devices: Devices, kind: str, page: WritePage) -> None:
    actions = [
        act.Move(5, 200), act.Click(100, 40), act.Click(100, 40), act.Type("Ab c-1\n?"),
        act.Press("ctrl+a"), act.Type("new ", clear=True), act.Press("shift+left"),
        act.Press("F2"), act.Click(40, 120, count=2), act.Click(40, 120, keys="ctrl"),
        act.LongPress(60, 120, seconds=0.5), act.Drag(20, 100, 120, 140), act.Wait(2.0),
        act.Scroll(230, 140, dy=120), act.Scroll(230, 140, dx=40),
    ]  # fmt: skip
    seen = []
    for name in ("auto", kind):
        device = devices(name, SIZE)
        device.load(page(FIELDS, NOTES), {})
        for action in actions:
            device.perform(action)
        state = device.state()
        seen.append((state, [(event.type, event.data) for event in device.events]))
    (expected, events), (found, others) = seen
    assert found == expected
    assert found["text"] == "new "
    assert found["at"] == [40, 120]
    # Each clears a field in its own way.
    kept = [[e for e in told if e[0] != "keydown"] for told in (events, others)]
    assert kept[0] == kept[1]


@each_browser
def test_any_text_can_be_typed(devices: Devices, kind: str, page: WritePage) -> None:
    device = devices(kind, SIZE)
    device.load(page(FIELDS, NOTES), {})
    for text in ("".join(map(chr, range(32, 127))), "Größe ☃ 漢字 🙂 fin"):
        device.perform(act.Click(100, 40))
        device.perform(act.Type(text, clear=True))
        assert device.state()["text"] == text


# -- walls --


FETCH = "return fetch(arguments[0], { mode: 'no-cors' }).then(() => 1, () => 0)"


def reaches(device: BrowserDevice) -> bool:
    """Whether a page gets through to this machine."""
    assert isinstance(device, SeleniumDevice)
    assert device._session is not None
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.5)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        device._session.blank()  # a document without a policy: only the flags stand
        ask = threading.Thread(target=device._session.script, args=(FETCH, url))
        ask.start()
        try:
            with listener.accept()[0] as caller:
                caller.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n")
            return True
        except TimeoutError:
            return False
        finally:
            ask.join()


@each_browser
def test_nothing_of_this_machine_can_be_reached(devices: Devices, kind: str) -> None:
    assert not reaches(devices(kind, SIZE))


@needs_chromedriver
def test_without_walls_this_machine_can_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    walls = ("--host-resolver-rules", "--proxy-")
    flags = tuple(flag for flag in browser_process.FLAGS if not flag.startswith(walls))
    assert len(flags) == len(browser_process.FLAGS) - 3
    monkeypatch.setattr(browser_process, "FLAGS", flags)
    device = SeleniumDevice(DeviceOptions("selenium:chrome", size=SIZE))
    with contextlib.closing(device):
        device.start()
        assert reaches(device)


@needs_chromedriver
def test_a_site_is_for_chromium_only(devices: Devices, tmp_path: Path) -> None:
    with pytest.raises(UserError, match='make it with device="chromium"'):
        devices("server", SIZE).visit(Site(tmp_path), "index.html")


# -- faults --


def driver_of(owner: SeleniumDevice | DriverProcess) -> psutil.Process:
    """The process of the driver itself."""
    assert owner.pid is not None
    family = psutil.Process(owner.pid).children(recursive=True)
    return next(p for p in family if p.name().startswith(("chromedriver", "geckodriver")))


@needs_chromedriver
@pytest.mark.parametrize(
    ("number", "failure"),
    [
        (signal.SIGSTOP, "device: the browser did not answer .* within 2 s"),
        (signal.SIGKILL, "device: the driver is gone: .*"),
    ],
)
def test_a_driver_that_fails_costs_one_episode_and_heals(number: int, failure: str) -> None:
    with contextlib.closing(
        UIEnv("ClickButton", compact=True, device="selenium:chrome", timeout=2.0)
    ) as env:
        first, _ = env.reset(seed=1)
        driver_of(env.device).send_signal(number)
        _, reward, terminated, truncated, info = env.step("wait(1)")
        assert (reward, terminated, truncated) == (0.0, False, True)
        assert re.fullmatch(failure, info["failure"]), info["failure"]
        healed, info = env.reset(seed=1)
        assert info["failure"] is None
        assert np.array_equal(healed["screenshot"], first["screenshot"])


@pytest.mark.parametrize(
    ("kind", "trouble", "error", "told"),
    [
        *(
            pytest.param(f"selenium:{browser}", *case, marks=needs)
            for browser, needs in (("chrome", needs_chromedriver), ("firefox", needs_firefox))
            for case in (
                ("loop", DeviceTimeout, "did not answer .* within 2 s"),
                ("alert", DeviceError, "the page opened a dialog: 'Are you sure"),
                ("confirm", DeviceError, "the page opened a dialog: 'Are you sure"),
                ("prompt", DeviceError, "the page opened a dialog: 'Are you sure"),
                ("leave", DeviceError, "the page went to 'about:blank'"),
            )
            if browser == "chrome" or case[0] != "leave"
        ),
        pytest.param("selenium:chrome", "close", None, "", marks=needs_chromedriver),
    ],
)
def test_a_page_that_makes_trouble(
    kind: str, trouble: str, error: Any, told: str, page: WritePage
) -> None:
    device = SeleniumDevice(DeviceOptions(kind, size=SIZE, timeout=2.0 if error else 20.0))
    with contextlib.closing(device):
        device.start()
        device.load(page("", TROUBLE), {"trouble": trouble})
        if error is None:
            _click_twice(device)
            assert device.state() == {}
            return
        for _ in range(2):  # it stays broken
            with pytest.raises(error, match=told):
                _click_twice(device)


def _click_twice(device: BrowserDevice) -> None:
    for _ in range(2):
        device.perform(act.Click(9, 9))


@each_browser
def test_a_page_that_would_rather_stay_is_replaced(
    devices: Devices, kind: str, page: WritePage
) -> None:
    device = devices(kind, SIZE)
    for trouble in ("stay", "none"):
        device.load(page("", TROUBLE), {"trouble": trouble})
        device.perform(act.Click(9, 9))
        assert device.state() == {}


@needs_chromedriver
def test_a_killed_browser_is_lost() -> None:
    device = SeleniumDevice(DeviceOptions("selenium:chrome", size=SIZE))
    with contextlib.closing(device):
        device.start()
        for process in driver_of(device).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        with pytest.raises(DeviceLost, match="the browser is gone"):
            device.capture()


# -- nothing is left --


@each_browser
def test_close_leaves_nothing(kind: str, scratch: Path) -> None:
    before, folders = len(browsers(scratch)), set(os.listdir(scratch))
    local = "selenium:chrome" if kind == "server" else kind
    device = SeleniumDevice(DeviceOptions(local, size=SIZE))
    device.start()
    assert len(browsers(scratch)) > before + 1
    device.close()
    device.close()
    assert eventually(lambda: len(browsers(scratch)) == before), browsers(scratch)
    assert set(os.listdir(scratch)) == folders
    with pytest.raises(DeviceError, match="the browser is closed"):
        device.capture()


@needs_chromedriver
def test_close_ends_the_session_of_a_server() -> None:
    with serving() as process:
        device = SeleniumDevice(DeviceOptions(f"selenium:{process.url}", size=SIZE))
        device.start()
        driver = driver_of(process)
        assert driver.children()
        device.close()
        assert eventually(lambda: not driver.children())


PARENT = """
import time
from ui_gym.browser.webdriver.device import SeleniumDevice
from ui_gym.contract.device import DeviceOptions
device = SeleniumDevice(DeviceOptions("selenium:chrome", size=(64, 64)))
device.start()
print(device.pid, flush=True)
time.sleep(600)
"""


@needs_chromedriver
def test_a_browser_does_not_outlive_its_parent(scratch: Path) -> None:
    before = set(os.listdir(scratch))
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        keeper = int(parent.stdout.readline())
        assert set(os.listdir(scratch)) > before
        parent.kill()
        parent.wait(timeout=10)
    assert eventually(lambda: not psutil.pid_exists(keeper))
    assert set(os.listdir(scratch)) == before


@needs_chromedriver
def test_a_driver_whose_port_is_taken_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, once = shutil.which("chromedriver"), tmp_path / "once"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        script = tmp_path / "chromedriver"
        script.write_text(
            f'#!/bin/sh\nmkdir "{once}" 2>/dev/null && exec "{real}" --port={port}\n'
            f'exec "{real}" "$@"\n'
        )
        script.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
        with serving() as process:
            assert once.exists()
            assert not process.url.endswith(f":{port}")
