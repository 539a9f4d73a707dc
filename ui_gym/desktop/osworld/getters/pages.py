"""Getters of what is on a page: texts by class, path or label, and a page as PDF."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ui_gym.desktop.osworld import devtools
from ui_gym.desktop.osworld.devtools import DevToolsPage
from ui_gym.desktop.osworld.getters.files import keep
from ui_gym.desktop.osworld.getters.tabs import active_tab
from ui_gym.desktop.osworld.registry import Config, EvaluationContext, getter
from ui_gym.errors import DeviceError, DeviceLost, UserError

Reader = Callable[[DevToolsPage, Config], dict[str, Any]]

OTHERS = "is_other_exist"
APPEARING = 5.0
"""Seconds that an element may take to appear after a click."""
TEXTS = "(css) => Array.from(document.querySelectorAll(css), (e) => e.textContent)"
OWN_TEXTS = """(css) => Array.from((document.querySelector(css) || {childNodes: []}).childNodes)
  .filter((n) => n.nodeType === Node.TEXT_NODE).map((n) => n.textContent).filter((t) => t.trim())"""
HEADINGS = """(css) => Array.from(document.querySelectorAll(css), (e) => e.querySelector("h3"))
  .filter(Boolean).map((e) => e.textContent)"""
ITEMS = """(css) => Array.from(document.querySelectorAll(css + " li.catAllProducts"),
  (e) => e.querySelector("span")).filter(Boolean).map((e) => e.innerText)"""
AT_PATH = """(path, field) => {
  const kind = XPathResult.FIRST_ORDERED_NODE_TYPE;
  const e = document.evaluate(path, document, null, kind, null).singleNodeValue;
  return e ? [e[field]] : []; }"""
WITH_LABEL = """(label) => {
  const plain = (text) => text.replace(/\\s+/g, " ").trim().toLowerCase();
  const holds = (e) => plain(e.textContent).includes(plain(label));
  const all = Array.from(document.body.querySelectorAll("*:not(script):not(style)"));
  const found = all.find((e) => holds(e) && !Array.from(e.children).some(holds));
  return found ? [found.textContent] : []; }"""
STEP = """(css, attribute) => { const e = document.querySelector(css);
  return e === null ? null : attribute === null ? e.innerText : e.getAttribute(attribute); }"""
CLICK = "(css) => { const e = document.querySelector(css); if (e) e.click(); return e !== null; }"


@getter("active_tab_html_parse")
def active_tab_html_parse(context: EvaluationContext, config: Config) -> dict[str, Any] | None:
    """Texts of the active tab's page under the names that the config gives them, "" for what is
    not there; None without Chrome.

    By ``category``: "class" (``class_singleObject``, ``class_multiObject``: the text of the first,
    of the n-th element of a class; ``..._child``: the n-th text straight in the first;
    ``..._only_child``: that of the heading in the n-th; ``..._search_exist``: whether some
    element has a text); "xpath" (``xpathObject``), "input" (``inputObject``, the value),
    "label" (``labelObject``: the innermost element with that text); "class&url"
    (``class_multiObject``, ``class_multiObject_li``: which of the texts are there, and whether
    others are; ``url_include_expected``, ``url_include_expected_multichoice``: which are in the
    address).
    """
    browser = devtools.find(context.device)
    tab = active_tab(context, config, browser)
    if browser is None or tab is None:
        return None
    category = config["category"]
    if category not in READERS:
        raise UserError(f"no category is called {category!r} (known: {', '.join(READERS)})")
    with browser.page(tab) as page:
        page.wait_loaded()
        return READERS[category](page, config)


@getter("pdf_from_url")
def pdf_from_url(context: EvaluationContext, config: Config) -> str | None:
    """The page at the address ``path``, printed to PDF by Chrome; None without it."""
    browser = devtools.find(context.device)
    if browser is None:
        return None
    with browser.visit(config["path"]) as page:
        return keep(context, config["dest"], page.pdf())


@getter("info_from_website")
def info_from_website(context: EvaluationContext, config: Config) -> Any:
    """What is found on the page ``url``, one text for each of ``infos``; ``backups`` where any of
    it cannot be had, or there is no Chrome.

    An info's ``action`` is "inner_text" or "attribute" (of the element that ``selector`` finds), or
    "click_and_..." with a list of selectors, of which all but the last are clicked in turn.
    """
    browser = devtools.find(context.device)
    if browser is not None:
        try:
            return [_info(browser, config["url"], info) for info in config.get("infos", ())]
        except DeviceLost:
            raise
        except (DeviceError, LookupError):
            pass
    return config.get("backups")


def _info(browser: devtools.DevTools, url: str, info: Mapping[str, Any]) -> Any:
    action = info.get("action", "inner_text")
    kind = action.removeprefix("click_and_")
    if kind not in {"inner_text", "attribute"}:
        raise UserError(f"no action of an info is called {action!r}")
    selectors = info["selector"]
    *clicked, last = [selectors] if isinstance(selectors, str) else selectors
    with browser.visit(url) as page:
        timeout = 0.0
        for selector in clicked:
            if not page.await_value(CLICK, selector, timeout=timeout):
                raise LookupError(selector)
            page.wait_loaded()
            timeout = APPEARING  # the next may stand on a page that the click leads to
        attribute = info["attribute"] if kind == "attribute" else None
        text = page.await_value(STEP, last, attribute, timeout=timeout)
        if text is None:
            raise LookupError(last)
        return text


def _by_class(page: DevToolsPage, config: Config) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for option, script in (
        ("class_multiObject", TEXTS),
        ("class_multiObject_child", OWN_TEXTS),
        ("class_multiObject_only_child", HEADINGS),
    ):
        for name, keys in config.get(option, {}).items():
            texts = _texts(page, script, f".{name}")
            for number, key in keys.items():
                found[key] = texts[int(number)] if int(number) < len(texts) else ""
    for name, wanted in config.get("class_multiObject_search_exist", {}).items():
        texts = _texts(page, TEXTS, f".{name}")
        found |= {text: text in texts for text in wanted if text != OTHERS}
        if OTHERS in wanted:
            found[OTHERS] = any(text not in wanted for text in texts)
    for name, key in config.get("class_singleObject", {}).items():
        found[key] = _first(_texts(page, TEXTS, f".{name}"))
    return found


def _first_of(option: str, script: str, *arguments: str) -> Reader:
    """Reads the first text that a script finds for each place that `option` names."""

    def read(page: DevToolsPage, config: Config) -> dict[str, Any]:
        wanted = config.get(option, {})
        return {key: _first(_texts(page, script, at, *arguments)) for at, key in wanted.items()}

    return read


def _by_class_and_url(page: DevToolsPage, config: Config) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for option, script in (("class_multiObject", TEXTS), ("class_multiObject_li", ITEMS)):
        for name, wanted in config.get(option, {}).items():
            texts = [text.lower() for text in _texts(page, script, f".{name}")]
            known = [text.lower() for text in wanted]
            found |= {text: True for text in known if text in texts}
            others = any(all(text not in item for item in known) for text in texts)
            found[OTHERS] = found.get(OTHERS, False) or others
    address = str(page.evaluate("() => location.href") or "").lower()
    choices = [(text, text) for text in config.get("url_include_expected", ())]
    choices += config.get("url_include_expected_multichoice", {}).items()
    for text, name in choices:
        found.setdefault(name.lower(), text.lower() in address)
    return found


READERS: Mapping[str, Reader] = {
    "class": _by_class,
    "xpath": _first_of("xpathObject", AT_PATH, "textContent"),
    "input": _first_of("inputObject", AT_PATH, "value"),
    "label": _first_of("labelObject", WITH_LABEL),
    "class&url": _by_class_and_url,
}


def _texts(page: DevToolsPage, script: str, *arguments: str) -> list[str]:
    found = page.evaluate(script, *arguments)
    return [str(text or "").strip() for text in found] if isinstance(found, list) else []


def _first(texts: Iterable[str]) -> str:
    return next(iter(texts), "")
