"""Screens of the Browser app, each reached by touch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from driving import tap, write

from ui_gym_phone.state import switches
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen

BROWSER = "com.android.browser"


def home(phone: Phone, screen: PhoneScreen) -> None:
    phone.launch(BROWSER)
    screen.refresh()


def at(url: str, phone: Phone, screen: PhoneScreen) -> None:
    home(phone, screen)
    write(screen, "url_bar", url)
    screen.key(66)


def typing(phone: Phone, screen: PhoneScreen) -> None:
    at("openwiki.example/otter", phone, screen)
    tap(screen, "url_bar")


def offline(phone: Phone, screen: PhoneScreen) -> None:
    switches.set_airplane(phone, True)
    at("skywatch.example", phone, screen)


def menu(phone: Phone, screen: PhoneScreen) -> None:
    at("skywatch.example", phone, screen)
    tap(screen, "More options")


def bookmarked(phone: Phone, screen: PhoneScreen) -> None:
    at("openwiki.example/tram", phone, screen)
    tap(screen, "Bookmark this page")
    tap(screen, "Home")


def bookmark_list(phone: Phone, screen: PhoneScreen) -> None:
    bookmarked(phone, screen)
    tap(screen, "More options")
    tap(screen, "Bookmarks")


def downloaded(phone: Phone, screen: PhoneScreen) -> None:
    at("citylibrary.example/downloads", phone, screen)
    tap(screen, "Download sea-poems.txt")


def download_list(phone: Phone, screen: PhoneScreen) -> None:
    downloaded(phone, screen)
    tap(screen, "Download knots-and-splices.pdf")
    tap(screen, "More options")
    tap(screen, "Downloads")


def tabs(phone: Phone, screen: PhoneScreen) -> None:
    at("dailyorbit.example", phone, screen)
    tap(screen, "More options")
    tap(screen, "New tab")
    tap(screen, "tab_switcher_button")


SCENES: dict[str, Callable[[Phone, PhoneScreen], None]] = {
    "home": home,
    "bookmarked": bookmarked,
    "typing": typing,
    "news": partial(at, "dailyorbit.example"),
    "article": partial(at, "dailyorbit.example/harbour-bridge"),
    "recipe": partial(at, "tastybasket.example/recipes/lemon-lentil-soup"),
    "weather": partial(at, "skywatch.example/forecast"),
    "results": partial(at, "tram lines port linden"),
    "no results": partial(at, "zebra crossing"),
    "unknown host": partial(at, "shop.nowhere.example/cart"),
    "not found": partial(at, "openwiki.example/unicorn"),
    "offline": offline,
    "menu": menu,
    "bookmark list": bookmark_list,
    "downloaded": downloaded,
    "download list": download_list,
    "tabs": tabs,
}
