"""The phone's databases: one source for the apps, `content`, `sqlite3` and a pulled file."""

from __future__ import annotations

import dataclasses
import sqlite3

import pytest

from ui_gym_phone.state import alarms, calendar, calls, contacts, messages
from ui_gym_phone.state.databases import bounded, connect
from ui_gym_phone.state.phone import Phone

SMS = "/data/data/com.android.providers.telephony/databases/mmssms.db"


@pytest.fixture
def phone() -> Phone:
    return Phone()


def test_a_snapshot_holds_what_was_written_before_it_and_nothing_after(phone):
    messages.receive(phone, "5550104477", "before")
    snapshot = phone.snapshot()
    messages.receive(phone, "5550104477", "after")
    again = Phone.restore(snapshot)
    assert [m.body for m in messages.all(again)] == ["before"]
    assert [m.body for m in messages.all(phone)] == ["before", "after"]
    messages.send(again, "5550104477", "elsewhere")
    assert [m.body for m in messages.all(Phone.restore(again.snapshot()))][-1] == "elsewhere"


def test_ids_are_the_same_in_every_copy(phone):
    snapshot = phone.snapshot()
    made = [messages.send(Phone.restore(snapshot), "1", "x") for _ in range(3)]
    assert made == [1, 1, 1]


def test_a_pulled_database_is_sqlites_own_file(phone, tmp_path):
    messages.send(phone, "5550104477", "Hello")
    for path in (SMS, SMS.replace("/data/data/", "/data/user/0/")):
        (tmp_path / "mmssms.db").write_bytes(phone.databases.read(path))
        with sqlite3.connect(tmp_path / "mmssms.db") as db:
            assert db.execute("SELECT address, body, type FROM sms").fetchall() == [
                ("5550104477", "Hello", 2)
            ]
        db.close()
    assert phone.databases.read("/data/data/com.other/databases/mmssms.db") is None
    assert phone.databases.read("/sdcard/mmssms.db") is None


def test_a_pushed_database_replaces_the_phones(phone, tmp_path):
    other = Phone()
    messages.receive(other, "1", "pushed")
    file = tmp_path / "mmssms.db"
    file.write_bytes(other.databases.read(SMS))
    with sqlite3.connect(file) as db:  # as Android leaves it: with a write-ahead log
        db.execute("PRAGMA journal_mode = wal")
    db.close()
    messages.send(phone, "2", "lost")
    assert phone.databases.write(SMS, file.read_bytes())
    assert [m.body for m in messages.all(phone)] == ["pushed"]
    assert [m.body for m in messages.all(Phone.restore(phone.snapshot()))] == ["pushed"]


def test_a_pushed_database_brings_rows_and_nothing_that_acts(phone, tmp_path):
    file = tmp_path / "mmssms.db"
    file.write_bytes(phone.databases.read(SMS))
    with sqlite3.connect(file) as db:
        db.execute("INSERT INTO sms (thread_id, address, body, date) VALUES (1, '1', 'x', 5)")
        db.execute("INSERT INTO threads (_id, recipient_ids, snippet) VALUES (1, '1', 'x')")
        db.execute(
            "CREATE TRIGGER evil AFTER INSERT ON sms BEGIN DELETE FROM sms WHERE body = 'x'; END"
        )
    db.close()
    assert phone.databases.write(SMS, file.read_bytes())
    messages.send(phone, "2", "y")
    assert [m.body for m in messages.all(phone)] == ["x", "y"]
    assert b"evil" not in phone.databases.read(SMS)


@pytest.mark.parametrize("data", [b"", b"nonsense", b"SQLite format 3\0" + b"x" * 4096])
def test_what_is_no_database_of_messages_is_refused(phone, data):
    messages.send(phone, "2", "kept")
    with pytest.raises(OSError, match="Invalid argument"):
        phone.databases.write(SMS, data)
    other = next(path for path in phone.databases.paths() if path.endswith("/contacts2.db"))
    with pytest.raises(OSError, match="Invalid argument"):
        phone.databases.write(SMS, phone.databases.read(other))
    assert [m.body for m in messages.all(phone)] == ["kept"]


