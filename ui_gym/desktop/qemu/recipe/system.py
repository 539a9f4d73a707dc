"""The files of the machine: Debian by mmdebstrap, ui-gym and what it needs by pip."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path

import ui_gym
from ui_gym.desktop.qemu.vm import GUEST_PORTS
from ui_gym.desktop.x11 import needs
from ui_gym.errors import UserError

SUITE, PYTHON = "bookworm", "3.11"
"""The Debian release, and its Python."""

BASE = (
    "systemd-sysv", "udev", "dbus", "linux-image-cloud-amd64", "initramfs-tools", "lz4", "kmod",
    "sudo", "python3", "procps", "iproute2",
)  # fmt: skip

DESKTOP = (
    *needs.SESSION.values(), *needs.APPLICATIONS.values(),
    "dbus-x11", "x11-xserver-utils", "xdg-utils", "xclip", "at-spi2-core", "libatk-adaptor",
    "fonts-dejavu-core", "adwaita-icon-theme", "libxcb1", "zip", "unzip",
)  # fmt: skip

UNITS = (
    "systemd-networkd", "ui-gym-server",
    *(f"ui-gym-port@{port}.socket" for port in GUEST_PORTS),
)  # fmt: skip

USER, PASSWORD = "user", "password"
"""OSWorld's own names."""

SOURCE_ONLY = ("xcffib",)
"""What the registry has no wheel of; it is pure Python, and built here."""

_WHEELS = ("manylinux2014_x86_64", "manylinux_2_28_x86_64", "manylinux_2_17_x86_64")


def make_tree(folder: Path, packages: Sequence[str], mirror: str | None) -> Path:
    """Make the machine's root file system under `folder`, with further Debian `packages`.

    Raises:
        UserError: a tool failed; with its last words.
    """
    _stage_python(folder / "opt", folder / "wheels")
    _stage_files(folder / "own")
    hooks = (
        f'--essential-hook=sync-in "{folder / "own"}" /',
        '--customize-hook=mkdir "$1/opt/ui-gym"',
        f'--customize-hook=sync-in "{folder / "opt"}" /opt/ui-gym',
        '--customize-hook=chroot "$1" python3 -m compileall -q /opt/ui-gym || true',
        f'--customize-hook=chroot "$1" useradd -m -s /bin/bash -G sudo {USER}',
        f'--customize-hook=echo {USER}:{PASSWORD} | chroot "$1" chpasswd',
        f'--customize-hook=chroot "$1" systemctl --quiet enable {" ".join(UNITS)}',
    )
    root = folder / "root"
    run([
        "mmdebstrap", "--variant=minbase", "--components=main",
        '--aptopt=Acquire::Languages "none"',
        *(f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("man", "doc", "locale")),
        f"--include={','.join((*BASE, *DESKTOP, *packages))}",
        *hooks, SUITE, str(root), *([mirror] if mirror else []),
    ])  # fmt: skip
    return root


def _stage_files(target: Path) -> None:
    """Copy the files that the machine has beyond its packages. Copies belong to root."""
    with as_file(files("ui_gym.desktop.qemu.recipe") / "root") as own:
        shutil.copytree(own, target)
    for path in target.rglob("*"):
        path.chmod(0o755 if path.is_dir() or path.parent.name in ("bin", "sbin") else 0o644)


def _stage_python(target: Path, wheels: Path) -> None:
    """Put ui-gym and what its desktop suite needs into a folder, for the machine's Python."""
    pip = [sys.executable, "-m", "pip"]
    wanted = _requirements()
    wheels.mkdir()
    built = [line for line in wanted if _name(line) in SOURCE_ONLY]
    if built:
        run([*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", str(wheels), *built])
    run([
        *pip, "install", "--quiet", "--no-compile", "--target", str(target),
        "--find-links", str(wheels), "--only-binary=:all:", "--python-version", PYTHON,
        *(word for tag in _WHEELS for word in ("--platform", tag)), *wanted,
    ])  # fmt: skip
    package = Path(ui_gym.__file__).parent
    shutil.copytree(package, target / "ui_gym", ignore=shutil.ignore_patterns("__pycache__"))


def _requirements() -> list[str]:
    """What ui-gym needs by itself, and for its desktop suite."""
    found = []
    for line in importlib.metadata.requires("ui-gym") or ():
        requirement, _, marker = line.partition(";")
        if not marker or re.search(r"""extra == ['"]desktop['"]""", marker):
            found.append(requirement.strip())
    return found


def _name(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0].lower()


def run(command: Sequence[str]) -> None:
    """Run a tool of the recipe. `UserError` with its last words where it fails."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        check=False,
    )  # fmt: skip
    if done.returncode != 0:
        said = "\n".join(done.stdout.decode("utf-8", "replace").splitlines()[-12:])
        raise UserError(f"{Path(command[0]).name} failed ({done.returncode}):\n{said}")
