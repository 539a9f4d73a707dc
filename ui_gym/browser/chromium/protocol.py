"""The words of the DevTools protocol: what is sent and what comes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ui_gym.errors import TaskError

Message = dict[str, Any]
"""What the browser sends: a result, or the parameters of an event."""

Command = tuple[str, Mapping[str, Any]]
"""A method and its parameters."""

Run = Callable[[Sequence[Command]], list[Message]]
"""Sends commands to the page and waits for their results."""


def evaluation(expression: str, *, promise: bool = False, as_user: bool = False) -> Command:
    """The command that evaluates a script; `as_user` with the rights of a person's click."""
    return (
        "Runtime.evaluate",
        {"expression": expression, "returnByValue": True, "awaitPromise": promise,
         "userGesture": as_user},
    )  # fmt: skip


def value_of(result: Message) -> Any:
    """The value of an `evaluation`.

    Raises:
        TaskError: the script raised an error, which is a bug of the page or the task.
    """
    if "exceptionDetails" in result:
        details = result["exceptionDetails"]
        text = details.get("exception", {}).get("description") or details.get("text")
        raise TaskError(f"a script in the page failed: {text}")
    return result["result"].get("value")