def test_clearing_a_provider_empties_its_databases_only(phone):
    messages.send(phone, "2", "x")
    contacts.add(phone, "Ada", "2")
    phone.databases.clear("com.android.providers.telephony")
    assert messages.all(phone) == []
    assert len(contacts.all(phone)) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "ATTACH '/etc/passwd' AS x", "SELECT load_extension('x')", "DROP TABLE sms",
        "PRAGMA writable_schema = 1", "CREATE TABLE x (y)", "CREATE TEMP TABLE x (y)",
        "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a) SELECT count(*) FROM a",
        "SELECT zeroblob(100000000)", "DELETE FROM sqlite_master", "VACUUM INTO '/tmp/x'",
        "SELECT count(*) FROM sms a, sms b, sms c, sms d, sms e, sms f",
    ],
)  # fmt: skip
def test_a_foreign_statement_can_neither_leave_nor_last(phone, statement):
    for i in range(30):
        messages.send(phone, "2", str(i))
    db = phone.databases.connection("mmssms.db")
    with pytest.raises(sqlite3.Error), bounded(db):
        db.execute(statement).fetchall()
    assert len(messages.all(phone)) == 30


def test_what_a_foreign_script_leaves_open_is_rolled_back(phone):
    db = phone.databases.connection("mmssms.db")
    with bounded(db):
        db.execute("BEGIN")
        db.execute("INSERT INTO sms (address) VALUES ('1')")
    assert messages.all(phone) == []


def test_connect_refuses_foreign_bytes():
    with pytest.raises(sqlite3.DatabaseError):
        connect(b"not a database")


# -- contacts --


def test_a_contact_is_found_by_name_and_by_any_way_of_writing_its_number(phone):
    id = contacts.add(phone, "Ada Lovelace", "+1 (555) 010-4477", email="a@x.org", note="maths")
    for who in ("ada lovelace", "5550104477", "+15550104477", "1-555-010-4477"):
        assert contacts.find(phone, who).id == id
    assert contacts.find(phone, "5550104478") is None
    assert contacts.find(phone, "") is None
    assert contacts.name_of(phone, "5550104477") == "Ada Lovelace"
    assert contacts.name_of(phone, "12345") == "12345"
    assert contacts.get(phone, id).emails == ("a@x.org",)
    assert contacts.get(phone, id).note == "maths"


def test_an_updated_contact_keeps_its_other_numbers(phone):
    id = contacts.add(phone, "Ada", "111", email="a@x.org")
    raw = phone.databases.connection("contacts2.db").execute("SELECT _id FROM raw_contacts")
    contacts.new_data(phone, raw.fetchone()[0], contacts.PHONE, {"data1": "222", "data2": 3})
    contacts.update(phone, id, "Ada King", "333", kind=contacts.HOME)
    contacts.star(phone, id)
    found = contacts.get(phone, id)
    assert found == contacts.Contact(id, "Ada King", (("333", 1), ("222", 3)), (), "", True)


def test_contacts_are_sorted_and_a_deleted_one_leaves_no_row(phone):
    ids = [contacts.add(phone, name, "1") for name in ("Zoe", "adam", "Bea")]
    assert [c.name for c in contacts.all(phone)] == ["adam", "Bea", "Zoe"]
    for id in ids:
        contacts.delete(phone, id)
    db = phone.databases.connection("contacts2.db")
    for table in ("raw_contacts", "contacts", "data", "phone_lookup"):
        assert db.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (0,)


def test_a_contact_without_a_name_is_shown_by_its_number(phone):
    contacts.add(phone, "", "555 0104")
    assert contacts.all(phone)[0].name == "555 0104"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("5550104477", "+1 555 010 4477", True),
        ("0104477", "+15550104477", True),
        ("5550104477", "5550104478", False),
        ("911", "+1911", False),
        ("911", "911", True),
        ("Bank", "Bank", True),
        ("Bank", "Shop", False),
    ],
)
def test_numbers_are_compared_by_what_is_dialled(one, other, same):
    assert contacts.same_number(one, other) is same
    assert contacts.same_number(other, one) is same


# -- messages --


