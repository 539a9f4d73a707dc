"""ShadowWidgets: change a review made of custom elements with shadow roots."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import phrases
from ui_gym.browser.content.choices import changed_share, otherwise
from ui_gym.browser.content.widgets import WIDGETS, ShadowWidget, gone, tags_of
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, by_level, whole
from ui_gym.browser.moves import click
from ui_gym.contract.action import Click, Type
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict

MOST_WIDGETS = 7
COMPACT_WIDGETS = 4
THEMES = 6
COMPACT_SCENE = "compact"

GOALS = (
    "In the {thing}, {changes}. Leave everything else and press {send}.",
    "Please {changes} in the {thing}, change nothing else, then press {send}.",
    "The {thing} needs a change: {changes}. Keep the rest and press {send}.",
)
COMPACT_GOALS = ("Set {to}. Press Send.", "Change {to}. Press Send.", "Put {to}. Press Send.")


@dataclass(frozen=True)
class ShadowWidgetsParams:
    """All that varies between episodes. Widgets are counted from 0, as they are shown."""

    scene: str
    shown: tuple[int, ...]
    """Which of the scene's widgets are shown, in this order."""
    closed: tuple[bool, ...]
    """Whether the shadow root of each is closed to scripts."""
    starts: tuple[str, ...]
    asked: tuple[str, ...]
    """What is asked for, of every widget."""
    place: int
    """How far the page's content is moved, in steps; compact: how many rows down."""
    theme: int
    phrasing: int

    @property
    def widgets(self) -> list[ShadowWidget]:
        return [WIDGETS[self.scene].widgets[i] for i in self.shown]


