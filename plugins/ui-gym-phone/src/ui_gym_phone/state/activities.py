"""Activities: what is open, in which task, and what an agent left in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Activity:
    """One opened screen of an app. All of it is plain data: a snapshot holds it."""

    package: str
    cls: str
    """Its class, short (``.Settings``) as the package declares it."""
    extras: dict[str, Any] = field(default_factory=dict)
    """What the intent brought."""
    state: dict[str, Any] = field(default_factory=dict)
    """What the screen remembers; the key ``dialog`` names an open dialog."""
    fields: dict[str, str] = field(default_factory=dict)
    """Text fields: key -> text."""
    scroll: dict[str, int] = field(default_factory=dict)
    """Scrolled containers: key -> pixels of the device."""
    focus: str = ""
    """The key of the text field that has the caret, if one has."""
    caret: int = 0
    """Where the caret stands in that field, in characters."""
    mark: int | None = None
    """Where the selection begins that ends at the caret, in characters; None if there is none."""
    held: bool = False
    """Whether that field shows its handles and the bar of what can be done to a text."""
    flings: dict[str, tuple[int, int, int, int]] = field(default_factory=dict)
    """Scrolled containers that a finger has flung: key -> (from, how far, both in pixels of the
    device; begun at this uptime, for so long, both in milliseconds)."""


@dataclass
class TaskStack:
    """A task of Android: activities of which the last is seen."""

    id: int
    package: str
    activities: list[Activity]

    @property
    def top(self) -> Activity:
        return self.activities[-1]


@dataclass
class Notification:
    """A posted notification."""

    package: str
    id: int
    title: str
    text: str
    when_ms: int
    tag: str | None = None
    channel: str = "default"
    ongoing: bool = False
    target: tuple[str, dict[str, Any]] | None = None
    """(class, extras) of the activity that a tap opens; the package's main one if None."""

    @property
    def key(self) -> str:
        """As `dumpsys notification` writes it, up to the uid."""
        return f"0|{self.package}|{self.id}|{self.tag or 'null'}"
