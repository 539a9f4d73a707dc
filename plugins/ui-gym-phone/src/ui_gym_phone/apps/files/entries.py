"""Entries: what lies in a folder, how it is sorted, named, opened, and what is done to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from ui_gym_phone import data
from ui_gym_phone.apps.pictures import is_picture
from ui_gym_phone.apps.support import attempt, free_path
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui

STORAGE = "/sdcard"

_TABLES = data.table("files_app")
SORTS: Sequence[str] = _TABLES["sorts"]
ROOTS = [(name, icon) for name, icon in _TABLES["roots"]]
"""Folders that the first screen lists, where they are there, with their icons."""

MOST_FOUND = 200
MOST_SEARCHED = 20_000


@dataclass(frozen=True)
class FileEntry:
    """A file or folder as a list shows it: `size` in bytes, `mtime` in seconds since 1970."""

    path: str
    is_dir: bool
    size: int
    mtime: float

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def kind(self) -> str:
        return kind_of(self)[0]


def kind_of(entry: FileEntry) -> tuple[str, str, str]:
    """(what it is, its icon, its colour)."""
    if entry.is_dir:
        return "Folder", "folder", "#5f7d95"
    if is_picture(entry.name):
        return "Image", "file-image-outline", "#188038"
    lower = entry.name.lower()
    for kind in _TABLES["kinds"]:
        if lower.endswith(tuple(kind["endings"])):
            return kind["kind"], kind["icon"], kind["colour"]
    return "File", "file-outline", "#5f6368"


def entry_of(phone: Phone, path: str) -> FileEntry | None:
    """What lies at a path; None where nothing does."""
    try:
        about = phone.files.stat(path)
    except OSError:
        return None
    return FileEntry(path, about.is_dir, about.size, about.mtime)


def entries(phone: Phone, folder: str, sort: int, *, hidden: bool = False) -> list[FileEntry]:
    """What is in a folder, folders first, in the order `SORTS[sort]`."""
    try:
        names = phone.files.list(folder)
    except OSError:
        return []
    found = [
        entry
        for name in names
        if (hidden or not name.startswith("."))
        and (entry := entry_of(phone, f"{folder}/{name}")) is not None
    ]
    return in_order(found, sort)


def in_order(found: list[FileEntry], sort: int) -> list[FileEntry]:
    """Entries in the order `SORTS[sort]`: folders first, and by name where all else is equal."""
    found = sorted(found, key=lambda e: (e.name.lower(), e.name), reverse=sort == 1)
    if sort in (2, 3):
        found.sort(key=lambda e: e.mtime, reverse=sort == 2)
    elif sort == 4:
        found.sort(key=lambda e: -e.size)
    elif sort == 5:
        found.sort(key=lambda e: (e.kind, e.name.rpartition(".")[2].lower()))
    return sorted(found, key=lambda e: not e.is_dir)


def search(phone: Phone, folder: str, words: str) -> list[FileEntry]:
    """What has these words in its name, in a folder and all below it."""
    wanted = words.strip().lower()
    found: list[FileEntry] = []
    if not wanted:
        return found
    for seen, path in enumerate(phone.files.walk(folder)):
        if len(found) >= MOST_FOUND or seen >= MOST_SEARCHED:
            break
        name = path.rpartition("/")[2]
        if path != folder and wanted in name.lower() and not name.startswith("."):
            entry = entry_of(phone, path)
            if entry is not None:
                found.append(entry)
    return found


def shown_name(path: str) -> str:
    """What a folder is called to people."""
    return "Internal storage" if path == STORAGE else path.rpartition("/")[2]


# -- what is done to them, with a toast that tells how it went --


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
