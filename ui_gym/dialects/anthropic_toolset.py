"""Anthropic's computer toolset: each action is a tool of its own.

    {"type": "tool_use", "name": "left_click", "toolset_name": "computer",
     "input": {"coordinate": [10, 20]}}

Source of the format: Anthropic's Messages API, the toolset ``computer_toolset_20260801``; the
inputs are those of ``anthropic.types.beta.beta_computer_*_input``. A block, a list of blocks and a
whole message are read alike; several blocks are several actions of one step.

The members do what the actions of the older tool do, and what the toolset leaves open is defined as
there: `ui_gym.dialects.anthropic`. ``zoom`` and ``cursor_position`` are refused here: a text that
says what to do cannot show anything. Whoever serves the toolset can answer them himself.
"""

from __future__ import annotations

from ui_gym.contract.action import Action
from ui_gym.contract.tables import read_table
from ui_gym.dialects.anthropic import Anthropic, perform, say
from ui_gym.dialects.common import NOTCH, unknown
from ui_gym.dialects.fields import Fields
from ui_gym.dialects.functions import call_function, function_of, teach_functions
from ui_gym.dialects.grid import Size
from ui_gym.dialects.jsonish import Object
from ui_gym.dialects.objects import Place
from ui_gym.dialects.pointer import PointerState

TOOLSET = "computer"

_TEXTS = read_table(__package__, "texts")["anthropic_toolset"]
_PROMPT: str = _TEXTS["prompt"]
_USAGE: dict[str, str] = _TEXTS["usage"]
_FUNCTIONS = ("answer", "open", "finish")


class AnthropicToolset(Anthropic):
    """The members of Anthropic's computer toolset."""

    name = "anthropic_toolset"
    example = _USAGE["left_click"]

    def say(self, action: Action, place: Place) -> list[Object]:
        if function_of(action) is not None:
            return super().say(action, place)
        return [_block(one.pop("action"), one) for one in say(action)]

    def prompt(self, size: Size, *, elements: bool = False) -> str:
        return _PROMPT.format(
            width=size[0], height=size[1], actions="\n".join(_USAGE.values()), notch=NOTCH,
            functions=teach_functions(),
        )  # fmt: skip

    def _block(self, block: Fields, pointer: PointerState) -> None:
        kind = block.get("type")
        if kind == "text":
            return pointer.remark(block.text("text"))
        if kind in ("thinking", "redacted_thinking"):
            return None
        name = block.text("name", default="")
        toolset = block.text("toolset_name", default="")
        if name in _FUNCTIONS and not toolset:
            return call_function(name, block.get("input"), pointer)
        if toolset not in ("", TOOLSET):
            raise unknown("toolset", toolset, [TOOLSET])
        inputs = block.objects("input") if block.has("input") else []
        return perform(name, inputs[0] if inputs else Fields({}), pointer, _USAGE)


def _block(name: str, arguments: Object) -> Object:
    return {"type": "tool_use", "name": name, "toolset_name": TOOLSET, "input": arguments}
