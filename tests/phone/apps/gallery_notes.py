"""Screens of the Notes app, each reached by touch."""

from __future__ import annotations

from collections.abc import Callable

from driving import long_press, tap, write

from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen

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
    phone.launch("org.uigym.notes")
    screen.refresh()


def empty(phone: Phone, screen: PhoneScreen) -> None:
    phone.launch("org.uigym.notes")
    screen.refresh()


def search(phone: Phone, screen: PhoneScreen) -> None:
    opened(phone, screen)
    tap(screen, "Search")
    screen.text("milk")


def note(phone: Phone, screen: PhoneScreen) -> None:
    opened(phone, screen)
    tap(screen, "journey.md")


def menu(phone: Phone, screen: PhoneScreen) -> None:
    note(phone, screen)
    tap(screen, "More options")


def delete(phone: Phone, screen: PhoneScreen) -> None:
    opened(phone, screen)
    long_press(screen, "shopping.txt")


def new(phone: Phone, screen: PhoneScreen) -> None:
    empty(phone, screen)
    phone.clipboard = "copied before"
    tap(screen, "New note")


def writing(phone: Phone, screen: PhoneScreen) -> None:
    new(phone, screen)
    write(screen, "file_name", "ideas.txt")
    write(screen, "text", "First idea\nSecond idea")


def discard(phone: Phone, screen: PhoneScreen) -> None:
    writing(phone, screen)
    screen.key(4)
    tap(screen, "Navigate up")


SCENES: dict[str, Callable[[Phone, PhoneScreen], None]] = {
    "notes": opened,
    "no notes": empty,
    "search": search,
    "note": note,
    "menu": menu,
    "delete": delete,
    "new": new,
    "writing": writing,
    "discard": discard,
}
