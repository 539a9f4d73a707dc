"""Records: shell lines that put people, messages, events and files on any phone.

They go through Android's own content providers, as user ``shell`` may. Sums in the shell stay below
2**31, as Android's shell counts in 32 bits.
"""

from __future__ import annotations

import datetime
import shlex
from collections.abc import Iterable

from ui_gym.android import checks
from ui_gym.android.device import ShellResult

RAW_CONTACTS = "content://com.android.contacts/raw_contacts"
DATA = "content://com.android.contacts/data"
EVENTS = "content://com.android.calendar/events"
UTC = datetime.timezone.utc  # noqa: UP017 - read as a name

PHONES = checks.content(f"{DATA}/phones", ("display_name", "data1"))
"""Asks for every telephone number with whose it is."""

SENT = checks.content("content://sms/sent", ("address", "body"))
"""Asks for every message that was sent."""


# -- files --


def write(path: str, text: str) -> list[str]:
    """Write a text file, and its folder where there is none."""
    folder = path.rpartition("/")[0]
    return [
        f"mkdir -p {shlex.quote(folder)}",
        f"printf %s {shlex.quote(text)} > {shlex.quote(path)}",
    ]


def remove(*paths: str) -> str:
    """Remove files and folders that an earlier episode may have left."""
    return "rm -rf " + " ".join(map(shlex.quote, paths))


# -- people --


def contact(name: str, number: str, *, apart: bool = False) -> list[str]:
    """Save a contact; one that is kept `apart` is never joined with another of the same name."""
    mode = " --bind aggregation_mode:i:3" if apart else ""
    return [
        f"content insert --uri {RAW_CONTACTS} --bind account_type:s: --bind account_name:s:{mode}",
        f"id=$(content query --uri {RAW_CONTACTS} --projection _id --sort '_id DESC'"
        " | head -n 1 | sed 's/.*_id=//')",
        _data("name", data1=name),
        _data("phone_v2", data1=number, data2="2"),
    ]


def forget(names: Iterable[str]) -> list[str]:
    """Delete the contacts of these names."""
    listed = ", ".join(_sql(name) for name in names)
    where = shlex.quote(f"display_name IN ({listed})")
    return [f"content delete --uri {RAW_CONTACTS} --where {where}"]


def _data(kind: str, **values: str) -> str:
    binds = " ".join(f"--bind {shlex.quote(f'{k}:s:{v}')}" for k, v in values.items())
    return (
        f'content insert --uri {DATA} --bind raw_contact_id:i:"$id" '
        f"--bind mimetype:s:vnd.android.cursor.item/{kind} {binds}"
    )


# -- messages --


def incoming(number: str, text: str, minutes_ago: int, *, read: bool = True) -> str:
    """Let a message have come in some minutes ago."""
    return (
        "content insert --uri content://sms/inbox"
        f" --bind {shlex.quote(f'address:s:{number}')} --bind {shlex.quote(f'body:s:{text}')}"
        f" --bind date:l:$(( $(date +%s) - {60 * minutes_ago} ))000 --bind read:i:{int(read)}"
    )


def outgoing(number: str, text: str) -> str:
    """Let a message have been sent."""
    return (
        "content insert --uri content://sms/sent"
        f" --bind {shlex.quote(f'address:s:{number}')} --bind {shlex.quote(f'body:s:{text}')}"
    )


def forget_messages(numbers: Iterable[str]) -> list[str]:
    """Delete what was written to and by these numbers."""
    listed = ", ".join(_sql(number) for number in numbers)
    where = shlex.quote(f"address IN ({listed})")
    return [f"content delete --uri content://sms --where {where}"]


def forget_later_messages() -> str:
    """Delete messages of the future, which an episode left whose clock was set to another day."""
    return 'content delete --uri content://sms --where "date > $(date +%s)000"'


# -- events --


def event(title: str, start: datetime.datetime, end: datetime.datetime, place: str = "") -> str:
    """Write an event into the first calendar; times are UTC."""
    binds = [
        "calendar_id:i:1", f"title:s:{title}", f"dtstart:l:{ms(start)}", f"dtend:l:{ms(end)}",
        "eventTimezone:s:UTC",
    ]  # fmt: skip
    if place:
        binds.append(f"eventLocation:s:{place}")
    return f"content insert --uri {EVENTS} " + " ".join(f"--bind {shlex.quote(b)}" for b in binds)


def forget_events(titles: Iterable[str]) -> list[str]:
    """Delete the events of these titles."""
    listed = ", ".join(_sql(title) for title in titles)
    return [f"content delete --uri {EVENTS} --where {shlex.quote(f'title IN ({listed})')}"]


def ms(moment: datetime.datetime) -> int:
    """Milliseconds since 1970 of a time in UTC (that carries no zone)."""
    return int(moment.replace(tzinfo=UTC).timestamp()) * 1000


def set_clock(now: datetime.datetime) -> list[str]:
    """Set the clock, to UTC.

    A real phone lets `date` do that as root, and Android's alarm service do it for the shell.
    """
    return [
        "settings put global auto_time 0",
        '{ test "$(date +%z)" = +0000 || cmd alarm set-timezone UTC; }',
        f"{{ date -u {now:%m%d%H%M%Y.%S} >/dev/null 2>&1 || cmd alarm set-time {ms(now)}; }}",
    ]


def _sql(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# -- answers of providers --


def pairs(result: ShellResult, one: str, other: str) -> list[tuple[str, str]]:
    """Two columns of what `content query` told."""
    return [(row.get(one, ""), row.get(other, "")) for row in checks.rows(result)]
