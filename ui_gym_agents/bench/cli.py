"""`ui-gym-bench`: holds the protocol of the laptop benchmark."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from ui_gym.errors import UserError, nearest
from ui_gym.tools.terminal import ShownColumn, print_lines, print_table
from ui_gym_agents import command

app = typer.Typer(
    add_completion=False, rich_markup_mode="rich", no_args_is_help=True,
    help="The laptop benchmark: learning algorithms of agents that look at screens, on two cores. "
    "docs/benchmark.md says what it shows.",
)  # fmt: skip

MODEL = "tiny-reader"
ALL = "compact"
FAMILIES = "families"
HELD_OUT = (FAMILIES,)
MANY = ("--seeds", "--task", "--algorithm")
"""Options that take several values in a row."""

OutOption = Annotated[Path, typer.Option(help="The folder of result files.")]
RunsOption = Annotated[Path, typer.Option(help="The folder in which runs live until they end.")]
ModelOption = Annotated[
    str, typer.Option(help="The parent: a shipped model's name, or a folder of a model.")
]
SetOption = Annotated[str, typer.Option("--tasks", help="A set of tasks of the protocol.")]
TaskOption = Annotated[
    list[str] | None, typer.Option("--task", help="Tasks by name, rather than a set.")
]
SeedsOption = Annotated[
    list[int] | None, typer.Option("--seeds", min=0, help="Of the runs; the protocol's by default.")
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        min=1, help="Runs side by side; the protocol's number by default.", show_default=False
    ),
]
ProtocolOption = Annotated[
    Path | None, typer.Option(help="A protocol of your own, a TOML file.", show_default=False)
]
PrintOption = Annotated[
    bool, typer.Option("--print", help="Say what would be run, a command a line, and stop.")
]
AlgorithmOption = Annotated[
    list[str],
    typer.Option(
        "--algorithm",
        help="bc, rejection, grpo, dr_grpo, gigpo, ppo, arpo, the controls still, shuffled and "
        "unfiltered; a TOML file; or with --plugin a name for your own.",
    ),
]
PluginOption = Annotated[
    str | None, typer.Option(help="The trainer plugin of your own algorithm.", show_default=False)
]
SettingOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="A setting of your own algorithm, as KEY=JSON: trainer.lr=1e-3."),
]


@app.command()
def run(
    algorithm: AlgorithmOption,
    tasks: SetOption = ALL,
    task: TaskOption = None,
    seeds: SeedsOption = None,
    model: ModelOption = MODEL,
    plugin: PluginOption = None,
    set_: SettingOption = None,
    jobs: JobsOption = None,
    out: OutOption = Path("results"),
    runs: RunsOption = Path("runs") / "bench",
    protocol: ProtocolOption = None,
    dry: PrintOption = False,
) -> None:
    """Train on each task alone, within the budget, and write a result file for each run.

    What has a result is skipped; what was stopped goes on where it was saved. Ctrl-C finishes the
    steps under way and saves them; a second one leaves at once.

    [dim]Examples:[/dim]

      ui-gym-bench run --algorithm grpo --tasks core12

      ui-gym-bench run --algorithm bc grpo --task CheckboxSet Login --seeds 0 1 2 --jobs 2

      ui-gym-bench run --algorithm mine --plugin grpo --set trainer.lr=2e-3 --task Login --print
    """
    from ui_gym_agents.bench import asked
    from ui_gym_agents.bench.plan import BenchPlaces, BenchRun

    kept, chosen = asked.chosen_tasks(protocol, tasks, task)
    plans = [
        BenchRun(kept, name, found, model, (one,), seed)
        for seed in seeds or kept.run_seeds
        for name, found in asked.chosen_algorithms(algorithm, plugin, set_ or [])
        for one in chosen.names
    ]
    asked.play_runs(plans, kept, BenchPlaces(out, runs), jobs, dry)


@app.command()
def multi(
    algorithm: AlgorithmOption,
    tasks: SetOption = ALL,
    task: TaskOption = None,
    held_out: Annotated[
        str | None,
        typer.Option(
            help="families: those of the protocol's list are measured, and not trained on.",
            show_default=False,
        ),
    ] = None,
    seeds: SeedsOption = None,
    model: ModelOption = MODEL,
    plugin: PluginOption = None,
    set_: SettingOption = None,
    jobs: JobsOption = None,
    out: OutOption = Path("results"),
    runs: RunsOption = Path("runs") / "bench",
    protocol: ProtocolOption = None,
    dry: PrintOption = False,
) -> None:
    """Train one model on many tasks with a curriculum, and measure it task by task.

    The curriculum goes by the policy's successes; with demonstrations all tasks come alike.

    [dim]Examples:[/dim]

      ui-gym-bench multi --algorithm grpo --tasks compact --seeds 0

      ui-gym-bench multi --algorithm grpo --tasks compact --held-out families
    """
    from ui_gym_agents.bench import asked
    from ui_gym_agents.bench.plan import BenchPlaces, BenchRun

    if held_out is not None and held_out not in HELD_OUT:
        raise UserError(f"there is no --held-out {held_out!r}. {nearest(held_out, HELD_OUT)}")
    kept, chosen = asked.chosen_tasks(protocol, tasks, task)
    unseen = kept.held_out(chosen.names) if held_out else ()
    trained = tuple(name for name in chosen.names if name not in unseen)
    if held_out and not unseen:
        raise UserError(
            f"none of these tasks is held out ({', '.join(kept.held_out_families)} are): choose a "
            "set that has some of them"
        )
    if len(trained) < 2:
        raise UserError("a run on many tasks needs two or more that are trained on")
    plans = [
        BenchRun(kept, name, found, model, trained, seed, unseen, of_many=True)
        for seed in seeds or kept.run_seeds
        for name, found in asked.chosen_algorithms(algorithm, plugin, set_ or [])
    ]
    asked.play_runs(plans, kept, BenchPlaces(out, runs), jobs, dry)


@app.command()
def controls(
    tasks: SetOption = ALL,
    task: TaskOption = None,
    model: ModelOption = MODEL,
    jobs: JobsOption = None,
    out: OutOption = Path("results"),
    runs: RunsOption = Path("runs") / "bench",
    protocol: ProtocolOption = None,
    dry: PrintOption = False,
) -> None:
    """Measure what needs no training: blind guess, random agent, and the parent with pass@k.

    The controls that train, still, shuffled and unfiltered, are algorithms of ui-gym-bench run.

    [dim]Example:[/dim]

      ui-gym-bench controls --tasks core12
    """
    from ui_gym_agents.bench import asked
    from ui_gym_agents.bench.controls import TaskControls, play_controls
    from ui_gym_agents.bench.plan import BenchPlaces
    from ui_gym_agents.bench.work import PlannedResult
    from ui_gym_agents.policy.weights import resolve

    kept, chosen = asked.chosen_tasks(protocol, tasks, task)
    places = BenchPlaces(out, runs)
    each = [TaskControls(kept, model, one) for one in chosen.names]
    resolve(model)
    if dry:
        lines = (shlex.join(c) for one in each for c in one.commands(places).values())
        print_lines(Console(), lines)
        return
    side = asked.side_by_side(kept, jobs, (one.result(places) for one in each))
    work = [
        PlannedResult(
            one.title,
            one.result(places),
            partial(play_controls, one, places, side),
        )
        for one in each
    ]
    asked.do_missing(work, kept, side, {one.result(places): {} for one in each})


@app.command()
def rerun(
    result: Annotated[Path, typer.Argument(help="A result file of run or multi.")],
    runs: RunsOption = Path("runs") / "bench",
    dry: PrintOption = False,
) -> None:
    """Train again from a result file alone, and say whether the same comes of it.

    On the same kind of processor, with the same versions, all is equal to the bit. Exit status: 0
    where it is, 1 where it is not.

    [dim]Example:[/dim]

      ui-gym-bench rerun results/tiny-reader/grpo/CheckboxSet-0.json
    """
    from ui_gym_agents.bench.plan import train_command
    from ui_gym_agents.bench.protocol import load_protocol
    from ui_gym_agents.bench.rerun import RerunReport, check_rerun, play_rerun
    from ui_gym_agents.bench.results import read_result
    from ui_gym_agents.bench.running import BenchJob, JobPool
    from ui_gym_agents.bench.work import shown

    found = read_result(result)
    check_rerun(found)
    folder = runs / "rerun" / f"{found.algorithm}-{result.stem}"
    if dry:
        print_lines(Console(), [shlex.join(train_command(found.settings, folder))])
        return
    reports: list[RerunReport] = []
    console = Console()
    with shown(Console(stderr=True), result.stem) as meter:
        job = BenchJob(result.stem, lambda worker: play_rerun(found, folder, worker, meter))
        try:
            JobPool(load_protocol(None).budget, 1).each(
                [job], lambda _, f: reports.append(f.result())
            )
        except KeyboardInterrupt:
            raise command.Interrupted(f"interrupted; remove {folder} to begin again") from None
    (report,) = reports
    for line in report.circumstances:
        console.print(Text(f"here otherwise: {line}", style="yellow"), soft_wrap=True)
    for line in report.differences:
        console.print(Text(f"different: {line}", style="red"), soft_wrap=True)
    told = "equal to the bit: curve and weights" if report.equal else "not equal"
    console.print(Text(f"{found.steps} steps again: {told}"), soft_wrap=True)
    if not report.equal:
        raise typer.Exit(1)


@app.command()
def table(
    results: Annotated[
        list[Path] | None,
        typer.Argument(help="Result files, and folders of them; results by default."),
    ] = None,
    mode: Annotated[str, typer.Option(help="greedy or sampled answers.")] = "greedy",
    each: Annotated[bool, typer.Option("--each", help="A line for each run, instead.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print it as Markdown.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    svg: Annotated[
        Path | None, typer.Option(help="A folder that gets the curves of each task as SVG.")
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(
            help="A document that gets the Markdown between its two markers, with the pictures "
            "of --svg."
        ),
    ] = None,
) -> None:
    """Compare results: a row a task, a column an algorithm, intervals over seeds.

    What was not run is empty, and what failed says so.

    [dim]Examples:[/dim]

      ui-gym-bench table results --each

      ui-gym-bench table results --svg docs/benchmark --into docs/benchmark.md
    """
    from ui_gym_agents import files
    from ui_gym_agents.bench import asked, page
    from ui_gym_agents.bench import table as tables
    from ui_gym_agents.bench.algorithms import built_in
    from ui_gym_agents.bench.curves import draw_curves
    from ui_gym_agents.bench.results import find_results
    from ui_gym_agents.bench.training import MODES

    if mode not in MODES:
        raise UserError(f"there is no mode {mode!r}. {nearest(mode, MODES)}")
    if markdown and as_json:
        raise UserError("--markdown and --json are two forms of the same: ask for one")
    found = find_results(results or [Path("results")])
    order = list(built_in())
    compared = tables.compare_results(found, order, mode)
    console, notes = Console(), Console(stderr=True)
    drawn = [] if svg is None else draw_curves(found.values(), svg, order)
    for path in drawn:
        notes.print(Text(f"picture: {path}"), soft_wrap=True)
    if into is not None:
        pictures = [os.path.relpath(path, into.parent) for path in drawn]
        text = page.put_into(asked.read_document(into), page.as_markdown(compared, found, pictures))
        files.replace(into, text)
        notes.print(Text(f"written into {into}"), soft_wrap=True)
    if as_json:
        sys.stdout.write(json.dumps(compared.to_json(), indent=1) + "\n")
    elif markdown:
        sys.stdout.write(page.as_markdown(compared, found))
    elif into is None and each:
        if runs := tables.run_rows(found, mode):
            columns = [ShownColumn(name, rank=rank) for rank, name in enumerate(runs[0])]
            print_table(console, columns, runs[1:])
        else:
            notes.print("controls alone: no run of training is among these results")
    elif into is None:
        columns = [ShownColumn("task", least=12)]
        columns += [ShownColumn(name, right=True) for name in compared.columns]
        print_table(console, columns, compared.text_rows(compared.columns))
        for remark in compared.remarks:
            notes.print(Text(remark, style="dim"), soft_wrap=True)


@app.command("protocol")
def show_protocol(
    protocol: ProtocolOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Say what the protocol asks for, with the tasks that are there now."""
    from ui_gym_agents.bench.protocol import load_protocol
    from ui_gym_agents.bench.telling import described

    kept = load_protocol(protocol)
    if as_json:
        values = {**kept.model_dump(mode="json"), "hash": kept.digest}
        sys.stdout.write(json.dumps(values, indent=1) + "\n")
        return
    console = Console()
    for title, text in described(kept):
        console.print(Text(f"{title}: ", style="bold") + Text(text), soft_wrap=True)


def spread(words: Sequence[str]) -> list[str]:
    """A command line in which each value of `MANY` has its option before it.

    ``--seeds 0 1 2`` says what ``--seeds 0 --seeds 1 --seeds 2`` does.
    """
    found: list[str] = []
    option = ""
    for word in words:
        if word.startswith("-"):
            option = word if word in MANY else ""
            found.append(word)
            continue
        if option and found[-1] != option:
            found.append(option)
        found.append(word)
    return found


def main() -> int:
    """The command. Returns the exit status: 0, 1 (failed), 2 (usage), 130 (interrupted)."""
    return command.run(app, spread(sys.argv[1:]))


if __name__ == "__main__":
    sys.exit(main())
