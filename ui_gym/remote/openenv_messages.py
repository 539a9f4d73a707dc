"""What OpenEnv's clients are told: observations with their pictures as PNG data, and schemas."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ui_gym.playing.slot import SlotResult
from ui_gym.remote import wire
from ui_gym.remote.png import data_url, png_of

FIELDS = ("goal", "screenshot", "elements", "feedback")
"""Of an observation; null where the env's observations have no such part."""

_TEXT = {"type": "string"}
_MAYBE = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
_METADATA = {"type": "object", "additionalProperties": True, "default": {}}

SCHEMA: dict[str, Any] = {
    "action": {
        "title": "UIAction", "type": "object", "additionalProperties": False,
        "required": ["action"],
        "properties": {
            "action": _TEXT | {"description": 'An action text, such as click(10, 20); type("Ann")'},
            "metadata": _METADATA,
        },
    },
    "observation": {
        "title": "UIObservation", "type": "object", "additionalProperties": False,
        "required": ["goal"],
        "properties": {
            "goal": _TEXT | {"description": "What to do"},
            "screenshot": _MAYBE | {"description": "The screen, a data URL of a PNG picture"},
            "elements": _MAYBE | {"description": "The accessible elements, one a line"},
            "feedback": _TEXT | {
                "description": "What was wrong with the last action, or empty", "default": "",
            },
            "done": {"type": "boolean", "default": False},
            "reward": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None},
            "metadata": _METADATA,
        },
    },
    "state": {
        "title": "UIState", "type": "object", "additionalProperties": True,
        "properties": {
            "episode_id": _MAYBE, "step_count": {"type": "integer", "minimum": 0, "default": 0},
            "task": _MAYBE,
            "seed": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        },
    },
}  # fmt: skip


def observation(result: SlotResult) -> dict[str, Any]:
    """The message that says what came of a reset or a step."""
    ended = {"terminated": result.terminated, "truncated": result.truncated}
    metadata = ended | {
        name: _plain(value)
        for name, value in result.info.items()
        if not name.startswith(("time_", "screenshot_"))
    }
    seen: dict[str, Any] = {name: result.observation.get(name) for name in FIELDS}
    if seen["screenshot"] is not None:
        seen["screenshot"] = data_url(png_of(result))
    # Typed clients look for metadata inside the observation, generic ones beside it.
    return {
        "type": "observation",
        "data": {
            "observation": seen | {"metadata": metadata},
            "reward": None if result.is_reset else float(result.reward),
            "done": result.ended,
            "metadata": metadata,
        },
    }


def _plain(value: Any) -> Any:
    """A value as JSON has it; what JSON has no word for, as its `repr`."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return repr(value)


def description(tasks: Collection[str]) -> dict[str, Any]:
    """What ``/metadata`` says of a server of these tasks; of all, if there are none."""
    tasks = sorted(tasks)
    name = tasks[0] if len(tasks) == 1 else "ui-gym"
    served = f"the tasks {', '.join(tasks)}" if tasks else "all tasks of ui-gym"
    text = f"User-interface tasks with screenshots. Served are {served}; reset(seed, task, ...)."
    more = dict.fromkeys(("readme_content", "author", "documentation_url"))
    return {"name": name, "description": text, "version": wire.VERSION} | more
