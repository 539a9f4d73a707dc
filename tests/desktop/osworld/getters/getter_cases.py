"""What getters are to bring, from a fake desktop: `cases.toml`, and what a text cannot say."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from getter_case import Case, data_base, deck, fake, read_cases, workbook, world

from ui_gym.desktop.osworld.registry import EvaluationContext

SEVERAL = {"multi": True, "path": ["a.txt", "b.txt"], "dest": ["1.txt", "2.txt"]}
SLIDE = {"ppt_file_path": "~/deck.pptx", "slide_index": 0, "dest": "part.bin"}
ROW = {"path": "r.xlsx", "file_type": "xlsx", "file_content": "last_row"}
RANGE = {"from": "next Monday split", "to": "next Friday split"}
PARTS = {f"{end}{part}": "{" + part + "D}" for end in ("pu", "do") for part in ("Day", "Month")}
SPLIT = {"relativeTime": RANGE, "expected": PARTS | {"puYear": "{Year}", "doYear": "{Year}"}}
TOMORROW = {"from": "tomorrow"}
JANUARY = world(today=date(2025, 1, 31))
SHOP = (
    "www.shop.test/shop/mens-clothing/sale/Men_regular_size_t,Price_discount_range,Sleeve_length/"
    "L,50_PERCENT_%20off%20%26%20more,Short%20Sleeve?id=1"
)
SHOP_KEYS = ["mens_clothing", "Men_regular_size_t", "Price_discount_range", "unknown"]
WINDOW = {"app_class_name": "VLC"}


def linked(context: EvaluationContext) -> None:
    """A slide with a sound that lies beside the presentation."""
    target = f"file://{context.device.home}/a%20b.mp3"
    world(files={"a b.mp3": "linked", "deck.pptx": deck(target=target)})(context)


CASES: dict[str, list[Case]] = {
    "vm_file": [
        Case("several", None, SEVERAL, world(files={"b.txt": "b"})),
        Case("given", b"b", SEVERAL | {"gives": [1]}, world(files={"b.txt": "b"})),
        Case("all given", [None, None], SEVERAL | {"gives": [0, 1]}),
    ],
    "cache_file": [Case("there", b"out", {"path": "a.out"}, world(remembered={"a.out": "out"}))],
    "content_from_vm_file": [
        Case(
            "row",
            ["Ann", "3", "nan", "2.0"],
            ROW,
            world(
                files={"r.xlsx": workbook(list("abcd"), ["x", 1, "y", 1.5], ["Ann", 3, None, 2])}
            ),
        ),
        Case("none", None, ROW),
        Case("broken", None, ROW, world(files={"r.xlsx": "no workbook"})),
    ],
    "rule_relativeTime": [
        Case(
            "time",
            {"relativeTime": TOMORROW, "expected": {"time": "Sat, Feb 01, 2025"}},
            {
                "rules": {
                    "relativeTime": TOMORROW,
                    "expected": {"time": "{DoW}, {Month} {Day0D}, {Year}"},
                }
            },
            JANUARY,
        ),
        Case(
            "split",
            {
                "relativeTime": RANGE,
                "expected": {
                    "puDay": "3",
                    "puMonth": "2",
                    "puYear": "2025",
                    "doDay": "7",
                    "doMonth": "2",
                    "doYear": "2025",
                },
            },
            {"rules": SPLIT},
            JANUARY,
        ),
    ],
    "vm_terminal_output": [
        Case("own", "$ own", {}, fake(lambda d: setattr(d, "terminal_output", lambda: "$ own")))
    ],
    "vm_screen_size": [
        Case("size", {"width": 1920, "height": 1080}),
        Case("small", {"width": 8, "height": 6}, {}, lambda c: setattr(c, "size", (8, 6))),
    ],
    "vm_window_size": [
        Case(
            "window",
            {"width": 192, "height": 108},
            WINDOW,
            fake(lambda desktop: desktop.show("a film", app="vlc")),
        ),
        Case("none", None, WINDOW, fake(lambda desktop: desktop.show("vlc"))),
    ],
    "audio_in_slide": [
        Case("embedded", b"the sound", SLIDE, world(files={"deck.pptx": deck()})),
        Case("linked", b"linked", SLIDE, linked),
        Case("none", None, SLIDE, world(files={"deck.pptx": deck(kind="image")})),
        Case("other slide", None, SLIDE | {"slide_index": 3}, world(files={"deck.pptx": deck()})),
        Case("broken", None, SLIDE, world(files={"deck.pptx": "no presentation"})),
    ],
    "background_image_in_slide": [
        Case("embedded", b"the sound", SLIDE, world(files={"deck.pptx": deck(kind="image")})),
        Case(
            "no background",
            None,
            SLIDE,
            world(files={"deck.pptx": deck(kind="image", background=False)}),
        ),
    ],
    "cookie_data": [
        Case(
            "rows",
            [(1, "a.test")],
            {"dest": "c"},
            data_base(
                ".config/chromium/Default/Network/Cookies",
                "CREATE TABLE cookies (creation INTEGER, host_key TEXT)",
                "INSERT INTO cookies VALUES (1, 'a.test')",
            ),
        ),
        Case("none", None, {"dest": "c"}),
        Case(
            "broken",
            None,
            {"dest": "c"},
            world(files={".config/chromium/Default/Cookies": "x" * 200}),
        ),
    ],
    "history": [
        Case(
            "rows",
            [("https://a.test/", "A", 5)],
            {"dest": "h"},
            data_base(
                ".config/google-chrome/Default/History",
                "CREATE TABLE urls (url TEXT, title TEXT, last_visit_time INTEGER)",
                "INSERT INTO urls VALUES ('https://a.test/', 'A', 5)",
            ),
        ),
        Case("none", None, {"dest": "h"}),
    ],
    "url_path_parse": [
        Case(
            "filters",
            {
                "mens_clothing": True,
                "shirts": None,
                "short_sleeve": True,
                "Men_regular_size_t": "L",
                "Price_discount_range": "50_PERCENT_ off & more",
            },
            {"parse_keys": SHOP_KEYS},
            world(address=SHOP),
        ),
        Case("none", None, {"parse_keys": SHOP_KEYS}),
    ],
}
CASES["macys_product_url_parse"] = CASES["url_path_parse"]
for getter, cases in read_cases(Path(__file__).with_name("cases.toml")).items():
    CASES[getter] = cases + CASES.get(getter, [])

ELSEWHERE = {
    *("active_tab_html_parse", "active_tab_info", "info_from_website", "open_tabs_info"),
    *("page_info", "pdf_from_url", "replay", "vlc_playing_info"),
}
"""What `test_chrome.py` and `test_programs.py` try on servers that run."""
