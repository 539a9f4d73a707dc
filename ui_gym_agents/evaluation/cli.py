"""`ui-gym-eval`: measures an agent on tasks."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from ui_gym.errors import UIGymError, UserError, nearest
from ui_gym.tools.monitor_child import FLAG, with_port
from ui_gym.tools.terminal import ShownColumn, print_lines, print_table
from ui_gym_agents import command, presets
from ui_gym_agents.agents.agent import is_served
from ui_gym_agents.engines.protocol import RequestLimits
from ui_gym_agents.evaluation.osworld import cli as osworld
from ui_gym_agents.evaluation.report.statistics import percent

if TYPE_CHECKING:
    from ui_gym_agents.evaluation.evaluate import TokenPrices
    from ui_gym_agents.evaluation.plan import EvaluationPlan
    from ui_gym_agents.evaluation.protocol import ScoreboardProtocol

app = typer.Typer(add_completion=False, rich_markup_mode="rich")

SPLITS = ("train", "heldout")
ALL = "all"
SUITES = ("browser", "android", "desktop")
"""What ``--suite all`` plays."""
AGENTS = ("policy", "oracle", "careless", "random", "scripted")
TASK = "UI/DataEntry-v0"
"""What is played where nothing is chosen."""


class NothingMeasured(UIGymError):
    """Every episode of an evaluation failed by the infrastructure's fault."""


