"""Other people's ADB clients on the built-in phone: each call of the table, by their own code."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from adb_peers import use_server
from adb_toy import Adb
from client_table import ADBUTILS, APPIUM, DOCS, PPADB, UIAUTOMATOR2, ClientCall, written

from ui_gym_phone.adbd import AdbServer
from ui_gym_phone.handset import Handset


@pytest.fixture
def serial(any_adb: Adb, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A built-in phone, connected to an adb server that clients will use."""
    use_server(monkeypatch, any_adb.port)  # type: ignore[attr-defined]
    with AdbServer(Handset()) as served:
        assert any_adb("connect", served.address).stdout.startswith(b"connected to")
        yield served.address
        any_adb("disconnect", served.address)


def faults(calls: Sequence[ClientCall], device: Callable[[], Any]) -> list[str]:
    """What is not as the table says."""
    found = []
    for call in calls:
        try:
            told = call.ask(device())
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
            fine = bool(call.reason) and call.reason in told
        else:
            fine = not call.reason and told == call.told
        if not fine:
            found.append(f"{call.name}: {told!r}, not {call.reason or call.told!r}")
    return found


def test_adbutils(any_adb: Adb, serial: str) -> None:
    adbutils = pytest.importorskip("adbutils")
    client = adbutils.AdbClient("127.0.0.1", any_adb.port, socket_timeout=30)  # type: ignore[attr-defined]
    assert faults(ADBUTILS, lambda: client.device(serial)) == []


def test_pure_python_adb(any_adb: Adb, serial: str) -> None:
    ppadb = pytest.importorskip("ppadb.client")
    client = ppadb.Client("127.0.0.1", any_adb.port)  # type: ignore[attr-defined]
    assert faults(PPADB, lambda: client.device(serial)) == []


def test_uiautomator2(any_adb: Adb, serial: str, monkeypatch: pytest.MonkeyPatch) -> None:
    uiautomator2 = pytest.importorskip("uiautomator2")
    adbutils = pytest.importorskip("adbutils")
    client = adbutils.AdbClient("127.0.0.1", any_adb.port, socket_timeout=30)  # type: ignore[attr-defined]
    monkeypatch.setattr(adbutils, "adb", client)
    monkeypatch.setenv("ANDROID_SERIAL", serial)
    assert faults(UIAUTOMATOR2, lambda: uiautomator2) == []


def test_appium_adb(any_adb: Adb, serial: str) -> None:
    """Where ``npm install appium-adb`` was run in the folder ``APPIUM_ADB``."""
    folder, node = os.environ.get("APPIUM_ADB", ""), shutil.which("node")
    if not folder or node is None:
        pytest.skip("needs node, and APPIUM_ADB: a folder where appium-adb is installed")
    script, path = Path(__file__).with_name("appium.mjs"), str(any_adb.path)  # type: ignore[attr-defined]
    port = str(any_adb.port)  # type: ignore[attr-defined]
    done = subprocess.run(
        [node, str(script), folder, path, port, serial], capture_output=True, text=True, timeout=300
    )
    assert json.loads(done.stdout or "{}") == APPIUM, done.stderr[-2000:]


def test_the_table_of_the_documentation_is_this_one() -> None:
    text = DOCS.read_text("utf-8")
    assert text == written(text), "run: python tests/android/adb/client_table.py"
