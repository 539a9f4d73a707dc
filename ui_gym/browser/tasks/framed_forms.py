"""FramedForms: change one of several forms that lie in frames, and in frames of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import phrases
from ui_gym.browser.content.choices import changed_share, otherwise, typo
from ui_gym.browser.content.framed import PORTALS, drawn
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import PATCH, Family, Steps, by_level, flag, whole
from ui_gym.browser.moves import SCROLL
from ui_gym.contract.action import Click, Scroll, Type
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

MOST_FRAMES, MOST_FIELDS = 3, 5
COMPACT_FRAMES = COMPACT_FIELDS = 2
INNER = 2
"""Fields that lie in the frame inside; compact: one."""
THEMES = 6
COMPACT_FORM = "compact"

GOALS = (
    'In the form "{frame}", set {to}. Change nothing else there and press its {save}.',
    'Set {to} in the form "{frame}", leave the rest of it, and press {save} in that form.',
    'The form "{frame}" is out of date: it should say {bare}. Correct that and press its {save}.',
)
COMPACT_GOALS = (
    "{frame}: set {to}. Press Save.",
    "{frame}: change {to}. Press Save.",
    "{frame}: put {to}. Press Save.",
)


@dataclass(frozen=True)
class FramedFormsParams:
    """All that varies between episodes. Frames and fields are counted from 0, as they are shown."""

    form: str
    titles: tuple[str, ...]
    """Of the frames, as they are shown."""
    frame: int
    """The frame that is asked for."""
    shown: tuple[int, ...]
    """Which of the form's fields each frame has, in this order."""
    starts: tuple[tuple[str, ...], ...]
    """What the fields of each frame hold."""
    asked: tuple[str, ...]
    """What those of the frame should hold."""
    named: tuple[int, ...]
    """The fields that the goal names."""
    place: int
    """Whether the links are on the right; compact: how many rows further down the frames begin."""
    theme: int
    phrasing: int

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(PORTALS[self.form].fields[i][0] for i in self.shown)


