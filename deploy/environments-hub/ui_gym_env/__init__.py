"""ui-gym as a taskset of verifiers: the module that its id ``ui-gym-env`` names."""

from ui_gym_agents.integrations.verifiers import UIGymEnv, UIGymHarness, UIGymTaskset

__all__ = ["UIGymEnv", "UIGymHarness", "UIGymTaskset"]
