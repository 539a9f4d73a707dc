"""Machines that answer wrongly, late, or not at all."""

from __future__ import annotations

import json
import socket
import threading

import pytest
from desktops import FakeDesktop, badly_behaved, reply

from ui_gym.contract.action import Click, Open, Type
from ui_gym.desktop.http.picture import encode
from ui_gym.errors import (
    ActionError,
    DeviceError,
    DeviceLost,
    DeviceStartError,
    DeviceTimeout,
    UserError,
)

PNG = encode(FakeDesktop().capture().image)


def result(code: int, error: str = "", output: str = "") -> bytes:
    said = {"status": "success", "output": output, "error": error, "returncode": code}
    return json.dumps(said).encode()


class OSWorldMachine:
    """An old OSWorld server: it has the routes of `answers`, and 404 for all others."""

    def __init__(self) -> None:
        self.answers: dict[str, object] = {
            "/screenshot": PNG,
            "/execute": result(1, "ModuleNotFoundError: No module named 'Xlib'"),
        }
        self.asked: list[str] = []

    def __call__(self, connection: socket.socket, path: str) -> None:
        self.asked.append(path)
        answer = self.answers.get(path, (404, b"<h1>Not Found</h1>"))
        if callable(answer):
            answer(connection)
        elif isinstance(answer, tuple):
            reply(connection, answer[1], answer[0])
        else:
            assert isinstance(answer, bytes)
            reply(connection, answer)


@pytest.fixture
def machine():
    return OSWorldMachine()


@pytest.fixture
def started(machine, connect):
    with badly_behaved(machine) as kind:
        yield connect(kind)


def test_a_server_of_old_without_new_routes_is_enough(started, machine):
    assert started.capture().image.shape == (240, 320, 3)
    assert started.home == "/home/user"
    assert started.windows() == ()
    assert "/set_screen_resolution" not in machine.asked  # the size is right


def test_a_screen_that_cannot_be_resized_is_a_mistake(machine, connect):
    with (
        badly_behaved(machine) as kind,
        pytest.raises(UserError, match=r"the screen of .* is 320x240 pixels, not 800x600"),
    ):
        connect(kind, size=(800, 600))
    assert "/set_screen_resolution" in machine.asked


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        ((500, b'{"message": "no display"}'), DeviceError, "answered /screenshot with 500: no dis"),
        (b"", DeviceError, "no PNG file"),
        (b"\xff\xd8\xff\xe0 jpeg", DeviceError, "no PNG file: it begins with"),
        (PNG[: len(PNG) // 2], DeviceError, "half a PNG file"),
        (PNG[:60] + bytes(20) + PNG[80:], DeviceError, "broken PNG file"),
        (encode(FakeDesktop((100, 80)).capture().image), DeviceError, "is 100x80 pixels now"),
        (
            PNG[:16] + (90_000).to_bytes(4, "big") * 2 + PNG[24:],
            DeviceError,
            "says that it is 90000x90000",
        ),
        (lambda c: None, DeviceLost, "ended the connection in its answer to GET /screenshot"),
        (lambda c: reply(c, PNG[:99], length=len(PNG)), DeviceLost, "after 99 bytes"),
        (lambda c: c.sendall(b"SSH-2.0-OpenSSH\r\n\r\n"), DeviceError, "is not HTTP"),
    ],
    ids=[
        "500", "empty", "jpeg", "half", "broken", "resized", "huge", "cut", "cut-body", "ssh",
    ],
)  # fmt: skip
def test_a_bad_screenshot_is_an_error_of_the_device(answer, error, message, started, machine):
    machine.answers["/screenshot"] = answer
    with pytest.raises(error, match=message):
        started.capture()
    machine.answers["/screenshot"] = PNG
    assert started.capture().image.any()  # and it can go on


@pytest.mark.parametrize(
    "torn",
    [
        lambda c: reply(c, PNG[:99], length=len(PNG)),
        lambda c: reply(c, b""),
        lambda c: reply(c, PNG[:60] + bytes(20) + PNG[80:]),
    ],
    ids=["cut", "empty", "mixed"],
)
def test_a_picture_that_somebody_else_wrote_anew_meanwhile_is_asked_for_again(
    torn, started, machine
):
    """OSWorld's server sends its one file while it takes the next picture for another client."""
    answers = iter([torn, torn, lambda c: reply(c, PNG)])
    machine.answers["/screenshot"] = lambda c: next(answers)(c)
    assert started.capture().image.any()
    assert next(answers, None) is None


@pytest.mark.parametrize("without_opencv", [False, True])
def test_a_png_of_noise_is_found_out_by_either_decoder(
    without_opencv, started, machine, monkeypatch
):
    import sys

    if without_opencv:
        monkeypatch.setitem(sys.modules, "cv2", None)
    machine.answers["/screenshot"] = PNG[:45] + bytes(len(PNG) - 57) + PNG[-12:]
    with pytest.raises(DeviceError, match="broken PNG"):
        started.capture()


