"""`ui-gym-eval --suite osworld`: the options of OSWorld's own runner, in both spellings."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track
from rich.text import Text

from ui_gym.errors import DeviceError, UserError
from ui_gym_agents import command

app = typer.Typer(add_completion=False, rich_markup_mode="rich")

SUITE = "osworld"

LISTED = 10
"""How many tasks without a score are named, of each kind."""


def is_asked_for(arguments: Sequence[str]) -> bool:
    """Whether a command line names the suite of OSWorld's task files."""
    pairs = itertools.pairwise([*arguments, ""])
    return any(one == f"--suite={SUITE}" or (one, two) == ("--suite", SUITE) for one, two in pairs)


def dashed(name: str) -> str:
    """An option as we spell it: OSWorld's runner has underscores, ``--max_steps``."""
    return name.replace("_", "-")


@app.command(context_settings={"token_normalize_func": dashed})
def evaluate(
    result_dir: Annotated[Path, typer.Option(help="Where the folders of results are.")],
    suite: Annotated[str, typer.Option(help="osworld.")] = SUITE,
    test_all_meta_path: Annotated[
        Path | None,
        typer.Option(
            help="Which tasks, as a file {domain: list of ids}. (By default test_all.json "
            "beside the examples; without any, our own task files.)",
        ),
    ] = None,
    test_config_base_dir: Annotated[
        Path | None,
        typer.Option(
            help="The folder of examples/<domain>/<id>.json. (By default that of the meta file.)",
        ),
    ] = None,
    domain: Annotated[str, typer.Option(help="Only this domain.")] = "all",
    agent: Annotated[
        str,
        typer.Option(
            help="policy, random, scripted, a served model as openai:MODEL@URL, or a factory as "
            "module:name.",
        ),
    ] = "policy",
    script: Annotated[
        Path | None, typer.Option(help="The scripted agent's actions, a turn a line.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="The policy's model, a shipped name or a folder, and in any case the name of the "
            "folder of results. (By default tiny-clerk, the served "
            "model's name, or the agent's.)",
        ),
    ] = None,
    adapter: Annotated[Path | None, typer.Option(help="A LoRA adapter of the policy.")] = None,
    action_space: Annotated[
        str, typer.Option(help="The dialect that the agent writes: pyautogui, uitars15...")
    ] = "pyautogui",
    observation_type: Annotated[
        str, typer.Option(help="screenshot, a11y_tree, screenshot_a11y_tree or som.")
    ] = "screenshot",
    max_steps: Annotated[
        int | None,
        typer.Option(
            help="Steps of an episode. (By default as the task file has it, or 15.)", min=1
        ),
    ] = None,
    max_trajectory_length: Annotated[
        int | None,
        typer.Option(
            help="How many pictures the agent is shown. (By default 15, or as the policy's model "
            "was trained.)",
            min=0,
        ),
    ] = None,
    temperature: Annotated[
        float, typer.Option(help="Of a model's sampling; 0 is greedy.", min=0)
    ] = 0.6,
    top_p: Annotated[float, typer.Option(help="Of a served model.", min=0, max=1)] = 0.9,
    max_tokens: Annotated[int, typer.Option(help="Most tokens of a turn.", min=1)] = 1500,
    screen_width: Annotated[int, typer.Option(help="Pixels.", min=1)] = 1920,
    screen_height: Annotated[int, typer.Option(help="Pixels.", min=1)] = 1080,
    sleep_after_execution: Annotated[
        float,
        typer.Option(
            help="Seconds between acting and looking, beside those in which the screen settles.",
            min=0,
            max=60,
        ),
    ] = 0.0,
    device: Annotated[
        str, typer.Option(help="auto, x11, osworld:http://HOST:5000 or qemu:IMAGE.")
    ] = "auto",
    num_envs: Annotated[int, typer.Option(help="How many envs side by side.", min=1)] = 1,
    trial_id: Annotated[
        str, typer.Option(help="A folder between model and domain, for repeated trials.")
    ] = "",
    seed: Annotated[int, typer.Option(help="Seed of sampling.")] = 0,
    task: Annotated[
        str, typer.Option(help="The env that plays task files, by its argument task_file.")
    ] = "UI/OSWorld-v0",
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="An argument of the tasks, as NAME=JSON.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
) -> None:
    """Play OSWorld's task files, and write the folders that OSWorld's runner writes.

    Tasks that have a result are not played again. Scores stand with and without the tasks that
    cannot be done, which an agent that always gives up has right.

    [dim]Examples:[/dim]

      ui-gym-eval --suite osworld --agent random --result-dir results

      ui-gym-eval --suite osworld --agent openai:UI-TARS-1.5-7B@http://127.0.0.1:8000/v1 --action-space uitars15 --test-all-meta-path evaluation_examples/test_all.json --domain os --num-envs 4 --result-dir results
    """  # noqa: E501 # fmt: skip
    from ui_gym_agents.evaluation.osworld.plan import OSWorldOptions
    from ui_gym_agents.evaluation.osworld.play import play

    if suite != SUITE:
        raise UserError(f"these are the options of --suite {SUITE}, not of {suite!r}")
    options = OSWorldOptions(
        result_dir=result_dir, agent=agent, script=script, adapter=adapter,
        model=model or ("tiny-clerk" if agent == "policy" else ""), action_space=action_space,
        observation_type=observation_type, screen_width=screen_width, screen_height=screen_height,
        max_steps=max_steps, max_trajectory_length=max_trajectory_length, temperature=temperature,
        top_p=top_p, max_tokens=max_tokens, sleep_after_execution=sleep_after_execution,
        test_all_meta_path=test_all_meta_path, test_config_base_dir=test_config_base_dir,
        domain=domain, trial_id=trial_id, num_envs=num_envs, device=device, seed=seed,
        task=task, arguments=command.read_arguments(set_ or []),
    )  # fmt: skip
    console = Console(stderr=True)

    def watch(steps: Any, total: int) -> Any:
        alone = not console.is_terminal  # nobody watches a bar in a file
        return track(steps, "tasks", total=total, console=console, transient=True, disable=alone)

    def note(text: str) -> None:
        console.print(Text(text, style="dim"), soft_wrap=True)

    scores = play(options, watch, note)
    if as_json:
        sys.stdout.write(json.dumps(scores.to_json(), indent=1) + "\n")
    else:
        scores.print(Console())
        Console().print(Text(f"results: {options.folder}"), soft_wrap=True)
    for kind, tasks in (("skipped", scores.skipped), ("failed", scores.failed)):
        for key, why in itertools.islice(tasks.items(), LISTED):
            note(f"{kind}: {key}: {why}")
        if len(tasks) > LISTED:
            note(f"{kind}: {len(tasks) - LISTED} more; --json lists them all")
    if scores.failed and not scores.total.n:
        raise DeviceError("no task was played to its end; `ui-gym doctor` checks what lacks here")
