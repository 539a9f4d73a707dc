"""Loading AndroidWorld's package: its modules get chance, time and temporary files of their own.

AndroidWorld draws from Python's one global generator, waits by `time.sleep`, and passes files
through the machine's temporary folder under fixed names. Here several slots play at once, in
threads of one process, an episode follows from its seed alone, and the built-in phone has nothing
to wait for. So its modules are given, in place of `random`, `time` and what else is not the
seed's, objects that do the same for each thread on its own. Within `drawing` a thread's generators
have a seed; `waiting` says whether its sleeps are slept.
"""

from __future__ import annotations

import datetime
import importlib
import importlib.util
import os
import random
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any

from ui_gym.android.androidworld.catalogue import COLLECTION, REMEDY
from ui_gym.errors import UserError

START = datetime.datetime(2023, 10, 15, 15, 34)
"""When AndroidWorld's episodes begin, which it also takes for the machine's own time here."""


class _OfThread(threading.local):
    """What is each thread's own."""

    def __init__(self) -> None:
        self.random = random.Random()
        self.apart = random.Random()
        """For what AndroidWorld takes from the machine: no draw of the other generator moves."""
        self.waits = True
        self.folder: tempfile.TemporaryDirectory[str] | None = None


_OWN = _OfThread()


@contextmanager
def drawing(seed: int) -> Iterator[None]:
    """Within it, this thread's AndroidWorld draws from generators of this seed."""
    before = _OWN.random, _OWN.apart
    _OWN.random, _OWN.apart = random.Random(seed), random.Random(f"apart {seed}")
    try:
        yield
    finally:
        _OWN.random, _OWN.apart = before


@contextmanager
def waiting(waits: bool) -> Iterator[None]:
    """Within it, this thread's AndroidWorld sleeps, or does not. Its temporary files go then."""
    before, _OWN.waits = _OWN.waits, waits
    try:
        yield
    finally:
        _OWN.waits = before
        if _OWN.folder is not None:
            _OWN.folder.cleanup()
            _OWN.folder = None


@cache
def task_classes() -> dict[str, type[Any]]:
    """AndroidWorld's task classes by their names.

    Raises:
        UserError: it is not installed, or something that it needs is not.
    """
    if importlib.util.find_spec(COLLECTION) is None:
        raise UserError(f"the package android_world cannot be imported. {REMEDY}")
    try:
        registry: Any = importlib.import_module("android_world.registry")
        found: dict[str, type[Any]] = registry.TaskRegistry().get_registry("android_world")
    except ImportError as error:
        raise UserError(f"AndroidWorld cannot be imported: {error}. {REMEDY}") from error
    _make_own()
    return found


def _make_own() -> None:
    """Give AndroidWorld's modules what is of a thread and of a seed."""
    own = {"random": _Random(random), "time": _Time(time), "uuid": _Uuid(uuid)}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == COLLECTION:
            for attribute, proxy in own.items():
                if getattr(module, attribute, None) is proxy.module:
                    setattr(module, attribute, proxy)
    parts = "android_world.utils.file_utils", "android_world.task_evals.utils.user_data_generation"
    files, data = (_loaded(name) for name in parts)
    files.get_local_tmp_directory = _folder
    data._TMP = _Folder()
    data.set = _InOrder  # names of files, which a set orders otherwise in each process
    _loaded("android_world.task_evals.single.markor").datetime = _Datetime(datetime)


def _loaded(name: str) -> Any:
    return sys.modules[name]


class _Proxy:
    """A module, but for what a subclass does otherwise."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name)


class _Random(_Proxy):
    """The module `random`, of which each thread has a generator of its own."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_OWN.random, name, None) or getattr(random, name)


class _Time(_Proxy):
    """The module `time`, whose sleeps are skipped where nothing is to be waited for."""

    def sleep(self, seconds: float) -> None:
        """Sleep, unless this thread's phone is always ready."""
        if _OWN.waits:
            time.sleep(seconds)


class _Uuid(_Proxy):
    """The module `uuid`, whose random ids follow from the seed."""

    def uuid4(self) -> uuid.UUID:
        """An id."""
        return uuid.UUID(int=_OWN.apart.getrandbits(128), version=4)


class _Now(datetime.datetime):
    """The class `datetime.datetime`, in which the time that it is now follows from the seed."""

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> Any:
        """A time of the day on which episodes begin."""
        day = START.replace(hour=0, minute=0)
        return day + datetime.timedelta(seconds=_OWN.apart.randrange(86_400))


class _Datetime(_Proxy):
    """The module `datetime` with that class."""

    datetime = _Now


class _InOrder(dict[Any, None]):
    """A set that keeps the order in which things were added."""

    def add(self, thing: Any) -> None:
        self[thing] = None


class _Folder(os.PathLike[str]):
    """The thread's temporary folder, wherever a path is made of it."""

    def __fspath__(self) -> str:
        return _folder()


def _folder() -> str:
    """The thread's own temporary folder; `waiting` removes it."""
    if _OWN.folder is None:
        _OWN.folder = tempfile.TemporaryDirectory(prefix="ui-gym-androidworld-")
    return _OWN.folder.name
