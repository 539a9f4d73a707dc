"""Sandboxes: what programs there see, what they may use, and that they end."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from waiting import eventually

from ui_gym.desktop.x11 import confinement as module
from ui_gym.desktop.x11 import supervisor
from ui_gym.desktop.x11.confinement import best_confinement
from ui_gym.desktop.x11.sandbox import Sandbox
from ui_gym.errors import DeviceError, DeviceLost, DeviceStartError, DeviceTimeout

CONFINEMENTS = ["bubblewrap", "user"]


@pytest.fixture(params=CONFINEMENTS)
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    if request.param == "user" and os.geteuid():
        pytest.skip("another user takes root")
    made = Sandbox({"LANG": "C.UTF-8"}, confinement=request.param)
    yield made
    made.close()


@pytest.fixture
def confined() -> Iterator[Sandbox]:
    made = Sandbox({}, confinement="bubblewrap")
    yield made
    made.close()


def test_nobody_in_a_sandbox_makes_namespaces_of_his_own(
    confined: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not module.forbids_namespaces():
        pytest.skip("this bubblewrap cannot forbid them, or Google Chrome needs them")
    attempt = ["unshare", "--user", "true"]
    told = confined.run(attempt)
    assert told.code != 0, told
    monkeypatch.setattr(module, "forbids_namespaces", lambda: False)
    with contextlib.closing(Sandbox({}, confinement="bubblewrap")) as unforbidden:
        told = unforbidden.run(attempt)
    assert told.code == 0, told  # without the wall they are made


def test_a_command_tells_its_output_and_its_code(box: Sandbox) -> None:
    result = box.run("echo out; echo err >&2; exit 3")
    assert (result.stdout, result.stderr, result.code) == (b"out\n", b"err\n", 3)
    assert box.run(["printf", "%s", "a b"]).text == "a b"
    assert box.run(["no-such-program"]).code == 127


def test_a_command_runs_in_the_home_folder_with_its_environment(box: Sandbox) -> None:
    assert box.run("pwd; echo $HOME; echo $EXTRA", env={"EXTRA": "1"}).text.split() == [
        box.home,
        box.home,
        "1",
    ]
    box.run("mkdir sub")
    assert box.run("pwd", cwd="sub").text == f"{box.home}/sub"


def test_files_are_written_with_their_folders_and_read_back(box: Sandbox) -> None:
    data = bytes(range(256)) * 5000
    box.write("a/b/c.bin", data, mtime=1_700_000_000)
    assert box.read("a/b/c.bin") == data
    assert box.run("stat -c %Y a/b/c.bin").text == "1700000000"
    assert box.read("a/b") is None
    assert box.read("nothing") is None
    box.run("chmod 000 a/b/c.bin")
    assert box.read("a/b/c.bin") is None


def test_what_cannot_be_written_says_why(box: Sandbox) -> None:
    with pytest.raises(DeviceError, match=r"cannot write /etc/x: (Permission denied|Read-only)"):
        box.write("/etc/x", b"")


def test_a_command_that_takes_too_long_is_ended(box: Sandbox) -> None:
    with pytest.raises(DeviceTimeout, match=r"sleep 99.*did not end within 0\.3 s"):
        box.run("sleep 99", timeout=0.3)
    assert eventually(lambda: box.run("pgrep -u $(id -u) -x sleep").text == "")


def test_commands_run_side_by_side(box: Sandbox) -> None:
    waiting = threading.Thread(
        target=box.run, args=("while [ ! -e go ]; do sleep 0.05; done; echo done > gone",)
    )
    waiting.start()
    box.write("go", b"")
    waiting.join(timeout=20)
    assert box.read("gone") == b"done\n"


def test_more_output_than_is_kept_ends_the_command(box: Sandbox) -> None:
    result = box.run("yes", timeout=60)
    assert result.code != 0
    assert len(result.stdout) < 80 << 20


def test_the_steward_is_out_of_reach(confined: Sandbox) -> None:
    """Who answers our questions cannot be stopped, ended, read, or be replaced."""
    confined.run("kill -STOP 1; kill -KILL 1; kill -9 -1; kill -STOP -1")
    confined.write("notes.txt", b"true")
    steal = (
        "import ctypes, os; libc = ctypes.CDLL(None, use_errno=True)\n"
        "for fd in range(20):\n"
        "    got = libc.syscall(438, os.pidfd_open(1), fd, 0)  # pidfd_getfd\n"
        "    print('stolen' if got >= 0 else 'refused')\n"
        "own = os.open('notes.txt', os.O_RDONLY)\n"
        "print(libc.syscall(438, os.pidfd_open(os.getpid()), own, 0) >= 0)\n"
        "try: print(open('/proc/1/mem', 'rb').read(1))\n"
        "except OSError: print('closed')\n"
    )
    said = confined.run([module.interpreter(), "-c", steal]).text.splitlines()
    assert set(said[:20]) == {"refused"}
    assert said[20:] == ["True", "closed"]  # of one's own process it can be taken
    assert confined.read("notes.txt") == b"true"


def test_what_is_no_file_is_not_read_and_not_written(box: Sandbox) -> None:
    box.run(
        "mkfifo pipe; ln -s /dev/zero endless; ln -s loop loop; truncate -s 900M large; mkdir d"
    )
    for name in ("pipe", "endless", "loop", "large", "d", "d/none"):
        assert box.read(name) is None, name
    for name in ("pipe", "d", "loop"):
        with pytest.raises(DeviceError, match="cannot write"):
            box.write(name, b"x")


@pytest.mark.parametrize(
    ("command", "cwd", "code"),
    [(["./text"], None, 126), (["true"], "text", 126), (["true"], "gone", 127),
     (["x" * 300_000], None, 126)],
    ids=["no program", "a file as folder", "no folder", "too long"],
)  # fmt: skip
def test_a_command_that_cannot_be_run_has_a_code(
    box: Sandbox, command: list[str], cwd: str | None, code: int
) -> None:
    box.write("text", b"words")
    box.run("chmod +x text")
    assert box.run(command, cwd=cwd).code == code


def test_a_name_that_cannot_be_is_refused(box: Sandbox) -> None:
    with pytest.raises(DeviceError, match="cannot run"):
        box.run(["a\0b"])
    assert box.run(["true"]).code == 0


def test_only_folders_of_bounded_size_can_be_written_to(confined: Sandbox) -> None:
    script = "for p in / /dev /usr /etc /run; do touch $p/x 2>/dev/null && echo $p; done; true"
    assert confined.run(script).text == ""
    for folder in ("/tmp", "/var/tmp", "/dev/shm", "/run/user/1000", confined.home):
        fill = ["dd", "if=/dev/zero", f"of={folder}/big", "bs=1M", "count=400"]
        assert b"No space left" in confined.run(fill, timeout=60).stderr, folder
        confined.run(["rm", "-f", f"{folder}/big"])


def test_another_user_takes_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(DeviceStartError, match=r"x11:user.*takes root"):
        Sandbox({}, confinement="user")


@pytest.mark.skipif(os.geteuid() != 0, reason="another user takes root")
def test_a_user_whom_a_program_of_the_machine_runs_as_is_not_lent() -> None:
    with subprocess.Popen(["sleep", "60"], user="nobody", group="nogroup") as other:
        try:
            box = Sandbox({}, confinement="user")
            assert box.run(["id", "-un"]).text not in ("", "nobody")
            box.close()
            assert other.poll() is None
        finally:
            other.kill()


@pytest.mark.skipif(os.geteuid() != 0, reason="another user takes root")
def test_sandboxes_of_users_have_one_each_and_leave_nothing() -> None:
    first, second = (Sandbox({}, confinement="user") for _ in range(2))
    try:
        assert first.user != second.user
        path = f"/tmp/left-by-{first.user}"
        first.spawn(f"touch {path}; setsid sleep 93")
        assert eventually(lambda: os.path.exists(path))
        first.run("pkill -9 -u $(id -u) python3 & sleep 0.2", timeout=5)
    except DeviceError:
        assert eventually(lambda: bool(_sleeping("93")))
    finally:
        first.close()
        second.close()
    assert eventually(lambda: not _sleeping("93"))
    assert not os.path.exists(path)


def test_nothing_of_another_sandbox_is_seen() -> None:
    first, second = Sandbox({}), Sandbox({})
    try:
        first.write("secret", b"s")
        first.spawn(["sleep", "97"])
        assert second.read("secret") is None
        assert "97" not in second.run("cat /proc/[0-9]*/cmdline | tr '\\0' ' '").text
        assert second.run(["ls", "-A", second.home]).text == ""
    finally:
        first.close()
        second.close()


def test_files_of_the_host_are_not_seen(confined: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "ours").write_text("secret")
    assert confined.read(str(tmp_path / "ours")) is None
    assert confined.run(["ls", "/root", str(tmp_path.parent)]).text == ""
    assert confined.run("cat /etc/shadow").code != 0
    assert confined.run(["id", "-un"]).text == "user"
    assert confined.run("touch /usr/x").code != 0


@pytest.mark.parametrize("way", ["loopback", "any address"])
def test_the_network_is_out_of_reach(confined: Sandbox, way: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        ask = f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached"
        reached = subprocess.run(["bash", "-c", ask], capture_output=True, check=False)
        assert reached.stdout == b"reached\n"  # without the wall it is
        if way == "any address":
            ask = "exec 3<>/dev/tcp/192.0.2.1/80 && echo reached"
        assert confined.run(["bash", "-c", ask], timeout=20).text == ""


def test_a_port_of_the_sandbox_is_reached_from_here(box: Sandbox) -> None:
    with pytest.raises(DeviceError, match="nothing listens on port 47123"):
        box.connect(47123)
    program = (
        "import socket; s = socket.create_server(('127.0.0.1', 47123)); print('up', flush=True); "
        "c, _ = s.accept(); c.sendall(b'hello'); c.close()"
    )
    box.spawn([module.interpreter(), "-c", program])

    def reached() -> bool:
        try:
            with box.connect(47123) as line:
                return line.recv(10) == b"hello"
        except DeviceError:
            return False

    assert eventually(reached)


def test_a_full_disk_harms_nobody_else(confined: Sandbox) -> None:
    result = confined.run(["dd", "if=/dev/zero", "of=big", "bs=1M", "count=400"], timeout=60)
    assert b"No space left" in result.stderr
    with pytest.raises(DeviceError, match="No space left"):
        confined.write("more", b"x" * (1 << 20))
    assert confined.run("rm big && echo room > big && cat big").text == "room"


def test_a_fork_bomb_is_bounded_and_ends_with_the_sandbox(box: Sandbox) -> None:
    # It rests where it can grow no more, so as to leave the machine's other users something.
    bomb = "import os, time\nwhile True:\n  try: os.fork()\n  except OSError: time.sleep(0.1)\n"
    box.spawn([module.interpreter(), "-c", bomb])
    assert eventually(lambda: len(psutil.Process().children(recursive=True)) > 350)
    assert len(psutil.Process().children(recursive=True)) < 450
    assert box.read("nothing") is None  # the supervisor still answers
    box.close()
    assert eventually(lambda: not _of_sandboxes())


def test_closing_ends_what_was_started_whatever_it_did(box: Sandbox) -> None:
    box.spawn("trap '' TERM HUP; setsid sleep 96 & sleep 95")
    assert eventually(lambda: len(_sleeping("95", "96")) >= 2)
    box.close()
    assert eventually(lambda: not _sleeping("95", "96"))
    with pytest.raises(DeviceLost, match="sandbox has ended"):
        box.run(["true"])
    box.close()


def test_a_program_that_crashes_is_told(box: Sandbox) -> None:
    box.spawn(["sh", "-c", "kill -SEGV $$"])
    assert eventually(lambda: _lost(box) == "sh was ended by SIGSEGV")
    assert _lost(box) == ""  # once


def test_a_program_that_ends_by_itself_is_told_only_where_it_is_vital(box: Sandbox) -> None:
    box.spawn(["false"])
    box.spawn(["true"], vital=True)
    assert eventually(lambda: _lost(box) == "true ended with 0")
    assert _lost(box) == ""


def test_a_sandbox_that_was_killed_is_lost(confined: Sandbox) -> None:
    for process in psutil.Process(confined._child.pid).children(recursive=True):
        process.kill()
    assert eventually(lambda: _lost(confined) == "the desktop's sandbox has ended")


def test_a_dead_parent_leaves_no_sandbox(tmp_path: Path) -> None:
    program = (
        "import time; from ui_gym.desktop.x11.sandbox import Sandbox\n"
        "s = Sandbox({}); s.spawn(['sleep', '94']); print('up', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"up\n"
        assert eventually(lambda: bool(_sleeping("94")))
        parent.kill()
    assert eventually(lambda: not _sleeping("94"))


def test_without_bubblewrap_an_ordinary_user_is_told_what_would_help(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    monkeypatch.setattr(module.os, "geteuid", lambda: 1000)
    best_confinement.cache_clear()
    try:
        with pytest.raises(DeviceStartError, match=r"apt-get install bubblewrap.*x11:unconfined"):
            best_confinement()
    finally:
        best_confinement.cache_clear()


def _lost(box: Sandbox) -> str:
    try:
        box.check()
    except DeviceLost as error:
        return str(error)
    return ""


def _sleeping(*seconds: str) -> list[psutil.Process]:
    return [
        p
        for p in psutil.process_iter(["cmdline"])
        if p.info["cmdline"] and p.info["cmdline"][0] == "sleep" and p.info["cmdline"][1] in seconds
    ]


def _of_sandboxes() -> list[psutil.Process]:
    return [
        p for p in psutil.Process().children(recursive=True) if p.name() in ("bwrap", "python3")
    ]


ENDS_AT_ONCE = """
import os, subprocess, threading, time
from ui_gym.desktop.x11 import supervisor

class Slow(subprocess.Popen):
    def __init__(self, *args, **how):
        super().__init__(*args, **how)
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        threading.Thread(target=supervisor.bury_ended).start()
        time.sleep(0.3)

subprocess.Popen = Slow
process = supervisor.start(["sh", "-c", "exit 3"], "/", dict(os.environ), subprocess.DEVNULL)
raise SystemExit(process.wait())
"""


def test_a_command_that_ends_at_once_keeps_its_exit_code() -> None:
    """It was buried as an orphan before it was known as a command, and read as a success."""
    done = subprocess.run([sys.executable, "-c", ENDS_AT_ONCE], timeout=60, check=False)
    assert done.returncode == 3


def test_whom_the_kernel_tells_of_are_all_that_were_started() -> None:
    with subprocess.Popen(["sh", "-c", "sleep 60 & echo; wait"], stdout=subprocess.PIPE) as shell:
        assert shell.stdout is not None
        shell.stdout.readline()
        (child,) = psutil.Process(shell.pid).children()
        assert {shell.pid, child.pid} <= supervisor.relatives() == supervisor.descendants()
        child.kill()
