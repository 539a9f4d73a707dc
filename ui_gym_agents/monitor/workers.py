"""Who works for a run: what its process tells of itself, every two seconds."""

from __future__ import annotations

import json
import time
from datetime import datetime
from pathlib import Path
from typing import Any

FILE = "workers.json"

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
        told = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return NOTHING | {
            "note": f"There is no {FILE}: the run is of an older version, or no training."
        }
    except (OSError, ValueError) as error:
        return NOTHING | {"note": f"{FILE} cannot be read: {error}"}
    return NOTHING | {"note": ""} | (told if isinstance(told, dict) else {})


def heartbeat(folder: Path | None) -> float | None:
    """For how many seconds a run's process has told nothing of itself; None: it never does."""
    if folder is None:
        return None
    try:
        told = json.loads((folder / FILE).read_text(encoding="utf-8"))
        return max(0.0, time.time() - datetime.fromisoformat(told["at"]).timestamp())
    except (OSError, ValueError, KeyError, TypeError):
        return None
