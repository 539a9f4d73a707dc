"""Ui: what the screens of an app are given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ui_gym_phone.state.activities import Activity
from ui_gym_phone.state.display import display

if TYPE_CHECKING:
    from ui_gym_phone.state.phone import Phone


@dataclass
class Ui:
    """What a screen is given: the phone, and the activity that it shows."""

    phone: Phone
    activity: Activity

    @property
    def state(self) -> dict[str, Any]:
        """What this screen remembers. ``dialog`` and ``overlay`` are closed by the back key."""
        return self.activity.state

    @property
    def extras(self) -> dict[str, Any]:
        """What the intent brought."""
        return self.activity.extras

    def extra(self, key: str) -> str:
        """One of the extras as a text; empty where there is none, or nothing in it."""
        return str(self.extras.get(key) or "")

    def extra_number(self, key: str, default: int = 0) -> int:
        """One of the extras as a whole number; `default` where there is none: a shell can hand
        over anything."""
        try:
            return int(str(self.extras.get(key, default)))
        except ValueError:
            return default

    # -- text fields --

    def text(self, key: str, default: str = "") -> str:
        """What a text field holds."""
        return self.activity.fields.get(key, default)

    def fill(self, key: str, text: str) -> None:
        """Put a text into a field; the caret goes to its end."""
        self.activity.fields[key] = text
        if self.activity.focus == key:
            self.activity.caret, self.activity.mark = len(text), None

    def once(self, key: str, text: str) -> None:
        """What a text field starts with."""
        self.activity.fields.setdefault(key, text)

    def focus(self, key: str) -> None:
        """Give a text field the caret: the keyboard comes up."""
        self.activity.focus, self.activity.held = key, False
        self.activity.caret, self.activity.mark = len(self.text(key)), None

    def unfocus(self) -> None:
        self.activity.focus, self.activity.held = "", False

    def select_all(self) -> None:
        """Select all of the text of the field that has the caret."""
        text = self.text(self.activity.focus)
        self.activity.caret, self.activity.mark = len(text), 0 if text else None

    # -- the room that there is --

    @property
    def wide(self) -> float:
        """How wide the screen is, in dp."""
        return display(self.phone).dp[0]

    @property
    def high(self) -> float:
        """How high the screen is, in dp."""
        return display(self.phone).dp[1]

    @property
    def grid(self) -> bool:
        """Whether all lies on a grid, for small vision models: few things, and words rather than
        icons."""
        return display(self.phone).grid > 0

    # -- going about --

    def open(self, cls: str, **extras: Any) -> None:
        """Open another screen of this app."""
        self.phone.push(cls, extras)

    def start(self, package: str, cls: str, **extras: Any) -> None:
        """Open a screen of another app."""
        self.phone.start(package, cls, extras)

    def close(self) -> None:
        """Leave this screen."""
        self.phone.finish()

    def ask(self, dialog: str, **state: Any) -> None:
        """Open the dialog of this name; `state` goes into the screen's state."""
        self.activity.focus = ""
        self.state.update(state, dialog=dialog)

    def dismiss(self) -> None:
        """Close the dialog."""
        self.activity.focus = ""
        self.state.pop("dialog", None)

    def ask_text(self, dialog: str, key: str, text: str = "", **state: Any) -> None:
        """Open a dialog whose text field, which holds `text`, has the caret."""
        self.fill(key, text)
        self.ask(dialog, **state)
        self.focus(key)

    def then(self, act: Callable[[], object]) -> Callable[[], None]:
        """A handler that closes the dialog and does something."""

        def handle() -> None:
            self.dismiss()
            act()

        return handle

    def search(self) -> None:
        """Begin a search: its field is empty, and has the caret."""
        self.state["overlay"] = "search"
        self.fill("search", "")
        self.focus("search")

    def stop_searching(self) -> None:
        self.unfocus()
        self.close_overlay()

    def toggle(self, one: Any) -> None:
        """Select something (``chosen``), or no longer; the first begins a selection."""
        chosen = list(self.state.get("chosen", ())) if self.state.get("overlay") == "select" else []
        chosen = [each for each in chosen if each != one] + [one] * (one not in chosen)
        self.state.update(chosen=chosen, overlay="select")

    def close_overlay(self) -> None:
        """End a search or a selection, close a menu."""
        self.state.pop("overlay", None)

    @property
    def dialog(self) -> str:
        """The dialog that is open, if one is."""
        return str(self.state.get("dialog", ""))

    def may(self, permission: str) -> bool:
        """Whether the app has a permission that what is done needs; if not, a person is asked, and
        may do it again."""
        package = self.phone.packages[self.activity.package]
        if package.permissions.get(permission, True):
            return True
        if package.may_ask(permission):
            answered = [p for p in self.state.get("answered", ()) if p != permission]
            self.state.update(asking=permission, answered=answered)
        else:
            self.say(f"{package.label} has no permission for this")
        return False

    def say(self, text: str) -> None:
        """Show a toast."""
        self.phone.say(text)

    def copy(self, text: str, said: str) -> None:
        """Put a text on the clipboard, and say so."""
        self.phone.clipboard = text
        self.say(said)

    def setter(self, key: str, value: Any) -> Callable[[], None]:
        """A handler that remembers a value."""

        def handle() -> None:
            self.state[key] = value

        return handle
