"""Values of records, as they are shown and as they are written."""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from ui_gym_phone.apps import dates
from ui_gym_phone.apps.shelf.records.spec import RecordField, RecordsSpec
from ui_gym_phone.state.databases import text, whole
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.state.records import Record

METRES = 1609.344
"""In a mile."""


def shown(phone: Phone, about: RecordField, value: Any) -> str:
    """A value as it is read."""
    if about.kind == "choice":
        return about.choices.get(text(value), text(value))
    if about.kind == "money":
        return f"${money_text(value)}"
    if about.kind == "moment":
        at = moment(phone, about, value)
        if at is None:
            return ""
        return f"{day_text(at)} {dates.time_text(phone, at.hour, at.minute)}"
    if about.kind == "span":
        minutes, seconds = divmod(whole(value) // 1000, 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes:02}:{seconds:02}"
    if about.kind == "length":
        return f"{_number(value) / METRES:.2f} mi"
    if about.kind == "flag":
        return "Yes" if whole(value) else "No"
    return text(value)


def day_text(at: datetime) -> str:
    """``Mon, Oct 16 2023``."""
    return f"{at:%a, %b} {at.day} {at.year}"


def _number(value: Any) -> float:
    try:
        return float(text(value))
    except ValueError:
        return 0.0


def money_text(value: Any) -> str:
    """Hundredths with a point: ``123.45``."""
    return f"{whole(value) / 100:.2f}"


def moment(phone: Phone, about: RecordField, value: Any) -> datetime | None:
    """A time as the phone shows it; None where there is none."""
    number = whole(value)
    return (
        None
        if number == 0
        else dates.moment(phone, number if about.unit == "ms" else number * 1000)
    )


def time_only(phone: Phone, about: RecordField, value: Any) -> str:
    """The time of day of a moment."""
    at = moment(phone, about, value)
    return dates.time_text(phone, at.hour, at.minute) if at else ""


def filled(phone: Phone, spec: RecordsSpec, template: str, row: Record) -> str:
    """A template with the record's values: ``{column}``, or ``{column:time}`` for its time."""

    def value(match: re.Match[str]) -> str:
        about = spec.field_of(match[1])
        cell = row.get(match[1])
        return time_only(phone, about, cell) if match[2] else shown(phone, about, cell)

    parts = [re.sub(r"\{(\w+)(:time)?\}", value, part) for part in template.split(" · ")]
    return " · ".join(part for part in parts if part.strip())


def written(phone: Phone, about: RecordField, said: str) -> Any:
    """What a form's text is in its column. ValueError where it cannot be that."""
    if about.kind == "money":
        try:
            return int((Decimal(said.strip().lstrip("$") or "0") * 100).to_integral_value())
        except InvalidOperation:
            raise ValueError(f"{about.label} is a number such as 12.50") from None
    if about.kind in ("choice", "number", "flag"):
        return int(said) if re.fullmatch(r"-?\d+", said.strip()) else said
    if about.kind == "moment":
        ms = phone.clock.to_ms(datetime.fromisoformat(said))
        return ms if about.unit == "ms" else ms // 1000
    return said
