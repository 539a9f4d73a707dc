"""The table of shell lines, and the phone that they are played on."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from ui_gym_phone.handset import Handset
from ui_gym_phone.state import calendar, contacts, messages
from ui_gym_phone.state.files import Files

TREE = {
    "notes.txt": "buy milk\nbuy bread\n\ncall mum  now\nall well\n",
    "table.txt": "apple 5\nbanana 12\ncherry 7\napple 1\n",
    "one.txt": "1\n",
    "empty.txt": "",
    "Documents/todo.md": "- [ ] milk: 2/3\n- [x] bread: 1\n",
    "Download/report.pdf": "%PDF-1.4 report\n",
    "Download/photo.jpg": "\xff\xd8 not really\n",
    "Music/": "",
}
"""Files in the shared storage by their path; a path that ends with a slash is a folder."""


def fresh_handset() -> Handset:
    """A phone as it leaves the factory, with these files, a contact, two messages and an event."""
    handset = Handset()
    plant(handset.files, TREE)
    contacts.add(handset.phone, "Ada King", "+15550104477")
    messages.receive(handset.phone, "+15550104477", "Hi, there=x", ms=1000)
    handset.phone.clock.advance(5)
    messages.send(handset.phone, "+15550104477", "Hello")
    calendar.add_event(handset.phone, "Dentist", 1697400000000, 1697403600000, location="Main St")
    handset.phone.clear_notifications()
    handset.screen.refresh()
    return handset


def plant(files: Files, tree: dict[str, str], folder: str = "/sdcard") -> None:
    """Make a folder hold `tree` and nothing else."""
    for name in files.list(folder):
        files.rmtree(f"{folder}/{name}")
    for path, text in tree.items():
        whole = f"{folder}/{path}"
        files.mkdir(whole.rpartition("/")[0], parents=True)
        if not path.endswith("/"):
            files.write(whole, text.encode())
            files.chmod(whole, 0o644)


def table() -> dict[str, list[dict[str, Any]]]:
    """The lines of ``lines.toml`` by who sends them."""
    return tomllib.loads((Path(__file__).parent / "lines.toml").read_text(encoding="utf-8"))


def folder_of(sender: str) -> str:
    """Where a sender's lines are played."""
    return "/sdcard" if sender == "language" else "/"
