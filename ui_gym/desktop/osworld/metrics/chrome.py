"""Metrics of Chrome: its tabs, bookmarks, cookies, history, shortcuts and settings."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from ui_gym.desktop.osworld.metrics.reading import (
    Broken,
    as_list,
    as_mapping,
    as_text,
    scored,
    unknown,
)


def _only(rule: Mapping[str, Any], *types: str) -> None:
    if rule.get("type") not in types:
        raise unknown("type of rule", rule.get("type"), ", ".join(types))


def _address(tab: object) -> str:
    """The address of a tab, which is a mapping with ``url`` or that text itself."""
    return as_text(tab if isinstance(tab, str) else as_mapping(tab).get("url"))


@scored()
def is_expected_active_tab(result: object, rule: Mapping[str, Any]) -> float:
    """1 if the active tab's address is ``rule["url"]``."""
    _only(rule, "url")
    return same_url(rule["url"], _address(result))


@scored()
def is_expected_active_tab_approximate(result: object, rule: Mapping[str, Any]) -> float:
    """1 if the active tab's address is ``rule["url"]``, whatever the queries."""
    _only(rule, "url")
    return without_query(rule["url"]) == without_query(_address(result))


@scored(_address)
def is_expected_url_pattern_match(address: str, rules: Mapping[str, Any]) -> float:
    """1 if every pattern of ``rules["expected"]`` is found in the address."""
    return all(re.search(pattern, address) for pattern in rules["expected"])


@scored(_address)
def is_expected_search_query(address: str, rules: Mapping[str, Any]) -> float:
    """1 if the active tab's address matches ``rules["expect"]["pattern"]``."""
    return re.search(rules["expect"]["pattern"], address) is not None


@scored()
def is_expected_tabs(result: object, rule: Mapping[str, Any]) -> float:
    """1 if there are as many tabs as ``rule["urls"]``, and each of these is open."""
    _only(rule, "url")
    tabs = [_address(tab) for tab in as_list(result)]
    wanted = rule["urls"]
    found = all(any(same_url(url, tab) for tab in tabs) for url in wanted)
    return bool(tabs) and len(tabs) == len(wanted) and found


@scored()
def is_expected_installed_extensions(result: object, rules: Mapping[str, Any]) -> float:
    """1 if every one of ``rules["expected"]`` is installed."""
    return bool(result) and set(rules["expected"]) <= set(map(str, as_list(result)))


@scored()
def is_expected_bookmarks(result: object, rule: Mapping[str, Any]) -> float:
    """1 if the bookmark bar has the rule's folders, its addresses, or (``type``
    "liked_authors_websites_urls") the folder "Liked Authors" has its addresses.

    Of an address that is a list of several, one is wanted.
    """
    known = ("bookmark_bar_folders_names", "bookmark_bar_websites_urls")
    if rule["type"] not in {*known, "liked_authors_websites_urls"}:
        raise unknown("type of rule", rule["type"], ", ".join(known))
    bar = _children(as_mapping(result).get("bookmark_bar"))
    if rule["type"] == known[0]:
        return _of_type(bar, "folder", "name") == set(rule["names"])
    if rule["type"] == known[1]:
        return _of_type(bar, "url", "url") == set(rule["urls"])
    folders = [b for b in bar if b.get("type") == "folder" and b.get("name") == "Liked Authors"]
    if not folders:
        return 0.0
    liked = _of_type(_children(folders[0]), "url", "url")
    choices = [[url] if isinstance(url, str) else url for url in rule["urls"]]
    return any(set(choice) == liked for choice in product(*choices))


@scored()
def is_cookie_deleted(result: object, rule: Mapping[str, Any]) -> float:
    """1 if no row of Chrome's table of cookies is of one of ``rule["domains"]``."""
    _only(rule, "domains")
    hosts = [as_text(row[1]) for row in _rows(result, 2)]
    return not any(same_url(domain, host) for domain in rule["domains"] for host in hosts)