def test_threads_come_newest_first_with_their_unread(phone):
    contacts.add(phone, "Ada", "5550104477")
    messages.receive(phone, "+15550104477", "one", ms=1000)
    messages.receive(phone, "5550102222", "two", ms=2000)
    messages.receive(phone, "5550104477", "three", ms=3000)
    messages.send(phone, "5550102222", "four")
    assert [(t.snippet, t.unread, t.count) for t in messages.threads(phone)] == [
        ("four", 1, 2),
        ("three", 2, 2),
    ]
    assert [n.title for n in phone.notifications] == ["Ada", "5550102222"]
    messages.mark_read(phone, "5550104477")
    assert [t.unread for t in messages.threads(phone)] == [1, 0]
    assert [n.title for n in phone.notifications] == ["5550102222"]


def test_androids_table_of_threads_agrees_with_its_messages(phone):
    messages.receive(phone, "1234567", "one", ms=1000)
    last = messages.receive(phone, "1234567", "two", ms=2000)
    db = phone.databases.connection("mmssms.db")
    row = "SELECT date, message_count, snippet, read FROM threads"
    assert db.execute(row).fetchall() == [(2000, 2, "two", 0)]
    messages.mark_read(phone, "1234567")
    messages.delete(phone, last)
    assert db.execute(row).fetchall() == [(1000, 1, "one", 1)]
    messages.delete_thread(phone, "1234567")
    assert db.execute(row).fetchall() == []
    assert messages.threads(phone) == []


def test_rows_of_odd_types_are_read_as_far_as_they_go(phone):
    db = phone.databases.connection("mmssms.db")
    db.execute("INSERT INTO sms (address, body, date) VALUES (NULL, x'ff41', 'soon')")
    assert messages.all(phone) == [messages.TextMessage(1, "", "\ufffdA", 0, True, False)]
    assert len(messages.threads(phone)) == 1


# -- calls, calendar, alarms --


def test_calls_are_shown_under_the_names_that_contacts_have_now(phone):
    calls.add(phone, "5550104477", calls.MISSED, ms=1000)
    contacts.add(phone, "Ada", "+15550104477")
    calls.add(phone, "5550104477", seconds=12, ms=2000)
    assert [(c.name, c.kind, c.seconds) for c in calls.all(phone)] == [
        ("Ada", calls.OUTGOING, 12),
        ("Ada", calls.MISSED, 0),
    ]
    calls.delete(phone, 1)
    assert len(calls.all(phone)) == 1
    calls.clear(phone)
    assert calls.all(phone) == []


def test_events_of_a_span_of_time_are_told(phone):
    early = calendar.add_event(phone, "early", 1000, 2000, location="here", reminders=(10, 30))
    late = calendar.add_event(phone, "late", 5000, 6000)
    assert [e.id for e in calendar.events(phone)] == [early, late]
    assert [e.id for e in calendar.events(phone, 2000, 5000)] == []
    assert [e.id for e in calendar.events(phone, 1999, 5001)] == [early, late]
    event = calendar.get(phone, early)
    assert event.reminders == (10, 30)
    calendar.update(phone, dataclasses.replace(event, title="first", location="", reminders=()))
    assert calendar.get(phone, early) == calendar.CalendarEvent(early, "first", 1000, 2000)
    calendar.delete(phone, early)
    assert [e.title for e in calendar.events(phone)] == ["late"]


def test_an_alarm_rings_on_its_next_day(phone):
    assert phone.clock.local.strftime("%a %H:%M") == "Sun 15:34"
    once = alarms.add(phone, 15, 34, "later")
    weekday = alarms.add(phone, 16, 0, "gym", days=alarms.TUESDAY)
    soon = alarms.add(phone, 16, 0)

    def rings(id):
        return phone.clock.of(alarms.next_ms(phone, alarms.get(phone, id))).strftime("%a %H:%M")

    assert [rings(id) for id in (once, weekday, soon)] == ["Mon 15:34", "Tue 16:00", "Sun 16:00"]
    off = dataclasses.replace(alarms.get(phone, once), enabled=False)
    alarms.update(phone, off)
    assert alarms.next_ms(phone, off) is None
    db = phone.databases.connection("alarms.db")
    kept = db.execute(
        "SELECT alarm_id, year, month, day FROM alarm_instances ORDER BY 1"
    ).fetchall()
    assert kept == [(weekday, 2023, 9, 17), (soon, 2023, 9, 15)]
    alarms.delete(phone, weekday)
    assert [a.id for a in alarms.all(phone)] == [once, soon]
    assert db.execute("SELECT COUNT(*) FROM alarm_instances").fetchone() == (1,)
