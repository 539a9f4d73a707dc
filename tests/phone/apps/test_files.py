"""The Files app, by touch."""

from __future__ import annotations

from io import BytesIO

import pytest
from driving import back, find, has, long_press, seen, tap, write
from gallery_files import FILES
from PIL import Image

from ui_gym_phone.apps.files.entries import FileEntry, in_order
from ui_gym_phone.apps.support import size_text
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen

DOWNLOAD = "/sdcard/Download"
DOCUMENTS = "/sdcard/Documents"


def at(phone: Phone, screen: PhoneScreen, *folders: str) -> None:
    """Open the app and go down into folders."""
    phone.launch(FILES)
    for folder in folders:
        tap(screen, folder)


def choose(screen: PhoneScreen, item: str) -> None:
    """Take an item of the menu behind the three dots."""
    tap(screen, "More options")
    tap(screen, item)


def test_a_folder_is_created_where_one_is(phone, screen):
    at(phone, screen, "Documents")
    choose(screen, "New folder")
    screen.text("Invoices 2023")
    tap(screen, "Create")
    assert phone.files.is_dir(f"{DOCUMENTS}/Invoices 2023")
    assert has(screen, "Invoices 2023")


@pytest.mark.parametrize("name", ["", "a/b", "Notes", ".."])
def test_a_folder_that_cannot_be_is_refused(phone, screen, name):
    before = phone.files.list(DOCUMENTS)
    at(phone, screen, "Documents")
    choose(screen, "New folder")
    screen.text(name)
    tap(screen, "Create")
    assert phone.files.list(DOCUMENTS) == before
    assert phone.toasting
    assert has(screen, "Create")


def test_a_file_is_renamed_and_keeps_its_bytes(phone, screen):
    phone.files.write(f"{DOWNLOAD}/draft.txt", b"text")
    phone.files.write(f"{DOWNLOAD}/draft_2.txt", b"other")
    at(phone, screen, "Download")
    long_press(screen, "draft.txt")
    choose(screen, "Rename")
    screen.text("final.txt")  # over the old name, which is selected
    tap(screen, "OK")
    assert phone.files.list(DOWNLOAD) == ["draft_2.txt", "final.txt"]
    assert phone.files.read(f"{DOWNLOAD}/final.txt") == b"text"
    assert not has(screen, "1 selected")


def test_a_file_is_not_renamed_over_another(phone, screen):
    phone.files.write(f"{DOWNLOAD}/a.txt", b"a")
    phone.files.write(f"{DOWNLOAD}/b.txt", b"b")
    at(phone, screen, "Download")
    long_press(screen, "a.txt")
    choose(screen, "Rename")
    screen.text("b.txt")
    tap(screen, "OK")
    assert phone.toasting == "An item with this name already exists"
    assert phone.files.read(f"{DOWNLOAD}/b.txt") == b"b"


def test_a_file_is_moved_to_a_folder_that_is_picked(phone, screen):
    phone.files.write(f"{DOWNLOAD}/a.txt", b"a")
    phone.files.mkdir(f"{DOCUMENTS}/Work")
    at(phone, screen, "Download")
    long_press(screen, "a.txt")
    choose(screen, "Move to…")
    tap(screen, "Documents", "Work", "Move here")
    assert phone.files.read(f"{DOCUMENTS}/Work/a.txt") == b"a"
    assert not phone.files.exists(f"{DOWNLOAD}/a.txt")
    assert phone.toasting == "Moved 1 item to Work"
    assert has(screen, "Download")
    assert has(screen, "No items")


def test_nothing_is_moved_before_a_folder_is_chosen_or_when_cancelled(phone, screen):
    phone.files.write(f"{DOWNLOAD}/a.txt", b"a")
    at(phone, screen, "Download")
    long_press(screen, "a.txt")
    choose(screen, "Move to…")
    tap(screen, "Move here")
    assert phone.files.exists(f"{DOWNLOAD}/a.txt")
    tap(screen, "Documents", "Cancel")
    assert phone.files.list(DOWNLOAD) == ["a.txt"]
    assert has(screen, "a.txt")


