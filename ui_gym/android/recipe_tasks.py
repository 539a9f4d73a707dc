"""The recipe's demo tasks as classes, by the recipe's ids; each is made when it is asked for."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import numpy as np

from ui_gym.android.recipe import ENTRIES
from ui_gym.android.task import AndroidTask
from ui_gym.contract import registry

DOC = """{summary}

    ## Description
    The demo task ``{id}`` of the CUA-RL recipe: `{task}`, with what the id says fixed. It is judged
    by our check; the recipe's own is ``recipe.VALIDATORS["{query}"]``.

    ## Rewards
    As of `{task}`.

    ## Starting state
    As of `{task}`.
    """


def __getattr__(name: str) -> type[AndroidTask[Any]]:
    if name not in ENTRIES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _class(name)


@cache
def _class(id: str) -> type[AndroidTask[Any]]:
    entry = ENTRIES[id]
    base: Any = registry.spec(entry.task).load()

    class RecipeTask(base):  # type: ignore[misc]
        spec = entry.spec

        def __init__(self) -> None:
            super().__init__(**entry.arguments)

        def sample(self, rng: np.random.Generator) -> Any:
            return dataclasses.replace(super().sample(rng), **entry.params)

    RecipeTask.__name__ = RecipeTask.__qualname__ = entry.id
    RecipeTask.__module__ = __name__
    RecipeTask.__doc__ = DOC.format(
        summary=entry.spec.summary, id=entry.id, task=entry.task, query=entry.query
    )
    return RecipeTask
