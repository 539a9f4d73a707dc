"""Render: built-in pages as widgets."""

from __future__ import annotations

from functools import partial

from ui_gym.android.content import web
from ui_gym.android.content.web import (
    Block,
    Download,
    Facts,
    Heading,
    Link,
    Para,
    WebPage,
    WebSite,
)
from ui_gym_phone.apps.browser import addresses, tabs
from ui_gym_phone.apps.browser.saved import bookmarks, content, download
from ui_gym_phone.apps.support import online, size_text
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, GridLayout, HStack, Space, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.widgets import Button, Disc, Divider, Header, Icon, Item, Text


def render(ui: Ui, url: str) -> Widget:
    """The page at an address, or why there is none."""
    if url == addresses.HOME:
        return _home(ui)
    if not online(ui.phone):
        return _error(
            ui, "cloud-off-outline", "No internet",
            "Turn off airplane mode, or connect to Wi-Fi or mobile data.",
            "ERR_INTERNET_DISCONNECTED",
        )  # fmt: skip
    site = addresses.site_of(url)
    if site is None:
        host = addresses.host_of(url)
        return _error(
            ui, "earth", "This site can't be reached",
            f"{host}'s server IP address could not be found.", "ERR_NAME_NOT_RESOLVED",
        )  # fmt: skip
    page = addresses.document_of(url)
    if page is None:
        return VStack(
            _banner(ui, site),
            _error(ui, "file-outline", "Page not found",
                   f"There is nothing at {addresses.shown(url)}.", "HTTP ERROR 404"),
        )  # fmt: skip
    return VStack(_banner(ui, site), _article(ui, site, page))


def _home(ui: Ui) -> Widget:
    tiles: list[Widget] = []
    for site in web.sites().values():
        face = VStack(
            Disc(site.colour, 52, icon=site.icon),
            Text(site.name, "caption", lines=1, align="center", tell=False),
            gap=6, pad=(4, 8, 4, 8),
        )  # fmt: skip
        tiles.append(Tap(face, partial(tabs.go, ui, f"https://{site.host}"), text=site.name))
    saved = [
        Item(b.title, addresses.shown(b.url), partial(tabs.go, ui, b.url), icon="star", lines=1)
        for b in bookmarks(ui.phone)[:20]
    ]
    return VStack(
        Space(20),
        Text("Browser", "headline", "primary", align="center"),
        GridLayout(*tiles, columns=3, gap=4, pad=(12, 16, 12, 8)),
        Header("Bookmarks") if saved else None,
        *saved,
    )


def _banner(ui: Ui, site: WebSite) -> Widget:
    """The head of a site, which leads to its first page."""
    texts = VStack(
        Text(site.name, "subtitle", "#ffffff", lines=1, tell=False),
        Text(site.about, "caption", "#ffffff", lines=1),
    )
    face = Surface(
        HStack(Icon(site.icon, 26, "#ffffff"), Expand(texts), gap=12), site.colour,
        pad=(16, 10, 16, 10),
    )  # fmt: skip
    return Tap(face, partial(tabs.go, ui, f"https://{site.host}"), text=site.name)


def _article(ui: Ui, site: WebSite, page: WebPage) -> Widget:
    widgets: list[Widget | None] = [VStack(Text(page.title, "title"), pad=(16, 16, 16, 8))]
    widgets += [_block(ui, site, block) for block in page.blocks]
    return VStack(*widgets)


def _block(ui: Ui, site: WebSite, block: Block) -> Widget:
    match block:
        case Heading(text):
            return VStack(Text(text, "subtitle"), pad=(16, 14, 16, 4))
        case Para(text):
            return VStack(Text(text, "body"), pad=(16, 6, 16, 6))
        case Link(text, to, note):
            return _link(ui, text, to, note)
        case Facts(rows):
            return _facts(rows)
        case Download():
            return _file(ui, site, block)


def _link(ui: Ui, text: str, to: str, note: str) -> Widget:
    texts = VStack(
        Text(text, "body", "primary", lines=2, tell=False),
        Text(note, "caption", "dim", lines=1) if note else None,
        gap=2,
    )
    face = HStack(Expand(texts), Icon("chevron-right", 20), gap=8, pad=(16, 10, 12, 10))
    return Tap(face, partial(tabs.go, ui, f"https://{to}"), text=text)


def _facts(rows: tuple[tuple[str, str], ...]) -> Widget:
    lines: list[Widget] = []
    for i, (name, value) in enumerate(rows):
        if i:
            lines.append(Divider())
        lines.append(
            HStack(Expand(Text(name, "small", "dim")), Expand(Text(value, "small", align="end")),
                gap=12, pad=(0, 9, 0, 9))
        )  # fmt: skip
    card = Surface(VStack(*lines), "surface", radius=14, pad=(14, 4, 14, 4))
    return VStack(card, pad=(12, 8, 12, 8))


def _file(ui: Ui, site: WebSite, block: Download) -> Widget:
    size = size_text(len(content(block)))
    texts = VStack(
        Text(block.file, "strong", lines=2),
        Text(f"{block.about} · {size}", "caption", "dim", lines=2),
        gap=2,
    )
    button = Tap(
        Surface(Icon("download", 22, "on_tonal"), "tonal", radius=22, pad=11),
        partial(download, ui, block, site.host), cls="android.widget.Button",
        desc=f"Download {block.file}",
    )  # fmt: skip
    card = Surface(
        HStack(Icon("file-document-outline", 26), Expand(texts), button, gap=12),
        "surface",
        radius=14,
        pad=(14, 10, 10, 10),
    )
    return VStack(card, pad=(12, 5, 12, 5))


def _error(ui: Ui, icon: str, title: str, text: str, code: str) -> Widget:
    retry = Button("Reload", ui.unfocus, style="tonal")
    return VStack(
        Space(48), Icon(icon, 64, "disabled"), Text(title, "title", align="center"),
        Text(text, "body", "dim", align="center"), Text(code, "caption", "dim", align="center"),
        retry, gap=14, pad=(28, 0, 28, 16), align="center",
    )  # fmt: skip
