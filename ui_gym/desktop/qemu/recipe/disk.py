"""The machine's disk: one partition with its files, started by GRUB from the gap before it.

Written without a loop device: the file system is filled by ``mke2fs -d``. GRUB's parts lie where
its own installer puts them on a disk with a partition table of MS-DOS's kind: ``boot.img`` in the
first sector, which loads ``core.img`` from the second one on (GRUB's manual, "BIOS installation").
"""

from __future__ import annotations

import struct
from pathlib import Path

from ui_gym.desktop.qemu.recipe.system import run
from ui_gym.errors import UserError

SECTOR = 512
START = 2048
"""The sector at which the partition begins: GRUB has the room before it."""

GRUB = Path("/usr/lib/grub/i386-pc")

_MODULES = ("biosdisk", "part_msdos", "ext2", "linux")

# The kernel's messages go to the serial console too: they show that a machine comes to life.
_CONFIG = """\
set root=(hd0,msdos1)
linux /vmlinuz root=/dev/vda1 rw console=tty0 console=ttyS0 net.ifnames=0
initrd /initrd.img
boot
"""

_BOOT_CODE = 440
"""Bytes of the first sector that are a program; the partition table follows."""


def make_disk(root: Path, image: Path, size: int) -> None:
    """Write the qcow2 file `image`: a disk of `size` MiB with the files of the folder `root`.

    Raises:
        UserError: a tool failed; with its last words.
    """
    raw, core = image.with_suffix(".raw"), image.with_suffix(".core")
    config = image.with_suffix(".cfg")
    config.write_text(_CONFIG)
    sectors = (size << 20) // SECTOR - START
    try:
        with raw.open("wb") as file:
            file.truncate(size << 20)
        run([
            "mke2fs", "-q", "-F", "-t", "ext4", "-L", "desktop", "-d", str(root),
            "-E", f"offset={START * SECTOR}", str(raw), f"{sectors * SECTOR >> 10}k",
        ])  # fmt: skip
        run([
            "grub-mkimage", "-O", "i386-pc", "-p", "(hd0,msdos1)/boot/grub", "-c", str(config),
            "-o", str(core), *_MODULES,
        ])  # fmt: skip
        with raw.open("r+b") as file:
            file.write(_first_sectors(core.read_bytes(), sectors))
        run([
            "qemu-img", "convert", "-c", "-o", "compression_type=zstd",
            "-f", "raw", "-O", "qcow2", str(raw), str(image),
        ])  # fmt: skip
    finally:
        for path in (raw, core, config):
            path.unlink(missing_ok=True)


def _first_sectors(core: bytes, sectors: int) -> bytes:
    """What stands before the partition: the partition table, and GRUB."""
    if len(core) > (START - 1) * SECTOR:
        raise UserError(f"GRUB's core.img of {len(core)} bytes does not fit before the partition")
    code = (GRUB / "boot.img").read_bytes()[:_BOOT_CODE]
    # Bootable, Linux, by logical block addresses: the fields for cylinders say "too large".
    too_large = b"\xfe\xff\xff"
    entry = struct.pack("<B3sB3sII", 0x80, too_large, 0x83, too_large, START, sectors)
    table = code + bytes(6) + entry + bytes(3 * len(entry)) + b"\x55\xaa"
    return table + core
