"""Engines: what turns prompts into sampled tokens, in this process or on a server."""

from ui_gym_agents.engines.protocol import (
    Engine,
    EngineAnswer,
    EngineError,
    EngineQuestion,
    Sampling,
)

__all__ = ["Engine", "EngineAnswer", "EngineError", "EngineQuestion", "Sampling"]
