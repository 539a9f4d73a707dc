"""What tasks with text messages share: how one is sent, and how it is judged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ui_gym.android import moves
from ui_gym.android.checks import ShellCheck
from ui_gym.android.content import people, records, texts
from ui_gym.android.device import AndroidDevice, ShellResult
from ui_gym.contract import draws as drawing
from ui_gym.contract.action import Action

MESSAGES = "com.android.messaging"

FIELD = "Text message"

Received = tuple[str, str, int]
"""(number, text, minutes ago) of a message that came in."""


def received(rng: np.random.Generator, count: int) -> tuple[Received, ...]:
    """Messages from different numbers, the newest first; all came in within the last hours."""
    ages = sorted(drawing.some(rng, range(3, 400), count))
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
