"""Contacts: people are found, added, changed, starred and deleted by touch."""

from __future__ import annotations

import gallery_contacts
from driving import back, has, long_press, scroll_to, seen, tap, write
from gallery_contacts import open_contacts

from ui_gym_phone.state.phone import Phone


def rows(phone: Phone, sql: str) -> list[tuple[object, ...]]:
    """What a reader of the database sees."""
    return phone.databases.connection("contacts2.db").execute(sql).fetchall()


def names(phone: Phone) -> list[object]:
    return [name for (name,) in rows(phone, "SELECT display_name FROM view_contacts ORDER BY _id")]


def test_a_contact_is_created_with_all_that_is_typed(phone, screen):
    phone.launch("com.android.contacts")
    tap(screen, "Create contact")
    for field, text in (
        ("First name", "Grace"), ("Last name", "Hopper"), ("Phone", "5550142"),
        ("Email", "grace@navy.example"), ("Note", "Found the moth."),
    ):  # fmt: skip
        scroll_to(screen, field)
        write(screen, field, text)
    back(screen)
    scroll_to(screen, "Mobile", up=True)
    tap(screen, "Mobile", "Work", "Save")
    assert names(phone) == ["Grace Hopper"]
    cells = rows(phone, "SELECT mimetype, data1, data2 FROM view_data ORDER BY _id")
    assert ("vnd.android.cursor.item/phone_v2", "5550142", 3) in [
        (kind, one, int(str(two))) for kind, one, two in cells if str(two).isdigit()
    ]
    assert {one for _, one, _ in cells} >= {"grace@navy.example", "Found the moth."}
    assert {"Grace Hopper", "5550142", "Work", "Found the moth."} <= set(seen(screen))


def test_nothing_is_saved_of_an_empty_form(phone, screen):
    phone.launch("com.android.contacts")
    tap(screen, "Create contact", "Save")
    assert names(phone) == []
    assert phone.toasting == "Nothing to save"


def test_leaving_a_changed_form_asks_first(phone, screen):
    phone.launch("com.android.contacts")
    tap(screen, "Create contact")
    write(screen, "First name", "Grace")
    tap(screen, "Close")
    assert has(screen, "Discard changes?")
    tap(screen, "Keep editing")
    assert has(screen, "Grace")
    tap(screen, "Close", "Discard")
    assert phone.activity.cls == ".activities.PeopleActivity"
    assert names(phone) == []


def test_leaving_an_untouched_form_does_not_ask(phone, screen):
    open_contacts(phone, screen)
    tap(screen, "Alan Turing", "Edit contact", "Close")
    assert phone.activity.cls == ".quickcontact.QuickContactActivity"


def test_a_contact_is_renamed_and_keeps_its_number(phone, screen):
    open_contacts(phone, screen)
    tap(screen, "Alan Turing", "Edit contact", "Last name")
    screen.key(29, 113)  # select all
    screen.text("Mathison Turing")
    tap(screen, "Save")
    assert "Alan Mathison Turing" in names(phone)
    assert "Alan Turing" not in names(phone)
    assert has(screen, "+1 555-010-2231")


def test_a_deleted_contact_is_gone_and_its_namesake_stays(phone, screen):
    open_contacts(phone, screen)
    write(screen, "Search contacts", "0142")
    tap(screen, "Bo Li", "More options", "Delete")
    assert names(phone).count("Bo Li") == 2, "it asks first"
    tap(screen, "Delete")
    assert names(phone).count("Bo Li") == 1
    left = rows(phone, "SELECT data1 FROM view_data WHERE data1 LIKE '+86%'")
    assert left == [("+86 10 5555 0987",)]


def test_several_contacts_are_selected_and_deleted(phone, screen):
    open_contacts(phone, screen)
    long_press(screen, "Alan Turing")
    tap(screen, "Barbara Liskov")
    assert has(screen, "2 selected")
    tap(screen, "Delete", "Delete")
    assert len(names(phone)) == len(gallery_contacts.PEOPLE) - 2
    assert not {"Alan Turing", "Barbara Liskov"} & set(names(phone))


def test_back_ends_a_selection_without_deleting(phone, screen):
    open_contacts(phone, screen)
    long_press(screen, "Alan Turing")
    back(screen)
    assert has(screen, "Search contacts")
    assert "Alan Turing" in names(phone)


def test_the_star_makes_a_favourite(phone, screen):
    open_contacts(phone, screen)
    tap(screen, "Alan Turing", "Add to favourites")
    starred = "SELECT display_name FROM view_contacts WHERE starred = 1 ORDER BY display_name"
    assert rows(phone, starred) == [("Ada Lovelace",), ("Alan Turing",)]
    tap(screen, "Remove from favourites")
    assert rows(phone, starred) == [("Ada Lovelace",)]


def test_a_search_finds_names_and_numbers(phone, screen):
    open_contacts(phone, screen)
    write(screen, "Search contacts", "liskov")
    assert has(screen, "Barbara Liskov")
    assert not has(screen, "Alan Turing")
    tap(screen, "Clear search")
    write(screen, "Search contacts", "2231")
    assert has(screen, "Alan Turing")
    assert not has(screen, "Barbara Liskov")


def test_namesakes_are_told_apart_by_their_numbers(phone, screen):
    open_contacts(phone, screen)
    told = seen(screen)
    assert {"+86 10 5555 0142", "+86 10 5555 0987"} <= set(told)
    assert "+1 555-010-9080" not in told


def test_the_text_button_opens_the_conversation(phone, screen):
    open_contacts(phone, screen)
    tap(screen, "Alan Turing", "Text")
    assert phone.activity.package == "com.android.messaging"
    assert has(screen, "Alan Turing")


def test_an_id_of_nobody_says_so(phone, screen):
    phone.start("com.android.contacts", ".quickcontact.QuickContactActivity", {"id": "x"})
    assert has(screen, "This contact no longer exists")


def test_duplicates_are_merged_with_all_their_numbers(phone, screen):
    open_contacts(phone, screen)
    tap(screen, "More options", "Merge duplicates")
    assert not has(screen, "Ada Lovelace"), "there is one of her"
    tap(screen, "Merge")
    assert names(phone).count("Bo Li") == 2, "it asks first"
    tap(screen, "Merge")
    assert names(phone).count("Bo Li") == 1
    left = rows(phone, "SELECT data1 FROM view_data WHERE data1 LIKE '+86%' ORDER BY data1")
    assert left == [("+86 10 5555 0142",), ("+86 10 5555 0987",)]
    assert has(screen, "No duplicates found")
