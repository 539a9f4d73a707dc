"""What a task file needs beside setup steps, getters and metrics: applications, the live web, and
what OSWorld's machines have and other desktops have not. ``needs.toml`` says how that is told."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from ui_gym.contract.tables import read_table
from ui_gym.desktop.osworld.taskfile import TaskFile

_ADDRESS = re.compile(r"https?://[^\s\"'<>]+")
_LOCAL = re.compile(r"(localhost|127\.0\.0\.1|::1|.*\.(example|invalid|test))?")
"""Hosts that are this machine, or by RFC 2606 nobody's."""


@dataclass(frozen=True)
class NeededApp:
    """An application: its Debian `package` (empty where Debian has none), the `program` that was
    looked for, and whether it is there."""

    package: str
    program: str
    installed: bool

    def __str__(self) -> str:
        where = self.package or f"{self.program} (not in Debian)"
        return f"{where}, installed" if self.installed else where


def apps(task: TaskFile) -> tuple[NeededApp, ...]:
    """The applications that a task is set up and played with, as this machine has them."""
    words = {task.domain.lower(), *(word.lower() for word in task.related_apps)}
    opened = [step.parameters.get("path") for step in task.steps if step.kind == "open"]
    endings = {PurePosixPath(path).suffix.lower() for path in opened if isinstance(path, str)}
    text = _setup_text(task)
    found = []
    for told in _table("apps").values():
        named = words & set(told["words"]) or endings & set(told.get("endings", ()))
        if named or ("commands" in told and re.search(told["commands"], text)):
            found.append(_app(told["package"], told["programs"]))
    return (*found, *(_app(name, (name,)) for name in task.apps if not _is_among(name, found)))


def web(task: TaskFile) -> str:
    """Why a task needs the live web; empty if it does not."""
    told = _table("web")
    for step in task.steps:
        if step.kind in ("chrome_open_tabs", "chrome_close_tabs"):
            for url in _addresses(step.parameters):
                return f"opens {url}"
    for config in _configs(task):
        kind = config["type"]
        if kind in told["getters"] or (kind in told["addresses"] and any(_addresses(config))):
            return f"is judged by a page ({kind})"
    for check in task.checks:
        if check.result["type"] in told["addresses"] and any(_addresses(check.expected)):
            return f"is judged by a page ({check.result['type']})"
    for url in _addresses(task.instruction):
        return f"is about {url}"
    if found := re.search(told["commands"], _text(task)):
        return f"gets something ({found[0].strip()})"
    if task.raw.get("proxy") is True:
        return "is played over a proxy"
    return "gets something" if task.id in told["tasks"] else ""


def machine(task: TaskFile) -> str:
    """What of OSWorld's machines a task needs (GNOME, ``sudo``); empty if nothing."""
    told = _table("machine")
    if found := re.search(told["commands"], _text(task)):
        return "sudo" if found[0] in ("sudo", "{CLIENT_PASSWORD}") else found[0]
    return "GNOME" if task.id in told["tasks"] else ""


def _table(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = read_table("ui_gym.desktop.osworld", "needs")[name]
    return found


def _app(package: str, programs: tuple[str, ...]) -> NeededApp:
    there = next((name for name in programs if shutil.which(name)), None)
    return NeededApp(package, there or programs[0], there is not None)


def _is_among(name: str, found: list[NeededApp]) -> bool:
    return any(name in (app.package, app.program) for app in found)


def _configs(task: TaskFile) -> Iterator[Mapping[str, Any]]:
    for check in task.checks:
        yield from (config for config in (check.result, check.expected) if config)


def _setup_text(task: TaskFile) -> str:
    return _written([dict(step.parameters) for step in task.steps])


def _text(task: TaskFile) -> str:
    """All that the setup steps and the getters hold."""
    return _setup_text(task) + _written([dict(config) for config in _configs(task)])


def _written(value: object) -> str:
    return json.dumps(value).replace("\\n", "\n").replace('\\"', '"')


def _addresses(value: Any) -> Iterator[str]:
    """The addresses of other machines in a value, wherever they stand in it."""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    for url in _ADDRESS.findall(text):
        if not _LOCAL.fullmatch(urlsplit(url).hostname or ""):
            yield url
