"""Answer the newest text message."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ui_gym.android import moves
from ui_gym.android.checks import ShellCheck
from ui_gym.android.content import people, scenes, texts
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
    'Reply to the newest text message: "{text}"',
    'Answer the most recent SMS with "{text}"',
    'Somebody has just written to me. Write back "{text}"',
)


@dataclass(frozen=True)
class SmsReplyParams:
    """All that varies between episodes."""

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

    apps = (messaging.MESSAGES,)
    mistakes = ("older", "text")

    def sample(self, rng: np.random.Generator) -> SmsReplyParams:
        return SmsReplyParams(
            text=texts.reply(rng),
            received=messaging.received(rng, drawing.between(rng, 2, 5)),
            answered=0,
            scene=scenes.draw(rng),
            phrasing=drawing.between(rng, 0, len(GOALS) - 1),
        )

    def goal(self, params: SmsReplyParams) -> str:
        return GOALS[params.phrasing].format(text=params.text)

    def prepare(self, params: SmsReplyParams) -> Sequence[str]:
        return [*messaging.arrive(params.received), *params.scene.lines()]

    def checks(self, params: SmsReplyParams) -> Sequence[ShellCheck]:
        number, _, _ = params.received[params.answered]
        return [messaging.sent(people.digits_of(number), params.text)]

    def oracle(self, device: AndroidDevice, params: SmsReplyParams) -> Iterator[Action | Demo]:
        number, _, _ = params.received[params.answered]
        yield from moves.launch(device, "Messages")
        yield from moves.tap(device, number)
        yield from messaging.write(device, params.text)

    def misread(
        self, params: SmsReplyParams, mistake: str, rng: np.random.Generator
    ) -> SmsReplyParams:
        """``older``: an older message is answered. ``text``: something else is written."""
        if mistake == "older":
            older = drawing.between(rng, 1, len(params.received) - 1)
            return dataclasses.replace(params, answered=older)
        text = texts.reply(rng)
        return params if text == params.text else dataclasses.replace(params, text=text)
