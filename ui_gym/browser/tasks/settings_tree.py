"""Settings tree: change exactly the named settings of an app."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import phrases
from ui_gym.browser.content.choices import changed_share
from ui_gym.browser.content.settings import APPS, App, Setting, SettingsGroup, draw_app, places
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, flag, whole
from ui_gym.browser.moves import because, click, pick, reveal
from ui_gym.contract import draws
from ui_gym.contract.action import Action
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict

MOST_SECTIONS = 7
MOST_CHANGES = 6
COMPACT_CHANGES = 2
"""The most changes that a compact goal names in few words."""

GOALS = (
    "In the settings, {changes}. Leave everything else as it is.{save}",
    "Please change the settings: {changes}.{save} Nothing else should change.",
    "Go to the settings and {changes}; touch nothing else.{save}",
)
SAVE = (" Save the changes.", " Then save.", " Save when you are done.")

COMPACT_GOALS = ("{said} in {path}", "in {path} {said}")


@dataclass(frozen=True)
class SettingsTreeParams:
    """All that varies between episodes. Settings are counted from 0 through all shown pages."""

    app: str
    shown: tuple[int, ...]
    """Which of the app's sections there are, in this order."""
    deep: bool
    """Whether sections have pages of their own."""
    starts: tuple[int, ...]
    asked: tuple[tuple[int, int], ...]
    """(setting, value) of what is to be changed."""
    told: bool
    """Whether the goal says where each setting is."""
    saving: bool
    """Whether changes have to be saved; else each takes effect at once."""
    theme: int
    phrasing: int

    @property
    def tree(self) -> App:
        return APPS[self.app]

    @property
    def sections(self) -> tuple[SettingsGroup, ...]:
        sections = (self.tree.sections[i] for i in self.shown)
        return tuple(s if self.deep else s._replace(pages=()) for s in sections)

    @cached_property
    def places(self) -> list[tuple[int, int, Setting]]:
        return list(places(self.sections))

    def path(self, i: int) -> str:
        """Where a setting is: ``Lights > Bedroom``."""
        section, page, _ = self.places[i]
        found = self.sections[section]
        return found.title if page < 0 else f"{found.title} > {found.pages[page].title}"


@dataclass(frozen=True)
class CompactTreeParams(SettingsTreeParams):
    """What varies on the compact page: the words as well."""

    drawn: App

    @property
    def tree(self) -> App:
        return self.drawn


