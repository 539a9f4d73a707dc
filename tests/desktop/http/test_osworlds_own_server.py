"""Our client against OSWorld's own server, which is asked for by two environment variables:

- ``UI_GYM_OSWORLD_SOURCE``: the folder that holds OSWorld's ``desktop_env``;
- ``UI_GYM_OSWORLD_PYTHON``: an interpreter that has what ``desktop_env/server/main.py`` imports
  (flask, pyautogui, python-xlib, lxml, requests, pillow, numpy, and Debian's python3-pyatspi,
  python3-tk and gnome-screenshot).
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import gymnasium as gym
import pytest
from desktops import play
from waiting import eventually

import ui_gym  # noqa: F401  registers the tasks
from ui_gym.contract.device import DeviceOptions
from ui_gym.desktop.http.device import OSWorldDevice
from ui_gym.desktop.osworld.task import OSWorld
from ui_gym.playing.env import UIEnv
from ui_gym.xvfb import XServer

SOURCE = Path(os.environ.get("UI_GYM_OSWORLD_SOURCE", "/nowhere"))
PYTHON = os.environ.get("UI_GYM_OSWORLD_PYTHON", "")
SERVER = SOURCE / "desktop_env" / "server"
SIZE = (1280, 720)
PROGRAMS = ("Xvfb", "openbox", "mousepad", "dbus-run-session")

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(
        not (SERVER / "main.py").is_file() or not shutil.which(PYTHON or "/nowhere"),
        reason="UI_GYM_OSWORLD_SOURCE and UI_GYM_OSWORLD_PYTHON name no server of OSWorld's",
    ),
    pytest.mark.skipif(not all(map(shutil.which, PROGRAMS)), reason=f"needs {', '.join(PROGRAMS)}"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """OSWorld's server, as its machines start it, but on loopback: `osworld:` address."""
    folder = tmp_path_factory.mktemp("osworld")
    home, own = folder / "home", folder / "server"
    (home / "Desktop").mkdir(parents=True)
    (home / ".Xauthority").touch()
    shutil.copytree(SERVER, own)  # it keeps its pictures beside its source
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    start = f"import main; main.app.run(host='127.0.0.1', port={port})"
    line = f"openbox & /usr/libexec/at-spi-bus-launcher --launch-immediately & exec {PYTHON} -c"
    x = XServer(SIZE, flags=())
    environment = {
        "PATH": f"{Path(PYTHON).parent}:/usr/bin:/bin", "DISPLAY": x.display, "HOME": str(home),
        "PYTHONPATH": str(own), "LANG": "C.UTF-8", "GTK_MODULES": "gail:atk-bridge",
    }  # fmt: skip
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            ["dbus-run-session", "--", "bash", "-c", f'{line} "{start}"'],
            cwd=home, env=environment, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        yield f"osworld:http://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, 15)
        assert eventually(lambda: process.poll() is not None)
        x.close()


def test_a_task_of_ours_is_played_to_its_end(server: str) -> None:
    env = gym.make("UI/DesktopTypeAndSave-v0", device=server, viewport=SIZE, timeout=120)
    try:
        info = play(env)
    finally:
        env.close()
    assert (info["failure"], info["success"]) == (None, True), info["notes"]


def test_a_task_file_is_played_to_its_end(server: str) -> None:
    file = OSWorld.examples.parent / "examples" / "mousepad" / "append-a-line.json"
    solution = Path(__file__).parents[1] / "osworld/files/solutions/mousepad/append-a-line.txt"
    env = UIEnv("OSWorld", task_file=str(file), device=server, viewport=SIZE, timeout=120)
    try:
        env.reset(seed=0)
        for line in [*solution.read_text().splitlines(), "finish()"]:
            observation, _, terminated, _, info = env.step(line)
            assert not observation["feedback"]
        assert (terminated, info["failure"], info["score"]) == (True, None, 1.0), info["notes"]
    finally:
        env.close()


def test_pictures_are_whole_while_another_client_takes_some(server: str) -> None:
    """Its requests all write one file, and send what lies there when they come to it: without a
    second try, some end after 8,192 bytes."""
    device = OSWorldDevice(DeviceOptions(server, SIZE, timeout=120, extra={"settle": "0"}))
    other = OSWorldDevice(DeviceOptions(server, SIZE, timeout=120, extra={"settle": "0"}))
    device.start()
    other.start()
    problems: list[Exception] = []

    def look() -> None:
        try:
            for _ in range(10):
                other.capture()
        except Exception as error:
            problems.append(error)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        for _ in range(10):
            assert device.capture().image.shape == (SIZE[1], SIZE[0], 3)
    finally:
        thread.join(600)
        device.close()
        other.close()
    assert not problems
