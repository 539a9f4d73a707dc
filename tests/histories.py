"""What a run leaves behind, for comparing it with one that nobody disturbed."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from ui_gym_agents.episode import Episode
from ui_gym_agents.records import queries, target
from ui_gym_agents.records.database import open_database
from ui_gym_agents.records.ingest import ingest
from ui_gym_agents.training import checkpoint, event_log

NOT_LEARNED = ("elapsed", "config_hash", "versions")
"""Of a checkpoint's state: what tells of the process that saved it."""
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3} ")


def history(run: Path) -> dict[str, Any]:
    """What a run did and learned, without what a clock said and where it lies.

    Its metrics, its result, the bytes of its newest checkpoint, and what its records are made of:
    the episodes that count, by what they were played for. Each must be there once.
    """
    newest = checkpoint.latest(run / "checkpoints")
    assert newest is not None
    saved = {
        str(path.relative_to(newest)): path.read_bytes()
        for path in newest.rglob("*")
        if path.is_file() and path.name not in ("state.json", "manifest.json")
    }
    state = json.loads((newest / "state.json").read_text())
    state["rng"].pop("torch", None)  # of a process that happens to have imported it
    result = json.loads((run / "result.json").read_text())
    played = episodes(run)
    doubled = [key for key, count in Counter(key for key, _ in played).items() if count > 1]
    assert not doubled
    return {
        "metrics": metrics(run),
        "result": {k: v for k, v in result.items() if k != "seconds"},
        "saved": saved,
        "state": {k: v for k, v in state.items() if k not in NOT_LEARNED},
        "episodes": dict(played),
    }


def metrics(run: Path) -> list[dict[str, Any]]:
    """The lines of a run's metrics without what a clock said."""
    lines = (json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines())
    return [{k: v for k, v in r.items() if not k.startswith("time_")} for r in lines]


def episodes(run: Path) -> list[tuple[str, Any]]:
    """The episodes that count in a run, as its records tell them: what each is, and how it went."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/records.sqlite"
        engine = open_database(target.parse(url, "the test"))
        ingest(engine, run)
        engine.dispose()
        return recorded(url, run)


def recorded(url: str, run: Path) -> list[tuple[str, Any]]:
    """As `episodes`, of a run that a database has recorded."""
    identity = event_log.identity(run)
    assert identity is not None
    engine = open_database(target.parse(url, "the test"))
    with engine.connect() as connection:
        found = [(f"{e.purpose} {e.id}", _went(e)) for e in queries.episodes(connection, identity)]
    engine.dispose()
    return sorted(found)


def _went(episode: Episode) -> Any:
    said = [(turn.screenshot_id, turn.action_text, turn.reward) for turn in episode.turns]
    return episode.task, episode.seed, episode.score, said, episode.final_screenshot_id


def check_lines(run: Path) -> None:
    """Every line of a run's files is whole, even of one that was broken off."""
    for path in run.rglob("*.jsonl"):
        text = path.read_text()
        assert text.endswith("\n") or not text, path
        for line in text.splitlines():
            json.loads(line)
    log = (run / "log.txt").read_text()
    assert log.endswith("\n")
    assert STAMP.match(log)
