"""Pages of Settings that lie in ``data/settings_pages.toml``: what their rows mean.

A row is one of

- ``header``, ``note``: a heading; an explanation;
- ``item``: a title and a text; touched, it does an `action` (``do``), or says something (``say``);
- ``link``: leads to another page, which is given ``extras``;
- ``switch``, ``main``: a switch, the large one that begins a page; of a ``setting`` that is 1 or
  0, or of a ``state``; it is disabled unless the state that it ``needs`` is on;
- ``choice``: one of ``options`` for a setting, in a dialog; a value that is none of them is
  called ``otherwise``, or counts as ``fallback``;
- ``part``: widgets that a function makes.

It is there only ``when``, or ``unless``, a state is on. What a page says, switches, does and makes
beyond this is registered here by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ui_gym_phone import data
from ui_gym_phone.apps.settings import parts
from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Widget
from ui_gym_phone.ui.page import AppPage, Dialog
from ui_gym_phone.ui.widgets import Header, Item

DeclaredRow = Mapping[str, Any]

LINES: dict[str, Callable[[Ui], str]] = {}
"""Texts that are different at different times."""
STATES: dict[str, tuple[Callable[[Ui], bool], Callable[[Ui, bool], None]]] = {}
"""Switches: whether each is on, and what turns it."""
ACTIONS: dict[str, Callable[[Ui], None]] = {}
"""What touching an item does."""
PARTS: dict[str, Callable[[Ui], Sequence[Widget]]] = {}
"""Widgets in the middle of a page."""
DIALOGS: dict[str, Callable[[Ui], Dialog | None]] = {}
"""The dialog of a page, while it is open."""


def show(ui: Ui, name: str) -> AppPage:
    """The page of a class."""
    declared = data.table("settings_pages")["pages"][name]
    dialog = DIALOGS[declared["dialog"]](ui) if "dialog" in declared else None
    widgets: list[Widget] = []
    for row in declared["rows"]:
        if _shown(ui, row):
            widgets += _widgets(ui, row)
            if "choice" in row and ui.dialog == row["setting"]:
                dialog = _choices(ui, row)
    return parts.page(ui, declared["title"], *widgets, dialog=dialog)


def register_pages() -> None:
    """Make every declared page a screen of the app."""
    for name in data.table("settings_pages")["pages"]:
        APP.screen(PREFIX + name)(partial(show, name=name))


def _shown(ui: Ui, row: DeclaredRow) -> bool:
    return _is_on(ui, row.get("when"), True) and not _is_on(ui, row.get("unless"), False)


def _is_on(ui: Ui, state: str | None, otherwise: bool) -> bool:
    return otherwise if state is None else STATES[state][0](ui)


def _widgets(ui: Ui, row: DeclaredRow) -> Sequence[Widget]:
    text, icon = line(ui, row.get("text", "")), row.get("icon", "")
    match row:
        case {"header": title}:
            return [Header(title)]
        case {"note": told}:
            return [parts.note(told)]
        case {"part": name}:
            return PARTS[name](ui)
        case {"link": title, "to": to}:
            extras = row.get("extras", {})
            return [parts.link(ui, title, text, PREFIX + to, icon=icon, **extras)]
        case {"main": title}:
            return [parts.main_switch(title, *_switched(ui, row))]
        case {"switch": title}:
            able = _is_on(ui, row.get("needs"), True)
            return [parts.toggle(title, *_switched(ui, row), text, icon=icon, enabled=able)]
        case {"choice": title, "setting": setting}:
            chosen = parts.listed(_options(row), _chosen(ui, row), row.get("otherwise", ""))
            return [Item(title, chosen, partial(ui.ask, setting), icon=icon)]
    if "say" in row:
        return [Item(row["item"], text, partial(ui.say, row["say"]), icon=icon)]
    touched = partial(ACTIONS[row["do"]], ui) if "do" in row else None
    return [Item(row["item"], text, touched, icon=icon)]


def line(ui: Ui, text: str) -> str:
    """A text as it is written, or what it stands for now (``$name``, ``?setting``)."""
    if text.startswith("$"):
        return LINES[text[1:]](ui)
    if text.startswith("?"):
        return "On" if _holds(_value(ui, text[1:])) else "Off"
    return text


def _switched(ui: Ui, row: DeclaredRow) -> tuple[bool, Callable[[bool], None]]:
    """Whether a switch is on, and what turns it."""
    if "state" in row:
        is_on, turn = STATES[row["state"]]
        return is_on(ui), partial(turn, ui)
    namespace, key = row["setting"].split(" ")[:2]
    return _holds(_value(ui, row["setting"])), lambda on: ui.phone.put(namespace, key, int(on))


def _value(ui: Ui, setting: str) -> str:
    namespace, key, *default = setting.split(" ")
    return ui.phone.setting(namespace, key, *default)


def _holds(value: str) -> bool:
    return value not in ("0", "", "null")


def _options(row: DeclaredRow) -> Sequence[tuple[str, str]]:
    return [
        (text, value) for text, value in data.table("settings_pages")["options"][row["options"]]
    ]


def _chosen(ui: Ui, row: DeclaredRow) -> str:
    """The value of a choice; files are compared by their names."""
    value = _value(ui, row["setting"])
    if "fallback" not in row:
        return value
    name = value.rpartition("/")[2]
    known = (option for _, option in _options(row) if option.rpartition("/")[2] == name)
    return next(known, row["fallback"])


def _choices(ui: Ui, row: DeclaredRow) -> Dialog:
    setting = row["setting"]
    namespace, key = setting.split(" ")[:2]
    keep = partial(ui.phone.put, namespace, key)
    return parts.pick(ui, row["choice"], _options(row), _chosen(ui, row), keep)
