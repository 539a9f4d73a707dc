"""Pauses between setup steps, which last no longer than the machine is busy.

OSWorld's files hold pauses of seconds where a program starts, and its env waits 10 s more before an
episode: long enough for a virtual machine without acceleration. Here, these are the most that is
waited. A pause of up to `WHOLE` is kept: a file is being written there, perhaps, which no picture
shows. A longer one ends when, after `WHOLE`, what was started before has shown a window, and the
picture is still. Before the judgement, every pause is kept whole (`keep_whole`).
"""

from __future__ import annotations

import time

import numpy as np

from ui_gym.contract.device import Image
from ui_gym.desktop.osworld.registry import EvaluationContext

WHOLE = 1.0
"""Seconds that are always waited, where a task asks for that many."""

TIMEOUT = 10.0
"""Seconds that are waited at most before an episode begins: as many as OSWorld waits always."""

STILL = 0.4
"""Seconds between two pictures that must be the same."""

BLINKING = 0.001
"""The share of the picture's pixels that a caret or a clock may change."""

POLL = 0.05

_BEFORE = "windows before a launch"
_KEPT = "pauses are kept whole"


def expect_window(context: EvaluationContext) -> None:
    """Note that a program is about to be started which will show a window."""
    known = [window.id for window in context.device.windows()]
    context.memory.setdefault(_BEFORE, frozenset(known))


def keep_whole(context: EvaluationContext) -> None:
    """From now on, pauses last as long as they say."""
    context.memory[_KEPT] = True


def pause(context: EvaluationContext, seconds: float) -> None:
    """Wait `seconds`, or less where the machine is at rest before that."""
    until = time.monotonic() + seconds
    if context.memory.get(_KEPT):
        time.sleep(seconds)
        return
    time.sleep(min(seconds, WHOLE))
    if seconds > WHOLE and _has_shown(context, until):
        _await_still(context, until)


def rest(context: EvaluationContext) -> None:
    """Wait until what was started has come up and the picture is still."""
    until = time.monotonic() + TIMEOUT
    _has_shown(context, until)
    context.memory.pop(_BEFORE, None)
    context.device.settle()
    _await_still(context, until)


def _has_shown(context: EvaluationContext, until: float) -> bool:
    """Wait for a window that was not there before the last launch. False if none came in time."""
    before = context.memory.get(_BEFORE)
    if before is None:
        return True
    while not {window.id for window in context.device.windows()} - before:
        left = until - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(POLL, left))
    del context.memory[_BEFORE]
    return True


def _await_still(context: EvaluationContext, until: float) -> None:
    """Wait until two pictures are the same, and every window has drawn something."""
    before = context.device.capture().image
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(STILL, left))
        after = context.device.capture().image
        if _same(before, after) and _drawn(context, after):
            return
        before = after


def _same(one: Image, other: Image) -> bool:
    changed = np.count_nonzero((one != other).any(axis=2))
    return bool(changed <= BLINKING * one.shape[0] * one.shape[1])


def _drawn(context: EvaluationContext, picture: Image) -> bool:
    """Whether no window is of a single colour, as those of programs are that are still starting."""
    for window in context.device.windows():
        left, top, width, height = window.box
        part = picture[max(top, 0) : top + height, max(left, 0) : left + width]
        if part.size and (part == part[0, 0]).all():
            return False
    return True
