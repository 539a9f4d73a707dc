"""Who works for a run: what its process tells of itself, every two seconds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ui_gym_agents.training.run_directory import WORKERS

NOTHING: dict[str, Any] = {
    "at": None, "processes": [], "slots": [], "queue": {}, "policy": {}, "nodes": [],
}  # fmt: skip


def workers(folder: Path | None) -> dict[str, Any]:
    """What is known of a run's processes and slots; `note` says what is not."""
    if folder is None:
        return NOTHING | {
            "note": "A run that is not in a folder here tells nothing of its workers."
        }
    try:
        told = json.loads((folder / WORKERS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return NOTHING | {
            "note": f"There is no {WORKERS}: the run is of an older version, or no training."
        }
    except (OSError, ValueError) as error:
        return NOTHING | {"note": f"{WORKERS} cannot be read: {error}"}
    return NOTHING | {"note": ""} | (told if isinstance(told, dict) else {})
