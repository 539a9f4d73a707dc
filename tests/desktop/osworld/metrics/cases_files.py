"""Cases of metrics of files: texts, settings, archives, mail, pages, trees."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from metric_case import Case, Cases


def texts(*cases: tuple[Any, ...]) -> Callable[[Path], Iterator[Case]]:
    """Cases (score, text of the result, rules[, options])."""

    def build(folder: Path) -> Iterator[Case]:
        for number, (score, text, rules, *options) in enumerate(cases):
            file = folder / f"result{number}.txt"
            file.write_text(text, encoding="utf-8")
            yield Case(score, str(file), rules, **(options[0] if options else {}))

    return build


def pairs(*cases: tuple[Any, ...]) -> Callable[[Path], Iterator[Case]]:
    """Cases (score, text of the result, text of the expected file[, options])."""

    def build(folder: Path) -> Iterator[Case]:
        for number, (score, text, expected, *options) in enumerate(cases):
            files = folder / f"result{number}.txt", folder / f"expected{number}.txt"
            for file, content in zip(files, (text, expected), strict=True):
                file.write_text(content, encoding="utf-8", newline="")
            yield Case(score, *map(str, files), **(options[0] if options else {}))

    return build


def csv_files(folder: Path) -> Iterator[Case]:
    one, other = folder / "a.csv", folder / "b.csv"
    one.write_text("Name,Age\nAnn,3\n")
    other.write_text("name,age \nann,3\n")
    result = folder / "result.csv"
    result.write_bytes(b"Name,Age\r\nAnn,3\r\n")
    yield Case(1, str(result), str(one))
    yield Case(0, str(result), str(other))
    yield Case(1, str(result), [str(other), str(one)])
    yield Case(1, str(result), str(other), strict=False, ignore_case=True)


def speed_tests(folder: Path) -> Iterator[Case]:
    now = datetime.now()
    for score, then in ((1, now), (0, now + timedelta(hours=6))):
        file = folder / f"{score}.csv"
        file.write_text(f"Server,Time\nX,2024-01-01 {then:%H:%M}\n")
        yield Case(score, str(file), "60")
    file = folder / "none.csv"
    file.write_text("Server,Time\n")
    yield Case(0, str(file), "60")


def json_objects(folder: Path) -> Iterator[Case]:
    expected = folder / "expected.json"
    expected.write_text('{"a": 1}')
    for score, data in ((1, {"a": 1, "b": 2}), (0, {"a": 2}), (0, [])):
        file = folder / f"{json.dumps(data)}.json"
        file.write_text(json.dumps(data))
        yield Case(score, str(expected), str(file))


def tarred(path: Path, files: dict[str, str]) -> str:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    return str(path)


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


def zipped(path: Path, files: Mapping[str, str | bytes]) -> str:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return str(path)


def archives(folder: Path) -> Iterator[Case]:
    expected = tarred(folder / "expected.tar.gz", {"in/a.txt": "a", "in/b.txt": "b"})
    inside = {"file_path": "in", "file_type": "text"}
    same = zipped(folder / "same.zip", {"in/b.txt": "b", "in/a.txt": "a"})
    yield Case(1, same, expected, **inside)
    half = tarred(folder / "half.tar.gz", {"in/a.txt": "a", "in/b.txt": "c"})
    yield Case(0.5, half, expected, **inside)
    yield Case(1, zipped(folder / "1.zip", {"x": "A"}), zipped(folder / "2.zip", {"x": "a"}),
               file_type="text", ignore_case=True)  # fmt: skip
    fewer = zipped(folder / "fewer.zip", {"in/a.txt": "a"})
    yield Case(0, fewer, expected, **inside)
    yield Case(0, zipped(folder / "empty.zip", {"other/a.txt": "a"}), expected, **inside)
    escaping = tarred(folder / "escaping.tar.gz", {"../out.txt": "a"})
    yield Case(0, escaping, expected, **inside)


def zip_files(folder: Path) -> Iterator[Case]:
    expected = zipped(folder / "expected.zip", {"in/a.txt": "a", "b": "b"})
    yield Case(1, zipped(folder / "same.zip", {"b": "b", "in/a.txt": "a"}), expected)
    yield Case(0, zipped(folder / "changed.zip", {"b": "c", "in/a.txt": "a"}), expected)
    yield Case(0, zipped(folder / "more.zip", {"b": "b", "in/a.txt": "a", "c": ""}), expected)
    book = zipped(folder / "book.zip", {"a.pdf": a_pdf("The very same book, printed once")})
    again = zipped(folder / "again.zip", {"a.pdf": a_pdf("The very same book, printed ones")})
    yield Case(1, again, book)
    yield Case(0, zipped(folder / "other.zip", {"a.pdf": a_pdf("Another")}), book)
    yield Case(0, zipped(folder / "broken.zip", {"a.pdf": "no PDF"}), book)


def mail_folders(folder: Path) -> Iterator[Case]:
    first = "From - Thu Jan 25\nX-Mozilla-Status: {}\nSubject: A\n\nHello\n\n"
    second = "From - Fri Jan 26\nX-Mozilla-Status: 0001\nSubject: B\n\nFrom me\n\n"
    names = iter(f"{number}.mbox" for number in range(99))

    def box(*messages: str) -> str:
        file = folder / next(names)
        file.write_text("".join(messages))
        return str(file)

    read, unread, deleted = (first.format(status) for status in ("0001", "0000", "0009"))
    yield Case(1, box(second, read, read), box(read, second))
    yield Case(0, box(second), box(read, second))
    yield Case(1, box(second, deleted), box(second))
    yield Case(0, box(second, deleted), box(second), remove_deleted=False)
    yield Case(0, box(read), box(unread))
    yield Case(1, box(read), box(unread), ignore_status=True)
    yield Case(1, [box(read), box(second)], [box(read), box(second)])
    yield Case(0, [box(read), None], [box(read), box(second)])


TREE = """<desktop-frame xmlns:attr="https://accessibility.ubuntu.example.org/ns/attributes"
  xmlns:st="https://accessibility.ubuntu.example.org/ns/state">
  <application name="Thunderbird"><tool-bar attr:id="Headers">
    <label name="To">To</label>
    <panel attr:class="pill"><label attr:class="pill-label" name="fox@a.edu">fox</label></panel>
  </tool-bar><entry name="Address bar" st:focused="true">a.org</entry></application>
