"""Email triage: star, delete, archive and mark the mails that the goal names."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import mailtexts
from ui_gym.browser.content.mailbox import (
    PAGE,
    Look,
    Person,
    Status,
    Thread,
    agrees,
    draw_inbox,
    draw_look,
    draw_people,
    draw_short_inbox,
    draw_short_people,
    firm_of,
    page_params,
    replay,
    starting,
)
from ui_gym.browser.content.phrases import listing
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, by_level, flag, whole
from ui_gym.browser.moves import because, click, count_scrolls, reveal
from ui_gym.contract.action import Action
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

EFFECTS: dict[str, tuple[str, Any]] = {
    "star": ("starred", True),
    "unstar": ("starred", False),
    "delete": ("folder", "trash"),
    "archive": ("folder", "archive"),
    "read": ("unread", False),
    "unread": ("unread", True),
}
"""What can be asked for: the field of a conversation's status, and its value."""

SAYINGS = {
    "star": "star {}", "unstar": "remove the star from {}", "delete": "delete {}",
    "archive": "archive {}", "read": "mark {} as read", "unread": "mark {} as unread",
}  # fmt: skip
WHICH = {
    "one": 'the mail "{subject}" from {sender}',
    "all": "all mails from {sender}",
    "unread": "all unread mails from {sender}",
    "newest": "the newest mail from {sender}",
    "oldest": "the oldest mail from {sender}",
}
SLIPS = {
    "star": "unread", "unstar": "delete", "delete": "archive", "archive": "delete",
    "read": "star", "unread": "star",
}  # fmt: skip
"""What is easily done instead."""
BUTTONS = {
    "delete": "delete", "archive": "archive", "read": "mark-read", "unread": "mark-unread",
}  # fmt: skip

GOALS = (
    "In the inbox, {orders}.",
    "Tidy up the inbox: {orders}. Leave all other mails as they are.",
    "Please {orders}, and change nothing else.",
)

COMPACT_MOST = 6
"""Mails that the compact page has room for, below its buttons."""
COMPACT_SAYINGS = {
    "star": "star {}", "unstar": "unstar {}", "delete": "delete {}", "archive": "archive {}",
    "read": "mark {} read", "unread": "mark {} unread",
}  # fmt: skip
COMPACT_BUTTONS = {**BUTTONS, "star": "star", "unstar": "star"}
COMPACT_GOALS = ("Please {orders}.", "Now {orders}.")

GROUP = 4
"""The most mails of a sender whom a rule names."""
ROW_HEIGHT = 66
ROOM = 690
"""The height of the list, in pixels."""


@dataclass(frozen=True)
class Order:
    """One thing to be done: what, and with which mails."""

    verb: str
    which: str
    sender: str
    subject: str = ""
    """Of the one mail that is meant, if one is."""


@dataclass(frozen=True)
class EmailTriageParams:
    """All that varies between episodes."""

    me: Person
    threads: tuple[Thread, ...]
    """The inbox, newest first."""
    orders: tuple[Order, ...]
    look: Look
    phrasing: int


