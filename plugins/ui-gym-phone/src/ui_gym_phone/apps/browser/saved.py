"""Downloads and bookmarks: what the browser keeps, and the screens that list it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from ui_gym.android.content.web import Download
from ui_gym_phone.apps.browser import addresses, tabs
from ui_gym_phone.apps.support import attempt, day_text, free_path, keep, kept, size_text
from ui_gym_phone.state.activities import Notification
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import VStack, Widget
from ui_gym_phone.ui.page import AppPage, ScrollView
from ui_gym_phone.ui.widgets import Disc, Empty, IconButton, Item

PACKAGE = "com.android.browser"
DOWNLOADS = ".DownloadsActivity"
FOLDER = "/sdcard/Download"


@dataclass(frozen=True)
class Downloaded:
    """A file that was downloaded: when, in milliseconds since 1970, and from which host."""

    path: str
    host: str
    ms: int

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class Bookmark:
    """A page to be found again."""

    title: str
    url: str


def downloaded(phone: Phone) -> list[Downloaded]:
    """What was downloaded, the newest first; files that are gone are left out."""
    found = kept(phone, PACKAGE, "downloads", _downloaded)
    return [one for one in found if phone.files.is_file(one.path)]


def download(ui: Ui, block: Download, host: str) -> None:
    """Write the file to the folder Download, and post a notification."""
    phone = ui.phone
    path = free_path(phone, FOLDER, block.file)

    def write() -> None:
        phone.files.mkdir(FOLDER, parents=True)
        phone.files.write(path, content(block))

    if not attempt(ui, write):
        return
    made = Downloaded(path, host, phone.clock.ms)
    keep(phone, PACKAGE, "downloads", [asdict(d) for d in [made, *downloaded(phone)][:100]])
    id = 1 + max((n.id for n in phone.notifications if n.package == PACKAGE), default=0)
    phone.notify(
        Notification(PACKAGE, id, "Download complete", made.name, phone.clock.ms,
                     channel="completed_downloads", target=(DOWNLOADS, {}))
    )  # fmt: skip
    ui.say(f"{made.name} downloaded")


def content(block: Download) -> bytes:
    """A file's bytes: its text, or a PDF of it."""
    return _pdf(block.text) if block.file.endswith(".pdf") else block.text.encode()


def _pdf(text: str) -> bytes:
    """A page with one line, as PDF 1.4 (ISO 32000-1, 7.5)."""
    line = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    stream = f"BT /F1 18 Tf 72 720 Td ({line}) Tj ET"
    objects = (
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        " /Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )
    out, starts = "%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        starts.append(len(out))
        out += f"{number} 0 obj\n{each}\nendobj\n"
    table = "".join(f"{start:010d} 00000 n \n" for start in starts)
    size = len(objects) + 1
    tail = f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return f"{out}xref\n0 {size}\n0000000000 65535 f \n{table}{tail}".encode("latin-1", "replace")


def bookmarks(phone: Phone) -> list[Bookmark]:
    """The bookmarks, the oldest first."""
    return kept(phone, PACKAGE, "bookmarks", _bookmark)


def set_bookmark(phone: Phone, url: str, title: str, on: bool) -> None:
    """Add a page to the bookmarks, or take it out."""
    others = [b for b in bookmarks(phone) if b.url != url]
    rows = [*others, Bookmark(title, url)] if on else others
    keep(phone, PACKAGE, "bookmarks", [asdict(b) for b in rows])


def _downloaded(row: Any) -> Downloaded:
    ms = int(row["ms"])
    if not 0 <= ms < 10**14:
        raise ValueError(ms)
    return Downloaded(str(row["path"]), str(row["host"]), ms)


def _bookmark(row: Any) -> Bookmark:
    return Bookmark(str(row["title"]), str(row["url"]))


# -- their screens --


BOOKMARKS = ".BookmarksActivity"
FILES = "com.android.documentsui"


def bookmark_list(ui: Ui) -> AppPage:
    """The bookmarks; touching one opens it in the tab that was seen."""
    rows: list[Widget] = [
        Item(
            b.title, addresses.shown(b.url), partial(_open, ui, b), icon="star", lines=1,
            trail=IconButton("close", f"Remove {b.title}",
                             partial(set_bookmark, ui.phone, b.url, b.title, False)),
        )
        for b in bookmarks(ui.phone)[:200]
    ]  # fmt: skip
    shown = VStack(*rows) if rows else Empty("star-outline", "No bookmarks yet")
    return AppPage(ScrollView(ui, "bookmarks", shown), title="Bookmarks", back=ui.close)


def _open(ui: Ui, bookmark: Bookmark) -> None:
    url = addresses.typed(bookmark.url)
    ui.close()
    below = Ui(ui.phone, ui.phone.activity)
    if "tabs" in below.state:
        tabs.go(below, url)
    else:
        ui.start(PACKAGE, ".BrowserActivity", url=url)


def download_list(ui: Ui) -> AppPage:
    """The downloaded files; touching one opens it."""
    rows: list[Widget] = [_row(ui, one) for one in downloaded(ui.phone)[:200]]
    shown = VStack(*rows) if rows else Empty("download", "No downloads yet")
    return AppPage(ScrollView(ui, "downloads", shown), title="Downloads", back=ui.close)


def _row(ui: Ui, one: Downloaded) -> Widget:
    size = size_text(ui.phone.files.stat(one.path).size)
    told = f"{one.host} · {size} · {day_text(ui.phone, one.ms / 1000)}"
    return Item(
        one.name, told, partial(ui.start, FILES, ".ViewerActivity", path=one.path), lines=1,
        lead=Disc("tonal", 40, icon="file-download-outline", ink="on_tonal"),
    )  # fmt: skip
