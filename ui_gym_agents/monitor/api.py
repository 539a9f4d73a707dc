"""What the page asks for, as plain data: the same for the server and for the single file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ui_gym.errors import UserError
from ui_gym_agents import overrides
from ui_gym_agents.episode import Episode
from ui_gym_agents.monitor import comparing, episodes, player, runs, tokens, workers
from ui_gym_agents.monitor.index import MonitorIndex
from ui_gym_agents.monitor.library import Library, Shelved
from ui_gym_agents.monitor.sources import Source

Params = Mapping[str, str]
SAMPLE_TURNS = 12
"""Turns whose pictures are looked at for a size."""


class NotFound(UserError):
    """There is no such run, episode or page."""


@dataclass(frozen=True)
class MonitorApi:
    """Answers to the page. `control`: whether it may give orders to runs."""

    library: Library
    control: bool = False

    def answer(self, path: str, params: Params) -> dict[str, Any]:
        """The answer to a path below ``/api/``, such as ``runs/ID/steps``.

        Raises:
            NotFound: there is no such thing.
            UserError: a parameter is wrong, or what is asked for cannot be read any more.
        """
        for pattern, method in _ROUTES:
            if match := pattern.fullmatch(path):
                found: dict[str, Any] = method(self, params, **match.groupdict())
                return found
        raise NotFound(f"there is no page {path[:100]!r}")

    @property
    def index(self) -> MonitorIndex:
        return self.library.index

    def shelved(self, run: str) -> Shelved:
        """A run by its id. NotFound if there is none."""
        try:
            return self.library.get(run)
        except KeyError:
            raise NotFound(f"there is no run {run[:40]!r} in the folders that are shown") from None

    # -- runs --

    def all_runs(self, params: Params) -> dict[str, Any]:
        found = [runs.summary(self.index, shelved) for shelved in self.library.all()]
        found.sort(key=lambda run: str(run["started"]), reverse=True)
        folders = [str(shelf.place) for shelf in self.library.shelves]
        return {"runs": found, "folders": folders, "control": self.control, "static": False}

    def run(self, params: Params, run: str) -> dict[str, Any]:
        return runs.details(self.index, self.shelved(run)) | {"control": self.control}

    def steps(self, params: Params, run: str) -> dict[str, Any]:
        self.shelved(run)
        return runs.steps(self.index, run, episodes.number(params, "after") or 0)

    def workers(self, params: Params, run: str) -> dict[str, Any]:
        source = self.shelved(run).source
        tells = getattr(source, "workers", None)  # a server tells of itself
        found: dict[str, Any] = tells() if tells else workers.workers(source.folder)
        return found

    # -- lists --

    def episodes(self, params: Params, run: str) -> dict[str, Any]:
        self.shelved(run)
        return episodes.page(self.index, run, params)

    def failures(self, params: Params, run: str) -> dict[str, Any]:
        self.shelved(run)
        return episodes.failures(self.index, run, params)

    def seeds(self, params: Params, run: str) -> dict[str, Any]:
        self.shelved(run)
        return episodes.seeds(self.index, run, params)

    def through(self, params: Params, run: str) -> dict[str, Any]:
        self.shelved(run)
        return episodes.through(self.index, run, params)

    def groups(self, params: Params, run: str) -> dict[str, Any]:
        self.shelved(run)
        return episodes.groups(self.index, run, params)

    def group(self, params: Params, run: str, group: str) -> dict[str, Any]:
        source = self.shelved(run).source
        found = episodes.members(self.index, run, group, episodes.number(params, "step"))
        if not found:
            raise NotFound(f"there is no group {group[:40]!r}")
        whole = [source.episode(self.place(run, one["id"])) for one in found]
        worths = {
            one["score"] if one["reward"] is None else one["reward"]
            for one in found
            if one["failure"] is None
        }
        for one, episode in zip(found, whole, strict=True):
            one["actions"] = [turn.action_text for turn in episode.turns]
            one["pictures"] = list(episode.screenshot_ids)
        return {
            "group": group, **{name: found[0][name] for name in ("step", "task", "seed", "goal")},
            "equal": len(worths) == 1, "part": player.parting(whole), "episodes": found,
        }  # fmt: skip

    # -- one episode --

    def episode(self, params: Params, run: str, id: str) -> dict[str, Any]:
        source = self.shelved(run).source
        place = self.place(run, id)
        episode = source.episode(place)
        config = self.index.facts(run).get("config") or {}
        dialect = _dialect(config)
        before, behind = episodes.neighbours(self.index, run, id, params)
        verdicts = overrides.history(source.folder) if source.folder is not None else ()
        said = [asdict(one) for one in verdicts if one.where == place]
        return {
            **episodes.by_ids(self.index, run, [id])[id],
            **player.detail(episode, self._size(source, episode), dialect, config),
            "overrides": said, "prev": before, "next": behind,
            "may_override": source.folder is not None,
        }  # fmt: skip

    def tokens(self, params: Params, run: str, id: str, turn: str) -> dict[str, Any]:
        episode = self.shelved(run).source.episode(self.place(run, id))
        if int(turn) >= len(episode.turns):
            raise NotFound(f"the episode has {len(episode.turns)} turns")
        config = self.index.facts(run).get("config") or {}
        return tokens.told(episode.turns[int(turn)].tokens, config)

    # -- two runs --

    def compare(self, params: Params) -> dict[str, Any]:
        for side in ("a", "b"):
            self.shelved(params.get(side, "").partition("/")[0])
        return comparing.compare(self.index, params)

    def choices(self, params: Params) -> dict[str, Any]:
        shown = {shelved.source.id for shelved in self.library.all()}  # the index holds others too
        return {"choices": [c for c in comparing.choices(self.index) if c["run"] in shown]}

    # -- what they share --

    def place(self, run: str, id: str) -> str:
        """Where a run's source finds an episode. NotFound if there is none."""
        place = episodes.place_of(self.index, run, id)
        if place is None:
            raise NotFound(f"there is no episode {id[:40]!r}")
        return place

    def _size(self, source: Source, episode: Episode) -> tuple[int, int] | None:
        keys = [key for key in dict.fromkeys(episode.screenshot_ids) if key]
        for key in keys[:SAMPLE_TURNS]:
            if (size := player.picture_size(source.picture(key))) is not None:
                return size
        return None


