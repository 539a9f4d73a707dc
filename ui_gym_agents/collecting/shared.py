"""A collector that all processes of a run have, each with envs of its own (``env.per_rank``).

The main process asks for episodes as ever; whole groups of them go to the processes in turn. Each
plays its share, and the main one gets all episodes with their pictures. What an episode is does not
depend on who plays it (`collector`), but for the last bits of a model's arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeVar

from gymnasium.vector import VectorEnv

from ui_gym.errors import UserError
from ui_gym_agents.agents.agent import Agent
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.episode import Episode
from ui_gym_agents.policy.parallel import Processes, main_knows

T = TypeVar("T")

NAMED = ("adb", "adb-direct", "osworld")
"""Kinds of devices whose machines are named: each is one process's."""


class SharedCollector(Collector):
    """Plays episodes together with those of the other `processes`.

    Together they play inside of `leading`, with the agent of each; all else the main process plays
    by itself. The arguments are those of `Collector`. Where the others are not the main process,
    their stores keep pictures until `clear`, and no episodes.
    """

    def __init__(
        self, processes: Processes, envs: VectorEnv[Any, Any, Any], agent: Agent, **settings: Any
    ) -> None:
        super().__init__(envs, agent, **settings)
        self._processes = processes
        self._leading = False

    def leading(self, make: Callable[[], T]) -> T:
        """What `make` returns in the main process; meanwhile the others `follow`."""
        self._leading = True
        try:
            made = make()
        finally:
            self._leading = False
        self._processes.from_main(lambda: None)
        return made

    def follow(self) -> None:
        """Play what the main process asks for, until it has all.

        Raises:
            ProcessError: another process failed.
        """
        while (shares := self._processes.from_main(main_knows)) is not None:
            self._play(shares)

    def episodes(
        self, requests: Iterable[EpisodeRequest], agent: Agent | None = None
    ) -> Iterator[Episode]:
        """As of `Collector`; those that are played together come when all have ended."""
        if not self._leading or agent not in (None, self.agent):
            yield from super().episodes(requests, agent)
            return
        shares = shares_of(list(requests), self._processes.count)
        yield from self._play(self._processes.from_main(lambda: shares))

    def _play(self, shares: Sequence[Sequence[EpisodeRequest]]) -> list[Episode]:
        """Play this process's share; the episodes of all."""
        processes, play, pictures = self._processes, super().episodes, self.store.screenshots
        played = processes.gather(lambda: list(play(shares[processes.index])))
        seen = [self._seen(part, share) for part, share in zip(played, shares, strict=True)]
        keeping = iter([keep for part in seen[1:] for keep in part.values()])
        processes.hand_in(
            lambda: map(pictures.get, seen[processes.index]),
            lambda picture: pictures.put(picture, keep=next(keeping)),
        )
        if processes.is_main:
            for episode in chain.from_iterable(played[1:]):
                self._record(episode)
        return list(chain.from_iterable(played))

    def _seen(self, played: Sequence[Episode], share: Sequence[EpisodeRequest]) -> dict[str, bool]:
        """The keys of the pictures of a share's episodes, and which of them are to be kept."""
        filmed = self._to_film(share)
        found: dict[str, bool] = {}
        for episode in played:
            for key in filter(None, episode.screenshot_ids):
                found[key] = found.get(key, False) or episode.group in filmed
        return found


def shares_of(requests: Sequence[EpisodeRequest], count: int) -> list[list[EpisodeRequest]]:
    """What each of `count` processes plays: whole groups, in turn."""
    numbers = {group: n for n, group in enumerate(dict.fromkeys(r.group for r in requests))}
    shares: list[list[EpisodeRequest]] = [[] for _ in range(count)]
    for request in requests:
        shares[numbers[request.group] % count].append(request)
    return shares


def own_machines(device: str, processes: Processes) -> str:
    """The setting `env.device` for this process: of machines that are named, every so many-th.

    Raises:
        UserError: there is none for it.
    """
    kind, _, names = device.partition(":")
    if kind not in NAMED:
        return device
    own = processes.share(names.split(","))
    if not own:
        raise UserError(
            f"--env.device {device} names {names.count(',') + 1} machines, and with "
            f"--env.per_rank each of {processes.count} processes takes some of its own: name more, "
            "or leave it out (--env.per_rank false)"
        )
    return f"{kind}:{','.join(own)}"
