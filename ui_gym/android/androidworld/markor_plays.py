"""Plays of what AndroidWorld asks of Markor and of Simple Gallery."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from ui_gym.android import moves
from ui_gym.android.androidworld.playbook import WorldGoal, altered, careless, plays
from ui_gym.android.device import AndroidDevice
from ui_gym.contract.action import Action, Answer, Type

NOTES = "/sdcard/Documents/Markor"


def _open(device: AndroidDevice, name: str = "") -> Iterator[Action]:
    yield from moves.launch(device, "Markor")
    if name:
        yield from moves.tap(device, name)


def _create(device: AndroidDevice, name: str) -> Iterator[Action]:
    """Make a note, and be in it."""
    stem, extension = posixpath.splitext(name)
    yield from moves.tap(device, "Create a new file or folder")
    yield Type(stem)  # the field has the caret
    if extension != ".md":
        yield from moves.fill(device, "Extension", extension)
    yield from moves.tap(device, "OK")


def _write(device: AndroidDevice, text: str) -> Iterator[Action]:
    """Put a text over what the open note holds, which saves it."""
    if not any("focused" in element.states for element in moves.elements(device)):
        yield from moves.tap(device, "", role="textbox")
    yield Type(text, clear=True)


def _chosen(device: AndroidDevice, names: Sequence[str]) -> Iterator[Action]:
    """Select notes."""
    yield from moves.hold(device, names[0])
    for name in names[1:]:
        yield from moves.tap(device, name)


def _delete(device: AndroidDevice, names: Sequence[str]) -> Iterator[Action]:
    yield from _chosen(device, names)
    yield from moves.tap(device, "Delete")
    yield from moves.tap(device, "OK", role="button")


def _rename(device: AndroidDevice, old: str, new: str) -> Iterator[Action]:
    yield from moves.hold(device, old)
    yield from moves.tap(device, "Rename")
    yield Type(new, clear=True)  # the field has the caret
    yield from moves.tap(device, "OK", role="button")


def _names(device: AndroidDevice) -> list[str]:
    """The notes by their names, as a person scrolls through them."""
    return device.shell(f"ls {NOTES}").text.splitlines()


@plays("MarkorCreateNote", near=altered("text", "Perhaps not at all: "))
def create(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from _open(device)
    yield from _create(device, goal["file_name"])
    yield from _write(device, goal["text"])


@plays("MarkorCreateNoteFromClipboard", near=altered("file_name"))
def create_pasted(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from _open(device)
    yield from _create(device, goal["file_name"])
    yield from moves.path(device, "More options", "Paste", "Save")


@plays("MarkorCreateNoteAndSms", near=careless)
def create_and_send(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    """``careless``: it is not sent."""
    yield from create(device, goal)
    if "careless" in goal:
        return
    yield from moves.launch(device, "Simple SMS Messenger")
    yield from moves.tap(device, "Start chat")
    yield from moves.fill(device, "Type a name or phone number", goal["number"], enter=True)
    yield from moves.fill(device, "Text message", goal["text"])
    yield from moves.tap(device, "SMS")


@plays("MarkorCreateFolder", near=altered("folder_name"))
def create_folder(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from _open(device)
    yield from moves.tap(device, "Create a new file or folder")
    yield Type(goal["folder_name"])  # the field has the caret
    yield from moves.tap(device, "FOLDER", role="button")


@plays("MarkorDeleteNote", near=careless)
def delete(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    """``careless``: another note is deleted."""
    name = goal["file_name"]
    if "careless" in goal:
        name = next(each for each in _names(device) if each != name)
    yield from _open(device)
    yield from _delete(device, [name])


@plays("MarkorDeleteNewestNote", near=careless)
def delete_newest(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    """``careless``: the oldest is deleted."""
    names = device.shell(f"ls -t {NOTES}").text.splitlines()
    yield from _open(device)
    yield from _delete(device, [names[-1 if "careless" in goal else 0]])


@plays("MarkorDeleteAllNotes", near=careless)
def delete_all(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    """``careless``: one note stays."""
    names = _names(device)
    yield from _open(device)
    yield from moves.hold(device, names[0])
    yield from moves.tap(device, "Select all")
    if "careless" in goal:
        yield from moves.tap(device, names[0])
        if len(names) == 1:
            return
    yield from moves.tap(device, "Delete")
    yield from moves.tap(device, "OK", role="button")


@plays("MarkorMoveNote", near=altered("destination_folder", "../"))
def move(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    """A near miss leaves it in the folder above."""
    yield from _open(device, goal["source_folder"])
    yield from moves.hold(device, goal["file_name"])
    yield from moves.tap(device, "Move")
    if not goal["destination_folder"].startswith("../"):
        yield from moves.tap(device, goal["destination_folder"])
    yield from moves.tap(device, "Select this folder", role="button")


def _other_words(params: dict[str, str]) -> dict[str, str]:
    kind = {"replace": "replace_text"}.get(params["edit_type"], params["edit_type"])
    return {**params, kind: f"Not {params[kind]} at all, but something else"}


@plays("MarkorEditNote", near=_other_words)
def edit(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    old = goal.evaluation.original_content.replace("'\"'\"'", "'")
    text = {
        "header": lambda: f"{goal['header']}\n{old}",
        "footer": lambda: f"{old}\n{goal['footer']}",
        "replace": lambda: str(goal["replace_text"]),
    }[goal["edit_type"]]()
    yield from _open(device, goal["file_name"])
    yield from _write(device, text)


@plays("MarkorChangeNoteContent", near=altered("new_name"))
def change(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from _open(device, goal["original_name"])
    yield from _write(device, goal["updated_content"])
    yield from moves.tap(device, "Navigate up")
    yield from _rename(device, goal["original_name"], goal["new_name"])


@plays("MarkorAddNoteHeader", near=altered("header"))
def add_header(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from _open(device, goal["original_name"])
    yield from _write(device, f"{goal['header']}\n\n{goal['original_content']}\n")
    yield from moves.tap(device, "Navigate up")
    yield from _rename(device, goal["original_name"], goal["new_name"])


@plays("MarkorMergeNotes", near=careless)
def merge(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    """``careless``: there are no empty lines between them."""
    yield from _open(device)
    for number in (1, 2, 3):  # each is looked at
        yield from moves.tap(device, goal[f"file{number}_name"])
        yield from moves.tap(device, "Navigate up")
    yield from _create(device, goal["new_file_name"])
    parts = [goal[f"file{number}_content"] for number in (1, 2, 3)]
    yield from _write(device, ("\n" if "careless" in goal else "\n\n").join(parts))


@plays("MarkorTranscribeReceipt", near=lambda params: {**params, "text": "2023-10-15, Tea, $3.00"})
def transcribe(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from moves.launch(device, "Simple Gallery Pro")
    yield from moves.path(device, "DCIM", "receipt.png")
    yield from _open(device)
    yield from _create(device, goal["file_name"])
    yield from _write(device, goal["text"])


@plays("SaveCopyOfReceiptTaskEval", near=careless)
def copy_receipt(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    """``careless``: it is copied elsewhere."""
    yield from moves.launch(device, "Simple Gallery Pro")
    yield from moves.tap(device, "DCIM")
    yield from moves.tap(device, goal["file_name"])
    yield from moves.tap(device, "Copy to")
    yield from moves.tap(device, "Documents" if "careless" in goal else "Download")
    yield from moves.tap(device, "OK", role="button")


def told(values: Sequence[object]) -> Answer:
    """An answer of several values."""
    return Answer(", ".join(map(str, values)))
