"""Adapters for other people's trainers, evaluators and agents, each behind an extra of its own.

Nothing else of the packages imports them, and each is built on `ui_gym_agents.chat.ChatEpisode`.
"""
