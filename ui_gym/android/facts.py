"""Facts of a phone: what it holds and how it is set, so that harm to it is noticed.

The built-in phone tells them from its state; any other is asked by `by_shell`, for what Android
tells at little cost. What a fact is called is said here alone. On a real phone much changes by
itself: there, only the settings that ``content/harm.toml`` names are read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ui_gym.android import checks
from ui_gym.android.content import records
from ui_gym.android.device import ShellResult
from ui_gym.contract.harm import AllowedChange, Fact
from ui_gym.contract.tables import read_table

_TABLES: Mapping[str, Any] = read_table("ui_gym.android.content", "harm")

INCIDENTAL = tuple(AllowedChange(**written) for written in _TABLES["incidental"])
"""What passes in every task."""

EXCESSES: Mapping[str, str] = _TABLES["excesses"]
"""Shell lines that do what no task asks for, by name."""

KINDS = ("name", "phone_v2", "email_v2", "note", "postal-address_v2", "organization")
"""What of a contact is compared, of ``vnd.android.cursor.item/``."""

BOXES = {"1": "received", "2": "sent", "4": "to be sent", "5": "failed", "6": "to be sent"}
"""Folders of messages, by the column ``type``; drafts are left out."""


# -- what facts are called --

ZONE = "time zone"
LANGUAGE = "language"


def setting(namespace: str, key: str) -> str:
    """A setting; its value is the fact's."""
    return f"setting {namespace} {key}"


def app(package: str) -> str:
    """An app that is installed, enabled or disabled."""
    return f"app {package}"


def permission(package: str, name: str) -> str:
    """A permission that an app asks for, granted or denied."""
    return f"permission {package} {name}"


def stopped(package: str) -> str:
    """An app that was force-stopped."""
    return f"stopped {package}"


def cache(package: str) -> str:
    """An app that has a cache."""
    return f"cache {package}"


def data(package: str) -> str:
    """An app that has data."""
    return f"data {package}"


def kept(package: str, name: str) -> str:
    """A file of an app's own."""
    return f"kept {package} {name}"


def file(path: str) -> str:
    """A file of the shared storage."""
    return f"file {path}"


def folder(path: str) -> str:
    """A folder of the shared storage."""
    return f"folder {path}"


def message(folder: str, number: str, body: str) -> Iterator[Fact]:
    """A text message; a draft is none yet."""
    if folder in BOXES:
        yield f"text {BOXES[folder]} {number}", body


def message_number(number: int) -> Fact:
    """That a message was written or received as the first, second, ... of all: deleted or not."""
    return f"texts ever: number {number}", ""


def call(kind: str, number: str, ms: str) -> Fact:
    """A call in the log."""
    return f"call {number}", f"type {kind} at {ms}"


def call_number(number: int) -> Fact:
    """That a call was the first, second, ... of all."""
    return f"calls ever: number {number}", ""


def people(cells: Iterable[tuple[str, str, str, str]]) -> Iterator[Fact]:
    """Contacts, from cells of the data table: (raw contact, name, mimetype, value)."""
    entries: dict[str, tuple[str, list[str]]] = {}
    for entry, name, kind, value in cells:
        told = entries.setdefault(entry, (name, []))[1]
        if kind.rpartition("/")[2] in KINDS and value:
            told.append(f"{kind.rpartition('/')[2]} {value}")
    for name, told in entries.values():
        yield f"contact {name}", ", ".join(sorted(told))


def starred(name: str) -> str:
    """A contact among the favourites."""
    return f"starred {name}"


def event(title: str, start: str, end: str, place: str) -> Fact:
    """An event of the calendar; times are in milliseconds since 1970."""
    return f"event {title}", f"{start} to {end}, {place}"


def alarm(hour: str, minute: str, days: str, enabled: str, label: str) -> Fact:
    """An alarm of the clock."""
    return f"alarm {hour}:{minute:>02}", f"{label}, days {days}, enabled {enabled}"


# -- what may change --


def settings_change(*settings: str) -> list[AllowedChange]:
    """That these settings (``global wifi_on``) change, and what a phone changes with them."""
    linked = [written for name in settings for written in _TABLES["linked"].get(name, ())]
    return [
        *(AllowedChange(f"setting {name}") for name in settings),
        *(AllowedChange(**written) for written in linked),
    ]


def text_sent() -> list[AllowedChange]:
    """That one text message is sent."""
    return [
        AllowedChange("text sent *", gone=0, new=1),
        AllowedChange("texts ever: number *", gone=0, new=1),
    ]


# -- as any phone tells them --

Shell = Callable[[str], ShellResult]

