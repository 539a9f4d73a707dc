"""What getters are to bring, from a fake desktop with these files."""

from __future__ import annotations

from datetime import date

from getter_case import (
    Case,
    address_bar,
    at,
    both,
    data_base,
    deck,
    fake,
    files,
    local_state,
    preferences,
    program,
    remember_today,
    remembered,
    setting,
    tree,
    workbook,
)

VM = {"path": "a.txt", "dest": "copy.txt"}
SEVERAL = {"multi": True, "path": ["a.txt", "b.txt"], "dest": ["1.txt", "2.txt"]}
GOLD = {"path": "https://files.test/gold.txt", "dest": "gold.txt"}
SLIDE = {"ppt_file_path": "~/deck.pptx", "slide_index": 0, "dest": "part.bin"}
ROW = {"path": "r.xlsx", "file_type": "xlsx", "file_content": "last_row"}
CODE = {"vscode_extension_command": "OpenProject", "path": "out.txt", "dest": "out.txt"}
TERMINAL = '<application name="gnome-terminal-server"><frame>{}</frame></application>'
RANGE = {"from": "next Monday split", "to": "next Friday split"}
PARTS = {f"{end}{part}": "{" + part + "D}" for end in ("pu", "do") for part in ("Day", "Month")}
SPLIT = {"relativeTime": RANGE, "expected": PARTS | {"puYear": "{Year}", "doYear": "{Year}"}}
SHOP = (
    "www.shop.test/shop/mens-clothing/sale/Men_regular_size_t,Price_discount_range,Sleeve_length/"
    "L,50_PERCENT_%20off%20%26%20more,Short%20Sleeve?id=1"
)
SHOP_KEYS = ["mens_clothing", "Men_regular_size_t", "Price_discount_range", "unknown"]
BOOKMARKS = {"bookmark_bar": {"children": [{"type": "url", "url": "https://a.test/"}]}}
EXTENSIONS = {"settings": {"x": {"path": "/home/x", "manifest": {"name": "X"}}, "y": {}}}


