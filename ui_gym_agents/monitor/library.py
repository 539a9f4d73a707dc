"""The library: which sources there are, and what is new in them.

One thread looks at all of them: often at what is going on, and now and then at the rest and for new
ones. It reads sizes of files, and opens what has grown.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ui_gym.errors import UserError
from ui_gym_agents import store
from ui_gym_agents.monitor.index import MonitorIndex
from ui_gym_agents.monitor.sources import Source
from ui_gym_agents.monitor.sources.folder import EvaluationFolder, RunFolder
from ui_gym_agents.training import event_log

LOOK = 0.15
"""Seconds between two looks at what is going on."""
REST = 2.0
"""Seconds between two looks at what is not, and for new sources."""
ALIVE = 60.0
"""Seconds after its last change for which a source is looked at often."""
SELDOM = 1.0
"""Seconds between two changes that tell of more episodes alone."""
NEWS = ("status", "step", "phase", "error")
"""Facts of a run that pages are told of at once."""
DEPTH = 4
"""How deep below a folder runs are looked for."""

Changed = Callable[[str], None]


class Shelf:
    """What lies at a place that was named, or in folders below it: asked again now and then.

    A folder is read again when its time of change is another one: ten thousand files in it cost one
    look.
    """

    def __init__(self, place: Path) -> None:
        self.place = place
        self._known: dict[Path, tuple[int, Source | None, list[Path]]] = {}

    def sources(self) -> Iterable[Source]:
        """What lies there now."""
        yield from self._below(self.place, DEPTH)

    def _below(self, place: Path, depth: int) -> Iterator[Source]:
        try:
            changed = place.stat().st_mtime_ns
            known = self._known.get(place)
            if known is None or (known[0] != changed and known[1] is None):
                source = _source(place)
                known = changed, source, [] if source else _inside(place)
                self._known[place] = known
        except OSError:
            return  # it is not there, or not ours to read
        _, source, inside = known
        if source is not None:
            yield source
        elif depth:
            for child in inside:
                yield from self._below(child, depth - 1)


@dataclass
class Shelved:
    """A source with what the library knows of it."""

    source: Source
    trouble: str = ""
    gone: bool = False
    changed: float = 0.0
    """Monotonic seconds of its last change."""
    news: tuple[Any, ...] = ()
    """What pages are told of at once."""
    told: float = 0.0
    """Monotonic seconds of when they were told of a change."""
    untold: bool = False
    """Whether something changed since."""
    lock: threading.Lock = field(default_factory=threading.Lock)


class Library:
    """The sources below `shelves`, kept up to date while it is open.

    Args:
        shelves: Where sources come from.
        index: What lists are made of.
        changed: Is told the id of each run that changed, and ``*`` where there are others.
    """

    def __init__(
        self, shelves: Sequence[Shelf], index: MonitorIndex, changed: Changed = lambda run: None
    ) -> None:
        self.index = index
        self.shelves = shelves
        self.changed = changed
        self._found: dict[str, Shelved] = {}
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="monitor", daemon=True)

    def start(self) -> None:
        """Look once, so that something is known, and go on looking."""
        self._discover()
        self._thread.start()

    def close(self) -> None:
        """Look no more."""
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join()

    def all(self) -> list[Shelved]:
        """All sources that were found."""
        return list(self._found.values())

    def get(self, run: str) -> Shelved:
        """A source by its id. KeyError if there is none."""
        return self._found[run]

    def refresh(self, run: str) -> bool:
        """Take in what is new in a source now; whether anything was."""
        shelved = self._found[run]
        with shelved.lock:
            return self._refresh(shelved)

    def look(self) -> None:
        """Look for new sources, and take in what is new in all."""
        self._discover()
        for shelved in self.all():
            while self.refresh(shelved.source.id):
                continue  # a look takes in a part

    # -- the thread --

    def _run(self) -> None:
        rested = 0.0
        while not self._ending.is_set():
            now = time.monotonic()
            everything = now - rested >= REST
            if everything:
                rested = now
                self._discover()
            for shelved in self.all():
                if self._ending.is_set():
                    return
                if everything or now - shelved.changed < ALIVE:
                    with shelved.lock:
                        self._refresh(shelved)
            self._ending.wait(LOOK)

    def _discover(self) -> None:
        more = False
        for shelf in self.shelves:
            for source in _sources(shelf):
                if source.id not in self._found:
                    self._found[source.id] = Shelved(source, changed=time.monotonic())
                    more = True
        if more:
            self.changed("*")

    def _refresh(self, shelved: Shelved) -> bool:
        grown = False
        try:
            grown = shelved.source.refresh(self.index)
            shelved.trouble, shelved.gone = "", False
        except FileNotFoundError as error:
            shelved.trouble, shelved.gone = str(error), True
        except (OSError, UserError) as error:
            shelved.trouble = f"{error}"
        except Exception as error:  # one that is in trouble does not end the look at the others
            shelved.trouble = f"{type(error).__name__}: {error}"
        if grown:
            shelved.changed = time.monotonic()
        self._tell(shelved, grown)
        return grown

    def _tell(self, shelved: Shelved, grown: bool) -> None:
        """Tell pages of a change: of episodes alone, which come all the time, now and then."""
        facts = self.index.facts(shelved.source.id) if grown else {}
        news: tuple[Any, ...] = (shelved.trouble, shelved.gone)
        news += tuple(map(facts.get, NEWS)) if grown else shelved.news[2:]
        shelved.untold = shelved.untold or grown or news != shelved.news
        late = time.monotonic() - shelved.told >= SELDOM
        if shelved.untold and (late or news != shelved.news):
            shelved.told, shelved.untold = time.monotonic(), False
            self.changed(shelved.source.id)
        shelved.news = news


def _sources(shelf: Shelf) -> list[Source]:
    """What a shelf holds; nothing while it cannot say."""
    try:
        return list(shelf.sources())
    except Exception:  # what is odd in one place does not end the look at the others
        return []


def _source(place: Path) -> Source | None:
    """What lies at a place, if it is something with episodes."""
    if place.suffix == ".eval" and place.is_file():
        from ui_gym_agents.monitor.sources.inspect_log import InspectLog

        return InspectLog(place)
    if not place.is_dir():
        return None
    if (place / event_log.FILE).exists():
        return RunFolder(place)
    if (place / store.FILE).exists():
        return EvaluationFolder(place)
    from ui_gym_agents.monitor.sources import osworld

    return osworld.OSWorldResults(place) if osworld.is_results(place) else None


def _inside(place: Path) -> list[Path]:
    """The folders and logs in a folder."""
    if not place.is_dir():
        return []
    with os.scandir(place) as entries:
        return sorted(
            Path(entry.path)
            for entry in entries
            if not entry.name.startswith(".") and (entry.is_dir() or entry.name.endswith(".eval"))
        )
