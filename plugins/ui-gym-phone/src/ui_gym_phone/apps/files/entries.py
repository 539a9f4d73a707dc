"""Entries: what lies in a folder, how it is sorted, named and opened."""

from __future__ import annotations

from dataclasses import dataclass

from ui_gym_phone.apps.pictures import is_picture
from ui_gym_phone.state.phone import Phone

STORAGE = "/sdcard"

SORTS = (
    "File name (A to Z)", "File name (Z to A)", "Modified (newest first)",
    "Modified (oldest first)", "Size (largest first)", "Type",
)  # fmt: skip

ROOTS = (
    ("Download", "folder-download"), ("Documents", "file-document-outline"),
    ("DCIM", "camera"), ("Pictures", "image"), ("Music", "music-note"), ("Movies", "video"),
    ("Podcasts", "radio"), ("Recordings", "microphone"),
)  # fmt: skip
"""Folders that the first screen lists, where they are there."""

_KINDS = (
    ((".mp3", ".ogg", ".wav", ".m4a", ".flac"), "Audio", "file-music-outline", "#c5221f"),
    ((".mp4", ".mkv", ".webm", ".3gp", ".mov"), "Video", "file-video-outline", "#a142f4"),
    ((".pdf",), "PDF document", "file-pdf-box", "#d93025"),
    ((".txt", ".md", ".log", ".csv", ".json", ".xml", ".html", ".ics", ".vcf", ".ini"),
     "Text", "file-document-outline", "#1a73e8"),
    ((".apk",), "Android app", "android", "#188038"),
    ((".zip", ".tar", ".gz", ".7z", ".rar"), "Archive", "archive", "#795548"),
    ((".doc", ".docx", ".odt", ".xls", ".xlsx", ".ods", ".ppt", ".pptx", ".odp"),
     "Document", "text-box-outline", "#1a73e8"),
)  # fmt: skip

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
    for endings, kind, icon, colour in _KINDS:
        if lower.endswith(endings):
            return kind, icon, colour
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
