"""A browser that dies, hangs or cannot start costs one episode, says so, and leaves nothing."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from browser_helpers import TROUBLE, MakeDevice, WritePage, browsers, pages_of
from waiting import eventually

from ui_gym.browser.chromium import device as chromium
from ui_gym.browser.chromium import process
from ui_gym.browser.chromium.device import ChromiumDevice
from ui_gym.browser.chromium.process import BROWSER_VARIABLE, BrowserProcess
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.task import BrowserTask
from ui_gym.contract import action as act
from ui_gym.contract.action import Action
from ui_gym.contract.device import DeviceOptions
from ui_gym.contract.spec import TaskSpec
from ui_gym.contract.task import Verdict
from ui_gym.errors import DeviceError, DeviceLost, DeviceStartError, DeviceTimeout, UserError
from ui_gym.playing.env import UIEnv
from ui_gym.playing.vector import UIVectorEnv

WAYS = ("beginframe", "framebuffer", "screenshot")

MAY_MOUNT = (
    os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], check=False).returncode == 0
)

each_way = pytest.mark.parametrize("way", WAYS)


@dataclass(frozen=True)
class TroubleParams:
    trouble: str


class Trouble(BrowserTask[TroubleParams]):
    """A page that makes trouble when it is clicked."""

    spec = TaskSpec(name="Trouble", suite="browser", entry_point="tests:Trouble")
    viewport = (128, 96)

    def __init__(self, page: Path, trouble: str) -> None:
        self.page = page  # type: ignore[misc]
        self.trouble = trouble

    def sample(self, rng: np.random.Generator) -> TroubleParams:
        return TroubleParams(self.trouble)

    def goal(self, params: TroubleParams) -> str:
        return "Click anywhere."

    def judge(
        self, device: BrowserDevice, params: TroubleParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        return Verdict(float(any(event.type == "click" for event in device.events)))


@pytest.fixture
def troubled(page: WritePage, scratch: Path) -> Iterator[Callable[..., UIVectorEnv]]:
    """Makes two slots with a troublesome page, closes them, and checks that nothing is left."""
    folders = set(os.listdir(scratch))
    with contextlib.ExitStack() as stack:

        def make(trouble: str, way: str, **arguments: Any) -> UIVectorEnv:
            task = Trouble(page("", TROUBLE), trouble)
            asked = {"device": f"chromium:{way}", "split": None} | arguments
            envs = UIVectorEnv(2, task, autoreset_mode="Disabled", **asked)
            return stack.enter_context(contextlib.closing(envs))

        yield make
    assert eventually(lambda: not browsers(scratch)), browsers(scratch)
    assert eventually(lambda: set(os.listdir(scratch)) == folders)


CLICK_IN_THE_FIRST = ["click(50, 50)", "wait(0.1)"]


def devices_of(envs: UIVectorEnv) -> list[Any]:
    return [slot.runner.env.device for slot in envs._fleet.slots]  # type: ignore[attr-defined]


def kill(device: Any, what: str = "all") -> None:
    """End a device's browser from outside: all its processes, or those of its page."""
    assert device.pid is not None
    if what == "all":
        os.killpg(device.pid, signal.SIGKILL)
        return
    for page in renderers(device):
        page.kill()


def renderers(device: Any) -> list[psutil.Process]:
    family = psutil.Process(device.pid).children(recursive=True)
    found = [p for p in family if "--type=renderer" in p.cmdline()]
    assert found
    return found


# -- in a vector env --


