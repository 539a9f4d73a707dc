"""The Browser app, by touch."""

from __future__ import annotations

import re

import pytest
from driving import back, find, has, tap
from gallery_browser import BROWSER, at

from ui_gym.android.content import web
from ui_gym.android.content.web import Download, Link
from ui_gym_phone.apps.browser.addresses import document_of, host_of, shown, site_of, typed
from ui_gym_phone.apps.browser.saved import content
from ui_gym_phone.state import switches
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen


def bar(screen: PhoneScreen) -> str:
    screen.refresh()
    return find(screen, "url_bar").text


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("openwiki.example", "https://openwiki.example"),
        ("  OpenWiki.Example/Otter ", "https://openwiki.example/Otter"),
        ("http://skywatch.example/tides", "http://skywatch.example/tides"),
        ("HTTPS://skywatch.example", "https://skywatch.example"),
        ("localhost:8000/x", "https://localhost:8000/x"),
        ("10.0.2.2", "https://10.0.2.2"),
        ("otter facts", "https://findit.example/search?q=otter+facts"),
        ("otter", "https://findit.example/search?q=otter"),
        ("what is 3.5", "https://findit.example/search?q=what+is+3.5"),
        ("http://[::1", "https://findit.example/search?q=http%3A%2F%2F%5B%3A%3A1"),
        ("javascript:alert(1)", "https://findit.example/search?q=javascript%3Aalert%281%29"),
        ("", "about:home"),
        ("half \udcff", "https://findit.example/search?q=half+%3F"),
    ],
)
def test_what_is_typed_is_an_address_or_words(text, url):
    assert typed(text) == url


def test_the_bar_leaves_out_the_scheme():
    assert shown("https://openwiki.example/") == "openwiki.example"
    assert shown("http://openwiki.example/otter") == "openwiki.example/otter"
    assert shown("about:home") == ""


def test_www_and_a_closing_slash_make_no_difference():
    page = web.pages()["openwiki.example/otter"]
    assert document_of("https://www.openwiki.example/otter/") is page
    assert site_of("http://www.openwiki.example") is web.sites()["openwiki.example"]
    assert host_of("https://openwiki.example:443/x") == "openwiki.example"


def test_every_link_of_the_built_in_pages_leads_somewhere():
    links = [b.to for page in web.pages().values() for b in page.blocks if isinstance(b, Link)]
    assert [link for link in links if link not in web.pages()] == []


def test_every_page_is_of_a_site_and_can_be_reached_from_its_first_page():
    reached, waiting = set(), list(web.sites())
    while waiting:
        here = waiting.pop()
        if here not in reached:
            reached.add(here)
            waiting += [b.to for b in web.pages()[here].blocks if isinstance(b, Link)]
    assert reached == set(web.pages())


def test_downloads_have_names_of_their_own_and_real_bytes():
    files = [b for page in web.pages().values() for b in page.blocks if isinstance(b, Download)]
    assert len({f.file for f in files}) == len(files) >= 10
    for file in files:
        assert re.fullmatch(r"[a-z0-9-]+\.(txt|csv|pdf|ics|gpx)", file.file)
        assert content(file).startswith(b"%PDF-1.4") == file.file.endswith(".pdf")


def test_a_pdf_has_its_objects_where_its_table_says():
    data = content(Download("a.pdf", "", "Form (new)"))
    table = data[int(data.split(b"startxref\n")[1].split()[0]) :]
    starts = [int(line[:10]) for line in table.split(b"\n")[3:8]]
    assert [data[start:].split(b" ")[0] for start in starts] == [b"1", b"2", b"3", b"4", b"5"]


def test_an_address_is_typed_and_opened(phone, screen):
    at("skywatch.example/tides", phone, screen)
    assert bar(screen) == "skywatch.example/tides"
    assert has(screen, "10:24 and 22:51")
    assert not screen.keyboard_shown


def test_a_tile_and_links_lead_on_and_back_leads_back(phone, screen):
    phone.launch(BROWSER)
    tap(screen, "City Library", "Opening hours")
    assert bar(screen) == "citylibrary.example/hours"
    back(screen)
    assert bar(screen) == "citylibrary.example"
    tap(screen, "Go forward")
    assert bar(screen) == "citylibrary.example/hours"
    tap(screen, "Go back", "Go back")
    assert find(screen, "url_bar").desc == ""
    back(screen)
    assert phone.at_home


