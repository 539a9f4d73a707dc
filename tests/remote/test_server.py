"""A server lets in whom it should, lends what it has, and says why it does not."""

from __future__ import annotations

import contextlib
import json
import shutil
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tests.fuzz.running import Overheard
from ui_gym.contract.arguments import make_task
from ui_gym.errors import DeviceError, UserError
from ui_gym.playing.vector import UIVectorEnv
from ui_gym.remote import wire
from ui_gym.remote.lending import Lender, ServerLimits
from ui_gym.remote.server import EnvServer
from ui_gym.tools.cli import main

Serve = Callable[..., EnvServer]
Play = Callable[..., UIVectorEnv]

SECRET = "a-token-of-some-length"


def get(server: EnvServer, path: str, **headers: str) -> tuple[int, str]:
    url = server.address.replace("ws", "http", 1) + path
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


# -- who may come in --


def test_a_token_is_wanted_where_there_is_one(
    serve: Serve, play: Play, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    server = serve(token=SECRET)
    for said in ("", SECRET[:-1] + "x"):
        monkeypatch.setenv(wire.TOKEN, said)
        with pytest.raises(UserError, match="the token is missing or wrong") as refused:
            play(server.address).reset(seed=1)
        assert SECRET[:-1] not in str(refused.value)
    monkeypatch.setenv(wire.TOKEN, SECRET)
    play(server.address).reset(seed=1)
    assert get(server, "/capacity")[0] == 401
    assert get(server, "/capacity", Authorization=f"Bearer {SECRET}")[0] == 200
    assert get(server, "/healthz") == (200, "ok\n")
    assert SECRET not in caplog.text


def test_a_server_for_others_needs_a_token() -> None:
    with pytest.raises(UserError, match="needs a token: set the environment variable UI_GYM_SERV"):
        EnvServer(host="0.0.0.0", port=0)


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "http://evil.example"}, {"Host": "evil.example"}, {"Sec-Fetch-Site": "cross-site"}],
    ids=lambda headers: next(iter(headers)),
)
def test_pages_in_a_browser_find_no_way_in(serve: Serve, headers: dict[str, str]) -> None:
    server = serve()
    assert get(server, "/capacity", **headers)[0] == 403
    if "Host" not in headers:  # which this client sends itself
        with (
            pytest.raises(InvalidStatus, match="403"),
            connect(server.address + wire.PATH, additional_headers=headers),
        ):
            pytest.fail("it was let in")
    with connect(server.address + wire.PATH):
        pass  # without them it is let in


def test_over_tls(serve: Serve, play: Play, tmp_path: Path, monkeypatch: Any) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out",
         certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    server = serve(certificate=certificate, key=key)
    assert server.address.startswith("wss://")
    with pytest.raises(DeviceError, match="CERTIFICATE_VERIFY_FAILED"):
        play(server.address).reset(seed=1)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert ssl.create_default_context().get_ca_certs()
    assert play(server.address).reset(seed=[1, 2])[1]["seed"].tolist() == [1, 2]
    with pytest.raises(UserError, match="both a certificate and its key"):
        EnvServer(port=0, certificate=certificate)


# -- what is lent --


def test_only_the_tasks_that_are_named_are_served(serve: Serve, play: Play) -> None:
    server = serve(tasks=["PaintClick"])
    play(server.address, task="PaintClick").reset(seed=1)
    with pytest.raises(UserError, match=r"does not serve 'UI/PaintText-v0'\. Did you mean"):
        play(server.address).reset(seed=1)
    with pytest.raises(UserError, match="PaintClikc"):
        serve(tasks=["PaintClikc"])
    play(serve(tasks=["paint"]).address).reset(seed=1)  # a whole suite


def test_devices_with_addresses_are_lent_to_nobody_who_was_not_allowed(
    serve: Serve, play: Play
) -> None:
    server = serve(devices=["paint:lose_on=x"])
    play(server.address, device="paint:lose_on=x").reset(seed=1)
    for device in ("paint:lose_on=y", "osworld:http://10.0.0.1:5000", "qemu:/etc/passwd"):
        with pytest.raises(UserError, match="lends no device"):
            play(server.address, device=device).reset(seed=1)


def test_tasks_that_read_files_here_are_served_only_by_name() -> None:
    all_tasks, named = Lender(ServerLimits()), Lender(ServerLimits(), ["OSWorld"])
    given = {"task_file": "/etc/hostname"}
    with pytest.raises(UserError, match="does not serve 'UI/OSWorld-v0'"):
        all_tasks.lend("OSWorld", given)
    told = {"id": "UI/OSWorld-v0", "arguments": given, "viewport": (9, 9), "max_steps": 1}
    with pytest.raises(UserError, match="does not serve 'UI/OSWorld-v0'"):
        wire.task_of(told, all_tasks.may_play)
    with pytest.raises(UserError, match="hostname"):
        named.lend("OSWorld", given)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"viewport": (9000, 9000)}, "too large to be lent"),
        ({"viewport": (50_000, 2)}, "viewport is"),
        ({"timeout": 1e300}, "seconds up to 600"),
    ],
)
def test_what_would_take_the_whole_server_is_not_lent(arguments: Any, says: str) -> None:
    with pytest.raises(UserError, match=says):
        Lender(ServerLimits()).lend("PaintText", arguments)


