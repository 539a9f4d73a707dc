"""The recipe of an image: what it refuses, and the disk that it writes."""

from __future__ import annotations

import os
import shutil
import stat
import struct
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import guests
import pytest

from ui_gym.desktop.qemu.recipe.disk import GRUB, make_disk
from ui_gym.desktop.qemu.recipe.system import UNITS, run
from ui_gym.desktop.qemu.vm import GUEST_PORTS, SIZE_BLOB
from ui_gym.errors import UserError

needs_tools = pytest.mark.skipif(
    shutil.which("grub-mkimage") is None
    or not (GRUB / "boot.img").exists()
    or shutil.which("debugfs") is None
    or shutil.which("qemu-img") is None,
    reason="the recipe's tools are not installed (grub-common grub-pc-bin e2fsprogs qemu-utils)",
)

OWN = files("ui_gym.desktop.qemu.recipe") / "root"


def build(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ui_gym.desktop.qemu.recipe", *words],
        capture_output=True, text=True, env={**os.environ, **environment}, check=False,
    )  # fmt: skip


def test_what_is_not_installed_is_named(tmp_path: Path):
    done = build(str(tmp_path / "new.qcow2"), PATH=str(tmp_path))
    assert done.returncode == 1
    assert "apt-get install --no-install-recommends" in done.stderr
    for package in ("mmdebstrap", "e2fsprogs", "grub-common", "qemu-utils"):
        assert package in done.stderr
    assert list(tmp_path.iterdir()) == [tmp_path / "temporary"]


def test_a_tool_that_fails_is_told_with_its_last_words():
    with pytest.raises(UserError, match=r"sh failed \(3\):\nno such thing"):
        run(["/bin/sh", "-c", "echo no such thing >&2; exit 3"])


@needs_tools
def test_the_disk_starts_by_grub_and_holds_the_files(tmp_path: Path):
    root = tmp_path / "root"
    (root / "etc").mkdir(parents=True)
    (root / "etc" / "hostname").write_text("desktop\n")
    image, raw = tmp_path / "disk.qcow2", tmp_path / "check.raw"
    make_disk(root, image, size=64)
    assert image.read_bytes()[:4] == b"QFI\xfb"
    subprocess.run(
        ["qemu-img", "convert", "-f", "qcow2", "-O", "raw", image, raw], check=True, timeout=60
    )
    disk = raw.read_bytes()
    assert len(disk) == 64 << 20
    assert disk[510:512] == b"\x55\xaa"
    active, kind = disk[446], disk[450]
    start, sectors = struct.unpack_from("<II", disk, 454)
    assert (active, kind, start, start + sectors) == (0x80, 0x83, 2048, len(disk) // 512)
    assert disk[:3] == (GRUB / "boot.img").read_bytes()[:3]
    assert disk[512:2048].strip(b"\0")
    said = subprocess.run(
        ["debugfs", "-R", "cat /etc/hostname", f"{raw}?offset={start * 512}"],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert said.stdout == "desktop\n"
    # Of what it was made of, nothing lies about.
    assert sorted(path.name for path in tmp_path.glob("disk*")) == ["disk.qcow2"]


@needs_tools
@guests.needs_qemu
def test_a_disk_without_a_kernel_does_not_come_to_life(switch_on, tmp_path: Path):
    (tmp_path / "root").mkdir()
    make_disk(tmp_path / "root", tmp_path / "disk.qcow2", size=64)
    vm = switch_on(tmp_path / "disk.qcow2")
    vm.save("started")
    vm.check()
    assert "[ " not in vm.serial()


def test_the_machine_s_files_fit_the_device():
    systemd = OWN / "etc" / "systemd" / "system"
    for unit in UNITS[1:]:  # the first is systemd's own
        name, _, kind = unit.partition(".")
        template = name.rpartition("@")[0] + "@" if "@" in name else name
        assert (systemd / f"{template}.{kind or 'service'}").is_file(), unit
    service = (systemd / "ui-gym-server.service").read_text()
    for port in GUEST_PORTS[1:]:
        assert f"--forward {port} " in service
    assert f"by_name/{SIZE_BLOB}/raw" in (OWN / "usr/local/sbin/ui-gym-size").read_text()


def test_the_machine_s_programs_are_programs():
    for name in ("usr/local/bin/ui-gym", "usr/local/sbin/ui-gym-size"):
        path = Path(str(OWN / name))
        assert path.read_bytes().startswith(b"#!/")
        assert path.stat().st_mode & stat.S_IRUSR
