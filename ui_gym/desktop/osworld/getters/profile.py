"""Getters of Chrome's profile: settings, bookmarks, cookies, history, extensions.

Chrome writes its profile some seconds after a change, and when it ends.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from ui_gym.desktop.osworld.getters.files import keep
from ui_gym.desktop.osworld.getters.machine import directory_tree
from ui_gym.desktop.osworld.registry import Config, EvaluationContext, getter

FOLDERS = (
    ".config/google-chrome",
    ".config/chromium",
    "snap/chromium/common/chromium",
)
"""Where a profile may be, under the home folder; the first that has the file is meant."""
FONT_SIZES = {"default_fixed_font_size": 13, "default_font_size": 16, "minimum_font_size": 13}
CONTINUE, NEW_TAB = 1, 5
"""What Chrome's start may be: the tabs of the last time, a new tab."""


@getter("default_search_engine")
def default_search_engine(context: EvaluationContext, config: Config) -> str:
    """The short name of the search engine."""
    found = _under(_preferences(context), "default_search_provider_data", "template_url_data")
    return str(found.get("short_name", "Google"))


@getter("profile_name")
def profile_name(context: EvaluationContext, config: Config) -> str | None:
    """The name of the profile."""
    name = _under(_preferences(context), "profile").get("name")
    return name if isinstance(name, str) else None


@getter("chrome_language")
def chrome_language(context: EvaluationContext, config: Config) -> str:
    """The language of Chrome's own texts ("en-US")."""
    return str(_under(_local_state(context), "intl").get("app_locale", "en-US"))


@getter("chrome_font_size")
def chrome_font_size(context: EvaluationContext, config: Config) -> dict[str, Any]:
    """The font sizes, in pixels, by name."""
    return dict(_under(_preferences(context), "webkit", "webprefs") or FONT_SIZES)


@getter("bookmarks")
def bookmarks(context: EvaluationContext, config: Config) -> dict[str, Any]:
    """The trees of bookmarks by root (``bookmark_bar``, ``other``, ``synced``)."""
    return dict(_under(_profile_json(context, "Default/Bookmarks"), "roots"))


@getter("enabled_experiments")
def enabled_experiments(context: EvaluationContext, config: Config) -> list[Any]:
    """The flags of chrome://flags that are set ("name@choice")."""
    found = _under(_local_state(context), "browser").get("enabled_labs_experiments", [])
    return found if isinstance(found, list) else []


@getter("enable_do_not_track")
def enable_do_not_track(context: EvaluationContext, config: Config) -> str:
    """Whether "Do Not Track" is sent: "true" or "false"."""
    return _flag(_preferences(context).get("enable_do_not_track"))


@getter("enable_enhanced_safety_browsing")
def enable_enhanced_safety_browsing(context: EvaluationContext, config: Config) -> str:
    """Whether the enhanced protection is on: "true" or "false"."""
    return _flag(_under(_preferences(context), "safebrowsing").get("enhanced"))


@getter("enable_safe_browsing")
def enable_safe_browsing(context: EvaluationContext, config: Config) -> str:
    """Whether the standard or the enhanced protection is on: "true" or "false"."""
    found = _under(_preferences(context), "safebrowsing")
    return _flag(found.get("enhanced") or found.get("enabled"))


@getter("new_startup_page")
def new_startup_page(context: EvaluationContext, config: Config) -> str:
    """Whether Chrome starts with a new tab: "true" or "false". "false" without a profile."""
    preferences = _preferences(context)
    if not preferences:
        return "false"
    start = _under(preferences, "session")
    return _flag("session" not in preferences or start.get("restore_on_startup") == NEW_TAB)


@getter("data_delete_automacally")
def data_delete_automacally(context: EvaluationContext, config: Config) -> str:
    """Whether sites' data are deleted when Chrome ends: "true" or "false"."""
    return _flag("default_content_setting_values" in _under(_preferences(context), "profile"))


@getter("find_unpacked_extension_path")
def find_unpacked_extension_path(context: EvaluationContext, config: Config) -> list[str]:
    """The folders of the installed extensions."""
    return [entry["path"] for entry in _extensions(context) if isinstance(entry.get("path"), str)]


@getter("find_installed_extension_name")
def find_installed_extension_name(context: EvaluationContext, config: Config) -> list[str]:
    """The names of the installed extensions."""
    names = [_under(entry, "manifest").get("name") for entry in _extensions(context)]
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


def _preferences(context: EvaluationContext) -> dict[str, Any]:
    return _profile_json(context, "Default/Preferences")


def _local_state(context: EvaluationContext) -> dict[str, Any]:
    return _profile_json(context, "Local State")


def _extensions(context: EvaluationContext) -> list[dict[str, Any]]:
    """What is known of each extension, by newer versions in a file of its own."""
    entries: dict[str, Any] = {}
    for data in (_profile_json(context, "Default/Secure Preferences"), _preferences(context)):
        entries |= _under(data, "extensions", "settings")
    return [entry for entry in entries.values() if isinstance(entry, dict)]


def _under(data: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
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
    connection = sqlite3.connect(f"{copy.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        return connection.execute(query).fetchall()
    except sqlite3.DatabaseError:
        return None
    finally:
        connection.close()