@app.command()
def evaluate(
    context: typer.Context,
    run: Annotated[
        Path | None, typer.Option(help="A training run: its tasks, model and newest checkpoint.")
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(
            help="A task's id or name, or the class of one of your own, as "
            f"my_module:MyTask; may be repeated. [{TASK}]"
        ),
    ] = None,
    suite: Annotated[
        str | None,
        typer.Option(
            help="All tasks of a suite; all: those of the browser, Android and desktop suites."
        ),
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option(
            help="The scoreboard's fixed episodes, of all suites or of --suite: v1, or a file "
            "of your own. Writes a row for it to --out (docs/scoreboard.md)."
        ),
    ] = None,
    category: Annotated[str | None, typer.Option(help="Only tasks of this category.")] = None,
    difficulty: Annotated[str | None, typer.Option(help="Only tasks of this difficulty.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="Only tasks with this tag; may be repeated.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="A task file, as ui-gym-train takes it.")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="An argument of the tasks, as NAME=JSON.")
    ] = None,
    agent: Annotated[
        str,
        typer.Option(
            help="policy, oracle, careless (the oracle, making one of the task's mistakes in "
            "half of the episodes), random, scripted, a served model as openai:MODEL@URL, a "
            "vendor's model as openai-responses:MODEL, anthropic:MODEL or gemini:MODEL (whose key "
            "is in the environment; @URL may follow), or a factory as module:name."
        ),
    ] = "policy",
    script: Annotated[
        Path | None, typer.Option(help="The scripted agent's actions, a turn a line.")
    ] = None,
    model: Annotated[
        str, typer.Option(help="A shipped model's name, a folder, or a model of the hub.")
    ] = "tiny-clerk",
    preset: Annotated[
        str | None,
        typer.Option(
            help="What a known model wants, as ui-gym-train takes it; options win over it: "
            + ", ".join(presets.names())
            + "."
        ),
    ] = None,
    adapter: Annotated[Path | None, typer.Option(help="A LoRA adapter of that model.")] = None,
    max_new_tokens: Annotated[int, typer.Option(min=1, help="Most tokens of a turn.")] = 24,
    dialect: Annotated[
        str | None,
        typer.Option(
            help="How actions are written. [cells for the policy, its own for a vendor's model, "
            "else canonical]"
        ),
    ] = None,
    observation: Annotated[str, typer.Option(help="screenshot, elements or both.")] = "screenshot",
    episodes: Annotated[int, typer.Option(min=1, help="How many instances of each task.")] = 200,
    attempts: Annotated[
        int, typer.Option(min=1, help="Episodes of each instance, which gives pass@k.")
    ] = 1,
    split: Annotated[str, typer.Option(help="train or heldout.")] = "heldout",
    sample: Annotated[bool, typer.Option(help="Sample instead of answering greedily.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of sampling; the episodes stay the same.")] = 0,
    envs: Annotated[int, typer.Option(min=1, help="How many envs side by side.")] = 16,
    workers: Annotated[
        str,
        typer.Option(
            help="What plays the envs: threads, processes:4, or other machines (docs/scale.md)."
        ),
    ] = "threads",
    server_timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds that one attempt at a server's answer may take.")
    ] = RequestLimits.timeout,
    server_attempts: Annotated[
        int,
        typer.Option(
            min=1,
            help="How often a server is asked for an answer, before its episode fails; that is "
            "then played again, twice at most.",
        ),
    ] = RequestLimits.attempts,
    price_in: Annotated[
        float | None,
        typer.Option(min=0, help="Dollars a million tokens that a served model reads."),
    ] = None,
    price_out: Annotated[
        float | None,
        typer.Option(min=0, help="Dollars a million tokens that it writes."),
    ] = None,
    print_: Annotated[
        bool, typer.Option("--print", help="Show what would be played, and play nothing.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for episodes, screenshots, reports and a film; asked for again, "
            "an evaluation that was stopped goes on there."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    monitor: Annotated[
        int | None,
        typer.Option(
            FLAG,
            metavar="[PORT]",
            min=0,
            max=65535,
            help="Show the folder of --out in the monitor meanwhile; without a port, at any.",
        ),
    ] = None,
) -> None:
    """Measure an agent: success with its interval, beside what guessing would give.

    [dim]Examples:[/dim]

      ui-gym-eval --run runs/grpo-20260101-120000 --out report

      ui-gym-eval --task UI/DataEntry-v0 --set compact=true --sample --attempts 8 --episodes 50

      ui-gym-eval --suite browser --category input --episodes 4 --agent random

    [dim]A row of the scoreboard:[/dim]

      ui-gym-eval --protocol v1 --agent openai:MODEL@URL --out report

    [dim]OSWorld's task files are played with options of their own:[/dim]

      ui-gym-eval --suite osworld --help
    """  # fmt: skip
    # Torch and its friends take seconds to import; `--help` does without.
    from ui_gym_agents.evaluation import scoreboard
    from ui_gym_agents.evaluation.plan import EvaluationPlan
    from ui_gym_agents.evaluation.play import play
    from ui_gym_agents.training.watching import watched

    if agent not in AGENTS and ":" not in agent:
        raise UserError(f"there is no agent {agent!r}. {nearest(agent, AGENTS)}")
    if split not in SPLITS:
        raise UserError(f"there is no split {split!r}. {nearest(split, SPLITS)}")
    followed = None if protocol is None else _followed(protocol, context)
    choice: dict[str, Any] = {
        "ids": task or [], "suite": suite, "category": category, "difficulty": difficulty,
        "tags": tag or [], "file": file,
    }  # fmt: skip
    if followed is None:
        chosen = _tasks({} if run else {"ids": [TASK]}, choice, split)
    else:
        chosen = tuple(followed.entries(suite))
    settings = EvaluationPlan(
        tasks=chosen, arguments=command.read_arguments(set_ or []), agent=agent, script=script,
        model=model, adapter=adapter, max_new_tokens=max_new_tokens, observation=observation,
        dialect=dialect or _dialect(agent), episodes=episodes, attempts=attempts,
        greedy=not sample and _native(agent) is None, seed=seed, envs=envs, workers=workers,
        server_timeout=server_timeout, server_attempts=server_attempts, out=out,
        prices=_prices(price_in, price_out),
    )  # fmt: skip
    if preset is not None:
        if run is not None:
            raise UserError("--run has the settings of its run: leave --preset out")
        settings = _with_preset(settings, preset, context)
    if run is not None:
        settings = settings.of_run(run, split)
        settings = dataclasses.replace(settings, tasks=chosen or settings.tasks)
    if native := _native(agent):  # whatever a run or a preset speaks
        settings = dataclasses.replace(settings, dialect=dialect or native)
    if followed is not None:  # whatever a preset says
        settings = followed.plan(settings, suite)
    if print_:
        _print_plan(settings, as_json)
        return
    console = Console(stderr=True)

    def watch(steps: Any, total: int) -> Any:
        alone = not console.is_terminal  # nobody watches a bar in a file
        return track(steps, "episodes", total=total, console=console, transient=True, disable=alone)

    def note(text: str) -> None:
        console.print(Text(text, style="dim"), soft_wrap=True)

    if monitor is not None and out is None:
        raise UserError(f"{FLAG} shows the folder that --out names: give one")
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    with watched(out or Path(), monitor, note):
        outcome = play(settings, watch, note)
    if followed is not None and out is not None and outcome.report.n:
        path = out / scoreboard.FILE
        scoreboard.row_of(settings, followed, outcome).write(path)
        outcome.files.append(path)
    if as_json:
        sys.stdout.write(json.dumps(outcome.report.to_json(), indent=1) + "\n")
    else:
        print_report(settings, outcome.report, Console())
        for path in outcome.files:
            kind = {"film.png": "film", scoreboard.FILE: "row"}.get(path.name, "report")
            Console().print(Text(f"{kind}: {path}"), soft_wrap=True)
    _check_measured(outcome.report)


FIXED = (
    "run", "task", "category", "difficulty", "tag", "file", "set_", "observation", "episodes",
    "attempts", "split", "seed",
)  # fmt: skip
"""Parameters of the command that a protocol says."""


def _followed(name: str, context: typer.Context) -> ScoreboardProtocol:
    """The protocol of a name. `UserError` where something is given that it fixes."""
    from ui_gym_agents.evaluation.protocol import load_protocol

    found = load_protocol(name)
    for option in context.command.params:
        source = context.get_parameter_source(str(option.name))
        if option.name in FIXED and source is not None and source.name == "COMMANDLINE":
            raise UserError(
                f"{option.opts[0]} is fixed by the protocol {found.version}: leave one of the two "
                "out (--print shows what the protocol plays)"
            )
    return found


def _prices(price_in: float | None, price_out: float | None) -> TokenPrices | None:
    from ui_gym_agents.evaluation.evaluate import TokenPrices

    if price_in is None and price_out is None:
        return None
    if price_in is None or price_out is None:
        raise UserError("--price-in and --price-out go together: give both")
    return TokenPrices(price_in, price_out)


PLANNED = (
    ShownColumn("suite"),
    ShownColumn("task", least=20),
    ShownColumn("episodes", right=True),
    ShownColumn("most turns", right=True),
)


def _print_plan(settings: EvaluationPlan, as_json: bool) -> None:
    """What would be played: the episodes of each task, and how many turns they take at most."""
    from ui_gym_agents.evaluation.plan import requests, stages
    from ui_gym_agents.tasks.mix import turn_limits

    settings.check()
    rows: list[tuple[str, str, int, int]] = []
    for stage in stages(settings):
        limits = turn_limits(stage.entries, stage.arguments)
        asked = Counter(request.group.rpartition(" ")[0] for request in requests(settings, stage))
        for entry in stage.entries:
            count = asked[entry.name if len(settings.tasks) > 1 else ""]
            turns = settings.max_steps or limits[entry.variant]
            rows.append((entry.spec.suite, entry.variant, count, count * turns))
    total = {
        "protocol": settings.protocol, "split": settings.tasks[0].split, "tasks": len(rows),
        "episodes": sum(row[2] for row in rows), "most turns": sum(row[3] for row in rows),
    }  # fmt: skip
    if as_json:
        names = [column.heading for column in PLANNED]
        plays = [dict(zip(names, row, strict=True)) for row in rows]
        sys.stdout.write(json.dumps({**total, "plays": plays}, indent=1) + "\n")
        return
    print_table(Console(), PLANNED, [tuple(map(str, row)) for row in rows])
    print_lines(Console(), (f"{name}\t{value}" for name, value in total.items() if value))


def _with_preset(settings: EvaluationPlan, name: str, context: typer.Context) -> EvaluationPlan:
    """The settings with a preset's in place of all that no option was given for."""
    known = {field.name for field in dataclasses.fields(settings)}
    wanted: dict[str, Any] = {}
    for key, value in presets.load(name).settings.items():
        option = key.rpartition(".")[2]
        source = context.get_parameter_source(option)
        if option in known and (source is None or source.name != "COMMANDLINE"):
            wanted[option] = value
    return dataclasses.replace(settings, **wanted)


def _check_measured(report: Any) -> None:
    """`NothingMeasured` where there were episodes, and none of them counts."""
    if report.failed and not report.n:
        raise NothingMeasured(
            f"all {report.total.failures} episodes failed by the infrastructure's fault, so that "
            f"nothing was measured. The first: {report.failed[0]}"
        )


def main() -> int:
    """The command. Returns the exit status: 0, 1 (failed), 2 (usage), 130 (interrupted)."""
    if osworld.is_asked_for(sys.argv[1:]):
        return command.run(osworld.app)
    return command.run(app, with_port(sys.argv[1:]))


def _dialect(agent: str) -> str:
    """What the shipped models write, or what a vendor's model calls; else the canonical one."""
    return "cells" if agent == "policy" else _native(agent) or "canonical"


def _native(agent: str) -> str | None:
    """The dialect of a vendor's model; None for other agents."""
    from ui_gym_agents.agents.agent import VENDORS

    if not agent.startswith(VENDORS):
        return None
    from ui_gym_agents.agents.vendor import native_dialect

    return native_dialect(agent)


def _tasks(default: dict[str, Any], choice: dict[str, Any], split: Any) -> tuple[Any, ...]:
    """The tasks that are asked for; a suite as one env only where it is named."""
    from pydantic import ValidationError

    import ui_gym  # noqa: F401 - registers the ids
    from ui_gym.catalog import TaskSource
    from ui_gym.contract.suite import MEMBER_TAG
    from ui_gym_agents.tasks.sources import entries_of

    given = {name: value for name, value in choice.items() if value} or default
    if not given:
        return ()
    together = given.get("suite") == ALL
    if together:
        del given["suite"]
    named = given.get("ids", [])  # an id, module:namespace/Name-v0, cannot be a class
    given["custom"] = [name for name in named if _is_class(name)]
    given["ids"] = [name for name in named if name not in given["custom"]]
    try:
        chosen = entries_of(TaskSource(**given), split=split)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        raise UserError(f"--{name}: {first['msg']}, not {first['input']!r}") from None
    is_named = bool(named or given.get("file"))
    kept = tuple(
        entry
        for entry in chosen
        if (is_named or MEMBER_TAG not in entry.spec.tags)
        and (not together or entry.spec.suite in SUITES)
    )
    if not kept:
        raise UserError(f"no such task is in the suites {', '.join(SUITES)}")
    return kept


def _is_class(name: str) -> bool:
    """Whether a task is written as module:Class, in which Gymnasium's ids are not."""
    module, colon, names = name.partition(":")
    return bool(module and colon) and all(part.isidentifier() for part in names.split("."))


BY_TASK = (
    ShownColumn("task", least=20),
    ShownColumn("success", right=True),
    ShownColumn("95 %", rank=2, right=True),
    ShownColumn("blind", rank=4, right=True),
    ShownColumn("score", rank=5, right=True),
    ShownColumn("n", rank=1, right=True),
    ShownColumn("failed", rank=3, right=True),
)


def print_report(settings: Any, report: Any, console: Console) -> None:
    """The figures in all, and those of each task if there are more."""
    facts = _rows(settings, report).items()
    if console.is_terminal:
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        for name, value in facts:
            table.add_row(Text(name, style="dim"), Text(value))
        console.print(table)
    else:
        print_lines(console, (f"{name}\t{value}" for name, value in facts))
    if len(report.by_task) > 1:
        rows = [
            (task, _success(part), _interval(part), percent(part.blind_rate),
             f"{part.score:.2f}", str(part.n), str(part.failures))
            for task, part in report.by_task.items()
        ]  # fmt: skip
        print_table(console, BY_TASK, rows)


def _rows(settings: Any, report: Any) -> Mapping[str, str]:
    total = report.total
    first, *others = (entry.variant for entry in settings.tasks)
    rows = {
        "task": f"{f'{1 + len(others)} tasks' if others else first} {settings.arguments or ''}",
        "agent": settings.model if settings.agent == "policy" else settings.agent,
        "answers": "greedy" if report.greedy else "sampled",
        "success": f"{_success(total)}  ({_counted(total)})",
        "pass@k": ", ".join(f"{k}: {percent(rate)}" for k, rate in total.pass_at_k.items()),
        "score": f"{total.score:.3f}",
        "blind guess": percent(total.blind_rate),
        "goal sensitivity": f"{percent(report.goal_sensitivity)}  (other goal, other answer)",
        "valid actions": percent(total.valid_actions),
        "turns": f"{total.turns:.1f}",
        "tokens": str(total.usage or "unknown: the server does not tell them"),
        "cost": "unknown" if report.cost is None else f"${report.cost:.2f}",
    }
    if not is_served(settings.agent):
        del rows["tokens"]
    if settings.prices is None:
        del rows["cost"]
    if not settings.samples:
        del rows["answers"]
    if report.goal_sensitivity is None:
        del rows["goal sensitivity"]
    if len(total.pass_at_k) < 2:
        del rows["pass@k"]
    if total.failures:
        rows["failed"] = f"{total.failures} episodes, by the infrastructure's fault"
        if settings.out is not None:
            rows["failed"] += "; ask for the same again to play them again"
    return rows


def _success(part: Any) -> str:
    """The success rate; unknown, where no episode counts."""
    return percent(part.success if part.n else None)


def _counted(part: Any) -> str:
    return f"95 %: {_interval(part)}, {part.n} episodes" if part.n else "no episode counts"


def _interval(part: Any) -> str:
    low, high = part.interval
    return f"{percent(low)} to {percent(high)}"


if __name__ == "__main__":
    sys.exit(main())
