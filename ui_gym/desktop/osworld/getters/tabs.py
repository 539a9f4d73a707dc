"""Getters of Chrome's tabs: what is open, what is active, what its address says.

OSWorld reads the active tab's address off the screen, from the accessibility tree, and loads the
page anew where it needs more. Here the tab is asked itself where it is found, so that nothing is
loaded and nothing that was filled in is lost.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree

from ui_gym.desktop.device import DesktopDevice
from ui_gym.desktop.osworld import devtools
from ui_gym.desktop.osworld.devtools import DevTools, Tab
from ui_gym.desktop.osworld.registry import Config, EvaluationContext, getter
from ui_gym.errors import DeviceError, DeviceLost, DeviceTimeout, UserError

BROWSERS = {"Google Chrome", "Chromium", "Chromium Web Browser"}
ADDRESS_BAR = "Address and search bar"
PREFIX = "https://"
"""What the address bar leaves out, where the task file does not say otherwise."""


@getter("active_url_from_accessTree")
def active_url_from_access_tree(context: EvaluationContext, config: Config) -> str | None:
    """The address of the active tab: ``goto_prefix`` ("https://" by default) and what the address
    bar shows. Where the tree shows no bar, Chrome itself is asked; None where there is no Chrome.
    """
    shown = _address_bar(context.device)
    if shown:
        return f"{config.get('goto_prefix', PREFIX)}{shown}"
    tab = _last_used(devtools.find(context.device))
    return tab.url if tab is not None else None


@getter("open_tabs_info")
def open_tabs_info(context: EvaluationContext, config: Config) -> list[dict[str, str]]:
    """The open tabs: ``title`` and ``url`` of each; none without Chrome."""
    browser = devtools.find(context.device)
    if browser is None:
        return []
    return [{"title": tab.title, "url": tab.url} for tab in browser.tabs()]


@getter("active_tab_info")
def active_tab_info(context: EvaluationContext, config: Config) -> dict[str, str] | None:
    """``title``, ``url`` and ``content`` (HTML) of the active tab; None without Chrome."""
    browser = devtools.find(context.device)
    tab = active_tab(context, config, browser)
    if browser is None or tab is None:
        return None
    return tab_info(browser, tab)


def _of_address(*names: str) -> Callable[[Callable[[str, Config], Any]], object]:
    """A decorator: registers a getter of what the active tab's address says; None without one."""

    def keep(read: Callable[[str, Config], Any]) -> object:
        def bring(context: EvaluationContext, config: Config) -> Any:
            url = active_url_from_access_tree(context, config)
            return None if url is None else read(url, config)

        return getter(*names)(bring)

    return keep


@_of_address("active_tab_url_parse")
def active_tab_url_parse(url: str, config: Config) -> dict[str, Any]:
    """The first value of each of ``parse_keys`` in the active tab's query, "" where there is none.

    ``replace`` gives keys other names; ``split_list`` splits the values at commas.
    """
    query = parse_qs(_split(url)[1])
    names = config.get("replace", {})
    values = {names.get(k, k): query.get(k, [""])[0] for k in config["parse_keys"]}
    if config.get("split_list"):
        return {key: value.split(",") for key, value in values.items()}
    return values


@_of_address("url_dashPart")
def url_dash_part(url: str, config: Config) -> Any:
    """The part number ``partIndex`` of the active tab's address, split at slashes.

    ``needDeleteId`` cuts it at its question mark; ``returnType`` is "string", or "json" for an
    object with the part under ``key``.
    """
    try:
        part = url.split("/")[int(config["partIndex"])]
    except IndexError:
        return None
    if config.get("needDeleteId"):
        part = part.split("?")[0]
    kind = config["returnType"]
    if kind not in {"string", "json"}:
        raise UserError(f"'returnType' is string or json, not {kind!r}")
    return part if kind == "string" else {config["key"]: part}


