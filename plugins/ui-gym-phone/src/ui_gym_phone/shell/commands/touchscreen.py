"""sendevent: the touch screen's own events, the only way by which several fingers are put down."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from ui_gym_phone.shell.registry import CommandContext, command

DEVICE = "/dev/input/event1"


@runtime_checkable
class TouchPanel(Protocol):
    """A machine whose touch screen takes events."""

    def touch_event(self, type: int, code: int, value: int) -> None: ...


@command("sendevent")
def _sendevent(ctx: CommandContext) -> None:
    """``sendevent DEVICE TYPE CODE VALUE``, in decimal; what is no number is 0."""
    if len(ctx.words) != 4:
        raise ctx.ended("use: sendevent <device> <type> <code> <value>\n")
    device, *words = ctx.words
    if device != DEVICE or not isinstance(ctx.machine, TouchPanel):
        raise ctx.ended(f"could not open {device}, No such file or directory\n")
    ctx.machine.touch_event(*(_number(word) for word in words))


def _number(word: str) -> int:
    try:
        return int(word[:12])
    except ValueError:
        return 0