</desktop-frame>"""
PILL = '[attr|id=Headers] label[name=To]~[attr|class="pill"]>label[name*="{}"]'


def trees(folder: Path) -> Iterable[Case]:
    return (
        Case(1, TREE, [{"selectors": ["application[name=Thunderbird] " + PILL.format("fox@")]}]),
        Case(0, TREE, [{"selectors": [PILL.format("fox@")]}, {"selectors": [PILL.format("dog")]}]),
        Case(1, TREE, [{"selectors": ["frame", r"entry[name=Address\ bar]"], "text": "a.org"}]),
        Case(0, TREE, [{"selectors": ["entry"], "text": "b.org", "exact": True}]),
        Case(0.8, TREE, [{"selectors": ["entry"], "text": "b.org", "exact": False}]),
        Case(1, TREE, [{"xpath": '//entry[@st:focused="true"]', "text": "a.org"}]),
        Case(0, "<unfinished", [{"selectors": ["entry"]}]),
    )


PREFS = """// Mozilla User Preferences
user_pref("mail.compose.bcc", "a@b.org, c@d.org");
user_pref("calendar.week", 3);
user_pref("mail.on", true);
"""
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
ACCOUNTS = "url,user\nimap://x,ann\nsmtp://y,ann\n"
LOG = "12:00:01 up\nnothing\nat 23:59:60 down 12:00:00\n"
CODE = "#!/usr/bin/python3\n# -*- coding: utf-8 -*-\n\ndef f():\n\treturn 1  \n"
BINDINGS = [{"key": "ctrl+f", "command": "x"}]
PAGE = "<html><body><p sdnum='1'>One <b>two</b></p><img src='a.png'></body></html>"
STYLE = "<style>body {{ background-image: url('{}') }}</style>"
KEYS = {"expect": [{"key": ["a", "b", 0], "method": "eq", "ref": 1}]}
VLC = "# Boss (str)\n#qt-bgcone=1\n\n[qt]\n{}\n"
STATUS = """<?xml version="1.0"?><root><state>{}</state><information>
<category name="meta"><info name="{}">{}</info></category></information></root>"""

PLAYS_FILE = {"type": "file_name", "file_name": "a.mp4"}
PLAYS_URL = {"type": "url", "url": "http://a.org/s/x.m3u8"}


def setting(name: str, key: str, value: str, other: str) -> Callable[[Path], Iterator[Case]]:
    """A setting of VLC that is expected to be `value`, VLC's own being `other`."""
    line = f"{name}={value}"
    return texts(
        (1, VLC.format(line), {key: int(value)}),
        (1, VLC.format(line), {key: value}),
        (0, VLC.format(line), {key: other}),
        (1, VLC.format(f"#{name}={other}"), {key: other}),
        (1, "[qt]\n", {key: other}),
        (0, "[qt]\n", {key: value}),
    )


