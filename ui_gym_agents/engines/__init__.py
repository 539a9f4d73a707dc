"""Engines: what turns prompts into sampled tokens, in this process or on a server."""

from ui_gym_agents.engines.protocol import Answer, Engine, EngineError, Question, Sampling

__all__ = ["Answer", "Engine", "EngineError", "Question", "Sampling"]