@each_way
@pytest.mark.parametrize("what", ["all", "renderer"])
def test_a_killed_browser_ends_one_episode_and_heals(what: str, way: str) -> None:
    asked: dict[str, Any] = {"device": f"chromium:{way}", "compact": True, "max_steps": 9}
    with contextlib.closing(
        UIVectorEnv(3, "ClickButton", autoreset_mode="Disabled", **asked)
    ) as envs:
        first, _ = envs.reset(seed=[1, 2, 3])
        devices = devices_of(envs)
        kill(devices[1], what)
        _, rewards, terminated, truncated, infos = envs.step(["wait(1)"] * 3)
        assert truncated.tolist() == [False, True, False]
        assert not terminated.any()
        assert not rewards.any()
        assert infos["failure"][0] is None
        assert infos["failure"][2] is None
        assert infos["failure"][1].startswith("device: ")
        assert "gone" in infos["failure"][1] or "crashed" in infos["failure"][1]

        healed, infos = envs.reset(
            seed=[None, 2, None], options={"reset_mask": np.array([False, True, False])}
        )
        assert infos["failure"][1] is None
        assert np.array_equal(healed["screenshot"][1], first["screenshot"][1])
        _, _, _, truncated, infos = envs.step(["wait(1)"] * 3)
        assert not truncated.any()
        assert infos["step"].tolist() == [2, 1, 2]
        assert [one is other for one, other in zip(devices, devices_of(envs), strict=True)] == [
            True, False, True,
        ]  # fmt: skip


# -- pages that make trouble --


ASKS = "device: the page opened a dialog: 'Are you sure\\?'"


@pytest.mark.parametrize(
    ("trouble", "failure", "way"),
    [
        *(
            (trouble, failure, way)
            for trouble, failure in {
                "loop": "device: the browser did not answer .* within 3 s",
                "memory": "device: the page crashed",
                "alert": ASKS,
                "question": "device: the page opened a dialog: ''",
                # Whichever is noticed first.
                "leave": "device: (the page went to .*|.*: Not attached to an active page)",
            }.items()
            for way in WAYS
        ),
        ("confirm", ASKS, "beginframe"),
        ("prompt", ASKS, "beginframe"),
    ],
)
def test_a_page_that_stops_answering_truncates_and_heals(
    troubled: Callable[..., UIVectorEnv], trouble: str, failure: str, way: str
) -> None:
    envs = troubled(trouble, way, timeout=3.0 if trouble == "loop" else 20.0)
    first, _ = envs.reset(seed=[0, 0])
    devices = devices_of(envs)
    if trouble == "memory":
        limit_memory(devices[0])
    started = time.monotonic()
    _, rewards, terminated, truncated, infos = envs.step(CLICK_IN_THE_FIRST)
    assert time.monotonic() - started < 10  # where the page is known to be lost, nobody waits
    assert (rewards[0], terminated[0], truncated[0]) == (0, False, True)
    assert re.fullmatch(failure, infos["failure"][0]), infos["failure"]
    assert not truncated[1]
    assert infos["failure"][1] is None

    healed, infos = envs.reset(seed=[0, 0], options={"reset_mask": truncated})
    assert time.monotonic() - started < 20
    assert infos["failure"][0] is None
    assert np.array_equal(healed["screenshot"][0], first["screenshot"][0])
    assert devices_of(envs)[0] is not devices[0]
    assert devices_of(envs)[1] is devices[1]


def limit_memory(device: ChromiumDevice) -> None:
    """Leave a page little memory, so that its end does not take all of this machine's."""
    for renderer in renderers(device):
        data = next(
            int(line.split()[1]) << 10
            for line in Path(f"/proc/{renderer.pid}/status").read_text().splitlines()
            if line.startswith("VmData:")
        )
        renderer.rlimit(psutil.RLIMIT_DATA, (data + (64 << 20),) * 2)


