"""Mailboxes: what the mail tasks draw, show (``pages/mail.html``), and judge."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from ui_gym.browser.content import mailtexts, words
from ui_gym.browser.content.choices import chosen
from ui_gym.browser.device import PageEvent
from ui_gym.contract.draws import pick

Person = tuple[str, str]
"""Name and address."""

PAGE = "mail.html"
LAYOUTS = ("wide", "split")
BRANDS = 4
THEMES = 6
SHORT = 4
"""How many people write to the compact inbox, and about how many things."""
NOW = datetime(2026, 1, 15, 8, 55)
"""Just before the page's clock starts: the newest mail has come by then."""


@dataclass(frozen=True)
class Message:
    """One mail."""

    id: str
    sender: Person
    to: tuple[Person, ...]
    when: str
    """As in ``2026-01-14T16:20``."""
    text: tuple[str, ...]
    """Its paragraphs."""


@dataclass(frozen=True)
class Thread:
    """A conversation of one or more mails, oldest first, in the inbox."""

    id: str
    subject: str
    messages: tuple[Message, ...]
    unread: bool = False
    starred: bool = False

    @property
    def last(self) -> Message:
        return self.messages[-1]


@dataclass(frozen=True)
class Look:
    """What the mail client looks like."""

    layout: str
    brand: int
    theme: int


@dataclass(frozen=True)
class Status:
    """Where a conversation is and how it is marked."""

    folder: str
    starred: bool
    unread: bool
    opened: bool = False
    """Whether it was opened since the start, which marks it as read unasked."""


# -- drawing --


def draw_look(rng: np.random.Generator) -> Look:
    return Look(
        layout=pick(rng, LAYOUTS),
        brand=int(rng.integers(BRANDS)),
        theme=int(rng.integers(THEMES)),
    )


def draw_people(rng: np.random.Generator, count: int, *, twins: int = 0) -> tuple[Person, ...]:
    """`count` people with unlike first and last names, and then for each of the first `twins` (but
    the very first, who is the reader) another one with the same first name or the same last."""
    firsts = [str(name) for name in rng.choice(words.FIRST_LONG, count + twins, replace=False)]
    lasts = [str(name) for name in rng.choice(words.LAST_LONG, count + twins, replace=False)]
    people = [person(first, last) for first, last in zip(firsts[:count], lasts, strict=False)]
    for i in range(twins):
        if rng.integers(2):
            people.append(person(firsts[1 + i], lasts[count + i]))
        else:
            people.append(person(firsts[count + i], lasts[1 + i]))
    return tuple(people)


def draw_short_people(rng: np.random.Generator, count: int) -> tuple[Person, ...]:
    """`count` people of different short first names, without last names."""
    names = chosen(words.FIRST_SHORT, count, rng)
    return tuple((name, f"{name}@brightwater.example".lower()) for name in names)


