"""Metrics of Chrome: its tabs, bookmarks, cookies, history, shortcuts and settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

from ui_gym.desktop.osworld.metrics.reading import (
    Broken,
    as_list,
    as_mapping,
    as_text,
    scored,
    unknown,
)
from ui_gym.desktop.osworld.metrics.urls import same_url, without_query


@scored("is_expected_active_tab")
def is_expected_active_tab(result: object, rule: Mapping[str, Any]) -> float:
    """1 if the active tab's address is ``rule["url"]``."""
    _only(rule, "url")
    return float(same_url(rule["url"], _address(result)))


@scored("is_expected_active_tab_approximate")
def is_expected_active_tab_approximate(result: object, rule: Mapping[str, Any]) -> float:
    """1 if the active tab's address is ``rule["url"]``, whatever the queries."""
    _only(rule, "url")
    return float(without_query(rule["url"]) == without_query(_address(result)))


@scored("is_expected_url_pattern_match")
def is_expected_url_pattern_match(result: object, rules: Mapping[str, Any]) -> float:
    """1 if every pattern of ``rules["expected"]`` is found in the address."""
    address = _address(result)
    return float(all(re.search(pattern, address) for pattern in rules["expected"]))


@scored("is_expected_search_query")
def is_expected_search_query(result: object, rules: Mapping[str, Any]) -> float:
    """1 if the active tab's address matches ``rules["expect"]["pattern"]``."""
    return float(re.search(rules["expect"]["pattern"], _address(result)) is not None)


@scored("is_expected_tabs")
def is_expected_tabs(result: object, rule: Mapping[str, Any]) -> float:
    """1 if there are as many tabs as ``rule["urls"]``, and each of these is open."""
    _only(rule, "url")
    tabs = [_address(tab) for tab in as_list(result)]
    wanted = rule["urls"]
    found = all(any(same_url(url, tab) for tab in tabs) for url in wanted)
    return float(bool(tabs) and len(tabs) == len(wanted) and found)


@scored("is_expected_installed_extensions")
def is_expected_installed_extensions(result: object, rules: Mapping[str, Any]) -> float:
    """1 if every one of ``rules["expected"]`` is installed."""
    return float(bool(result) and set(rules["expected"]) <= set(map(str, as_list(result))))


@scored("is_expected_bookmarks")
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
        return float(_of_type(bar, "folder", "name") == set(rule["names"]))
    if rule["type"] == known[1]:
        return float(_of_type(bar, "url", "url") == set(rule["urls"]))
    folders = [b for b in bar if b.get("type") == "folder" and b.get("name") == "Liked Authors"]
    if not folders:
        return 0.0
    liked = _of_type(_children(folders[0]), "url", "url")
    choices = [[url] if isinstance(url, str) else url for url in rule["urls"]]
    return float(any(set(choice) == liked for choice in product(*choices)))


@scored("is_cookie_deleted")
def is_cookie_deleted(result: object, rule: Mapping[str, Any]) -> float:
    """1 if no row of Chrome's table of cookies is of one of ``rule["domains"]``."""
    _only(rule, "domains")
    hosts = [as_text(row[1]) for row in _rows(result, 2)]
    return float(not any(same_url(domain, host) for domain in rule["domains"] for host in hosts))


@scored("check_history_deleted")
def check_history_deleted(result: object, rule: Mapping[str, Any]) -> float:
    """1 if no address of Chrome's history holds one of ``rule["keywords"]``."""
    _only(rule, "keywords")
    visited = [as_text(row[0]) for row in _rows(result, 1)]
    return float(not any(word in url for word in rule["keywords"] for url in visited))


@scored("is_shortcut_on_desktop")
def is_shortcut_on_desktop(result: object, rule: Mapping[str, Any]) -> float:
    """1 if one of the desktop's files has the line ``Name=`` or ``Exec=`` of the rule."""
    _only(rule, "name", "exec")
    line = f"{rule['type'].title()}={rule[rule['type']]}\n"
    return float(any(line in as_text(text) for text in as_mapping(result).values()))


@scored("check_enabled_experiments")
def check_enabled_experiments(result: object, rule: Mapping[str, Any]) -> float:
    """1 if exactly ``rule["names"]`` of chrome://flags are switched on, in that order."""
    _only(rule, "names")
    return float([as_text(flag).split("@")[0] for flag in as_list(result)] == rule["names"])


@scored("check_font_size")
def check_font_size(result: object, rule: Mapping[str, Any]) -> float:
    """1 if the default font size is ``rule["value"]``, or (``type`` "range") between ``min`` and
    ``max``, without these."""
    _only(rule, "value", "range")
    size = as_mapping(result).get("default_font_size")
    if not isinstance(size, int | float):
        return 0.0
    if rule["type"] == "value":
        return float(size == rule["value"])
    return float(rule["min"] < size < rule["max"])


@scored("is_added_to_steam_cart")
def is_added_to_steam_cart(result: object, rule: Mapping[str, Any]) -> float:
    """1 if the page's content has every one of ``rule["items"]``."""
    content = as_text(as_mapping(result).get("content"))
    return float(all(item in content for item in rule["items"]))


def _only(rule: Mapping[str, Any], *types: str) -> None:
    if rule.get("type") not in types:
        raise unknown("type of rule", rule.get("type"), ", ".join(types))


def _address(tab: object) -> str:
    """The address of a tab, which is a mapping with ``url`` or that text itself."""
    return as_text(tab if isinstance(tab, str) else as_mapping(tab).get("url"))


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
