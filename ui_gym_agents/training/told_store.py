"""An episode store that tells a run's listeners what comes in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from ui_gym_agents.episode import Episode
from ui_gym_agents.store import EpisodeStore
from ui_gym_agents.training.listeners import Place, RunListener

_GROUP_OF_STEP = re.compile(r"(\d+)-\d+")


class ToldStore(EpisodeStore):
    """Tells `listener` of every episode once it is stored, with what `place` says it was for."""

    def __init__(
        self, folder: Path, listener: RunListener, place: Callable[[Episode], Place]
    ) -> None:
        super().__init__(folder)
        self._listener = listener
        self._place = place

    def add(self, episodes: Iterable[Episode]) -> None:
        added = list(episodes)
        super().add(added)
        for episode in added:
            self._listener.episode(episode, self._place(episode))


def step_of(episode: Episode, otherwise: int) -> int:
    """The training step that asked for an episode: the group ``12-3`` is of step 12.

    `otherwise` is taken where a trainer names its groups in another way.
    """
    match = _GROUP_OF_STEP.fullmatch(episode.group)
    return int(match[1]) if match else otherwise
