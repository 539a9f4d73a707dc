"""Operations: what is done to files, with a toast that tells how it went."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ui_gym_phone.apps.files.entries import STORAGE, shown_name
from ui_gym_phone.apps.support import attempt, free_path
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui


def counted(paths: Sequence[str]) -> str:
    """``1 item`` or ``3 items``."""
    return f"{len(paths)} item{'' if len(paths) == 1 else 's'}"


def delete(ui: Ui, paths: Sequence[str]) -> None:
    """Delete files, and folders with what is in them."""
    gone = [path for path in paths if attempt(ui, partial(ui.phone.files.rmtree, path))]
    if gone:
        ui.say(f"Deleted {counted(gone)}")


def name_fault(phone: Phone, folder: str, name: str) -> str:
    """Why a file cannot be called so here; empty where it can."""
    if not name:
        return "Enter a name"
    if "/" in name or name in (".", "..") or any(ord(sign) < 32 for sign in name):
        return "This name cannot be used"
    if phone.files.exists(f"{folder}/{name}"):
        return "An item with this name already exists"
    return ""


def rename(ui: Ui, path: str, name: str) -> bool:
    """Give a file or folder another name; False, with a toast, where it cannot have it."""
    folder, _, old = path.rpartition("/")
    name = name.strip()
    if name == old:
        return True
    if fault := name_fault(ui.phone, folder, name):
        ui.say(fault)
        return False
    return attempt(ui, lambda: ui.phone.files.rename(path, f"{folder}/{name}"))


def make_folder(ui: Ui, folder: str, name: str) -> bool:
    """Make a folder; False, with a toast, where it cannot be."""
    name = name.strip()
    if fault := name_fault(ui.phone, folder, name):
        ui.say(fault)
        return False
    return attempt(ui, lambda: ui.phone.files.mkdir(f"{folder}/{name}"))


def move(ui: Ui, paths: Sequence[str], folder: str) -> None:
    """Move to another folder; a name that is taken there gets a number."""
    files = ui.phone.files
    moved = []
    for path in paths:
        above, _, name = path.rpartition("/")
        if above == folder:
            ui.say(f"Already in {shown_name(folder)}")
            continue
        if attempt(ui, partial(files.rename, path, free_path(ui.phone, folder, name))):
            moved.append(path)
    if moved:
        ui.say(f"Moved {counted(moved)} to {shown_name(folder)}")


def copy(ui: Ui, paths: Sequence[str], folder: str) -> None:
    """Copy to a folder; a name that is taken there gets a number."""
    copied = [path for path in paths if attempt(ui, partial(_copy, ui.phone, path, folder))]
    if copied:
        ui.say(f"Copied {counted(copied)} to {shown_name(folder)}")


def _copy(phone: Phone, path: str, folder: str) -> None:
    files = phone.files
    target = free_path(phone, folder, path.rpartition("/")[2])
    if not files.is_dir(path):
        files.copy(path, target)
        return
    for below in list(files.walk(path)):
        to = target + below[len(path) :]
        if files.is_dir(below):
            files.mkdir(to)
        else:
            files.copy(below, to)


def size_below(phone: Phone, path: str) -> tuple[int, int]:
    """(bytes, files) of a folder and all below it."""
    sizes = [phone.files.stat(p).size for p in phone.files.walk(path) if phone.files.is_file(p)]
    return sum(sizes), len(sizes)


def within_storage(path: str) -> bool:
    """Whether a path is of the shared storage: the only one that this app shows."""
    return path == STORAGE or path.startswith(STORAGE + "/")
