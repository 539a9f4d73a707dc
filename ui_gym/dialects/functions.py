"""Functions beside a computer tool, for what such tools have no words: answer, open, finish."""

from __future__ import annotations

from typing import Any

from ui_gym.contract.action import Action, Answer, Finish, Open
from ui_gym.contract.tables import read_table
from ui_gym.dialects.common import OUTCOMES, unknown, written
from ui_gym.dialects.fields import Fields
from ui_gym.dialects.jsonish import Object, read_object
from ui_gym.dialects.pointer import PointerState
from ui_gym.errors import ActionError

_TEXTS = read_table(__package__, "texts")["functions"]
_USAGE: dict[str, str] = _TEXTS["usage"]


def call_function(name: str, arguments: Any, pointer: PointerState) -> None:
    """Do what a call of one of the functions says. APIs give arguments as an object or its text.

    Raises:
        ActionError: there is no such function, or an argument is wrong.
    """
    if name not in _USAGE:
        raise unknown("function", name, _USAGE)
    with written(name, _USAGE[name]):
        said = read_object(arguments) if isinstance(arguments, str) else arguments
        if not isinstance(said, dict):
            raise ActionError("argument", "the arguments are no JSON object")
        pointer.do(_build(name, Fields(said)))


def function_of(action: Action) -> tuple[str, Object] | None:
    """The function that says `action`, and its arguments; None if none does."""
    match action:
        case Answer(text=text):
            return "answer", {"text": text}
        case Open(target=target):
            return "open", {"target": target}
        case Finish(outcome=outcome, message=message):
            return "finish", {"outcome": outcome} | ({"message": message} if message else {})
    return None


def teach_functions() -> str:
    """A line for each function, for a prompt."""
    meanings = _TEXTS["meanings"]
    return "\n".join(f"- {name} {usage}: {meanings[name]}" for name, usage in _USAGE.items())


def _build(name: str, said: Fields) -> Action:
    match name:
        case "answer":
            return Answer(said.text("text"))
        case "open":
            return Open(said.text("target", "app", "app_name", "url"))
        case _:
            outcome = said.choice(OUTCOMES, "outcome", "status", default="success")
            return Finish(outcome, said.text("message", default=""))
