"""``python -m ui_gym.desktop.qemu.recipe OUT.qcow2``: build the machine."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from ui_gym.desktop.qemu.recipe.disk import GRUB, make_disk
from ui_gym.desktop.qemu.recipe.system import make_tree
from ui_gym.errors import UserError

TOOLS = {
    "mmdebstrap": "mmdebstrap", "mke2fs": "e2fsprogs", "grub-mkimage": "grub-common",
    "qemu-img": "qemu-utils",
}  # fmt: skip
"""What is needed, and the Debian package that has it."""


def build(
    image: Annotated[Path, typer.Argument(metavar="OUT.qcow2", help="The image to write.")],
    disk: Annotated[int, typer.Option(help="Size of the disk in MiB.", min=1024)] = 8192,
    package: Annotated[
        list[str] | None, typer.Option(help="A further Debian package; may be repeated.")
    ] = None,
    mirror: Annotated[
        str | None, typer.Option(help="Where Debian is fetched from, if not the usual place.")
    ] = None,
) -> None:
    """Build a small Debian machine for device="qemu:OUT.qcow2". To be run as root."""
    started = time.monotonic()
    try:
        _check(image)
        image = image.absolute()
        with tempfile.TemporaryDirectory(prefix="ui-gym-image-", dir=image.parent) as folder:
            unfinished = Path(folder) / "disk.qcow2"
            print("Debian and ui-gym ...", flush=True)
            root = make_tree(Path(folder), package or (), mirror)
            print("the disk ...", flush=True)
            make_disk(root, unfinished, disk)
            unfinished.replace(image)
    except UserError as error:
        sys.exit(str(error))
    print(f"{image}: {image.stat().st_size >> 20} MiB, {time.monotonic() - started:.0f} s")


def _check(image: Path) -> None:
    missing = {package for tool, package in TOOLS.items() if shutil.which(tool) is None}
    if not (GRUB / "boot.img").is_file():
        missing.add("grub-pc-bin")
    if missing:
        raise UserError(
            "needed: apt-get install --no-install-recommends " + " ".join(sorted(missing))
        )
    if os.geteuid() != 0:
        raise UserError("run this as root, as in a container: it makes the files of a system")
    if image.exists():
        raise UserError(f"{image} is there already: move it away first")
    if not image.absolute().parent.is_dir():
        raise UserError(f"there is no folder {image.absolute().parent}")


if __name__ == "__main__":
    typer.run(build)