@_of_address("url_path_parse", "macys_product_url_parse")
def url_path_parse(url: str, config: Config) -> dict[str, Any]:
    """What a shop's address of the form ``.../Key,Key/value,value`` filters by.

    ``mens_clothing``, ``shirts`` and ``short_sleeve`` are True or None; the ``parse_keys`` that the
    path has are added, of ``Price_discount_range`` whether it is the largest discount alone.
    """
    path = unquote(_split(url)[0])
    filters = _filters(path)
    department = filters.get("Product_department", "").lower()
    sleeve = filters.get("Sleeve_length", "").lower().replace(" ", "-")
    result: dict[str, Any] = {
        "mens_clothing": "mens-clothing" in path or None,
        "shirts": "shirts" in path or department in {"shirts", "shirt"} or None,
        "short_sleeve": "short-sleeve" in path or sleeve == "short-sleeve" or None,
    }
    for key in config["parse_keys"]:
        if key == "Price_discount_range":
            result[key] = _discount(filters.get(key, "").split("|"))
        elif key in filters or key == "Men_regular_size_t":
            result[key] = filters.get(key) or None
    return result


@getter("page_info")
def page_info(context: EvaluationContext, config: Config) -> dict[str, str] | None:
    """``title``, ``url`` and ``content`` (HTML) of the page ``url``, which is opened in a tab of
    its own; None without Chrome."""
    browser = devtools.find(context.device)
    if browser is None:
        return None
    with browser.visit(config["url"]) as page:
        return _info(page)


def active_tab(context: EvaluationContext, config: Config, browser: DevTools | None) -> Tab | None:
    """The tab whose address the address bar shows, else the one used last."""
    if browser is None:
        return None
    shown = _address_bar(context.device)
    if shown:
        wanted = _plain(f"{config.get('goto_prefix', PREFIX)}{shown}")
        for tab in browser.tabs():
            if wanted == _plain(tab.url):
                return tab
    return _last_used(browser)


def tab_info(browser: DevTools, tab: Tab) -> dict[str, str]:
    """``title``, ``url`` and ``content`` (HTML) of a tab once it has loaded."""
    with browser.page(tab) as page:
        page.wait_loaded()
        return _info(page)


def _info(page: devtools.DevToolsPage) -> dict[str, str]:
    title, url = page.evaluate("() => [document.title, location.href]") or ("", "")
    return {"title": title, "url": url, "content": page.content()}


def _address_bar(device: DesktopDevice) -> str | None:
    """The text of Chrome's address bar, in the accessibility tree; None where it is not there, or
    no such tree is kept."""
    try:
        root = ElementTree.fromstring(device.ui_tree())
    except (DeviceLost, DeviceTimeout):
        raise
    except (DeviceError, ElementTree.ParseError):
        return None
    bars = [
        entry
        for application in root.iter("application")
        if application.get("name") in BROWSERS
        for entry in application.iter("entry")
        if entry.get("name") == ADDRESS_BAR
    ]
    return bars[0].text if bars else None


def _last_used(browser: DevTools | None) -> Tab | None:
    try:
        return next(iter(browser.tabs()), None) if browser is not None else None
    except DeviceLost:
        raise
    except DeviceError:  # the browser ended between two questions
        return None


def _plain(url: str) -> str:
    return unquote(url).rstrip("/")


def _split(url: str) -> tuple[str, str]:
    """The path and the query of an address."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    return parts.path, parts.query


def _filters(path: str) -> dict[str, str]:
    """The first two parts that follow each other and both have commas, as keys and values."""
    parts = path.strip("/").split("/")
    for keys, values in itertools.pairwise(parts):
        if "," in keys and "," in values:
            pairs = zip(keys.split(","), values.split(","), strict=False)
            return {key.strip(): value.strip() for key, value in pairs}
    return {}


def _discount(ranges: list[str]) -> str:
    largest, *others = (f"{share}_PERCENT_ off & more" for share in (50, 30, 20))
    found = {part.strip() for part in ranges}
    return largest if largest in found and not found & set(others) else f"not_{largest}"
