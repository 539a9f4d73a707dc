"""A vision-language model as a policy: pictures and a goal in, text and token records out.

What needs torch is imported when first asked for: prompts alone need none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ui_gym_agents.policy.prompts import PromptBuilder

if TYPE_CHECKING:
    from ui_gym_agents.policy.loading import load_policy
    from ui_gym_agents.policy.policy import VLMPolicy

__all__ = ["PromptBuilder", "VLMPolicy", "load_policy"]


def __getattr__(name: str) -> Any:
    if name == "load_policy":
        from ui_gym_agents.policy.loading import load_policy

        return load_policy
    if name == "VLMPolicy":
        from ui_gym_agents.policy.policy import VLMPolicy

        return VLMPolicy
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
