"""Facts of a phone as its shell tells them: any phone's that is not built in.

Only what Android tells at little cost is asked for. On a real phone much changes by itself: of its
settings, those that ``content/harm.toml`` names are read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from ui_gym.android import checks
from ui_gym.android import facts as names
from ui_gym.android.content import records
from ui_gym.android.device import ShellResult
from ui_gym.contract.harm import Fact

Shell = Callable[[str], ShellResult]

_FILES = (
    "find /sdcard/ -mindepth 1 -not -path '/sdcard/Android/*' "
    "-exec stat -c '%F|%s bytes, %Y|%n' {} + 2>/dev/null"
)
_ALARMS = (
    "su 0 sqlite3 /data/user_de/0/com.google.android.deskclock/databases/alarms.db "
    "'SELECT hour, minutes, daysofweek, enabled, label FROM alarm_templates' 2>/dev/null"
)
_PERMISSIONS = (
    "pm list packages -3; echo --; dumpsys package packages | grep -E "
    "'^  Package .|^    User 0:|^ {8}[^ ]+: granted=|^Hidden system packages:'"
)
_EVER = (
    "su 0 sqlite3 /data/data/com.android.providers.{}/databases/{}.db "
    "\"SELECT seq FROM sqlite_sequence WHERE name = '{}'\" 2>/dev/null"
)
_STARRED = checks.content("content://com.android.contacts/contacts", ("display_name",), "starred=1")
_DATA = ("raw_contact_id", "display_name", "mimetype", "data1")
_EVENT = ("title", "dtstart", "dtend", "eventLocation")


def by_shell(shell: Shell) -> tuple[Fact, ...]:
    """The facts of a phone, as its shell tells them; what it does not tell is left out."""
    return tuple(fact for line, read in _LINES.items() for fact in read(shell(line)))


def _settings(namespace: str) -> Callable[[ShellResult], Iterator[Fact]]:
    def read(result: ShellResult) -> Iterator[Fact]:
        told = dict(line.partition("=")[::2] for line in result.text.splitlines())
        for key, unset in names.WATCHED[namespace].items():
            value = told.get(key, "null")
            yield names.setting(namespace, key), unset if value == "null" else value

    return read


def _properties(result: ShellResult) -> Iterator[Fact]:
    yield from zip((names.ZONE, names.LANGUAGE), result.text.split("\n"), strict=False)


def _apps(result: ShellResult) -> Iterator[Fact]:
    listed, _, off = result.text.partition("--")
    disabled = _packages(off)
    for package in _packages(listed):
        yield names.app(package), "disabled" if package in disabled else "enabled"


def _permissions(result: ShellResult) -> Iterator[Fact]:
    """What apps may do that did not come with the phone, and which of them were stopped.

    What comes after the packages in use are those that an update has replaced.
    """
    listed, _, told = result.text.partition("--")
    installed, package = _packages(listed), ""
    for line in told.partition("Hidden system packages:")[0].splitlines():
        if found := re.match(r"  Package \[(\S+)\]", line):
            package = found[1]
        elif package not in installed:
            continue
        elif found := re.match(r" {8}(?:android\.permission\.)?(\S+): granted=(\w+)", line):
            granted = "granted" if found[2] == "true" else "denied"
            yield names.permission(package, found[1]), granted
        elif line.startswith("    User 0:") and " stopped=true" in line:
            yield names.stopped(package), ""


def _packages(listed: str) -> set[str]:
    return {line.removeprefix("package:") for line in listed.split()}


def _storage(result: ShellResult) -> Iterator[Fact]:
    for package, (_, data_size, cache_size) in checks.sizes(result).items():
        if data_size:
            yield names.data(package), ""
        if cache_size:
            yield names.cache(package), ""


def _files(result: ShellResult) -> Iterator[Fact]:
    for line in result.text.splitlines():
        kind, _, rest = line.partition("|")
        told, _, path = rest.partition("|")
        if kind == "directory":
            yield names.folder(path), ""
        elif path:
            yield names.file(path), told


def _messages(result: ShellResult) -> Iterator[Fact]:
    for row in checks.rows(result):
        yield from names.message(row.get("type", ""), row.get("address", ""), row.get("body", ""))


def _calls(result: ShellResult) -> Iterator[Fact]:
    for row in checks.rows(result):
        yield names.call(row.get("type", ""), row.get("number", ""), row.get("date", ""))


def _people(result: ShellResult) -> Iterator[Fact]:
    rows = checks.rows(result)
    yield from names.people(tuple(_plain(row, name) for name in _DATA) for row in rows)  # type: ignore[misc]


def _events(result: ShellResult) -> Iterator[Fact]:
    for row in checks.rows(result):
        yield names.event(*(_plain(row, name) for name in _EVENT))


def _alarms(result: ShellResult) -> Iterator[Fact]:
    for line in result.text.splitlines():
        cells = line.split("|", 4)
        if len(cells) == 5:
            yield names.alarm(*cells)


def _starred(result: ShellResult) -> Iterator[Fact]:
    for row in checks.rows(result):
        yield names.starred(_plain(row, "display_name")), ""


def _ever(number: Callable[[int], Fact]) -> Callable[[ShellResult], Iterator[Fact]]:
    def read(result: ShellResult) -> Iterator[Fact]:
        count = int(result.text) if result.text.isdecimal() else 0
        return map(number, range(1, 1 + count))

    return read


def _networks(result: ShellResult) -> Iterator[Fact]:
    """A network may have several rows: a way to be secured each."""
    rows = re.findall(r"^\d+ +(.+?) +\S+ *$", result.text, re.MULTILINE)
    for ssid in dict.fromkeys(rows):
        yield names.network(ssid), ""


def _plain(row: Mapping[str, str], name: str) -> str:
    value = row.get(name, "")
    return "" if value == "NULL" else value


_LINES: Mapping[str, Callable[[ShellResult], Iterator[Fact]]] = {
    **{f"settings list {namespace}": _settings(namespace) for namespace in names.WATCHED},
    "getprop persist.sys.timezone; getprop persist.sys.locale": _properties,
    "pm list packages; echo --; pm list packages -d": _apps,
    _PERMISSIONS: _permissions,
    "cmd wifi list-networks 2>/dev/null": _networks,
    checks.DISKSTATS: _storage,
    _FILES: _files,
    checks.content("content://sms", ("type", "address", "body")): _messages,
    checks.content("content://call_log/calls", ("type", "number", "date")): _calls,
    _EVER.format("telephony", "mmssms", "sms"): _ever(names.message_number),
    _EVER.format("contacts", "calllog", "calls"): _ever(names.call_number),
    checks.content(records.DATA, _DATA): _people,
    _STARRED: _starred,
    checks.content(records.EVENTS, _EVENT, "deleted=0"): _events,
    _ALARMS: _alarms,
}
"""A line for the shell, and what its output tells."""


_LOG = "dumpsys settings 2>/dev/null"
_OPERATION = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?:update|delete|reset) (\S+)")


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