def test_several_items_are_copied_and_a_taken_name_gets_a_number(phone, screen):
    phone.files.write(f"{DOWNLOAD}/a.txt", b"a")
    phone.files.mkdir(f"{DOWNLOAD}/deep/er", parents=True)
    phone.files.write(f"{DOWNLOAD}/deep/er/b.txt", b"b")
    phone.files.write(f"{DOCUMENTS}/a.txt", b"there before")
    at(phone, screen, "Download")
    long_press(screen, "a.txt")
    tap(screen, "deep")
    assert has(screen, "2 selected")
    choose(screen, "Copy to…")
    tap(screen, "Documents", "Copy here")
    assert phone.files.read(f"{DOCUMENTS}/a.txt") == b"there before"
    assert phone.files.read(f"{DOCUMENTS}/a (1).txt") == b"a"
    assert phone.files.read(f"{DOCUMENTS}/deep/er/b.txt") == b"b"
    assert phone.files.exists(f"{DOWNLOAD}/a.txt")


def test_a_folder_is_not_moved_into_itself(phone, screen):
    phone.files.mkdir(f"{DOWNLOAD}/box")
    at(phone, screen, "Download")
    long_press(screen, "box")
    choose(screen, "Move to…")
    tap(screen, "Download", "box", "Move here")
    assert phone.files.is_dir(f"{DOWNLOAD}/box")
    assert phone.toasting == "Invalid argument"


def test_a_file_is_deleted_only_after_a_question(phone, screen):
    for name in ("a.txt", "b.txt"):
        phone.files.write(f"{DOWNLOAD}/{name}", b"")
    at(phone, screen, "Download")
    long_press(screen, "a.txt")
    tap(screen, "Delete")
    assert has(screen, "Delete “a.txt”?")
    tap(screen, "Cancel")
    assert phone.files.list(DOWNLOAD) == ["a.txt", "b.txt"]
    tap(screen, "Delete", "Delete")
    assert phone.files.list(DOWNLOAD) == ["b.txt"]


def test_back_ends_a_selection_then_leads_up(phone, screen):
    phone.files.write(f"{DOWNLOAD}/a.txt", b"")
    at(phone, screen, "Download")
    long_press(screen, "a.txt")
    back(screen)
    assert not has(screen, "1 selected")
    assert has(screen, "a.txt")
    back(screen)
    assert has(screen, "Search files")


def test_select_all_takes_what_is_shown(phone, screen):
    for name in ("a.txt", "b.txt", ".hidden"):
        phone.files.write(f"{DOWNLOAD}/{name}", b"")
    at(phone, screen, "Download")
    choose(screen, "Select all")
    assert has(screen, "2 selected")
    tap(screen, "Delete", "Delete")
    assert phone.files.list(DOWNLOAD) == [".hidden"]


def test_a_search_finds_files_in_all_folders_which_can_be_deleted_there(phone, screen):
    phone.files.mkdir(f"{DOCUMENTS}/Old")
    phone.files.write(f"{DOCUMENTS}/Old/Budget.csv", b"")
    phone.files.write(f"{DOWNLOAD}/budget_copy.csv", b"")
    phone.files.write(f"{DOWNLOAD}/other.csv", b"")
    at(phone, screen)
    tap(screen, "Search files")
    screen.text("budget")
    assert has(screen, "in Documents/Old")
    assert not has(screen, "other.csv")
    long_press(screen, "Budget.csv")
    assert has(screen, "budget_copy.csv")
    tap(screen, "Delete", "Delete")
    assert not phone.files.exists(f"{DOCUMENTS}/Old/Budget.csv")
    assert phone.files.exists(f"{DOWNLOAD}/budget_copy.csv")


def test_sorting_is_kept_for_other_folders_and_later(phone, screen):
    for folder in (DOWNLOAD, DOCUMENTS):
        phone.files.write(f"{folder}/small.txt", b"1")
        phone.files.write(f"{folder}/unlike.txt", b"123")
    at(phone, screen, "Download")
    choose(screen, "Sort by…")
    tap(screen, "Size (largest first)")
    phone.force_stop(FILES)
    at(phone, screen, "Documents")
    names = [text for text in seen(screen) if text.endswith(".txt")]
    assert names == ["unlike.txt", "small.txt"]


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        (0, ["Sub", "a.txt", "B.csv", "c.txt"]),
        (1, ["Sub", "c.txt", "B.csv", "a.txt"]),
        (2, ["Sub", "c.txt", "a.txt", "B.csv"]),
        (3, ["Sub", "B.csv", "a.txt", "c.txt"]),
        (4, ["Sub", "B.csv", "a.txt", "c.txt"]),
        (5, ["Sub", "B.csv", "a.txt", "c.txt"]),
    ],
)
def test_orders(sort, expected):
    found = [
        FileEntry("/x/c.txt", False, 1, 30.0),
        FileEntry("/x/a.txt", False, 2, 20.0),
        FileEntry("/x/B.csv", False, 3, 10.0),
        FileEntry("/x/Sub", True, 4096, 40.0),
    ]
    assert [e.name for e in in_order(found, sort)] == expected


