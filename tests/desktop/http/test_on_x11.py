"""The server and its clients over a real X session with real applications."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import gymnasium as gym
import pytest
from desktops import play
from PIL import Image

import ui_gym  # noqa: F401  registers the tasks
from ui_gym.contract.action import Click, Press, Type
from ui_gym.contract.device import DeviceOptions
from ui_gym.desktop.device import SessionSpec
from ui_gym.desktop.http.address import TOKEN
from ui_gym.desktop.http.device import OSWorldDevice
from ui_gym.desktop.http.server import DesktopServer
from ui_gym.desktop.pool import DesktopPool

PROGRAMS = ("Xvfb", "openbox", "mousepad", "dbus-daemon")
SIZE = (800, 600)
PREFIX = "import pyautogui; import time; pyautogui.FAILSAFE = False; "

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, PROGRAMS)), reason=f"needs {', '.join(PROGRAMS)}"
)


@pytest.fixture(scope="module")
def server():
    pool = DesktopPool(DeviceOptions("x11", SIZE))
    with DesktopServer(pool, SessionSpec(), port=0, allow_execute=True) as serving:
        yield serving
    pool.close()


@pytest.fixture
def device(server):
    found = OSWorldDevice(DeviceOptions(f"osworld:{server.address}", SIZE))
    found.start()
    yield found
    found.close()


def eventually(look, wanted, seconds=60.0):
    """What `look()` says once that is `wanted`, or in the end."""
    deadline, pause = time.monotonic() + seconds, threading.Event()
    while (seen := look()) != wanted and time.monotonic() < deadline:
        pause.wait(0.05)
    return seen


def test_a_file_is_edited_through_http(device):
    device.renew(SessionSpec(files={"note.txt": b"one\n"}, launch=[["mousepad", "note.txt"]]))
    (window,) = device.windows()
    assert (window.title, window.active) == ("~/note.txt - Mousepad", True)
    left, top, width, height = window.box
    typed = 'it\'s "quoted" \\ <b> ${HOME} `x` naïve'
    device.perform(Click(left + width // 2, top + height // 2))
    device.perform(Press("ctrl+end"))
    device.perform(Type(typed, enter=True))
    device.perform(Press("ctrl+s"))
    said = f"one\n{typed}\n".encode()
    assert eventually(lambda: device.read("note.txt"), said) == said
    device.renew(SessionSpec())
    assert device.windows() == ()
    assert device.read("note.txt") is None


def test_what_is_typed_is_run_nowhere(device, tmp_path):
    here = tmp_path / "canary"
    attack = f"'); __import__('os').system('touch {here} /tmp/canary'); print('"
    device.renew(SessionSpec(launch=[["mousepad"]]))
    (window,) = device.windows()
    left, top, width, height = window.box
    device.perform(Click(left + width // 2, top + height // 2))
    device.perform(Type(attack))
    device.perform(Press("ctrl+a"))
    device.perform(Press("ctrl+c"))
    assert not here.exists()
    assert device.run(["test", "-e", "/tmp/canary"]).code == 1
    # The canary would sing: the same words do run where they are a command.
    assert device.run(["python3", "-c", f"print('{attack}')"]).code == 0
    assert device.run(["test", "-e", "/tmp/canary"]).code == 0
    assert not here.exists()  # and even then not on the host


def test_commands_see_the_desktop_and_not_the_host(device):
    assert device.run(["sh", "-c", "echo $DISPLAY"]).text.startswith(":")
    assert device.run(["ls", str(Path(__file__))]).code != 0
    assert device.run("echo a; exit 3").code == 3


class OSWorldClient:
    """Speaks as OSWorld's controllers do: their routes, bodies and types."""

    def __init__(self, address):
        self.address = address

    def ask(self, path, body=None, kind="application/json", method="POST"):
        headers = {"Content-Type": kind} if body is not None else {}
        request = urllib.request.Request(
            self.address + path, data=body, headers=headers, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def json(self, path, value):
        return self.ask(path, json.dumps(value).encode())

    def form(self, path, pairs):
        return self.ask(path, pairs.encode(), "application/x-www-form-urlencoded")

    def python(self, command):
        return self.json("/execute", {"command": ["python", "-c", PREFIX + command]})

    def upload(self, path, data):
        mark = b"1a2b3c"
        body = (
            b"--" + mark + b'\r\nContent-Disposition: form-data; name="file_path"\r\n\r\n'
            + path.encode() + b"\r\n--" + mark
            + b'\r\nContent-Disposition: form-data; name="file_data"; filename="a.txt"\r\n'
            + b"Content-Type: application/octet-stream\r\n\r\n" + data
            + b"\r\n--" + mark + b"--\r\n"
        )  # fmt: skip
        return self.ask("/setup/upload", body, "multipart/form-data; boundary=1a2b3c")


def test_an_episode_of_osworlds_own_client(server):
    client = OSWorldClient(server.address)
    server.desktop.renew()
    assert client.ask("/platform", method="GET") == (200, b"Linux")
    status, size = client.ask("/screen_size")
    assert (status, json.loads(size)) == (200, {"width": 800, "height": 600})

    uploaded = client.upload("/home/user/Desktop/a.txt", b"one\r\n")
    assert uploaded == (200, b"File Uploaded: 5 bytes")
    command = ["mousepad", "/home/user/Desktop/a.txt"]
    launched = client.json("/setup/launch", {"command": command, "shell": False})
    assert launched == (200, b"mousepad /home/user/Desktop/a.txt launched successfully")
    raised = {"window_name": "a.txt", "strict": False, "by_class": False}
    ok = (200, b"Window activated successfully")
    assert eventually(lambda: client.json("/setup/activate_window", raised), ok) == ok

    status, said = client.python("pyautogui.click(400, 300); pyautogui.hotkey('ctrl', 'End')")
    done = {"status": "success", "output": "", "error": "", "returncode": 0}
    assert (status, json.loads(said)) == (200, done)
    client.python("pyautogui.typewrite('two')")
    client.python("pyautogui.keyDown('ctrl')")
    client.python("pyautogui.press('s')")
    client.python("pyautogui.keyUp('ctrl')")

    def lines():
        return client.form("/file", "file_path=%2Fhome%2Fuser%2FDesktop%2Fa.txt")[1].split()

    assert eventually(lines, [b"one", b"two"]) == [b"one", b"two"]

    status, picture = client.ask("/screenshot", method="GET")
    assert Image.open(io.BytesIO(picture)).size == SIZE
    status, tree = client.json("/list_directory", {"path": "/home/user/Desktop"})
    assert json.loads(tree)["directory_tree"] == {
        "type": "directory", "name": "Desktop", "children": [{"type": "file", "name": "a.txt"}],
    }  # fmt: skip
    status, size = client.form("/window_size", "app_class_name=Mousepad")
    assert json.loads(size)["width"] > 100
    status, said = client.python("import platform; print(platform.system())")
    assert json.loads(said)["output"] == "Linux\n"
    status, said = client.json("/execute", {"command": "echo $((6*7))", "shell": True})
    assert json.loads(said)["output"] == "42\n"
    assert client.json("/setup/close_window", {"window_name": "a.txt"})[0] == 200
    assert client.form("/file", "file_path=%2Fhome%2Fuser%2Fnone")[0] == 404


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_leaves_nothing_behind(number, tmp_path):
    code = "import typer; from ui_gym.desktop.http.cli import serve; typer.run(serve)"
    words = ["--port", "0", "--size", "640x480", "--launch", "mousepad", "--forward", "9222=0"]
    environment = {**os.environ, TOKEN: "correct-horse-battery", "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdout is not None
    said = process.stdout.readline()
    while "Ctrl-C" not in (line := process.stdout.readline()):
        assert line, said  # it has ended
        said += line
    address = re.match(r"http://127\.0\.0\.1:\d+", said)
    assert address, said
    assert "correct-horse" not in said
    children = descendants(process.pid)
    assert len(children) > 2  # an X server, a window manager, an editor
    client = OSWorldClient(address[0])
    assert client.ask("/platform", method="GET")[0] == 401
    process.send_signal(number)
    assert process.wait(60) == 0
    assert eventually(lambda: [pid for pid in children if Path(f"/proc/{pid}").exists()], []) == []
    assert list(tmp_path.iterdir()) == []


def descendants(pid):
    """The processes that a process started, and those that these started."""
    above = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        above[int(path.parent.name)] = int(fields[1])
    found = {pid}
    while more := {child for child, parent in above.items() if parent in found} - found:
        found |= more
    return found - {pid}


def test_a_task_is_played_and_a_lost_desktop_heals(server):
    env = gym.make("UI/DesktopTypeAndSave-v0", device=f"osworld:{server.address}", viewport=SIZE)
    try:
        assert play(env)["success"]
        env.reset(seed=1)
        server.desktop.device.close()
        _, reward, terminated, truncated, info = env.step("click(10, 10)")
        assert (reward, terminated, truncated) == (0.0, False, True)
        assert info["failure"].startswith(f"device: {server.address} answered /execute with 500")
        assert play(env)["success"]
    finally:
        env.close()
