"""Nothing that is said to a built-in phone reaches this machine, or another phone."""

from __future__ import annotations

from pathlib import Path

import pytest

from ui_gym.contract.device import DeviceOptions
from ui_gym_phone.device import PhoneDevice

RUIN = (
    "rm -rf /",
    "rm -rf /*",
    "rm -rf {canary}",
    "rm -rf ..",
    "cd / && rm -r *",
    "rm -rf --no-preserve-root /",
    "echo gone > {canary}",
    "> {canary}",
    "cat /dev/zero > {canary}",
    "mv {canary} /sdcard/",
    "find / -type f -delete",
    "find / -name '*canary*' -exec rm {{}} \\;",
    "dd if=/dev/zero of={canary}",
    "sh -c 'rm -f {canary}'",
    "$(rm -f {canary})",
    "eval rm -f {canary}",
    "xargs rm -f < {canary}",
    "sqlite3 {canary} 'create table t(a)'",
    "screencap {canary}",
    "uiautomator dump {canary}",
    "tee {canary} < /dev/null",
    "sed -i s/alive/dead/ {canary}",
    "truncate -s 0 {canary}",
    "chmod 000 {canary}",
    "/bin/sh -c 'rm -f {canary}'",
    "busybox rm {canary}",
    'python3 -c \'open("{canary}","w")\'',
    "reboot",
    "su -c 'rm -f {canary}'",
    "run-as com.android.settings rm -f {canary}",
    "kill -9 1",
    "pkill python",
)


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    path = tmp_path / "canary"
    path.write_text("alive")
    return path


@pytest.mark.parametrize("line", RUIN)
def test_a_line_that_ruins_a_phone_ruins_that_phone_alone(canary, line):
    phone, other = (PhoneDevice(DeviceOptions("phone", (360, 800))) for _ in range(2))
    phone.start()
    other.start()
    other.push(b"kept", "/sdcard/Download/kept.txt")
    phone.shell(line.format(canary=canary))

    assert canary.read_text() == "alive"
    assert canary.stat().st_mode & 0o777 != 0
    assert list(canary.parent.iterdir()) == [canary]
    assert other.pull("/sdcard/Download/kept.txt") == b"kept"
    assert phone.capture().image.any()  # it is still a phone
    phone.renew()
    assert phone.shell("ls /sdcard").text == other.shell("ls /sdcard").text


def test_the_shell_sees_no_file_of_this_machine(canary):
    phone = PhoneDevice(DeviceOptions("phone", (360, 800)))
    phone.start()
    for path in (canary, "/etc/passwd", "/etc/hostname", "/proc/self/environ", __file__):
        assert phone.shell(f"cat {path}").code != 0
    assert str(canary) not in phone.shell("find /").text
    assert phone.shell("env").text.count("UI_GYM") == 0


def test_endless_lines_end():
    phone = PhoneDevice(DeviceOptions("phone", (360, 800)))
    phone.start()
    for line in (
        "while true; do :; done",
        "f() { f; f; }; f",
        "yes",
        "cat /dev/zero | wc -c",
        "x=a; while true; do x=$x$x; done",
        "for i in $(seq 100000); do echo $i > /sdcard/f$i; done",
        "sleep 100000000",
    ):
        result = phone.shell(line)
        assert len(result.stdout) <= 128 << 20
    assert phone.shell("echo well").text == "well"
