"""The dialect ``json``: our own actions as JSON objects, ``{"action": "click", "x": 10, "y": 20}``.

The names of actions and arguments are those of `ui_gym.contract.action`. Several actions are a
list, and the key ``thought`` of an object is thought. ``"element": 12`` stands for a point, as in
``canonical``.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from ui_gym.contract.action import ACTIONS, MAX_ACTIONS, Action, build, shorten
from ui_gym.contract.tables import read_table
from ui_gym.dialects.canonical import MEANINGS
from ui_gym.dialects.common import unknown, written
from ui_gym.dialects.fields import Fields
from ui_gym.dialects.grid import Size
from ui_gym.dialects.jsonish import Object
from ui_gym.dialects.objects import ObjectDialect, Place
from ui_gym.dialects.pointer import PointerState
from ui_gym.dialects.seen import Seen
from ui_gym.errors import ActionError

_TEXTS = read_table(__package__, "texts")["json"]
_PROMPT: str = _TEXTS["prompt"]
_USAGE: dict[str, str] = _TEXTS["usage"]
_THOUGHT = "thought"


class PlainJson(ObjectDialect):
    """Canonical actions as JSON."""

    name = "json"
    example = '{"action": "click", "x": 10, "y": 20}'

    def read(self, said: Fields, pointer: PointerState, size: Size, seen: Seen) -> None:
        given = {key: value for key, value in said.items() if key not in ("action", _THOUGHT)}
        name = said.text("action", default="")
        if name not in _USAGE:
            raise unknown("action", name, _USAGE)
        with written(name, _USAGE[name]):
            _check_names(ACTIONS[name], given)
            for action in build(ACTIONS[name], (), given, seen.locate):
                pointer.do(action)

    def say(self, action: Action, place: Place) -> list[Object]:
        fields = dataclasses.fields(action)
        given = {f.name: getattr(action, f.name) for f in fields}
        kept = {f.name for f in fields if f.name == "outcome" or given[f.name] != f.default}
        return [{"action": action.name} | {n: v for n, v in given.items() if n in kept}]

    def write(self, objects: list[Object], thought: str) -> str:
        first = {_THOUGHT: thought} | objects[0] if thought else objects[0]
        return super().write([first, *objects[1:]], "")

    def prompt(self, size: Size, *, elements: bool = False) -> str:
        lines = [f"- {_USAGE[name]}: {MEANINGS[name]}" for name in ACTIONS]
        return _PROMPT.format(
            width=size[0], height=size[1], actions="\n".join(lines), most=MAX_ACTIONS,
            elements=_TEXTS["elements"] if elements else "",
        )  # fmt: skip


def _check_names(kind: type[Action], given: dict[str, Any]) -> None:
    """Every argument is known, and none that is needed is missing."""
    fields = {field.name: field for field in dataclasses.fields(kind)}
    for name in given:
        if name not in fields and name != "element":
            raise ActionError("argument", f"there is no argument {shorten(name)}")
    for name, field in fields.items():
        named = name in given or (name in ("x", "y") and "element" in given)
        if field.default is dataclasses.MISSING and not named:
            raise ActionError("argument", f"{name} is missing")
