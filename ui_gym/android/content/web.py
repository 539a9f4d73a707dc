"""Pages and downloads of the built-in web, as goals name them.

The pages are read when they are first asked for: with them comes the browser, and with that all
that draws a phone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Offer:
    """A file on a site: `links` are touched one after the other from the site's first page on."""

    site: str
    host: str
    links: tuple[str, ...]
    file: str


@cache
def addresses() -> tuple[str, ...]:
    """Every page, without a scheme."""
    from ui_gym_phone.apps.browser.pages import PAGES

    return tuple(PAGES)


@cache
def offers() -> tuple[Offer, ...]:
    """Every file that can be downloaded."""
    from ui_gym_phone.apps.browser.document import Download
    from ui_gym_phone.apps.browser.pages import PAGES, SITES

    found = []
    for address, links in _ways().items():
        host = address.partition("/")[0]
        for block in PAGES[address].blocks:
            if isinstance(block, Download):
                found.append(Offer(SITES[host].name, host, links, block.file))
    return tuple(found)


def left_open(address: str) -> list[str]:
    """Lines that leave a page in the browser, which is then not seen."""
    view = f"am start -a android.intent.action.VIEW -d https://{address} >/dev/null"
    return [view, "input keyevent 3"]


def _ways() -> dict[str, tuple[str, ...]]:
    """The shortest way to each page by links, from the first page of its site."""
    from ui_gym_phone.apps.browser.document import Link
    from ui_gym_phone.apps.browser.pages import PAGES, SITES

    ways: dict[str, tuple[str, ...]] = dict.fromkeys(SITES, ())
    waiting = list(ways)
    for address in waiting:
        site = [page for page in PAGES if page.partition("/")[0] == address.partition("/")[0]]
        for block in PAGES[address].blocks:
            if isinstance(block, Link) and block.to in site and block.to not in ways:
                ways[block.to] = (*ways[address], block.text)
                waiting.append(block.to)
    return ways