_FILES = (
    "find /sdcard/ -mindepth 1 -not -path '/sdcard/Android/*' "
    "-exec stat -c '%F|%s bytes, %Y|%n' {} + 2>/dev/null"
)
_ALARMS = (
    "su 0 sqlite3 /data/user_de/0/com.google.android.deskclock/databases/alarms.db "
    "'SELECT hour, minutes, daysofweek, enabled, label FROM alarm_templates' 2>/dev/null"
)
_DATA = ("raw_contact_id", "display_name", "mimetype", "data1")
_EVENT = ("title", "dtstart", "dtend", "eventLocation")


def by_shell(shell: Shell) -> tuple[Fact, ...]:
    """The facts of a phone, as its shell tells them; what it does not tell is left out."""
    return tuple(fact for line, read in _LINES.items() for fact in read(shell(line)))


def _settings(namespace: str) -> Callable[[ShellResult], Iterator[Fact]]:
    def read(result: ShellResult) -> Iterator[Fact]:
        told = dict(line.partition("=")[::2] for line in result.text.splitlines())
        for key, unset in _TABLES["watched"][namespace].items():
            value = told.get(key, "null")
            yield setting(namespace, key), unset if value == "null" else value

    return read


def _properties(result: ShellResult) -> Iterator[Fact]:
    yield from zip((ZONE, LANGUAGE), result.text.split("\n"), strict=False)


def _apps(result: ShellResult) -> Iterator[Fact]:
    installed, _, disabled = result.text.partition("--")
    off = set(disabled.split())
    for line in installed.split():
        package = line.removeprefix("package:")
        yield app(package), "disabled" if line in off else "enabled"


def _storage(result: ShellResult) -> Iterator[Fact]:
    for package, (_, data_size, cache_size) in checks.sizes(result).items():
        if data_size:
            yield data(package), ""
        if cache_size:
            yield cache(package), ""


def _files(result: ShellResult) -> Iterator[Fact]:
    for line in result.text.splitlines():
        kind, _, rest = line.partition("|")
        told, _, path = rest.partition("|")
        if kind == "directory":
            yield folder(path), ""
        elif path:
            yield file(path), told


def _messages(result: ShellResult) -> Iterator[Fact]:
    for row in checks.rows(result):
        yield from message(row.get("type", ""), row.get("address", ""), row.get("body", ""))


def _calls(result: ShellResult) -> Iterator[Fact]:
    for row in checks.rows(result):
        yield call(row.get("type", ""), row.get("number", ""), row.get("date", ""))


def _people(result: ShellResult) -> Iterator[Fact]:
    rows = checks.rows(result)
    yield from people(tuple(_plain(row, name) for name in _DATA) for row in rows)  # type: ignore[misc]


def _events(result: ShellResult) -> Iterator[Fact]:
    for row in checks.rows(result):
        yield event(*(_plain(row, name) for name in _EVENT))


def _alarms(result: ShellResult) -> Iterator[Fact]:
    for line in result.text.splitlines():
        cells = line.split("|", 4)
        if len(cells) == 5:
            yield alarm(*cells)


def _plain(row: Mapping[str, str], name: str) -> str:
    value = row.get(name, "")
    return "" if value == "NULL" else value


_LINES: Mapping[str, Callable[[ShellResult], Iterator[Fact]]] = {
    **{f"settings list {namespace}": _settings(namespace) for namespace in _TABLES["watched"]},
    "getprop persist.sys.timezone; getprop persist.sys.locale": _properties,
    "pm list packages -3; echo --; pm list packages -d": _apps,
    checks.DISKSTATS: _storage,
    _FILES: _files,
    checks.content("content://sms", ("type", "address", "body")): _messages,
    checks.content("content://call_log/calls", ("type", "number", "date")): _calls,
    checks.content(records.DATA, _DATA): _people,
    checks.content(records.EVENTS, _EVENT, "deleted=0"): _events,
    _ALARMS: _alarms,
}
"""A line for the shell, and what its output tells."""


_LOG = "dumpsys settings 2>/dev/null"
_OPERATION = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?:update|insert) (\S+)")


def settings_log(shell: Shell) -> tuple[str, ...] | None:
    """The settings that were changed, the last one last.

    `dumpsys settings` of a debuggable phone ends each namespace's table with its last twenty
    operations, the newest first, to the second (AOSP's `SettingsState`); None of others.
    """
    found: list[tuple[str, int, str]] = []
    namespace, place = "", 0
    for line in shell(_LOG).text.splitlines():
        if " SETTINGS (user " in line:
            namespace = line.split()[0].lower()
        operation = _OPERATION.match(line.strip())
        if operation and namespace:
            place -= 1  # within a second of one namespace, the earlier line is the later change
            found.append((operation[1], place, f"{namespace} {operation[2]}"))
    return tuple(name for _, _, name in sorted(found)) if found else None
