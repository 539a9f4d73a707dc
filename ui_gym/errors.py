"""The error tree: who is to blame decides the class.

UIGymError
├── UserError              a mistake of the person at the keyboard: unknown name, bad configuration
├── TaskError              a bug in a task: its sample, setup, judge or oracle raised
├── ActionError            an agent's action cannot be understood or done; it is feedback, and
│                          never an exception of `step`
└── DeviceError            the device failed; the episode is truncated and the slot heals
    ├── DeviceStartError   it could not be started
    │   └── DeviceSetupError   because something is not installed or allowed; says what to do
    ├── DeviceTimeout      it did not answer before the deadline
    └── DeviceLost         it is gone: process dead, pipe closed, phone unplugged
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

ActionErrorKind = Literal["parse", "name", "argument", "runtime"]


class UIGymError(Exception):
    """Base of every error that ui-gym raises on purpose."""


class UserError(UIGymError):
    """A mistake of the person who called: the message says how to put it right."""


class TaskError(UIGymError):
    """A task broke its contract; the message names the task and the method."""


class ActionError(UIGymError):
    """An action that cannot be understood or carried out.

    `kind` is ``parse`` (not the grammar), ``name`` (no such action), ``argument`` (wrong or
    out-of-range argument) or ``runtime`` (well formed, but impossible on this device now).
    """

    def __init__(self, kind: ActionErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind: ActionErrorKind = kind


class DeviceError(UIGymError):
    """The device failed; nothing that the agent did is to blame."""


class DeviceStartError(DeviceError):
    """The device could not be started."""


class DeviceSetupError(DeviceStartError):
    """The device lacks what a person must install or set up: to try again would not help."""


class DeviceTimeout(DeviceError):
    """The device did not answer before the deadline."""


class DeviceLost(DeviceError):
    """The device is gone and must be replaced."""


def nearest(name: str, known: Iterable[str], *, likeness: float = 0.5) -> str:
    """A hint that ends an error message: the nearest known names, or all of them if few.

    Names less alike than `likeness`, from 0 to 1, are not near.
    """
    import difflib  # for messages alone, and `import ui_gym` should be quick

    names = sorted(known)
    lowered = {n.lower(): n for n in names}
    close = difflib.get_close_matches(name.lower(), lowered, n=3, cutoff=likeness)
    if close:
        return "Did you mean " + " or ".join(repr(lowered[c]) for c in close) + "?"
    if not names:
        return "None is known."
    shown = ", ".join(repr(n) for n in names[:12])
    return f"Known: {shown}{', ...' if len(names) > 12 else ''}."
