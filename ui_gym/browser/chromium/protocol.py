"""The words of the DevTools protocol: what is sent and what comes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Message = dict[str, Any]
"""What the browser sends: a result, or the parameters of an event."""

Command = tuple[str, Mapping[str, Any]]
"""A method and its parameters."""

Run = Callable[[Sequence[Command]], list[Message]]
"""Sends commands to the page and waits for their results."""
