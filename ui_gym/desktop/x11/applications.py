"""Applications by name, as the machine's desktop entries have them.

Source of the format: freedesktop.org's Desktop Entry Specification.
"""

from __future__ import annotations

import configparser
import functools
import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from ui_gym.errors import ActionError, nearest

FOLDERS = (Path("/usr/share/applications"), Path("/usr/local/share/applications"))


@dataclass(frozen=True)
class Application:
    """What can be opened: its name, its program's arguments, and other names that it goes by."""

    name: str
    command: tuple[str, ...]
    also: tuple[str, ...]


def command_of(name: str) -> tuple[str, ...]:
    """The command that starts an application. `ActionError` (``runtime``) names the nearest."""
    asked = name.strip().lower()
    for application in installed():
        if asked in (application.name.lower(), *application.also):
            return application.command
    known = [application.name for application in installed()]
    raise ActionError("runtime", f"open: there is no application {name!r}. {nearest(name, known)}")


@functools.cache
def installed() -> tuple[Application, ...]:
    """The applications of this machine that a menu would show."""
    paths = sorted(path for folder in FOLDERS for path in folder.glob("*.desktop"))
    return tuple(filter(None, map(_read, paths)))


def _read(path: Path) -> Application | None:
    parser = configparser.RawConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(path.read_text("utf-8", "replace"))
        entry = parser["Desktop Entry"]
        words = shlex.split(entry["Exec"])
    except (OSError, KeyError, ValueError, configparser.Error):
        return None
    if entry.get("Type") != "Application" or entry.get("NoDisplay", "").lower() == "true":
        return None
    command = tuple(word for word in words if not word.startswith("%"))
    if not command:
        return None
    also = (
        path.stem.lower(),
        os.path.basename(command[0]).lower(),
        entry.get("GenericName", "").lower(),
    )
    return Application(entry.get("Name", path.stem), command, tuple(filter(None, also)))
