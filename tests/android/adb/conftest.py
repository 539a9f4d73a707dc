"""A served toy, the adbs of this machine with servers of their own, and a look at what is left."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parent))

from adb_peers import use_server
from adb_toy import Adb, Toy, adbs, options
from waiting import eventually

from ui_gym.android.adb.direct import DirectConnection
from ui_gym.android.adb.server import ServerConnection, SmartSocket
from ui_gym.android.adb.stream import AdbConnection
from ui_gym.android.adb_device import AdbDevice
from ui_gym_phone.adbd import AdbServer


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """No thread and no socket outlives a test."""
    before = _sockets()
    yield
    assert eventually(lambda: not [t for t in threading.enumerate() if "adbd" in t.name])
    assert eventually(lambda: _sockets() <= before), _sockets() - before


def _sockets() -> set[str]:
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue
        if target.startswith("socket:"):
            found.add(target)
    return found


@pytest.fixture
def toy() -> Iterator[Toy]:
    made = Toy()
    yield made
    made.go.set()


@pytest.fixture
def served(toy: Toy) -> Iterator[AdbServer]:
    with AdbServer(toy) as server:
        yield server
        toy.go.set()


@pytest.fixture
def direct(served: AdbServer) -> Iterator[DirectConnection]:
    connection = DirectConnection("127.0.0.1", served.port, 10)
    yield connection
    connection.close()


@pytest.fixture(params=["direct", "server"])
def connection(request: pytest.FixtureRequest, served: AdbServer) -> Iterator[AdbConnection]:
    """The toy over either transport."""
    if request.param == "direct":
        made: AdbConnection = DirectConnection("127.0.0.1", served.port, 10)
    else:
        serial = request.getfixturevalue("attached")
        made = ServerConnection(SmartSocket(), serial, 10)
    yield made
    made.close()


@pytest.fixture(scope="session", params=["29", "36"])
def adb(request: pytest.FixtureRequest) -> Iterator[Adb]:
    """Runs an adb of this generation, whose server has a port of its own; ``.port`` tells it."""
    path = next((p for v, p in adbs().items() if abs(int(v) - int(request.param)) < 4), None)
    if path is None:
        pytest.skip(f"no adb of about version {request.param}; {sorted(adbs())} are here")
    yield from _adb(path)


@pytest.fixture(scope="session")
def any_adb() -> Iterator[Adb]:
    found = adbs()
    if not found:
        pytest.skip("no adb: apt-get install adb, or pip install adbutils")
    yield from _adb(found[min(found, key=int)])  # newer ones take seconds to start


def _adb(path: Path) -> Iterator[Adb]:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]

    def run(*words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        command = [path, "-P", str(port), *words]
        return subprocess.run(command, input=stdin, capture_output=True, timeout=60)

    with pytest.MonkeyPatch.context() as patch:
        # It looks for emulators on these ports, where other tests' devices may be.
        patch.setenv("ADB_LOCAL_TRANSPORT_MAX_PORT", "5554")
        patch.setenv("ADB_MDNS", "0")
        run.port = port  # type: ignore[attr-defined]
        run.path = path  # type: ignore[attr-defined]
        with open(os.devnull, "wb") as nowhere:
            subprocess.run(
                [path, "-P", str(port), "start-server"], stdout=nowhere, stderr=nowhere, timeout=60
            )
        yield run
        run("kill-server")
        assert eventually(lambda: not _listens(port))


def _listens(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def attached(any_adb: Adb, served: AdbServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The served toy, connected to an adb server that ours will use: its serial."""
    use_server(monkeypatch, any_adb.port)  # type: ignore[attr-defined]
    said = any_adb("connect", served.address).stdout.decode()
    assert re.match("connected to", said), said
    yield served.address
    any_adb("disconnect", served.address)


@pytest.fixture
def device(served: AdbServer) -> Iterator[AdbDevice]:
    """The toy as a device that is started."""
    made = AdbDevice(options(f"adb-direct:{served.address}"))
    made.start()
    yield made
    made.close()
