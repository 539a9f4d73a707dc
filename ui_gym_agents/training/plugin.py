"""Trainer plugins: found by the entry-point group ``ui_gym.trainers``, loaded only when chosen.

A plugin is one class that keeps the `Trainer` protocol, declared by its distribution:

    [project.entry-points."ui_gym.trainers"]
    grpo = "ui_gym_grpo:GRPOTrainer"

UserError
└── PluginError   a plugin is missing, cannot be imported, or breaks the contract
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

from pydantic import BaseModel

from ui_gym import extras
from ui_gym.contract.spec import TEAMS, TaskSpec
from ui_gym.errors import UserError, nearest
from ui_gym_agents.training.config import ForeignKeys

ENTRY_POINT_GROUP = "ui_gym.trainers"
KNOWN = {name: f"ui-gym-{name}" for name in ("grpo", "sb3", "sft", "tinker")}
"""Plugins that we know of, installed or not, and the distribution of each. No other name of a
distribution is ever guessed: a stranger could have taken it."""

API_VERSION = 1
"""The version of the contract below; a plugin states the one that it was written for."""


class PluginError(UserError):
    """A trainer plugin is missing, cannot be imported, or breaks the contract."""


@runtime_checkable
class Trainer(Protocol):
    """What a plugin gives. The host owns configuration, seeds, checkpoints, evaluation, display.

    A step that learns adds 1 to ``policy.version`` after each step of the optimizer, and ends by
    ``context.screenshots.clear()``; the host tells a trainer that forgets it.

    Six class attributes are optional: ``defaults``, a mapping of dotted keys to values that
    replace the host's own defaults (``{"run.steps": 40}``); ``foreign_keys``, a
    `config.ForeignKeys`, where it reads files of another program's configuration;
    ``close(self)``, called once at the end; ``keeps_pictures = True``, where pictures are meant to
    outlive a step; ``plays_teams = True``, where its requests in a row may be a team's; and
    ``several_processes = True``, which says that it collects by
    `TrainerContext.from_main` and learns by `VLMPolicy.accumulate`, so that several processes may
    run it as one. A trainer that knows when it is finished has a property ``steps``: the number of
    steps in all, or None for the configured ``run.steps``.

    Metrics are floats by name. The display knows `reward`, `success`, `loss`, `episodes`, and
    ``time_<phase>`` (seconds); a metric whose last word holds ``loss`` must stay finite.
    """

    api_version: ClassVar[int]
    Config: ClassVar[type[BaseModel]]

    def __init__(self, config: Any, context: Any) -> None:
        """`config` is a `Config`; `context` is the host's `TrainerContext`."""

    def step(self) -> Mapping[str, float]:
        """Do one training step and return its metrics."""

    def save(self, directory: Path) -> None:
        """Write all that `load` needs; safetensors and JSON. Never called within a step."""

    def load(self, directory: Path) -> None:
        """Become what `save` wrote, to the bit."""


def installed() -> dict[str, EntryPoint]:
    """The installed plugins by name, in order. Reads metadata alone and imports none of them."""
    return dict(sorted(extras.installed(ENTRY_POINT_GROUP).items()))


def load(name: str) -> type[Trainer]:
    """Import the plugin `name` and check that it keeps the contract.

    Raises:
        PluginError: it is not installed, cannot be imported, or breaks the contract.
    """
    plugins = installed()
    if name not in plugins:
        raise PluginError(_no_plugin(name, plugins))
    trainer: type[Trainer] = extras.load("trainer plugin", plugins[name], PluginError)
    problem = _broken_promise(trainer)
    if problem:
        raise PluginError(f"{extras.origin('trainer plugin', plugins[name])} {problem}")
    return trainer


def _no_plugin(name: str, plugins: Mapping[str, EntryPoint]) -> str:
    """That a plugin is not there, and how to get it, where we know."""
    if name in KNOWN:
        return f"the trainer plugin {name!r} is not installed; to get it: pip install {KNOWN[name]}"
    hint = nearest(name, {*plugins, *KNOWN})
    missing = [d for n, d in KNOWN.items() if n not in plugins and repr(n) in hint]
    remedy = f" To install it: pip install {missing[0]}" if len(missing) == 1 else ""
    return f"there is no trainer plugin {name!r}. {hint}{remedy}"


def default_overrides(trainer: type[Trainer]) -> Mapping[str, Any]:
    """The dotted defaults that a plugin replaces."""
    return getattr(trainer, "defaults", {})


def foreign_keys(trainer: type[Trainer]) -> ForeignKeys:
    """The keys of others that a plugin reads in configuration files."""
    found: ForeignKeys = getattr(trainer, "foreign_keys", ForeignKeys())
    return found


def check_teams(trainer: type[Trainer], name: str, tasks: Iterable[TaskSpec]) -> None:
    """Refuse tasks of several agents for a trainer that does not play teams.

    Raises:
        UserError: there is one.
    """
    teams = [task.id for task in tasks if task.suite == TEAMS]
    if teams and not getattr(trainer, "plays_teams", False):
        raise UserError(
            f"{teams[0]} is played by teams, whose episodes the trainer {name!r} does not ask for: "
            "take --plugin grpo or tinker"
        )


def _broken_promise(trainer: Any) -> str | None:
    """What a loaded class lacks, as the end of a sentence; None if nothing."""
    version = getattr(trainer, "api_version", None)
    if version != API_VERSION:
        remedy = "upgrade the plugin" if not version or version < API_VERSION else "upgrade ui-gym"
        return (
            f"is written for version {version} of the trainer contract, and this host speaks "
            f"version {API_VERSION}; {remedy}"
        )
    config = getattr(trainer, "Config", None)
    if not (isinstance(config, type) and issubclass(config, BaseModel)):
        return f"has no Config that is a pydantic model (it is {config!r})"
    if not config.model_config.get("frozen") or config.model_config.get("extra") != "forbid":
        return 'has a Config that is not ConfigDict(frozen=True, extra="forbid")'
    missing = [n for n in ("step", "save", "load") if not callable(getattr(trainer, n, None))]
    if missing:
        return f"lacks {', '.join(missing)}"
    return None