def draw_short_inbox(
    rng: np.random.Generator, me: Person, people: Sequence[Person], count: int
) -> list[Thread]:
    """`count` mails without a text from the first `SHORT` of the people, each to `me` and one of
    the people, newest first. There are `SHORT` subjects, so that one sender writes more mails and
    one subject comes more than once; both together tell mails apart."""
    things = chosen(words.THINGS_SHORT, SHORT, rng)
    threads = []
    pairs = rng.choice(SHORT * SHORT, size=count, replace=False)
    for number, (pair, when) in enumerate(zip(pairs, draw_times(rng, count), strict=True)):
        sender = people[int(pair) // SHORT]
        others = [one for one in people if one != sender]
        to = (me, pick(rng, others))
        message = Message(f"{number}-0", sender, to, when, ())
        unread, starred = bool(rng.integers(2)), bool(rng.integers(4) == 0)
        subject = things[int(pair) % SHORT]
        threads.append(Thread(str(number), subject, (message,), unread, starred))
    return threads


def draw_inbox(
    rng: np.random.Generator,
    me: Person,
    senders: Sequence[tuple[Person, ...]],
    *,
    topics: int,
    turns: Sequence[int] = (),
) -> list[Thread]:
    """A thread from each of the `senders` (who writes, and who reads it beside `me`), newest first.

    `turns` says how many mails each has, by default one. The subject and who began tell threads
    apart; the fewer `topics` people write about, the more subjects are alike.
    """
    letters = [mailtexts.PERSONAL[i] for i in rng.permutation(len(mailtexts.PERSONAL))[:topics]]
    talks = list(mailtexts.CONVERSATIONS)
    talks = [talks[i] for i in rng.permutation(len(talks))[:topics]]
    threads: list[Thread] = []
    used: set[tuple[str, str]] = set()
    for number, when in enumerate(draw_times(rng, len(senders))):
        people, many = senders[number], turns[number] if turns else 1
        while True:
            thread = _thread(rng, str(number), me, people, when, letters, talks, many)
            # Conversations are named by their subjects alone.
            mark = (thread.subject, "" if many > 1 else thread.last.sender[1])
            if mark not in used:
                break
        used.add(mark)
        threads.append(thread)
    return threads


def _thread(
    rng: np.random.Generator,
    number: str,
    me: Person,
    people: tuple[Person, ...],
    when: str,
    letters: Sequence[tuple[str, mailtexts.Text]],
    talks: Sequence[tuple[str, tuple[tuple[int, mailtexts.Text], ...]]],
    turns: int,
) -> Thread:
    slots = draw_slots(rng) | {"me": me[0].split()[0]}
    if turns == 1:
        by_machine = {mail: texts for _, mail, texts in mailtexts.SERVICES}
        texts = by_machine.get(people[0][1], letters)
        subject, only = pick(rng, texts)
        said: Sequence[tuple[int, mailtexts.Text]] = ((0, only),)
    else:
        subject, said = pick(rng, talks)
    messages: list[Message] = []
    for turn in range(turns - 1, -1, -1):
        speaker, text = said[turn]
        to = (me, *(one for place, one in enumerate(people) if place != speaker))
        filled = tuple(part.format(**slots) for part in text)
        messages.insert(0, Message(f"{number}-{turn}", people[speaker], to, when, filled))
        when = _before(rng, datetime.fromisoformat(when)).isoformat(timespec="minutes")
    unread, starred = bool(rng.random() < 0.4), bool(rng.random() < 0.15)
    return Thread(number, subject.format(**slots), tuple(messages), unread, starred)


def draw_slots(rng: np.random.Generator) -> dict[str, object]:
    """A value for every slot of a text; texts of one mail share them."""
    return {
        "me": "there",
        "day": pick(rng, mailtexts.DAYS),
        "time": f"{rng.integers(8, 19):02}:{pick(rng, (0, 15, 30, 45)):02}",
        "room": pick(rng, mailtexts.ROOMS),
        "city": pick(rng, mailtexts.CITIES),
        "n": int(rng.integers(1000, 10000)),
        "k": int(rng.integers(2, 10)),
    }


def draw_times(rng: np.random.Generator, count: int) -> list[str]:
    """When mails came, newest first, none at night."""
    times, now = [], NOW
    for _ in range(count):
        now = _before(rng, now)
        times.append(now.isoformat(timespec="minutes"))
    return times


def _before(rng: np.random.Generator, time: datetime) -> datetime:
    time -= timedelta(minutes=int(rng.integers(4, 400)))
    return time if 7 <= time.hour < 22 else time - timedelta(hours=9)


def firm_of(number: int) -> Person:
    """One of the firms that write by machine."""
    name, mail, _ = mailtexts.SERVICES[number]
    return name, mail


def person(first: str, last: str) -> Person:
    return f"{first} {last}", f"{first}.{last}@brightwater.example".lower()


# -- the page --


def page_params(
    look: Look, me: Person, threads: Sequence[Thread], contacts: Iterable[Person] = ()
) -> dict[str, Any]:
    """What the page is given."""
    return {
        **dataclasses.asdict(look),
        "me": me,
        "contacts": tuple(contacts),
        "threads": [dataclasses.asdict(thread) for thread in threads],
    }


# -- judging --


def starting(threads: Iterable[Thread]) -> dict[str, Status]:
    """How the mailbox is at the start."""
    return {one.id: Status("inbox", one.starred, one.unread) for one in threads}


def replay(threads: Iterable[Thread], events: Iterable[PageEvent]) -> dict[str, Status]:
    """How the mailbox is after the changes that were reported."""
    box = starting(threads)
    for event in events:
        if event.type != "change" or event.data.get("what") not in ("folder", "starred", "unread"):
            continue
        data: Mapping[str, Any] = event.data
        for one in set(data.get("ids", ())) & set(box):
            change: dict[str, Any] = {data["what"]: data.get("value")}
            box[one] = dataclasses.replace(box[one], **change)
            if data.get("by") == "open":
                box[one] = dataclasses.replace(box[one], opened=True)
    return box


def agrees(now: Status, wanted: Status, *, read_matters: bool = False) -> bool:
    """Whether a conversation is as wanted. That it was read by being opened does not matter,
    unless `read_matters`."""
    unread = now.unread == wanted.unread
    excused = now.opened and not now.unread and not read_matters
    return (now.folder, now.starred) == (wanted.folder, wanted.starred) and (unread or excused)
