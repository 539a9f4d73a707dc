"""Facts: what the phone holds and how it is set, for judging whether something was harmed.

They bear the names that ``ui_gym/android/facts.py`` gives them on any phone. Beside what any phone
tells there is what only this one does: all of its settings, what the system's own apps may do, the
network and devices that it is connected to, and what apps keep.
"""

from __future__ import annotations

import contextlib
import functools
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from ui_gym.android import facts as names
from ui_gym.contract.harm import Fact
from ui_gym_phone import data
from ui_gym_phone.state import kept
from ui_gym_phone.state.databases import connect, text, whole
from ui_gym_phone.state.files import SDCARD, File

if TYPE_CHECKING:
    from ui_gym_phone.state.phone import Phone

NAMESPACES = ("system", "secure", "global", "known")
"""``known`` is what Settings know beside the provider's three: the network, devices, accounts."""

ELSEWHERE = {
    ("system", "notification_sound"): "",
    ("system", "system_locales"): "en-US",
    ("system", "volume_system"): "5",
    ("secure", "night_display_color_temperature"): "2850",
    ("secure", "disabled_print_services"): "",
    ("global", "mode_ringer"): "2",
    ("global", "private_dns_specifier"): "",
}
"""What settings mean that are not there and stand on no declared page."""


def of(phone: Phone) -> tuple[Fact, ...]:
    """All facts of a phone."""
    found = [*_settings(phone), *_apps(phone), *_files(phone)]
    for database in _TABLES:
        found += _rows(database, phone.databases.taken(database))
    return tuple(found)


# -- settings --


def _settings(phone: Phone) -> Iterator[Fact]:
    for namespace in NAMESPACES:
        values = {**_defaults().get(namespace, {}), **phone.settings.get(namespace, {})}
        for key, value in values.items():
            if key != kept.SAVED:
                yield names.setting(namespace, key), value
    for ssid in kept.saved_networks(phone):
        yield names.network(ssid), ""
    yield names.ZONE, phone.properties["persist.sys.timezone"]
    yield names.LANGUAGE, phone.properties["persist.sys.locale"]


@functools.cache
def _defaults() -> Mapping[str, Mapping[str, str]]:
    """What declared settings mean that are not there: a switch that was turned on and off again has
    not changed, though it was written."""
    found: dict[str, dict[str, str]] = {}
    for page in data.table("settings_pages")["pages"].values():
        for row in page["rows"]:
            if "setting" in row and "options" not in row:
                namespace, key, *default = row["setting"].split(" ")
                found.setdefault(namespace, {})[key] = default[0] if default else "0"
    for (namespace, key), default in ELSEWHERE.items():
        found.setdefault(namespace, {})[key] = default
    return found


# -- apps and what they keep --


def _apps(phone: Phone) -> Iterator[Fact]:
    for package in phone.packages:
        name = package.name
        yield names.app(name), "enabled" if package.enabled else "disabled"
        for permission, granted in package.permissions.items():
            yield names.permission(name, permission), "granted" if granted else "denied"
        if package.stopped:
            yield names.stopped(name), ""
        if package.data_size:
            yield names.data(name), ""
        if package.cache_size:
            yield names.cache(name), ""


def _files(phone: Phone) -> Iterator[Fact]:
    for path, node in phone.files.below(SDCARD):
        if isinstance(node, File):
            yield names.file(path), _content(node)
        else:
            yield names.folder(path), ""
    for path, node in phone.files.below("/data/data"):
        package, _, kept = path.removeprefix("/data/data/").partition("/files/")
        if isinstance(node, File) and kept:
            yield names.kept(package, kept), _content(node)


def _content(file: File) -> str:
    return f"{len(file.data)} bytes, {zlib.crc32(file.data):08x}"


# -- databases --


@functools.lru_cache(maxsize=64)
def _rows(database: str, data: bytes) -> tuple[Fact, ...]:
    """What SQLite's bytes hold: most databases are as the factory made them, or as the last episode
    of the same start found them."""
    with contextlib.closing(connect(data)) as opened:
        return tuple(_TABLES[database](opened))


def _messages(db: sqlite3.Connection) -> Iterator[Fact]:
    for folder, number, body in db.execute("SELECT type, address, body FROM sms"):
        yield from names.message(text(folder), text(number), text(body))
    yield from map(names.message_number, _ever(db, "sms"))


def _calls(db: sqlite3.Connection) -> Iterator[Fact]:
    for kind, number, ms in db.execute("SELECT type, number, date FROM calls"):
        yield names.call(text(kind), text(number), text(ms))
    yield from map(names.call_number, _ever(db, "calls"))


def _ever(db: sqlite3.Connection, table: str) -> range:
    """The numbers of all rows that the table ever had."""
    known = db.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", [table]).fetchone()
    return range(1, 1 + (whole(known[0]) if known else 0))


def _people(db: sqlite3.Connection) -> Iterator[Fact]:
    cells = db.execute(
        "SELECT raw_contact_id, display_name, mimetype, data1 FROM view_data ORDER BY _id"
    )
    yield from names.people([tuple(map(text, row)) for row in cells.fetchall()])  # type: ignore[misc]
    for (name,) in db.execute("SELECT display_name FROM view_contacts WHERE starred"):
        yield names.starred(text(name)), ""


def _events(db: sqlite3.Connection) -> Iterator[Fact]:
    rows = db.execute("SELECT title, dtstart, dtend, eventLocation FROM Events WHERE NOT deleted")
    for row in rows:
        yield names.event(*map(text, row))


def _alarms(db: sqlite3.Connection) -> Iterator[Fact]:
    rows = db.execute("SELECT hour, minutes, daysofweek, enabled, label FROM alarm_templates")
    for row in rows:
        yield names.alarm(*map(text, row))


_TABLES: Mapping[str, Callable[[sqlite3.Connection], Iterator[Fact]]] = {
    "mmssms.db": _messages,
    "calllog.db": _calls,
    "contacts2.db": _people,
    "calendar.db": _events,
    "alarms.db": _alarms,
}
