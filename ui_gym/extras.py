"""What else is installed: the extra of ui-gym that brings a module, and what other distributions
declare in an entry-point group.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from ui_gym.errors import UIGymError

EXTRAS = {
    "browser": ("cv2", "orjson"),
    "desktop": ("docx", "jeepney", "openpyxl", "xcffib"),
    "osworld": ("lxml", "pptx", "pypdf", "rapidfuzz"),
    "agents": (
        "accelerate", "alembic", "httpx", "jinja2", "matplotlib", "peft", "safetensors",
        "sqlalchemy", "tokenizers", "torch", "transformers",
    ),
    "miniwob": ("miniwob",),
    "parquet": ("pyarrow",),
    "postgres": ("psycopg",),
    "sb3": ("stable_baselines3",),
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
