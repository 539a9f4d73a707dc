"""Applications by name, as the machine's desktop entries have them.

Source of the format: freedesktop.org's Desktop Entry Specification.
"""

from __future__ import annotations

import configparser
import contextlib
import functools
import mimetypes
import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from ui_gym.errors import ActionError, DeviceError, nearest

FOLDERS = (Path("/usr/share/applications"), Path("/usr/local/share/applications"))


@dataclass(frozen=True)
class Application:
    """What can be opened: its name, its program's arguments, its desktop entry's file, other names
    that it goes by, and the types of what it opens."""

    name: str
    command: tuple[str, ...]
    entry: str
    also: tuple[str, ...]
    types: frozenset[str]


def command_of(name: str) -> tuple[str, ...]:
    """The command that starts an application. `ActionError` (``runtime``) names the nearest."""
    asked = name.strip().lower()
    for application in installed():
        if asked == application.name.lower():
            return application.command
    for application in installed():
        if asked in application.also:
            return application.command
    known = [application.name for application in installed()]
    raise ActionError("runtime", f"open: there is no application {name!r}. {nearest(name, known)}")


def opener_of(target: str, defaults: str) -> tuple[str, ...]:
    """The command that opens a file (by its name), a folder (that ends with ``/``) or an address.

    `defaults` is the text of the user's ``mimeapps.list``, in which a type has applications, the
    first that is installed counts; a type that is not in it is opened by the first application that
    can. `DeviceError` where there is none.
    """
    kind = _type_of(target)
    parser = configparser.RawConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    with contextlib.suppress(configparser.Error):
        parser.read_string(defaults)
    entries = {application.entry: application for application in installed()}
    for chosen in parser.get("Default Applications", kind, fallback="").split(";"):
        if chosen in entries:
            return (*entries[chosen].command, target)
    for application in installed():
        if kind in application.types:
            return (*application.command, target)
    raise DeviceError(f"the desktop has no program that opens {target} ({kind})")


@functools.cache
def installed() -> tuple[Application, ...]:
    """The applications of this machine that a menu would show."""
    paths = sorted(path for folder in FOLDERS for path in folder.glob("*.desktop"))
    return tuple(filter(None, map(_read, paths)))


def _type_of(target: str) -> str:
    scheme, colon, _ = target.partition("://")
    if colon and scheme != "file":
        return f"x-scheme-handler/{scheme}"
    if target.endswith("/"):
        return "inode/directory"
    return mimetypes.guess_type(target)[0] or "text/plain"


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
    names = [path.stem.lower(), entry.get("GenericName", "").lower()]
    if len(command) == 1:
        names.append(os.path.basename(command[0]).lower())
    types = frozenset(filter(None, entry.get("MimeType", "").split(";")))
    also = tuple(filter(None, names))
    return Application(entry.get("Name", path.stem), command, path.name, also, types)
