"""Screens of the Notes app, each reached by touch."""

from __future__ import annotations

from driving import Scene, holding, scene, typing

from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen

NOTES = "org.uigym.notes"
FOLDER = "/sdcard/Documents/Notes"
LONG = (
    "The ferry leaves at ten past nine from the old pier.\nBring:\n- passports\n- sandwiches\n" * 12
)


def opened(phone: Phone, screen: PhoneScreen) -> None:
    phone.files.write(f"{FOLDER}/shopping.txt", b"milk\nbread\napples")
    phone.clock.advance(60)
    phone.files.write(f"{FOLDER}/journey.md", LONG.encode())
    phone.clock.advance(90_000)
    name = "a file name that is rather long and does not fit into one line.txt"
    phone.files.write(f"{FOLDER}/{name}", "Grüße · schöne Ferien".encode())
    phone.files.write(f"{FOLDER}/empty.txt", b"")
    phone.launch(NOTES)


def copied(phone: Phone, screen: PhoneScreen) -> None:
    phone.launch(NOTES)
    phone.clipboard = "copied before"


note = scene(opened, "journey.md")
new = scene(copied, "New note")
writing = scene(new, typing("ideas.txt", "file_name"), typing("First idea\nSecond idea", "text"))

SCENES: dict[str, Scene] = {
    "notes": opened,
    "no notes": scene(NOTES),
    "search": scene(opened, "Search", typing("milk")),
    "note": note,
    "menu": scene(note, "More options"),
    "delete": scene(opened, holding("shopping.txt")),
    "new": new,
    "writing": writing,
    "discard": scene(writing, lambda screen: screen.key(4), "Navigate up"),
}
