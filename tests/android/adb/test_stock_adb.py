"""The adb that everybody has, in two generations, against what we serve."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from adb_toy import Adb, Toy, big

from ui_gym_phone.adbd import AdbServer


@pytest.fixture
def phone(adb: Adb, served: AdbServer) -> Iterator[Adb]:
    """Runs this adb with the served toy connected."""
    assert adb("connect", served.address).stdout.startswith(b"connected to")

    def run(*words: str, stdin: bytes = b"") -> object:
        return adb("-s", served.address, *words, stdin=stdin)

    yield run
    adb("disconnect", served.address)


def test_the_device_is_listed_with_its_model(adb: Adb, phone: Adb, served: AdbServer) -> None:
    listed = adb("devices", "-l").stdout.decode()
    (line,) = [line for line in listed.splitlines() if served.address in line]
    assert "product:toy model:Toy_1 device:toy" in line


def test_shell_tells_output_errors_and_exit_code(phone: Adb) -> None:
    done = phone("shell", "echo out; err wrong; exit 3")
    assert (done.stdout, done.stderr, done.returncode) == (b"out\n", b"wrong\n", 3)


def test_the_first_shell_version_mixes_output_in_the_order_of_time(phone: Adb) -> None:
    done = phone("shell", "-x", "echo 1; err 2; echo 3; exit 3")
    assert (done.stdout, done.returncode) == (b"1\n2\n3\n", 0)


def test_standard_input_reaches_the_command(phone: Adb) -> None:
    assert phone("shell", "cat", stdin=big(300_000)).stdout == big(300_000)


def test_lines_of_standard_input_are_run_until_exit(phone: Adb) -> None:
    done = phone("shell", stdin=b"echo one\necho two\nexit 4\necho three\n")
    assert (done.stdout, done.returncode) == (b"one\ntwo\n", 4)


def test_a_terminal_sees_its_prompt_and_what_is_typed(phone: Adb) -> None:
    done = phone("shell", "-tt", stdin=b"echo onn\x7fe\rexit\r")
    assert done.stdout == b"$ echo onn\b \be\r\none\r\n$ exit\r\n"


def test_raw_output_comes_whole(phone: Adb) -> None:
    assert phone("exec-out", "big 10368016").stdout == big(10_368_016)


def test_files_go_there_and_back(phone: Adb, toy: Toy, tmp_path: Path) -> None:
    here, back = tmp_path / "a.bin", tmp_path / "b.bin"
    here.write_bytes(big(2_000_000))
    assert phone("push", str(here), "/sdcard/").returncode == 0
    assert toy.files["/sdcard/a.bin"][0] == big(2_000_000)
    assert phone("pull", "/sdcard/a.bin", str(back)).returncode == 0
    assert back.read_bytes() == big(2_000_000)
    listed = phone("ls", "/sdcard").stdout.decode()
    assert "000081a4 00000006 00000007 note.txt" in listed


def test_a_folder_goes_there_and_back(phone: Adb, toy: Toy, tmp_path: Path) -> None:
    (tmp_path / "out" / "deep").mkdir(parents=True)
    (tmp_path / "out" / "deep" / "x.txt").write_text("x")
    (tmp_path / "out" / "y.txt").write_text("y")
    assert phone("push", str(tmp_path / "out"), "/sdcard/in").returncode == 0
    assert toy.files["/sdcard/in/deep/x.txt"][0] == b"x"
    assert phone("pull", "/sdcard/in", str(tmp_path / "back")).returncode == 0
    assert (tmp_path / "back" / "deep" / "x.txt").read_text() == "x"


def test_refusals_are_told(phone: Adb, tmp_path: Path) -> None:
    here = tmp_path / "a.bin"
    here.write_bytes(big(3_000_000))
    done = phone("push", str(here), "/system/a.bin")
    assert done.returncode == 1
    assert b"Permission denied" in done.stderr + done.stdout
    done = phone("pull", "/sdcard/none", str(here))
    assert b"No such file or directory" in done.stderr + done.stdout
    assert phone("disable-verity").returncode == 1


def test_an_app_is_installed(phone: Adb, toy: Toy, tmp_path: Path) -> None:
    package = tmp_path / "x.apk"
    package.write_text("org.new.app")
    assert b"Success" in phone("install", str(package)).stdout
    assert toy.installed[-1] == "org.new.app"


def test_adbutils_works_with_it(any_adb: Adb, attached: str, toy: Toy) -> None:
    adbutils = pytest.importorskip("adbutils")
    client = adbutils.AdbClient("127.0.0.1", any_adb.port, socket_timeout=10)
    device = client.device(attached)
    assert device.shell("echo hi") == "hi"
    assert device.shell2("err x; exit 3", v2=True).returncode == 3
    assert device.shell2("echo hi").output == "hi\n"
    assert device.sync.push(b"data", "/sdcard/u.txt") == 4
    assert device.sync.read_bytes("/sdcard/u.txt") == b"data"
    assert {each.path for each in device.sync.list("/sdcard")} == {"note.txt", "u.txt"}
    assert device.prop.get("ro.build.version.sdk") == "34"