@each_way
def test_a_page_that_would_rather_stay_is_reset(
    troubled: Callable[..., UIVectorEnv], monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    envs = troubled("stay", way)
    first, _ = envs.reset(seed=[0, 0])
    for renew_after in (chromium.RENEW_AFTER, 1):  # in the same document, and in a new one
        monkeypatch.setattr(chromium, "RENEW_AFTER", renew_after)
        _, _, _, truncated, infos = envs.step(CLICK_IN_THE_FIRST)
        assert not truncated.any()
        assert infos["success"][0]
        started = time.monotonic()
        again, infos = envs.reset(seed=[0, 0])
        assert time.monotonic() - started < 10  # half of what a dialog would make it wait
        assert infos["failure"].tolist() == [None, None]
        assert np.array_equal(again["screenshot"], first["screenshot"])


@each_way
@pytest.mark.parametrize("trouble", ["open", "close", "window"])
def test_a_page_has_no_power_over_the_browser(
    troubled: Callable[..., UIVectorEnv], monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    trouble: str, way: str,
) -> None:  # fmt: skip
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    envs = troubled(trouble, way, timeout=5.0)
    envs.reset(seed=[0, 0])
    before = pages_of(devices_of(envs)[0])
    for _ in range(2):
        _, _, _, truncated, infos = envs.step(CLICK_IN_THE_FIRST)
        assert infos["failure"].tolist() == [None, None]
        assert not truncated.any()
        assert infos["success"].tolist() == [True, False]
    assert len(before) == 1
    assert eventually(lambda: pages_of(devices_of(envs)[0]) == before)
    envs.close()
    assert not [path for path in home.rglob("*") if path.is_file()]


def test_a_crashed_page_is_lost(make_device: MakeDevice) -> None:
    device = make_device()
    device.page.send([("Page.crash", {})])
    with pytest.raises(DeviceLost, match="the page crashed"):
        device.perform(act.Click(1, 1))
    with pytest.raises(DeviceLost, match="the page crashed"):
        device.capture()


def test_a_timeout_names_what_was_waited_for(make_device: MakeDevice, page: WritePage) -> None:
    device = make_device(timeout=1.0)
    device.load(page("", TROUBLE), {"trouble": "loop"})
    with pytest.raises(DeviceTimeout, match=r"did not answer [A-Z][A-Za-z.]+ within"):
        device.perform(act.Click(5, 5))


def test_closing_wakes_whoever_waits(make_device: MakeDevice, page: WritePage) -> None:
    device = make_device(timeout=60.0)
    device.load(page("", TROUBLE), {"trouble": "loop"})
    raised: list[BaseException] = []

    def wait() -> None:
        try:
            device.perform(act.Click(5, 5))
        except DeviceError as error:
            raised.append(error)

    waiter = threading.Thread(target=wait)
    waiter.start()
    assert eventually(lambda: device.page.connection._pending)
    device.close()
    waiter.join(timeout=10)
    assert not waiter.is_alive()
    assert len(raised) == 1


# -- browsers that do not start --


def test_without_a_browser_it_is_said_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "Xvfb").symlink_to(shutil.which("Xvfb") or "/usr/bin/Xvfb")
    monkeypatch.delenv(BROWSER_VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(process, "HEADED", ("chromium", "google-chrome"))  # no absolute paths
    for way, package in (("screenshot", "chromium-headless-shell"), ("framebuffer", "chromium")):
        with pytest.raises(DeviceStartError, match=rf"apt-get install {package}\)"):
            ChromiumDevice(DeviceOptions(f"chromium:{way}")).start()
    with (
        contextlib.closing(UIEnv("ClickButton", compact=True)) as env,
        pytest.raises(DeviceStartError, match=r"^no browser found: install one.*UI_GYM_BROWSER"),
    ):
        env.reset(seed=0)


def test_a_browser_that_ends_at_once_is_quoted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scratch: Path
) -> None:
    broken = tmp_path / "broken-browser"
    broken.write_text("#!/bin/sh\necho 'missing library libfoo.so' >&2\nexit 127\n")
    broken.chmod(0o755)
    monkeypatch.setenv(BROWSER_VARIABLE, str(broken))
    device = ChromiumDevice(DeviceOptions())
    with pytest.raises(DeviceStartError, match=r"broken-browser did not start: .*libfoo\.so"):
        device.start()
    assert eventually(lambda: not os.listdir(scratch))


