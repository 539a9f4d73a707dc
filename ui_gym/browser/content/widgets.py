"""Reviews made of custom elements: their widgets, and the values that these take.

A value is a number of stars, a choice, or tags in the order of the alphabet, as ``cosy, local``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from numpy.random import Generator

from ui_gym.browser.content import phrases
from ui_gym.browser.content.data import table
from ui_gym.contract.draws import pick

STARS = tuple("12345")
SEPARATOR = ", "


class ShadowWidget(NamedTuple):
    """A custom element: ``stars``, a ``switch`` or ``tags``."""

    label: str
    kind: str
    options: tuple[str, ...]
    """All values of stars and switches; all tags that there are."""

    def start(self, rng: Generator) -> str:
        if self.kind == "tags":
            picked = rng.choice(len(self.options), size=2, replace=False)
            return SEPARATOR.join(sorted(self.options[int(i)] for i in picked))
        return pick(rng, self.options)

    def others(self, value: str) -> list[str]:
        """What `value` may be changed to: any other, or a tag more or less."""
        if self.kind != "tags":
            return [option for option in self.options if option != value]
        now = tags_of(value)
        return [SEPARATOR.join(sorted(now ^ {tag})) for tag in self.options]

    def near(self, value: str, start: str) -> list[str]:
        """What `value` may be taken for: a star more or less, another choice, another tag."""
        if self.kind == "stars":
            return [star for star in self.options if abs(int(star) - int(value)) == 1]
        return [other for other in self.others(start) if other not in (value, start)]

    def said(self, value: str, start: str) -> str:
        """The change as a goal says it."""
        if self.kind == "stars":
            return f"give {self.label} {phrases.plural(int(value), 'star')}"
        if self.kind == "switch":
            return f"switch {self.label} to {value}"
        more = tags_of(value) - tags_of(start)
        return f'add the tag "{more.pop()}"' if more else f'remove the tag "{gone(start, value)}"'


def tags_of(value: str) -> set[str]:
    return set(value.split(SEPARATOR)) - {""}


def gone(start: str, value: str) -> str:
    """The tag that `value` has no more."""
    return min(tags_of(start) - tags_of(value))


class WidgetScene(NamedTuple):
    app: str
    icon: str
    title: str
    lead: str
    thing: str
    """What the goal calls the whole."""
    send: str
    widgets: tuple[ShadowWidget, ...]


def _scene(written: Mapping[str, Any]) -> WidgetScene:
    rest = dict(written)
    stars, switches, tags = (rest.pop(key) for key in ("stars", "switches", "tags"))
    widgets = [ShadowWidget(label, "stars", STARS) for label in stars]
    widgets += [ShadowWidget(label, "switch", tuple(all_)) for label, all_ in switches.items()]
    if tags:
        widgets.append(ShadowWidget("Tags", "tags", tuple(tags)))
    return WidgetScene(**rest, widgets=tuple(widgets))


WIDGETS = {key: _scene(written) for key, written in table("widgets").items()}
