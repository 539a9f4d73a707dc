"""`ui-gym-tasks`: chooses tasks to train on, and checks task files."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from ui_gym.errors import UIGymError, UserError, nearest
from ui_gym.tools.terminal import ShownColumn, print_table
from ui_gym_agents import command

if TYPE_CHECKING:
    from ui_gym_agents.agents.agent import Agent
    from ui_gym_agents.tasks.filter import FilterUnit
    from ui_gym_agents.tasks.sources import TaskEntry
    from ui_gym_agents.training.settings import RunConfig

app = typer.Typer(add_completion=False, rich_markup_mode="rich", no_args_is_help=True)

AGENTS = ("policy", "oracle", "random")
MEASURED_BY = ("policy", "env", "tasks")
"""The sections of a run's settings that bear on what is measured."""


@app.command()
def show(
    file: Annotated[Path, typer.Argument(help="A task file.")],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="An argument that the run gives to all tasks, as NAME=JSON."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON lines.")] = False,
) -> None:
    """Check a task file and list what is in it. Every wrong line is named.

    [dim]Examples:[/dim]

      ui-gym-tasks show tasks.jsonl

      ui-gym-tasks show tasks.jsonl --json | jq .id
    """
    from ui_gym_agents.tasks.sources import read_task_file

    entries = read_task_file(file, arguments=command.read_arguments(set_ or []))
    if as_json:
        sys.stdout.writelines(json.dumps(entry.to_json()) + "\n" for entry in entries)
        return
    print_table(Console(), ENTRY, [_entry_cells(entry) for entry in entries])