@register("EmailTriage", suite="browser", category="office", difficulty="medium", max_steps=20)
class EmailTriage(Family[EmailTriageParams]):
    """Star, delete, archive or mark mails of an inbox, and leave the others as they are.

    ## Description
    A mail client with a full inbox. The goal names one or more things to be done: star a mail or
    take its star away, delete it, archive it, mark it as read or unread. Mails are named by sender
    and subject or, with `rules`, as all (unread) mails or the newest or oldest mail of a sender.
    With `alike`, other senders have the same first or last name, and subjects resemble each other.
    Mails can be ticked and dealt with together, or opened one by one; there is a search box, and
    mails can be taken back from the archive and the trash. The compact page has the inbox alone:
    first names and subjects of one word, each of which comes more than once.

    ## Action space
    Clicks and scrolling solve it.

    ## Rewards
    1 when the mailbox is exactly as asked; else the share of the mails to be changed that are as
    asked, less one part for every mail that was changed unasked. That a mail counts as read because
    it was opened is no change, unless the goal is about that.

    ## Starting state
    The inbox, nothing ticked or opened, the list scrolled to its top.

    ## Episode end
    Termination: the mailbox is as asked. `max_steps` is about twice what is needed; it follows from
    the arguments.

    ## Arguments
    | `mails` | 9, 18, 40 (compact: 6) | mails in the inbox, up to 60, compact to 6 |
    | `orders` | 1, 3, 3 (compact: 2) | how many things are to be done, 1 to 4, compact to 3 |
    | `rules` | False, False, True (compact: False) | whether mails are named by rules, too |
    | `alike` | False, True, True (compact: False) | whether senders and subjects look alike |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = PAGE
    mails: int = by_level(easy=9, medium=18, hard=40)
    orders: int = whole(1, 4, easy=1, medium=3, hard=3)
    rules: bool = flag(easy=False, medium=False, hard=True)
    alike: bool = flag(easy=False, medium=True, hard=True)
    compact_values = {"mails": 6, "orders": 2, "rules": False, "alike": False}
    mistakes = ("neighbour", "verb")

    def prepare(self) -> None:
        if self.compact:
            self._prepare_compact()
            return
        group = GROUP if self.rules else 1 + self.alike
        least = 2 + self.orders * (group + self.alike)
        self.check_range("mails", self.mails, least, 60)
        scrolls = count_scrolls(self.mails * ROW_HEIGHT, ROOM)
        self.max_steps = 2 * (self.orders * (GROUP + 1 if self.rules else 2) + scrolls) + 2

    def _prepare_compact(self) -> None:
        if self.rules or self.alike:
            raise UserError(
                "EmailTriage: the compact page names mails by short names alone: rules and alike "
                "are False"
            )
        self.check_range("orders", self.orders, 1, 3)
        self.check_range("mails", self.mails, 2 + self.orders, COMPACT_MOST)
        self.max_steps = 4 * self.orders

    def sample(self, rng: Generator) -> EmailTriageParams:
        if self.compact:
            return self._sample_compact(rng)
        me, *people = draw_people(rng, 18, twins=self.orders if self.alike else 0)
        threads, orders = self._mailbox(rng, me, people)
        return EmailTriageParams(
            me=me,
            orders=tuple(_fit(order, threads, rng) for order in orders),
            threads=tuple(threads),
            look=draw_look(rng),
            phrasing=int(rng.integers(len(GOALS))),
        )

    def _sample_compact(self, rng: Generator) -> EmailTriageParams:
        me, *people = draw_short_people(rng, 5)
        threads = draw_short_inbox(rng, me, people, self.mails)
        verbs = [str(verb) for verb in rng.permutation(tuple(EFFECTS))[: self.orders]]
        orders = []
        for verb, place in zip(verbs, rng.permutation(self.mails), strict=False):
            thread = threads[place] = _askable(threads[place], verb)
            orders.append(Order(verb, "one", thread.last.sender[0], thread.subject))
        return EmailTriageParams(
            me=me,
            orders=tuple(orders),
            threads=tuple(threads),
            look=Look("wide", 0, 0),
            phrasing=int(rng.integers(len(COMPACT_GOALS))),
        )

    def goal(self, params: EmailTriageParams) -> str:
        if self.compact:
            short = [
                COMPACT_SAYINGS[order.verb].format(f"{order.subject} from {order.sender}")
                for order in params.orders
            ]
            return COMPACT_GOALS[params.phrasing].format(orders=", ".join(short))
        said = [
            SAYINGS[order.verb].format(
                WHICH[order.which].format(sender=order.sender, subject=order.subject)
            )
            for order in params.orders
        ]
        return GOALS[params.phrasing].format(orders=listing(said))

    def page_params(self, params: EmailTriageParams) -> dict[str, Any]:
        return page_params(params.look, params.me, params.threads)

    def judge(
        self, device: BrowserDevice, params: EmailTriageParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        before, wanted = starting(params.threads), outcome(params)
        now = replay(params.threads, device.events)
        about_reading = {
            one.id
            for order in params.orders
            if EFFECTS[order.verb][0] == "unread"
            for one in meant(order, params.threads)
        }
        needed = right = wrong = 0
        for one, status in now.items():
            due = wanted[one] != before[one]
            reached = agrees(status, wanted[one], read_matters=one in about_reading)
            untouched = agrees(status, before[one])
            needed += due
            right += due and reached
            wrong += not reached and not (due and untouched)
        if right == needed and not wrong:
            return Verdict(1.0, done=True, notes="the mailbox is as asked")
        notes = f"{right} of {needed} mails are as asked, {wrong} were changed unasked"
        return Verdict(max(0, right - wrong) / needed, notes=notes)

    def oracle(self, device: BrowserDevice, params: EmailTriageParams) -> Steps:
        places = {thread.id: place for place, thread in enumerate(params.threads)}
        before = starting(params.threads)
        todo = []
        for order in params.orders:
            what, value = EFFECTS[order.verb]
            named = meant(order, params.threads)
            todo.append((order.verb, [t for t in named if getattr(before[t.id], what) != value]))
        # From top to bottom: the list need not be scrolled up and down.
        todo.sort(key=lambda item: min((places[t.id] for t in item[1]), default=0))
        if self.compact:
            yield from _compact_steps(device, todo)
            return
        for verb, due in todo:
            for thread in due:
                said = f'"{thread.subject}" from {thread.last.sender[0]}'
                yield from because(
                    f"Look for {said}.", reveal(device, f"#row-{thread.id}", "#list")
                )
                if verb in ("star", "unstar"):
                    yield Demo(click(device, f"#star-{thread.id}"), f"{verb.capitalize()} {said}.")
                else:
                    yield Demo(click(device, f"#tick-{thread.id}"), f"Select {said}.")
            if due and verb in BUTTONS:
                thought = SAYINGS[verb].format("what is selected").capitalize()
                yield Demo(click(device, f"#bulk-{BUTTONS[verb]}"), f"{thought}.")

    def misread(self, params: EmailTriageParams, mistake: str, rng: Generator) -> EmailTriageParams:
        """``neighbour``: a mail next to the named one is taken for it. ``verb``: something else is
        done with it, as archiving instead of deleting."""
        orders = [*params.orders]
        place = int(rng.integers(len(orders)))
        if mistake == "verb":
            orders[place] = replace(orders[place], verb=SLIPS[orders[place].verb])
        else:
            named = {t.id for order in orders for t in meant(order, params.threads)}
            first = params.threads.index(meant(orders[place], params.threads)[0])
            others = [t for t in params.threads if t.id not in named]
            nearest = min(others, key=lambda t: abs(params.threads.index(t) - first))
            orders[place] = Order(
                orders[place].verb, "one", nearest.last.sender[0], nearest.subject
            )
        return replace(params, orders=tuple(orders))

    def blind_rate(self, params: EmailTriageParams) -> float:
        """Anything done with any mails, as many as are meant."""
        rate = 1.0
        for order in params.orders:
            many = math.comb(len(params.threads), len(meant(order, params.threads)))
            rate /= len(EFFECTS) * many
        return rate

    # -- drawing --

    def _mailbox(
        self, rng: Generator, me: Person, people: Sequence[Person]
    ) -> tuple[list[Thread], list[Order]]:
        """An inbox, and what is to be done: the first of the `people` and some firms are named in
        orders, the last are their namesakes."""
        verbs = [str(verb) for verb in rng.permutation(tuple(EFFECTS))]
        firms = list(rng.permutation(len(mailtexts.SERVICES)))
        orders, senders = [], []
        for verb, person in zip(verbs[: self.orders], people, strict=False):
            rules = [rule for rule in WHICH if rule != "unread" or verb != "unread"]
            which = pick(rng, rules) if self.rules else "one"
            firm = which == "all" and rng.random() < 0.5
            sender = firm_of(int(firms.pop())) if firm else person
            orders.append(Order(verb, which, sender[0]))
            senders += [sender] * (1 + self.alike if which == "one" else int(rng.integers(2, 5)))
        if self.alike:
            senders += people[-self.orders :]
        others = [*people[self.orders : len(people) - self.alike * self.orders]]
        others += [firm_of(int(firm)) for firm in firms]
        while len(senders) < self.mails:
            senders.append(pick(rng, others))
        shuffled = [(senders[i],) for i in rng.permutation(len(senders))]
        threads = draw_inbox(rng, me, shuffled, topics=8 if self.alike else len(mailtexts.PERSONAL))
        return threads, orders


def meant(order: Order, threads: Sequence[Thread]) -> list[Thread]:
    """The mails that an order is about, newest first."""
    of_sender = [t for t in threads if t.last.sender[0] == order.sender]
    if order.which == "one":
        return [t for t in of_sender if t.subject == order.subject]
    if order.which == "unread":
        return [t for t in of_sender if t.unread]
    if order.which == "newest":
        return of_sender[:1]
    return of_sender[-1:] if order.which == "oldest" else of_sender


def outcome(params: EmailTriageParams) -> dict[str, Status]:
    """How the mailbox has to be in the end."""
    box = starting(params.threads)
    for order in params.orders:
        what, value = EFFECTS[order.verb]
        for thread in meant(order, params.threads):
            box[thread.id] = replace(box[thread.id], **{what: value})
    return box


def _fit(order: Order, threads: list[Thread], rng: Generator) -> Order:
    """Make the order one that asks for something: of a mail that is starred no star is asked for.

    Changes `threads` in place; the order gets the subject of a mail where it is about one."""
    group = [i for i, t in enumerate(threads) if t.last.sender[0] == order.sender]
    if order.which == "unread":
        threads[group[0]] = replace(threads[group[0]], unread=True)
        threads[group[-1]] = replace(threads[group[-1]], unread=False)
    chosen = group[-1 if order.which == "oldest" else 0]
    if order.which == "one":
        chosen = pick(rng, group)
        order = replace(order, subject=threads[chosen].subject)
    threads[chosen] = _askable(threads[chosen], order.verb)
    return order


def _askable(thread: Thread, verb: str) -> Thread:
    """The mail as it has to be at the start, for `verb` to change it."""
    what, value = EFFECTS[verb]
    if what == "starred":
        return replace(thread, starred=not value)
    return replace(thread, unread=not value) if what == "unread" else thread


def _compact_steps(
    device: BrowserDevice, todo: Sequence[tuple[str, Sequence[Thread]]]
) -> Iterator[Demo]:
    """Tick mails and press what is to be done with them."""
    for verb, due in todo:
        for thread in due:
            name = f"{thread.last.sender[0]} {thread.subject}"
            yield Demo(click(device, f"#tick-{thread.id}"), name)
        if due:
            yield Demo(click(device, f"#bulk-{COMPACT_BUTTONS[verb]}"), verb.capitalize())