def _dialect(config: Mapping[str, Any]) -> str:
    env = config.get("env")
    found = env.get("dialect") if isinstance(env, Mapping) else config.get("dialect")
    return str(found or "canonical")


_RUN, _EPISODE = r"runs/(?P<run>\w{1,40})", r"/episodes/(?P<id>\w{1,40})"
_ROUTES: list[tuple[re.Pattern[str], Callable[..., dict[str, Any]]]] = [
    (re.compile(pattern), method)
    for pattern, method in (
        ("runs", MonitorApi.all_runs),
        (_RUN, MonitorApi.run),
        (f"{_RUN}/steps", MonitorApi.steps),
        (f"{_RUN}/workers", MonitorApi.workers),
        (f"{_RUN}/episodes", MonitorApi.episodes),
        (_RUN + _EPISODE, MonitorApi.episode),
        (f"{_RUN}{_EPISODE}/turns/(?P<turn>\\d{{1,6}})/tokens", MonitorApi.tokens),
        (f"{_RUN}/groups", MonitorApi.groups),
        (f"{_RUN}/groups/(?P<group>.{{1,200}})", MonitorApi.group),
        (f"{_RUN}/failures", MonitorApi.failures),
        (f"{_RUN}/seeds", MonitorApi.seeds),
        (f"{_RUN}/through", MonitorApi.through),
        ("compare", MonitorApi.compare),
        ("compare/choices", MonitorApi.choices),
    )
]
