"""All plays, entered."""

from __future__ import annotations

from ui_gym.android.androidworld import markor_plays, record_plays, system_plays
from ui_gym.android.androidworld.playbook import PLANS, WorldGoal

__all__ = ["PLANS", "WorldGoal", "markor_plays", "record_plays", "system_plays"]
