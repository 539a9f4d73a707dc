"""How a model's name becomes a folder of weights.

A distribution that brings weights names their folders in the entry-point group ``ui_gym.models``:

    [project.entry-points."ui_gym.models"]
    tiny-clerk = "ui_gym_tiny:TINY_CLERK"

The object is the folder's path. It is asked for only where its name is. Other names are those of
folders, or of the hub's models (`hub`).
"""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

from ui_gym import extras
from ui_gym.errors import UserError, nearest
from ui_gym_agents.policy import hub

ENTRY_POINT_GROUP = "ui_gym.models"

KNOWN = dict.fromkeys(
    ("tiny-clerk", "tiny-eyes", "tiny-filer", "tiny-hands", "tiny-reader", "tiny-thumb"),
    "ui-gym-tiny",
)
"""Models that we know of, installed or not, and the distribution of each."""


def resolve(name_or_path: str | Path, *, weights: bool = True) -> Path:
    """The folder of a model: an installed name, a folder with a ``config.json``, a hub's name.

    A hub's model is downloaded where it is not yet on this machine; `weights` says whether its
    weights are wanted too.

    Raises:
        UserError: it is none of these; the message says what to install, or names what is near.
            Or the hub cannot be reached.
    """
    name = str(name_or_path)
    models = installed_models()
    if name in models:
        return _folder(models[name])
    folder = Path(name_or_path).expanduser()
    if (folder / "config.json").is_file():
        return folder
    if folder.is_dir():
        raise UserError(f"{folder} is no model folder: it holds no config.json")
    if name in KNOWN:
        raise UserError(
            f"the model {name!r} comes with {KNOWN[name]}, which is not installed; "
            f"to get it: pip install {KNOWN[name]}"
        )
    if hub.is_hub_name(name) and not folder.parent.is_dir():
        return hub.snapshot(name, weights=weights)
    raise UserError(
        f"there is no model {name!r}, neither installed nor as a folder. "
        f"{nearest(name, {*models, *KNOWN})}"
    )


def installed_models() -> dict[str, EntryPoint]:
    """The installed models by name. Reads metadata alone."""
    return extras.installed(ENTRY_POINT_GROUP)


def _folder(entry: EntryPoint) -> Path:
    who = extras.origin("model", entry)
    found = extras.load("model", entry, UserError)
    if not isinstance(found, str | Path):
        raise UserError(f"{who} is {found!r}, and no folder")
    folder = Path(found)
    if not (folder / "config.json").is_file():
        raise UserError(f"{who} is not in {folder}. {extras.reinstall(entry)}".rstrip())
    return folder
