"""The command ``ui-gym export``: episodes as tasks of other people's harnesses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from ui_gym.errors import UserError

if TYPE_CHECKING:
    from ui_gym.contract.spec import TaskSpec

TEMPLATES = Path(__file__).with_name("harbor")
FILLED = ("task.toml", "instruction.md", "environment/docker-compose.yaml")
"""The templates that differ from task to task, beside the judge's Dockerfile."""
JUDGE = "environment/judge/Dockerfile"
SUITES = ("browser", "android")
"""Those whose devices the judge's image has."""

app = typer.Typer(
    name="export",
    help="Tasks for other people's harnesses.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@app.callback()
def export() -> None:
    """Tasks for other people's harnesses."""


@app.command()
def harbor(
    tasks: Annotated[list[str], typer.Argument(help="Ids or names, such as UI/DataEntry-v0.")],
    out: Annotated[Path, typer.Option(help="The folder for the tasks' folders.")],
    seeds: Annotated[int, typer.Option(min=1, help="Episodes of each task: seeds from 0 on.")] = 1,
    level: Annotated[int | None, typer.Option(help="The tasks' level of difficulty.")] = None,
    compact: Annotated[
        bool, typer.Option(help="Small screens, where the tasks have them.")
    ] = False,
    package: Annotated[
        str | None,
        typer.Option(help="What pip installs in the judge's image. [this version of ui-gym]"),
    ] = None,
) -> None:
    """Write episodes as task folders of Harbor: `harbor run --path OUT --agent ...`.

    A task is one episode. Its judge, [bold]ui-gym mcp[/bold], runs in a container beside the
    agent's, which has no other way to it than the tools; the verifier reads what the judge wrote.
    The oracle plays each episode here, and its actions are the solution.

    Example: [bold]ui-gym export harbor UI/DataEntry-v0 --seeds 10 --out tasks[/bold]
    """
    from ui_gym.contract import registry

    specs = [registry.spec(task) for task in tasks]
    for spec in specs:
        if spec.suite not in SUITES:
            raise UserError(
                f"{spec.id} is of the suite {spec.suite}, whose devices the judge's image lacks; "
                f"to be had are tasks of: {', '.join(SUITES)}"
            )
    package = package or f"ui-gym[browser,mcp,phone]=={version('ui-gym')}"
    if not re.fullmatch(r"[\w\[\].,;:=<>!~@+/-]+", package, re.ASCII):
        raise UserError(f"--package takes one requirement of pip without spaces, not {package!r}")
    options: dict[str, Any] = {"level": level, "compact": compact or None}
    arguments = {name: value for name, value in options.items() if value is not None}
    console = Console(highlight=False, soft_wrap=True)
    for spec in specs:
        for seed in range(seeds):
            folder = out / f"{spec.name.lower()}-{seed}"
            if folder.exists():
                raise UserError(f"{folder} is there already; choose another --out")
            write_harbor_task(folder, solve(spec, seed, arguments), arguments, package)
            console.print(str(folder))


@dataclass(frozen=True)
class SolvedEpisode:
    """An episode as the oracle won it: the goal, how actions are written, those it took."""

    spec: TaskSpec
    seed: int
    goal: str
    taught: str
    actions: tuple[str, ...]


def solve(spec: TaskSpec, seed: int, arguments: Mapping[str, Any]) -> SolvedEpisode:
    """Play the episode of a seed by the oracle.

    Raises:
        UserError: an argument is unknown, or the oracle does not win: it would be no solution.
        DeviceError, TaskError: it could not be played.
    """
    from ui_gym.playing.env import UIEnv

    env = UIEnv(spec.id, **arguments)
    try:
        observation, info = env.reset(seed=seed, options={"oracle": True})
        actions: list[str] = []
        over = False
        while not over:
            actions.append(info["oracle"]["action_text"])
            _, _, terminated, truncated, info = env.step(actions[-1])
            over = terminated or truncated
        if not info["success"]:
            why = info["failure"] or info["notes"] or "the steps were used up"
            raise UserError(f"{spec.id}, seed {seed}: its oracle does not win ({why})")
        taught = env.dialect.prompt(env.size)
        return SolvedEpisode(spec, seed, str(observation["goal"]), taught, tuple(actions))
    finally:
        env.close()


def write_harbor_task(
    folder: Path, episode: SolvedEpisode, arguments: Mapping[str, Any], package: str
) -> None:
    """Write a task's folder in the format of Harbor 0.25 (``schema_version`` 1.4)."""
    spec = episode.spec
    said = {
        "name": f"ui-gym/{folder.name}", "summary": spec.summary, "suite": spec.suite,
        "category": spec.category, "task": spec.id, "seed": episode.seed,
        "difficulty": spec.difficulty, "version": version("ui-gym"),
        "command": [spec.id, "--seed", str(episode.seed), *_options(arguments)],
    }  # fmt: skip
    values = {key: json.dumps(value, ensure_ascii=False) for key, value in said.items()}
    values |= {"goal": episode.goal, "actions": episode.taught, "package": f"'{package}'"}
    for template in sorted(path for path in TEMPLATES.rglob("*") if path.is_file()):
        name = template.relative_to(TEMPLATES).as_posix()
        text = template.read_text(encoding="utf-8")
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        filled = name in (*FILLED, JUDGE)
        file.write_text(Template(text).substitute(values) if filled else text, encoding="utf-8")
        file.chmod(0o755 if file.suffix == ".sh" else 0o644)
    lines = "".join(f"{json.dumps(call)}\n" for call in _calls(episode.actions))
    (folder / "solution" / "calls.jsonl").write_text(lines, encoding="utf-8")


def _options(arguments: Mapping[str, Any]) -> Iterator[str]:
    """The arguments as options of ``ui-gym mcp``."""
    for name, value in arguments.items():
        yield f"--{name}"
        if value is not True:
            yield str(value)


def _calls(actions: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """What a client sends: the start, and then each action."""
    tools = [("start_task", {}), *(("act", {"action": action}) for action in actions)]
    for number, (tool, given) in enumerate(tools, start=1):
        params = {"name": tool, "arguments": given}
        yield {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