def test_a_browser_that_never_answers_is_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scratch: Path
) -> None:
    silent = tmp_path / "silent-browser"
    silent.write_text("#!/bin/sh\nexec sleep 600\n")
    silent.chmod(0o755)
    monkeypatch.setenv(BROWSER_VARIABLE, str(silent))
    device = ChromiumDevice(DeviceOptions(timeout=0.5))
    with pytest.raises(DeviceStartError, match=r"did not answer Browser.getVersion within 0.5 s"):
        device.start()
    assert not psutil.Process().children(recursive=True)
    assert not os.listdir(scratch)


# -- a machine without shared memory --

FULL = """
import os, subprocess, sys, tempfile

def mount(*how):
    subprocess.run(["mount", *how], check=True)

def fill():
    mount("-o", "remount,size=1m", "/dev/shm")
    try:
        with open("/dev/shm/full", "ab", buffering=0) as file:
            while True:
                file.write(bytes(4096))
    except OSError as error:
        print(error.strerror)

from ui_gym.playing.env import UIEnv
from ui_gym.errors import DeviceStartError
from ui_gym.playing.vector import UIVectorEnv

mount("-t", "tmpfs", "-o", "size=1g", "tmpfs", "/dev/shm")
asked = {"viewport": (1280, 800), "timeout": 10.0}
ways = sys.argv[1:]
envs = [UIEnv("ClickButton", device=f"chromium:{way}", **asked) for way in ways]
before = [env.reset(seed=1)[0]["screenshot"] for env in envs]
fill()
for way, env, first in zip(ways, envs, before):
    _, _, _, truncated, info = env.step("move(300, 300)")
    env._loan.drop(healthy=False)  # the next browser starts with what there is now
    again = env.reset(seed=1)[0]["screenshot"]
    _, _, _, later, _ = env.step("move(300, 300)")
    print(way, bool(info["failure"]) is truncated, (again == first).all(), later)
    env.close()

envs = UIVectorEnv(2, "ClickButton", workers="processes:2", **asked)
print("processes", envs.reset(seed=[1, 2])[0]["screenshot"][0].shape)
envs.close()
del os.memfd_create  # as on other systems: it lies in a file
tempfile.tempdir = "/dev/shm"
try:
    UIVectorEnv(2, "ClickButton", workers="processes:2", **asked)
except DeviceStartError as error:
    print(error)
print(os.listdir("/dev/shm"))
"""


