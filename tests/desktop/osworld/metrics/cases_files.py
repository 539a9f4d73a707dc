"""Cases of metrics of files and values that need more than a text: archives, mail, pages, trees."""

from __future__ import annotations

import io
import sqlite3
import tarfile
import zipfile
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

from metric_case import Case, Cases, Made, against, alone, text


def tarred(files: Mapping[str, str]) -> Made:
    def write(path: Path) -> None:
        with tarfile.open(path, "w:gz") as archive:
            for name, content in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content.encode()))

    return Made("tar.gz", write)


def zipped(files: Mapping[str, str | bytes], ending: str = "zip") -> Made:
    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)

    return Made(ending, write)


def a_pdf(text: str) -> bytes:
    """A file of one page with this text, as far as readers need one."""
    stream = f"BT /F1 12 Tf 10 50 Td ({text}) Tj ET"
    return f"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 100]/Contents 4 0 R
/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj
4 0 obj<</Length {len(stream)}>>stream
{stream}
endstream endobj
trailer<</Root 1 0 R>>
startxref
0
%%EOF
""".encode()


def book(content: str | bytes) -> Made:
    return zipped({"a.pdf": content})


def box(*messages: str) -> Made:
    return text("".join(messages), "mbox")


def speed_test(hours: int) -> Made:
    """A measurement so many hours ago, when it is made."""

    def write(path: Path) -> None:
        then = datetime.now() - timedelta(hours=hours)
        path.write_text(f"Server,Time\nX,2024-01-01 {then:%H:%M}\n")

    return Made("csv", write)


def write_data_base(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE done (what TEXT)")
        connection.execute("INSERT INTO done VALUES ('sent')")
    connection.close()


def setting(name: str, value: str, other: str) -> list[Case]:
    """A setting of VLC that is expected to be `value`, VLC's own being `other`."""
    key = f"expected_{name.replace('-', '_')}"
    set_to = text(f"# Its own (str)\n#{name}={other}\n\n[qt]\n{name}={value}\n")
    return alone(
        (1, set_to, {key: int(value)}),
        (1, set_to, {key: value}),
        (0, set_to, {key: other}),
        (1, text(f"[qt]\n#{name}={other}\n"), {key: other}),
        (1, text("[qt]\n"), {key: other}),
        (0, text("[qt]\n"), {key: value}),
    )


def folder(name: str, *urls: str) -> dict[str, object]:
    return {"type": "folder", "name": name, "children": [link(url) for url in urls]}


def link(url: str) -> dict[str, object]:
    return {"type": "url", "url": url, "name": "A page"}


def bookmarks(*entries: dict[str, object]) -> dict[str, object]:
    return {"bookmark_bar": {"children": list(entries)}}


TREE = """<desktop-frame xmlns:attr="https://accessibility.ubuntu.example.org/ns/attributes"
  xmlns:st="https://accessibility.ubuntu.example.org/ns/state">
  <application name="Thunderbird"><tool-bar attr:id="Headers">
    <label name="To">To</label>
    <panel attr:class="pill"><label attr:class="pill-label" name="fox@a.edu">fox</label></panel>
  </tool-bar><entry name="Address bar" st:focused="true">a.org</entry></application>
</desktop-frame>"""
PILL = '[attr|id=Headers] label[name=To]~[attr|class="pill"]>label[name*="{}"]'
PILLS = [PILL.format(name) for name in ("fox@", "dog")]
FILTERS = r"""version="9"
logging="no"
name="To \"Promo\""
enabled="yes"
type="17"
action="Move to folder"
actionValue="mailbox://nobody@Local%20Folders/Promo"
condition="AND (subject,contains,discount) AND (from,contains,shop)"
name="All"
enabled="no"
type="17"
action="Forward"
actionValue="a@b.org"
condition="ALL"
"""
PROMO = {
    "name": 'To "Promo"',
    "action": "Move to folder",
    "condition": ["AND (subject,contains,discount)", "AND (from,contains,shop)"],
}
PAGE = "<html><body><p sdnum='1'>One <b>two</b></p><img src='a.png'></body></html>"
UNNUMBERED = PAGE.replace(" sdnum='1'", "")
STYLE = "<style>body {{ background-image: url('{}') }}</style>"
STATUS = """<?xml version="1.0"?><root><state>{}</state><information>
<category name="meta"><info name="{}">{}</info></category></information></root>"""
TIMEDATECTL = """               Local time: Thu 2024-01-25 12:56:06 WET
           Universal time: Thu 2024-01-25 12:56:06 UTC
                 RTC time: Thu 2024-01-25 12:56:05
                Time zone: Atlantic/Faroe (WET, +0000)
System clock synchronized: yes
"""
PLAYS_FILE = {"type": "file_name", "file_name": "a.mp4"}
PLAYS_URL = {"type": "url", "url": "http://a.org/s/x.m3u8"}
TABLE, LOWER = text("Name,Age\nAnn,3\n", "csv"), text("name,age \nann,3\n", "csv")
PERSON = text("Name,Age\r\nAnn,3\r\n", "csv")
INSIDE = {"file_path": "in", "file_type": "text"}
FIRST = "From - Thu Jan 25\nX-Mozilla-Status: {}\nSubject: A\n\nHello\n\n"
SECOND = "From - Fri Jan 26\nX-Mozilla-Status: 0001\nSubject: B\n\nFrom me\n\n"
READ, UNREAD, DELETED = (FIRST.format(status) for status in ("0001", "0000", "0009"))
DATA_BASE = Made("sqlite", write_data_base)
COUNT = "SELECT COUNT(*) FROM done WHERE what = '{}'"
FUN = bookmarks(folder("Fun"), link("https://a.org/"))
FOLDERS = {"type": "bookmark_bar_folders_names", "names": ["Fun"]}
LIKED = {
    "type": "liked_authors_websites_urls",
    "urls": ["https://a.org/", ["https://b.org/", "https://b.net/"]],
}


