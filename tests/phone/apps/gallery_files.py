"""Screens of the Files app, each reached by touch."""

from __future__ import annotations

from driving import Scene, holding, scene, typing

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


def deep_folders(phone: Phone, screen: PhoneScreen) -> None:
    opened(phone, screen)
    phone.files.mkdir("/sdcard/Documents/Taxes/Letters and receipts of the last years")


MENU = "More options"
folder = scene(opened, "Download")
menu = scene(folder, MENU)
selection = scene(folder, holding("report_final.txt"), "notes.txt")
selection_menu = scene(folder, holding("report_final.txt"), MENU)
pick = scene(selection_menu, "Move to…")
pictures = scene(opened, "Pictures")
taxes = scene(deep_folders, "Documents", "Taxes", "Letters and receipts of the last years")

SCENES: dict[str, Scene] = {
    "places": opened,
    "folder": folder,
    "grid": scene(folder, "Grid view"),
    "empty": scene(folder, "Archive"),
    "menu": menu,
    "new folder": scene(menu, "New folder"),
    "sort": scene(menu, "Sort by…"),
    "search": scene(opened, "Search files", typing("report")),
    "selection": selection,
    "selection menu": selection_menu,
    "delete": scene(selection, "Delete"),
    "rename": scene(selection_menu, "Rename"),
    "info": scene(selection_menu, "Get info"),
    "pick": pick,
    "pick folder": scene(pick, "Documents"),
    "text": scene(folder, "report_final.txt"),
    "pictures": pictures,
    "picture grid": scene(pictures, "Grid view"),
    "picture": scene(pictures, "view_1.jpg"),
    "deep": scene(taxes, MENU, "New folder", typing("Paid", "name"), "Create"),
}
