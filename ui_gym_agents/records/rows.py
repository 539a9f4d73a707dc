"""What happens in a run, as changes of the database. No input or output, no clock: times are given.

A put whose columns differ from an earlier put of the same row changes these columns alone.
"""

from __future__ import annotations

import dataclasses
import os
import socket
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ui_gym.errors import UserError
from ui_gym_agents.episode import Episode
from ui_gym_agents.records.changes import Change, Operation, Row, drop, ensure, finite, key, put
from ui_gym_agents.records.changes import set_ as change
from ui_gym_agents.training.listeners import Place, RunInfo, Status

PROGRESS_STEPS = 10
"""How often an evaluation's progress is written."""


class Rows:
    """The rows of one training. Times are ISO 8601 in UTC."""

    def __init__(self, training: str) -> None:
        """`training` is the training's id."""
        self.id = training
        self._environment = key(training, "environment")
        self._known: set[str] = set()
        self._groups: dict[str, list[int]] = {}
        self._played: dict[str, int] = {}
        self._planned: dict[str, int] = {}
        self._step = ""
        self._steps = 0
        self._mode = ""

    # -- the run --

    def begun(self, at: str, run: RunInfo) -> Change:
        """The training, its env, and away with all that is done again."""
        config = run.config
        running = {"status": "running", "created_at": at, "started_at": at, "heartbeat_at": at}
        done = run.resumed or 0
        measured = config.evaluation
        self._mode = "greedy" if measured.both or measured.greedy else "sampled"
        # The training itself comes first: its table may hold nothing to drop from.
        operations = [
            put(
                "training",
                {
                    "id": self.id,
                    "name": run.directory.name,
                    "directory": str(run.directory.absolute()),
                    "plugin": config.plugin,
                    "seed": config.run.seed,
                    "steps": config.run.steps,
                    "step": done,
                    "host": socket.gethostname(),
                    "process": os.getpid(),
                    "config": config.model_dump(mode="json"),
                    "phase": "starting",
                    "message": f"resumed after step {done}" if run.resumed else "",
                    "error": "",
                    "finished_at": None,
                    "progress": _share(done, config.run.steps),
                    **running,
                },
            ),
            put(
                "environment",
                {
                    "id": self._environment,
                    "training_id": self.id,
                    "device": config.env.device,
                    "dialect": config.env.dialect,
                    "observation": config.env.observation,
                    "num_envs": config.env.num_envs,
                    "settings": config.env.model_dump(mode="json"),
                    **running,
                },
            ),
            drop("step", **{"training_id": self.id, "number>": done}),
            drop("evaluation", **{"training_id": self.id, "step>": done}),
            drop("evaluation", training_id=self.id, kind="final"),
            self._history(at, "training", self.id, "running", "starting"),
        ]
        if run.resumed is None:
            operations[2:2] = [drop("baseline", training_id=self.id)]
            operations.append(drop("evaluation", training_id=self.id))
        return operations

    def ended(self, at: str, status: Status, step: int, error: str = "") -> Change:
        """The training's end; what was still running ends with it."""
        over = {"status": status, "finished_at": at, "heartbeat_at": at}
        left = {"training_id": self.id, "status": "running"}
        return [
            change("training", {"id": self.id}, step=step, phase="", error=error, **over),
            *(change(table, left, **over) for table in ("step", "baseline", "evaluation")),
            change("environment", {"id": self._environment}, **over),
            change("rollout_group", {"step_id": self._step, "status": "running"}, **over),
            self._history(at, "training", self.id, status, "", error),
        ]

    def heartbeat(self, at: str) -> Change:
        """The training is alive."""
        return [change("training", {"id": self.id, "status": "running"}, heartbeat_at=at)]

    # -- steps --

    def step_begun(self, at: str, step: int, steps: int) -> Change:
        self._step, self._steps = self._step_id(step), steps
        self._known.add(self._step)
        row: dict[str, Any] = {"status": "running", "created_at": at, "started_at": at}
        row["heartbeat_at"] = at
        return [
            put("step", {"id": self._step, "training_id": self.id, "number": step, **row}),
            change("training", {"id": self.id}, steps=steps, phase=f"step {step}", heartbeat_at=at),
            self._history(at, "step", self._step, "running"),
        ]

    def step_finished(
        self, at: str, step: int, metrics: Mapping[str, float], elapsed: float
    ) -> Change:
        step_id = self._step_id(step)
        over: dict[str, Any] = {
            "status": "finished", "finished_at": at, "heartbeat_at": at, "progress": 1.0
        }  # fmt: skip
        row = {
            "id": step_id, "training_id": self.id, "number": step, "created_at": at,
            "metrics": finite(metrics), **over,
        }  # fmt: skip
        return [
            put("step", row),
            change("rollout_group", {"step_id": step_id}, **over),
            change(
                "training",
                {"id": self.id},
                step=step,
                seconds=elapsed,
                heartbeat_at=at,
                progress=_share(step, self._steps),
            ),
            self._history(at, "step", step_id, "finished"),
        ]

    def checkpoint(self, at: str, step: int, path: Path) -> Change:
        return [change("step", {"id": self._step_id(step)}, checkpoint=path.name, heartbeat_at=at)]

    # -- evaluations --

    def evaluation_begun(self, at: str, place: Place, episodes: int) -> Change:
        table, parent = self._parent(place)
        self._known.add(parent)
        self._planned[parent] = episodes
        row = self._measurement(at, place) | {"status": "running", "planned": episodes}
        name = f"{place.kind}, {place.mode}"
        return [
            drop(table, id=parent),
            put(table, row | {"started_at": at, "heartbeat_at": at}),
            change("training", {"id": self.id}, phase=name, heartbeat_at=at),
            self._history(at, table, parent, "running"),
        ]

    def evaluation_finished(self, at: str, place: Place, report: Any, elapsed: float) -> Change:
        """`report` has at least `success`, `n` and `interval`; more of it is kept as it is."""
        table, parent = self._parent(place)
        low, high = report.interval
        whole = report.to_json() if hasattr(report, "to_json") else None
        row = self._measurement(at, place) | {
            "status": "finished", "progress": 1.0, "finished_at": at, "heartbeat_at": at,
            "n": int(report.n), "success": float(report.success), "low": float(low),
            "high": float(high), "report": whole and finite(whole),
        }  # fmt: skip
        news: dict[str, Any] = {"phase": "", "heartbeat_at": at}
        if place.mode == self._mode:  # Where both are measured, one of them is the headline.
            news["success"] = row["success"]
        return [
            put(table, row),
            change("training", {"id": self.id}, **news),
            self._history(at, table, parent, "finished"),
        ]

    # -- episodes --

    def episode(self, at: str, episode: Episode, place: Place) -> Change:
        """A rollout, with all that belongs to it."""
        table, parent = self._parent(place)
        operations: list[Operation] = []
        if parent not in self._known:
            # Collected ahead of its step, or measured without the host.
            self._known.add(parent)
            row: dict[str, Any] = {"status": "pending", "created_at": at}
            if table == "step":
                row |= {"id": parent, "training_id": self.id, "number": place.step}
            else:
                row = self._measurement(at, place) | row
            operations.append(ensure(table, row))
        task, validator, described = self._task(episode.task)
        operations += described
        rollout = key(parent, episode.id)
        group = None
        if table == "step" and episode.group:
            group, counted = self._count(at, parent, task, episode)
            operations.append(counted)
        row = _rollout_row(at, episode) | {
            "id": rollout, f"{table}_id": parent, "group_id": group, "task_id": task,
            "environment_id": self._environment,
        }  # fmt: skip
        operations.append(put("rollout", row))
        operations += _turns(rollout, episode)
        operations.append(
            put(
                "validation",
                {
                    "id": key(rollout, "validation"),
                    "rollout_id": rollout,
                    "validator_id": validator,
                    "score": episode.score,
                    "success": episode.success,
                    "notes": episode.notes,
                },
            )
        )
        return operations + self._progress_of(at, table, parent)

    def _count(self, at: str, step: str, task: str, episode: Episode) -> tuple[str, Operation]:
        group = key(step, "group", episode.group)
        tally = self._groups.setdefault(group, [0, 0])
        tally[0] += 1
        tally[1] += episode.success
        row = {
            "id": group, "step_id": step, "task_id": task, "name": episode.group,
            "seed": episode.seed, "size": tally[0], "successes": tally[1], "status": "running",
            "created_at": at, "heartbeat_at": at,
        }  # fmt: skip
        return group, put("rollout_group", row)

    def _progress_of(self, at: str, table: str, parent: str) -> list[Operation]:
        planned = self._planned.get(parent, 0)
        self._played[parent] = played = self._played.get(parent, 0) + 1
        if not planned or played % max(1, planned // PROGRESS_STEPS):
            return []
        share = _share(played, planned)
        return [change(table, {"id": parent}, progress=share, heartbeat_at=at)]

    def _task(self, name: str) -> tuple[str, str, list[Operation]]:
        """Ids of a task and its validator; what describes them, the first time."""
        task, validator = key("task", name), key("validator", name)
        if task in self._known:
            return task, validator, []
        self._known.add(task)
        row: dict[str, Any] = {"id": task, "name": name}
        judge = "the environment"
        try:
            from ui_gym.contract.registry import spec

            found = spec(name)
            judge = found.entry_point
            row |= {
                "suite": found.suite, "category": found.category, "max_steps": found.max_steps,
                "difficulty": found.difficulty, "summary": found.summary,
            }  # fmt: skip
        except UserError:
            pass  # An env of somebody else's: its name is all that is known.
        described = [
            ensure("task", row),
            ensure("validator", {"id": validator, "task_id": task, "name": judge}),
        ]
        return task, validator, described

    # -- ids --

    def _step_id(self, step: int) -> str:
        return key(self.id, "step", step)

    def _parent(self, place: Place) -> tuple[str, str]:
        """Table and id of what an episode is played for."""
        if place.kind == "step":
            return "step", self._step_id(place.step)
        table = "baseline" if place.kind == "baseline" else "evaluation"
        return table, key(self.id, place.kind, place.step, place.mode)

    def _measurement(self, at: str, place: Place) -> dict[str, Any]:
        table, parent = self._parent(place)
        row = {"id": parent, "training_id": self.id, "mode": place.mode, "created_at": at}
        return row if table == "baseline" else row | {"kind": place.kind, "step": place.step}

    def _history(
        self, at: str, entity: str, entity_id: str, status: str, phase: str = "", message: str = ""
    ) -> Operation:
        row = {
            "id": key(entity_id, at, status, phase), "training_id": self.id, "entity": entity,
            "entity_id": entity_id, "status": status, "phase": phase, "message": message, "at": at,
        }  # fmt: skip
        return ensure("status_history", row)


def _rollout_row(at: str, episode: Episode) -> dict[str, Any]:
    begun = datetime.fromisoformat(at) - timedelta(seconds=episode.seconds)
    return {
        "status": "failed" if episode.failure else "finished",
        "progress": 1.0,
        "error": episode.failure or "",
        "created_at": begun.isoformat(),
        "started_at": begun.isoformat(),
        "finished_at": at,
        "heartbeat_at": at,
        "episode": episode.id,
        "group_name": episode.group,
        "seed": episode.seed,
        "split": episode.split,
        "goal": episode.goal,
        "params": dict(episode.params),
        "score": episode.score,
        "success": episode.success,
        "terminated": episode.terminated,
        "truncated": episode.truncated,
        "failure": episode.failure,
        "turns": len(episode.turns),
        "seconds": episode.seconds,
        "blind_rate": episode.blind_rate,
        "version": episode.version,
    }


def _turns(rollout: str, episode: Episode) -> list[Operation]:
    turns: list[Row] = []
    actions: list[Row] = []
    seen: list[Row] = []
    for number, turn in enumerate(episode.turns):
        turn_id = key(rollout, "turn", number)
        tokens = None if turn.tokens is None else dataclasses.asdict(turn.tokens)
        turns.append(
            {
                "id": turn_id, "rollout_id": rollout, "number": number, "tokens": tokens,
                "caption": turn.caption, "times": turn.times,
            }
        )  # fmt: skip
        actions.append(
            {
                "id": key(turn_id, "action"), "turn_id": turn_id, "text": turn.action_text,
                "error": turn.action_error, "feedback": turn.feedback, "reward": turn.reward,
            }
        )  # fmt: skip
        seen.append(_observation(rollout, number, turn.screenshot_id, turn.elements))
    if episode.final_screenshot_id:
        seen.append(_observation(rollout, len(episode.turns), episode.final_screenshot_id, ""))
    return [put("turn", *turns), put("action", *actions), put("observation", *seen)]


def _observation(rollout: str, number: int, screenshot_id: str, elements: str) -> Row:
    return {
        "id": key(rollout, "observation", number), "rollout_id": rollout, "number": number,
        "screenshot_id": screenshot_id, "elements": elements,
    }  # fmt: skip


def _share(part: int, whole: int) -> float:
    return min(1.0, part / whole) if whole else 0.0
