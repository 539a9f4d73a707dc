"""The monitor beside a command: its address is told, it ends with the command, it stops nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import eventually

from ui_gym.errors import UserError
from ui_gym.tools import serve
from ui_gym.tools.monitor_child import MonitorChild, port_in, with_port

SHOWS = """
import os, pathlib, sys, time
pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))
print("an index in memory", flush=True)
print("http://127.0.0.1:9/#/run/1", flush=True)
print("x" * 300_000, flush=True)
pathlib.Path(sys.argv[1]).with_suffix(".printed").touch()
time.sleep(60)
"""


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_its_address_is_told_and_it_ends_with_the_block(tmp_path: Path) -> None:
    notes: list[str] = []
    told = tmp_path / "pid"
    with MonitorChild([sys.executable, "-c", SHOWS, str(told)], notes.append):
        assert eventually(lambda: notes)
        # What it prints later is taken from it: a pipe that nobody reads would stop it.
        assert eventually(told.with_suffix(".printed").exists)
        assert alive(int(told.read_text()))
    assert notes == ["monitor: http://127.0.0.1:9/#/run/1"]
    assert eventually(lambda: not alive(int(told.read_text())))


def test_one_that_does_not_start_is_a_warning_that_says_why() -> None:
    notes: list[str] = []
    code = "import sys; sys.exit('error: port 80 is taken')"
    with MonitorChild([sys.executable, "-c", code], notes.append):
        assert eventually(lambda: notes)
    assert notes == [
        "warning: the monitor did not start (error: port 80 is taken); all else goes on"
    ]


def test_it_does_not_outlive_a_command_that_is_killed(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    code = (
        "import sys, time; from ui_gym.tools.monitor_child import MonitorChild\n"
        "child = MonitorChild([sys.executable, '-c', sys.argv[1], sys.argv[2]], print)\n"
        "time.sleep(60)"
    )
    command = subprocess.Popen([sys.executable, "-c", code, SHOWS, str(told)])
    try:
        assert eventually(told.with_suffix(".printed").exists, 20)
    finally:
        command.send_signal(signal.SIGKILL)
        command.wait()
    assert eventually(lambda: not alive(int(told.read_text())))


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["--monitor"], ["--monitor=0"]),
        (["--monitor", "8123", "x"], ["--monitor=8123", "x"]),
        (["--monitor=8123"], ["--monitor=8123"]),
        (["--monitor", "--out", "o"], ["--monitor=0", "--out", "o"]),
        (["serve", "--port", "0"], ["serve", "--port", "0"]),
    ],
)
def test_a_port_may_be_left_out(given: list[str], meant: list[str]) -> None:
    assert with_port(given) == meant


def test_what_is_no_port_is_refused() -> None:
    assert port_in("8123") == 8123
    for text in ("", "http", "70000", "-1"):
        with pytest.raises(UserError, match="takes a port"):
            port_in(text)


def test_a_server_says_where_the_monitor_comes_from(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"pip install 'ui-gym\[agents\]'"):
        serve.serve(monitor=0)
    assert serve.reached("ws://0.0.0.0:7000") == "ws://127.0.0.1:7000"
    assert serve.reached("wss://[::]:7000") == "wss://[::1]:7000"
    assert serve.reached("ws://box:7000") == "ws://box:7000"


def test_a_server_shows_all_its_addresses(tmp_path: Path) -> None:
    """A command of that name beside the Python that serves is what is started."""
    (tmp_path / "bin").mkdir()
    stand_in = tmp_path / "bin" / "ui-gym-monitor"
    stand_in.write_text(
        f'#!/bin/sh\necho "$@" > {tmp_path}/asked\necho http://127.0.0.1:9/\nexec sleep 60\n'
    )
    stand_in.chmod(0o755)
    code = (
        "import sys; sys.executable = sys.argv.pop(1)\n"
        "from ui_gym.tools.cli import main; main(sys.argv[1:])"
    )
    words = [str(tmp_path / "bin" / "python"), "serve", "--port", "0", "--monitor", "8123"]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        lines: list[str] = []
        for line in process.stdout:
            lines.append(line.strip())
            if "monitor: http://127.0.0.1:9/" in lines and any("slots" in s for s in lines):
                break
        served = next(line.partition(": ")[0] for line in lines if "slots" in line)
    finally:
        # Python may miss a signal that comes just as a wait begins: as a person would, ask again.
        for _ in range(5):
            process.send_signal(signal.SIGINT)
            if eventually(lambda: process.poll() is not None, 5):
                break
        process.stdout.close()  # type: ignore[union-attr]
    assert process.poll() is not None
    asked = (tmp_path / "asked").read_text().strip()
    assert asked == f"--port 8123 --with {process.pid} --server {served}"