@pytest.mark.skipif(not MAY_MOUNT, reason="needs the right to mount")
def test_full_shared_memory_is_no_fault_or_is_told() -> None:
    ran = subprocess.run(
        ["unshare", "-m", sys.executable, "-c", FULL, *WAYS],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ran.stdout.splitlines() == [
        "No space left on device",
        *(f"{way} True True False" for way in WAYS),
        "processes (800, 1280, 3)",
        "there is no shared memory for screenshots of 1280x800 (No space left on device): have "
        "fewer slots, or play in threads",
        "['full']",
    ], ran.stderr


NO_ROOM = """
import os, subprocess, sys, tempfile
from pathlib import Path
from room import FILLER, fill, free
from waiting import eventually
from ui_gym.errors import DeviceStartError
from ui_gym.playing.env import UIEnv

way, disk = sys.argv[1], Path(sys.argv[2])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=30m", "none", str(disk)], check=True)
tempfile.tempdir = str(disk)
env = UIEnv("ClickButton", device=f"chromium:{way}", compact=True)
env.reset(seed=1)
fill(disk)
print(env.step("click(10, 10)")[-1]["failure"])
env._loan.drop(healthy=False)  # the next browser starts with what there is now
assert eventually(lambda: [path.name for path in disk.iterdir()] == [FILLER])
fill(disk)
try:
    env.reset(seed=2)
except DeviceStartError as error:
    print(error)
    free(disk)
    env.reset(seed=2)
print(env.step("click(10, 10)")[-1]["failure"])
env.close()
print(*{path.name for path in disk.iterdir()} - {FILLER})
"""


@pytest.mark.skipif(not MAY_MOUNT, reason="needs the right to mount")
@each_way
def test_without_room_for_temporary_files_it_is_said_which_disk_is_full(
    way: str, tmp_path: Path
) -> None:
    ran = subprocess.run(
        ["unshare", "-m", sys.executable, "-c", NO_ROOM, way, str(tmp_path)],
        capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )  # fmt: skip
    told = ran.stdout.splitlines()
    if way == "framebuffer":  # its screen is a file
        assert f"{tmp_path} has 0 bytes left, too few for a screen of 500x" in told.pop(1)
    assert told == ["None", "None", ""], ran.stdout + ran.stderr


# -- parents that die --

PARENT = """
import signal, sys, time
# A shell starts background jobs with interrupts ignored, which a child would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)
from ui_gym.browser.chromium.device import ChromiumDevice
from ui_gym.contract.device import DeviceOptions
device = ChromiumDevice(DeviceOptions(size=(64, 64)))
device.start()
device.capture()
print(device.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_browser_does_not_outlive_its_parent(number: signal.Signals, scratch: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as parent:
        assert parent.stdout is not None
        group = int(parent.stdout.readline())
        assert browsers(scratch)
        assert os.listdir(scratch)
        parent.send_signal(number)
        parent.wait(timeout=10)
    assert eventually(lambda: not browsers(scratch)), browsers(scratch)
    assert eventually(lambda: not os.listdir(scratch)), os.listdir(scratch)
    assert eventually(lambda: not psutil.pid_exists(group))


KILLED_STARTING = """
import os, signal, subprocess
from ui_gym.browser.chromium.process import BrowserProcess
subprocess.Popen = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
BrowserProcess()
"""


def test_a_parent_that_is_killed_before_it_starts_a_browser_leaves_no_folder(scratch: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED_STARTING], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not os.listdir(scratch)


def test_close_ends_every_process_of_the_browser(make_device: MakeDevice, scratch: Path) -> None:
    device = make_device()
    assert len(browsers(scratch)) > 1
    device.close()
    assert eventually(lambda: not browsers(scratch)), browsers(scratch)
    assert not os.listdir(scratch)


def test_a_browser_that_is_closed_while_it_starts_does_not_come_up(
    monkeypatch: pytest.MonkeyPatch, scratch: Path
) -> None:
    device = ChromiumDevice(DeviceOptions("chromium:screenshot", (320, 256), 20.0))

    def starting(**arguments: Any) -> BrowserProcess:
        started = BrowserProcess(**arguments)
        device.close()  # as another thread may do
        return started

    monkeypatch.setattr(chromium, "BrowserProcess", starting)
    with pytest.raises(DeviceLost, match=r"^the browser is closed$"):
        device.start()
    device.close()
    assert eventually(lambda: not browsers(scratch))


# -- envs that nobody closes --


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forgotten_env_leaves_no_browser_and_a_fork_takes_none_along(scratch: Path) -> None:
    env: Any = UIEnv("ClickButton")
    env.reset(seed=1)
    one = len(browsers(scratch))
    child = os.fork()
    if child == 0:
        env.close()
        os._exit(0)
    os.waitpid(child, 0)
    assert env.step("wait(0)")[4]["failure"] is None
    for seed in range(2):
        env = UIEnv("ClickButton")
        env.reset(seed=seed)
    assert eventually(lambda: len(browsers(scratch)) <= one)
    del env
    assert eventually(lambda: not browsers(scratch))


def test_a_window_without_a_display_is_refused_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch, scratch: Path
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    told = r"^render_mode=\"human\" needs a display, and neither DISPLAY nor .* under xvfb-run$"
    for device in ("auto", "selenium"):
        with pytest.raises(UserError, match=told):
            UIEnv("ClickButton", render_mode="human", device=device)
    assert not browsers(scratch)