def test_a_server_that_hangs_is_a_timeout(machine, connect):
    release = threading.Event()
    with badly_behaved(machine) as kind:
        device = connect(kind, timeout=2.0)
        machine.answers["/screenshot"] = lambda c: release.wait(60)
        with pytest.raises(DeviceTimeout, match=r"did not answer GET /screenshot within 2 s"):
            device.capture()
        release.set()


def test_a_server_that_drips_is_a_timeout_too(machine, connect):
    def drip(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        pause = threading.Event()
        while True:
            connection.sendall(b".")
            pause.wait(0.05)

    with badly_behaved(machine) as kind:
        device = connect(kind, timeout=2.0)
        machine.answers["/screenshot"] = drip
        with pytest.raises(DeviceTimeout):
            device.capture()


def test_a_machine_that_is_not_there_cannot_be_started(connect):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(DeviceStartError, match=r"refused.*Is the machine up"):
        connect(f"osworld:http://127.0.0.1:{port}", timeout=0.2)


def test_a_machine_that_still_boots_is_waited_for(machine, connect):
    shown = iter([(b"no screen yet", 500), (PNG, 200)])
    machine.answers["/screenshot"] = lambda c: reply(c, *next(shown))
    with badly_behaved(machine) as kind:
        assert connect(kind).size == (320, 240)
    assert machine.asked.count("/screenshot") == 2


def test_another_web_server_is_told_at_once(machine, connect):
    machine.answers.clear()
    with (
        badly_behaved(machine) as kind,
        pytest.raises(DeviceStartError, match=r"with 404.*OSWorld's server on it"),
    ):
        connect(kind, timeout=30.0)


def test_a_machine_without_a_clipboard_cannot_type_other_text(started, machine):
    machine.answers["/execute"] = result(1, "File pyperclip/__init__.py\nXXX: install xclip")
    with pytest.raises(ActionError, match=r"types ASCII alone.*xclip") as caught:
        started.perform(Type("é"))
    assert caught.value.kind == "runtime"


def test_a_script_that_fails_is_an_error_of_the_device(started, machine):
    machine.answers["/execute"] = result(1, "Traceback...\nXlib.error.DisplayNameError: ''")
    with pytest.raises(DeviceError, match=r"could not act \(exit code 1\).*DisplayNameError"):
        started.perform(Click(1, 1))


def test_a_machine_with_python3_alone_will_do(started, machine):
    missing = b'{"message": "[Errno 2] No such file or directory: \'python\'"}'
    answers = iter([(missing, 500), (result(0), 200)])
    machine.answers["/execute"] = lambda c: reply(c, *next(answers))
    before = machine.asked.count("/execute")
    started.perform(Click(1, 1))
    assert machine.asked.count("/execute") == before + 2


@pytest.mark.parametrize("answer", [b"not json", b"[]", b'{"output": "x"}'])
def test_an_answer_of_the_wrong_type_is_named(answer, started, machine):
    machine.answers["/execute"] = answer
    with pytest.raises(DeviceError, match="answered /execute without an exit code"):
        started.run(["true"])


def test_a_program_that_is_missing_is_exit_code_127(started, machine):
    machine.answers["/execute"] = (500, b'{"message": "[Errno 2] No such file or directory"}')
    assert started.run(["nothing"]).code == 127


def test_the_servers_own_limit_is_a_timeout(started, machine):
    machine.answers["/execute"] = (500, b'{"message": "Command \'x\' timed out after 120 seconds"}')
    with pytest.raises(DeviceTimeout, match=r"x took longer than .* allows"):
        started.run(["x"], timeout=1000)


def test_opening_what_is_not_there_is_feedback(started, machine):
    machine.answers["/execute"] = result(127)
    with pytest.raises(ActionError, match="there is no program 'gimp'"):
        started.perform(Open("gimp"))


def test_warnings_before_the_windows_are_passed_over(started, machine):
    machine.answers["/execute"] = result(0, output="Xlib.xauth: warning\n[]\n")
    assert started.windows() == ()


def test_windows_that_are_told_wrongly_are_an_error(started, machine):
    machine.answers["/execute"] = result(0, output='[{"id": 1}]')
    with pytest.raises(DeviceError, match="a window was told as"):
        started.windows()


@pytest.mark.parametrize("tree", [b"{}", b"[]", b'{"AT": 5}'])
def test_an_accessibility_answer_without_a_tree_is_an_error(tree, started, machine):
    machine.answers["/accessibility"] = tree
    with pytest.raises(DeviceError, match="without a tree"):
        started.elements()


def test_a_screen_that_blinks_is_at_rest(machine, connect):
    other = FakeDesktop().capture().image
    other[100:110, 50] = 0
    pictures = [PNG, encode(other)]
    looks = []

    def blink(connection):
        looks.append(1)
        reply(connection, pictures[len(looks) % 2])

    with badly_behaved(machine) as kind:
        device = connect(kind, settle="30")
        machine.answers["/screenshot"] = blink
        device.settle()
    assert len(looks) == 3
