"""Addresses: what a person types, what the bar shows, and which built-in page is meant."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import parse_qs, quote_plus, urlsplit

from ui_gym.android.content import web
from ui_gym.android.content.web import Link, Para, WebPage, WebSite

HOME = "about:home"
SEARCH = "findit.example"
LONGEST = 2000

_HOST = re.compile(r"(?:[\w-]+\.)+[a-z][\w-]+(?::\d+)?|localhost(?::\d+)?|\d+(?:\.\d+){3}(?::\d+)?",
                   re.IGNORECASE)  # fmt: skip


def typed(text: str) -> str:
    """The address that is meant by what was typed: words are searched for."""
    text = text.strip()[:LONGEST]
    if not text or text in (HOME, "about:blank"):
        return HOME
    scheme = "http" if text.lower().startswith("http://") else "https"
    rest = re.sub(r"^https?://", "", text, flags=re.IGNORECASE)
    host = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if _HOST.fullmatch(host) and not re.search(r"\s", rest):
        return f"{scheme}://{host.lower()}{rest[len(host) :]}"
    # A shell's line may hold bytes that are no UTF-8, and a model's text half a pair of surrogates.
    return f"https://{SEARCH}/search?q={quote_plus(text, errors='replace')}"


def shown(url: str) -> str:
    """What the bar shows: no scheme, and no slash after a bare host."""
    if url == HOME:
        return ""
    rest = url.partition("://")[2]
    return rest.rstrip("/") if rest.count("/") == 1 else rest


def host_of(url: str) -> str:
    """The host, without ``www.`` and port."""
    rest = re.split(r"[/?#]", url.partition("://")[2], maxsplit=1)[0]
    return rest.partition(":")[0].removeprefix("www.")


def site_of(url: str) -> WebSite | None:
    """The built-in site of an address."""
    if host_of(url) == SEARCH:
        return WebSite(SEARCH, "FindIt", "magnify", "#3f51b5", "Search")
    return web.sites().get(host_of(url))


def document_of(url: str) -> WebPage | None:
    """The built-in page at an address."""
    if host_of(url) == SEARCH:
        query = parse_qs(urlsplit(url).query).get("q", [""])[0]
        return _results(query)
    path = re.split(r"[?#]", url.partition("://")[2], maxsplit=1)[0].partition("/")[2]
    return web.pages().get(f"{host_of(url)}/{path}".rstrip("/").lower())


@lru_cache(maxsize=64)
def _results(query: str) -> WebPage:
    """The pages that have most of the words in them."""
    words = [word for word in re.split(r"\W+", query.lower()) if len(word) > 1]
    scored = []
    for address, page in web.pages().items():
        title = f"{page.title} {address} {web.sites()[address.partition('/')[0]].name}".lower()
        text = repr(page.blocks).lower()
        score = sum(3 * (word in title) + (word in text) for word in words)
        if score:
            scored.append((-score, address, page.title))
    links = [Link(title, address, address) for _, address, title in sorted(scored)[:10]]
    if not links:
        return WebPage(query or "Search", (Para(f"Nothing was found for “{query}”."),))
    return WebPage(query, (Para(f"{len(links)} results"), *links))
