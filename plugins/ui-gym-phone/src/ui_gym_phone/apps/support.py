"""What several apps share: records in a data folder, and how sizes and dates are written."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from ui_gym_phone.apps.dates import time_text
from ui_gym_phone.state import switches
from ui_gym_phone.state.display import display

if TYPE_CHECKING:
    from ui_gym_phone.state.phone import Phone
    from ui_gym_phone.ui.app import Ui

T = TypeVar("T")


def kept(phone: Phone, package: str, name: str, parse: Callable[[Any], T]) -> list[T]:
    """The records that an app keeps under a name, in its data folder, as JSON.

    `parse` makes a record of what JSON holds. One that it refuses is left out: a shell may have
    written to the file, too.
    """
    try:
        rows = json.loads(phone.files.read(_path(package, name)))
    except (OSError, ValueError, RecursionError):
        return []
    found = []
    for row in rows if isinstance(rows, list) else []:
        try:
            found.append(parse(row))
        except (KeyError, TypeError, ValueError, ArithmeticError):
            continue
    return found


def keep(phone: Phone, package: str, name: str, rows: Sequence[object]) -> None:
    """Write an app's records: plain data. Where that cannot be, a toast says why."""
    path = _path(package, name)
    try:
        phone.files.mkdir(path.rpartition("/")[0], parents=True)
        phone.files.write(path, json.dumps(list(rows)).encode())
    except OSError as error:
        phone.say(error.strerror or "Something went wrong")


def _path(package: str, name: str) -> str:
    return f"/data/data/{package}/files/{name}.json"


def write_to(ui: Ui, number: str) -> None:
    """Open the conversation with a number."""
    ui.start("com.android.messaging", ".ConversationActivity", number=number)


def attempt(ui: Ui, change: Callable[[], object]) -> bool:
    """Change files; where that cannot be done, a toast says why."""
    try:
        change()
    except OSError as error:
        ui.say(error.strerror or "Something went wrong")
        return False
    return True


def free_path(phone: Phone, folder: str, name: str) -> str:
    """Where a new file of this name goes: ``a (1).txt`` where ``a.txt`` is taken."""
    stem, dot, ending = name.rpartition(".")
    if not stem:
        stem, dot, ending = name, "", ""
    path, number = f"{folder}/{name}", 0
    while phone.files.exists(path):
        number += 1
        path = f"{folder}/{stem} ({number}){dot}{ending}"
    return path


def small(phone: Phone) -> bool:
    """Whether the screen is lower than any real phone's is."""
    return display(phone).dp[1] < 500


def online(phone: Phone) -> bool:
    """Whether the phone has a way to the internet."""
    if switches.wifi_on(phone):
        return True
    return switches.mobile_data(phone) and not switches.airplane(phone)


def size_text(size: float) -> str:
    """Bytes as Android's `Formatter` writes them: ``512 B``, ``3.40 kB``, ``61.0 MB``."""
    if size < 900:
        return f"{size:.0f} B"
    units = ["kB", "MB", "GB"]
    size /= 1000
    while size >= 900 and len(units) > 1:
        size /= 1000
        units.pop(0)
    places = 0 if size >= 100 else 1 if size >= 10 else 2
    return f"{size:.{places}f} {units[0]}"


def moment(phone: Phone, seconds: float) -> datetime | None:
    """Seconds since 1970 as the phone shows them; None beyond the years that a calendar has."""
    try:
        return phone.clock.of(int(seconds * 1000))
    except (ValueError, OverflowError, OSError):
        return None


def day_text(phone: Phone, seconds: float) -> str:
    """A moment (seconds since 1970): the time of day where it was today, else the date."""
    when, now = moment(phone, seconds), phone.clock.local
    if when is None:
        return "Unknown date"
    if when.date() == now.date():
        return time_text(phone, when.hour, when.minute)
    return f"{when:%b} {when.day}" + ("" if when.year == now.year else f", {when.year}")
