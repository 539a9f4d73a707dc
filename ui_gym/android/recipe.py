"""The demo tasks of the CUA-RL recipe: its ids as our tasks, and its own validators.

The recipe (``tinker_cookbook/recipes/cua_rl``: ``demo_tasks.py``, ``core/reward.py``) has 23 demo
tasks to train on and 9 to evaluate with, all on an Android phone. Each is registered here under the
recipe's id, as one of our tasks with what the id says fixed, judged by our checks::

    gym.make("UI/train_02_max_brightness-v0")
    TaskSource.from_recipe({"source_type": "ids", "task_ids": ["train_02_max_brightness"]})
    TaskSource(tags=("cua-recipe", "demo_training"))

`VALIDATORS` are the recipe's own, kept as they are to compare with its numbers. Some never hold, or
always: see each one's note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ui_gym.android.device import AndroidDevice
from ui_gym.contract.spec import Difficulty, TaskSpec
from ui_gym.contract.tables import read_table

COLLECTION = "cua-recipe"
MODULE = "ui_gym.android.recipe_tasks"


@dataclass(frozen=True)
class RecipeEntry:
    """A demo task of the recipe."""

    id: str
    """The recipe's id: ``train_02_max_brightness``."""
    task: str
    """The name of our task that it is."""
    steps: int
    """The recipe's `max_steps`."""
    query: str
    """The recipe's `validation_query`: which of `VALIDATORS` judges it."""
    expected: Any
    """The recipe's `expected_result`."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of our task."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Fields of its params, where it has no argument for them."""
    category: str = "settings"
    difficulty: Difficulty = "medium"

    @property
    def kind(self) -> str:
        """The recipe's `source_type` that it belongs to."""
        return "demo_training" if self.id.startswith("train_") else "demo_eval"

    @property
    def spec(self) -> TaskSpec:
        """What a catalogue knows of it."""
        fixed = ", ".join(f"{k}={v!r}" for k, v in {**self.arguments, **self.params}.items())
        return TaskSpec(
            name=self.id,
            suite="android",
            entry_point=f"{MODULE}:{self.id}",
            category=self.category,
            difficulty=self.difficulty,
            max_steps=self.steps,
            tags=(COLLECTION, self.kind),
            summary=f"{self.task} of the CUA-RL recipe{f', with {fixed}' if fixed else ''}.",
            collection=COLLECTION,
        )


_TABLES = read_table("ui_gym.android.content", "recipe")

ENTRIES: Mapping[str, RecipeEntry] = {
    id: RecipeEntry(id, **entry) for id, entry in _TABLES["entries"].items()
}
"""The recipe's tasks by id. Apps, sites and sizes that are of the recipe's own phone are those of
the built-in one here: another app is uninstalled, another file downloaded."""


# -- the recipe's own validators --


@dataclass(frozen=True)
class RecipeValidator:
    """How the recipe judges: a shell line, and what it makes of the output."""

    line: str
    """With fields of the expected result in braces. Empty where it reads the last message."""
    reads: Callable[[str, Any], bool]
    """(output or message, expected result) -> whether it is a success."""
    note: str = ""
    """What is wrong with it, if something is."""

    def holds(self, device: AndroidDevice, expected: Any, message: str = "") -> bool:
        """Judge as the recipe does; a line that it cannot read is no success.

        Args:
            device: The phone.
            expected: The recipe's `expected_result`.
            message: What the agent said last.
        """
        if not self.line:
            return self.reads(message, expected)
        output = device.shell(self.filled(expected)).stdout.decode("utf-8", "replace")
        try:
            return self.reads(output, expected)
        except ValueError:
            return False

    def filled(self, expected: Any) -> str:
        """The line for an expected result."""
        fields = expected if isinstance(expected, Mapping) else {}
        return re.sub(r"\{(\w+)\}", lambda m: str(fields[m[1]]), self.line)


def _is_set(output: str, expected: Any) -> bool:
    return bool(int(output.strip())) == bool(expected)


def _is_above_zero(output: str, expected: Any) -> bool:
    return (int(output.strip()) > 0) == bool(expected)


def _is_number(output: str, expected: Any) -> bool:
    return int(output.strip()) == int(expected)


def _names(output: str, expected: Any) -> bool:
    return str(expected) in output


def _names_in_any_case(output: str, expected: Any) -> bool:
    return str(expected).lower() in output.lower()


def _is_home(output: str, expected: Any) -> bool:
    lowered = output.lower()
    return bool(lowered) and ("launcher" in lowered or "home" in lowered) == bool(expected)


def _volume(output: str, expected: Any) -> bool:
    match = re.search(r"volume:\s*(\d+)/(\d+)", output)
    if match is None:
        return int(output.strip()) == int(expected)
    return int(int(match[1]) / int(match[2]) * 100) == int(expected)


def _cache(output: str, expected: Any) -> bool:
    match = re.search(r"cacheSize[=:]\s*(\d+)", output)
    return match is not None and (int(match[1]) < 1_048_576) == bool(expected)


def _language(output: str, expected: Any) -> bool:
    match = re.search(r"([a-z]{2})[-_]", output.lower())
    actual = match[1] if match else output.strip()[:2].lower()
    return str(expected).lower() in actual or actual in str(expected).lower()


def _flag(name: str) -> Callable[[str, Any], bool]:
    return lambda output, expected: (int(output.strip()) == 1) == bool(expected[name])


def _size(message: str, expected: Any) -> bool:
    return bool(re.search(r"\d+\.?\d*\s*(KB|MB|GB|TB|bytes?)", message, re.IGNORECASE))


_READERS: Mapping[str, Callable[[str, Any], bool]] = {
    "is_set": _is_set,
    "is_above_zero": _is_above_zero,
    "is_number": _is_number,
    "names": _names,
    "names_in_any_case": _names_in_any_case,
    "is_home": _is_home,
    "volume": _volume,
    "cache": _cache,
    "language": _language,
    "size": _size,
}


def _validator(reads: str, line: str = "", note: str = "", flag: str = "") -> RecipeValidator:
    return RecipeValidator(line, _flag(flag) if reads == "flag" else _READERS[reads], note)


VALIDATORS: Mapping[str, RecipeValidator] = {
    query: _validator(**written) for query, written in _TABLES["validators"].items()
}
"""The recipe's validators by `validation_query`, their lines to the letter."""
