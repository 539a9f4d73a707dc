"""Text messages: how one is sent and judged; writing one, answering one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ui_gym.android import moves
from ui_gym.android.checks import ShellCheck
from ui_gym.android.compact import CompactTask
from ui_gym.android.content import people, records, scenes, texts
from ui_gym.android.content.people import Person
from ui_gym.android.content.scenes import StartScene
from ui_gym.android.device import AndroidDevice, ShellResult
from ui_gym.android.facts import EXCESSES, text_sent
from ui_gym.android.task import AndroidTask, Steps
from ui_gym.contract.action import Action
from ui_gym.contract.draws import Rng, between, pick, some
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.registry import register

MESSAGES = "com.android.messaging"

FIELD = "Text message"

Received = tuple[str, str, int]
"""(number, text, minutes ago) of a message that came in."""


def received(rng: Rng, count: int) -> tuple[Received, ...]:
    """Messages from different numbers, the newest first; all came in within the last hours."""
    ages = sorted(some(rng, range(3, 400), count))
    senders: list[str] = []
    while len(senders) < count:
        digits = people.number(rng)
        if digits not in senders:
            senders.append(digits)
    return tuple(
        (people.written(digits), texts.incoming(rng), age)
        for digits, age in zip(senders, ages, strict=True)
    )


def arrive(messages: tuple[Received, ...]) -> list[str]:
    """Lines that let them have come in; what these numbers wrote before is deleted."""
    if not messages:
        return []
    forget = records.forget_messages(number for number, _, _ in messages)
    came = [records.incoming(*message) for message in reversed(messages)]
    return [*forget, records.forget_later_messages(), *came]


def sent(digits: str, text: str) -> ShellCheck:
    """A message of this text went to the number, however that is written."""

    def went(result: ShellResult) -> bool:
        return any(
            people.digits_of(number) == digits and body.strip() == text
            for number, body in records.pairs(result, "address", "body")
        )

    return ShellCheck("message sent", records.SENT, went)


def start(device: AndroidDevice, who: str) -> Iterator[Action]:
    """Open the conversation with a number, or with somebody among the contacts."""
    yield from moves.launch(device, "Messages")
    yield from moves.tap(device, "Start chat")
    named = any(sign.isalpha() for sign in who)
    yield from moves.fill(device, "Type a name or phone number", who, enter=not named)
    if named:
        yield from moves.tap(device, who)


def write(device: AndroidDevice, text: str) -> Iterator[Action]:
    """Write into the conversation that is open, and send."""
    yield from moves.fill(device, FIELD, text)
    yield from moves.tap(device, "Send", exact=False)


def paste(device: AndroidDevice) -> Iterator[Action]:
    """Paste into the conversation that is open, and send."""
    if moves.find(device, "Paste") is None:
        yield from moves.hold(device, FIELD)
    yield from moves.tap(device, "Paste")
    yield from moves.tap(device, "Send", exact=False)


@dataclass(frozen=True)
class SmsSendParams:
    text: str
    people: tuple[Person, ...]
    """The one who is written to, and others."""
    named: bool
    """Whether the goal says a name, whose number is among the contacts; else the number."""
    received: tuple[Received, ...]
    scene: StartScene
    phrasing: int


@register(
    "AndroidSmsSend", suite="android", category="input", difficulty="medium", max_steps=20,
    tags=("messages",),
)  # fmt: skip
class AndroidSmsSend(CompactTask[SmsSendParams]):
    """Send a text message to a number, or to somebody among the contacts.

    ## Description
    The goal gives the text and whom it is for, by number or by name. Other messages have come in.

    ## Rewards
    1 if ``content query --uri content://sms/sent`` tells the text with the number.

    ## Starting state
    The home screen or a page of the Settings; nothing was written to the number. A real phone's
    shell needs the app op ``WRITE_SMS`` to let messages come in.

    ## Episode end
    Termination: the message was sent.

    ## Arguments
    | `compact` | False | a screen of 256x320 pixels |
    """

    apps = (MESSAGES,)
    mistakes = ("recipient", "text")
    excesses = (*EXCESSES, "twice")
    goals = texts.goals("AndroidSmsSend")
    compact_steps = 11

    def sample(self, rng: Rng) -> SmsSendParams:
        return SmsSendParams(
            text=self._text(rng),
            people=self.people(rng, 3),
            named=self.compact or bool(rng.random() < 0.5),
            received=() if self.compact else received(rng, between(rng, 0, 3)),
            scene=self.scene(rng),
            phrasing=between(rng, 0, len(self.goals) - 1),
        )

    def _text(self, rng: Rng) -> str:
        return pick(rng, texts.THINGS_SHORT) if self.compact else texts.message(rng)

    def goal(self, params: SmsSendParams) -> str:
        person = params.people[0]
        who = person.name if params.named else person.number
        return self.goals[params.phrasing].format(who=who, text=params.text)

    def prepare(self, params: SmsSendParams) -> Sequence[str]:
        lines = arrive(params.received)
        lines += records.forget_messages(person.number for person in params.people)
        if params.named:
            lines += records.forget(person.name for person in params.people)
            for person in params.people:
                lines += records.contact(person.name, person.number)
        return [*lines, *params.scene.lines()]

    def checks(self, params: SmsSendParams) -> Sequence[ShellCheck]:
        return [sent(params.people[0].digits, params.text)]

    def twice(self, params: SmsSendParams) -> Sequence[str]:
        return 2 * [records.outgoing(params.people[0].number, params.text)]

    def may_change(self, params: SmsSendParams) -> Sequence[AllowedChange]:
        return text_sent()

    def oracle(self, device: AndroidDevice, params: SmsSendParams) -> Steps:
        person = params.people[0]
        yield from start(device, person.name if params.named else person.digits)
        yield from write(device, params.text)

    def misread(self, params: SmsSendParams, mistake: str, rng: Rng) -> SmsSendParams:
        """``recipient``: it goes to the one of the same first name, or to another number.
        ``text``: it says something else."""
        if mistake == "text":
            text = self._text(rng)
            return params if text == params.text else dataclasses.replace(params, text=text)
        first, other, *rest = params.people
        if params.named:
            return dataclasses.replace(params, people=(other, first, *rest))
        wrong = dataclasses.replace(first, digits=people.neighbour(rng, first.digits))
        return dataclasses.replace(params, people=(wrong, other, *rest))


@dataclass(frozen=True)
class SmsReplyParams:
    text: str
    received: tuple[Received, ...]
    """What came in, the newest first."""
    answered: int
    """Which of them is answered."""
    scene: StartScene
    phrasing: int


@register(
    "AndroidSmsReply", suite="android", category="input", difficulty="medium", max_steps=15,
    tags=("messages",),
)  # fmt: skip
class AndroidSmsReply(AndroidTask[SmsReplyParams]):
    """Answer the text message that came in last.

    ## Description
    Messages have come in from different numbers; the goal gives what to write to the one who wrote
    last.

    ## Rewards
    1 if ``content query --uri content://sms/sent`` tells the text with that one's number.

    ## Starting state
    The home screen or a page of the Settings. A real phone's shell needs the app op ``WRITE_SMS``
    to let messages come in.

    ## Episode end
    Termination: the answer was sent.
    """

    apps = (MESSAGES,)
    mistakes = ("older", "text")
    excesses = (*EXCESSES, "twice")
    goals = texts.goals("AndroidSmsReply")

    def sample(self, rng: Rng) -> SmsReplyParams:
        return SmsReplyParams(
            text=texts.reply(rng),
            received=received(rng, between(rng, 2, 5)),
            answered=0,
            scene=scenes.draw(rng),
            phrasing=between(rng, 0, len(self.goals) - 1),
        )

    def prepare(self, params: SmsReplyParams) -> Sequence[str]:
        return [*arrive(params.received), *params.scene.lines()]

    def checks(self, params: SmsReplyParams) -> Sequence[ShellCheck]:
        number, _, _ = params.received[params.answered]
        return [sent(people.digits_of(number), params.text)]

    def twice(self, params: SmsReplyParams) -> Sequence[str]:
        number, _, _ = params.received[params.answered]
        return 2 * [records.outgoing(number, params.text)]

    def may_change(self, params: SmsReplyParams) -> Sequence[AllowedChange]:
        return text_sent()

    def oracle(self, device: AndroidDevice, params: SmsReplyParams) -> Steps:
        number, _, _ = params.received[params.answered]
        yield from moves.launch(device, "Messages")
        yield from moves.tap(device, number)
        yield from write(device, params.text)

    def misread(self, params: SmsReplyParams, mistake: str, rng: Rng) -> SmsReplyParams:
        """``older``: an older message is answered. ``text``: something else is written."""
        if mistake == "older":
            older = between(rng, 1, len(params.received) - 1)
            return dataclasses.replace(params, answered=older)
        text = texts.reply(rng)
        return params if text == params.text else dataclasses.replace(params, text=text)
