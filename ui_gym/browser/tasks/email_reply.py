"""Email reply: answer or forward the right mail, to the right people, with the given text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import mailtexts, words
from ui_gym.browser.content.mailbox import (
    PAGE,
    Look,
    Message,
    Person,
    Thread,
    agrees,
    draw_inbox,
    draw_look,
    draw_people,
    draw_short_inbox,
    draw_short_people,
    draw_slots,
    page_params,
    replay,
    starting,
)
from ui_gym.browser.content.phrases import date, listing, ordinal
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, flag, whole
from ui_gym.browser.moves import because, click, count_scrolls, reveal
from ui_gym.contract.action import Action, Press, Type
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

GOALS: dict[str, tuple[str, ...]] = {
    "reply": (
        'Reply to {mail} with the text "{text}"{extra}',
        'Answer {mail}, to its sender alone. Write: "{text}"{extra}',
        'Write a reply to {mail}: "{text}"{extra}',
    ),
    "all": (
        'Reply to all on {mail} with the text "{text}"{extra}',
        'Answer {mail} so that everyone on it gets the answer. Write: "{text}"{extra}',
        'Write a reply to all on {mail}: "{text}"{extra}',
    ),
    "forward": (
        'Forward {mail} to {to} with the text "{text}"{extra}',
        'Pass {mail} on to {to}. Write above it: "{text}"{extra}',
        'Forward {mail}. It is for {to}, and the text is "{text}"{extra}',
    ),
}
COMPACT_GOALS: dict[str, tuple[str, ...]] = {
    "reply": ("Reply to {mail}: {text}", "Reply to {mail} with {text}"),
    "all": ("Reply all to {mail}: {text}", "Reply all to {mail} with {text}"),
    "forward": ("Forward {mail} to {to}: {text}", "Forward {mail} to {to} with {text}"),
}
"""Without a full stop, which might be taken for a part of the text."""
COMPACT_MOST = 7
"""Mails that the compact page has room for."""
COMPACT_BUTTONS = {"reply": "Reply", "all": "Reply all", "forward": "Forward"}
SLIPS = {"reply": "all", "all": "reply", "forward": "reply"}
"""The button that is easily pressed instead."""

SAID = {"reply": "reply", "all": "reply to all", "forward": "forward it"}
ROW_HEIGHT = 66
ROOM = 690
"""The height of the list, in pixels."""


@dataclass(frozen=True)
class EmailReplyParams:
    """All that varies between episodes."""

    me: Person
    people: tuple[Person, ...]
    """The contacts."""
    threads: tuple[Thread, ...]
    """The inbox, newest first."""
    asked: str
    """The id of the mail that is to be answered or forwarded."""
    mode: str
    """``"reply"``, ``"all"`` or ``"forward"``."""
    to: tuple[Person, ...]
    """To whom it is forwarded."""
    copy: tuple[Person, ...]
    """Who gets a copy beside."""
    without: tuple[Person, ...]
    """Who is left out of an answer to all."""
    text: str
    dated: bool
    """Whether a mail of a conversation is named by its date, or else by its number."""
    look: Look
    phrasing: int


@register("EmailReply", suite="browser", category="office", difficulty="medium", max_steps=30)
class EmailReply(Family[EmailReplyParams]):
    """Reply to or forward the right mail, to the right people, with a given text.

    ## Description
    A mail client with mails and conversations. The goal names one mail and says whether to reply to
    its sender, to reply to all, or to forward it, and with which text. In conversations, older
    mails are folded and have to be opened; each mail has buttons of its own. With `extras`, people
    are named without their addresses (there are namesakes), somebody else gets a copy, or somebody
    is left out of a reply to all. The compact page has first names, subjects of one word, and texts
    of a word and a number.

    ## Action space
    Clicks, scrolling and typing solve it; an address is taken over with Enter or a comma.

    ## Rewards
    1 for a mail sent as asked, with nothing else changed; 0 if another mail was answered, or in
    another way (forwarded instead of answered). Else 0.25, and 0.25 more for the right recipients
    (To and Cc) and for the right text. Blanks around the text do not matter.

    ## Starting state
    The inbox, nothing opened or written, the list scrolled to its top.

    ## Episode end
    Termination: a mail was sent, whatever it says. `max_steps` is about twice what is needed; it
    follows from the arguments.

    ## Arguments
    | `threads` | 8, 12, 24 (compact: 6) | conversations in the inbox, 4 to 40, compact to 7 |
    | `turns` | 1, 3, 6 (compact: 1) | mails of a conversation at most, 1 to 6, compact 1 |
    | `sentences` | 1, 2, 3 (compact: 1) | sentences to be written, 1 to 4, compact 1 of two words |
    | `extras` | False, False, True (compact: False) | copies, somebody left out, no addresses |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = PAGE
    threads: int = whole(4, 40, easy=8, medium=12, hard=24)
    turns: int = whole(1, 6, easy=1, medium=3, hard=6)
    sentences: int = whole(1, 4, easy=1, medium=2, hard=3)
    extras: bool = flag(easy=False, medium=False, hard=True)
    compact_values = {"threads": 6, "turns": 1, "sentences": 1, "extras": False}
    mistakes = ("mail", "mode", "text")

    def prepare(self) -> None:
        if self.compact:
            self._prepare_compact()
            return
        scrolls = count_scrolls(self.threads * ROW_HEIGHT, ROOM)
        self.max_steps = 2 * (8 + scrolls + 2 * (self.turns > 1) + 3 * self.extras)

    def _prepare_compact(self) -> None:
        if self.extras:
            raise UserError("EmailReply: the compact page knows no copies; extras is False")
        self.check_range("threads", self.threads, 4, COMPACT_MOST)
        self.check_range("turns", self.turns, 1, 1)
        self.check_range("sentences", self.sentences, 1, 1)
        self.max_steps = 16

    def sample(self, rng: Generator) -> EmailReplyParams:
        if self.compact:
            return self._sample_compact(rng)
        me, *people = draw_people(rng, 12, twins=6 if self.extras else 0)
        turns = self._turns(rng)
        senders = []
        for many in turns:
            group = rng.choice(len(people), size=2 if many == 1 else 3, replace=False)
            senders.append(tuple(people[int(i)] for i in group))
        threads = draw_inbox(rng, me, senders, topics=6 if self.extras else 30, turns=turns)
        longest = [t for t in threads if len(t.messages) == max(turns)]
        thread = pick(rng, longest)
        # Where a mail has to be looked for, the newest would be too easy to find.
        mail = thread.messages[int(rng.integers(max(1, self.turns - self.extras)))]
        mode = pick(rng, tuple(GOALS))
        strangers = [one for one in people if one != mail.sender and one not in mail.to]
        picked = [strangers[int(i)] for i in rng.permutation(len(strangers))[:2]]
        drop = self.extras and mode == "all" and len(mail.to) > 2 and bool(rng.integers(2))
        return EmailReplyParams(
            me=me,
            people=tuple(people),
            threads=tuple(threads),
            asked=mail.id,
            mode=mode,
            to=(picked[0],) if mode == "forward" else (),
            copy=(picked[1],) if self.extras and not drop else (),
            without=(mail.to[int(rng.integers(1, len(mail.to)))],) if drop else (),
            text=self._text(mode, rng),
            dated=bool(rng.integers(2)),
            look=draw_look(rng),
            phrasing=int(rng.integers(3)),
        )

    def _sample_compact(self, rng: Generator) -> EmailReplyParams:
        me, *people = draw_short_people(rng, 7)
        threads = draw_short_inbox(rng, me, people, self.threads)
        mail = threads[int(rng.integers(self.threads))].last
        mode = pick(rng, tuple(COMPACT_GOALS))
        strangers = [one for one in people if one != mail.sender and one not in mail.to]
        to = pick(rng, strangers)
        return EmailReplyParams(
            me=me,
            people=tuple(people),
            threads=tuple(threads),
            asked=mail.id,
            mode=mode,
            to=(to,) if mode == "forward" else (),
            copy=(),
            without=(),
            text=f"{pick(rng, words.THINGS_SHORT)} {rng.integers(1, 32)}",
            dated=False,
            look=Look("wide", 0, 0),
            phrasing=int(rng.integers(2)),
        )

    def goal(self, params: EmailReplyParams) -> str:
        if self.compact:
            thread, mail = find(params)
            return COMPACT_GOALS[params.mode][params.phrasing].format(
                mail=f"{thread.subject} from {mail.sender[0]}",
                to=" ".join(name for name, _ in params.to),
                text=params.text,
            )
        to = [name if self.extras else f"{name} ({mail})" for name, mail in params.to]
        extra = ""
        if params.copy:
            extra = f" Send a copy (Cc) to {listing([name for name, _ in params.copy])}."
        if params.without:
            extra = f" Leave out {listing([name for name, _ in params.without])}."
        return GOALS[params.mode][params.phrasing].format(
            mail=naming(params), to=listing(to) if to else "", text=params.text, extra=extra
        )

    def page_params(self, params: EmailReplyParams) -> dict[str, Any]:
        return page_params(params.look, params.me, params.threads, params.people)

    def judge(
        self, device: BrowserDevice, params: EmailReplyParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        for event in device.events:
            if event.type == "send":
                return self._sent(params, event.data, _others_changed(device, params))
        return Verdict(0.0, notes="nothing was sent")

    def oracle(self, device: BrowserDevice, params: EmailReplyParams) -> Steps:
        if self.compact:
            yield from _compact_steps(device, params)
            return
        thread, mail = find(params)
        looked_for = f'"{thread.subject}"'
        yield from because(f"Look for {looked_for}.", reveal(device, f"#row-{thread.id}", "#list"))
        yield Demo(click(device, f"#open-{thread.id}"), f"Open {looked_for}.")
        said = f"the mail of {mail.sender[0]}"
        if mail is not thread.last:
            yield from because(f"Look for {said}.", reveal(device, f"#unfold-{mail.id}", "#thread"))
            yield Demo(click(device, f"#unfold-{mail.id}"), f"Show {said}.")
        button = f"#{params.mode}-{mail.id}"
        yield from because(
            f"Look for what can be done with {said}.", reveal(device, button, "#thread")
        )
        yield Demo(click(device, button), f"This is {said}: {SAID[params.mode]}.")
        for person in params.to:
            yield from self._add(device, "to", person)
        for person in params.copy:
            yield from self._add(device, "cc", person)
        for name, address in params.without:
            chip = f".composer .chip button[data-value='{address}']"
            yield Demo(click(device, chip), f"Leave out {name}.")
        yield Demo(click(device, "#text"), "Write the text.")
        yield Demo(Type(params.text), "Write the text.")
        yield Demo(click(device, "#send"), "All is there: send it.")

    def misread(self, params: EmailReplyParams, mistake: str, rng: Generator) -> EmailReplyParams:
        """``mail``: another mail of the conversation is taken for the named one, or a mail next to
        it in the list. ``mode``: the wrong button is pressed. ``text``: its last word is lost."""
        if mistake == "text":
            return replace(params, text=params.text.rpartition(" ")[0])
        if mistake == "mode":
            slip = SLIPS[params.mode]
            return replace(params, mode=slip, to=(), without=())
        thread, mail = find(params)
        others = [one.id for one in thread.messages if one is not mail]
        if not others:
            place = params.threads.index(thread)
            others = [t.last.id for t in params.threads[max(0, place - 1) : place + 2]]
            others.remove(mail.id)
        return replace(params, asked=pick(rng, others), without=())

    def blind_rate(self, params: EmailReplyParams) -> float:
        """Nobody guesses the text."""
        return 0.0

    def _sent(self, params: EmailReplyParams, data: Mapping[str, Any], changed: bool) -> Verdict:
        """The verdict on the first mail that was sent."""
        thread, mail = find(params)
        forwarded = data.get("mode") == "forward"
        if data.get("message") != mail.id or forwarded != (params.mode == "forward"):
            return Verdict(0.0, done=True, notes="another mail was answered, or in another way")
        wrong = []
        if (set(data.get("to", ())), set(data.get("cc", ()))) != recipients(params):
            wrong.append("the recipients")
        if _plain(data.get("text")) != params.text:
            wrong.append("the text")
        if _plain(data.get("subject")) != f"{'Fwd' if forwarded else 'Re'}: {thread.subject}":
            wrong.append("the subject")
        if changed:
            wrong.append("other mails")
        if not wrong:
            return Verdict(1.0, done=True, notes="sent as asked")
        right = 1 + ("the recipients" not in wrong) + ("the text" not in wrong)
        return Verdict(right / 4, done=True, notes=f"sent, but not as asked: {listing(wrong)}")

    def _add(self, device: BrowserDevice, field: str, person: Person) -> Iterator[Demo]:
        name, address = person
        thought = f"{field.capitalize()}: {name}."
        yield Demo(click(device, f"#{field}"), thought)
        if self.extras:
            yield Demo(Type(name.split()[0]), thought)
            hit = f"#{field}-list [data-value='{address}']"
            yield Demo(click(device, hit), f"There is {name}.")
        else:
            yield Demo(Type(address), thought)
            yield Demo(Press("enter"), thought)

    def _turns(self, rng: Generator) -> list[int]:
        """How many mails each conversation has: half of them one, and some as many as may be."""
        turns = [1] * self.threads
        if self.turns > 1:
            many = self.threads // 2
            turns[:many] = [int(rng.integers(2, self.turns + 1)) for _ in range(many)]
            turns[0] = turns[1] = self.turns
        return [turns[i] for i in rng.permutation(len(turns))]

    def _text(self, mode: str, rng: Generator) -> str:
        texts = mailtexts.NOTES if mode == "forward" else mailtexts.ANSWERS
        picked = rng.choice(len(texts), size=self.sentences, replace=False)
        return " ".join(texts[int(i)].format(**draw_slots(rng)) for i in picked)


def _compact_steps(device: BrowserDevice, params: EmailReplyParams) -> Iterator[Demo]:
    """Open the mail, press what is asked for, and fill in what it asks for."""
    thread, mail = find(params)
    yield Demo(click(device, f"#open-{thread.id}"), f"{mail.sender[0]} {thread.subject}")
    yield Demo(click(device, f"#{params.mode}-{mail.id}"), COMPACT_BUTTONS[params.mode])
    for name, address in params.to:
        yield Demo(click(device, "#to"), "To")
        yield Demo(Type(name), f"To {name}")
        yield Demo(click(device, f"#to-list [data-value='{address}']"), name)
    yield Demo(click(device, "#text"), "Text")
    yield Demo(Type(params.text), f"Text {params.text}")
    yield Demo(click(device, "#send"), "Send")


def find(params: EmailReplyParams) -> tuple[Thread, Message]:
    """The conversation and the mail that are meant."""
    for thread in params.threads:
        for mail in thread.messages:
            if mail.id == params.asked:
                return thread, mail
    raise KeyError(params.asked)


def naming(params: EmailReplyParams) -> str:
    """How the goal names the mail."""
    thread, mail = find(params)
    name = mail.sender[0]
    if len(thread.messages) == 1:
        return f'the mail "{thread.subject}" from {name}'
    where = f'in the conversation "{thread.subject}"'
    if params.dated:
        when = datetime.fromisoformat(mail.when)
        return f"the mail that {name} wrote on {date(when.date())} at {when:%H:%M} {where}"
    own = [one for one in thread.messages if one.sender == mail.sender]
    which = f"{ordinal(own.index(mail) + 1)} mail" if len(own) > 1 else "mail"
    return f"the {which} of {name} {where}"


def recipients(params: EmailReplyParams) -> tuple[set[str], set[str]]:
    """The addresses that the sent mail must have: To and Cc."""
    _, mail = find(params)
    to = params.to if params.mode == "forward" else (mail.sender,)
    others = [one for one in mail.to if one not in (params.me, *params.without)]
    copy = [*params.copy, *(others if params.mode == "all" else ())]
    return {address for _, address in to}, {address for _, address in copy}


def _others_changed(device: BrowserDevice, params: EmailReplyParams) -> bool:
    now, before = replay(params.threads, device.events), starting(params.threads)
    return not all(agrees(now[one], before[one]) for one in before)


def _plain(text: object) -> str:
    return str(text or "").replace("\r\n", "\n").strip()
