"""content and sqlite3: the providers' data, as rows."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from ui_gym_phone.shell.commands.sqlite import statements
from ui_gym_phone.state import calendar, contacts, messages

MMSSMS = "/data/data/com.android.providers.telephony/databases/mmssms.db"


@pytest.fixture
def texted(sh):
    contacts.add(sh.phone, "Ada King", "+15550104477")
    messages.receive(sh.phone, "+15550104477", "Hi, there=x", ms=1000)
    sh.phone.clock.advance(5)
    messages.send(sh.phone, "+15550104477", "Hello")
    return sh


def test_rows_are_told_as_android_does(texted):
    assert texted("content query --uri content://sms/inbox --projection _id:address:body:read") == (
        "Row: 0 _id=1, address=+15550104477, body=Hi, there=x, read=0\n"
    )
    assert texted("content query --uri content://sms/sent").startswith(
        "Row: 0 _id=2, thread_id=1, address=+15550104477, person=NULL, date="
    )
    assert texted("content query --uri content://sms/draft") == "No result found.\n"
    assert texted("content query --uri content://sms/2 --projection body") == "Row: 0 body=Hello\n"


def test_the_newest_message_comes_first_unless_told_otherwise(texted):
    line = "content query --uri content://sms --projection body"
    assert texted(line) == "Row: 0 body=Hello\nRow: 1 body=Hi, there=x\n"
    assert texted(f"{line} --sort 'date ASC' --where 'type=1 OR type=2'") == (
        "Row: 0 body=Hi, there=x\nRow: 1 body=Hello\n"
    )


def test_contacts_by_their_old_and_new_uris(texted):
    old = texted("content query --uri content://contacts/phones/")
    assert "number=+15550104477" in old
    assert "display_name=Ada King" in old
    assert texted(
        "content query --uri content://com.android.contacts/data/phones "
        "--projection display_name:data1"
    ) == ("Row: 0 display_name=Ada King, data1=+15550104477\n")
    assert texted(
        "content query --uri content://com.android.contacts/contacts --projection display_name"
    ) == ("Row: 0 display_name=Ada King\n")


def test_a_message_is_inserted_into_its_thread(texted):
    texted(
        "content insert --uri content://sms/inbox --bind address:s:5550104477 "
        "--bind body:s:'One: two' --bind date:l:9000000000000 --bind read:i:1"
    )
    assert texted.code == 0
    newest = messages.conversation(texted.phone, "+15550104477")[-1]
    assert (newest.body, newest.sent, newest.read, newest.ms) == (
        "One: two", False, True, 9_000_000_000_000,
    )  # fmt: skip
    assert len(messages.threads(texted.phone)) == 1


def test_a_contact_is_made_of_its_rows(sh):
    sh("content insert --uri content://com.android.contacts/raw_contacts --bind account_type:n:")
    data = "content insert --uri content://com.android.contacts/data --bind raw_contact_id:i:1"
    sh(f"{data} --bind mimetype:s:vnd.android.cursor.item/name --bind data1:s:'Bea May'")
    sh(
        f"{data} --bind mimetype:s:vnd.android.cursor.item/phone_v2 --bind data1:s:555"
        " --bind data2:i:2"
    )
    assert [(c.name, c.numbers) for c in contacts.all(sh.phone)] == [("Bea May", (("555", 2),))]
    sh("content update --uri content://com.android.contacts/data "
       "--bind data1:s:'Bea June' --where \"mimetype LIKE '%/name'\"")  # fmt: skip
    assert contacts.all(sh.phone)[0].name == "Bea June"
    sh("content delete --uri content://com.android.contacts/contacts/1")
    assert contacts.all(sh.phone) == []


def test_rows_are_updated_and_deleted_where_they_match(texted):
    texted("content update --uri content://sms/inbox --bind read:i:1 --where 'read=0'")
    assert all(m.read for m in messages.all(texted.phone))
    texted("content delete --uri content://sms/sent --where \"address='other'\"")
    assert len(messages.all(texted.phone)) == 2
    texted("content delete --uri content://sms")
    assert messages.all(texted.phone) == []


def test_events(sh):
    calendar.add_event(sh.phone, "Dentist", 1000, 2000, location="Main St")
    sh("content insert --uri content://com.android.calendar/events --bind calendar_id:i:1 "
       "--bind title:s:Lunch --bind dtstart:l:5000 --bind dtend:l:6000 "
       "--bind eventTimezone:s:UTC")  # fmt: skip
    assert [e.title for e in calendar.events(sh.phone)] == ["Dentist", "Lunch"]
    uri = "content://com.android.calendar"
    assert sh(f"content query --uri {uri}/events --projection title:eventLocation") == (
        "Row: 0 title=Dentist, eventLocation=Main St\nRow: 1 title=Lunch, eventLocation=NULL\n"
    )
    assert sh(f"content query --uri {uri}/instances/when/4000/9000 --projection title:begin") == (
        "Row: 0 title=Lunch, begin=5000\n"
    )
    sh(f"content insert --uri {uri}/events --bind title:s:x")
    assert "Event values must include an calendar_id" in sh.err
    assert len(calendar.events(sh.phone)) == 2


def test_settings_and_media_are_providers_too(sh):
    sh("content insert --uri content://settings/system --bind name:s:font_scale --bind value:s:1.3")
    assert sh.phone.font_scale == 1.3
    assert sh("content query --uri content://settings/system --where \"name='font_scale'\" "
              "--projection name:value") == "Row: 0 name=font_scale, value=1.3\n"  # fmt: skip
    sh.files.write("/sdcard/DCIM/Camera/IMG_1.jpg", b"12345")
    sh.files.write("/sdcard/Documents/a.txt", b"x")
    assert sh(
        "content query --uri content://media/external/images/media --projection _data:_size"
    ) == ("Row: 0 _data=/storage/emulated/0/DCIM/Camera/IMG_1.jpg, _size=5\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("query --uri content://nope/x",
         "Error while accessing provider:nope\n"
         "java.lang.IllegalStateException: Could not find provider: nope\n"),
        ("query --uri content://sms/nope",
         "Error while accessing provider:sms\n"
         "java.lang.IllegalArgumentException: Unknown URL content://sms/nope\n"),
        ("query --uri content://sms --where 'x=1'",
         "Error while accessing provider:sms\n"
         "android.database.sqlite.SQLiteException: no such column: x\n"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(sh, words, message):
    assert sh(f"content {words}") == ""
    assert (sh.code, sh.err) == (1, message)


def test_wrong_words_bring_the_usage(sh):
    for words in ("query", "query --uri", "query --what x", "insert --uri content://sms --bind a"):
        sh(f"content {words}")
        assert sh.code == 1
        assert sh.err.startswith("[ERROR] ")
        assert "usage: adb shell content" in sh.err


# -- sqlite3 --


def test_sqlite_reads_and_writes_the_providers_database(texted):
    assert texted(f"sqlite3 {MMSSMS} 'SELECT _id, body FROM sms ORDER BY _id'") == (
        "1|Hi, there=x\n2|Hello\n"
    )
    texted(
        f"sqlite3 {MMSSMS}"
        " \"UPDATE sms SET body = 'Bye' WHERE _id = 2; DELETE FROM sms WHERE _id = 1\""
    )
    assert [m.body for m in messages.all(texted.phone)] == ["Bye"]
    assert texted(f"echo 'SELECT count(*) FROM sms;' | sqlite3 {MMSSMS}") == "1\n"
    texted(f"sqlite3 {MMSSMS} 'DROP TABLE sms'")
    assert (texted.code, texted.err) == (1, "Error: in prepare, not authorized (23)\n")


def test_a_script_without_commit_changes_nothing(texted):
    texted(f"sqlite3 {MMSSMS} 'BEGIN; DELETE FROM sms'")
    assert len(messages.all(texted.phone)) == 2


def test_a_database_in_a_file_is_sqlites_own(sh, tmp_path):
    sh("sqlite3 /sdcard/a.db \"CREATE TABLE t (x); INSERT INTO t VALUES ('é'), (1.0), (NULL)\"")
    assert sh("cd /sdcard && sqlite3 -nullvalue - a.db 'SELECT x FROM t'") == "é\n1.0\n-\n"
    assert sh.files.read("/sdcard/a.db").startswith(b"SQLite format 3\0")
    sh("sqlite3 /no/such/dir/a.db 'CREATE TABLE t (x)'")
    assert sh.code == 1
    sh("echo hello > /sdcard/text; sqlite3 /sdcard/text 'SELECT 1'")
    assert (sh.code, sh.err) == (1, "Error: in prepare, file is not a database (26)\n")


TABLE = """CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, size REAL);
INSERT INTO t VALUES (1, 'one, "two"', 1.5), (2, NULL, 10.0), (3, 'x;y', 1e20);
CREATE TABLE other_table (a); CREATE VIEW v AS SELECT name FROM t;"""

SCRIPTS = [
    "SELECT * FROM t", "SELECT * FROM t;;\n-- a comment;\nSELECT ';' AS a, 2 AS b",
    "SELECT count(*) FROM t; SELECT max(size), min(name), 1/3.0 FROM t", ".tables",
    ".headers on\nSELECT id, name FROM t WHERE id > 1;", ".mode csv\nSELECT * FROM t;",
    ".mode column\nSELECT * FROM t;", "SELECT * FROM t WHERE id = 9", ".schema t",
    "SELECT 'a' || char(10) || 'b'",
    "SELECT 1; SELECT nope FROM t; SELECT 2", "SELECT /* ; */ 1;\n.quit\nSELECT 2;",
]  # fmt: skip
OPTIONS = ["", "-header", "-csv", "-header -csv", "-line", "-separator , -header", "-nullvalue NIL",
           "-column"]  # fmt: skip


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="sqlite3 is not installed")
@pytest.mark.parametrize("script", SCRIPTS)
def test_sqlite_writes_what_the_tool_writes(sh, tmp_path, script):
    real = tmp_path / "a.db"
    subprocess.run(["sqlite3", real, TABLE], check=True)
    sh.files.write("/sdcard/a.db", real.read_bytes())
    for options in OPTIONS:
        told = subprocess.run(
            ["sqlite3", "-batch", *options.split(), real],
            input=script.encode(), capture_output=True, timeout=20,
        )  # fmt: skip
        mine = sh.raw(f"sqlite3 {options} /sdcard/a.db", stdin=script.encode())
        assert (options, mine) == (options, told.stdout)
        assert sh.code == told.returncode


def test_a_script_is_parted_where_its_statements_end():
    assert list(statements("a; 'b;''c' ;\n\n.tables\n.mode x\n\"d;\" -- e;\n;f")) == [
        "a;", "'b;''c' ;", ".tables", ".mode x", '"d;" -- e;\n;', "f",
    ]  # fmt: skip
    assert list(statements(" ;\n; \n")) == []
    assert list(statements("'never ends; ;")) == ["'never ends; ;"]