def test_a_task_of_a_screen_that_is_too_large_is_not_lent(serve: Serve, play: Play) -> None:
    task = make_task("PaintText", {})
    task.viewport = (9000, 9000)
    told = wire.describe_task(task)
    with pytest.raises(UserError, match="viewport is"):
        wire.task_of(told | {"viewport": [50_000, 2]}, lambda id: None)
    told = raw_hello(serve().address, told)
    assert "too large to be lent" in told["refused"][1]


def raw_hello(address: str, task: Any) -> Any:
    """What a server says to a client that asks for this task."""
    hello = {
        "protocol": wire.PROTOCOL, "version": wire.VERSION, "session": None, "task": task,
        "arguments": {},
    }  # fmt: skip
    with connect(address + wire.PATH) as socket:
        socket.send(wire.pack(hello))
        return wire.unpack(socket.recv())


def test_a_task_that_is_none_is_refused(serve: Serve) -> None:
    for told in ({"members": []}, [], {"id": 3}):
        assert "refused" in raw_hello(serve().address, told)


def test_attributes_that_are_not_for_clients_are_not_had(serve: Serve, play: Play) -> None:
    env = play(serve().address)
    env.reset(seed=1)
    for name in ("_max_steps", "set_wrapper_attr", "get_wrapper_attr", "draw_seed"):
        with pytest.raises(UserError, match="is not for clients"):
            env.call(name)


def test_slots_and_sessions_are_as_many_as_they_are(serve: Serve, play: Play) -> None:
    server = serve(slots=2)
    first = play(server.address, 2)
    first.reset(seed=1)
    with pytest.raises(DeviceError, match="all 2 slots of this server are lent"):
        play(server.address, 1).reset(seed=1)
    first.close()
    play(server.address, 1).reset(seed=1)
    for _ in range(3):
        play(server.address, 1).get_attr("size") if server.free else None
    assert json.loads(get(server, "/capacity")[1])["slots"] == 2


def test_it_tells_how_it_is(serve: Serve, play: Play) -> None:
    server = serve(slots=5)
    env = play(server.address, 3)
    env.reset(seed=1)
    env.step(["finish()", "wait(0)", "wait(0)"])
    told = json.loads(get(server, "/capacity")[1])
    assert (told["slots"], told["free"], told["sessions"], told["playing"]) == (5, 2, 1, 2)
    lines = dict(line.split() for line in get(server, "/metrics")[1].splitlines() if line[0] != "#")
    assert (lines["ui_gym_calls_total"], lines["ui_gym_slots_free"]) == ("6", "2")
    assert int(lines["ui_gym_bytes_sent_total"]) > 0


