"""What else is installed: the extra of ui-gym that brings a module, what other distributions
declare in an entry-point group, and what a user names as ``module:name``.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

from ui_gym.errors import UIGymError, nearest

EXTRAS = {
    "browser": ("cv2", "orjson"),
    "desktop": ("docx", "jeepney", "openpyxl", "xcffib"),
    "osworld": ("lxml", "pptx", "pypdf", "rapidfuzz"),
    "agents": (
        "accelerate", "alembic", "httpx", "huggingface_hub", "jinja2", "matplotlib", "peft",
        "safetensors", "sqlalchemy", "tokenizers", "torch", "transformers",
    ),
    "computers": ("agents", "anthropic"),
    "inspect": ("anyio", "inspect_ai"),
    "mcp": ("mcp",),
    "miniwob": ("miniwob",),
    "multi": ("pettingzoo",),
    "parquet": ("pyarrow",),
    "postgres": ("psycopg",),
    "prometheus": ("prometheus_client",),
    "ray": ("ray",),
    "remote": ("msgpack", "starlette", "uvicorn", "uvloop", "websockets"),
    "skyrl": ("skyrl_gym",),
    "trl": ("datasets", "trl"),
    "verifiers": ("verifiers",),
    "verl": ("omegaconf", "verl"),
    "selenium": ("selenium", "urllib3"),
    "tensorboard": ("tensorboard",),
    "trackio": ("trackio",),
    "wandb": ("wandb",),
}  # fmt: skip
"""The modules that each extra brings beside those of the extras that it includes."""


def remedy(error: ModuleNotFoundError) -> str | None:
    """What is not installed and how to get it, in a sentence; None for a module of somebody else.

    The last is a bug, or a distribution that is broken: its traceback says more.
    """
    name = (error.name or "").partition(".")[0]
    extra = next((extra for extra, modules in EXTRAS.items() if name in modules), None)
    if extra is None:
        return None
    return f"{name} is not installed; to get it: pip install 'ui-gym[{extra}]'"


def installed(group: str) -> dict[str, EntryPoint]:
    """What is declared in an entry-point group, by name. Reads metadata alone."""
    return {entry.name: entry for entry in entry_points(group=group)}


def origin(what: str, entry: EntryPoint) -> str:
    """An entry point in words: ``the device 'loud' (loud-browser 1.0)``."""
    made = f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value
    return f"the {what} {entry.name!r} ({made})"


def reinstall(entry: EntryPoint) -> str:
    """The sentence that says how to mend what brings an entry point; empty if that is not known."""
    if entry.dist is None:
        return ""
    remedy = f"pip install --force-reinstall {entry.dist.name}"
    return f"To reinstall it with all it needs: {remedy}"


def load(what: str, entry: EntryPoint, error: type[UIGymError]) -> Any:
    """The object of an entry point, imported now; `error` where that fails."""
    try:
        return entry.load()
    # Whatever a foreign module raises while it is imported, SystemExit included, is its fault.
    except (Exception, SystemExit) as cause:
        said = f"{origin(what, entry)} cannot be imported: {type(cause).__name__}: {cause}"
        raise error(f"{said}. {reinstall(entry)}" if entry.dist else said) from cause


def named(told: str, path: str, error: type[UIGymError], *, here: bool = True) -> Any:
    """The object that ``module:name`` names, imported now.

    Args:
        told: How a message begins, such as ``the agent 'players:Mine'``.
        path: A module and a name in it, which may have dots (``module:Class.method``).
        error: What is raised where it is not to be had; says the nearest module or name.
        here: Modules of the current folder are found as well.
    """
    module, _, names = path.partition(":")
    if not (module and names):
        raise error(f"{told} is not written as module:name")
    if here and not {"", os.getcwd()} & set(sys.path):
        # Last of all, so that nothing of the current folder stands before what is installed.
        sys.path.append(os.getcwd())
    try:
        found: Any = importlib.import_module(module)
        for name in names.split("."):
            inside, found = found, getattr(found, name, _ABSENT)
            if found is _ABSENT:
                raise error(f"{told} is not there: {_lacking(inside, name)}")
    except error:
        raise
    # Whatever a foreign module raises while it is imported, SystemExit included, is its fault.
    except (Exception, SystemExit) as cause:
        said = f"{told} cannot be imported: {type(cause).__name__}: {cause}".rstrip(": ")
        raise error(said + _nearest_module(module, cause)) from cause
    return found


_ABSENT = object()


def _lacking(inside: Any, name: str) -> str:
    where = f"the module {inside.__name__!r}" if isinstance(inside, ModuleType) else repr(inside)
    known = [known for known in vars(inside) if not known.startswith("_")]
    return f"{where} has no {name!r}. {nearest(name, known)}"


def _nearest_module(module: str, cause: BaseException) -> str:
    """The sentence that names the module that was meant, where `module` itself is not there."""
    missing = cause.name if isinstance(cause, ModuleNotFoundError) else None
    if not missing or not f"{module}.".startswith(f"{missing}."):
        return ""
    package, dot, _ = missing.rpartition(".")
    paths = sys.modules[package].__path__ if package else None
    beside = [f"{package}{dot}{info.name}" for info in pkgutil.iter_modules(paths)]
    # Of all that is installed, something is always a little alike.
    hint = nearest(missing, beside, likeness=0.5 if package else 0.75)
    return f". {hint}" if hint.startswith("Did you mean") else ""
