"""Apps that are installed only when asked for: the look-alikes, and the lists of records."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from driving import SELECT_ALL, find, has, long_press, seen, tap, walk, write

from ui_gym_phone import data
from ui_gym_phone.apps import built_in, shelved
from ui_gym_phone.handset import Handset
from ui_gym_phone.state import records, shelf
from ui_gym_phone.state.databases import connect

EXPENSE = "com.arduia.expense"
EVENTS = "com.simplemobiletools.calendar.pro"
MARKOR = "net.gsantner.markor"
RECORDS = [name for name, about in shelf.written().items() if "records" in about]


@pytest.fixture
def handset() -> Handset:
    return Handset()


def install(handset: Handset, package: str, *, open: bool = True) -> None:
    assert handset.shell(f"pm install-existing {package}").code == 0
    if open:
        handset.phone.launch(package)
        handset.screen.refresh()


def add(handset: Handset, package: str, **cells: object) -> int:
    about = shelf.written()[package]
    table = data.table(about["records"])["table"]
    return records.insert(handset.phone, about["database"], table, cells)


def stored(handset: Handset, package: str) -> list[dict[str, object]]:
    about = shelf.written()[package]
    table = data.table(about["records"])["table"]
    found = records.rows(handset.phone, about["database"], f"SELECT * FROM {table}")
    return [dict(row) for row in found]


# -- installing --


def test_nothing_of_them_is_on_a_new_phone(handset: Handset) -> None:
    listed = handset.shell("pm list packages").text
    new = [name for name in shelf.written() if name not in built_in()]
    assert len(new) >= 12
    assert not [name for name in new if name in listed]
    assert handset.shell("ls /data/data | grep -E 'arduia|broccoli'").text == ""


def test_what_is_not_known_cannot_be_installed(handset: Handset) -> None:
    said = handset.shell("pm install-existing org.no.such")
    assert said.code == 255
    assert "NameNotFoundException: Package org.no.such doesn't exist" in said.stderr.decode()


def test_a_look_alike_stands_for_the_app_that_it_is_like(handset: Handset) -> None:
    install(handset, "com.google.android.contacts")
    assert "com.android.contacts" not in handset.shell("pm list packages").text
    assert has(handset.screen, "Create contact")
    handset.shell("am start -a android.intent.action.INSERT -t vnd.android.cursor.dir/contact")
    assert "com.google.android.contacts/" in handset.focused_window
    assert has(handset.screen, "First name")


def test_its_labels_may_be_its_own(handset: Handset) -> None:
    install(handset, "com.simplemobiletools.smsmessenger")
    handset.shell("am start -a android.intent.action.SENDTO -d sms:5551234 --es sms_body Hello")
    assert find(handset.screen, "SMS").clickable
    assert not has(handset.screen, "Send SMS")


def test_every_shelved_app_opens(handset: Handset) -> None:
    for package, app in shelved().items():
        install(handset, package)
        assert handset.phone.activity.package == package
        assert handset.phone.activity.cls in app.screens or package == "ca.zgrs.clipper"
        assert seen(handset.screen)


def test_the_camera_keeps_its_pictures_where_it_is_told(handset: Handset) -> None:
    install(handset, "com.android.camera2")
    tap(handset.screen, "Shutter")
    assert len(handset.files.list("/sdcard/Pictures")) == 1
    assert handset.files.list("/sdcard/DCIM/Camera") == []


# -- records --


@pytest.mark.parametrize("package", RECORDS)
def test_a_table_of_records_fits_its_schema(handset: Handset, package: str) -> None:
    """Each column that is shown is one of the database's."""
    install(handset, package)
    about = shelf.written()[package]
    table = data.table(about["records"])
    db = connect(handset.files.read(about["database"]))
    columns = {row[1] for row in db.execute(f"PRAGMA table_info({table['table']})")}
    db.close()
    shown = {each["column"] for each in table["field"]} - {"folder"}
    assert shown <= columns
    assert table["key"] in columns
    assert set(table.get("defaults", {})) <= columns


