"""Who is let in, what a server answers, and that its clients cannot break it."""

from __future__ import annotations

import http.client
import json
import os
import socket
import stat
import threading

import pytest
from desktops import FakeDesktop
from waiting import eventually

from ui_gym.contract.action import Click, Drag, Press
from ui_gym.desktop.http import server as server_module
from ui_gym.desktop.http.forward import Forwarder
from ui_gym.errors import DeviceStartError, UserError

TOKEN = "correct-horse-battery"


def ask(server, method, path, body=None, headers=(), *, kind="application/json"):
    """(status, body) of one request."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    data = json.dumps(body).encode() if isinstance(body, dict | list) else body
    try:
        connection.request(method, path, data, {"Content-Type": kind, **dict(headers)})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def act(code):
    prefix = "import pyautogui; import time; pyautogui.FAILSAFE = False; "
    return {"command": ["python", "-c", prefix + code], "shell": False}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost"}, 200),
        ({"Host": "localhost:{port}"}, 200),
        ({"Host": "LOCALHOST:{port}"}, 200),
        ({"Host": "[::1]:{port}"}, 200),
        ({"Host": "127.0.0.1:{port}", "Origin": "http://127.0.0.1:{port}"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Host": "evil.example"}, 403),
        ({"Host": "evil.example:{port}"}, 403),
        ({"Host": "127.0.0.1.evil.example:{port}"}, 403),
        ({"Host": "127.0.0.1:1"}, 403),
        ({"Host": "a@127.0.0.1:{port}"}, 403),
        ({"Host": ""}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "https://127.0.0.1:{port}"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
    ids=str,
)
def test_hosts_and_origins_are_exact(headers, status, serve):
    server = serve()
    sent = {name: value.format(port=server.port) for name, value in headers.items()}
    assert ask(server, "GET", "/platform", headers=sent)[0] == status


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (f"Bearer {TOKEN}", 200),
        (f"bearer {TOKEN}", 200),
        (None, 401),
        ("Bearer", 401),
        (f"Bearer {TOKEN}x", 401),
        (f"Bearer {TOKEN[:-1]}", 401),
        (f"Basic {TOKEN}", 401),
        (TOKEN, 401),
    ],
)
def test_a_token_is_wanted_where_there_is_one(said, status, serve):
    headers = {} if said is None else {"Authorization": said}
    assert ask(serve(token=TOKEN), "GET", "/platform", headers=headers)[0] == status


def test_other_hosts_need_a_token(serve):
    with pytest.raises(UserError, match="needs a token: set the environment variable UI_GYM"):
        serve(host="0.0.0.0")
    server = serve(host="0.0.0.0", token=TOKEN)
    allowed = {"Authorization": f"Bearer {TOKEN}"}
    assert ask(server, "GET", "/platform", headers=allowed) == (200, b"Linux")
    local = {**allowed, "Host": f"localhost:{server.port}"}
    assert ask(server, "GET", "/platform", headers=local)[0] == 200
    elsewhere = {**allowed, "Host": "desk.example"}
    assert ask(server, "GET", "/platform", headers=elsewhere)[0] == 403
    named = serve(host="0.0.0.0", token=TOKEN, names=["desk.example"])
    assert ask(named, "GET", "/platform", headers=elsewhere)[0] == 200


def test_a_forwarded_port_is_let_in_where_it_is_named(serve, connect):
    server = serve(names=["localhost:7"])
    assert ask(server, "GET", "/platform", headers={"Host": "localhost:7"})[0] == 200
    assert ask(server, "GET", "/platform", headers={"Host": "localhost:8"})[0] == 403
    assert ask(server, "GET", "/platform", headers={"Host": "127.0.0.1:7"})[0] == 403


def test_short_tokens_are_refused(serve):
    with pytest.raises(UserError, match="16 or more"):
        serve(token="secret")


def test_a_taken_port_is_a_mistake_that_says_so(serve, desktop):
    taken = serve().port
    with pytest.raises(UserError, match=f"127.0.0.1:{taken} cannot be listened at.*--port"):
        serve(port=taken)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/execute", {"command": ["echo", "x"]}),
        ("/setup/execute", {"command": "echo x", "shell": True}),
        ("/execute", {"command": ["python", "-c", "import os; os.getcwd()"]}),
        ("/execute", act("import os; pyautogui.write(os.getcwd())")),
        ("/execute", act("[pyautogui.click(1, 1) for _ in range(9)]")),
        ("/execute", act("pyautogui.screenshot('x.png')")),
        ("/execute_with_verification", {"command": ["echo", "x"]}),
        ("/setup/launch", {"command": ["mousepad"]}),
        ("/run_python_script", {"code": "print(1)"}),
        ("/run_bash_script", {"script": "echo x"}),
    ],
    ids=lambda value: value if isinstance(value, str) else json.dumps(value)[:40],
)
def test_commands_are_refused_without_the_switch(path, body, serve, desktop):
    status, said = ask(serve(), "POST", path, body)
    assert (status, json.loads(said)["status"]) == (403, "error")
    assert "--allow-execute" in json.loads(said)["message"]
    assert (desktop.ran, desktop.launched, desktop.done) == ([], [], [])


def test_commands_are_run_on_the_desktop_with_the_switch(serve, desktop):
    server = serve(allow_execute=True)
    status, said = ask(server, "POST", "/execute", {"command": ["echo", "~/x", "y z"]})
    result = {"output": "/home/user/x y z\n", "error": "", "returncode": 0}
    assert (status, json.loads(said)) == (200, {"status": "success", **result})
    ask(server, "POST", "/execute", {"command": "echo 'a b'"})
    ask(server, "POST", "/execute", {"command": "echo $HOME | cat", "shell": True})
    assert desktop.ran[1:] == [["echo", "a b"], "echo $HOME | cat"]


def test_a_missing_program_is_said_as_osworld_says_it(serve):
    status, said = ask(serve(allow_execute=True), "POST", "/execute", {"command": ["nothing"]})
    message = "[Errno 2] No such file or directory: 'nothing'"
    assert (status, json.loads(said)) == (500, {"status": "error", "message": message})


def test_pyautogui_is_read_rather_than_run(serve, desktop):
    status, said = ask(serve(), "POST", "/execute", act("pyautogui.click(5, 6)"))
    assert (status, json.loads(said)["returncode"]) == (200, 0)
    assert desktop.done == [Click(5, 6)]
    assert desktop.ran == []


def test_a_script_that_cannot_be_done_fails_as_a_program_does(serve, desktop):
    status, said = ask(serve(), "POST", "/execute", act("pyautogui.click(5000, 6)"))
    answer = json.loads(said)
    assert (status, answer["status"], answer["returncode"]) == (200, "success", 1)
    assert "outside the screen" in answer["error"]
    assert desktop.done == []


def test_the_pointer_rests_where_the_last_request_left_it(serve, desktop):
    server = serve()
    ask(server, "POST", "/execute", act("pyautogui.moveTo(30, 40, 0.7, pyautogui.easeInQuad)"))
    ask(server, "POST", "/execute", act("pyautogui.click()"))
    assert desktop.done[-1] == Click(30, 40)
    assert ask(server, "GET", "/cursor_position")[1].strip() == b"[30, 40]"


def test_what_is_held_in_one_request_may_be_let_go_in_another(serve, desktop):
    server = serve()
    for code in ("mouseDown(10, 20)", "moveTo(50, 60)", "mouseUp()"):
        status, said = ask(server, "POST", "/execute", act(f"pyautogui.{code}"))
        assert (status, json.loads(said)["returncode"]) == (200, 0)
    assert desktop.done == [Drag(10, 20, 50, 60)]
    for code in ("keyDown('ctrl')", "press('a')", "keyUp('ctrl')"):
        ask(server, "POST", "/execute", act(f"pyautogui.{code}"))
    assert desktop.done[1:] == [Press("ctrl+a")]


def test_scripts_of_the_longer_routes_answer_in_their_own_way(serve, desktop):
    server = serve(allow_execute=True)
    status, said = ask(server, "POST", "/run_bash_script", {"script": "x", "timeout": 5})
    answer = json.loads(said)
    assert (status, answer["status"], answer["returncode"]) == (200, "error", 127)
    status, said = ask(server, "POST", "/run_python_script", {"code": ""})
    answer = json.loads(said)
    assert (status, answer["error"], answer["returncode"]) == (200, "invalid_request", -1)
    code = "import pyautogui\npyautogui.press('a')"
    answer = json.loads(ask(server, "POST", "/run_python_script", {"code": code})[1])
    assert answer["message"] == "Script executed successfully"
    assert desktop.done == [Press("a")]


def test_a_command_is_verified_by_windows(serve, desktop):
    server = serve(allow_execute=True)
    desktop.launch(["mousepad"])
    body = {"command": ["echo", "x"], "verification": {"window_exists": "MousePad"}}
    status, said = ask(server, "POST", "/execute_with_verification", body)
    assert (status, json.loads(said)["verification"]) == (200, "passed")
    body |= {"verification": {"window_exists": "gimp"}, "max_wait_time": 0.2, "check_interval": 0.1}
    status, said = ask(server, "POST", "/execute_with_verification", body)
    assert (status, json.loads(said)["status"]) == (500, "verification_failed")


@pytest.mark.parametrize("path", ["/etc/passwd", "../../etc/passwd", "~/../x", "/home/user2/x"])
def test_files_elsewhere_are_refused_without_the_switch(path, serve, desktop):
    form = f"file_path={path}".encode()
    kind = "application/x-www-form-urlencoded"
    for allowed, status in ((False, 403), (True, 200)):
        server = serve(allow_execute=allowed)
        desktop.files |= {"/etc/passwd": b"root", "/home/x": b"", "/home/user2/x": b""}
        assert ask(server, "POST", "/file", form, kind=kind)[0] == status


def test_a_link_out_of_the_home_folder_is_followed_before_it_is_judged(serve, desktop):
    server = serve()
    desktop.files["/home/user/link"] = b"secret"
    run = desktop.run

    def resolve(command, **named):
        if command[-1] == "/home/user/link":
            command = [*command[:-1], "/etc/shadow"]
        return run(command, **named)

    desktop.run = resolve
    kind = "application/x-www-form-urlencoded"
    assert ask(server, "POST", "/file", b"file_path=link", kind=kind)[0] == 403


def test_osworlds_home_is_that_of_the_desktop(serve, desktop):
    desktop.home = "/srv/else"
    server = serve()
    desktop.files["/srv/else/a"] = b"1"
    kind = "application/x-www-form-urlencoded"
    for path in ("/home/user/a", "~/a", "$HOME/a", "a"):
        form = f"file_path={path}".encode()
        assert ask(server, "POST", "/file", form, kind=kind) == (200, b"1")


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/nothing", None, 404),
        ("POST", "/screenshot", None, 404),
        ("POST", "/execute", b"{", 400),
        ("POST", "/execute", b"[1]", 400),
        ("POST", "/execute", b"[" * 100_000, 400),
        ("POST", "/execute", {"command": 5}, 400),
        ("POST", "/execute", {"command": []}, 400),
        ("POST", "/execute", {"command": ["a\0b"]}, 400),
        ("POST", "/setup/activate_window", {}, 400),
        ("POST", "/setup/activate_window", {"window_name": 3}, 400),
        ("POST", "/setup/activate_window", {"window_name": "none"}, 404),
        ("POST", "/setup/open_file", {"path": "/nothing"}, 403),
        ("POST", "/setup/open_file", {"path": "~/nothing"}, 404),
        ("POST", "/setup/download_file", {"url": "http://x", "path": "y"}, 501),
        ("POST", "/file", None, 400),
        ("POST", "/setup/upload", None, 400),
        ("POST", "/list_directory", {"path": "~/nothing"}, 400),
        ("POST", "/set_screen_resolution", {"width": 1, "height": 2}, 501),
        ("POST", "/set_screen_resolution", {"width": "wide"}, 400),
        ("POST", "/set_screen_resolution", {"width": 320, "height": 240}, 200),
        ("POST", "/end_recording", None, 400),
        ("POST", "/ui_gym/renew", {"session": 5}, 400),
        ("POST", "/ui_gym/renew", {"session": {"files": {"a": "%"}}}, 400),
        ("POST", "/ui_gym/renew", {"session": {"launch": [5]}}, 400),
        ("POST", "/ui_gym/renew", {"session": {"launch": [[]]}}, 400),
    ],
    ids=lambda value: str(value)[:40],
)
def test_wrong_requests_are_told_so(method, path, body, status, serve):
    server = serve()
    assert ask(server, method, path, body)[0] == status
    assert ask(server, "GET", "/platform")[0] == 200


@pytest.mark.parametrize(
    "body",
    [b"", b"--b", b"--b\r\n\r\n--b--", b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--"],
)
def test_broken_forms_are_told_so(body, serve):
    kind = "multipart/form-data; boundary=b"
    assert ask(serve(), "POST", "/setup/upload", body, kind=kind)[0] == 400


def test_bodies_are_bounded(serve, monkeypatch):
    server = serve()
    big = {"Content-Length": str(server_module.MAX_BODY + 1)}
    assert ask(server, "POST", "/execute", b"", big)[0] == 413
    huge = {"Content-Length": str(server_module.MAX_UPLOAD + 1)}
    assert ask(server, "POST", "/setup/upload", b"", huge)[0] == 413
    assert ask(server, "POST", "/execute", b"", {"Content-Length": "-5"})[0] == 400
    assert ask(server, "POST", "/execute", b"", {"Transfer-Encoding": "chunked"})[0] == 411


def test_more_clients_than_there_is_room_for_are_turned_away(serve, monkeypatch):
    server = serve()
    idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(32)]
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        ask(server, "GET", "/platform")
    for connection in idle:
        connection.close()


def test_a_desktop_that_is_lost_is_made_anew(serve):
    made: list[FakeDesktop] = []

    def make():
        made.append(FakeDesktop())
        return made[-1]

    server = serve(make)
    made[0].lost = True
    status, said = ask(server, "GET", "/screenshot")
    assert (status, json.loads(said)["message"]) == (500, "the desktop is gone")
    assert ask(server, "GET", "/screenshot")[0] == 200
    assert [desktop.closed for desktop in made] == [True, False]
    server.close()
    assert [desktop.closed for desktop in made] == [True, True]


def test_two_requests_that_lose_one_desktop_cost_one_desktop(serve):
    made: list[FakeDesktop] = []

    def make():
        made.append(FakeDesktop())
        return made[-1]

    server = serve(make)
    failed = server.desktop.lent
    server.desktop.lose(failed)
    assert ask(server, "GET", "/screenshot")[0] == 200
    server.desktop.lose(failed)
    assert ask(server, "GET", "/screenshot")[0] == 200
    assert len(made) == 2


def test_a_desktop_that_cannot_be_started_leaves_no_port(desktop, serve):
    def fail(session):
        raise DeviceStartError("install openbox")

    desktop.renew = fail
    with pytest.raises(DeviceStartError, match="install openbox"):
        serve()
    assert desktop.closed


def test_an_error_of_ours_is_an_answer_too(serve, desktop):
    desktop.ui_tree = lambda: 1 / 0
    status, said = ask(serve(), "GET", "/accessibility")
    assert (status, json.loads(said)["message"]) == (500, "ZeroDivisionError: division by zero")


def test_a_closed_server_leaves_no_thread_and_no_port(serve):
    before = set(threading.enumerate())
    server = serve()
    assert ask(server, "GET", "/platform")[0] == 200
    server.close()
    server.close()
    assert eventually(lambda: set(threading.enumerate()) <= before)
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", server.port), 1)


def test_renewing_lets_go_of_what_was_held(serve, desktop):
    server = serve()
    ask(server, "POST", "/execute", act("pyautogui.mouseDown(1, 1)"))
    assert ask(server, "POST", "/ui_gym/renew")[0] == 200
    ask(server, "POST", "/execute", act("pyautogui.click(5, 6)"))
    assert desktop.done == [Click(5, 6)]
    assert desktop.renewed == 2


def test_recordings_want_ffmpeg(serve, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    status, said = ask(serve(), "POST", "/start_recording")
    assert status == 501
    assert "apt-get install ffmpeg" in json.loads(said)["message"]


def test_a_recording_is_what_ffmpeg_made_of_the_pictures(serve, monkeypatch, tmp_path, desktop):
    script = tmp_path / "ffmpeg"
    script.write_text('#!/bin/sh\nfor last; do :; done\ncat > "$last"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    server = serve()
    assert ask(server, "POST", "/start_recording")[0] == 200
    assert ask(server, "POST", "/start_recording")[0] == 400
    status, film = ask(server, "POST", "/end_recording")
    picture = desktop.capture().image.tobytes()
    assert status == 200
    assert len(film) >= len(picture)
    assert film[: len(picture)] == picture
    assert ask(server, "POST", "/end_recording")[0] == 400


def test_a_port_of_the_desktop_is_forwarded_both_ways(desktop):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        desktop.port = listener.getsockname()[1]
        forwarder = Forwarder(desktop.connect, 9222, 0)
        with socket.create_connection(("127.0.0.1", forwarder.port), 5) as near:
            with listener.accept()[0] as far:
                near.sendall(b"there")
                assert far.recv(5) == b"there"
                far.sendall(b"back")
                assert near.recv(4) == b"back"
            assert near.recv(1) == b""  # the end is passed on, too
        forwarder.close()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", forwarder.port), 1)
