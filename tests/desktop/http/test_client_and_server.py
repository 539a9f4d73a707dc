"""The `osworld:` device against our own server, over a desktop in memory."""

from __future__ import annotations

import os
import socket
import threading

import pytest

from ui_gym.contract.action import Click, Drag, LongPress, Move, Open, Press, Scroll, Type, Wait
from ui_gym.desktop.device import DesktopDevice, SessionSpec
from ui_gym.desktop.http.address import TOKEN
from ui_gym.errors import ActionError, DeviceError, DeviceLost, DeviceTimeout, UserError


def test_the_device_is_a_desktop_device(serve, connect):
    assert isinstance(connect(serve()), DesktopDevice)


@pytest.mark.parametrize(
    "action",
    [
        Click(10, 20),
        Click(10, 20, button="right"),
        Click(10, 20, count=3),
        Click(10, 20, keys="ctrl+shift"),
        LongPress(30, 40, seconds=0.5),
        Move(1, 2),
        Drag(1, 2, 100, 90, seconds=0.6),
        Scroll(50, 60, dy=300),
        Scroll(50, 60, dy=-100),
        Scroll(50, 60, dx=200),
        Type("plain"),
        Type("quotes ' \" and \\ and ``` and {braces} and % # ; $HOME"),
        Type("line\n"),
        Type("", enter=True),
        Press("enter"),
        Press("ctrl+shift+t"),
        Press("pageup"),
        Press("+"),
        Wait(0.01),
    ],
    ids=str,
)
def test_an_action_arrives_as_it_was_meant(action, serve, connect, desktop):
    connect(serve()).perform(action)
    expected = [] if isinstance(action, Wait) else [action]
    if isinstance(action, Type):
        # Enter is a key of its own there, and so is the newline at the end of a text.
        text, enter = action.text.removesuffix("\n"), action.text.endswith("\n")
        expected = [Press("enter")] if action.enter else [Type(text, enter=enter)]
    assert desktop.done == expected


def test_text_beyond_ascii_is_pasted(serve, connect, desktop):
    connect(serve()).perform(Type("naïve 🎈"))
    assert desktop.done == [Type("naïve 🎈")]


def test_a_less_than_sign_goes_by_its_keys(serve, connect, desktop):
    connect(serve()).perform(Type("a<b"))
    connect(serve()).perform(Press("ctrl+<"))
    assert desktop.done == [Type("a"), Press("shift+,"), Type("b"), Press("ctrl+shift+,")]


def test_clearing_a_field_selects_all_and_deletes(serve, connect, desktop):
    connect(serve()).perform(Type("new", clear=True, enter=True))
    said = [Press("ctrl+a"), Press("delete"), Type("new"), Press("enter")]
    assert desktop.done == said


def test_a_wrong_key_is_refused_before_anything_is_done(serve, connect, desktop):
    with pytest.raises(ActionError, match="there is no key 'hyperspace'"):
        connect(serve()).perform(Press("hyperspace"))
    assert desktop.done == []


def test_what_a_model_types_is_never_run(tmp_path, serve, connect, desktop):
    canary = tmp_path / "canary"
    attack = f"'); __import__('pathlib').Path({str(canary)!r}).touch(); pyautogui.write('"
    connect(serve(allow_execute=True)).perform(Type(attack))
    assert desktop.done == [Type(attack)]
    assert not canary.exists()
    assert desktop.ran == []


def test_a_program_is_opened_by_its_name_alone(serve, connect, desktop):
    device = connect(serve())
    device.perform(Open("mousepad"))
    assert desktop.done == [Open("mousepad")]
    with pytest.raises(ActionError, match="no name of a program"):
        device.perform(Open("mousepad; rm -rf /"))
    with pytest.raises(ActionError, match="there is no 'nothing'"):
        device.perform(Open("nothing"))


def test_a_picture_comes_exact_into_the_array_that_is_given(serve, connect, desktop):
    import numpy as np

    out = np.empty((240, 320, 3), np.uint8)
    frame = connect(serve()).capture(out)
    assert frame.image is out
    assert (out == desktop.capture().image).all()
    assert frame.format == "png"
    assert frame.encoded.startswith(b"\x89PNG")


def test_pictures_decode_the_same_without_opencv(monkeypatch, serve, connect, desktop):
    import sys

    device = connect(serve())
    monkeypatch.setitem(sys.modules, "cv2", None)
    assert (device.capture().image == desktop.capture().image).all()


def test_elements_come_with_a_picture(serve, connect):
    frame = connect(serve()).capture(elements=True)
    assert [(e.role, e.box) for e in frame.elements] == [
        ("window", (0, 0, 320, 240)),
        ("terminal", (10, 20, 300, 200)),
    ]


def test_files_go_there_and_back_to_the_byte(serve, connect, desktop):
    device = connect(serve())
    data = os.urandom(100_000) + b"\r\n--\r\n\n\r\x00" + bytes(range(256))
    device.write("notes/a file.bin", data)
    assert desktop.files == {"/home/user/notes/a file.bin": data}
    assert device.read("notes/a file.bin") == data
    assert device.read("/home/user/notes/a file.bin") == data
    assert device.read("nothing") is None
    device.write("empty", b"")
    assert device.read("empty") == b""


