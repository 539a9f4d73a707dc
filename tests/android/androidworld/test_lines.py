"""Lines of adb, done on a device."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ui_gym.android.androidworld.lines import AdbLineFailed, AdbLines
from ui_gym.contract.device import DeviceOptions
from ui_gym_phone.device import PhoneDevice


@pytest.fixture
def device() -> Iterator[PhoneDevice]:
    phone = PhoneDevice(DeviceOptions(size=(270, 600)))
    phone.start()
    yield phone
    phone.close()


@pytest.fixture
def lines(device: PhoneDevice) -> AdbLines:
    return AdbLines(device)


def test_a_shell_line_is_joined_with_spaces_and_quoted_by_nobody(lines: AdbLines) -> None:
    assert lines.execute(["shell", "echo", "'a  b'", ">", "/sdcard/a.txt"]) == b""
    assert lines.execute(["shell", "cat", "/sdcard/a.txt"]) == b"a  b\n"


def test_a_line_that_fails_says_what_it_wrote(lines: AdbLines) -> None:
    with pytest.raises(AdbLineFailed, match="No such file or directory") as failed:
        lines.execute(["shell", "ls", "/sdcard/nowhere"])
    assert failed.value.code == 1


def test_files_are_pushed_and_pulled(lines: AdbLines, tmp_path: Path) -> None:
    (tmp_path / "sent.bin").write_bytes(b"\0\1\2")
    lines.execute(["push", str(tmp_path / "sent.bin"), "/sdcard/Download"])
    lines.execute(["pull", "/sdcard/Download/sent.bin", str(tmp_path / "got.bin")])
    assert (tmp_path / "got.bin").read_bytes() == b"\0\1\2"
    with pytest.raises(AdbLineFailed, match="cannot read /sdcard/none"):
        lines.execute(["pull", "/sdcard/none", str(tmp_path / "none")])


def test_root_reads_and_writes_what_belongs_to_apps(lines: AdbLines, tmp_path: Path) -> None:
    lines.execute(["root"])
    assert lines.execute(["shell", "whoami"]) == b"root\n"
    (tmp_path / "it's.db").write_bytes(b"rows\n")
    lines.execute(["shell", "mkdir", "-p", "/data/data/org.some.app"])
    lines.execute(["push", str(tmp_path / "it's.db"), "/data/data/org.some.app"])
    lines.execute(["pull", "/data/data/org.some.app/it's.db", str(tmp_path / "back")])
    assert (tmp_path / "back").read_bytes() == b"rows\n"


def test_a_text_comes_in(lines: AdbLines) -> None:
    lines.execute(["emu", "sms", "send", "5551234", "It's", "me, not you"])
    told = lines.execute(["shell", "content", "query", "--uri", "content://sms/inbox"]).decode()
    assert "address=5551234" in told
    assert "body=It's me, not you" in told


def test_other_lines_are_refused(lines: AdbLines) -> None:
    with pytest.raises(AdbLineFailed, match="adb sideload is not done here"):
        lines.execute(["sideload", "x.zip"])
    with pytest.raises(AdbLineFailed, match="adb emu gsm call is not done here"):
        lines.execute(["emu", "gsm", "call", "123"])
