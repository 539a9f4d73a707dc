"""`ui-gym phone`: phones for any adb, for as long as the command runs."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import time

import pytest

from ui_gym.android.adb_device import AdbDevice
from ui_gym.contract.device import DeviceOptions

COMMAND = (sys.executable, "-c", "from ui_gym.tools.cli import main; main()", "phone")


def started(*arguments: str) -> tuple[subprocess.Popen[str], list[int]]:
    run = subprocess.Popen(
        (*COMMAND, *arguments), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert run.stdout is not None
    ports = []
    for line in run.stdout:
        ports += [int(port) for port in re.findall(r"127\.0\.0\.1:(\d+)", line)]
        if "Ctrl-C" in line:
            break
    return run, ports


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_phones_are_served_until_the_command_is_ended(number):
    run, ports = started("--port", "0", "--count", "2", "--size", "720x1600")
    try:
        assert len(set(ports)) == 2
        for port in ports:
            phone = AdbDevice(DeviceOptions(f"adb-direct:127.0.0.1:{port}", (360, 800), 10))
            phone.start()
            assert phone.shell("wm size").text == "Physical size: 720x1600"
            assert phone.capture().image.any()
            phone.close()
    finally:
        run.send_signal(number)
        code = run.wait(10)
    assert code in (130, -number, 128 + number)
    for port in ports:
        with socket.socket() as asking:
            assert asking.connect_ex(("127.0.0.1", port)) != 0


def test_a_port_that_is_taken_is_a_mistake_in_the_call():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        run = subprocess.run(
            (*COMMAND, "--port", str(port)), capture_output=True, text=True, timeout=60
        )
    assert run.returncode == 2
    assert str(port) in run.stderr


@pytest.mark.parametrize("size", ["1080", "axb", "10x10", "99999x2"])
def test_a_size_that_cannot_be_is_told(size):
    run = subprocess.run((*COMMAND, "--size", size), capture_output=True, text=True, timeout=60)
    assert run.returncode == 2
    assert "error:" in run.stderr


def test_what_one_client_is_slow_to_say_no_other_waits_for():
    run, (port,) = started("--port", "0")
    slow = AdbDevice(DeviceOptions(f"adb-direct:127.0.0.1:{port}", (360, 800), 10))
    quick = AdbDevice(DeviceOptions(f"adb-direct:127.0.0.1:{port}", (360, 800), 10))
    try:
        slow.start()
        quick.start()
        stream = slow._connection.open("shell,v2,raw:cat", 10)  # waits for input
        time.sleep(0.2)
        assert quick.shell("echo here").text == "here"
        stream.close()
    finally:
        slow.close()
        quick.close()
        run.send_signal(signal.SIGINT)
        run.wait(10)
