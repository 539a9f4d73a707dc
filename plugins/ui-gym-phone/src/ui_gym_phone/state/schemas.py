"""Schemas: the tables of Android's own providers and of its clock, under Android's names.

Tables and columns are those of AOSP's `MmsSmsDatabaseHelper`, `ContactsDatabaseHelper`,
`CallLogDatabaseHelper`, `CalendarDatabaseHelper` and DeskClock's `ClockDatabaseHelper`, less the
tables that nothing here fills. `Instances` is a view here, as no event of the phone is repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from ui_gym_phone import data

TELEPHONY = "com.android.providers.telephony"
CONTACTS = "com.android.providers.contacts"
CALENDAR = "com.android.providers.calendar"
DESK_CLOCK = "com.google.android.deskclock"

MIMETYPES: Mapping[str, int] = {
    f"vnd.android.cursor.item/{kind}": row for kind, row in data.table("mimetypes").items()
}
"""Kinds of a contact's data, and their rows in ``mimetypes``."""


class Schema(NamedTuple):
    """One database: whose it is. ``data/<name>.sql`` makes it."""

    package: str
    protected: bool = False
    """Whether it lies in device-protected storage (``/data/user_de``)."""


SCHEMAS = {
    "mmssms.db": Schema(TELEPHONY),
    "contacts2.db": Schema(CONTACTS),
    "calllog.db": Schema(CONTACTS),
    "calendar.db": Schema(CALENDAR),
    "alarms.db": Schema(DESK_CLOCK, protected=True),
}
"""File name -> what it is."""


@cache
def script(name: str) -> str:
    """What makes the database of a file name."""
    written = data.text(name.replace(".db", ".sql"))
    if name == "contacts2.db":
        for kind, number in MIMETYPES.items():
            written += f"INSERT INTO mimetypes VALUES ({number}, '{kind}');\n"
    return written
