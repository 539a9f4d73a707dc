"""Servers of slots (`ui-gym serve`), as the page of workers shows them.

A server tells how many of its slots are lent and playing (``/capacity``), and counts what it did
(``/metrics``). It does not tell which tasks its clients play. The token is that of its clients,
from the environment.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from ui_gym.errors import UserError
from ui_gym_agents.episode import Episode
from ui_gym_agents.monitor.index import MonitorIndex
from ui_gym_agents.monitor.sources import Picture, source_id
from ui_gym_agents.monitor.workers import NOTHING

TOKEN = "UI_GYM_SERVER_TOKEN"
"""The environment variable with the token that servers want (`ui_gym.remote.wire`)."""
SECONDS = 3.0
"""How long a server may take to answer."""
LOOK = 5.0
"""Seconds between two looks at whether servers are there."""
MOST_BYTES = 1 << 20
AT_ONCE = 8

_LINE = re.compile(r"ui_gym_(\w+?)(?:_total)? (\S+)")


def server_workers(url: str) -> dict[str, Any]:
    """What servers tell of their slots: ``ws://HOST:PORT``, several with commas, or as
    ``ws://HOST:7000-7003``.

    What does not answer is told in ``note``, and the others are shown.

    Raises:
        UserError: it is no such address, or holds a password; or the token is none.
    """
    urls = _urls(url)
    with ThreadPoolExecutor(min(AT_ONCE, len(urls))) as pool:
        found = list(pool.map(_ask, urls))
    slots: list[dict[str, Any]] = []
    for told in found:
        slots += _slots(told, first=len(slots))
    return NOTHING | {
        "at": datetime.now(UTC).isoformat(),
        "slots": slots,
        "nodes": [{k: v for k, v in told.items() if k != "trouble"} for told in found],
        "note": "\n".join(told["trouble"] for told in found if told.get("trouble")),
    }


class ServerShelf:
    """The servers at an address, as one source."""

    def __init__(self, url: str) -> None:
        self.place = url
        self._source = ServedSlots(url)

    def sources(self) -> Iterable[ServedSlots]:
        yield self._source


class ServedSlots:
    """The slots of servers: no run, and no episodes, but workers.

    Raises:
        UserError: the address is none, or holds a password.
    """

    kind = "server"

    def __init__(self, url: str) -> None:
        _urls(url)
        self._url = url
        self.folder: Path | None = None
        self.place = url
        self.id = source_id(url)
        self._next = 0.0
        self._trouble = ""

    def workers(self) -> dict[str, Any]:
        """What the servers tell now."""
        return server_workers(self._url)

    def refresh(self, index: MonitorIndex) -> bool:
        if time.monotonic() >= self._next:
            self._trouble = self.workers()["note"]
            self._next = time.monotonic() + LOOK
        begun = not index.facts(self.id)
        if begun:
            index.put_run(
                self.id, source=self.kind, place=self.place, name=self._url,
                changed=datetime.now(UTC).isoformat(),
            )  # fmt: skip
        if self._trouble:
            raise UserError(self._trouble)
        return begun

    def episode(self, where: str) -> Episode:
        raise UserError(f"{self.place} keeps no episodes: they are in the folders of its clients")

    def picture(self, key: str) -> Picture | None:
        return None


def _urls(url: str) -> list[str]:
    """Servers as clients name them, and checked as they are."""
    from ui_gym.remote.client import server_urls

    asked = (re.sub("^http", "ws", text.strip()) for text in url.split(","))
    return [found for text in asked for found in server_urls(text)]


def _ask(url: str) -> dict[str, Any]:
    """What one server tells, as plain values; ``trouble`` is why it tells nothing."""
    node: dict[str, Any] = {"node": urlsplit(url).netloc}
    try:
        capacity = json.loads(_get(url, "/capacity"))
        if not isinstance(capacity, dict) or not isinstance(capacity.get("slots"), int):
            raise ValueError("it is no server of ui-gym's")
        counts = dict(_LINE.findall(_get(url, "/metrics")))
    except HTTPError as error:
        refused = f"it refuses this client: set {TOKEN} here as it is set there"
        said = refused if error.code in (401, 403) else f"it answers {error.code}"
    except URLError as error:
        gone = isinstance(error.reason, ConnectionRefusedError)
        refused = "the connection was refused; is `ui-gym serve` running there?"
        said = refused if gone else str(error.reason)
    except (OSError, ValueError, HTTPException) as error:
        said = f"{error or type(error).__name__}"
    else:
        tasks = capacity.pop("tasks", None)
        told = {name: _number(text) for name, text in counts.items()}
        return node | told | capacity | {"tasks": "all" if tasks is None else ", ".join(tasks)}
    return node | {"trouble": f"{url}: {said}"}


def _get(url: str, path: str) -> str:
    from ui_gym.remote import asking
    from ui_gym.remote.guard import token_in

    token = token_in(TOKEN)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    page = re.sub("^ws", "http", url) + path
    return asking.get(page, headers, timeout=SECONDS, most=MOST_BYTES).decode("utf-8", "replace")


def _slots(told: dict[str, Any], first: int) -> list[dict[str, Any]]:
    """The slots of a server: those that play, those that are lent and wait, those that are free."""
    if "trouble" in told:
        return []
    count = told["slots"]
    playing = min(count, int(told.get("playing", 0)))
    lent = min(count - playing, max(0, count - int(told.get("free", 0)) - playing))
    states = ["playing"] * playing + ["lent"] * lent + ["free"] * (count - playing - lent)
    return [
        {
            "slot": first + number, "state": state, "episode": None, "seconds": None,
            "task": "not told" if state == "playing" else "", "restarts": None,
            "runner": "server", "node": told["node"],
        }
        for number, state in enumerate(states)
    ]  # fmt: skip


def _number(text: str) -> float | str:
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() else value