@register("FramedForms", suite="browser", category="input", difficulty="medium", max_steps=14)
class FramedForms(Family[FramedFormsParams]):
    """Change one of several forms that a portal shows in frames, and in frames of these.

    ## Description
    A portal shows the same form several times, each in a frame of its own (``iframe``, of the same
    origin): an old address and a new one, a delivery and an invoice. The goal names the form and
    what is to be changed in it. The last fields may lie in a frame inside the form's frame. Frames
    that are too small for what is in them scroll on their own.

    ## Action space
    Clicks, typing and scrolling; Tab goes from frame to frame. The element list tells what is in a
    frame after the frame.

    ## Rewards
    1 if the form is saved with the named fields as asked and the others as they were; 0 if another
    form is saved. Else the share of the named fields that are right, less one such share for each
    other one that was changed.

    ## Starting state
    Values other than the asked ones, nothing focused, nothing scrolled.

    ## Episode end
    Termination: a form was saved. `max_steps` is twice what the longest way needs.

    ## Arguments
    | `frames` | easy 2, medium 2, hard 3 (compact: 2) | how many frames there are, 2 to 3 |
    | `fields` | easy 3, medium 4, hard 5 (compact: 2) | fields of each, 2 to 5, compact to 2 |
    | `changes` | easy 1, medium 2, hard 3 (compact: 1) | how many of them are to be changed |
    | `nested` | medium, hard True (compact: True) | whether the last fields lie in a frame inside |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "framed_forms.html"
    ends, waiting = "saved", "not saved yet"
    mistakes = ("frame", "typo", "forgotten")
    frames: int = whole(2, MOST_FRAMES, easy=2, medium=2, hard=3)
    fields: int = whole(2, MOST_FIELDS, easy=3, medium=4, hard=5)
    changes: int = by_level(easy=1, medium=2, hard=3)
    nested: bool = flag(easy=False, medium=True, hard=True)
    compact_values = {"frames": 2, "fields": 2, "changes": 1, "nested": True}

    def prepare(self) -> None:
        if self.compact:
            self.check_range("frames", self.frames, 2, COMPACT_FRAMES)
            self.check_range("fields", self.fields, 2, COMPACT_FIELDS)
        self.inner = (1 if self.compact else INNER) if self.nested else 0
        if self.fields <= self.inner:
            raise UserError(f"FramedForms: nested needs 3 to 5 fields, not {self.fields}")
        self.check_range("changes", self.changes, 1, self.fields)
        self.forms = [COMPACT_FORM] if self.compact else [k for k in PORTALS if k != COMPACT_FORM]
        self.max_steps = 2 * (2 * self.changes + 1 + 2)  # two scrolls are enough everywhere

    def sample(self, rng: Generator) -> FramedFormsParams:
        form = pick(rng, self.forms)
        portal = PORTALS[form]
        titles = [str(t) for t in rng.choice(portal.frames, size=self.frames, replace=False)]
        shown = sorted(
            int(i) for i in rng.choice(len(portal.fields), size=self.fields, replace=False)
        )
        kinds = [portal.fields[i][1] for i in shown]
        starts = [tuple(drawn(kind, rng) for kind in kinds) for _ in titles]
        frame = int(rng.integers(self.frames))
        named = sorted(int(i) for i in rng.choice(self.fields, size=self.changes, replace=False))
        asked = list(starts[frame])
        for i in named:
            while asked[i] in {start[i] for start in starts}:
                asked[i] = drawn(kinds[i], rng)
        return FramedFormsParams(
            form=form,
            titles=tuple(titles),
            frame=frame,
            shown=tuple(shown),
            starts=tuple(starts),
            asked=tuple(asked),
            named=tuple(named),
            place=int(rng.integers(4 if self.compact else 2)),
            theme=0 if self.compact else int(rng.integers(THEMES)),
            phrasing=int(rng.integers(3)),
        )

    def goal(self, params: FramedFormsParams) -> str:
        facts = [(params.labels[i], params.asked[i]) for i in params.named]
        to = [f"{label} to {value}" for label, value in facts]
        goals = COMPACT_GOALS if self.compact else GOALS
        return goals[params.phrasing].format(
            frame=params.titles[params.frame],
            to=", ".join(to) if self.compact else phrases.listing(to),
            bare=phrases.listing([f"{label} {value}" for label, value in facts]),
            save=PORTALS[params.form].save,
        )

    def page_params(self, params: FramedFormsParams) -> dict[str, Any]:
        portal = PORTALS[params.form]
        words = {k: getattr(portal, k) for k in ("app", "icon", "title", "entries", "save")}
        frames = [
            {"title": title, "starts": starts}
            for title, starts in zip(params.titles, params.starts, strict=True)
        ]
        form = {"labels": params.labels, "inner": self.inner, "innerTitle": portal.inner}
        return {**words, **form, "frames": frames, "place": params.place, "theme": params.theme}

    def verdict(self, data: Mapping[str, Any], params: FramedFormsParams) -> Verdict:
        if data["frame"] != params.frame:
            titles = params.titles
            notes = f"saved {titles[data['frame']]!r}, not {titles[params.frame]!r}"
            return Verdict(0.0, done=True, notes=notes)
        now = [" ".join(str(value).split()) for value in data["values"]]
        wrong = otherwise(params.labels, params.asked, now)
        score = changed_share(params.starts[params.frame], params.asked, now)
        return Verdict(score, done=True, notes="; ".join(wrong) or "all values are right")

    def oracle(self, device: BrowserDevice, params: FramedFormsParams) -> Steps:
        title = params.titles[params.frame]
        starts = params.starts[params.frame]
        for i, (label, want) in enumerate(zip(params.labels, params.asked, strict=True)):
            if want == starts[i]:
                continue
            yield from self._click(device, params, f"field-{i}", label)
            typed = f"{label} {want}" if self.compact else f"{label} in {title} is {want}."
            yield Demo(Type(want, clear=True), typed)
        save = PORTALS[params.form].save
        yield from self._click(device, params, "save", save)

    def misread(self, params: FramedFormsParams, mistake: str, rng: Generator) -> FramedFormsParams:
        """``frame``: another frame is taken for the asked one. ``typo``: a value is mistyped.
        ``forgotten``: one of the fields is left as it was."""
        starts, asked = params.starts[params.frame], list(params.asked)
        changed = [i for i, want in enumerate(asked) if want != starts[i]] or list(params.named)
        if mistake == "frame":
            others = [i for i in range(len(params.titles)) if i != params.frame]
            frame = pick(rng, others)
            there = list(params.starts[frame])
            for i in changed:
                there[i] = asked[i]
            return replace(params, frame=frame, asked=tuple(there))
        i = pick(rng, changed)
        asked[i] = typo(asked[i], rng) if mistake == "typo" else starts[i]
        return replace(params, asked=tuple(asked))

    def blind_rate(self, params: FramedFormsParams) -> float:
        """None: no guess writes the values."""
        return 0.0

    def _click(
        self, device: BrowserDevice, params: FramedFormsParams, what: str, label: str
    ) -> Steps:
        """Click a control in the frame, once it is scrolled to sight."""
        title = params.titles[params.frame]
        step = PATCH if self.compact else SCROLL
        while True:
            boxes = device.state()["boxes"][params.frame]
            left, top, width, height = boxes["frame"]
            x, y, wide, high = boxes[what]
            if top <= y and y + high <= top + height:
                break
            dy = step if y + high > top + height else -step
            scroll = Scroll(round(left + width / 2), round(top + height / 2), dy=dy)
            yield Demo(scroll, label if self.compact else f"{label} is further down in {title}.")
        click = Click(round(x + wide / 2), round(y + high / 2))
        yield Demo(click, label if self.compact else f"{label} in the form {title}.")
