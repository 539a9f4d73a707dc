"""What can fail on a desktop ends the slot's episode with a name, and is healed by a reset."""

from __future__ import annotations

import contextlib
import gc
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import xcffib
from waiting import eventually
from x11_helpers import SIZE

from ui_gym.contract.action import Press, Type
from ui_gym.desktop.device import SessionSpec
from ui_gym.desktop.x11 import display
from ui_gym.desktop.x11.device import X11Device
from ui_gym.errors import DeviceError
from ui_gym.playing.env import UIEnv
from ui_gym.playing.vector import UIVectorEnv

TASK = "DesktopTypeAndSave"


@pytest.fixture
def env() -> Iterator[UIEnv]:
    made = UIEnv(TASK, viewport=SIZE, timeout=4)
    yield made
    made.close()


def processes(name: str) -> list[psutil.Process]:
    return [p for p in psutil.Process().children(recursive=True) if p.name() == name]


def failed(env: UIEnv) -> str:
    """How the episode fails: that is told at once, or with one of the next steps."""
    for _ in range(20):
        _, reward, terminated, truncated, info = env.step("wait(0.05)")
        assert (reward, terminated) == (0.0, False)
        if truncated:
            return str(info["failure"])
    return ""


def test_an_x_server_that_ends_as_it_is_connected_to_is_replaced(
    env: UIEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    connected, killed = display._connected, []

    def after_a_kill(server: Any) -> Any:
        if not killed:
            killed.append(server.pid)
            for process in psutil.Process(server.pid).children(recursive=True):
                process.kill()
            time.sleep(0.5)
        return connected(server)

    monkeypatch.setattr(display, "_connected", after_a_kill)
    _, info = env.reset(seed=1)
    assert killed
    assert info["failure"] is None


def test_a_desktop_that_fails_is_named_and_is_there_again(env: UIEnv) -> None:
    first, _ = env.reset(seed=1)
    for name, failure in [
        ("Xvfb", "X server has ended"),
        ("openbox", "openbox was ended by SIGKILL"),
        ("dbus-daemon", "dbus-daemon was ended by SIGKILL"),
        ("mousepad", "mousepad was ended by SIGKILL"),
        ("bwrap", "sandbox has ended"),
    ]:
        processes(name)[0].kill()
        assert failure in failed(env), name
        again, info = env.reset(seed=1)
        assert info["failure"] is None
        assert np.array_equal(again["screenshot"], first["screenshot"])


def test_what_failed_keeps_no_screen(env: UIEnv) -> None:
    """A failure's traceback refers to its session until the garbage is collected."""
    gc.disable()
    try:
        for seed in range(4):
            env.reset(seed=seed)
            processes("openbox")[0].kill()
            assert failed(env)
        env.reset(seed=4)
        held = [file.resolve().name for file in Path("/proc/self/fd").iterdir()]
    finally:
        gc.enable()
    assert sum("Xvfb_screen0" in name for name in held) == 1


def test_an_application_that_crashes_is_named(env: UIEnv) -> None:
    env.reset(seed=1)
    (process,) = processes("mousepad")
    process.send_signal(signal.SIGSEGV)
    process.wait(10)
    assert "mousepad was ended by SIGSEGV" in failed(env)


def test_an_application_that_hangs_is_named_when_its_timeout_is_over(env: UIEnv) -> None:
    env.reset(seed=1)
    (process,) = processes("mousepad")
    process.suspend()
    for _ in range(20):
        *_, truncated, info = env.step("click(300, 300)")
        if truncated:
            break
    assert "did not answer for 4 s" in info["failure"]
    env.reset(seed=1)
    *_, truncated, info = env.step("click(300, 300)")
    assert (truncated, info["failure"]) == (False, None)


@pytest.mark.nightly
def test_a_program_that_was_slow_twice_does_not_hang() -> None:
    with contextlib.closing(UIEnv(TASK, viewport=SIZE, timeout=3)) as env:
        env.reset(seed=1)
        (process,) = processes("mousepad")
        for _ in range(2):
            process.suspend()
            *_, truncated, info = env.step("click(300, 300)")
            assert (truncated, info["failure"]) == (False, None)
            process.resume()
            until = time.monotonic() + 3.2
            assert eventually(lambda until=until: time.monotonic() > until)


def test_a_program_that_takes_the_x_server_for_itself_is_a_failure() -> None:
    with contextlib.closing(UIEnv(TASK, viewport=SIZE, timeout=2)) as env:
        env.reset(seed=1)
        other = xcffib.connect(env.device.display.name)
        other.core.GrabServer()
        other.flush()
        *_, truncated, info = env.step("click(300, 300)")
        assert truncated
        assert "X server has ended" in info["failure"]
        env.reset(seed=1)


def test_closing_the_application_is_no_fault(env: UIEnv) -> None:
    env.reset(seed=1)
    *_, truncated, info = env.step('press("alt+f4")')
    assert (truncated, info["failure"]) == (False, None)
    assert env.device.windows() == ()


def test_a_dialog_in_the_way_does_not_outlive_the_episode(env: UIEnv) -> None:
    first, _ = env.reset(seed=1)
    env.step('type("changed"); press("alt+f4")')  # asks whether to save
    assert len(env.device.windows()) == 2
    again, _ = env.reset(seed=1)
    assert np.array_equal(again["screenshot"], first["screenshot"])


def test_the_other_slot_does_not_notice() -> None:
    envs = UIVectorEnv(2, TASK, viewport=SIZE, timeout=4)
    try:
        envs.reset(seed=[1, 2])
        victim = processes("mousepad")[0]
        victim.kill()
        victim.wait(10)
        fates = np.zeros(2, bool)
        for _ in range(5):
            *_, truncated, _ = envs.step(("wait(0.05)",) * 2)
            fates |= truncated
            if fates.any():
                break
        assert fates.sum() == 1
    finally:
        envs.close()


def test_a_desktop_that_cannot_start_ends_in_an_error_that_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ui_gym.xvfb.shutil.which", lambda name: None)
    env = UIEnv(TASK, viewport=SIZE)
    with pytest.raises(DeviceError, match=r"(?s)apt-get install [a-z -]*xvfb"):
        env.reset(seed=1)
    env.close()


def test_nothing_that_a_model_writes_is_run(desktop: X11Device) -> None:
    """A canary: what would run if a text were given to a shell, or to Python."""
    lines = [
        "$(touch /tmp/canary)", "`touch /tmp/canary`", "'; touch /tmp/canary; '",
        '__import__("os").system("touch /tmp/canary")', "|touch /tmp/canary",
    ]  # fmt: skip
    desktop.renew(SessionSpec(files={"notes.txt": b""}, launch=[["mousepad", "notes.txt"]]))
    for line in lines:
        desktop.perform(Type(line, enter=True))
    desktop.perform(Press("ctrl+s"))
    desktop.capture()
    assert (desktop.read("notes.txt") or b"").decode().splitlines() == lines
    assert desktop.read("/tmp/canary") is None
    desktop.run("touch /tmp/canary")  # a canary that can die
    assert desktop.read("/tmp/canary") == b""
