"""What a task file may name: kinds of setup steps, getters and metrics, each registered under
OSWorld's own name.

::

    @getter("vm_file")
    def vm_file(context: Context, config: Config) -> str | None: ...

    @metric("exact_match")
    def exact_match(result: str | None, rules: Config) -> float: ...

    @setup("launch")
    def launch(context: Context, command: Command, shell: bool = False) -> None: ...
"""

from __future__ import annotations

import importlib
import pkgutil
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from ui_gym.desktop.device import DesktopDevice
from ui_gym.errors import UserError, nearest

Config = Mapping[str, Any]
"""A part of a task file: a getter's description, or a metric's rules."""


class FileSource(Protocol):
    """Where the files behind a task's addresses are had."""

    def get(self, url: str) -> Path:
        """The local copy of what lies at `url`. `UserError` says how to have it fetched."""


@dataclass
class EvaluationContext:
    """What a setup step or a getter works with.

    `folder` is the episode's own, for copies of files; `password` that of the machine's user;
    `size` (width, height) of the screen in pixels; `task` the task's id.
    """

    device: DesktopDevice
    files: FileSource
    folder: Path
    size: tuple[int, int]
    task: str = ""
    password: str = "password"
    memory: dict[str, Any] = field(default_factory=dict)
    """What one step leaves to the next, by its own name."""

    def note(self, text: str) -> None:
        """Add a sentence, for people, on what went wrong without breaking the machine."""
        self.memory.setdefault("notes", []).append(text)

    @property
    def notes(self) -> list[str]:
        """The sentences so far."""
        return list(self.memory.get("notes", ()))


class Getter(Protocol):
    """Brings what a metric looks at: a value, or the path of a local file; None if there is
    nothing. It raises `DeviceError` where the machine failed, and nothing for what an agent did."""

    def __call__(self, context: EvaluationContext, config: Config) -> Any: ...


Metric = Callable[..., float]
"""``metric(result, [expected], **options)``: a score in [0, 1]. A result that is missing, broken
or not of its kind is 0, never an exception: it is what an agent left."""

Setup = Callable[..., None]
"""``setup(context, **parameters)``: does one step of ``config`` or ``postconfig``."""

F = TypeVar("F", bound=Callable[..., Any])


class Registry(Mapping[str, F]):
    """Functions by name; those that are built in, in the package of that kind, are imported at the
    first look."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._known: dict[str, F] = {}
        self._loaded = False
        self._lock = threading.RLock()

    def add(self, *names: str) -> Callable[[F], F]:
        """A decorator that registers a function under these names."""

        def keep(function: F) -> F:
            for name in names:
                if name in self._known:
                    raise ValueError(f"there are two {self.kind}s called {name!r}")
                self._known[name] = function
            return function

        return keep

    def find(self, name: str) -> F:
        """The function of that name. `UserError` names the nearest."""
        if name not in self:
            raise UserError(f"there is no {self.kind} {name!r}. {nearest(name, self)}")
        return self[name]

    def __getitem__(self, name: str) -> F:
        self._load()
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        self._load()
        return iter(sorted(self._known))

    def __len__(self) -> int:
        self._load()
        return len(self._known)

    def _load(self) -> None:
        with self._lock:
            if not self._loaded:
                self._loaded = True
                package = importlib.import_module(f"ui_gym.desktop.osworld.{self.kind}s")
                for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
                    importlib.import_module(module.name)


SETUPS: Registry[Setup] = Registry("setup")
GETTERS: Registry[Getter] = Registry("getter")
METRICS: Registry[Metric] = Registry("metric")

setup, getter, metric = SETUPS.add, GETTERS.add, METRICS.add
