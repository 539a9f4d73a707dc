"""Everything that acts or looks after learning: agents, collecting, evaluation, records, training.

The names below are the public surface; each is imported when it is first used, so that an agent
needs no torch. What trains is a plugin (`ui_gym_agents.training.plugin`)::

    import gymnasium as gym
    import ui_gym
    from ui_gym_agents import Collector, EpisodeRequest, OracleAgent, evaluate

    envs = gym.make_vec("UI/DataEntry-v0", 8, compact=True)
    report = evaluate(Collector(envs, OracleAgent()), [EpisodeRequest(seed=s) for s in range(50)])
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ui_gym_agents.agents import OracleAgent, RandomAgent, ScriptedAgent, make_agent
    from ui_gym_agents.agents.agent import Agent, Decision, View
    from ui_gym_agents.agents.openai_chat import OpenAIAgent
    from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
    from ui_gym_agents.episode import Episode, TokenRecord, Turn
    from ui_gym_agents.evaluation.evaluate import EvaluationReport, evaluate
    from ui_gym_agents.policy.policy import VLMPolicy
    from ui_gym_agents.policy.prompts import PromptBuilder
    from ui_gym_agents.store import EpisodeStore, ScreenshotStore
    from ui_gym_agents.training.context import TrainerContext
    from ui_gym_agents.training.plugin import Trainer

_HOMES = {
    "agents": ("OracleAgent", "RandomAgent", "ScriptedAgent", "make_agent"),
    "agents.agent": ("Agent", "Decision", "View"),
    "agents.openai_chat": ("OpenAIAgent",),
    "collecting.collector": ("Collector", "EpisodeRequest"),
    "episode": ("Episode", "TokenRecord", "Turn"),
    "evaluation.evaluate": ("EvaluationReport", "evaluate"),
    "policy.policy": ("VLMPolicy",),
    "policy.prompts": ("PromptBuilder",),
    "store": ("EpisodeStore", "ScreenshotStore"),
    "training.context": ("TrainerContext",),
    "training.plugin": ("Trainer",),
}

__all__ = [
    "Agent",
    "Collector",
    "Decision",
    "Episode",
    "EpisodeRequest",
    "EpisodeStore",
    "EvaluationReport",
    "OpenAIAgent",
    "OracleAgent",
    "PromptBuilder",
    "RandomAgent",
    "ScreenshotStore",
    "ScriptedAgent",
    "TokenRecord",
    "Trainer",
    "TrainerContext",
    "Turn",
    "VLMPolicy",
    "View",
    "evaluate",
    "make_agent",
]


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            found = getattr(importlib.import_module(f"{__name__}.{module}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