CASES: Cases = {
    "compare_text_file": pairs(
        (1, "a b\r\nc\n", "a b\nc\n"),
        (0, "a  b\nc", "a b c"),
        (1, " a  b\n\nc", "a b c", {"ignore_blanks": True}),
        (1, "A", "a", {"ignore_case": True}),
    ),
    "diff_text_file": pairs((1, "a\nb\n", "a\nb"), (0.5, "a\nb", "a\nc"), (0, "a", "b")),
    "compare_config": texts((1, "{}\n", {"expected": "{}\n"}), (0, "{ }\n", {"expected": "{}\n"})),
    "compare_result_files": pairs(
        (1, "It is 3.5 m\n", "3.5"),
        (1, "3.50001", "3.5000"),
        (0, "3.6", "3.5"),
        (1, "a b \n", "a b"),
        (0, "a", "b"),
        (0, "none", "3.5"),
    ),
    "compare_terminal_and_txt": texts((1, "out\n", "out\n"), (0, "out\n", "out"), (0, "", "")),
    "compare_python_pure_text": pairs(
        (1, CODE, "def f():\n    return 1\n"),
        (0, CODE, "def f():\n    return 2\n"),
        (0, "```python\ndef f():\n    return 1\n```", "def f():\n    return 1\n"),
    ),
    "file_contains": texts(
        (1, "one\ntwo", {"expected": ["one", "two"]}), (0, "one", {"expected": ["one", "two"]})
    ),
    "check_line_number": texts((1, LOG, {"expected": "2"}), (0, LOG, {"expected": 3})),
    "check_list": texts(
        (1, "a1\nb\n", {"expect": [r"^a\d$", "b"], "unexpect": ["c"]}),
        (0, "a1\nb\n", {"expect": [r"^a\d\d$"]}),
        (0, "a1\nb\n", {"unexpect": ["b"]}),
        (1, "", {"unexpect": [".+"]}),
    ),
    "check_csv": texts(
        (1, ACCOUNTS, {"expect": [{"url": "imap://x", "user": "ann"}, {"url": "smtp://y"}]}),
        (0, ACCOUNTS, {"expect": [{"url": "imap://x", "user": "bob"}]}),
        (0, ACCOUNTS, {"unexpect": [{"user": "ann"}]}),
        (0, ACCOUNTS, {"expect": [{"password": "x"}]}),
    ),
    "compare_csv": csv_files,
    "compare_time_in_speedtest_results": speed_tests,
    "check_html_background_image": texts(
        (1, STYLE.format("a.png"), {"value": "a.png"}),
        (0, STYLE.format("b.png"), {"value": "a.png"}),
        (0, "background-image: url('a.png')", {"value": "a.png"}),
    ),
    "check_json": texts(
        (1, '{"a": {"b": [1]}}', KEYS),
        (0, '{"a": {"b": [2]}}', KEYS),
        (0, '{"a": {"b": []}}', KEYS),
        (0, "{", KEYS),
        (1, "a:\n  b: [1]\n", KEYS, {"is_yaml": True}),
        (0, "", KEYS, {"is_yaml": True}),
        (0, '{"a": {"b": [1]}}', {"unexpect": KEYS["expect"]}),
        (1, '{"a": {}}', {"unexpect": KEYS["expect"]}),
    ),
    "check_json_settings": texts(
        (1, '{"a": [1], "b": 2}', {"expected": {"a": [1]}}),
        (0, '{"a": [2]}', {"expected": {"a": [1]}}),
        (0, "{}", {"expected": {"a": None}}),
    ),
    "check_json_keybindings": texts(
        (1, json.dumps(BINDINGS), {"expected": BINDINGS[0]}),
        (1, "// Yours\n" + json.dumps(BINDINGS), {"expected": BINDINGS[0]}),
        (0, "// Yours\n[]", {"expected": BINDINGS[0]}),
        (0, "no list", {"expected": BINDINGS[0]}),
    ),
    "is_included_all_json_objects": json_objects,
    "compare_htmls": pairs(
        (1, PAGE, PAGE.replace("'", '"')),
        (0, PAGE, PAGE.replace("two", "three")),
        (0, PAGE, PAGE.replace("a.png", "b.png")),
        (0, PAGE, PAGE.replace(" sdnum='1'", "")),
        (1, PAGE, PAGE.replace(" sdnum='1'", ""), {"ignore_sdnum": True}),
        (0, PAGE, PAGE.replace("</body>", "<p></p></body>")),
    ),
    "compare_archive": archives,
    "compare_zip_files": zip_files,
    "check_thunderbird_prefs": texts(
        (1, PREFS, {"expect": {"calendar.week": {"method": "ge", "ref": 3}}}),
        (0, PREFS, {"expect": {"calendar.week": {"method": "gt", "ref": 3}}}),
        (1, PREFS, {"expect": {"mail.compose.bcc": {"method": "re.I", "ref": "A@B"}}}),
        (0, PREFS, {"expect": {"mail.off": {"method": "eq", "ref": True}}}),
        (0, PREFS, {"unexpect": {"mail.on": {"method": "eq", "ref": True}}}),
        (1, PREFS, {"unexpect": {"mail.off": {"method": "eq", "ref": True}}}),
    ),
    "check_thunderbird_filter": texts(
        (1, FILTERS, {"expect": [PROMO, {"condition": ["ALL"], "actionValue": "a@b.org"}]}),
        (0, FILTERS, {"expect": [PROMO | {"enabled": "no"}]}),
        (0, FILTERS, {"unexpect": [{"enabled": "no"}]}),
    ),
    "check_thunderbird_folder": mail_folders,
    "check_accessibility_tree": trees,
    "is_vlc_playing": texts(
        (1, STATUS.format("playing", "filename", "a.mp4"), PLAYS_FILE),
        (0, STATUS.format("stopped", "filename", "a.mp4"), PLAYS_FILE),
        (0, STATUS.format("playing", "filename", "b.mp4"), PLAYS_FILE),
        (1, STATUS.format("playing", "url", "http://a.org/s/x.m3u8?k=1"), PLAYS_URL),
        (1, STATUS.format("playing", "filename", "x.m3u8"), PLAYS_URL),
        (0, STATUS.format("playing", "filename", "y.m3u8"), PLAYS_URL),
    ),
    "is_vlc_fullscreen": lambda folder: (
        Case(1, {"width": 1920, "height": 1080}, {"width": 1920, "height": 1080}),
        Case(0, {"width": 1920, "height": 1053}, {"width": 1920, "height": 1080}),
    ),
    "is_vlc_recordings_folder": texts(
        (1, "#input-record-path=/b\ninput-record-path=/a \n", {"recording_file_path": "/a"}),
        (0, "#input-record-path=/a\n", {"recording_file_path": "/a"}),
        (0, "input-record-path=/b\n", {"recording_file_path": "/a"}),
    ),
    "check_qt_bgcone": setting("qt-bgcone", "expected_qt_bgcone", "0", "1"),
    "check_qt_max_volume": setting("qt-max-volume", "expected_qt_max_volume", "200", "125"),
    "check_qt_minimal_view": setting("qt-minimal-view", "expected_qt_minimal_view", "1", "0"),
    "check_one_instance_when_started_from_file": setting(
        "one-instance-when-started-from-file",
        "expected_one_instance_when_started_from_file",
        "0",
        "1",
    ),
    "check_global_key_play_pause": texts(
        (1, "global-key-play-pause=Ctrl+p\n", {"expected_global_key_play_pause": 1}),
        (0, "global-key-play-pause=Ctrl+p\n", {"expected_global_key_play_pause": 0}),
        (1, "#global-key-play-pause=\n", {"expected_global_key_play_pause": 0}),
    ),
    "check_qt_slider_colours": texts(
        (1, "qt-slider-colours=1;2;3;99;9;0\n", {"type": "blackish"}),
        (0, "qt-slider-colours=1;2;3;100;9;0\n", {"type": "blackish"}),
        (0, "", {"type": "blackish"}),
        (1, "qt-slider-colours=1;2;3\n", {"type": "match", "expected_qt_slider_colours": "1;2;3"}),
    ),
    "check_config_status": texts(
        (1, '# x\n\n(theme "Light")\n', {"key": "theme", "value": '"Light"'}),
        (0, '# (theme "Light")\n', {"key": "theme", "value": '"Light"'}),
        (1, '(tool "a"\n(tool "b" no))\n', {"key": ["tool", '"b"'], "value": "no"}),
        (0, '(tool "b" yes)\n', {"key": ["tool", '"b"'], "value": "no"}),
    ),
}
