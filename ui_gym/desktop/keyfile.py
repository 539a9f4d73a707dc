"""Settings of GTK applications in a file, as GLib's keyfile backend of GSettings keeps them.

Source of the format: GLib's ``g_keyfile_settings_backend_new``: a group is the schema's path
without slashes at its ends, a value is text in GVariant's format, which has several spellings
(``uint32 640`` and ``640``) of one value.
"""

from __future__ import annotations

import configparser
import io
from collections.abc import Mapping
from importlib.resources import files

from ui_gym.desktop.device import DesktopDevice

PATH = ".config/glib-2.0/settings/keyfile"
"""The file, in the home folder."""

Settings = Mapping[str, Mapping[str, str]]
"""Values by group and key."""


def parse(data: bytes) -> dict[str, dict[str, str]]:
    """The settings that such a file holds. What cannot be read holds none."""
    parser = _parser()
    try:
        parser.read_string(data.decode("utf-8", "replace"))
    except configparser.Error:
        return {}
    return {group: dict(parser[group]) for group in parser.sections()}


def beginning(changes: Settings) -> bytes:
    """The file that every home folder begins with, changed."""
    home = files("ui_gym.desktop.x11") / "home"
    parser = _parser()
    parser.read_dict(parse((home / PATH).read_bytes()))
    parser.read_dict(changes)
    text = io.StringIO()
    parser.write(text, space_around_delimiters=False)
    return text.getvalue().encode()


def read(device: DesktopDevice) -> dict[str, dict[str, str]]:
    """The settings as they are now."""
    return parse(device.read(PATH) or b"")


def _parser() -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(interpolation=None, strict=False, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # keys keep their case
    return parser
