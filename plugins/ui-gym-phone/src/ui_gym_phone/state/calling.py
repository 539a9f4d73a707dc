"""Calling: the calls that are going on. One is, and one rings, while its notification is posted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ui_gym_phone.state import calls, contacts, switches
from ui_gym_phone.state.activities import Notification
from ui_gym_phone.state.calls import INCOMING, MISSED, REJECTED

if TYPE_CHECKING:
    from ui_gym_phone.state.phone import Phone

DIALER = "com.android.dialer"
IN_CALL = ".InCallActivity"
"""The screen of a call."""

ACTIVE, RINGING = 1, 2
"""Ids of the notifications."""

IDLE_STATE, RINGING_STATE, OFFHOOK_STATE = range(3)
"""`TelephonyManager.CALL_STATE_...`"""

ANSWER_MS = 4_000
"""How long it rings at the other end before somebody answers."""


def state(phone: Phone) -> int:
    """Whether it rings, or somebody speaks."""
    if _posted(phone, ACTIVE) is not None:
        return OFFHOOK_STATE
    return RINGING_STATE if _posted(phone, RINGING) is not None else IDLE_STATE


def caller(phone: Phone) -> str:
    """The number that rings; empty if none does."""
    posted = _posted(phone, RINGING)
    return (posted.tag or "") if posted is not None else ""


def speaks_to(phone: Phone) -> str:
    """The number of the call that goes on; empty if none does."""
    posted = _posted(phone, ACTIVE)
    return str(posted.target[1]["number"]) if posted is not None and posted.target else ""


def current_call(phone: Phone) -> int:
    """The id in the call log of the call that goes on; 0 if none does."""
    posted = _posted(phone, ACTIVE)
    return int(posted.target[1]["call"]) if posted is not None and posted.target else 0


def dial(phone: Phone, number: str) -> None:
    """Call a number: the screen of the call opens."""
    if switches.airplane(phone):
        phone.say("Turn off airplane mode to make a call")
        return
    _hang_up(phone)
    made = calls.add(phone, number)
    _begin(phone, number, contacts.name_of(phone, number), made, phone.clock.ms)


def _begin(phone: Phone, number: str, name: str, call: int, ms: int) -> None:
    """Post the call that goes on, and open its screen. `ms` is when it rang."""
    before = phone.front.package if phone.front is not None else ""
    extras = {"number": number, "call": call, "ms": ms, "from": before}
    phone.notify(
        Notification(DIALER, ACTIVE, name, "Ongoing call", ms, channel="calls", ongoing=True,
                     target=(IN_CALL, extras))
    )  # fmt: skip
    phone.start(DIALER, IN_CALL, extras)


def ring(phone: Phone, number: str) -> None:
    """Somebody calls. One who rang before has given up."""
    miss(phone)
    name = contacts.name_of(phone, number)
    phone.notify(
        Notification(
            DIALER, RINGING, name, "Incoming call", phone.clock.ms, number, "calls", ongoing=True
        )
    )


def answer(phone: Phone) -> bool:
    """Speak to who rings: the screen of the call opens. False where nobody rings."""
    posted = _posted(phone, RINGING)
    if posted is None:
        return False
    phone.cancel(posted.key)
    _hang_up(phone)
    number = posted.tag or ""
    made = calls.add(phone, number, INCOMING)
    # As after an answer to a call that was made: the time that is told begins now.
    _begin(phone, number, posted.title, made, phone.clock.ms - ANSWER_MS)
    return True


def reject(phone: Phone) -> bool:
    """Let who rings know that nobody will speak. False where nobody rings."""
    return _silence(phone, REJECTED)


def miss(phone: Phone) -> bool:
    """Who rings gives up. False where nobody does."""
    return _silence(phone, MISSED)


def end(phone: Phone) -> bool:
    """Hang up, and close the screen of the call. False where no call went on."""
    ended = _hang_up(phone)
    while phone.front is not None and phone.activity.cls == IN_CALL:  # the shade opens it again
        phone.finish()
    return ended


def _hang_up(phone: Phone) -> bool:
    """End the call that goes on; the log is told how long it was. False where none does."""
    posted = _posted(phone, ACTIVE)
    if posted is None or posted.target is None:
        return False
    phone.cancel(posted.key)
    id = posted.target[1]["call"]
    call = next((c for c in calls.all(phone) if c.id == id), None)
    talked = (phone.clock.ms - posted.when_ms - ANSWER_MS) // 1000
    if call is not None and talked > 0:
        calls.delete(phone, call.id)
        calls.add(phone, call.number, call.kind, seconds=talked, ms=call.ms)
    return True


def _silence(phone: Phone, kind: int) -> bool:
    posted = _posted(phone, RINGING)
    if posted is None:
        return False
    phone.cancel(posted.key)
    calls.add(phone, posted.tag or "", kind, ms=posted.when_ms)
    return True


def _posted(phone: Phone, id: int) -> Notification | None:
    return next((n for n in phone.notifications if n.package == DIALER and n.id == id), None)
