"""The Notes app, by touch."""

from __future__ import annotations

import pytest
from driving import back, has, long_press, tap, write
from gallery_notes import FOLDER

from ui_gym_phone.ui.screen import PhoneScreen

NOTES = "org.uigym.notes"


def create(screen: PhoneScreen, name: str, text: str) -> None:
    tap(screen, "New note")
    write(screen, "file_name", name)
    write(screen, "text", text)
    tap(screen, "Save")


def test_a_note_becomes_a_file_of_this_name_and_text(phone, screen):
    phone.launch(NOTES)
    create(screen, "groceries.md", "milk\nbrød")
    assert phone.files.read(f"{FOLDER}/groceries.md") == "milk\nbrød".encode()
    assert has(screen, "groceries.md")


def test_a_name_without_an_ending_gets_one(phone, screen):
    phone.launch(NOTES)
    create(screen, "ideas", "one")
    assert phone.files.list(FOLDER) == ["ideas.txt"]


def test_a_note_is_made_where_the_folder_is_missing(phone, screen):
    phone.files.rmtree(FOLDER)
    phone.launch(NOTES)
    create(screen, "a.txt", "b")
    assert phone.files.read(f"{FOLDER}/a.txt") == b"b"


@pytest.mark.parametrize("name", ["", "a/b.txt", "taken.txt", "..", "x" * 300 + ".txt"])
def test_a_name_that_cannot_be_is_refused_and_nothing_is_lost(phone, screen, name):
    phone.files.write(f"{FOLDER}/taken.txt", b"before")
    phone.launch(NOTES)
    create(screen, name, "after")
    assert phone.files.list(FOLDER) == ["taken.txt"]
    assert phone.files.read(f"{FOLDER}/taken.txt") == b"before"
    assert phone.toasting
    assert has(screen, "after")


def test_a_note_is_edited_and_renamed(phone, screen):
    phone.files.write(f"{FOLDER}/a.txt", b"one")
    phone.files.write(f"{FOLDER}/b.txt", b"other")
    phone.launch(NOTES)
    tap(screen, "a.txt", "Edit")
    write(screen, "text", " and two")
    tap(screen, "file_name")
    screen.key(29, 113)
    screen.text("c.txt")
    tap(screen, "Save")
    assert has(screen, "one and two")
    assert phone.files.list(FOLDER) == ["b.txt", "c.txt"]
    assert phone.files.read(f"{FOLDER}/c.txt") == b"one and two"


def test_a_note_is_deleted_only_after_a_question(phone, screen):
    phone.files.write(f"{FOLDER}/a.txt", b"one")
    phone.files.write(f"{FOLDER}/b.txt", b"two")
    phone.launch(NOTES)
    long_press(screen, "a.txt")
    tap(screen, "Cancel")
    assert phone.files.list(FOLDER) == ["a.txt", "b.txt"]
    tap(screen, "a.txt", "More options", "Delete", "Delete")
    assert phone.files.list(FOLDER) == ["b.txt"]
    assert has(screen, "Notes")


def test_notes_are_searched_by_name_and_text_and_back_ends_it(phone, screen):
    phone.files.write(f"{FOLDER}/a.txt", b"the Cellar key")
    phone.files.write(f"{FOLDER}/cellar.txt", b"wine")
    phone.files.write(f"{FOLDER}/c.txt", b"attic")
    phone.launch(NOTES)
    tap(screen, "Search")
    screen.text("cellar")
    assert has(screen, "a.txt")
    assert has(screen, "cellar.txt")
    assert not has(screen, "c.txt")
    back(screen)
    back(screen)
    assert has(screen, "c.txt")


def test_the_text_of_a_note_is_copied_and_pasted_into_another(phone, screen):
    phone.files.write(f"{FOLDER}/a.txt", b"code 4711")
    phone.launch(NOTES)
    tap(screen, "a.txt", "Copy text")
    assert phone.clipboard == "code 4711"
    back(screen)
    tap(screen, "New note")
    write(screen, "file_name", "b.txt")
    tap(screen, "Paste", "Save")
    assert phone.files.read(f"{FOLDER}/b.txt") == b"code 4711"


def test_leaving_with_changes_asks_first(phone, screen):
    phone.launch(NOTES)
    tap(screen, "New note")
    write(screen, "text", "draft")
    tap(screen, "Navigate up", "Keep editing")
    assert has(screen, "draft")
    tap(screen, "Navigate up", "Discard")
    assert has(screen, "No notes yet")


def test_a_full_storage_is_told_and_the_text_stays(phone, screen):
    phone.files.quota = phone.files.used
    phone.launch(NOTES)
    create(screen, "a.txt", "text")
    assert phone.toasting == "No space left on device"
    assert has(screen, "text")