@register("ShadowWidgets", suite="browser", category="input", difficulty="medium", max_steps=10)
class ShadowWidgets(Family[ShadowWidgetsParams]):
    """Change stars, switches and tags of a review: custom elements with shadow roots.

    ## Description
    A review that is there already, made of custom elements: ratings in stars, switches of three
    parts, a field of tags. What they are made of lies in shadow roots, open or closed, where no
    selector of the page finds it; a picture, and the element list, show it as anything else. The
    goal says what is to be changed.

    ## Action space
    Clicks and typing are all that is needed; a tag is added by Enter.

    ## Rewards
    1 if the review is sent with what was asked changed, and the rest as it was. Else the share of
    the changes that are right, less one such share for each other thing that was changed.

    ## Starting state
    Values other than the asked ones, nothing focused.

    ## Episode end
    Termination: the review was sent. `max_steps` is twice what the longest way needs.

    ## Arguments
    | `widgets` | easy 3, medium 5, hard 7 (compact: 3) | how many there are, 3 to 7, compact to 4 |
    | `changes` | easy 1, medium 3, hard 5 (compact: 2) | how many of them are to be changed |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "shadow_widgets.html"
    ends, waiting = "sent", "not sent yet"
    mistakes = ("value", "forgotten")
    widgets: int = whole(3, MOST_WIDGETS, easy=3, medium=5, hard=7)
    changes: int = by_level(easy=1, medium=3, hard=5)
    compact_values = {"widgets": 3, "changes": 2}

    def prepare(self) -> None:
        if self.compact:
            self.check_range("widgets", self.widgets, 3, COMPACT_WIDGETS)
        self.check_range("changes", self.changes, 1, self.widgets)
        self.scenes = (
            [COMPACT_SCENE] if self.compact else [k for k in WIDGETS if k != COMPACT_SCENE]
        )
        # Tags take two actions, all else takes one.
        self.max_steps = 2 * (self.changes + 2)

    def sample(self, rng: Generator) -> ShadowWidgetsParams:
        scene = pick(rng, self.scenes)
        known = WIDGETS[scene].widgets
        shown = [int(i) for i in rng.choice(len(known), size=self.widgets, replace=False)]
        if not self.compact:
            shown.sort()
        starts = [known[i].start(rng) for i in shown]
        asked = list(starts)
        for i in rng.choice(self.widgets, size=self.changes, replace=False):
            others = known[shown[i]].others(starts[i])
            asked[i] = pick(rng, others)
        return ShadowWidgetsParams(
            scene=scene,
            shown=tuple(shown),
            closed=tuple(bool(rng.random() < 0.5) for _ in shown),
            starts=tuple(starts),
            asked=tuple(asked),
            place=int(rng.integers(7 - self.widgets if self.compact else 5)),
            theme=0 if self.compact else int(rng.integers(THEMES)),
            phrasing=int(rng.integers(3)),
        )

    def goal(self, params: ShadowWidgetsParams) -> str:
        rows = zip(params.widgets, params.starts, params.asked, strict=True)
        changed = [row for row in rows if row[1] != row[2]]
        if self.compact:
            to = ", ".join(f"{widget.label} to {want}" for widget, _, want in changed)
            return COMPACT_GOALS[params.phrasing].format(to=to)
        scene = WIDGETS[params.scene]
        said = [widget.said(want, start) for widget, start, want in changed]
        return GOALS[params.phrasing].format(
            thing=scene.thing, changes=phrases.listing(said), send=scene.send
        )

    def page_params(self, params: ShadowWidgetsParams) -> dict[str, Any]:
        scene = WIDGETS[params.scene]
        texts = {key: getattr(scene, key) for key in ("app", "icon", "title", "lead", "send")}
        rows = zip(params.widgets, params.starts, params.closed, strict=True)
        widgets = [{**w._asdict(), "start": start, "closed": closed} for w, start, closed in rows]
        return {**texts, "widgets": widgets, "place": params.place, "theme": params.theme}

    def verdict(self, data: Mapping[str, Any], params: ShadowWidgetsParams) -> Verdict:
        now = [str(value) for value in data["values"]]
        wrong = otherwise((widget.label for widget in params.widgets), params.asked, now)
        score = changed_share(params.starts, params.asked, now)
        return Verdict(score, done=True, notes="; ".join(wrong) or "all is as asked")

    def oracle(self, device: BrowserDevice, params: ShadowWidgetsParams) -> Steps:
        rows = zip(params.widgets, params.starts, params.asked, strict=True)
        for i, (widget, start, want) in enumerate(rows):
            if start == want:
                continue
            said = widget.said(want, start)
            thought = f"{widget.label} {want}" if self.compact else f"{said[0].upper()}{said[1:]}."
            if widget.kind != "tags":
                yield Demo(self._part(device, i, want), thought)
            elif more := tags_of(want) - tags_of(start):
                yield Demo(self._part(device, i, "field"), "Tags are typed here.")
                yield Demo(Type(more.pop(), enter=True), thought)
            else:
                yield Demo(self._part(device, i, gone(start, want)), thought)
        yield Demo(click(device, "#send"), "Send" if self.compact else "All is as asked.")

    def misread(
        self, params: ShadowWidgetsParams, mistake: str, rng: Generator
    ) -> ShadowWidgetsParams:
        """``value``: a value is taken for one near it. ``forgotten``: one is left as it was."""
        asked = list(params.asked)
        changed = [i for i, want in enumerate(asked) if want != params.starts[i]]
        if not changed:
            return params
        i = pick(rng, changed)
        near = params.widgets[i].near(asked[i], params.starts[i])
        left = mistake == "forgotten" or not near
        asked[i] = params.starts[i] if left else pick(rng, near)
        return replace(params, asked=tuple(asked))

    def blind_rate(self, params: ShadowWidgetsParams) -> float:
        """Any of the changes, of any widgets."""
        rows = zip(params.widgets, params.starts, params.asked, strict=True)
        ways = [len(widget.others(start)) for widget, start, want in rows if start != want]
        return 1 / (math.comb(len(params.shown), len(ways)) * math.prod(ways))

    def _part(self, device: BrowserDevice, i: int, part: str) -> Click:
        """Click a part of a widget: no selector reaches into a closed root, the page tells."""
        left, top, width, height = device.state()["parts"][i][part]
        return Click(round(left + width / 2), round(top + height / 2))
