"""Screens of the Files app, each reached by touch."""

from __future__ import annotations

from collections.abc import Callable

from driving import long_press, tap, write

from ui_gym_phone.apps.camera.views import LensView
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen

FILES = "com.android.documentsui"


def stocked(phone: Phone) -> None:
    """Files of several kinds, names and sizes."""
    files = phone.files
    for name, size in (
        ("budget_2023.xlsx", 48_211), ("invoice_0417.pdf", 132_004), ("notes.txt", 310),
        ("podcast episode 12, with a name that does not fit into one line.mp3", 880_000),
        ("report_final.txt", 2_048), ("report_final_v2.txt", 2_101), ("setup.apk", 410_000),
    ):  # fmt: skip
        phone.clock.advance(7_000)
        files.write(f"/sdcard/Download/{name}", (b"All is well here.\n" * (size // 18 + 1))[:size])
    files.mkdir("/sdcard/Download/Archive")
    files.mkdir("/sdcard/Documents/Taxes")
    files.write("/sdcard/Documents/Taxes/2022.csv", b"month,sum\nJan,12\n")
    for number in range(3):
        files.write(f"/sdcard/Pictures/view_{number}.jpg", LensView(number).jpeg())


def opened(phone: Phone, screen: PhoneScreen) -> None:
    stocked(phone)
    phone.launch(FILES)
    screen.refresh()


def folder(phone: Phone, screen: PhoneScreen) -> None:
    opened(phone, screen)
    tap(screen, "Download")


def grid(phone: Phone, screen: PhoneScreen) -> None:
    folder(phone, screen)
    tap(screen, "Grid view")


def empty(phone: Phone, screen: PhoneScreen) -> None:
    folder(phone, screen)
    tap(screen, "Archive")


def menu(phone: Phone, screen: PhoneScreen) -> None:
    folder(phone, screen)
    tap(screen, "More options")


def new_folder(phone: Phone, screen: PhoneScreen) -> None:
    menu(phone, screen)
    tap(screen, "New folder")


def sort(phone: Phone, screen: PhoneScreen) -> None:
    menu(phone, screen)
    tap(screen, "Sort by…")


def search(phone: Phone, screen: PhoneScreen) -> None:
    opened(phone, screen)
    tap(screen, "Search files")
    screen.text("report")


def selection(phone: Phone, screen: PhoneScreen) -> None:
    folder(phone, screen)
    long_press(screen, "report_final.txt")
    tap(screen, "notes.txt")


def selection_menu(phone: Phone, screen: PhoneScreen) -> None:
    folder(phone, screen)
    long_press(screen, "report_final.txt")
    tap(screen, "More options")


def delete(phone: Phone, screen: PhoneScreen) -> None:
    selection(phone, screen)
    tap(screen, "Delete")


def rename(phone: Phone, screen: PhoneScreen) -> None:
    selection_menu(phone, screen)
    tap(screen, "Rename")


def info(phone: Phone, screen: PhoneScreen) -> None:
    selection_menu(phone, screen)
    tap(screen, "Get info")


def pick(phone: Phone, screen: PhoneScreen) -> None:
    selection_menu(phone, screen)
    tap(screen, "Move to…")


def pick_folder(phone: Phone, screen: PhoneScreen) -> None:
    pick(phone, screen)
    tap(screen, "Documents")


def text(phone: Phone, screen: PhoneScreen) -> None:
    folder(phone, screen)
    tap(screen, "report_final.txt")


def pictures(phone: Phone, screen: PhoneScreen) -> None:
    opened(phone, screen)
    tap(screen, "Pictures")


def picture_grid(phone: Phone, screen: PhoneScreen) -> None:
    pictures(phone, screen)
    tap(screen, "Grid view")


def picture(phone: Phone, screen: PhoneScreen) -> None:
    pictures(phone, screen)
    tap(screen, "view_1.jpg")


def deep(phone: Phone, screen: PhoneScreen) -> None:
    opened(phone, screen)
    phone.files.mkdir("/sdcard/Documents/Taxes/Letters and receipts of the last years")
    tap(screen, "Documents")
    tap(screen, "Taxes")
    tap(screen, "Letters and receipts of the last years")
    tap(screen, "More options")
    tap(screen, "New folder")
    write(screen, "name", "Paid")
    tap(screen, "Create")


SCENES: dict[str, Callable[[Phone, PhoneScreen], None]] = {
    "places": opened,
    "folder": folder,
    "grid": grid,
    "empty": empty,
    "menu": menu,
    "new folder": new_folder,
    "sort": sort,
    "search": search,
    "selection": selection,
    "selection menu": selection_menu,
    "delete": delete,
    "rename": rename,
    "info": info,
    "pick": pick,
    "pick folder": pick_folder,
    "text": text,
    "pictures": pictures,
    "picture grid": picture_grid,
    "picture": picture,
    "deep": deep,
}
