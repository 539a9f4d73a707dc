"""The configuration for people: `--print-config` as commented YAML, and `--help`."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import to_jsonable_python
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ui_gym.tools.terminal import ShownColumn, print_table
from ui_gym_agents import presets
from ui_gym_agents.training import config, plugin, yaml_text
from ui_gym_agents.training.config import ConfigError, Loaded

USAGE = """\
[bold]ui-gym-train[/] --plugin NAME [--config FILE] [--SECTION.KEY VALUE ...]
[bold]ui-gym-train[/] --resume DIR

Trains an agent on UI tasks with a trainer plugin.

[bold]Examples[/]
  ui-gym-train --plugin grpo
  ui-gym-train --plugin grpo --preset qwen2.5-vl-7b --tasks.suite browser
  ui-gym-train --plugin grpo --tasks.category input --run.steps 40 --env.num_envs 8
  ui-gym-train --plugin grpo --config run.yaml --trainer.lr 1e-5
  ui-gym-train --plugin grpo --config run.yaml --print-config > merged.yaml
  ui-gym-train --resume runs/grpo-20260101-120000

[bold]Options[/]
  --plugin NAME        the trainer; --plugin NAME --help shows its settings too
  --preset NAME        what a known model wants: dialect, pictures, tokens, precision, learning rate
  --config FILE        a YAML file of settings; may be given several times, the last one wins
  --resume DIR         continue the run in DIR from its newest checkpoint
  --fall-back          with --resume: if that checkpoint is damaged, take the one before
  --override-config    with --resume: accept settings that differ from the run's own
  --monitor[=PORT]     show the run in a browser meanwhile; without a port, at any that is free
  --list-plugins       show the installed trainers
  --print-config       show the merged settings, each with its meaning and source, and stop
  --dry-run            check everything that needs no device or model, say what would run and which
                       settings are no defaults, and stop; where a model is named, also play an
                       episode and say what memory a step takes
  --version            show the version

A setting comes from its default, then the plugin's default, the preset, the files, the environment
(UI_GYM_RUN__SEED=7 sets run.seed), and the flags; the later one wins. Lists and dicts are JSON;
a list of words may also be written a,b. null means none.
"""


def as_yaml(loaded: Loaded[Any]) -> str:
    """The merged configuration as YAML, with each key's meaning and source as a comment."""
    lines: list[str] = []
    _emit(loaded.config, "", loaded.sources, lines)
    return "\n".join(lines) + "\n"


def show_changes(loaded: Loaded[Any], console: Console) -> None:
    """The settings that are no defaults, each with where it came from."""
    if not loaded.sources:
        return
    console.print("with these settings, and the defaults of the others (--print-config shows all)")
    columns = [ShownColumn(), ShownColumn(folds=True), ShownColumn(folds=True, style="dim")]
    print_table(console, columns, [_told(loaded, key) for key in sorted(loaded.sources)])


def _told(loaded: Loaded[Any], key: str) -> tuple[str, str, str]:
    """A setting, its value and where that came from."""
    value: Any = loaded.config
    for name in key.split("."):
        value = getattr(value, name)
    return key, yaml_text.dump(to_jsonable_python(value)), loaded.sources[key]


def _emit(model: BaseModel, prefix: str, sources: dict[str, str], lines: list[str]) -> None:
    indent = "  " * prefix.count(".")
    for name, info in type(model).model_fields.items():
        value = getattr(model, name)
        if isinstance(value, BaseModel) and config.section_model(info):
            lines += ["", f"{indent}# {summary(type(value))}", f"{indent}{name}:"]
            _emit(value, f"{prefix}{name}.", sources, lines)
            if not type(value).model_fields:
                lines[-1] += " {}"
            continue
        plain = model.model_dump(mode="json", include={name})[name]
        source = sources.get(prefix + name, "default")
        comment = " ".join(f"{info.description or ''} [{source}]".split())
        lines.append(f"{indent}{name}: {yaml_text.dump(plain)}  # {comment}")


def show_help(
    model: type[BaseModel], console: Console, chosen: str | None, overrides: Mapping[str, Any]
) -> None:
    """Usage, then every section with each field's type, default and meaning.

    `overrides` are the chosen plugin's own defaults by dotted key.
    """
    console.print(USAGE, highlight=False)
    console.print(f"[bold]Presets[/]\n{escape(presets.described())}\n", highlight=False)
    defaults = _defaults(model, overrides)
    for name, info in model.model_fields.items():
        section = config.section_model(info)
        if section:
            console.print(f"[bold]--{name}.*[/]  {escape(summary(section))}", highlight=False)
            console.print(_section_table(section, name, defaults))
            console.print()
    if not chosen:
        known = ", ".join(plugin.installed()) or "none installed"
        console.print(
            f"[bold]--trainer.*[/]  The trainer's own settings: --plugin NAME --help shows them. "
            f"Trainers: {escape(known)}.",
            highlight=False,
        )


def _section_table(section: type[BaseModel], name: str, defaults: Mapping[str, str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 2), show_header=False)
    table.add_column(no_wrap=True, style="cyan")
    table.add_column(style="dim", max_width=26)
    table.add_column(max_width=26)
    table.add_column(ratio=1)
    for key, info in config.leaves(section, f"{name}.").items():
        kind = escape(type_name(info.annotation))
        table.add_row(f"--{key}", kind, escape(defaults[key]), escape(info.description or ""))
    return table


def _defaults(model: type[BaseModel], overrides: Mapping[str, Any]) -> dict[str, str]:
    """What each key is when nobody sets it, as YAML."""
    loader = config.ConfigLoader(model)
    loader.add_defaults(overrides, "the plugin's default")
    try:
        loaded = loader.load().config
    except ConfigError:  # The plugin has a required setting: show the fields' own defaults.
        loaded = None
    shown = {}
    for key, info in config.leaves(model).items():
        value = loaded or info.get_default(call_default_factory=True)
        for name in key.split(".") if loaded else ():
            value = getattr(value, name)
        required = info.is_required()
        shown[key] = "required" if required else yaml_text.dump(to_jsonable_python(value))
    return shown


def type_name(annotation: Any) -> str:
    """An annotation in words: ``int or null``, ``a|b``, ``list of str``."""
    if get_origin(annotation) is Literal:
        return "|".join(str(value) for value in get_args(annotation))
    if annotation is type(None):
        return "null"
    if config.kinds(annotation) != {get_origin(annotation) or annotation}:
        parts = [type_name(part) for part in get_args(annotation)]
        return " or ".join(part for part in parts if not part.startswith("FieldInfo"))
    origin = get_origin(annotation)
    if origin is dict:
        return "JSON object"
    if origin in (list, tuple, set, frozenset):
        return "list of " + type_name(get_args(annotation)[0])
    names = {bool: "yes|no", Path: "path", str: "text", Any: "any"}
    return names.get(annotation, getattr(annotation, "__name__", str(annotation)))


def summary(model: type[BaseModel]) -> str:
    """The first line of a model's docstring."""
    own = model.__doc__ if model.__doc__ != BaseModel.__doc__ else None
    return inspect.cleandoc(own or model.__name__).split("\n", 1)[0]
