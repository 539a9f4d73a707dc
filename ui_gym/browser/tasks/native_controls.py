"""NativeControls: change a form that is made of the browser's own controls."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import phrases, words
from ui_gym.browser.content.choices import changed_share, chosen, otherwise
from ui_gym.browser.content.natives import NATIVES, NativeField
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, by_level, flag, whole
from ui_gym.browser.moves import click
from ui_gym.contract.action import Click, Type
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

MOST_FIELDS = 8
FOLDED = 3
"""Fields that are folded away, where some are."""
THEMES = 6
OPTIONS = 6
COMPACT_FIELDS = 4
COMPACT_OPTIONS = 3
COMPACT_FORM = "compact"
THUMB = 16
"""How wide the handle of a slider is, in pixels."""
INSET = 22
"""From a field's left edge to the middle of its first part, in pixels."""
COMPACT_INSET = 14

GOALS = (
    "Change the {thing}: set {to}. Leave everything else as it is and press {send}{sure}.",
    "Please set {to} in the {thing}, keep the rest, and press {send}{sure}.",
    "Something about the {thing} is different now: {bare}. Correct it and press {send}{sure}.",
)
SURE = ", then confirm"
COMPACT_GOALS = ("Set {to}. Press Send.", "Change {to}. Press Send.", "Put {to}. Press Send.")


@dataclass(frozen=True)
class NativeControlsParams:
    """All that varies between episodes. Fields are counted from 0, as they are shown."""

    form: str
    shown: tuple[int, ...]
    """Which of the form's fields are shown, in this order."""
    options: tuple[tuple[str, ...], ...]
    """What each shown field lets choose from; nothing, where it is no list."""
    starts: tuple[str, ...]
    asked: tuple[str, ...]
    """What is asked for, of every field."""
    named: tuple[int, ...]
    """The fields that the goal names."""
    turned: bool
    """Whether the button that goes on stands first in the dialog."""
    place: int
    """Which of two layouts the page has; compact: how many rows further down it begins."""
    theme: int
    phrasing: int

    @property
    def fields(self) -> list[NativeField]:
        known = NATIVES[self.form].fields
        return [
            known[i]._replace(options=options)
            for i, options in zip(self.shown, self.options, strict=True)
        ]