def test_a_record_is_made_in_the_form(handset: Handset) -> None:
    install(handset, EXPENSE)
    walk(handset.screen, "Add Expense")
    handset.screen.text("Coffee\n4.5\nWith Ann")
    walk(handset.screen, "Category", "Food", "SAVE")
    assert has(handset.screen, "$4.50")
    (row,) = stored(handset, EXPENSE)
    assert (row["name"], row["amount"], row["category"], row["note"]) == (
        "Coffee", 450, 3, "With Ann",
    )  # fmt: skip
    assert row["created_date"] == row["modified_date"] > 0


def test_a_form_says_what_is_wrong(handset: Handset) -> None:
    install(handset, EXPENSE)
    walk(handset.screen, "Add Expense", "SAVE")
    assert handset.phone.toasting == "Name must not be empty"
    handset.screen.text("Tea\n1.2.3")
    walk(handset.screen, "SAVE")
    assert handset.phone.toasting == "Amount is a number such as 12.50"
    assert stored(handset, EXPENSE) == []


def test_a_record_is_changed_and_the_others_are_not(handset: Handset) -> None:
    install(handset, EXPENSE, open=False)
    for name in ("Tea", "Bus"):
        add(handset, EXPENSE, name=name, amount=100, category=1, note="", created_date=5,
            modified_date=5)  # fmt: skip
    handset.phone.launch(EXPENSE)
    before = stored(handset, EXPENSE)[1]
    walk(handset.screen, "Tea", "Edit", "Category", "Social", "SAVE")
    tea, bus = stored(handset, EXPENSE)
    assert tea["category"] == 5
    assert tea["created_date"] == 5 < tea["modified_date"]
    assert bus == before


def test_records_are_deleted_one_by_one_and_together(handset: Handset) -> None:
    install(handset, EXPENSE, open=False)
    for name in ("Tea", "Bus", "Rent"):
        add(handset, EXPENSE, name=name, amount=100, category=1, note="", created_date=5,
            modified_date=5)  # fmt: skip
    handset.phone.launch(EXPENSE)
    walk(handset.screen, "Tea", "Delete", "Delete")
    assert [row["name"] for row in stored(handset, EXPENSE)] == ["Bus", "Rent"]
    long_press(handset.screen, "Bus")
    walk(handset.screen, "Rent", "Delete", "Delete")
    assert stored(handset, EXPENSE) == []
    assert has(handset.screen, "No expenses")


def test_a_form_that_was_changed_asks_before_it_is_left(handset: Handset) -> None:
    install(handset, EXPENSE)
    walk(handset.screen, "Add Expense", "Close", "Add Expense")
    handset.screen.text("Tea")
    walk(handset.screen, "Close")
    assert has(handset.screen, "Discard changes?")
    walk(handset.screen, "Discard")
    assert has(handset.screen, "Expense Logs")


def test_a_list_is_searched(handset: Handset) -> None:
    install(handset, EXPENSE, open=False)
    for name in ("Tea", "Bus"):
        add(handset, EXPENSE, name=name, amount=100, category=1, note="", created_date=5,
            modified_date=5)  # fmt: skip
    handset.phone.launch(EXPENSE)
    walk(handset.screen, "Search")
    handset.screen.text("tea")
    assert has(handset.screen, "Tea")
    assert not has(handset.screen, "Bus")


def test_an_event_moves_with_its_start_and_repeats(handset: Handset) -> None:
    install(handset, EVENTS)
    walk(handset.screen, "New Event")
    handset.screen.text("Choir")
    handset.screen.key(4)
    walk(handset.screen, "Start date", "18 October 2023", "OK", "Repetition", "Weekly", "Save")
    (row,) = stored(handset, EVENTS)
    assert row["end_ts"] - row["start_ts"] == 3600
    assert (row["repeat_interval"], row["repeat_rule"]) == (604800, 1 << 2)  # a Wednesday
    assert has(handset.screen, "Wednesday, October 18")


