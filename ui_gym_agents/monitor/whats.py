"""What went wrong in an episode, by kind, as far as the episode itself shows it."""

from __future__ import annotations

import itertools

from ui_gym_agents.episode import Episode
from ui_gym_agents.rewards import MALFORMED

WHATS = ("fault", "parse", "loop", "no_effect", "out_of_steps", "wrong")
"""``fault``: the environment's, which says nothing about the agent. ``parse``: a text was no
action. ``loop``: the same said three times in a row without effect. ``no_effect``: an action that
could be done left the picture as it was. ``out_of_steps``: cut at the limit of turns. ``wrong``: it
ended by itself and was no success."""

LOOP = 3
"""So many times the same, without effect, are a loop."""


def whats_of(episode: Episode) -> tuple[str, ...]:
    """The kinds that hold for an episode, in the order of `WHATS`."""
    turns = episode.turns
    held = {
        "fault": episode.failure is not None,
        "parse": any(turn.action_error in MALFORMED for turn in turns),
        "loop": _repeats(episode) >= LOOP - 1,
        "no_effect": any(
            turn.action_error is None and turn.seen and turn.seen == after
            # What ended the episode had that effect.
            for turn, after in list(zip(turns, _after(episode), strict=True))[
                : -1 if episode.terminated else None
            ]
        ),
        "out_of_steps": episode.ran_out_of_turns,
        "wrong": episode.terminated and not episode.success and episode.failure is None,
    }
    return tuple(what for what in WHATS if held[what])


def _after(episode: Episode) -> list[str]:
    """What was seen after each turn."""
    return [*(turn.seen for turn in episode.turns[1:]), episode.final_screenshot_id][
        : len(episode.turns)
    ]


def _repeats(episode: Episode) -> int:
    """The most turns in a row that said what the one before said, which had changed nothing."""
    longest = row = 0
    for a, b in itertools.pairwise(episode.turns):
        same = a.seen == b.seen and a.action_text.strip() == b.action_text.strip()
        row = row + 1 if same else 0
        longest = max(longest, row)
    return longest