CASES: dict[str, list[Case]] = {
    "vm_file": [
        Case("one", b"a", VM, files(**{"a.txt": "a"})),
        Case("home", b"a", VM | {"path": "~/a.txt"}, files(**{"a.txt": "a"})),
        Case("none", None, VM),
        Case("several", None, SEVERAL, files(**{"b.txt": "b"})),
        Case("given", b"b", SEVERAL | {"gives": [1]}, files(**{"b.txt": "b"})),
        Case("all given", [None, None], SEVERAL | {"gives": [0, 1]}),
    ],
    "cloud_file": [
        Case("one", b"gold.txt", GOLD),
        Case(
            "several",
            b"other.txt",
            {
                "multi": True,
                "path": ["https://files.test/gold.txt", "https://files.test/other.txt"],
                "dest": ["1.txt", "2.txt"],
                "gives": [1],
            },
        ),
    ],
    "cache_file": [
        Case("there", b"out", {"path": "a.out"}, remembered(**{"a.out": "out"})),
        Case("none", None, {"path": "a.out"}),
    ],
    "content_from_vm_file": [
        Case(
            "row",
            ["Ann", "3", "nan", "2.0"],
            ROW,
            at("r.xlsx", workbook(list("abcd"), ["x", 1, "y", 1.5], ["Ann", 3, None, 2])),
        ),
        Case("none", None, ROW),
        Case("broken", None, ROW, at("r.xlsx", "no workbook")),
    ],
    "rule": [Case("rules", {"a": 1}, {"rules": {"a": 1}}), Case("list", [], {"rules": []})],
    "time_diff_range": [
        Case("there", "60", {"diff_range_in_minutes": "60"}),
        Case("none", None),
    ],
    "rule_relativeTime": [
        Case(
            "time",
            {"relativeTime": {"from": "tomorrow"}, "expected": {"time": "Sat, Feb 01, 2025"}},
            {
                "rules": {
                    "relativeTime": {"from": "tomorrow"},
                    "expected": {"time": "{DoW}, {Month} {Day0D}, {Year}"},
                }
            },
            remember_today(date(2025, 1, 31)),
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
            remember_today(date(2025, 1, 31)),
        ),
    ],
    "vm_command_line": [
        Case("words", "a b\n", {"command": ["echo", "a b"]}),
        Case("text", "a b\n", {"command": "echo 'a b'"}),
        Case("shell", "1\n", {"command": "echo a | wc -l", "shell": "true"}),
        Case("script of a list", "b\n", {"command": ["echo $0", "b"], "shell": True}),
        Case("no shell", "a | wc\n", {"command": ["echo", "a", "|", "wc"]}),
        Case("failed", "", {"command": "false"}),
    ],
    "vm_command_error": [
        Case("error", "e\n", {"command": "echo e >&2", "shell": True}),
        Case("none", "", {"command": ["echo", "a"]}),
    ],
    "accessibility_tree": [
        Case("tree", "<a/>", {}, fake(lambda desktop: setattr(desktop, "tree", "<a/>"))),
        Case("empty", "<desktop-frame/>"),
    ],
    "vm_terminal_output": [
        Case(
            "focused",
            "$ ls\n54",
            {},
            tree(
                TERMINAL.format(
                    '<terminal>$</terminal><terminal st:focused="true">$ ls\n54\n\n</terminal>'
                )
            ),
        ),
        Case("the only one", "$ ls", {}, tree(TERMINAL.format("<terminal>$ ls </terminal>"))),
        Case(
            "own",
            "$ own",
            {},
            fake(lambda desktop: setattr(desktop, "terminal_output", lambda: "$ own")),
        ),
        Case("none", None),
    ],
    "vm_screen_size": [
        Case("size", {"width": 1920, "height": 1080}),
        Case("small", {"width": 8, "height": 6}, {}, lambda c: setattr(c, "size", (8, 6))),
    ],
    "vm_window_size": [
        Case(
            "window",
            {"width": 192, "height": 108},
            {"app_class_name": "VLC"},
            fake(lambda desktop: desktop.show("a film", app="vlc")),
        ),
        Case("none", None, {"app_class_name": "vlc"}, fake(lambda desktop: desktop.show("vlc"))),
    ],
    "vm_wallpaper": [
        Case(
            "picture",
            b"png",
            {"dest": "w.png"},
            both(program("gsettings", "echo \"'file://$HOME/w.png'\""), at("w.png", "png")),
        ),
        Case("none", None, {"dest": "w.png"}, program("gsettings", "exit 1")),
    ],
    "list_directory": [
        Case(
            "tree",
            {
                "type": "directory",
                "name": "top",
                "children": [
                    {"type": "file", "name": "a b.txt"},
                    {
                        "type": "directory",
                        "name": "in",
                        "children": [{"type": "file", "name": "c"}],
                    },
                ],
            },
            {"path": "~/top"},
            files(**{"top__in__c": "", "top__a b.txt": ""}),
        ),
        Case("none", None, {"path": "~/top"}),
    ],
    "default_video_player": [
        Case(
            "most",
            "vlc.desktop\n",
            {},
            program(
                "xdg-mime",
                'if [ "$3" = video/avi ]; then echo x.desktop; else echo vlc.desktop; fi',
            ),
        ),
        Case("none", "unknown", {}, program("xdg-mime", "true")),
    ],
    "audio_in_slide": [
        Case("embedded", b"the sound", SLIDE, at("deck.pptx", deck())),
        Case(
            "linked",
            b"linked",
            SLIDE,
            lambda context: both(
                at("a b.mp3", "linked"),
                at("deck.pptx", deck(target=f"file://{context.device.home}/a%20b.mp3")),
            )(context),
        ),
        Case("none", None, SLIDE, at("deck.pptx", deck(kind="image"))),
        Case("other slide", None, SLIDE | {"slide_index": 3}, at("deck.pptx", deck())),
        Case("broken", None, SLIDE, at("deck.pptx", "no presentation")),
    ],
    "background_image_in_slide": [
        Case("embedded", b"the sound", SLIDE, at("deck.pptx", deck(kind="image"))),
        Case("no background", None, SLIDE, at("deck.pptx", deck(kind="image", background=False))),
    ],
    "vlc_config": [
        Case("file", b"x=1", {"dest": "vlcrc"}, at(".config/vlc/vlcrc", "x=1")),
        Case("none", None, {"dest": "vlcrc"}),
    ],
    "gimp_config_file": [
        Case(
            "2.10",
            b"a",
            {"file_name": "gimprc", "dest": "g"},
            both(at(".config/GIMP/2.10/gimprc", "a"), at(".config/GIMP/3.0/gimprc", "b")),
        ),
        Case("3.0", b"b", {"file_name": "gimprc", "dest": "g"}, at(".config/GIMP/3.0/gimprc", "b")),
        Case("none", None, {"file_name": "gimprc", "dest": "g"}),
    ],
    "vscode_config": [
        Case("file", b"x", CODE, at("out.txt", "x")),
        Case("none", None, CODE),
    ],
    "default_search_engine": setting(
        "Bing",
        "Google",
        preferences(default_search_provider_data={"template_url_data": {"short_name": "Bing"}}),
    ),
    "profile_name": setting("Thomas", None, preferences(profile={"name": "Thomas"})),
    "chrome_language": setting("xx", "en-US", local_state(intl={"app_locale": "xx"})),
    "chrome_font_size": setting(
        {"default_font_size": 20},
        {"default_fixed_font_size": 13, "default_font_size": 16, "minimum_font_size": 13},
        preferences(webkit={"webprefs": {"default_font_size": 20}}),
    ),
    "bookmarks": [
        *setting(BOOKMARKS, {}, at(".config/chromium/Default/Bookmarks", {"roots": BOOKMARKS})),
        Case("broken", {}, {}, at(".config/chromium/Default/Bookmarks", "[")),
    ],
    "enabled_experiments": setting(
        ["a@1"], [], local_state(browser={"enabled_labs_experiments": ["a@1"]})
    ),
    "enable_do_not_track": setting("true", "false", preferences(enable_do_not_track=True)),
    "enable_enhanced_safety_browsing": [
        *setting("true", "false", preferences(safebrowsing={"enhanced": True})),
        Case("standard", "false", {}, preferences(safebrowsing={"enabled": True})),
    ],
    "enable_safe_browsing": setting("true", "false", preferences(safebrowsing={"enabled": True})),
    "new_startup_page": [
        *setting("true", "false", preferences(session={"restore_on_startup": 5})),
        Case("continue", "false", {}, preferences(session={"restore_on_startup": 1})),
        Case("fresh", "true", {}, preferences(profile={})),
    ],
    "data_delete_automacally": setting(
        "true", "false", preferences(profile={"default_content_setting_values": {"cookies": 4}})
    ),
    "find_unpacked_extension_path": setting(["/home/x"], [], preferences(extensions=EXTENSIONS)),
    "find_installed_extension_name": setting(["X"], [], preferences(extensions=EXTENSIONS)),
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
        Case("broken", None, {"dest": "c"}, at(".config/chromium/Default/Cookies", "x" * 200)),
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
    "shortcuts_on_desktop": [
        Case(
            "shortcut",
            {"a.desktop": "Name=A\n"},
            {},
            files(**{"Desktop__a.desktop": "Name=A\n", "Desktop__b.txt": "b"}),
        ),
        Case("none", {}),
    ],
    "active_url_from_accessTree": [
        Case(
            "shown",
            "https://www.a.test/b",
            {"goto_prefix": "https://www."},
            address_bar("a.test/b"),
        ),
        Case("prefix", "https://a.test/b", {}, address_bar("a.test/b")),
        Case("none", None),
        Case("no tree", None, {}, fake(lambda desktop: setattr(desktop, "tree", ""))),
    ],
    "active_tab_url_parse": [
        Case(
            "keys",
            {"q": "a b", "time": "1", "none": ""},
            {"parse_keys": ["q", "t", "none"], "replace": {"t": "time"}},
            address_bar("a.test/?q=a+b&amp;q=c&amp;t=1"),
        ),
        Case(
            "lists",
            {"q": ["a", "b"]},
            {"parse_keys": ["q"], "split_list": True},
            address_bar("a.test/?q=a%2Cb"),
        ),
        Case("none", None, {"parse_keys": ["q"]}),
    ],
    "url_dashPart": [
        Case(
            "json",
            {"time": "june-weather"},
            {"partIndex": -2, "returnType": "json", "key": "time"},
            address_bar("a.test/june-weather/32?x=1"),
        ),
        Case(
            "string",
            "32",
            {"partIndex": "4", "needDeleteId": True, "returnType": "string"},
            address_bar("a.test/june-weather/32?x=1"),
        ),
        Case("beyond", None, {"partIndex": 9, "returnType": "string"}, address_bar("a.test")),
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
            address_bar(SHOP),
        ),
        Case("none", None, {"parse_keys": SHOP_KEYS}),
    ],
}
CASES["macys_product_url_parse"] = CASES["url_path_parse"]

ELSEWHERE = {
    "active_tab_html_parse",
    "active_tab_info",
    "info_from_website",
    "open_tabs_info",
    "page_info",
    "pdf_from_url",
    "replay",
    "vlc_playing_info",
}
"""What `test_chrome.py` and `test_programs.py` try on servers that run."""
