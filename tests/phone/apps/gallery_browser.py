"""Screens of the Browser app, each reached by touch."""

from __future__ import annotations

from functools import partial

from driving import Scene, scene, write

from ui_gym_phone.state import switches
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen

BROWSER = "com.android.browser"


def at(url: str, phone: Phone, screen: PhoneScreen) -> None:
    phone.launch(BROWSER)
    write(screen, "url_bar", url)
    screen.key(66)


def offline(phone: Phone, screen: PhoneScreen) -> None:
    switches.set_airplane(phone, True)
    at("skywatch.example", phone, screen)


MENU = "More options"
weather = partial(at, "skywatch.example")
news = partial(at, "dailyorbit.example")
bookmarked = scene(partial(at, "openwiki.example/tram"), "Bookmark this page", "Home")
downloaded = scene(partial(at, "citylibrary.example/downloads"), "Download sea-poems.txt")

SCENES: dict[str, Scene] = {
    "home": scene(BROWSER),
    "bookmarked": bookmarked,
    "typing": scene(partial(at, "openwiki.example/otter"), "url_bar"),
    "news": news,
    "article": partial(at, "dailyorbit.example/harbour-bridge"),
    "recipe": partial(at, "tastybasket.example/recipes/lemon-lentil-soup"),
    "weather": partial(at, "skywatch.example/forecast"),
    "results": partial(at, "tram lines port linden"),
    "no results": partial(at, "zebra crossing"),
    "unknown host": partial(at, "shop.nowhere.example/cart"),
    "not found": partial(at, "openwiki.example/unicorn"),
    "offline": offline,
    "menu": scene(weather, MENU),
    "bookmark list": scene(bookmarked, MENU, "Bookmarks"),
    "downloaded": downloaded,
    "download list": scene(downloaded, "Download knots-and-splices.pdf", MENU, "Downloads"),
    "tabs": scene(news, MENU, "New tab", "tab_switcher_button"),
}