def test_windows_are_told_raised_and_closed(serve, connect, desktop):
    device = connect(serve())
    desktop.launch(["mousepad"])
    (window,) = device.windows()
    assert (window.title, window.app, window.box) == ("mousepad 1", "Mousepad", (0, 0, 100, 50))
    assert device.activate_window("Mousepad", strict=True, by_class=True)
    assert not device.activate_window("gimp")
    assert device.window_size("mousepad") == (100, 50)
    assert device.window_size("gimp") is None
    assert device.close_window("mousepad")
    assert not device.close_window("mousepad")
    assert device.windows() == ()


def test_commands_run_where_they_are_allowed(serve, connect, desktop):
    device = connect(serve(allow_execute=True))
    desktop.programs.add("timeout")
    device.run(["echo", "a b"], cwd="sub", env={"K": "v"})
    line = ["timeout", "-k", "2", "30", "env", "-C", "/home/user/sub", "K=v", "echo", "a b"]
    assert line in desktop.ran
    device.launch(["mousepad", "file"])
    assert desktop.launched == [["mousepad", "file"]]
    with pytest.raises(DeviceError, match=r"No such file or directory: 'nothing'"):
        device.launch(["nothing"])


def test_commands_are_refused_where_they_are_not(serve, connect, desktop):
    device = connect(serve())
    with pytest.raises(DeviceError, match="start it with --allow-execute"):
        device.run(["echo", "a"])
    with pytest.raises(DeviceError, match="start it with --allow-execute"):
        device.launch(["mousepad"])
    assert desktop.ran == []
    assert desktop.launched == []


def test_a_session_is_renewed_on_our_own_server(serve, connect, desktop):
    device = connect(serve(allow_execute=True))
    desktop.launch(["old"])
    session = SessionSpec({"a.txt": b"x\xff"}, [["mousepad", "a.txt"]], {"mousepad": "m"}, True)
    device.renew(session)
    assert desktop.files == {"/home/user/a.txt": b"x\xff"}
    assert [window.title for window in device.windows()] == ["mousepad 2"]
    assert desktop.session.packages == {"mousepad": "m"}
    assert desktop.session.accessible
    device.renew(SessionSpec())
    assert device.windows() == ()


def test_a_session_without_programs_needs_no_permission(serve, connect, desktop):
    device = connect(serve())
    device.renew(SessionSpec(files={"a.txt": b"x"}))
    assert desktop.files == {"/home/user/a.txt": b"x"}
    with pytest.raises(DeviceError, match="start the server with --allow-execute"):
        device.renew(SessionSpec(launch=[["mousepad"]]))
    with pytest.raises(DeviceError, match="neither in the home folder nor in /tmp"):
        device.renew(SessionSpec(files={"/etc/cron.d/x": b"x"}))
    assert desktop.launched == []


def test_the_terminal_and_the_screen_are_told(serve, connect):
    device = connect(serve())
    assert device.terminal_output() == "$ ls"
    assert device.screen_size() == (320, 240)
    assert device.wallpaper() is None
    assert device.home == "/home/user"


def test_a_port_of_the_machine_is_reached_where_it_is_forwarded(serve, connect):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        device = connect(f"osworld:{serve().address}?9222={port}")
        with device.connect(9222) as near, listener.accept()[0] as far:
            near.sendall(b"hello")
            assert far.recv(5) == b"hello"
    with pytest.raises(DeviceError, match=f"nothing listens at 127.0.0.1:{port}"):
        device.connect(9222)


def test_a_screen_of_another_size_is_a_mistake_that_names_both(serve, connect):
    with pytest.raises(UserError, match=r"320x240 pixels, not 640x480.*viewport=\(320, 240\)"):
        connect(serve(), size=(640, 480))


def test_a_wrong_or_missing_token_is_told(monkeypatch, serve, connect):
    server = serve(token="correct-horse-battery")
    with pytest.raises(DeviceError, match=f"with 401.*{TOKEN}"):
        connect(server)
    monkeypatch.setenv(TOKEN, "wrong-horse-battery-1")
    with pytest.raises(DeviceError, match="with 401") as caught:
        connect(server)
    assert "wrong-horse" not in str(caught.value)
    monkeypatch.setenv(TOKEN, "correct-horse-battery")
    assert connect(server).screen_size() == (320, 240)


def test_closing_ends_a_call_in_progress(serve, connect, desktop):
    device = connect(serve())
    going, release = threading.Event(), threading.Event()
    capture = desktop.capture

    def slow(*args, **named):
        going.set()
        release.wait(60)
        return capture(*args, **named)

    desktop.capture = slow
    caught: list[BaseException] = []

    def look():
        try:
            device.capture()
        except BaseException as error:
            caught.append(error)

    looking = threading.Thread(target=look)
    looking.start()
    assert going.wait(60)
    device.close()
    looking.join(60)
    release.set()
    assert not looking.is_alive()
    assert isinstance(caught[0], DeviceLost)
    with pytest.raises(DeviceLost):
        device.capture()


def test_a_command_that_takes_too_long_is_a_timeout(serve, connect, desktop, monkeypatch):
    device = connect(serve(allow_execute=True))
    run = desktop.run

    def late(command, **named):
        if "sleep" in command:
            raise DeviceTimeout("late")
        return run(command, **named)

    monkeypatch.setattr(desktop, "run", late)
    with pytest.raises(DeviceTimeout, match="sleep 200 took longer"):
        device.run(["sleep", "200"])
