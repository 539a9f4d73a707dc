"""RecordsSpec: what an app of records is made of, as its table in ``data`` says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ui_gym_phone import data
from ui_gym_phone.state import records, shelf
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.state.records import Record

SHOW, EDIT = ".RecordActivity", ".EditRecordActivity"
"""The activities of a record and of its form."""


@dataclass(frozen=True)
class RecordField:
    """A column as a person sees it.

    Kinds: ``text``, ``lines`` (of text), ``number``, ``money`` (hundredths), ``choice`` (of
    `choices`), ``flag`` (0 or 1), ``moment`` (a time; `unit` says of which), ``span`` (how long,
    in milliseconds), ``length`` (metres, shown as miles or feet).
    """

    column: str
    label: str
    kind: str = "text"
    choices: Mapping[str, str] = field(default_factory=dict)
    """Values as texts, and what they are called."""
    unit: str = "ms"
    """Of a moment: ``ms`` or ``s`` since 1970."""
    start: str = ""
    """What a new record's form begins with; of a moment, hours from the next full hour."""
    form: bool = True
    """Whether the form has it."""
    shown: bool = True
    """Whether a record's page has it."""


@dataclass(frozen=True)
class RecordsSpec:
    """An app of records."""

    package: str
    path: str
    """Its database."""
    table: str
    key: str
    order: str
    """How the list is ordered, in SQL."""
    title: str
    fields: Sequence[RecordField]
    where: str = "1"
    joined: str = ""
    """A column more, in SQL, of another table."""
    row: Mapping[str, str] = field(default_factory=dict)
    """A row of the list: ``title``, ``subtitle``, ``trail``, ``icon``; columns in braces."""
    new: str = ""
    """What the button is called that makes a record; without one, records are only read."""
    noun: str = "record"
    save: str = "Save"
    days: str = ""
    """The column of a moment by which the list has a heading for each day."""
    done: str = ""
    """The column of a moment that marks a record as done, and is crossed off in the list."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Cells of a new record beside the form's."""
    stamps: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Columns that are set to the time in milliseconds: ``made`` and ``changed``."""
    after: str = ""
    """A statement that follows each writing; ``:id`` is the record's."""

    def rows(self, phone: Phone) -> tuple[Record, ...]:
        """All records, in the list's order."""
        columns = f"*, {self.joined}" if self.joined else "*"
        sql = f'SELECT {columns} FROM "{self.table}" WHERE {self.where} ORDER BY {self.order}'
        return records.rows(phone, self.path, sql)

    def find(self, phone: Phone, id: Any) -> Record | None:
        """The record of an id, if there is one."""
        return next((row for row in self.rows(phone) if row.get(self.key) == id), None)

    def field_of(self, column: str) -> RecordField:
        """The field of a column; one that is not declared is plain text."""
        found = next((each for each in self.fields if each.column == column), None)
        return found or RecordField(column, column)


@cache
def spec_of(package: str) -> RecordsSpec:
    """The spec that an app's tables say."""
    about = shelf.written()[package]
    written = dict(data.table(about["records"]))
    fields = tuple(RecordField(**each) for each in written.pop("field"))
    return RecordsSpec(package, about["database"], fields=fields, **written)
