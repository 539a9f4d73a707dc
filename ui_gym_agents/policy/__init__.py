"""A vision-language model as a policy: pictures and a goal in, text and token records out.

`VLMPolicy` is imported when first asked for: prompts alone need no torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ui_gym_agents.policy.prompts import PromptBuilder

if TYPE_CHECKING:
    from ui_gym_agents.policy.policy import VLMPolicy

__all__ = ["PromptBuilder", "VLMPolicy"]


def __getattr__(name: str) -> Any:
    if name == "VLMPolicy":
        from ui_gym_agents.policy.policy import VLMPolicy

        return VLMPolicy
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
