"""`ui-gym-train`: trains an agent with a trainer plugin.

The flags are the configuration's own keys, so they are read by its loader instead of a parser
with a fixed list. Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from rich.console import Console
from rich.text import Text

from ui_gym.errors import UserError, nearest
from ui_gym.tools.monitor_child import FLAG, port_in, with_port
from ui_gym.tools.terminal import ShownColumn, print_table
from ui_gym_agents import command, presets

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from ui_gym_agents.policy.parallel import Processes
    from ui_gym_agents.training.config import Loaded
    from ui_gym_agents.training.plugin import Trainer
    from ui_gym_agents.training.settings import RunConfig

ALIASES = {"plugin": "plugin", "resume": "run.resume", "fall-back": "run.fall_back"}
"""Short flags of settings."""

_SWITCHES = {
    "--help": "help",
    "-h": "help",
    "--version": "version",
    "--list-plugins": "list_plugins",
    "--print-config": "print_config",
    "--dry-run": "dry_run",
    "--override-config": "override_config",
}


@dataclass
class TrainArguments:
    """What is asked for beside settings; `flags` are the arguments that set something."""

    files: list[Path] = field(default_factory=list)
    preset: str | None = None
    flags: list[str] = field(default_factory=list)
    help: bool = False
    version: bool = False
    list_plugins: bool = False
    print_config: bool = False
    dry_run: bool = False
    override_config: bool = False
    monitor: int | None = None
    """The port of a monitor beside the run; 0: any that is free."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    follows = os.environ.get("RANK", "0") != "0"  # The main process says what is wrong.
    return command.finish(lambda: _run(_options(given)), told_elsewhere=follows)


def _options(arguments: list[str]) -> TrainArguments:
    options = TrainArguments()
    arguments = with_port(arguments)
    while arguments:
        word = arguments.pop(0)
        name, equals, value = word.partition("=")
        if word in _SWITCHES:
            setattr(options, _SWITCHES[word], True)
        elif name == "--config":
            if not equals and not arguments:
                raise UserError("--config needs the name of a YAML file")
            options.files.append(Path(value if equals else arguments.pop(0)))
        elif name == "--preset":
            if not equals and not arguments:
                raise UserError(f"--preset needs a name. {nearest('', presets.names())}")
            options.preset = value if equals else arguments.pop(0)
        elif name == FLAG:
            options.monitor = port_in(value)
        else:
            options.flags.append(word)
    return options


def _run(options: TrainArguments) -> int:
    console = Console()
    if options.version:
        console.print(f"ui-gym {version('ui-gym')}", highlight=False)
        return 0
    if options.list_plugins:
        return _list_plugins(console)

    from ui_gym_agents.training import config_view, plugin

    first = _first_look(options)
    name = first.get("plugin")
    if options.help:
        trainer = plugin.load(name) if name else None
        overrides = dict(plugin.default_overrides(trainer)) if trainer else {}
        if options.preset is not None:
            overrides |= presets.load(options.preset).of(name or "")
        model = _model(trainer)
        config_view.show_help(model, console, name, overrides)
        return 0
    if not name:
        known = ", ".join(plugin.installed()) or "none; try pip install ui-gym-grpo"
        raise UserError(f"no trainer is chosen; give --plugin NAME. Installed: {known}")
    return _train(options, console, name, first.get("run.resume"))


def _first_look(options: TrainArguments) -> dict[str, Any]:
    """The values before anything is validated: which plugin it is decides how."""
    from ui_gym_agents.training.config import ConfigLoader
    from ui_gym_agents.training.settings import RunConfig

    if options.preset is not None:
        presets.load(options.preset)  # an unknown one is said whatever else is asked for
    loader = ConfigLoader(RunConfig)
    _add_layers(loader, options)
    resume = loader.values.get("run.resume")
    if resume and "plugin" not in loader.values:
        saved = ConfigLoader(RunConfig)
        saved.add_file(_saved_config(Path(resume)))
        loader.values["plugin"] = saved.values.get("plugin")
    return loader.values


def _add_layers(loader: Any, options: TrainArguments) -> None:
    for file in options.files:
        loader.add_file(file)
    loader.add_environment(os.environ)
    loader.add_flags(options.flags, ALIASES)


def _saved_config(directory: Path) -> Path:
    path = directory / "config.yaml"
    if not path.is_file():
        raise UserError(f"{directory} holds no run to resume: {path} is not there")
    return path


def _model(trainer: Any) -> type[BaseModel]:
    from ui_gym_agents.training.settings import RunConfig

    return RunConfig.with_trainer(trainer.Config if trainer else None)