def plays(state: str, key: str, value: str) -> Made:
    return text(STATUS.format(state, key, value), "xml")


CASES: Cases = {
    "compare_csv": [
        Case(1, PERSON, TABLE),
        Case(0, PERSON, LOWER),
        Case(1, PERSON, [LOWER, TABLE]),
        Case(1, PERSON, LOWER, strict=False, ignore_case=True),
    ],
    "compare_time_in_speedtest_results": against(
        "60", (1, speed_test(0)), (0, speed_test(6)), (0, text("Server,Time\n"))
    ),
    "check_json_settings": alone(
        (1, text('{"a": [1], "b": 2}'), {"expected": {"a": [1]}}),
        (0, text('{"a": [2]}'), {"expected": {"a": [1]}}),
        (0, text("{}"), {"expected": {"a": None}}),
    ),
    "is_included_all_json_objects": alone(
        (1, text('{"a": 1}'), text('{"a": 1, "b": 2}')),
        (0, text('{"a": 1}'), text('{"a": 2}')),
        (0, text('{"a": 1}'), text("[]")),
    ),
    "check_html_background_image": against(
        {"value": "a.png"},
        (1, text(STYLE.format("a.png"))),
        (0, text(STYLE.format("b.png"))),
        (0, text("background-image: url('a.png')")),
    ),
    "compare_htmls": [
        Case(1, text(PAGE), text(PAGE.replace("'", '"'))),
        Case(0, text(PAGE), text(PAGE.replace("two", "three"))),
        Case(0, text(PAGE), text(PAGE.replace("a.png", "b.png"))),
        Case(0, text(PAGE), text(UNNUMBERED)),
        Case(1, text(PAGE), text(UNNUMBERED), ignore_sdnum=True),
        Case(0, text(PAGE), text(PAGE.replace("</body>", "<p></p></body>"))),
    ],
    "compare_archive": [
        *against(
            tarred({"in/a.txt": "a", "in/b.txt": "b"}),
            (1, zipped({"in/b.txt": "b", "in/a.txt": "a"}), INSIDE),
            (0.5, tarred({"in/a.txt": "a", "in/b.txt": "c"}), INSIDE),
            (0, zipped({"in/a.txt": "a"}), INSIDE),
            (0, zipped({"other/a.txt": "a"}), INSIDE),
            (0, tarred({"../out.txt": "a"}), INSIDE),
        ),
        *against(
            tarred({"a.txt": "a", "in/b.txt": "b"}),
            (1, zipped({"in/b.txt": "b", "a.txt": "a"})),
            (0.5, zipped({"in/b.txt": "c", "a.txt": "a"})),
            (0, zipped({"b.txt": "b", "a.txt": "a"})),
        ),
        Case(1, zipped({"x": "A"}), zipped({"x": "a"}), file_type="text", ignore_case=True),
    ],
    "compare_zip_files": [
        *against(
            zipped({"in/a.txt": "a", "b": "b"}),
            (1, zipped({"b": "b", "in/a.txt": "a"})),
            (0, zipped({"b": "c", "in/a.txt": "a"})),
            (0, zipped({"b": "b", "in/a.txt": "a", "c": ""})),
        ),
        *against(
            book(a_pdf("The very same book, printed once")),
            (1, book(a_pdf("The very same book, printed ones"))),
            (0, book(a_pdf("Another"))),
            (0, book("no PDF")),
        ),
    ],
    "check_thunderbird_filter": alone(
        (1, text(FILTERS), {"expect": [PROMO, {"condition": ["ALL"], "actionValue": "a@b.org"}]}),
        (0, text(FILTERS), {"expect": [PROMO | {"enabled": "no"}]}),
        (0, text(FILTERS), {"unexpect": [{"enabled": "no"}]}),
    ),
    "check_thunderbird_folder": [
        Case(1, box(SECOND, READ, READ), box(READ, SECOND)),
        Case(0, box(SECOND), box(READ, SECOND)),
        Case(1, box(SECOND, DELETED), box(SECOND)),
        Case(0, box(SECOND, DELETED), box(SECOND), remove_deleted=False),
        Case(0, box(READ), box(UNREAD)),
        Case(1, box(READ), box(UNREAD), ignore_status=True),
        Case(1, [box(READ), box(SECOND)], [box(READ), box(SECOND)]),
        Case(0, [box(READ), None], [box(READ), box(SECOND)]),
    ],
    "check_accessibility_tree": alone(
        (1, TREE, [{"selectors": [f"application[name=Thunderbird] {PILLS[0]}"]}]),
        (0, TREE, [{"selectors": [pill]} for pill in PILLS]),
        (1, TREE, [{"selectors": ["frame", r"entry[name=Address\ bar]"], "text": "a.org"}]),
        (0, TREE, [{"selectors": ["entry"], "text": "b.org", "exact": True}]),
        (0.8, TREE, [{"selectors": ["entry"], "text": "b.org", "exact": False}]),
        (1, TREE, [{"xpath": '//entry[@st:focused="true"]', "text": "a.org"}]),
        (0, "<unfinished", [{"selectors": ["entry"]}]),
    ),
    "is_vlc_playing": alone(
        (1, plays("playing", "filename", "a.mp4"), PLAYS_FILE),
        (0, plays("stopped", "filename", "a.mp4"), PLAYS_FILE),
        (0, plays("playing", "filename", "b.mp4"), PLAYS_FILE),
        (1, plays("playing", "url", "http://a.org/s/x.m3u8?k=1"), PLAYS_URL),
        (1, plays("playing", "filename", "x.m3u8"), PLAYS_URL),
        (0, plays("playing", "filename", "y.m3u8"), PLAYS_URL),
    ),
    "is_vlc_fullscreen": against(
        {"width": 1920, "height": 1080},
        (1, {"width": 1920, "height": 1080}),
        (0, {"width": 1920, "height": 1053}),
    ),
    "check_qt_bgcone": setting("qt-bgcone", "0", "1"),
    "check_qt_max_volume": setting("qt-max-volume", "200", "125"),
    "check_qt_minimal_view": setting("qt-minimal-view", "1", "0"),
    "check_one_instance_when_started_from_file": setting(
        "one-instance-when-started-from-file", "0", "1"
    ),
    "run_sqlite3": alone(
        (1, DATA_BASE, {"sql": COUNT.format("sent")}),
        (0, DATA_BASE, {"sql": COUNT.format("read")}),
        (0, DATA_BASE, {"sql": "SELECT what FROM nowhere"}),
        (0, DATA_BASE, {"sql": "SELECT what FROM done WHERE what = 'read'"}),
    ),
    "check_file_exists": alone(
        (1, str(Path(__file__).parent), Path(__file__).name),
        (0, str(Path(__file__).parent), "elsewhere.txt"),
    ),
    "is_utc_0": alone(
        (1, TIMEDATECTL),
        (0, TIMEDATECTL.replace("+0000", "+0100")),
        (0, "timedatectl: command not found"),
    ),
    "is_expected_bookmarks": alone(
        (1, FUN, FOLDERS),
        (0, bookmarks(folder("Fun"), folder("Work")), FOLDERS),
        (1, FUN, {"type": "bookmark_bar_websites_urls", "urls": ["https://a.org/"]}),
        (1, bookmarks(folder("Liked Authors", "https://a.org/", "https://b.net/")), LIKED),
        (0, bookmarks(folder("Liked Authors", "https://b.net/")), LIKED),
        (0, bookmarks(), LIKED),
    ),
}
