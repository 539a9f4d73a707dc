"""Setup steps: what is done before an episode (``config``) and before it is judged
(``postconfig``).

As on OSWorld's machines, a step that goes wrong without breaking the machine (a command that fails,
a window that is not there) is no error: it is noted, in the context's `notes`, and the next step is
done. Two things differ. Pauses end early where the machine is at rest (see
`ui_gym.desktop.osworld.pauses`), as theirs are meant for slow virtual machines. And what OSWorld
would wait for without an end has a deadline.

Not here: ``googledrive`` and ``login``, which need accounts of a service.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence

from ui_gym.desktop.osworld.placeholders import at_home
from ui_gym.desktop.osworld.registry import SETUPS, EvaluationContext
from ui_gym.desktop.osworld.taskfile import SetupStep
from ui_gym.errors import DeviceError, UserError


def run_steps(context: EvaluationContext, steps: Sequence[SetupStep]) -> None:
    """Do the steps in order.

    Raises:
        UserError: a step is not known, or its parameters are not those that it takes.
        DeviceError: the machine failed, or lacks a program. Names the step.
    """
    for step in steps:
        where = f"task {context.task}, {step.place} ({step.kind})"
        function = SETUPS.find(step.kind)
        given = at_home(dict(step.parameters), context.device.home)
        try:
            inspect.signature(function).bind(context, **given)
        except TypeError as error:
            raise UserError(f"{where}: {error}") from error
        try:
            function(context, **given)
        except (DeviceError, UserError) as error:
            raise type(error)(f"{where}: {error}") from error
