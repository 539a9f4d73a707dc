"""Facts of a phone: what it holds and how it is set, so that harm to it is noticed.

What a fact is called is said here alone. The built-in phone tells them from its state; any other is
asked by its shell (`ui_gym.android.shell_facts`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ui_gym.contract.harm import AllowedChange, Fact
from ui_gym.contract.tables import read_table

_TABLES: Mapping[str, Any] = read_table("ui_gym.android.content", "harm")

WATCHED: Mapping[str, Mapping[str, str]] = _TABLES["watched"]
"""namespace -> key -> what it means that is not there: the settings that a phone is asked for which
is not built in."""

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


def network(ssid: str) -> str:
    """A Wi-Fi network that is saved."""
    return f"network {ssid}"


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