@register("SettingsTree", suite="browser", category="settings", difficulty="medium", max_steps=20)
class SettingsTree(Family[SettingsTreeParams]):
    """Change exactly the named settings of an app, which may lie on nested pages.

    ## Description
    The settings of a chat, of a house or of a photo archive: sections at the side, switches and
    lists of options, and pages within sections, many of which look alike. The goal names settings
    and what they should be; at "hard" it says where a setting is only if there are several of its
    name. In some apps changes take effect at once, others have a bar to save or discard them.
    The compact page has persons' sections, each with two settings and two pages of two.

    ## Action space
    Clicks and scrolling are all that is needed; Tab, Space, Enter and arrow keys work as in any
    app.

    ## Rewards
    1 if the named settings are as asked, every other is as it was, and that is saved where saving
    is needed. Else the share of the named ones that are right, less one such share for each other
    one that was changed; where saving is needed, of what was saved.

    ## Starting state
    The first section is open, every setting at a value of its own.

    ## Episode end
    Termination: the settings are as asked; or, where saving is needed, something was saved. A
    change that was not asked for can be taken back as long as nothing is saved. `max_steps` is 8
    for each named setting, and 4; compact: and 2.

    ## Arguments
    | `sections` | 5 (compact: 3) | how many sections there are, 2 to 7 |
    | `deep` | True | whether sections have pages of their own |
    | `changes` | 2 (compact: 1) | how many settings are named, 1 to 6, compact to 2 |
    | `told` | True | whether the goal says where each setting is |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "settings_tree.html"
    mistakes = ("elsewhere", "neighbour")
    sections: int = whole(2, MOST_SECTIONS, easy=3, medium=5, hard=7)
    deep: bool = flag(easy=False, medium=True, hard=True)
    changes: int = whole(1, MOST_CHANGES, easy=1, medium=2, hard=4)
    told: bool = flag(easy=True, medium=True, hard=False)
    compact_values = {"sections": 3, "deep": True, "changes": 1, "told": True}

    def prepare(self) -> None:
        self.max_steps = 8 * self.changes + (2 if self.compact else 4)
        if self.compact:
            self.check_range("changes", self.changes, 1, COMPACT_CHANGES)

    def sample(self, rng: Generator) -> SettingsTreeParams:
        params = self._compact_app(rng) if self.compact else self._app(rng)
        settings = [setting for _, _, setting in params.places]
        starts = tuple(int(rng.integers(len(setting.values))) for setting in settings)
        named = rng.choice(len(settings), size=self.changes, replace=False)
        asked = tuple((int(i), _other(settings[i], starts[i], rng)) for i in named)
        return replace(params, starts=starts, asked=asked)

    def _app(self, rng: Generator) -> SettingsTreeParams:
        app = draws.pick(rng, tuple(APPS))
        shown = rng.choice(len(APPS[app].sections), size=self.sections, replace=False)
        return SettingsTreeParams(
            app=app,
            shown=tuple(int(i) for i in shown),
            deep=self.deep,
            starts=(),
            asked=(),
            told=self.told,
            saving=bool(rng.random() < 0.5),
            theme=int(rng.integers(6)),
            phrasing=int(rng.integers(3)),
        )

    def _compact_app(self, rng: Generator) -> CompactTreeParams:
        return CompactTreeParams(
            app="",
            shown=tuple(range(self.sections)),
            deep=self.deep,
            starts=(),
            asked=(),
            told=self.told,
            saving=bool(rng.random() < 0.5),
            theme=0,
            phrasing=int(rng.integers(len(COMPACT_GOALS))),
            drawn=draw_app(rng, self.sections, deep=self.deep),
        )

    def goal(self, params: SettingsTreeParams) -> str:
        times = Counter(setting.label for _, _, setting in params.places)
        changes = []
        for i, value in params.asked:
            _, _, setting = params.places[i]
            where = params.told or times[setting.label] > 1
            said = f'turn {_said(setting, value)} "{setting.label}"'
            if setting.options:
                said = f'set "{setting.label}" to "{_said(setting, value)}"'
            form = COMPACT_GOALS[params.phrasing] if self.compact else "{said} under {path}"
            changes.append(form.format(said=said, path=params.path(i)) if where else said)
        if self.compact:
            text = phrases.listing(changes).replace('"', "").replace(" > ", " ")
            save = " Press Save." if params.saving else ""
            return f"{text[0].upper()}{text[1:]}.{save}"
        save = SAVE[params.phrasing] if params.saving else ""
        return GOALS[params.phrasing].format(changes=phrases.listing(changes), save=save)

    def page_params(self, params: SettingsTreeParams) -> dict[str, Any]:
        app = params.tree
        numbers = iter(range(len(params.starts)))

        def shown(settings: Sequence[Setting]) -> list[dict[str, Any]]:
            return [{**s._asdict(), "number": next(numbers)} for s in settings]

        sections = [
            {
                "title": section.title,
                "icon": section.icon,
                "settings": shown(section.settings),
                "pages": [
                    {**page._asdict(), "settings": shown(page.settings)} for page in section.pages
                ],
            }
            for section in params.sections
        ]
        look = {"saving": params.saving, "theme": params.theme}
        return {"app": app.name, "icon": app.icon, "starts": params.starts, **look,
                "sections": sections}  # fmt: skip

    def judge(
        self, device: BrowserDevice, params: SettingsTreeParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        asked = list(params.starts)
        for i, value in params.asked:
            asked[i] = value
        commits = [event for event in device.events if event.type == "commit"]
        if not commits:
            return Verdict(0.0, notes="nothing changed yet")
        # What was saved first counts; where nothing need be saved, what was set last.
        now = [int(value) for value in commits[0 if params.saving else -1].data["values"]]
        wrong = [
            f"{params.path(i)}, {params.places[i][2].label}: {_said(params.places[i][2], now[i])}"
            for i in range(len(now))
            if now[i] != asked[i]
        ]
        score = changed_share(params.starts, asked, now)
        notes = f"not as asked: {'; '.join(wrong)}" if wrong else "all settings are as asked"
        return Verdict(score, done=params.saving or not wrong, notes=notes)

    def oracle(self, device: BrowserDevice, params: SettingsTreeParams) -> Steps:
        for i, value in sorted(params.asked):
            yield from self._go_to(device, params, i)
            _, _, setting = params.places[i]
            control, said = f"#setting-{i}", _said(setting, value)
            yield from self._reveal(device, control, f'"{setting.label}"')
            thought = f'"{setting.label}" should be {said}.'
            thoughts = (setting.label, said) if self.compact else (thought, thought)
            if setting.options:  # few, so that opening and choosing is all
                moves = zip(thoughts, pick(device, control[1:], said), strict=False)
                yield from (Demo(move, thought) for thought, move in moves)
            elif device.state()["values"][i] != value:
                yield Demo(click(device, control), thoughts[0])
        if params.saving:
            yield Demo(click(device, "#save"), self.thought("Save", "All is set: save it."))

    def misread(
        self, params: SettingsTreeParams, mistake: str, rng: Generator
    ) -> SettingsTreeParams:
        """``neighbour``: the setting beside one of the named ones is changed instead.
        ``elsewhere``: one on another page, of the same name if there is one."""
        at = int(rng.integers(len(params.asked)))
        i, value = params.asked[at]
        section, page, setting = params.places[i]
        others = range(len(params.places))
        if mistake == "neighbour":
            same = [j for j in others if params.places[j][:2] == (section, page) and j != i]
            other = min(same, key=lambda j: (abs(j - i), -j))
        else:
            away = [j for j in others if params.places[j][:2] != (section, page)]
            alike = [j for j in away if params.places[j][2] == setting] or away
            other = draws.pick(rng, alike)
        found = params.places[other][2]
        if found.options != setting.options or value == params.starts[other]:
            value = _other(found, params.starts[other], rng)
        asked = (*params.asked[:at], (other, value), *params.asked[at + 1 :])
        return replace(params, asked=asked)

    def blind_rate(self, params: SettingsTreeParams) -> float:
        """Any settings, changed to anything."""
        rate = 1 / math.comb(len(params.places), len(params.asked))
        for i, _ in params.asked:
            rate /= len(params.places[i][2].values) - 1
        return rate

    def _go_to(self, device: BrowserDevice, params: SettingsTreeParams, i: int) -> Iterator[Demo]:
        section, page, setting = params.places[i]
        here, title = device.state()["here"], params.sections[section].title
        if here == [section, page]:
            return
        if here[0] != section or page < 0:
            thought = f'"{setting.label}" is under {params.path(i)}: open {title}.'
            yield Demo(click(device, f"#section-{section}"), self.thought(title, thought))
        elif here[1] >= 0:
            yield Demo(click(device, "#back"), self.thought("Back", f"Back to {title}."))
        if page >= 0:
            title, entry = params.sections[section].pages[page].title, f"#page-{page}"
            yield from self._reveal(device, entry, title)
            yield Demo(click(device, entry), self.thought(title, f"Open {title}."))

    def _reveal(self, device: BrowserDevice, selector: str, name: str) -> Iterator[Demo]:
        if not self.compact:  # where all is in sight
            scrolls = reveal(device, selector, ".pane", margin=70)
            yield from because(f"{name} is not in sight yet.", scrolls)


def _said(setting: Setting, value: int) -> str:
    return setting.options[value] if setting.options else ("off", "on")[value]


def _other(setting: Setting, value: int, rng: Generator) -> int:
    others = [other for other in setting.values if other != value]
    return draws.pick(rng, others)