@app.command("filter", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def choose(
    context: typer.Context,
    out: Annotated[Path, typer.Option(help="The task file to write.")],
    episodes: Annotated[int, typer.Option(min=2, help="Episodes (k) of each task.")] = 8,
    instances: Annotated[
        int,
        typer.Option(
            min=0, help="Measure so many fixed instances of each task, k episodes each; 0: tasks."
        ),
    ] = 0,
    agent: Annotated[str, typer.Option(help="policy, oracle or random.")] = "policy",
    config: Annotated[
        list[Path] | None, typer.Option(help="A run's settings, as ui-gym-train takes them.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="A shipped model's name, or a folder (--policy.model).")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of it all (--run.seed).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file at --out.")] = False,
) -> None:
    """Play k episodes of each task, and keep the tasks that are solved sometimes, not always.

    Tasks, envs and policy are set as for ui-gym-train: --tasks.*, --env.*, --policy.*, --config.
    What was measured stays when it is stopped; the same command goes on.

    [dim]Examples:[/dim]

      ui-gym-tasks filter --tasks.suite browser --model tiny-clerk --out tasks.jsonl

      ui-gym-tasks filter --tasks.ids DataEntry --tasks.arguments '{"compact": true}'
      --instances 64 --episodes 8 --out instances.jsonl

      ui-gym-train --plugin grpo --tasks.file tasks.jsonl --tasks.curriculum learnability
    """
    if agent not in AGENTS:
        raise UserError(f"there is no agent {agent!r}. {nearest(agent, AGENTS)}")
    flags = list(context.args)
    flags += ["--policy.model", model] if model is not None else []
    flags += ["--run.seed", str(seed)] if seed is not None else []
    if out.exists() and not force:
        raise UserError(f"{out} is there already; give another --out, or --force to replace it")
    _filter(_settings(config or [], flags), agent, episodes, instances, out)


def _settings(files: list[Path], flags: list[str]) -> RunConfig:
    """The settings of a run, from files, environment and flags."""
    from ui_gym_agents.training.config import ConfigLoader
    from ui_gym_agents.training.settings import RunConfig

    loader = ConfigLoader(RunConfig)
    for file in files:
        loader.add_file(file)
    loader.add_environment(os.environ)
    loader.add_flags(flags)
    return loader.load().config


def _filter(config: RunConfig, agent: str, episodes: int, instances: int, out: Path) -> None:
    from ui_gym_agents.tasks import filter as task_filter
    from ui_gym_agents.tasks.sources import write_task_file

    entries = config.tasks.entries()
    wanted = task_filter.units(entries, instances, config.run.seed)
    settings = {
        section: getattr(config, section).model_dump(mode="json") for section in MEASURED_BY
    }
    for section, key in (("env", "num_envs"), ("env", "timeout"), ("policy", "threads")):
        settings[section].pop(key)
    measured_by = {"agent": agent, "episodes": episodes, "instances": instances}
    progress = task_filter.FilterProgress(out, {**settings, **measured_by, "seed": config.run.seed})
    progress.load()
    missing = [unit for unit in wanted if unit.name not in progress.results]
    if missing:
        try:
            _play(config, agent, entries, missing, episodes, progress)
        except KeyboardInterrupt:
            done = sum(unit.name in progress.results for unit in wanted)
            raise command.Interrupted(
                f"interrupted: {done} of {len(wanted)} are measured; the same command goes on"
            ) from None
    counts = task_filter.verdicts(wanted, progress.results)
    console = Console()
    _print_verdicts(console, counts)
    if counts["unmeasured"]:
        raise UIGymError(
            f"{counts['unmeasured']} of {len(wanted)} could not be measured, because their devices "
            "failed; the same command tries them again"
        )
    kept = task_filter.kept(wanted, progress.results)
    if not kept:
        raise UIGymError(
            f"none of {len(wanted)} is solved sometimes but not always, so nothing is written; "
            "other tasks, an easier level or more --episodes may help"
        )
    write_task_file(out, [_whole(entry, config) for entry in kept])
    progress.remove()
    console.print(
        Text(f"{len(kept)} of {len(wanted)} are in {out}; to train on them: --tasks.file {out}"),
        soft_wrap=True,
    )


def _play(
    config: RunConfig,
    agent: str,
    entries: list[TaskEntry],
    missing: list[FilterUnit],
    episodes: int,
    progress: Any,
) -> None:
    """Measure the units that are missing."""
    from ui_gym_agents.collecting.collector import Collector, schedule_for
    from ui_gym_agents.tasks import filter as task_filter
    from ui_gym_agents.training.parts import run_envs

    asked = task_filter.requests(missing, entries, episodes, config.run.seed)
    envs = run_envs(config, entries, min(config.env.num_envs, len(asked)))
    try:
        player = _agent(agent, config, envs)
        schedule = schedule_for(player, config.env.schedule)
        collector = Collector(
            envs, player, run_seed=config.run.seed, schedule=schedule, keep_pictures=0
        )
        with _bar() as bar:
            shown = bar.add_task("filter", total=len(missing))
            for _ in task_filter.measure(collector.groups(asked), progress.record):
                collector.store.screenshots.clear()
                bar.advance(shown)
    finally:
        envs.close()


def _agent(name: str, config: RunConfig, envs: Any) -> Agent:
    from ui_gym_agents.agents import make_agent
    from ui_gym_agents.seeds import derive
    from ui_gym_agents.training.parts import run_policy

    if name == "policy":
        return run_policy(config, lambda: envs, derive(config.run.seed, "adapter"))
    return make_agent(name, envs.single_action_space)


def _whole(entry: TaskEntry, config: RunConfig) -> TaskEntry:
    """An entry with the arguments that all tasks were given, so that the file stands alone."""
    from ui_gym_agents.tasks.sources import ENV_ARGUMENTS

    shared = {k: v for k, v in config.tasks.arguments.items() if k not in ENV_ARGUMENTS}
    return dataclasses.replace(entry, arguments={**shared, **entry.arguments})


# -- what is shown --


def _bar() -> Progress:
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def _print_verdicts(console: Console, counts: dict[Any, int]) -> None:
    meanings = {
        "kept": "solved sometimes: kept",
        "never": "never solved",
        "always": "always solved",
        "unmeasured": "not measured",
    }
    shown = [v for v in meanings if counts[v] or v != "unmeasured"]
    rows = [(Text(meanings[v], style="dim"), str(counts[v])) for v in shown]
    print_table(console, [ShownColumn(), ShownColumn(right=True)], rows)


ENTRY = (
    ShownColumn("task", least=16),
    ShownColumn("arguments", least=12),
    ShownColumn("split", rank=2),
    ShownColumn("seeds", rank=3),
    ShownColumn("category", rank=5),
    ShownColumn("weight", rank=4, right=True),
    ShownColumn("success", rank=1, right=True),
)


def _entry_cells(entry: TaskEntry) -> tuple[str, ...]:
    arguments = dict(entry.arguments)
    if entry.max_steps is not None:
        arguments["max_steps"] = entry.max_steps
    many = len(entry.seeds) > 3
    success = "" if entry.success is None else f"{100 * entry.success:.0f} %"
    return (
        entry.spec.id,
        json.dumps(arguments, ensure_ascii=False) if arguments else "",
        entry.split or "all",
        f"{len(entry.seeds)} seeds" if many else ", ".join(map(str, entry.seeds)),
        entry.category,
        f"{entry.weight:g}",
        success + (f" of {entry.episodes}" if entry.episodes and success else ""),
    )


def main() -> int:
    """The command. Returns the exit status: 0, 1 (failed), 2 (usage), 130 (interrupted)."""
    return command.run(app)


if __name__ == "__main__":
    sys.exit(main())
