"""What a command imports before it has something to do: the set of modules, not the seconds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HEAVY = frozenset(
    {
        "accelerate", "alembic", "cv2", "httpx", "matplotlib", "peft", "safetensors", "sqlalchemy",
        "tokenizers", "torch", "transformers",
    }
)  # fmt: skip
"""What takes seconds to import, and no command needs that only says something."""

COMMANDS = (
    ("ui_gym_agents.training.cli", "--help"),
    ("ui_gym_agents.training.cli", "--list-plugins"),
    ("ui_gym_agents.training.cli", "--plugin grpo --help"),
    ("ui_gym_agents.training.cli", "--plugin sft --help"),
    ("ui_gym_agents.training.cli", "--plugin grpo --trainer.learning_rate 1"),
    ("ui_gym_agents.training.cli", "--plugin grop"),
    ("ui_gym_agents.training.cli", "--plugin grpo --dry-run"),
    ("ui_gym_agents.training.cli", "--plugin sft --dry-run"),
    ("ui_gym_agents.training.cli", "--plugin grpo --print-config"),
    ("ui_gym_agents.evaluation.cli", "--help"),
    ("ui_gym_agents.evaluation.cli", "--agent orakel"),
    ("ui_gym_agents.tasks.cli", "--help"),
    ("ui_gym_agents.records.cli", "--help"),
    ("ui_gym.tools.cli", "list"),
)

SCRIPT = """
import importlib, sys
for line in sys.argv[1:]:
    module, *arguments = line.split()
    sys.argv = ["command", *arguments]
    try:
        importlib.import_module(module).main()
    except SystemExit:
        pass
    print("imported:", line, *sys.modules, file=sys.stderr)
"""


def imported(folder: Path, *lines: str) -> dict[str, set[str]]:
    """The modules that are there after each command, all of them played in one process."""
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, *lines],
        cwd=folder, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    told = [t for t in run.stderr.splitlines() if t.startswith("imported: ")]
    return {line: set(text.split()) for line, text in zip(lines, told, strict=True)}


def test_what_only_says_something_imports_nothing_heavy(tmp_path: Path) -> None:
    for line, modules in imported(tmp_path, *map(" ".join, COMMANDS)).items():
        assert HEAVY & modules == set(), line


def test_a_list_of_records_imports_no_learning_library(tmp_path: Path) -> None:
    (modules,) = imported(tmp_path, "ui_gym_agents.records.cli ls").values()
    assert HEAVY & modules <= {"alembic", "sqlalchemy"}
