"""Cases of metrics of values: texts, objects, tabs, settings."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from metric_case import Case, Cases, always

LIBRARY = {"children": [{"type": "file", "name": "a.jpg"}, {"type": "file", "name": "b.jpg"}]}
TIMEDATECTL = """               Local time: Thu 2024-01-25 12:56:06 WET
           Universal time: Thu 2024-01-25 12:56:06 UTC
                 RTC time: Thu 2024-01-25 12:56:05
                Time zone: Atlantic/Faroe (WET, +0000)
System clock synchronized: yes
"""


def tab(url: str) -> dict[str, str]:
    return {"title": "A page", "url": url}


def bookmarks(*entries: dict[str, object]) -> dict[str, object]:
    return {"bookmark_bar": {"children": list(entries)}}


def folder(name: str, *urls: str) -> dict[str, object]:
    return {"type": "folder", "name": name, "children": [link(url) for url in urls]}


def link(url: str) -> dict[str, object]:
    return {"type": "url", "url": url, "name": "A page"}


def data_base(path: Path) -> Iterator[Case]:
    file = path / "prefs.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE done (what TEXT)")
        connection.execute("INSERT INTO done VALUES ('sent')")
    connection.close()
    count = "SELECT COUNT(*) FROM done WHERE what = '{}'"
    yield Case(1, str(file), {"sql": count.format("sent")})
    yield Case(0, str(file), {"sql": count.format("read")})
    yield Case(0, str(file), {"sql": "SELECT what FROM nowhere"})
    yield Case(0, str(file), {"sql": "SELECT what FROM done WHERE what = 'read'"})


def existing_file(path: Path) -> Iterator[Case]:
    (path / "there.txt").write_text("")
    yield Case(1, str(path), "there.txt")
    yield Case(0, str(path), "elsewhere.txt")


FAVOURITES = {"expected": ["vim.desktop", "thunderbird.desktop"]}
RULES_IN = {"expected": {"size": ["S", "M"], "name": "shirt"}, "expect_in_result": True}
UNORDERED = {"expected": {"ignore_list_order": True, "models": ["x", "y"]}}
TWO_TABS = {"type": "url", "urls": ["https://www.airbnb.com", "https://docs.python.org/3/"]}
LIKED = {
    "type": "liked_authors_websites_urls",
    "urls": ["https://a.org/", ["https://b.org/", "https://b.net/"]],
}
FONT = {"default_font_size": 20}

CASES: Cases = {
    "exact_match": always(
        Case(1, "true\n", {"expected": "true\n"}),
        Case(0, "true", {"expected": "true\n"}),
    ),
    "compare_answer": always(
        Case(1, "42", {"expected": "42"}),
        Case(0, "43", {"expected": "42"}),
    ),
    "match_in_list": always(
        Case(1, "Bing", {"expected": ["Bing", "Microsoft Bing"]}),
        Case(0, "Google", {"expected": ["Bing", "Microsoft Bing"]}),
    ),
    "is_in_list": always(
        Case(1, ["/a", "/b"], {"expected": "/b"}),
        Case(0, ["/a", "/bc"], {"expected": "/b"}),
        Case(0, "abc", {"expected": ["b"]}),
    ),
    "is_extension_installed": always(
        Case(1, "ms.cpp\nms.python\n", {"type": "contain", "expected": "ms.python"}),
        Case(0, "ms.cpp\n", {"type": "contain", "expected": "ms.python"}),
        Case(1, "ms.cpp\n", {"type": "not_contain", "expected": "ms.python"}),
    ),
    "check_include_exclude": always(
        Case(1, "two words", {"include": ["two", "words"], "exclude": ["three"]}),
        Case(0, "two words", {"include": ["two", "three"]}),
        Case(0, "two words", {"include": ["two"], "exclude": ["words"]}),
        Case(1, "anything", {}),
    ),
    "literal_match": always(
        Case(1, ["Yann", 3], ["yann", "3"], type="list", ignore_case=True),
        Case(0, ["Yann", 3], ["yann", "3"], type="list"),
        Case(0, ["Yann"], ["Yann", "3"], type="list"),
        Case(1, 3, "3"),
        Case(0, "a", "A"),
    ),
    "fuzzy_match": always(
        Case(1, "the same", {"expected": "the same"}),
        Case(0.8, "abcde", {"expected": "abcdx"}),
        Case(0, "abc", {"expected": "xyz"}),
    ),
    "check_direct_json_object": always(
        Case(1, {"a": "1", "b": 2}, {"expected": {"a": "1"}}),
        Case(1, " {'a': '1'}\n", {"expected": {"a": "1"}}),
        Case(0, {"a": "2"}, {"expected": {"a": "1"}}),
        Case(0, {}, {"expected": {"a": "1"}}),
        Case(0, "not json", {"expected": {"a": "1"}}),
        Case(0, {"a": "__EVALUATION_FAILED__"}, {"expected": {"a": "__EVALUATION_FAILED__"}}),
        Case(1, {"size": "M", "name": "a shirt"}, RULES_IN),
        Case(1, {"size": ["M", "L"], "name": "a shirt"}, RULES_IN),
        Case(0, {"size": "L", "name": "a shirt"}, RULES_IN),
        Case(0, {"size": "M", "name": "a coat"}, RULES_IN),
        Case(0, {"size": "M"}, RULES_IN),
        Case(1, {"models": ["y", "x"]}, UNORDERED),
        Case(0, {"models": ["y", "z"]}, UNORDERED),
        Case(1, {"m": ["y", "x"]}, {"expected": {"m": ["x", "y"]}, "ignore_list_order": True}),
        Case(0, {"m": ["y", "x"]}, {"expected": {"m": ["x", "y"]}}),
    ),
    "check_gnome_favorite_apps": always(
        Case(1, "['thunderbird.desktop', 'vim.desktop']\n", FAVOURITES),
        Case(0, "['thunderbird.desktop']\n", FAVOURITES),
        Case(0, "['thunderbird.desktop', 'vim.desktop', 'a.desktop']", FAVOURITES),
        Case(0, "__import__('os').getcwd()", FAVOURITES),
    ),
    "is_utc_0": always(
        Case(1, TIMEDATECTL),
        Case(0, TIMEDATECTL.replace("+0000", "+0100")),
        Case(0, "timedatectl: command not found"),
    ),
    "check_text_enlarged": always(
        Case(1, "1.25\n"), Case(0, "1.0\n"), Case(0, "large"), Case(0, "")
    ),
    "check_moved_jpgs": always(
        Case(1, LIBRARY, {"expected": ["b.jpg", "a.jpg"]}),
        Case(0, LIBRARY, {"expected": ["a.jpg"]}),
        Case(0, {"children": []}, {"expected": ["a.jpg"]}),
    ),
    "is_in_vm_clickboard": always(
        Case(1, {"expected": "/home/x"}, "/home/x/y\n"),
        Case(0, {"expected": ["/home/x", "/home/z"]}, "/home/x/y\n"),
    ),
    "check_file_exists": existing_file,
    "run_sqlite3": data_base,
    "is_expected_active_tab": always(
        Case(1, tab("http://www.airbnb.com.sg/"), {"type": "url", "url": "airbnb.com"}),
        Case(1, "https://a.org/b?c=1#d", {"type": "url", "url": "https://a.org/b?c=1#d"}),
        Case(0, tab("https://a.org/b"), {"type": "url", "url": "http://a.org/b"}),
        Case(0, tab("https://x.a.org"), {"type": "url", "url": "https://a.org"}),
        Case(0, {}, {"type": "url", "url": "https://a.org"}),
    ),
    "is_expected_active_tab_approximate": always(
        Case(1, tab("https://a.org/b?c=1"), {"type": "url", "url": "https://a.org/b?d=2"}),
        Case(0, tab("https://a.org/x?c=1"), {"type": "url", "url": "https://a.org/b?c=1"}),
    ),
    "is_expected_url_pattern_match": always(
        Case(1, "https://a.org/reservation#/vehicles", {"expected": ["res.*#", "vehicles$"]}),
        Case(1, tab("https://a.org/x"), {"expected": ["/x$"]}),
        Case(0, tab("https://a.org/x"), {"expected": ["/x$", "/y"]}),
    ),
    "is_expected_search_query": always(
        Case(1, tab("https://g.com/search?q=cats"), {"expect": {"pattern": r"q=cats(?:&|$)"}}),
        Case(0, tab("https://g.com/search?q=cats+x"), {"expect": {"pattern": r"q=cats(?:&|$)"}}),
    ),
    "is_expected_tabs": always(
        Case(1, [tab("https://docs.python.org/3/"), tab("https://airbnb.com/")], TWO_TABS),
        Case(0, [tab("https://docs.python.org/3/")], TWO_TABS),
        Case(0, [tab("https://docs.python.org/3/"), tab("chrome://newtab/")], TWO_TABS),
        Case(0, [], TWO_TABS),
    ),
    "is_expected_installed_extensions": always(
        Case(1, ["A", "B"], {"expected": ["B"]}),
        Case(0, ["A"], {"expected": ["B"]}),
        Case(0, [], {"expected": []}),
    ),
    "is_expected_bookmarks": always(
        Case(
            1,
            bookmarks(folder("Fun"), link("https://a.org/")),
            {"type": "bookmark_bar_folders_names", "names": ["Fun"]},
        ),
        Case(
            0,
            bookmarks(folder("Fun"), folder("Work")),
            {"type": "bookmark_bar_folders_names", "names": ["Fun"]},
        ),
        Case(
            1,
            bookmarks(folder("Fun"), link("https://a.org/")),
            {"type": "bookmark_bar_websites_urls", "urls": ["https://a.org/"]},
        ),
        Case(1, bookmarks(folder("Liked Authors", "https://a.org/", "https://b.net/")), LIKED),
        Case(0, bookmarks(folder("Liked Authors", "https://b.net/")), LIKED),
        Case(0, bookmarks(), LIKED),
    ),
    "is_cookie_deleted": always(
        Case(1, [(1, ".amazon.com"), (2, "a.org")], {"type": "domains", "domains": ["b.org"]}),
        Case(0, [(1, "www.b.org"), (2, "a.org")], {"type": "domains", "domains": ["b.org"]}),
        Case(1, [], {"type": "domains", "domains": ["b.org"]}),
    ),
    "check_history_deleted": always(
        Case(1, [("https://a.org/", "A", 0)], {"type": "keywords", "keywords": ["youtube"]}),
        Case(0, [("https://youtube.com/", "A", 0)], {"type": "keywords", "keywords": ["youtube"]}),
    ),
    "is_shortcut_on_desktop": always(
        Case(1, {"a.desktop": "Name=Play\nExec=x\n"}, {"type": "name", "name": "Play"}),
        Case(0, {"a.desktop": "Name=Play more\n"}, {"type": "name", "name": "Play"}),
        Case(1, {"a.desktop": "Name=Play\nExec=x\n"}, {"type": "exec", "exec": "x"}),
    ),
    "check_enabled_experiments": always(
        Case(1, ["a-flag@1", "b-flag"], {"type": "names", "names": ["a-flag", "b-flag"]}),
        Case(0, ["a-flag@1"], {"type": "names", "names": ["a-flag", "b-flag"]}),
    ),
    "check_font_size": always(
        Case(1, FONT, {"type": "value", "value": 20}),
        Case(0, FONT, {"type": "value", "value": 16}),
        Case(1, FONT, {"type": "range", "min": 16, "max": 99}),
        Case(0, FONT, {"type": "range", "min": 20, "max": 99}),
        Case(0, {}, {"type": "value", "value": 16}),
    ),
    "is_added_to_steam_cart": always(
        Case(1, {"content": "<p>The Soundtrack"}, {"items": ["The Soundtrack"]}),
        Case(0, {"content": "<p>Empty"}, {"items": ["The Soundtrack"]}),
    ),
}
