"""Film strips for a report: some failures and some successes, of as many tasks as possible."""

from __future__ import annotations

import base64
import dataclasses
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ui_gym.errors import UserError
from ui_gym_agents.episode import Episode
from ui_gym_agents.store import EpisodeStore
from ui_gym_agents.training import outcome

FAILURES = 6
SUCCESSES = 3
FRAMES = 12
"""Of a longer episode, the first half of so many frames is shown, and the last half."""
SAID = 4000
"""Of a longer text, so many characters are shown: the episodes' file holds it whole."""
QUALITY = 80


@dataclass(frozen=True)
class Film:
    """One episode as a report shows it; `picture` is a ``data:`` address."""

    task: str
    seed: int
    goal: str
    success: bool
    score: float
    notes: str
    picture: str
    width: int
    height: int
    left_out: int
    """How many of its frames, in the middle, are not shown."""
    turns: tuple[tuple[str, str], ...]
    """What the agent said in each turn, and the feedback to it."""


def films(episodes: Sequence[Episode], store: EpisodeStore, dialect: str) -> list[Film]:
    """Strips of some failures, then of some successes; an episode without pictures has none."""
    found = []
    for success, most in ((False, FAILURES), (True, SUCCESSES)):
        usable = [e for e in episodes if e.success is success and e.turns and not e.failure]
        found += [_film(episode, store, dialect) for episode in _spread(usable)[:most]]
    return [film for film in found if film is not None]


def _spread(episodes: Sequence[Episode]) -> list[Episode]:
    """All, such that the tasks take turns."""
    by_task: dict[str, int] = {}
    turns = []
    for index, episode in enumerate(episodes):
        turn = by_task[episode.task] = by_task.get(episode.task, -1) + 1
        turns.append((turn, index))
    return [episodes[index] for _, index in sorted(turns)]


def _film(episode: Episode, store: EpisodeStore, dialect: str) -> Film | None:
    short, left_out = _shortened(episode)
    try:
        strip = outcome.film(short, store, dialect, episode.goal)
    except UserError:  # its pictures were not kept
        return None
    return Film(
        task=episode.task,
        seed=episode.seed,
        goal=episode.goal,
        success=episode.success,
        score=episode.score,
        notes=episode.notes,
        picture=_address(strip),
        width=strip.width,
        height=strip.height,
        left_out=left_out,
        turns=tuple((_begun(turn.action_text), _begun(turn.feedback)) for turn in episode.turns),
    )


def _shortened(episode: Episode) -> tuple[Episode, int]:
    """The episode without its middle frames, if it has too many, and how many these are."""
    left_out = len(episode.turns) + 1 - FRAMES
    if left_out <= 0:
        return episode, 0
    half = FRAMES // 2
    kept = [*episode.turns[:half], *episode.turns[half + left_out :]]
    return dataclasses.replace(episode, turns=kept), left_out


def _begun(text: str) -> str:
    """The text, or the beginning of a long one."""
    return text if len(text) <= SAID else f"{text[:SAID]}… ({len(text):,} characters)"


def _address(picture: Any) -> str:
    file = io.BytesIO()
    picture.save(file, "WEBP", quality=QUALITY, method=2)
    return "data:image/webp;base64," + base64.b64encode(file.getvalue()).decode()
