"""Contacts: typed functions over the contacts provider's database."""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ui_gym_phone.state import databases
from ui_gym_phone.state.databases import text, whole
from ui_gym_phone.state.schemas import MIMETYPES

if TYPE_CHECKING:
    from ui_gym_phone.state.phone import Phone

NAME = "vnd.android.cursor.item/name"
PHONE = "vnd.android.cursor.item/phone_v2"
EMAIL = "vnd.android.cursor.item/email_v2"
NOTE = "vnd.android.cursor.item/note"

HOME, MOBILE, WORK = 1, 2, 3
"""Kinds of a phone number: `CommonDataKinds.Phone.TYPE_...`."""

KINDS = {HOME: "Home", MOBILE: "Mobile", WORK: "Work", 7: "Other"}
"""What the kinds are called."""


@dataclass(frozen=True)
class Contact:
    """A person. `numbers` are (number, kind), the first being the first that was added."""

    id: int
    name: str
    numbers: tuple[tuple[str, int], ...] = ()
    emails: tuple[str, ...] = ()
    note: str = ""
    starred: bool = False

    @property
    def number(self) -> str:
        """The first number; empty where there is none."""
        return self.numbers[0][0] if self.numbers else ""


def add(
    phone: Phone,
    name: str,
    number: str = "",
    *,
    kind: int = MOBILE,
    email: str = "",
    note: str = "",
) -> int:
    """Save a person; returns the contact's id."""
    raw = new_raw(phone)
    _fill(phone, raw, name, number, kind, email, note)
    row = _db(phone).execute("SELECT contact_id FROM raw_contacts WHERE _id = ?", [raw]).fetchone()
    return whole(row[0])


def all(phone: Phone) -> list[Contact]:
    """Everybody, by name."""
    return [*phone.databases.derived("contacts2.db", "all", lambda: _all(_db(phone)))]


def _all(db: sqlite3.Connection) -> list[Contact]:
    cells: dict[int, list[tuple[str, str, int]]] = {}
    rows = db.execute("SELECT contact_id, mimetype, data1, data2 FROM view_data ORDER BY _id")
    for contact, kind, one, two in rows:
        cells.setdefault(whole(contact), []).append((text(kind), text(one), whole(two)))
    people = [
        _contact(whole(id), text(name), cells.get(whole(id), []), bool(whole(starred)))
        for id, name, starred in db.execute("SELECT _id, display_name, starred FROM view_contacts")
    ]
    return sorted(people, key=lambda c: (c.name.casefold(), c.id))


def get(phone: Phone, id: int) -> Contact | None:
    """The contact of this id."""
    return next((c for c in all(phone) if c.id == id), None)


def find(phone: Phone, who: str) -> Contact | None:
    """The first contact of this name (letter case does not matter) or this number."""
    wanted = who.strip().casefold()
    people = all(phone)
    named = next((c for c in people if c.name.casefold() == wanted), None)
    if named is not None or not wanted:
        return named
    return next((c for c in people if any(same_number(n, who) for n, _ in c.numbers)), None)


def name_of(phone: Phone, number: str) -> str:
    """How a number is shown: its contact's name, or the number."""
    person = person_with(phone, number)
    return person.name if person is not None else number


def person_with(phone: Phone, number: str) -> Contact | None:
    """The first contact that has a number."""
    index = phone.databases.derived("contacts2.db", "numbers", lambda: _index(phone))
    found = index.get(digits(number)[-7:], ())
    return next((who for who, n in found if same_number(n, number)), None)


def _index(phone: Phone) -> dict[str, list[tuple[Contact, str]]]:
    """Who has numbers with these last seven digits: without these, no two are the same."""
    index: dict[str, list[tuple[Contact, str]]] = {}
    for person in all(phone):
        for number, _ in person.numbers:
            index.setdefault(digits(number)[-7:], []).append((person, number))
    return index


def update(
    phone: Phone,
    id: int,
    name: str,
    number: str = "",
    *,
    kind: int = MOBILE,
    email: str = "",
    note: str = "",
) -> None:
    """Give a contact another name, number, address and note; its other numbers stay."""
    old = get(phone, id)
    if old is None:
        return
    db = _db(phone)
    raw = whole(
        db.execute("SELECT name_raw_contact_id FROM contacts WHERE _id = ?", [id]).fetchone()[0]
    )
    rest = [*old.numbers[1:]]
    for kind_name in (NAME, PHONE, EMAIL, NOTE):
        sql = "DELETE FROM data WHERE raw_contact_id = ? AND mimetype_id = ?"
        db.execute(sql, [raw, MIMETYPES[kind_name]])
    _fill(phone, raw, name, number, kind, email, note)
    for other, its_kind in rest:
        new_data(phone, raw, PHONE, {"data1": other, "data2": its_kind})
    for other in old.emails[1:]:
        new_data(phone, raw, EMAIL, {"data1": other, "data2": HOME})