@register("NativeControls", suite="browser", category="input", difficulty="medium", max_steps=16)
class NativeControls(Family[NativeControlsParams]):
    """Change a form made of the browser's own controls: lists, dates, times, numbers, sliders.

    ## Description
    A booking with values, made of native controls: ``select``, ``input`` of the types date, time,
    number and range, a ``details`` that folds some of them away, and a ``dialog`` that asks
    whether to send it. The goal names what is to be changed, in words that a date field does not
    take as they are ("2 March 2026" is 03/02/2026).

    All is drawn in the page. Lists open in it (``appearance: base-select``). The browser's own
    pickers of dates and times would be windows that no picture shows, and are kept shut: dates are
    typed, or counted by the arrow keys. Nor is there a colour field, which only its picker can
    set. ``confirm()`` and ``alert()`` open windows of the browser as well (the device takes them
    for a fault of the page), so the question is a ``dialog``.

    ## Action space
    Clicks, typing and keys. In a date or time field, a click chooses a part, typing fills it and
    goes on to the next; the arrow keys count.

    ## Rewards
    1 if the form is sent with the named fields as asked and the others as they were. Else the
    share of the named fields that are right, less one such share for each other one that was
    changed.

    ## Starting state
    Values other than the asked ones, nothing focused.

    ## Episode end
    Termination: the form was sent. `max_steps` is twice what the longest way needs.

    ## Arguments
    | `fields` | easy 4, medium 6, hard 8 (compact: 3) | fields of the form, 2 to 8, compact to 4 |
    | `changes` | easy 2, medium 3, hard 5 (compact: 2) | how many of them are to be changed |
    | `folded` | hard True | whether the last three fields are folded away; not compact |
    | `confirm` | medium, hard True (compact: False) | whether a dialog asks before it is sent |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "native_controls.html"
    ends, waiting = "sent", "not sent yet"
    mistakes = ("value", "forgotten")
    fields: int = whole(2, MOST_FIELDS, easy=4, medium=6, hard=8)
    changes: int = by_level(easy=2, medium=3, hard=5)
    folded: bool = flag(easy=False, medium=False, hard=True)
    confirm: bool = flag(easy=False, medium=True, hard=True)
    compact_values = {"fields": 3, "changes": 2, "folded": False, "confirm": False}

    def prepare(self) -> None:
        if self.compact:
            self.check_range("fields", self.fields, 2, COMPACT_FIELDS)
            if self.folded:
                raise UserError("NativeControls: the compact page folds no fields away")
        if self.folded and self.fields <= FOLDED:
            raise UserError(f"NativeControls: folded needs 4 to 8 fields, not {self.fields}")
        self.check_range("changes", self.changes, 1, self.fields)
        self.forms = [COMPACT_FORM] if self.compact else [k for k in NATIVES if k != COMPACT_FORM]
        self.max_steps = 2 * (2 * self.changes + 1 + self.folded + self.confirm)

    def sample(self, rng: Generator) -> NativeControlsParams:
        form = pick(rng, self.forms)
        shown = rng.choice(len(NATIVES[form].fields), size=self.fields, replace=False)
        if not self.compact:
            shown.sort()
        known = [NATIVES[form].fields[int(i)] for i in shown]
        options = [self._options(field, rng) for field in known]
        fields = [f._replace(options=own) for f, own in zip(known, options, strict=True)]
        starts = [self._drawn(field, rng) for field in fields]
        named = sorted(int(i) for i in rng.choice(self.fields, size=self.changes, replace=False))
        asked = list(starts)
        for i in named:
            while asked[i] == starts[i]:
                asked[i] = self._drawn(fields[i], rng)
        # Rows below the header: the fields, the button, and the dialog's two.
        rows = 7 - self.fields - 1
        return NativeControlsParams(
            form=form,
            shown=tuple(int(i) for i in shown),
            options=tuple(options),
            starts=tuple(starts),
            asked=tuple(asked),
            named=tuple(named),
            turned=bool(rng.random() < 0.5),
            place=int(rng.integers(rows if self.compact else 2)),
            theme=0 if self.compact else int(rng.integers(THEMES)),
            phrasing=int(rng.integers(3)),
        )

    def goal(self, params: NativeControlsParams) -> str:
        fields = params.fields
        facts = [(fields[i].label, self._said(fields[i], params.asked[i])) for i in params.named]
        if self.compact:
            to = ", ".join(f"{label} to {value}" for label, value in facts)
            return COMPACT_GOALS[params.phrasing].format(to=to)
        form = NATIVES[params.form]
        return GOALS[params.phrasing].format(
            thing=form.thing,
            to=phrases.listing([f"{label} to {value}" for label, value in facts]),
            bare=phrases.listing([f"{label} {value}" for label, value in facts]),
            send=form.send,
            sure=SURE if self.confirm else "",
        )

    def page_params(self, params: NativeControlsParams) -> dict[str, Any]:
        form = NATIVES[params.form]._asdict()
        fields = [
            {**field._asdict(), "start": start}
            for field, start in zip(params.fields, params.starts, strict=True)
        ]
        look = {"turned": params.turned, "place": params.place, "theme": params.theme}
        folded = FOLDED if self.folded else 0
        return {**form, **look, "fields": fields, "folded": folded, "confirm": self.confirm}

    def verdict(self, data: Mapping[str, Any], params: NativeControlsParams) -> Verdict:
        now = [str(value) for value in data["values"]]
        wrong = otherwise((field.label for field in params.fields), params.asked, now)
        score = changed_share(params.starts, params.asked, now)
        return Verdict(score, done=True, notes="; ".join(wrong) or "all values are right")

    def oracle(self, device: BrowserDevice, params: NativeControlsParams) -> Steps:
        form = NATIVES[params.form]
        unfolded = False
        for i, (field, want) in enumerate(zip(params.fields, params.asked, strict=True)):
            if want == params.starts[i]:
                continue
            if self.folded and not unfolded and i >= self.fields - FOLDED:
                yield Demo(click(device, "#more"), f"{field.label} is folded away.")
                unfolded = True
            yield from self._set(device, i, field, want)
        yield Demo(click(device, "#send"), "Send" if self.compact else "Now it is as asked.")
        if self.confirm:
            yield Demo(click(device, "#yes"), "Yes" if self.compact else f"Yes: {form.sure}")

    def misread(
        self, params: NativeControlsParams, mistake: str, rng: Generator
    ) -> NativeControlsParams:
        """``value``: a value is taken for another one (see `NativeField.mistaken`).
        ``forgotten``: one of the fields is left as it was."""
        asked = list(params.asked)
        changed = [i for i, want in enumerate(asked) if want != params.starts[i]]
        i = pick(rng, changed or list(params.named))
        if mistake == "value":
            asked[i] = params.fields[i].mistaken(asked[i], rng)
        else:
            asked[i] = params.starts[i]
        return replace(params, asked=tuple(asked))

    def blind_rate(self, params: NativeControlsParams) -> float:
        """Any values, in any fields."""
        fields = params.fields
        ways = math.prod(len(fields[i].values(hourly=self.compact)) for i in params.named)
        return 1 / (math.comb(len(fields), len(params.named)) * float(ways))

    def _options(self, field: NativeField, rng: Generator) -> tuple[str, ...]:
        if field.kind != "select":
            return ()
        if self.compact:
            return tuple(chosen(words.THINGS_SHORT, COMPACT_OPTIONS, rng))
        return tuple(sorted(chosen(field.options, OPTIONS, rng), key=field.options.index))

    def _drawn(self, field: NativeField, rng: Generator) -> str:
        values = field.values(hourly=self.compact)
        return pick(rng, values)

    def _said(self, field: NativeField, value: str) -> str:
        if self.compact and field.kind in ("date", "time"):  # as the page shows it
            hour, _, half = field.said(value).partition(" ")
            return f"{value[5:7]}/{value[8:]}" if field.kind == "date" else f"{hour} {half.upper()}"
        return field.said(value)

    def _set(self, device: BrowserDevice, i: int, field: NativeField, value: str) -> Steps:
        selector, said = f"#field-{i}", self._said(field, value)
        first = field.label if self.compact else f"{field.label} is not right yet."
        last = f"{field.label} {said}" if self.compact else f"It should be {said}."
        left, top, width, height = device.box(selector)
        middle = top + height // 2
        if field.kind == "range":
            share = (int(value) - field.low) / (field.most - field.low)
            yield Demo(Click(round(left + THUMB / 2 + share * (width - THUMB)), middle), last)
        elif field.kind == "select":
            yield Demo(click(device, selector), first)
            option = f"{selector} option:nth-of-type({field.options.index(value) + 1})"
            yield Demo(click(device, option), last)
        elif field.kind == "number":
            yield Demo(click(device, selector), first)
            yield Demo(Type(value, clear=True), last)
        else:
            yield Demo(Click(left + (COMPACT_INSET if self.compact else INSET), middle), first)
            yield Demo(Type(field.typed(value, year=not self.compact)), last)
