"""What can be known of a task without a device: its own words, arguments, spaces, an example."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from ui_gym.contract import registry
from ui_gym.contract.arguments import make_task
from ui_gym.playing.spaces import ActionText, observation_space
from ui_gym.tools.terminal import ShownColumn, print_table

ENV_ARGUMENTS = frozenset({"device", "dialect", "observation", "reward", "split", "viewport",
                           "max_steps", "render_mode", "timeout"})  # fmt: skip


@dataclass(frozen=True)
class Description:
    """A task in words; `arguments` are (name, default) of the task itself."""

    id: str
    suite: str
    category: str
    difficulty: str
    max_steps: int
    tags: tuple[str, ...]
    doc: str
    arguments: tuple[tuple[str, str], ...]
    mistakes: tuple[str, ...]
    viewport: tuple[int, int]
    action_space: str
    observation_space: str
    seed: int
    goal: str


def describe(task: str, seed: int, arguments: Mapping[str, Any]) -> Description:
    """Describe `task` made with `arguments`; `UserError` for an unknown task or argument."""
    spec = registry.spec(task)
    own = {key: value for key, value in arguments.items() if key not in ENV_ARGUMENTS}
    made = make_task(spec.id, own, sorted(ENV_ARGUMENTS))
    drawn = made.choose(seed, None)
    size = arguments.get("viewport", made.viewport)
    return Description(
        id=spec.id,
        suite=spec.suite,
        category=spec.category,
        difficulty=spec.difficulty,
        max_steps=spec.max_steps,
        tags=spec.tags,
        doc=inspect.getdoc(type(made)) or "",
        arguments=tuple(
            (name, "" if p.default is p.empty else repr(p.default))
            for name, p in inspect.signature(type(made)).parameters.items()
        ),
        mistakes=tuple(made.mistakes),
        viewport=size,
        action_space=repr(ActionText(arguments.get("dialect", "canonical"), size)),
        observation_space=repr(observation_space(size)),
        seed=seed,
        goal=drawn.goal(drawn.draw(seed, "train")),
    )


def print_description(found: Description, console: Console) -> None:
    """For people: the docstring as the page that it is, then the facts."""
    console.rule(Text(found.id, style="bold"), align="left")
    console.print(Markdown(found.doc))
    console.print()
    width, height = found.viewport
    facts = (
        ("suite", f"{found.suite} · {found.category} · {found.difficulty}"),
        ("tags", ", ".join(found.tags)),
        ("steps", f"at most {found.max_steps}"),
        ("screen", f"{width} x {height}"),
        ("arguments", ", ".join(f"{name}={default}" for name, default in found.arguments)),
        ("mistakes", ", ".join(found.mistakes)),
        ("action space", found.action_space),
        ("observation space", found.observation_space),
        (f"goal of seed {found.seed}", found.goal),
    )
    columns = (ShownColumn(style="dim"), ShownColumn(least=20, folds=True))
    print_table(console, columns, [fact for fact in facts if fact[1]])
