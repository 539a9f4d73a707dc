"""ARPO's experience replay (Lu et al. 2025, arXiv:2505.16282): old successes for failing groups.

A group whose episodes all failed alike teaches nothing. If an earlier episode of the same task
instance did well, one drawn from its last few takes the place of the group's first member.

Departures from ARPO's code: an episode keeps the log-probabilities of the policy that played it,
so that a learner can correct its loss for its age; age and number of uses are bounded; what is
stored is part of a checkpoint; replayed episodes count in no success figure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ui_gym_agents.episode import Episode
from ui_gym_agents.groups.settings import ReplaySettings
from ui_gym_agents.store import from_json, to_json


@dataclass
class _Kept:
    episode: Episode
    step: int
    uses: int = 0


@dataclass
class ReplayBuffer:
    """Successes by task instance: first in, first out."""

    rule: ReplaySettings
    _kept: dict[str, list[_Kept]] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(len(kept) for kept in self._kept.values())

    def wants(self, group: Sequence[Episode]) -> bool:
        """Whether a group failed as a whole."""
        scores = np.array([episode.score for episode in group])
        spread = float(scores.std(ddof=1)) if len(scores) > 1 else 0.0
        return spread < self.rule.std_below and float(scores.mean()) < self.rule.mean_below

    def draw(self, group: Sequence[Episode], *, step: int, seed: int) -> Episode | None:
        """An old episode of the group's task instance, if there is one; it counts as used."""
        key = instance(group[0])
        usable = [
            kept
            for kept in self._kept.get(key, [])
            if step - kept.step <= self.rule.max_age and kept.uses < self.rule.max_uses
        ]
        if not usable:
            return None
        chosen = usable[int(np.random.default_rng(seed).integers(len(usable)))]
        chosen.uses += 1
        return chosen.episode

    def store(self, episodes: Iterable[Episode], *, step: int) -> list[Episode]:
        """Keep what did well; returns what was kept, whose pictures must be kept too."""
        added = []
        for episode in episodes:
            trainable = all(turn.tokens is not None for turn in episode.turns)
            if episode.score > self.rule.store_above and episode.failure is None and trainable:
                self._kept.setdefault(instance(episode), []).append(_Kept(episode, step))
                added.append(episode)
        for key, kept in list(self._kept.items()):
            fresh = [k for k in kept if step - k.step <= self.rule.max_age]
            fresh = [k for k in fresh if k.uses < self.rule.max_uses][-self.rule.size :]
            if fresh:
                self._kept[key] = fresh
            else:
                del self._kept[key]
        return added

    def save(self, path: Path) -> None:
        """Write all as JSON lines, in order."""
        with path.open("w", encoding="utf-8") as file:
            for kept in self._kept.values():
                for one in kept:
                    line = {"step": one.step, "uses": one.uses, "episode": to_json(one.episode)}
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def load(self, path: Path) -> None:
        """Become what `save` wrote."""
        self._kept.clear()
        for line in path.read_text(encoding="utf-8").splitlines():
            read = json.loads(line)
            episode = from_json(read["episode"])
            self._kept.setdefault(instance(episode), []).append(
                _Kept(episode, int(read["step"]), int(read["uses"]))
            )


def instance(episode: Episode) -> str:
    """What two episodes must share to be of one task instance."""
    return f"{episode.task} {episode.seed} {episode.split}"
