"""The adb server, seen from outside: which device is meant, and what to do if it cannot be used."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from adb_peers import fail, okay, playing, smart_socket, use_server
from adb_toy import Adb
from serving import free_port

from ui_gym.android.adb import binary, shell
from ui_gym.android.adb.server import Listed, ServerConnection, SmartSocket
from ui_gym.android.adb.target import AdbTarget
from ui_gym.errors import DeviceError, DeviceLost, DeviceStartError, DeviceTimeout, UserError
from ui_gym_phone.adbd import AdbServer

Answers = Callable[[str], bytes | None]
ServerIs = Callable[[Answers], AbstractContextManager[None]]


@pytest.fixture
def server_is(monkeypatch: pytest.MonkeyPatch) -> ServerIs:
    """Makes "the adb server" one that answers as it is told."""

    @contextmanager
    def use(answers: Answers) -> Iterator[None]:
        with playing(smart_socket(answers)) as port:
            use_server(monkeypatch, port)
            yield

    return use


def listing(*devices: str) -> Answers:
    """A server that knows these devices, as `adb devices -l` lists them."""

    def answers(request: str) -> bytes:
        if request == "host:version":
            return okay("0029")
        if request == "host:devices-l":
            return okay("".join(f"{device}\n" for device in devices))
        if request.endswith(":features"):
            return okay("shell_v2,cmd")
        return fail("unknown host service")

    return answers


def start(kind: str, timeout: float = 0.3) -> str:
    """The name of the device that is connected to."""
    connection = AdbTarget.parse(kind).connect(timeout, renew=False)
    connection.close()
    return connection.name


GOOD = "R5CT20 device usb:1-1 product:x model:Y device:z transport_id:1"
EMULATOR = "emulator-5554          device product:sdk model:S device:g transport_id:2"
WAITING = "R9AB30                 unauthorized usb:1-2 transport_id:3"
BARRED = (
    "???? no permissions (user in plugdev group; are your udev rules wrong?); see [http://x] usb:1"
)


@pytest.mark.parametrize(
    ("devices", "kind", "serial"),
    [
        ([GOOD], "adb", "R5CT20"),
        ([GOOD, WAITING], "adb", "R5CT20"),
        ([GOOD, EMULATOR], "adb:emulator-5554", "emulator-5554"),
    ],
)
def test_a_device_is_found_by_its_serial_or_as_the_only_one(
    server_is: ServerIs, devices: list[str], kind: str, serial: str
) -> None:
    with server_is(listing(*devices)):
        assert start(kind) == serial


@pytest.mark.parametrize(
    ("devices", "kind", "reason"),
    [
        ([], "adb", "no device is attached.*USB debugging"),
        ([], "adb:R5CT20", "knows no device 'R5CT20'.*USB debugging"),
        ([GOOD], "adb:R5CT21", "knows no device 'R5CT21'. Did you mean 'R5CT20'"),
        ([GOOD, EMULATOR], "adb", "several devices.*adb:R5CT20, adb:emulator-5554"),
        ([WAITING], "adb", "R9AB30 cannot be used, it is unauthorized.*tap 'Allow'"),
        ([BARRED], "adb", "no permissions.*udev rules for Android"),
        (["R1 offline usb:1"], "adb", "R1 cannot be used, it is offline.*boot"),
        (["R1 recovery"], "adb:R1", "it is recovery: boot it into Android"),
        (["R1 host"], "adb:R1", "it is host"),
    ],
)
def test_a_device_that_cannot_be_used_is_told_with_a_remedy(
    server_is: ServerIs, devices: list[str], kind: str, reason: str
) -> None:
    with server_is(listing(*devices)), pytest.raises(DeviceStartError, match=reason):
        start(kind)


def test_a_device_that_is_coming_is_waited_for(server_is: ServerIs) -> None:
    states = iter(["R1 offline", "R1 authorizing", "R1 device"])

    def answers(request: str) -> bytes:
        return listing(next(states) if request == "host:devices-l" else "")(request)

    with server_is(answers):
        assert start("adb", timeout=10) == "R1"


@pytest.mark.parametrize("state", ["offline", "device"])
def test_an_address_that_is_stale_is_disconnected_first(server_is: ServerIs, state: str) -> None:
    asked: list[str] = []

    def answers(request: str) -> bytes:
        asked.append(request)
        if request.startswith("host:connect:"):
            return okay("connected to 127.0.0.1:5555")
        if request.startswith("host:disconnect:"):
            return okay("disconnected 127.0.0.1:5555")
        fresh = "host:connect:127.0.0.1:5555" in asked
        return listing(f"127.0.0.1:5555 {'device' if fresh else state}")(request)

    with server_is(answers):
        AdbTarget.parse("adb:127.0.0.1:5555").connect(5, renew=state == "device").close()
    done = [request for request in asked if "connect:" in request]
    assert done == ["host:disconnect:127.0.0.1:5555", "host:connect:127.0.0.1:5555"]


@pytest.mark.parametrize("left", [0, 3])
def test_an_address_that_is_still_being_taken_out_is_waited_for(
    server_is: ServerIs, left: int
) -> None:
    """A server says "disconnected" before it is: until then, it is "already connected" there."""
    asked: list[str] = []

    def answers(request: str) -> bytes:
        asked.append(request)
        connects = asked.count("host:connect:127.0.0.1:5555")
        looks = asked.count("host:devices-l")
        if request.startswith("host:connect:"):
            return okay(f"{'already ' * (connects == 1)}connected to 127.0.0.1:5555")
        if request.startswith("host:disconnect:"):
            return okay("disconnected 127.0.0.1:5555")
        if connects == 1 and looks > left + 1:
            return listing("")(request)
        return listing(f"127.0.0.1:5555 {'device' if connects > 1 else 'offline'}")(request)

    with server_is(answers):
        AdbTarget.parse("adb:127.0.0.1:5555").connect(5, renew=True).close()
    assert asked.count("host:disconnect:127.0.0.1:5555") == 1
    assert asked.count("host:connect:127.0.0.1:5555") == 2


def test_an_address_that_the_server_connected_anew_itself_is_used(server_is: ServerIs) -> None:
    states = iter(["offline", "offline", "connecting", *["device"] * 9])
    asked: list[str] = []

    def answers(request: str) -> bytes:
        asked.append(request)
        if request.startswith("host:connect:"):
            return okay("already connected to 127.0.0.1:5555")
        if request.startswith("host:disconnect:"):
            return okay("disconnected 127.0.0.1:5555")
        state = next(states) if request == "host:devices-l" else ""
        return listing(f"127.0.0.1:5555 {state}")(request)

    with server_is(answers):
        AdbTarget.parse("adb:127.0.0.1:5555").connect(5, renew=True).close()
    assert asked.count("host:connect:127.0.0.1:5555") == 1


def test_an_address_where_nobody_answers_is_told(
    any_adb: Adb, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_server(monkeypatch, any_adb.port)
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
    with pytest.raises(DeviceStartError, match=f"adb cannot connect to 127.0.0.1:{port}"):
        start(f"adb:127.0.0.1:{port}", timeout=10)


def test_a_device_that_goes_is_lost_by_its_name(server_is: ServerIs) -> None:
    def answers(request: str) -> bytes:
        if request.startswith("host:transport:"):
            return fail("device 'R5CT20' not found")
        return listing(GOOD)(request)

    with server_is(answers):
        connection = ServerConnection(SmartSocket(), "R5CT20", 5)
        with pytest.raises(DeviceLost, match="R5CT20 is gone"):
            shell.run(connection, "ls", 5)


@pytest.mark.parametrize(
    ("answer", "error", "reason"),
    [
        (b"HTTP", DeviceLost, "is no adb server: it answered b'HTTP'"),
        (b"OKAYzzzz", DeviceLost, "is no adb server: it answered b'zzzz'"),
        (b"OK", DeviceLost, "too early"),
        (None, DeviceLost, "too early"),
        (b"OKAY00ffabc", DeviceLost, "too early"),
        (fail("no such thing"), DeviceError, "adb: no such thing"),
    ],
)
def test_a_server_that_is_none_is_told(
    monkeypatch: pytest.MonkeyPatch,
    answer: bytes | None,
    error: type[DeviceError],
    reason: str,
) -> None:
    def play(sock: socket.socket) -> None:
        sock.recv(100)
        sock.sendall(answer or b"")

    with playing(play) as port:
        use_server(monkeypatch, port)
        with pytest.raises(error, match=reason):
            SmartSocket().ask("host:version", 5)


def test_a_server_that_hangs_is_given_up(server_is: ServerIs) -> None:
    with server_is(lambda request: b""), pytest.raises(DeviceTimeout, match=r"0\.2 s"):
        SmartSocket().devices(0.2)


def test_a_server_that_is_killed_in_mid_call_is_lost(
    adb: Adb, served: AdbServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_server(monkeypatch, adb.port)
    adb("connect", served.address)
    connection = ServerConnection(SmartSocket(), served.address, 10)
    with connection.open("shell,v2,raw:hang", 10) as stream:
        adb("kill-server")
        with pytest.raises(DeviceLost):
            stream.read(1)
    with pytest.raises(DeviceLost, match="no adb server answers"):
        shell.run(connection, "ls", 10)
    # Whoever comes next starts another.
    monkeypatch.setattr("ui_gym.android.adb.server.find_adb", lambda: str(adb.path))
    SmartSocket().ensure(20)
    assert SmartSocket().devices(10) == []


def test_the_real_server_lists_what_it_knows(attached: str) -> None:
    assert Listed(attached, "device") in SmartSocket().devices(10)


# -- where the server and the program are --


@pytest.mark.parametrize(
    ("variables", "host", "port"),
    [
        ({}, "127.0.0.1", 5037),
        ({"ANDROID_ADB_SERVER_PORT": "6000"}, "127.0.0.1", 6000),
        ({"ANDROID_ADB_SERVER_ADDRESS": "farm", "ANDROID_ADB_SERVER_PORT": "1"}, "farm", 1),
        ({"ADB_SERVER_SOCKET": "tcp:6001", "ANDROID_ADB_SERVER_PORT": "1"}, "127.0.0.1", 6001),
        ({"ADB_SERVER_SOCKET": "tcp:farm:6002"}, "farm", 6002),
        ({"ADB_SERVER_SOCKET": "tcp:[::1]:6002"}, "::1", 6002),
    ],
)
def test_the_servers_address_is_adbs_own(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], host: str, port: int
) -> None:
    for name in ("ADB_SERVER_SOCKET", "ANDROID_ADB_SERVER_ADDRESS", "ANDROID_ADB_SERVER_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    server = SmartSocket()
    assert (server.host, server.port) == (host, port)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ADB_SERVER_SOCKET", "localfilesystem:/tmp/x"),
        ("ANDROID_ADB_SERVER_PORT", "x"),
        ("ANDROID_ADB_SERVER_PORT", "70000"),
    ],
)
def test_an_address_that_says_nothing_is_told(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UserError, match=value):
        SmartSocket()


def test_without_an_adb_its_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    use_server(monkeypatch, free_port())
    monkeypatch.setattr("ui_gym.android.adb.server.find_adb", lambda: None)
    with pytest.raises(DeviceStartError, match="apt-get install adb"):
        start("adb")


def test_another_program_on_the_servers_port_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with playing(lambda sock: sock.sendall(b"220 mail.example ESMTP")) as port:
        use_server(monkeypatch, port)
        with pytest.raises(DeviceStartError, match=f"127.0.0.1:{port} is no adb server"):
            start("adb")


def test_a_server_elsewhere_is_never_started_here(monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    monkeypatch.setenv("ADB_SERVER_SOCKET", f"tcp:127.0.0.2:{port}")
    with pytest.raises(DeviceStartError, match=f"answers at 127.0.0.2:{port}.*Start one there"):
        start("adb")


def test_an_adb_that_fails_is_quoted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "platform-tools" / "adb"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho it is broken >&2\nexit 1\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    use_server(monkeypatch, free_port())
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("ANDROID_HOME", str(tmp_path))
    with pytest.raises(DeviceStartError, match="it is broken"):
        start("adb")


def test_an_adb_is_found_on_the_path_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "platform-tools"):
        folder.mkdir(exist_ok=True)
        (folder / "adb").touch(mode=0o755)
    monkeypatch.setenv("ANDROID_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    assert binary.find_adb() == str(tmp_path / "adb")
    monkeypatch.setenv("PATH", "/nowhere")
    assert binary.find_adb() == str(tmp_path / "platform-tools" / "adb")


# -- what is written for a device --


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("adb", AdbTarget()),
        ("adb:R5CT20", AdbTarget("R5CT20")),
        ("adb:emulator-5554", AdbTarget("emulator-5554")),
        ("adb:phone.local:5555", AdbTarget("phone.local:5555", "phone.local", 5555)),
        ("adb:[::1]:5555", AdbTarget("[::1]:5555", "::1", 5555)),
        ("adb-direct:127.0.0.1:5555", AdbTarget("127.0.0.1:5555", "127.0.0.1", 5555, True)),
    ],
)
def test_a_device_is_named_as_it_is_written(kind: str, target: AdbTarget) -> None:
    assert AdbTarget.parse(kind) == target


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("usb", "no way 'usb'.*'adb'"),
        ("adb-direct", "adb-direct:HOST:PORT"),
        ("adb-direct:phone", "adb-direct:HOST:PORT"),
        ("adb-direct:phone:99999", "adb-direct:HOST:PORT"),
        ("adb:phone:x", "adb:HOST:PORT"),
    ],
)
def test_a_device_that_is_written_wrongly_is_told(kind: str, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        AdbTarget.parse(kind)
