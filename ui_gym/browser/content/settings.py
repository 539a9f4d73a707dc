"""Settings of made-up apps: sections, their pages, and what can be switched or chosen there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from numpy.random import Generator

from ui_gym.browser.content import words
from ui_gym.browser.content.data import table


class Setting(NamedTuple):
    label: str
    hint: str
    options: tuple[str, ...]
    """What can be chosen; nothing for a switch, whose values are 0 and 1."""

    @property
    def values(self) -> range:
        return range(len(self.options) or 2)


class SettingsPage(NamedTuple):
    title: str
    hint: str
    settings: tuple[Setting, ...]


class SettingsGroup(NamedTuple):
    title: str
    icon: str
    settings: tuple[Setting, ...]
    pages: tuple[SettingsPage, ...]


class App(NamedTuple):
    name: str
    icon: str
    sections: tuple[SettingsGroup, ...]


def places(sections: tuple[SettingsGroup, ...]) -> Iterator[tuple[int, int, Setting]]:
    """Every setting with its section and its page in it (-1: the section itself), as shown."""
    for number, section in enumerate(sections):
        for setting in section.settings:
            yield number, -1, setting
        for at, page in enumerate(section.pages):
            for setting in page.settings:
                yield number, at, setting


def read(text: str) -> tuple[SettingsGroup, ...]:
    """The sections of a tree, as ``settings.toml`` writes them."""
    sections: list[SettingsGroup] = []
    for line in text.strip().splitlines():
        body, _, hint = line.strip().partition(" | ")
        if not line.startswith(" "):
            sections.append(SettingsGroup(body, hint, (), ()))
        elif body.startswith("> "):
            page = SettingsPage(body[2:], hint, ())
            sections[-1] = sections[-1]._replace(pages=(*sections[-1].pages, page))
        else:
            label, _, options = body.partition(" = ")
            setting = Setting(label, hint, tuple(options.split(", ")) if options else ())
            sections[-1] = _with(sections[-1], setting)
    return tuple(sections)


def _with(section: SettingsGroup, setting: Setting) -> SettingsGroup:
    """A section with one more setting, on its last page if it has begun one."""
    if not section.pages:
        return section._replace(settings=(*section.settings, setting))
    *most, last = section.pages
    last = last._replace(settings=(*last.settings, setting))
    return section._replace(pages=(*most, last))


def draw_app(rng: Generator, sections: int, *, deep: bool) -> App:
    """An app of short words: persons' sections, and pages if it is `deep`, with the same things."""
    names = iter(rng.permutation(words.LAST_SHORT))
    labels = (str(label) for label in rng.permutation(words.THINGS_SHORT)[:4])
    kinds = ((), (), _numbers(rng), _numbers(rng))
    things = [Setting(label, "", options) for label, options in zip(labels, kinds, strict=True)]

    def some() -> tuple[Setting, ...]:
        return tuple(things[int(i)] for i in rng.choice(len(things), size=2, replace=False))

    def pages() -> tuple[SettingsPage, ...]:
        return tuple(SettingsPage(str(next(names)), "", some()) for _ in range(2 * deep))

    firsts = rng.permutation(words.FIRST_SHORT)[:sections]
    drawn = (SettingsGroup(str(first), "person", some(), pages()) for first in firsts)
    return App("Settings", "gear", tuple(drawn))


def _numbers(rng: Generator) -> tuple[str, ...]:
    return tuple(str(number) for number in sorted(rng.choice(32, size=3, replace=False)))


APPS = {
    key: App(written["name"], written["icon"], read(written["tree"]))
    for key, written in table("settings").items()
}