def test_an_address_that_was_not_entered_is_forgotten(phone, screen):
    at("openwiki.example", phone, screen)
    tap(screen, "url_bar")
    screen.text("skywatch.example")
    assert bar(screen) == "skywatch.example"
    back(screen)
    assert bar(screen) == "openwiki.example"


def test_an_intent_opens_its_address(phone, screen):
    phone.start(BROWSER, phone.packages[BROWSER].main, {"url": "https://openwiki.example/tram"})
    assert bar(screen) == "openwiki.example/tram"
    assert has(screen, "OpenWiki")


def test_an_unknown_host_and_an_unknown_page_are_told(phone, screen):
    at("www.nowhere.example", phone, screen)
    assert has(screen, "ERR_NAME_NOT_RESOLVED")
    at("openwiki.example/zebra", phone, screen)
    assert has(screen, "Page not found")


def test_without_a_network_there_is_no_page(phone, screen):
    switches.set_airplane(phone, True)
    at("openwiki.example", phone, screen)
    assert has(screen, "No internet")
    tap(screen, "Reload")
    assert has(screen, "No internet")
    switches.set_wifi(phone, True)
    assert has(screen, "Welcome to OpenWiki")


def test_mobile_data_is_a_network(phone, screen):
    switches.set_wifi(phone, False)
    at("openwiki.example", phone, screen)
    assert has(screen, "Welcome to OpenWiki")
    switches.set_mobile_data(phone, False)
    assert has(screen, "No internet")


def test_words_are_searched_for_and_a_result_opened(phone, screen):
    at("mushroom risotto", phone, screen)
    tap(screen, "Mushroom risotto")
    assert bar(screen) == "tastybasket.example/recipes/mushroom-risotto"


def test_a_file_is_downloaded_with_a_notification(phone, screen):
    at("tastybasket.example/shop/prices", phone, screen)
    tap(screen, "Download prices.csv")
    assert phone.files.read("/sdcard/Download/prices.csv").startswith(b"item,price\n")
    note = phone.notifications[0]
    assert (note.package, note.title, note.text) == (BROWSER, "Download complete", "prices.csv")
    tap(screen, "Download prices.csv")
    assert phone.files.list("/sdcard/Download") == ["prices (1).csv", "prices.csv"]
    assert len(phone.notifications) == 2


def test_a_download_is_listed_and_opened_until_it_is_gone(phone, screen):
    at("citylibrary.example/downloads", phone, screen)
    tap(screen, "Download sea-poems.txt", "More options", "Downloads", "sea-poems.txt")
    assert phone.activity.package == "com.android.documentsui"
    phone.launch(BROWSER)
    phone.files.remove("/sdcard/Download/sea-poems.txt")
    assert has(screen, "No downloads yet")


def test_a_full_storage_ends_a_download(phone, screen):
    phone.files.quota = phone.files.used
    at("tastybasket.example/shop/prices", phone, screen)
    tap(screen, "Download prices.csv")
    assert phone.toasting == "No space left on device"
    assert phone.notifications == []


def test_a_bookmark_is_set_opened_and_removed(phone, screen):
    at("openwiki.example/tram", phone, screen)
    tap(screen, "Bookmark this page")
    at("skywatch.example", phone, screen)
    tap(screen, "More options", "Bookmarks", "Tram")
    assert bar(screen) == "openwiki.example/tram"
    tap(screen, "Remove bookmark", "Home")
    assert not has(screen, "Tram")


def test_tabs_have_pages_of_their_own(phone, screen):
    at("openwiki.example/tram", phone, screen)
    tap(screen, "More options", "New tab", "Skywatch", "2 open tabs, tap to switch tabs", "Tram")
    assert bar(screen) == "openwiki.example/tram"
    tap(screen, "tab_switcher_button")
    back(screen)
    assert bar(screen) == "openwiki.example/tram"
    tap(screen, "tab_switcher_button", "Close Tram tab", "Port Linden now")
    assert bar(screen) == "skywatch.example"
    assert has(screen, "1 open tab, tap to switch tabs")


def test_a_snapshot_brings_the_page_and_its_history_back(phone, screen):
    at("openwiki.example/tram", phone, screen)
    snapshot = phone.snapshot()
    again = PhoneScreen(Phone.restore(snapshot))
    back(again)
    assert not has(again, "openwiki.example/tram")
    assert not again.phone.at_home
