"""Which programs a desktop is made of, and the Debian packages that bring them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping

SESSION: Mapping[str, str] = {
    "Xvfb": "xvfb", "openbox": "openbox", "dbus-daemon": "dbus-daemon",
}  # fmt: skip
"""What every desktop needs, beside bubblewrap where namespaces may be made."""

APPLICATIONS: Mapping[str, str] = {
    "mousepad": "mousepad", "pcmanfm": "pcmanfm", "xfce4-terminal": "xfce4-terminal",
    "galculator": "galculator", "gnumeric": "gnumeric", "tint2": "tint2", "faketime": "faketime",
    "gpicview": "gpicview",
}  # fmt: skip
"""What the suite's tasks are played in."""

EXTRA: Mapping[str, str] = {
    "soffice": "libreoffice-calc libreoffice-writer libreoffice-gtk3", "chromium": "chromium",
}  # fmt: skip
"""What the tasks need that are played only if they are named."""


def package_of(program: str, known: Mapping[str, str] | None = None) -> str:
    """The Debian package of a program, by its name or path."""
    name = os.path.basename(program)
    return {**SESSION, **APPLICATIONS, **EXTRA, **(known or {})}.get(name, name)


def absent(programs: Iterable[str]) -> list[str]:
    """Those of these programs that this machine has not."""
    return [name for name in programs if shutil.which(name) is None]


def missing(programs: Mapping[str, str]) -> list[str]:
    """The packages of those of these programs that this machine has not."""
    return sorted({programs[name] for name in absent(programs)})
