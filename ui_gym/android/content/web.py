"""The built-in web: made-up sites, which the built-in phone shows and goals speak of.

The sites and their pages lie in ``web.toml``, which is read when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ui_gym.contract.tables import read_table

# -- what a page is made of --


@dataclass(frozen=True)
class Heading:
    text: str


@dataclass(frozen=True)
class Para:
    text: str


@dataclass(frozen=True)
class Link:
    """A line that leads to a page; `to` is an address without its scheme."""

    text: str
    to: str
    note: str = ""


@dataclass(frozen=True)
class Facts:
    """A table of (name, value)."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Download:
    """A file to download: its name, what it is, and its text."""

    file: str
    about: str
    text: str


Block = Heading | Para | Link | Facts | Download


@dataclass(frozen=True)
class WebSite:
    """A made-up site of a made-up host."""

    host: str
    name: str
    icon: str
    colour: str
    about: str


@dataclass(frozen=True)
class WebPage:
    """A page of a site."""

    title: str
    blocks: tuple[Block, ...]


@cache
def sites() -> Mapping[str, WebSite]:
    """Every site by its host."""
    return {
        written["host"]: WebSite(**written) for written in read_table(__package__, "web")["sites"]
    }


@cache
def pages() -> Mapping[str, WebPage]:
    """Every page by its address, which has no scheme, no ``www.`` and no closing slash."""
    return {
        written["address"]: WebPage(written["title"], tuple(map(_block, written["blocks"])))
        for written in read_table(__package__, "web")["pages"]
    }


def _block(written: Mapping[str, Any]) -> Block:
    match written:
        case {"heading": text}:
            return Heading(text)
        case {"para": text}:
            return Para(text)
        case {"link": text, "to": to, **note}:
            return Link(text, to, **note)
        case {"facts": rows}:
            return Facts(rows)
    return Download(**written)


# -- what goals speak of --


@dataclass(frozen=True)
class WebFile:
    """A file on a site: `links` are touched one after the other from the site's first page on."""

    site: str
    host: str
    links: tuple[str, ...]
    file: str


@cache
def addresses() -> tuple[str, ...]:
    """Every page, without a scheme."""
    return tuple(pages())


@cache
def web_files() -> tuple[WebFile, ...]:
    """Every file that can be downloaded."""
    found = []
    for address, links in _ways().items():
        host = address.partition("/")[0]
        for block in pages()[address].blocks:
            if isinstance(block, Download):
                found.append(WebFile(sites()[host].name, host, links, block.file))
    return tuple(found)


def left_open(address: str) -> list[str]:
    """Lines that leave a page in the browser, which is then not seen."""
    view = f"am start -a android.intent.action.VIEW -d https://{address} >/dev/null"
    return [view, "input keyevent 3"]


def _ways() -> dict[str, tuple[str, ...]]:
    """The shortest way to each page by links, from the first page of its site."""
    ways: dict[str, tuple[str, ...]] = dict.fromkeys(sites(), ())
    waiting = list(ways)
    for address in waiting:
        site = [page for page in pages() if page.partition("/")[0] == address.partition("/")[0]]
        for block in pages()[address].blocks:
            if isinstance(block, Link) and block.to in site and block.to not in ways:
                ways[block.to] = (*ways[address], block.text)
                waiting.append(block.to)
    return ways