@scored()
def check_history_deleted(result: object, rule: Mapping[str, Any]) -> float:
    """1 if no address of Chrome's history holds one of ``rule["keywords"]``."""
    _only(rule, "keywords")
    visited = [as_text(row[0]) for row in _rows(result, 1)]
    return not any(word in url for word in rule["keywords"] for url in visited)


@scored()
def is_shortcut_on_desktop(result: object, rule: Mapping[str, Any]) -> float:
    """1 if one of the desktop's files has the line ``Name=`` or ``Exec=`` of the rule."""
    _only(rule, "name", "exec")
    line = f"{rule['type'].title()}={rule[rule['type']]}\n"
    return any(line in as_text(text) for text in as_mapping(result).values())


@scored()
def check_enabled_experiments(result: object, rule: Mapping[str, Any]) -> float:
    """1 if exactly ``rule["names"]`` of chrome://flags are switched on, in that order."""
    _only(rule, "names")
    return bool([as_text(flag).split("@")[0] for flag in as_list(result)] == rule["names"])


@scored()
def check_font_size(result: object, rule: Mapping[str, Any]) -> float:
    """1 if the default font size is ``rule["value"]``, or (``type`` "range") between ``min`` and
    ``max``, without these."""
    _only(rule, "value", "range")
    size = as_mapping(result).get("default_font_size")
    if not isinstance(size, int | float):
        return 0.0
    if rule["type"] == "value":
        return bool(size == rule["value"])
    return bool(rule["min"] < size < rule["max"])


@scored(as_mapping)
def is_added_to_steam_cart(found: dict[str, Any], rule: Mapping[str, Any]) -> float:
    """1 if the page's content has every one of ``rule["items"]``."""
    content = as_text(found.get("content"))
    return all(item in content for item in rule["items"])


def _rows(result: object, columns: int) -> list[list[Any]]:
    """The rows of a table that has at least so many columns."""
    rows = [as_list(row) for row in as_list(result)]
    if any(len(row) < columns for row in rows):
        raise Broken(f"rows of fewer than {columns} columns")
    return rows


def _children(bookmark: object) -> list[dict[str, Any]]:
    return [as_mapping(child) for child in as_list(as_mapping(bookmark).get("children"))]


def _of_type(bookmarks: Iterable[Mapping[str, Any]], kind: str, key: str) -> set[str]:
    return {as_text(b.get(key)) for b in bookmarks if b.get("type") == kind}


SECOND_LEVEL = {"ac", "co", "com", "edu", "gov", "go", "mil", "ne", "net", "or", "org"}
"""Labels that make one suffix with a country's ("co.uk", "com.sg")."""


def same_url(first: str | None, second: str | None) -> bool:
    """Whether two addresses name one page.

    Without a scheme ``http`` is meant; "www" alone, the suffix of the site's name ("com",
    "com.sg"), its port and the path "/" do not count; the rest must be equal.
    """
    if first is None or second is None:
        return first == second
    return _plain(first) == _plain(second)


def without_query(url: str) -> str:
    """The address without what follows its question mark; a fragment stays."""
    try:
        return urlunsplit(urlsplit(url)._replace(query=""))
    except ValueError:
        return url


def _plain(url: str) -> str:
    if not re.match(r"[a-zA-Z][a-zA-Z0-9+\-.]*://", url):
        url = f"http://{url}"
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return url
    path = "" if parts.path == "/" else parts.path
    return urlunsplit((parts.scheme.lower(), _site(host), path, parts.query, parts.fragment))


def _site(host: str) -> str:
    """A host's name without its suffix, and without "www" where that is the whole rest."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        pass
    else:
        return host
    labels = host.rstrip(".").split(".")
    if len(labels) == 1:
        return host
    suffix = 1
    if len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in SECOND_LEVEL:
        suffix = 2
    labels = labels[:-suffix]
    return ".".join(labels[1:] if labels[0] == "www" and len(labels) == 2 else labels)
