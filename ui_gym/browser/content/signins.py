"""Second factors: an authenticator's accounts, a phone's messages, printed lists of codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from numpy.random import Generator

from ui_gym.browser.content import words
from ui_gym.browser.content.data import table
from ui_gym.contract.draws import pick


class SignInApp(NamedTuple):
    name: str
    icon: str
    line: str


class CodeEntry(NamedTuple):
    """An account of the authenticator, a message, or a line of a printed list."""

    service: str
    note: str
    """The account's user, when the message came, or when the list was printed."""
    text: str
    """What the message says, with a gap for the code; elsewhere empty."""
    start: int
    """What the code is counted from."""
    used: bool
    late: bool
    """Whether it comes only when somebody has signed in."""


APPS = tuple(SignInApp(**written) for written in table("signins")["apps"])
SERVICES: tuple[str, ...] = table("signins")["others"]
COMPACT_SERVICES: tuple[str, ...] = table("signins")["compact"]
TIMES: tuple[str, ...] = table("signins")["times"]
PRINTED: tuple[str, ...] = table("signins")["printed"]
OWN: tuple[str, ...] = table("signins")["own"]
FOREIGN: tuple[str, ...] = table("signins")["foreign"]

LINES = 8
"""Of a printed list."""
COMPACT_LINES = 3

Entries = tuple[tuple[CodeEntry, ...], int]
"""What is shown in one place, and the number of the entry whose code counts."""


def accounts(service: str, user: str, decoys: int, rng: Generator, *, compact: bool) -> Entries:
    """An authenticator: other accounts of the service, and the same user's of other services."""
    if compact:
        others = [(service, name) for name in words.FIRST_SHORT if name != user]
    else:
        mine = [(service, _user(rng)) for _ in range((decoys + 1) // 2)]
        others = [*mine, *((name, user) for name in rng.permutation(SERVICES)[: decoys // 2])]
    picked = rng.permutation(len(others))[:decoys]
    named = [(service, user), *(others[int(i)] for i in picked)]
    order = rng.permutation(len(named))
    entries = tuple(_entry(str(named[int(i)][0]), named[int(i)][1]) for i in order)
    return entries, [int(i) for i in order].index(0)


def messages(service: str, decoys: int, after: int, rng: Generator, *, compact: bool) -> Entries:
    """A phone: older messages, by turns of the service and of others; the one that counts; and
    `after` it some of others."""
    known = COMPACT_SERVICES if compact else SERVICES
    others = [str(name) for name in rng.permutation(known) if name != service]

    def message(name: str, when: str, *, late: bool) -> CodeEntry:
        texts = OWN if name == service else FOREIGN
        text = pick(rng, texts).format(name, "{}")
        return _entry(name, when, "" if compact else text, late=late)

    old = [service if i % 2 == 0 else others[i // 2] for i in range(decoys - after)]
    times = TIMES[-len(old) :] if old else ()
    shown = [
        message(old[int(i)], when, late=False)
        for i, when in zip(rng.permutation(len(old)), times, strict=True)
    ]
    shown += [message(service, "now", late=True)]
    shown += [message(others[-1 - i], "now", late=True) for i in range(after)]
    return tuple(shown), len(old)


def lists(service: str, decoys: int, rng: Generator, *, scattered: bool, compact: bool) -> Entries:
    """Printed lists: the service's latest, an older one of it, another service's."""
    count = COMPACT_LINES if compact else LINES
    sheets = [(service, PRINTED[0]), (service, PRINTED[1]), (pick(rng, SERVICES), PRINTED[0])]
    entries: list[CodeEntry] = []
    answer = 0
    for number in rng.permutation(1 if compact else 1 + min(decoys, 2)):
        name, printed = sheets[int(number)]
        used = _used(count, rng, scattered=scattered)
        if number == 0:
            answer = len(entries) + used.index(False)
        entries += [_entry(name, printed, used=gone) for gone in used]
    return tuple(entries), answer


def with_starts(entries: Sequence[CodeEntry], span: int, rng: Generator) -> tuple[CodeEntry, ...]:
    """The entries with codes of their own, no two alike."""
    starts: list[int] = []
    while len(starts) < len(entries):
        start = int(rng.integers(span))
        if start not in starts:
            starts.append(start)
    return tuple(e._replace(start=start) for e, start in zip(entries, starts, strict=True))


def _entry(
    service: str, note: str, text: str = "", *, used: bool = False, late: bool = False
) -> CodeEntry:
    return CodeEntry(service, note, text, 0, used, late)


def _used(count: int, rng: Generator, *, scattered: bool) -> list[bool]:
    """Which lines of a list are used: the first ones, or others as well; at least the first."""
    first = int(rng.integers(1, count - 1))
    used = [i < first for i in range(count)]
    if scattered:
        for i in range(first + 1, count - 1):
            used[i] = bool(rng.random() < 0.5)
    return used


def _user(rng: Generator) -> str:
    first, last = pick(rng, words.FIRST_LONG), pick(rng, words.LAST_LONG)
    return f"{first}.{last}@example.org".lower()


def account_name(rng: Generator, *, compact: bool) -> str:
    """Somebody's user name."""
    return pick(rng, words.FIRST_SHORT) if compact else _user(rng)
