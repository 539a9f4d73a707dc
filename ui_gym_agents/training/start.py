"""How a run gets its directory: a new one, or an earlier run's to continue."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from ui_gym.errors import UserError
from ui_gym_agents.training import checkpoint, config_view, disk
from ui_gym_agents.training.checkpoint import Checkpoint
from ui_gym_agents.training.config import ConfigError, ConfigLoader, Loaded
from ui_gym_agents.training.logs import configure
from ui_gym_agents.training.run_directory import RunDirectory
from ui_gym_agents.training.settings import RunConfig


def begin_directory(loaded: Loaded[Any]) -> RunDirectory:
    """A new run's directory, with its configuration in it.

    Raises:
        UserError: it cannot be had.
        NoRoom: its disk is full.
    """
    config: RunConfig = loaded.config
    directory = RunDirectory.create(config.run.directory, config.plugin)
    configure(directory, config.run)
    try:
        disk.refuse_if_full(directory.path)
        directory.write("config.yaml", _text(loaded))
    except BaseException:
        directory.close()
        raise
    return directory


def continue_directory(
    path: Path, loaded: Loaded[Any], override: bool, console: Console
) -> tuple[RunDirectory, Checkpoint | None]:
    """An earlier run's directory and its newest intact checkpoint (None: it never saved one).

    Raises:
        UserError: the settings differ from the run's own (unless `override`), the directory is in
            use, or the checkpoint is damaged.
        NoRoom: its disk has no room for another checkpoint.
    """
    config: RunConfig = loaded.config
    if loaded.sources.get("run.directory", "").startswith("flag"):
        raise UserError(f"--resume goes on in {path}; leave --run.directory out")
    directory = RunDirectory.resume(path)
    configure(directory, config.run)
    try:
        disk.refuse_if_full(path)

        def warn(text: str) -> None:
            directory.log(text, logging.WARNING)
            console.print(Text(f"warning: {text}", style="yellow"), soft_wrap=True)

        resumed = checkpoint.load_newest(
            directory.checkpoints, fall_back=config.run.fall_back, warn=warn
        )
        before = _kept(path, type(config))
        problems = _differences(path, before, loaded, resumed)
        if problems and not override:
            raise ConfigError(
                [
                    f"the run in {path} was started with other settings; to go on with the new "
                    "ones, add --override-config",
                    *problems,
                ]
            )
        for problem in problems:
            directory.log(f"overridden: {problem}")
        if resumed is None:
            directory.log("there is no checkpoint yet: starting from the beginning")
        if _lasting(config) != before:  # else it still says where each setting came from
            directory.write("config.yaml", _text(loaded))
    except BaseException:
        directory.close()
        raise
    return directory, resumed


def _kept(path: Path, like: type[RunConfig]) -> RunConfig:
    """The configuration that a run was started with, or resumed with last."""
    saved: ConfigLoader[Any] = ConfigLoader(like)
    saved.add_file(path / "config.yaml")
    kept: RunConfig = saved.load().config
    return kept


def _differences(
    path: Path, before: RunConfig, loaded: Loaded[Any], resumed: Checkpoint | None
) -> list[str]:
    """What bears on the result and is not as it was, a line each."""
    config: RunConfig = loaded.config
    lines = [
        f"{key}: {new!r} instead of {old!r} ({loaded.sources.get(key, 'default')})"
        for key, (new, old) in config.changes(before).items()
    ]
    if not lines and resumed and resumed.state["config_hash"] != config.digest():
        lines.append(f"{path / 'config.yaml'} is not the one that the checkpoint was made with")
    return lines


def _text(loaded: Loaded[Any]) -> str:
    """The configuration as it is kept, with where it came from."""
    return config_view.as_yaml(Loaded(_lasting(loaded.config), loaded.sources))


def _lasting(config: RunConfig) -> RunConfig:
    """A configuration without what only concerned this start."""
    run = config.run.model_copy(update={"resume": None, "fall_back": False})
    return config.model_copy(update={"run": run})
