"""A virtual machine's image and settings, as ``device="qemu:..."`` says them."""

from __future__ import annotations

import os
import re
import struct
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from ui_gym.child_process import cores
from ui_gym.errors import UserError, nearest

KIND = "qemu"

_QCOW2 = b"QFI\xfb"
"""How a qcow2 file begins (QEMU's ``docs/interop/qcow2.txt``); then come its version, 4 bytes, and
where the name of its backing file is, 8 bytes, 0 where it has none."""
_HEADER = 80
_EXTERNAL_DATA = 1 << 2
"""Among the incompatible features, bytes 72 to 79 of version 3: an external data file."""


def _cores() -> int:
    return min(4, cores())


@dataclass(frozen=True)
class QemuSettings:
    """A machine's hardware, and how long its owner waits.

    `memory` is in MiB. `firmware` is a file for machines that do not start by a BIOS, such as
    Debian's ``/usr/share/ovmf/OVMF.fd``. `boot`: seconds until the server must have answered;
    `rest`: seconds from then until the snapshot is taken, in which the desktop comes to rest;
    `probe`: seconds in which an accelerated machine must show a sign of life.
    """

    image: Path
    memory: int = 2048
    cores: int = field(default_factory=_cores)
    firmware: Path | None = None
    boot: float = 300.0
    rest: float = 3.0
    probe: float = 60.0

    @classmethod
    def parse(cls, kind: str, extra: Mapping[str, str] | None = None) -> QemuSettings:
        """Read ``qemu:IMAGE.qcow2``, or ``qemu:IMAGE.qcow2?memory=4096&cores=4``.

        `extra` are further settings by name; names that are none are left to others there.

        Raises:
            UserError: no image is named, it is not there or no qcow2 image, needs another
                file, or a setting is wrong.
        """
        address, _, query = kind.partition(":")[2].partition("?")
        if not address:
            raise UserError(f"say which image, as in device='{KIND}:IMAGE.qcow2'")
        known = {one.name for one in fields(cls)} - {"image"}
        said = {name: text for name, text in (extra or {}).items() if name in known}
        for name, text in urllib.parse.parse_qsl(query, keep_blank_values=True):
            if name not in known:
                raise UserError(
                    f"a virtual machine has no setting {name!r}. {nearest(name, known)}"
                )
            said[name] = text
        return cls(
            image=_image(address),
            **{name: _value(name, text) for name, text in said.items()},  # type: ignore[arg-type]
        )


_LIMITS = {
    "memory": (64, 1 << 20),
    "cores": (1, 255),
    "boot": (1, 7200),
    "rest": (0, 600),
    "probe": (1, 3600),
}
_WHOLE = ("memory", "cores")


def _value(name: str, text: str) -> int | float | Path:
    if name == "firmware":
        return _file(text, "firmware")
    low, high = _LIMITS[name]
    pattern = r"\d{1,9}" if name in _WHOLE else r"\d{1,9}(\.\d+)?"
    if re.fullmatch(pattern, text) is None or not low <= float(text) <= high:
        raise UserError(f"{name} is a number from {low} to {high}, not {text!r}")
    return int(text) if name in _WHOLE else float(text)


def _image(text: str) -> Path:
    path = _file(text, "image")
    with path.open("rb") as file:
        header = file.read(_HEADER)
    if not header.startswith(_QCOW2):
        raise UserError(
            f"{path} is no qcow2 image. One of another format is converted by: "
            f"qemu-img convert -O qcow2 {path} IMAGE.qcow2"
        )
    version, backing = struct.unpack(">IQ", header[4:16].ljust(12, b"\0"))
    (features,) = struct.unpack(">Q", header[72:80].ljust(8, b"\0"))
    if backing or (version >= 3 and features & _EXTERNAL_DATA):
        # QEMU would open whatever file of this machine the image names.
        raise UserError(
            f"the image {path} names another file that holds a part of it; flatten it: "
            f"qemu-img convert -O qcow2 {path} IMAGE.qcow2"
        )
    return path


def _file(text: str, what: str) -> Path:
    path = Path(text).expanduser().absolute()
    if not path.is_file():
        raise UserError(
            f"there is no {what} {path}"
            + ("; docs/qemu.md says how to make one" if what == "image" else "")
        )
    if not os.access(path, os.R_OK):
        raise UserError(f"the {what} {path} cannot be read by this user")
    return path
