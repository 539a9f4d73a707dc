"""A browser that dies, hangs or cannot start costs one episode, says so, and leaves nothing."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from browser_helpers import browsers
from waiting import eventually

from ui_gym import action as act
from ui_gym.action import Action
from ui_gym.browser import process
from ui_gym.browser.chromium import ChromiumDevice
from ui_gym.browser.process import BROWSER_VARIABLE
from ui_gym.browser.surface import BrowserDevice
from ui_gym.browser.task import BrowserTask
from ui_gym.device import DeviceOptions
from ui_gym.env import UIEnv
from ui_gym.errors import DeviceError, DeviceLost, DeviceStartError, DeviceTimeout
from ui_gym.registry import TaskSpec
from ui_gym.task import Verdict
from ui_gym.vector import UIVectorEnv

TROUBLE = """
addEventListener("click", () => {
  if (uiGym.params.trouble === "loop") for (;;);
  if (uiGym.params.trouble === "alert") alert("Are you sure?");
  if (uiGym.params.trouble === "close") window.close();
  if (uiGym.params.trouble === "leave") location.href = "about:blank";
  uiGym.log("click");
});
"""


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
def troubled(page: Callable[..., Path]) -> Iterator[Callable[..., UIEnv]]:
    with contextlib.ExitStack() as stack:

        def make(trouble: str, **arguments: Any) -> UIEnv:
            task = Trouble(page("", TROUBLE), trouble)
            return stack.enter_context(contextlib.closing(UIEnv(task, split=None, **arguments)))

        yield make


def kill(device: Any, what: str = "all") -> None:
    """End a device's browser from outside: all its processes, or those of its page."""
    assert device.pid is not None
    if what == "all":
        os.killpg(device.pid, signal.SIGKILL)
        return
    family = psutil.Process(device.pid).children(recursive=True)
    pages = [p for p in family if "--type=renderer" in p.cmdline()]
    assert pages
    for page in pages:
        page.kill()


# -- in a vector env --


@pytest.mark.parametrize("what", ["all", "renderer"])
def test_a_killed_browser_ends_one_episode_and_heals(what: str) -> None:
    with contextlib.closing(
        UIVectorEnv(3, "ClickButton", compact=True, autoreset_mode="Disabled", max_steps=9)
    ) as envs:
        first, _ = envs.reset(seed=[1, 2, 3])
        devices = [slot.env.device for slot in envs._fleet.slots]
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
        after = [slot.env.device for slot in envs._fleet.slots]
        assert [one is other for one, other in zip(devices, after, strict=True)] == [
            True, False, True,
        ]  # fmt: skip


# -- pages that make trouble --


@pytest.mark.parametrize(
    ("trouble", "timeout", "failure"),
    [
        ("loop", 1.0, "device: the browser did not answer .* within 1 s"),
        ("alert", 20.0, "device: the page opened a dialog: 'Are you sure\\?'"),
        ("leave", 20.0, "device: the page went to 'about:blank'"),
    ],
)
def test_a_page_that_stops_answering_truncates_and_heals(
    troubled: Callable[..., UIEnv], trouble: str, timeout: float, failure: str
) -> None:
    env = troubled(trouble, timeout=timeout)
    first, _ = env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step("click(50, 50)")
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert re.fullmatch(failure, info["failure"]), info["failure"]
    healed, info = env.reset(seed=0)
    assert info["failure"] is None
    assert np.array_equal(healed["screenshot"], first["screenshot"])


@pytest.mark.parametrize("trouble", ["close", "none"])
def test_a_page_cannot_close_itself(troubled: Callable[..., UIEnv], trouble: str) -> None:
    env = troubled(trouble)
    env.reset(seed=0)
    for _ in range(2):
        _, _, _, truncated, info = env.step("click(50, 50)")
        assert (truncated, info["failure"], info["success"]) == (False, None, True)


def test_a_crashed_page_is_lost(make_device: Callable[..., ChromiumDevice]) -> None:
    device = make_device()
    device._send([("Page.crash", {})])
    with pytest.raises(DeviceLost, match="the page crashed"):
        device.perform([act.Click(1, 1), act.Click(2, 2)])
    with pytest.raises(DeviceLost, match="the page crashed"):
        device.capture()


def test_a_timeout_names_what_was_waited_for(
    make_device: Callable[..., ChromiumDevice], page: Callable[..., Path]
) -> None:
    device = make_device(timeout=1.0)
    device.load(page("", TROUBLE), {"trouble": "loop"})
    with pytest.raises(DeviceTimeout, match=r"did not answer [A-Z][A-Za-z.]+ within"):
        device.perform([act.Click(5, 5)])


def test_closing_wakes_whoever_waits(
    make_device: Callable[..., ChromiumDevice], page: Callable[..., Path]
) -> None:
    device = make_device(timeout=60.0)
    device.load(page("", TROUBLE), {"trouble": "loop"})
    raised: list[BaseException] = []

    def wait() -> None:
        try:
            device.perform([act.Click(5, 5)])
        except DeviceError as error:
            raised.append(error)

    waiter = threading.Thread(target=wait)
    waiter.start()
    assert eventually(lambda: device._process is not None and device._process.connection._pending)
    device.close()
    waiter.join(timeout=10)
    assert not waiter.is_alive()
    assert len(raised) == 1


# -- browsers that do not start --


def test_without_a_browser_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(BROWSER_VARIABLE, raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(process, "HEADED", ("chromium", "google-chrome"))  # no absolute paths
    device = ChromiumDevice(DeviceOptions())
    with pytest.raises(DeviceStartError, match="apt-get install chromium-headless-shell"):
        device.start()
    device.close()
    with (
        contextlib.closing(UIEnv("ClickButton", compact=True)) as env,
        pytest.raises(DeviceStartError, match=r"failed in 3 resets in a row.*UI_GYM_BROWSER"),
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


# -- parents that die --

PARENT = """
import signal, sys, time
# A shell starts background jobs with interrupts ignored, which a child would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)
from ui_gym.browser.chromium import ChromiumDevice
from ui_gym.device import DeviceOptions
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


def test_close_ends_every_process_of_the_browser(
    make_device: Callable[..., ChromiumDevice], scratch: Path
) -> None:
    device = make_device()
    assert len(browsers(scratch)) > 1
    device.close()
    assert eventually(lambda: not browsers(scratch)), browsers(scratch)
    assert not os.listdir(scratch)