def test_the_doctor_looks_at_a_server(
    serve: Serve, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def doctor(url: str) -> tuple[int, list[dict[str, str]]]:
        with pytest.raises(SystemExit) as ended:
            main(["doctor", "--server", url, "--json"])
        return int(ended.value.code or 0), json.loads(capsys.readouterr().out)

    server = serve(slots=5, tasks=["PaintClick"], token=SECRET)
    status, (found,) = doctor(server.address)
    assert (status, found["status"], found["remedy"]) == (1, "fail", f"set {wire.TOKEN} as there")
    monkeypatch.setenv(wire.TOKEN, SECRET)
    status, found = doctor(server.address)
    assert (status, {f["name"]: f["status"] for f in found}) == (
        0, dict.fromkeys(("server", "version", "slots", "tasks"), "ok"),
    )  # fmt: skip
    assert "5 of 5 free" in found[2]["found"]
    assert found[3]["found"] == "UI/PaintClick-v0"
    server.drain()
    assert doctor(server.address)[1][0]["status"] == "warn"
    assert doctor("ws://127.0.0.1:9")[0] == 1


def test_a_port_that_is_taken_is_said(serve: Serve) -> None:
    server = serve()
    with pytest.raises(UserError, match=f"cannot listen at 127.0.0.1:{server.port}"):
        EnvServer(port=server.port)


# -- what clients say --


def test_another_version_is_refused_in_a_sentence(
    serve: Serve, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve()
    env = play(server.address)
    env._fleet._crew.links[0]._hello["version"] = "0.0.9"
    with pytest.raises(UserError, match=r"has ui-gym \S+ \(protocol 1\), and the client 0.0.9"):
        env.reset(seed=1)


def test_other_spaces_are_refused_in_a_sentence(serve: Serve, play: Play) -> None:
    env = play(serve().address)
    env._fleet._crew.links[0]._spaces[0] = "Dict()"
    with pytest.raises(UserError, match="have other spaces than here"):
        env.reset(seed=1)


@pytest.mark.parametrize(
    "said",
    [b"", b"\xc1", wire.pack([1]), wire.pack({"protocol": 1}), wire.pack({"a": 1}), "text",
     wire.pack(np.zeros(3))],
)  # fmt: skip
def test_a_client_that_says_nonsense_is_refused_and_hurts_nobody(
    serve: Serve, play: Play, said: Any
) -> None:
    server = serve()
    with connect(server.address + wire.PATH) as socket:
        socket.send(said)
        try:
            assert "refused" in wire.unpack(socket.recv(timeout=10))
        except ConnectionClosed:
            assert said == "text"
    play(server.address).reset(seed=1)


@pytest.mark.parametrize("arguments", [[], {"pool": 1}, {"render_mode": "human"}, {"boxes": 7}])
def test_arguments_that_cannot_be_are_refused(serve: Serve, play: Play, arguments: Any) -> None:
    server = serve()
    hello = play(server.address)._fleet._crew.links[0]._hello
    with connect(server.address + wire.PATH) as socket:
        socket.send(wire.pack(hello | {"session": None, "arguments": arguments}))
        told = wire.unpack(socket.recv(timeout=10))
    assert told["refused"][0] == "UserError"
    assert server.free == server.limits.slots


def say(socket: Any, said: bytes) -> None:
    socket.send(said)
    socket.recv(timeout=10)


def test_nonsense_after_the_welcome_and_long_messages_end_that_connection_alone(
    serve: Serve, play: Play
) -> None:
    server = serve()
    env = play(server.address)
    env.reset(seed=1)
    hello = env._fleet._crew.links[0]._hello | {"session": None}
    for said in (b"\xc1", wire.pack({"slots": 0}), bytes(2 << 20)):
        with connect(server.address + wire.PATH) as socket:
            socket.send(wire.pack(hello))
            assert "welcome" in wire.unpack(socket.recv(timeout=10))
            with pytest.raises(ConnectionClosed):  # while a long one is sent, or after it
                say(socket, said)
    assert env.step(["wait(0)"] * 2)[3].tolist() == [False, False]


@pytest.mark.parametrize(
    "said",
    [["bye"], np.zeros(0), {"slot": "first", "abandon": 1}, {"get": ["size", [], {}]},
     {"slot": 0, "call": [], "step": "wait(0)"}, {"slot": float("nan"), "ask": 1, "get": []}],
    ids=repr,
)  # fmt: skip
def test_a_message_about_nothing_ends_its_connection_and_is_no_fault_of_the_server(
    serve: Serve, play: Play, said: Any
) -> None:
    server = serve()
    env = play(server.address)
    env.reset(seed=1)
    hello = env._fleet._crew.links[0]._hello | {"session": None}
    with contextlib.closing(Overheard("uvicorn")) as overheard:
        with connect(server.address + wire.PATH) as socket:
            socket.send(wire.pack(hello))
            assert "welcome" in wire.unpack(socket.recv(timeout=10))
            socket.send(wire.pack(said))
            with pytest.raises(ConnectionClosed):
                socket.recv(timeout=10)
        assert get(server, "/healthz")[0] == 200
        overheard.check()
    assert env.step(["wait(0)"] * 2)[3].tolist() == [False, False]


def test_private_names_are_not_for_clients(serve: Serve, play: Play) -> None:
    env = play(serve().address)
    env.reset(seed=1)
    for name in ("_loan", "__class__", "abandon", "disown_pool"):
        with pytest.raises(UserError, match="is not for clients"):
            env.get_attr(name)
    with pytest.raises(UserError, match="'device' of an env on a server cannot come over"):
        env.get_attr("device")


@pytest.mark.parametrize(
    ("workers", "says"),
    [
        ("ws://user:word@h:7000", "an address is seen in logs, so it takes no token"),
        ("ws://h", "said as ws://HOST:PORT"),
        ("ws://h:7003-7000", "the last port comes before the first"),
        ("ws://h:7000-7002,ws://h:7001", "named twice"),
        ("ws://h:7000,ws://h:7000", "a server is named twice"),
        ("wss://h:99999", "said as ws://HOST:PORT"),
        ("wsx://h:7000", "there are no workers 'wsx://h:7000'. Did you mean 'ws'"),
    ],
)
def test_wrong_addresses_are_refused_at_once(play: Play, workers: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        play(workers)


def test_a_server_that_is_not_there_is_named(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui_gym.remote.client.REFUSED_SECONDS", 0.3)
    with pytest.raises(DeviceError, match=r"ws://127\.0\.0\.1:9 is lost: the connection w"):
        play("ws://127.0.0.1:9").reset(seed=1)
