"""Algorithms: names for settings of `ui-gym-train`, which are data (``algorithms.toml``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from ui_gym.errors import UserError, nearest
from ui_gym_agents.bench.protocol import BenchPart, Setting
from ui_gym_agents.command import read_arguments
from ui_gym_agents.protocols import checked, read_toml

FILE = Path(__file__).with_name("algorithms.toml")


HELD = (
    "plugin", "tasks.", "evaluation.", "run.", "env.", "policy.model", "policy.threads",
    "policy.engine", "policy.agent",
)  # fmt: skip
"""How the keys of settings begin that are the protocol's to say, and no algorithm's."""
FREE = ("run.steps",)
"""Those of them that an algorithm may say: its learning rate may hang on them."""


class BenchAlgorithm(BenchPart):
    """What is trained with; `settings` are those of `ui-gym-train`, by key."""

    plugin: str = Field(min_length=1)
    title: str = ""
    control: bool = False
    """Whether nothing is to be learned by it."""
    settings: dict[str, Setting] = Field(default_factory=dict)


def built_in() -> dict[str, BenchAlgorithm]:
    """The benchmark's own algorithms by name."""
    return _of(read_toml(FILE, "list of algorithms"), FILE)


def find_algorithm(
    name: str, *, plugin: str | None = None, given: Sequence[str] = ()
) -> tuple[str, BenchAlgorithm]:
    """An algorithm and what it is called.

    Args:
        name: One of the benchmark's own; a TOML file that holds one of yours (its name is the
            file's); or, with `plugin`, any name for your own.
        plugin: The trainer plugin of your own.
        given: Further settings, ``KEY=JSON``, which go before those of the algorithm.

    Raises:
        UserError: there is no such algorithm, or the file is none. Settings of a name of the
            benchmark's own would make another algorithm of it.
    """
    own = read_arguments(given)
    if name.endswith(".toml"):
        path = Path(name)
        found, name = checked(
            BenchAlgorithm, read_toml(path, "algorithm"), f"{path} is no algorithm"
        ), path.stem  # fmt: skip
    elif plugin is not None:
        found = BenchAlgorithm(plugin=plugin, title=name)
    else:
        known = built_in()
        if name not in known:
            raise UserError(
                f"there is no algorithm {name!r}. {nearest(name, known)} One of your own has a "
                "--plugin, or is a TOML file"
            )
        if own:
            raise UserError(
                f"--set would make another algorithm of {name!r}: give it a name of its own, "
                f"--algorithm my-{name} --plugin {known[name].plugin}"
            )
        return name, known[name]
    if name in built_in():
        raise UserError(f"{name!r} is an algorithm of the benchmark; give yours another name")
    if not name.replace("-", "").replace("_", "").isalnum():
        raise UserError(f"an algorithm's name is letters, digits, - and _, not {name!r}")
    settings = {**found.settings, **own}
    for key in settings:
        if key.startswith(HELD) and key not in FREE:
            raise UserError(
                f"the algorithm {name!r} sets {key}, which is the protocol's to say; an algorithm "
                "sets what is the trainer's, the policy's and run.steps"
            )
    return name, checked(
        BenchAlgorithm, {**found.model_dump(), "settings": settings}, f"the algorithm {name}"
    )


def _of(values: Mapping[str, Any], path: Path) -> dict[str, BenchAlgorithm]:
    return {
        name: checked(BenchAlgorithm, inner, f"{name} in {path}") for name, inner in values.items()
    }