def test_a_text_is_opened_read_and_copied(phone, screen):
    phone.files.write(f"{DOWNLOAD}/letter.txt", "Liebe Grüße".encode())
    at(phone, screen, "Download", "letter.txt")
    assert has(screen, "Liebe Grüße")
    tap(screen, "Copy text")
    assert phone.clipboard == "Liebe Grüße"


@pytest.mark.parametrize("data", [b"", b"no picture", b"\xff\xd8\xff\xe0" + b"\0" * 64])
def test_a_spoilt_picture_is_told(phone, screen, data):
    phone.files.write("/sdcard/Pictures/bad.jpg", data)
    at(phone, screen, "Pictures", "bad.jpg")
    assert has(screen, "Can't open this picture")


def test_a_picture_of_too_many_pixels_is_not_decoded(phone, screen):
    out = BytesIO()
    Image.new("1", (8000, 4000)).save(out, "PNG")
    phone.files.write("/sdcard/Pictures/huge.png", out.getvalue())
    at(phone, screen, "Pictures", "huge.png")
    assert has(screen, "Can't open this picture")


def test_a_file_that_no_app_opens_is_told(phone, screen):
    phone.files.write(f"{DOWNLOAD}/disk.bin", b"\0\1\2")
    at(phone, screen, "Download", "disk.bin")
    assert phone.toasting == "No app can open this file"


def test_info_tells_size_type_and_path(phone, screen):
    phone.files.write(f"{DOWNLOAD}/data.csv", b"x" * 1500)
    at(phone, screen, "Download")
    long_press(screen, "data.csv")
    choose(screen, "Get info")
    assert has(screen, "1.50 kB (1,500 bytes)")
    assert has(screen, "/storage/emulated/0/Download/data.csv")
    assert has(screen, "Oct 15, 2023, 15:34")


def test_the_names_of_the_path_lead_there(phone, screen):
    phone.files.mkdir(f"{DOCUMENTS}/One/Two", parents=True)
    at(phone, screen, "Documents", "One", "Two")
    tap(screen, "Documents")
    assert has(screen, "One")


def test_hidden_files_are_shown_on_demand(phone, screen):
    phone.files.write(f"{DOWNLOAD}/.secret", b"")
    at(phone, screen, "Download")
    assert not has(screen, ".secret")
    choose(screen, "Show hidden files")
    assert has(screen, ".secret")


def test_a_folder_is_made_while_a_place_is_picked(phone, screen):
    phone.files.write(f"{DOWNLOAD}/a.txt", b"a")
    at(phone, screen, "Download")
    long_press(screen, "a.txt")
    choose(screen, "Move to…")
    tap(screen, "Documents", "New folder")
    write(screen, "name", "Fresh")
    tap(screen, "Create", "Move here")
    assert phone.files.read(f"{DOCUMENTS}/Fresh/a.txt") == b"a"


def test_only_the_shared_storage_is_shown(phone, screen):
    phone.start(FILES, phone.packages[FILES].main, {"folder": "/sdcard/../system"})
    assert has(screen, "Search files")


def test_hundreds_of_files_are_cut_with_a_note(phone, screen):
    for number in range(230):
        phone.files.write(f"{DOWNLOAD}/{number:03d}.txt", b"")
    at(phone, screen, "Download")
    for _ in range(30):
        screen.swipe(500, 2000, 500, 300)
    assert find(screen, "and 30 more")


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (899, "899 B"), (900, "0.90 kB"), (99_900, "99.9 kB"), (123_456, "123 kB"),
     (61_000_000, "61.0 MB"), (5_000_000_000, "5.00 GB"), (7e15, "7000000 GB")],
)  # fmt: skip
def test_sizes_are_written_with_units(size, text):
    assert size_text(size) == text
