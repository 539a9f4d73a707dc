"""GRPO over the Tinker API, for ui-gym."""

from ui_gym_tinker.config import TinkerConfig
from ui_gym_tinker.trainer import TinkerTrainer

__all__ = ["TinkerConfig", "TinkerTrainer"]