def _train(options: TrainArguments, console: Console, name: str, resume: str | None) -> int:
    from ui_gym_agents.records import start as records
    from ui_gym_agents.training import commands, config_view, plugin
    from ui_gym_agents.training.config import ConfigLoader
    from ui_gym_agents.training.follower import Follower
    from ui_gym_agents.training.parts import run_processes
    from ui_gym_agents.training.settings import MAIN_TASK

    trainer = plugin.load(name)
    loader: ConfigLoader[Any] = ConfigLoader(_model(trainer), foreign=plugin.foreign_keys(trainer))
    loader.add_defaults(plugin.default_overrides(trainer), f"default of the plugin {name}")
    if resume:
        if options.preset is not None:
            raise UserError(
                "--resume goes on with the settings of its run: leave --preset out, and change "
                "single settings by their own flags"
            )
        loader.add_file(_saved_config(Path(resume)))
    elif options.preset is not None:
        source = f"preset {options.preset}"
        loader.add_defaults(presets.load(options.preset).of(name), source)
    _add_layers(loader, options)
    if options.preset is not None and not any(key.startswith("tasks.") for key in loader.values):
        # The compact form of the main task is for models that read little else.
        loader.add_defaults({"tasks.ids": (MAIN_TASK,)}, f"preset {options.preset}")
    loaded = loader.load()
    records.check(loaded.config.run.records)
    commands.check(loaded.config.run)
    if options.print_config:
        sys.stdout.write(config_view.as_yaml(loaded))
        return 0
    for remark in loader.remarks:
        console.print(Text(remark, style="yellow"), soft_wrap=True)
    tasks = loaded.config.tasks.chosen()
    plugin.check_teams(trainer, name, tasks)
    if options.dry_run:
        where = resume or loaded.config.run.directory or "a new folder in runs/"
        console.print(f"{name} would train {loaded.config.run.steps} steps in {where} on")
        console.print("\n".join(f"  {task.id}" for task in tasks), highlight=False)
        config_view.show_changes(loaded, console)
        if options.preset is not None or not _by_default(loaded.sources.get("policy.model")):
            from ui_gym_agents.training.rehearsal import rehearse

            rehearse(loaded.config, console)
        return 0
    processes = run_processes(loaded.config, trainer)
    with processes.ending_together():
        if processes.is_main:
            status = _lead(trainer, loaded, options, console, processes)
        else:
            status = Follower(trainer, loaded.config, processes).run()
    if not status:
        processes.close()
    return status


def _by_default(source: str | None) -> bool:
    """Whether nobody asked for a value: it is the field's default or the plugin's."""
    return source is None or source.startswith("default of")


def _lead(
    trainer: type[Trainer],
    loaded: Loaded[Any],
    options: TrainArguments,
    console: Console,
    processes: Processes,
) -> int:
    """The run as its main process, mostly the only one, does it."""
    from ui_gym_agents.records import start as records
    from ui_gym_agents.training.host import Host
    from ui_gym_agents.training.listeners import RunListener
    from ui_gym_agents.training.loggers import make_loggers
    from ui_gym_agents.training.logs import logging_into
    from ui_gym_agents.training.metrics_port import metrics_ports
    from ui_gym_agents.training.run_directory import RunDirectory
    from ui_gym_agents.training.start import begin_directory, continue_directory
    from ui_gym_agents.training.watching import watched

    config: RunConfig = loaded.config
    records.prepare(config.run.records)
    loggers = make_loggers(config.run.loggers)
    with metrics_ports(config.run) as ports:
        directory: RunDirectory
        if config.run.resume:
            directory, resumed = continue_directory(
                config.run.resume, loaded, options.override_config, console
            )
        else:
            directory, resumed = begin_directory(loaded), None
        try:

            def note(text: str) -> None:
                directory.log(text)
                console.print(Text(text), soft_wrap=True)

            for port in ports:
                note(f"numbers for Prometheus: {port.address}")
            listeners: list[RunListener] = [
                *records.recorders(config.run.records, directory.path, note),
                *loggers,
                *ports,
            ]
            with logging_into(directory), watched(directory.path, options.monitor, note):
                host = Host(trainer, config, directory, console, resumed, listeners, processes)
                return host.run()
        finally:
            directory.close()


def _list_plugins(console: Console) -> int:
    from ui_gym_agents.training import plugin

    found = plugin.installed()
    if not found:
        console.print("no trainer plugin is installed; try: pip install ui-gym-grpo")
        return 0
    columns = [ShownColumn("plugin"), ShownColumn("distribution"), ShownColumn("version")]
    columns += [ShownColumn("class", rank=1, least=16)]
    rows = [(name, *_distribution(entry), entry.value) for name, entry in found.items()]
    print_table(console, columns, rows)
    return 0


def _distribution(entry: EntryPoint) -> tuple[str, str]:
    """What brings an entry point: its name and version."""
    return (entry.dist.name, entry.dist.version) if entry.dist else ("unknown distribution", "?")


if __name__ == "__main__":
    sys.exit(main())