def star(phone: Phone, id: int, on: bool = True) -> None:
    """Make a contact a favourite, or no more."""
    db = _db(phone)
    databases.update(db, "contacts", id, starred=int(on))
    db.execute("UPDATE raw_contacts SET starred = ? WHERE contact_id = ?", [int(on), id])


def delete(phone: Phone, id: int) -> None:
    """Forget a contact."""
    _db(phone).execute("DELETE FROM raw_contacts WHERE contact_id = ?", [id])


def same_number(one: str, other: str) -> bool:
    """Whether two ways of writing are one number: what is dialled counts, and the last seven to
    ten digits decide, as one may come with its country's prefix."""
    a, b = digits(one), digits(other)
    shared = min(len(a), len(b), 10)
    if shared < 7:
        return a == b if a or b else one.strip() == other.strip()
    return a[-shared:] == b[-shared:]


def digits(number: str) -> str:
    """A number without all that is not dialled."""
    return "".join(c for c in number if c in "0123456789*#")


def new_raw(phone: Phone) -> int:
    """Insert a raw contact, with the contact that it makes; returns its id."""
    db = _db(phone)
    raw = databases.insert(db, "raw_contacts", display_name=None)
    lookup = hashlib.sha256(b"%d" % raw).hexdigest()[:20]
    contact = databases.insert(db, "contacts", name_raw_contact_id=raw, lookup=lookup)
    databases.update(db, "raw_contacts", raw, contact_id=contact)
    return raw


def new_data(phone: Phone, raw: int, kind: str, cells: dict[str, str | int]) -> int:
    """Insert a row of a raw contact's data; `cells` are ``data1`` and so on. Returns its id.

    KeyError where `kind` is no mimetype that the provider knows.
    """
    known = {name: text(cell) for name, cell in cells.items() if name in _CELLS}
    db = _db(phone)
    made = databases.insert(db, "data", mimetype_id=MIMETYPES[kind], raw_contact_id=raw, **known)
    if kind == PHONE and (number := digits(text(cells.get("data1")))):
        db.execute(
            "INSERT INTO phone_lookup VALUES (?, ?, ?, ?)", [made, raw, number, number[-7:][::-1]]
        )
    refresh(phone, raw)
    return made


def refresh(phone: Phone, raw: int) -> None:
    """Derive from a raw contact's data what the provider does: how it is shown and sorted."""
    db = _db(phone)
    rows = db.execute(
        "SELECT mimetype_id, data1, data2, data3 FROM data WHERE raw_contact_id = ? ORDER BY _id",
        [raw],
    ).fetchall()
    of = {kind: [r for r in rows if r[0] == MIMETYPES[kind]] for kind in (NAME, PHONE, EMAIL)}
    parts = [text(c) for c in of[NAME][0][1:]] if of[NAME] else ["", "", ""]
    shown = parts[0] or " ".join(p for p in parts[1:] if p)
    source = 40
    if not shown:  # as Android does: a number or an address stands for a missing name
        source, found = (20, of[PHONE]) if of[PHONE] else (10, of[EMAIL])
        shown = text(found[0][1]) if found else ""
    given, _, family = shown.rpartition(" ")
    alternative = f"{family}, {given}" if given and source == 40 else shown
    label = shown[:1].upper() if shown[:1].isalpha() else "#"
    db.execute(
        "UPDATE raw_contacts SET display_name = ?, display_name_alt = ?, display_name_source = ?,"
        " sort_key = ?, sort_key_alt = ?, phonebook_label = ?, version = version + 1 WHERE _id = ?",
        [shown, alternative, source, shown, alternative, label, raw],
    )
    db.execute(
        "UPDATE contacts SET has_phone_number = ?, contact_last_updated_timestamp = ?"
        " WHERE name_raw_contact_id = ?",
        [int(bool(of[PHONE])), phone.clock.ms, raw],
    )


_CELLS = frozenset(f"data{i}" for i in range(1, 16))


def _fill(phone: Phone, raw: int, name: str, number: str, kind: int, email: str, note: str) -> None:
    given, _, family = name.strip().rpartition(" ")
    cells: dict[str, str | int] = {"data1": name.strip(), "data2": given or family}
    if given:
        cells["data3"] = family
    new_data(phone, raw, NAME, cells)
    if number.strip():
        new_data(
            phone, raw, PHONE, {"data1": number.strip(), "data2": kind, "data4": digits(number)}
        )
    if email.strip():
        new_data(phone, raw, EMAIL, {"data1": email.strip(), "data2": HOME})
    if note.strip():
        new_data(phone, raw, NOTE, {"data1": note.strip()})


def _contact(id: int, name: str, cells: list[tuple[str, str, int]], starred: bool) -> Contact:
    return Contact(
        id,
        name,
        tuple((one, two) for kind, one, two in cells if kind == PHONE),
        tuple(one for kind, one, _ in cells if kind == EMAIL),
        next((one for kind, one, _ in cells if kind == NOTE), ""),
        starred,
    )


def _db(phone: Phone) -> sqlite3.Connection:
    return phone.databases.connection("contacts2.db")
