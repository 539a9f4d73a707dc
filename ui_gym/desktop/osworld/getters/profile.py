"""Getters of Chrome's profile: settings, bookmarks, cookies, history, extensions.

Chrome writes its profile some seconds after a change, and when it ends.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ui_gym.desktop.osworld.getters.files import keep
from ui_gym.desktop.osworld.getters.machine import directory_tree
from ui_gym.desktop.osworld.registry import Config, EvaluationContext, getter

Settings = dict[str, Any]

FOLDERS = (".config/google-chrome", ".config/chromium", "snap/chromium/common/chromium")
"""Where a profile may be, under the home folder; the first that has the file is meant."""
FONT_SIZES = {"default_fixed_font_size": 13, "default_font_size": 16, "minimum_font_size": 13}
PREFERENCES, LOCAL_STATE = "Default/Preferences", "Local State"
EXTENSIONS = ("Default/Secure Preferences", PREFERENCES)
"""Where extensions are told of: by newer versions in a file of its own."""
NEW_TAB = 5
"""Chrome starts with a new tab."""


def _of(name: str, *files: str) -> Callable[[Callable[..., Any]], object]:
    """A decorator: registers a getter of what JSON files of the profile say, each a mapping that is
    empty where there is no such file."""

    def keep(read: Callable[..., Any]) -> object:
        def bring(context: EvaluationContext, config: Config) -> Any:
            return read(*(_profile_json(context, file) for file in files))

        return getter(name)(bring)

    return keep


@_of("default_search_engine", PREFERENCES)
def default_search_engine(preferences: Settings) -> str:
    """The short name of the search engine."""
    found = _under(preferences, "default_search_provider_data", "template_url_data")
    return str(found.get("short_name", "Google"))


@_of("profile_name", PREFERENCES)
def profile_name(preferences: Settings) -> str | None:
    """The name of the profile."""
    name = _under(preferences, "profile").get("name")
    return name if isinstance(name, str) else None


@_of("chrome_language", LOCAL_STATE)
def chrome_language(state: Settings) -> str:
    """The language of Chrome's own texts ("en-US")."""
    return str(_under(state, "intl").get("app_locale", "en-US"))


@_of("chrome_font_size", PREFERENCES)
def chrome_font_size(preferences: Settings) -> Settings:
    """The font sizes, in pixels, by name."""
    return _under(preferences, "webkit", "webprefs") or dict(FONT_SIZES)


@_of("bookmarks", "Default/Bookmarks")
def bookmarks(data: Settings) -> Settings:
    """The trees of bookmarks by root (``bookmark_bar``, ``other``, ``synced``)."""
    return _under(data, "roots")


@_of("enabled_experiments", LOCAL_STATE)
def enabled_experiments(state: Settings) -> list[Any]:
    """The flags of chrome://flags that are set ("name@choice")."""
    found = _under(state, "browser").get("enabled_labs_experiments", [])
    return found if isinstance(found, list) else []


@_of("enable_do_not_track", PREFERENCES)
def enable_do_not_track(preferences: Settings) -> str:
    """Whether "Do Not Track" is sent: "true" or "false"."""
    return _flag(preferences.get("enable_do_not_track"))


@_of("enable_enhanced_safety_browsing", PREFERENCES)
def enable_enhanced_safety_browsing(preferences: Settings) -> str:
    """Whether the enhanced protection is on: "true" or "false"."""
    return _flag(_under(preferences, "safebrowsing").get("enhanced"))


@_of("enable_safe_browsing", PREFERENCES)
def enable_safe_browsing(preferences: Settings) -> str:
    """Whether the standard or the enhanced protection is on: "true" or "false"."""
    found = _under(preferences, "safebrowsing")
    return _flag(found.get("enhanced") or found.get("enabled"))


@_of("new_startup_page", PREFERENCES)
def new_startup_page(preferences: Settings) -> str:
    """Whether Chrome starts with a new tab: "true" or "false". "false" without a profile."""
    start = _under(preferences, "session").get("restore_on_startup")
    return _flag(preferences and ("session" not in preferences or start == NEW_TAB))


@_of("data_delete_automacally", PREFERENCES)
def data_delete_automacally(preferences: Settings) -> str:
    """Whether sites' data are deleted when Chrome ends: "true" or "false"."""
    return _flag("default_content_setting_values" in _under(preferences, "profile"))


@_of("find_unpacked_extension_path", *EXTENSIONS)
def find_unpacked_extension_path(*files: Settings) -> list[str]:
    """The folders of the installed extensions."""
    return [entry["path"] for entry in _extensions(*files) if isinstance(entry.get("path"), str)]


@_of("find_installed_extension_name", *EXTENSIONS)
def find_installed_extension_name(*files: Settings) -> list[str]:
    """The names of the installed extensions."""
    names = [_under(entry, "manifest").get("name") for entry in _extensions(*files)]
    return [name for name in names if isinstance(name, str)]


@getter("cookie_data")
def cookie_data(context: EvaluationContext, config: Config) -> list[tuple[Any, ...]] | None:
    """The rows of the table of cookies; the second column is the site."""
    names = ("Default/Cookies", "Default/Network/Cookies")
    return _rows(context, names, config["dest"], "SELECT * FROM cookies")


@getter("history")
def history(context: EvaluationContext, config: Config) -> list[tuple[Any, ...]] | None:
    """The visited pages: (address, title, time of the last visit)."""
    query = "SELECT url, title, last_visit_time FROM urls"
    return _rows(context, ("Default/History",), config["dest"], query)


@getter("shortcuts_on_desktop")
def shortcuts_on_desktop(context: EvaluationContext, config: Config) -> dict[str, str]:
    """The texts of the ``.desktop`` files in the folder Desktop, by name."""
    tree = directory_tree(context, "~/Desktop") or {"children": []}
    names = [child["name"] for child in tree["children"] if child["name"].endswith(".desktop")]
    texts = {name: context.device.read(f"{context.device.home}/Desktop/{name}") for name in names}
    return {name: data.decode("utf-8", "replace") for name, data in texts.items() if data}


def _profile_file(context: EvaluationContext, *names: str) -> bytes | None:
    """The first of these files of a profile that is there."""
    for folder in FOLDERS:
        for name in names:
            data = context.device.read(f"{context.device.home}/{folder}/{name}")
            if data is not None:
                return data
    return None


def _profile_json(context: EvaluationContext, name: str) -> dict[str, Any]:
    try:
        found = json.loads(_profile_file(context, name) or b"{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _extensions(*files: Settings) -> list[Settings]:
    entries: Settings = {}
    for data in files:
        entries |= _under(data, "extensions", "settings")
    return [entry for entry in entries.values() if isinstance(entry, dict)]


def _under(data: Settings, *keys: str) -> Settings:
    """The mapping under these keys, empty where there is none."""
    for key in keys:
        inner = data.get(key)
        data = inner if isinstance(inner, dict) else {}
    return data


def _flag(value: object) -> str:
    return "true" if value else "false"


def _rows(
    context: EvaluationContext, names: tuple[str, ...], dest: str, query: str
) -> list[tuple[Any, ...]] | None:
    data = _profile_file(context, *names)
    if data is None:
        return None
    copy = keep(context, dest, data)
    # Opened as it is, without its journal, which stays on the machine.
    connection = sqlite3.connect(f"{Path(copy).resolve().as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        return connection.execute(query).fetchall()
    except sqlite3.DatabaseError:
        return None
    finally:
        connection.close()