def test_a_list_by_days_begins_with_the_day_that_is_picked(handset: Handset) -> None:
    install(handset, EVENTS)
    walk(handset.screen, "New Event")
    handset.screen.text("Choir")
    handset.screen.key(4)
    walk(handset.screen, "Save", "Go to date", "16 October 2023", "OK")
    assert not has(handset.screen, "Choir")
    walk(handset.screen, "Go to date", "1 October 2023", "OK")
    assert has(handset.screen, "Choir")


def test_a_database_that_is_pushed_is_what_the_app_shows(handset: Handset, tmp_path: Path) -> None:
    install(handset, EXPENSE)
    path = shelf.written()[EXPENSE]["database"]
    (tmp_path / "pulled.db").write_bytes(handset.files.read(path))
    db = sqlite3.connect(tmp_path / "pulled.db")
    db.execute(
        "INSERT INTO expense VALUES (7, 'Taxi', 1999, 7, NULL, 1697000000000, 1697000000000)"
    )
    db.commit()
    db.close()
    handset.files.write(path, (tmp_path / "pulled.db").read_bytes())
    assert has(handset.screen, "Taxi")
    assert has(handset.screen, "$19.99")
    handset.files.write(path, b"no database")
    assert has(handset.screen, "No expenses")


def test_an_app_whose_data_are_cleared_begins_anew(handset: Handset) -> None:
    install(handset, EXPENSE)
    handset.shell(f"pm clear {EXPENSE}")
    handset.phone.launch(EXPENSE)
    walk(handset.screen, "Add Expense")
    handset.screen.text("Tea")
    walk(handset.screen, "SAVE")
    assert [row["name"] for row in stored(handset, EXPENSE)] == ["Tea"]


# -- files and pictures --


def test_a_note_is_made_written_renamed_moved_and_deleted(handset: Handset) -> None:
    install(handset, MARKOR)
    home = "/sdcard/Documents/Markor"
    walk(handset.screen, "Create a new file or folder")
    handset.screen.text("plan")
    walk(handset.screen, "OK")
    handset.screen.text("Buy milk")
    assert handset.read(f"{home}/plan.md") == b"Buy milk"  # saved as it is written
    walk(handset.screen, "Navigate up", "Create a new file or folder")
    handset.screen.text("Old")
    walk(handset.screen, "FOLDER")
    long_press(handset.screen, "plan.md")
    walk(handset.screen, "Rename")
    write(handset.screen, "Name", ".bak")
    walk(handset.screen, "OK")
    long_press(handset.screen, "plan.md.bak")
    walk(handset.screen, "Move", "Old", "Select this folder", "Old")
    assert handset.read(f"{home}/Old/plan.md.bak") == b"Buy milk"
    long_press(handset.screen, "plan.md.bak")
    walk(handset.screen, "Delete", "OK")
    assert handset.files.list(f"{home}/Old") == []


def test_a_picture_is_copied(handset: Handset) -> None:
    install(handset, "com.simplemobiletools.gallery.pro", open=False)
    handset.shell("screencap -p /sdcard/DCIM/a.png")
    handset.phone.launch("com.simplemobiletools.gallery.pro")
    walk(handset.screen, "DCIM", "a.png", "Copy to", "Download", "OK")
    assert handset.read("/sdcard/Download/a.png") == handset.read("/sdcard/DCIM/a.png")


def test_a_recording_is_saved_under_a_name_or_not_at_all(handset: Handset) -> None:
    install(handset, "com.dimowner.audiorecorder")
    folder = "/sdcard/Android/data/com.dimowner.audiorecorder/files/Music/records"
    walk(handset.screen, "Record", "Stop", "DISCARD")
    assert handset.files.list(folder) == []
    walk(handset.screen, "Record", "Stop")
    handset.screen.key(*SELECT_ALL)
    handset.screen.text("Choir")
    walk(handset.screen, "SAVE")
    assert handset.files.list(folder) == ["Choir.m4a"]
    assert handset.files.stat(f"{folder}/Choir.m4a").size > 0
    walk(handset.screen, "Delete", "YES")
    assert has(handset.screen, "No recordings yet")
