"""Group-relative policy optimisation for ui-gym."""

from ui_gym_agents.groups.registry import register_advantage
from ui_gym_grpo.config import GRPOConfig
from ui_gym_grpo.registry import register_loss
from ui_gym_grpo.trainer import GRPOTrainer

__all__ = ["GRPOConfig", "GRPOTrainer", "register_advantage", "register_loss"]
