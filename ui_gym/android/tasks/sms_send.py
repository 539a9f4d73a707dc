"""Send a text message."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.android.checks import ShellCheck
from ui_gym.android.content import people, records, scenes, texts
from ui_gym.android.content.people import Person
from ui_gym.android.content.scenes import StartScene
from ui_gym.android.device import AndroidDevice
from ui_gym.android.task import AndroidTask
from ui_gym.android.tasks import messaging
from ui_gym.android.tasks.messaging import Received
from ui_gym.contract import draws as drawing
from ui_gym.contract.action import Action
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo

GOALS = (
    'Text {who}: "{text}"',
    'Send a text message to {who} that says "{text}"',
    'Write "{text}" to {who} by SMS.',
    'Use Messages to send "{text}" to {who}.',
)


@dataclass(frozen=True)
class SmsSendParams:
    """All that varies between episodes."""

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
class AndroidSmsSend(AndroidTask[SmsSendParams]):
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
    """

    apps = (messaging.MESSAGES,)
    mistakes = ("recipient", "text")

    def sample(self, rng: np.random.Generator) -> SmsSendParams:
        return SmsSendParams(
            text=texts.message(rng),
            people=people.people(rng, 3),
            named=bool(rng.random() < 0.5),
            received=messaging.received(rng, drawing.between(rng, 0, 3)),
            scene=scenes.draw(rng),
            phrasing=drawing.between(rng, 0, len(GOALS) - 1),
        )

    def goal(self, params: SmsSendParams) -> str:
        person = params.people[0]
        who = person.name if params.named else person.number
        return GOALS[params.phrasing].format(who=who, text=params.text)

    def prepare(self, params: SmsSendParams) -> Sequence[str]:
        lines = messaging.arrive(params.received)
        lines += records.forget_messages(person.number for person in params.people)
        if params.named:
            lines += records.forget(person.name for person in params.people)
            for person in params.people:
                lines += records.contact(person.name, person.number)
        return [*lines, *params.scene.lines()]

    def checks(self, params: SmsSendParams) -> Sequence[ShellCheck]:
        return [messaging.sent(params.people[0].digits, params.text)]

    def oracle(self, device: AndroidDevice, params: SmsSendParams) -> Iterator[Action | Demo]:
        person = params.people[0]
        yield from messaging.start(device, person.name if params.named else person.digits)
        yield from messaging.write(device, params.text)

    def misread(
        self, params: SmsSendParams, mistake: str, rng: np.random.Generator
    ) -> SmsSendParams:
        """``recipient``: it goes to the one of the same first name, or to another number.
        ``text``: it says something else."""
        if mistake == "text":
            text = texts.message(rng)
            return params if text == params.text else dataclasses.replace(params, text=text)
        first, other, *rest = params.people
        if params.named:
            return dataclasses.replace(params, people=(other, first, *rest))
        wrong = dataclasses.replace(first, digits=people.neighbour(rng, first.digits))
        return dataclasses.replace(params, people=(wrong, other, *rest))
