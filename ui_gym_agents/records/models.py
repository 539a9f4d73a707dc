"""The tables of records.

A training has steps, baselines and evaluations; each of these has rollouts (a step's are in
groups), and exactly one of them is a rollout's parent. A rollout has observations, turns with an
action each, and a validation. Ids are derived from what a row stands for (`rows.key`), so that
what is written twice is there once. A bookmark says how far a file of a run was read.
"""

from __future__ import annotations

import json
import zlib
from datetime import UTC as UTC_ZONE
from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    DateTime,
    Dialect,
    ForeignKey,
    LargeBinary,
    MetaData,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator


class UTC(TypeDecorator[datetime]):
    """A time in UTC. Takes datetimes and ISO 8601 texts; gives aware datetimes."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
        return moment.astimezone(UTC_ZONE)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        # SQLite forgets the zone.
        moment: datetime = value if value.tzinfo else value.replace(tzinfo=UTC_ZONE)
        return moment.astimezone(UTC_ZONE)


class Unicode(TypeDecorator[str]):
    """Text that every database takes: U+FFFD stands for NUL and for halves of surrogate pairs."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        if value is None or (value.isascii() and "\x00" not in value):
            return value
        sound = value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        return str(sound.replace("\x00", "\ufffd"))


class Packed(TypeDecorator[Any]):
    """Plain data as deflated JSON: token ids of pictures are one id many times."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> bytes | None:
        if value is None:
            return None
        return zlib.compress(json.dumps(value, separators=(",", ":")).encode(), 1)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        return None if value is None else json.loads(zlib.decompress(value))


class Base(DeclarativeBase):
    """Base of the tables. `id`: 32 hexadecimal digits."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {
        dict[str, Any]: JSON(none_as_null=True),
        datetime: UTC(),
        int: BigInteger(),
        str: Unicode(),
    }

    id: Mapped[str] = mapped_column(String(32), primary_key=True, sort_order=-1)


class Stateful:
    """What goes on in something that lasts. `progress` lies in [0, 1]; `heartbeat_at` is when it
    was last known to be alive."""

    status: Mapped[str] = mapped_column(String(16), index=True)
    progress: Mapped[float] = mapped_column(default=0.0)
    phase: Mapped[str] = mapped_column(default="")
    message: Mapped[str] = mapped_column(default="")
    error: Mapped[str] = mapped_column(default="")
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    heartbeat_at: Mapped[datetime | None]


def _belongs_to(table: str) -> Any:
    return mapped_column(ForeignKey(f"{table}.id", ondelete="CASCADE"), index=True)


class TrainingRow(Stateful, Base):
    """A run. `step` counts finished steps; `success` is the rate of its last evaluation."""

    __tablename__ = "training"

    name: Mapped[str]
    directory: Mapped[str]
    plugin: Mapped[str]
    seed: Mapped[int]
    steps: Mapped[int]
    step: Mapped[int] = mapped_column(default=0)
    success: Mapped[float | None]
    seconds: Mapped[float] = mapped_column(default=0.0)
    host: Mapped[str] = mapped_column(default="")
    process: Mapped[int | None]
    config: Mapped[dict[str, Any]]
    facts: Mapped[dict[str, Any] | None]
    """What it ran on last (`training.facts`)."""


class MeasurementRow(Stateful):
    """An evaluation's outcome. `planned` episodes; of `n`, the share `success` succeeded, with its
    95 % interval from `low` to `high`."""

    mode: Mapped[str]
    planned: Mapped[int] = mapped_column(default=0)
    n: Mapped[int | None]
    success: Mapped[float | None]
    low: Mapped[float | None]
    high: Mapped[float | None]
    report: Mapped[dict[str, Any] | None]


class BaselineRow(MeasurementRow, Base):
    """The policy before training."""

    __tablename__ = "baseline"

    training_id: Mapped[str] = _belongs_to("training")


class EvaluationRow(MeasurementRow, Base):
    """The policy after `step` steps; `kind` is ``evaluation`` or ``final``."""

    __tablename__ = "evaluation"

    training_id: Mapped[str] = _belongs_to("training")
    kind: Mapped[str]
    step: Mapped[int]


class StepRow(Stateful, Base):
    """A training step, with the trainer's metrics; `checkpoint` is the folder saved after it."""

    __tablename__ = "step"
    __table_args__ = (UniqueConstraint("training_id", "number"),)

    training_id: Mapped[str] = _belongs_to("training")
    number: Mapped[int]
    metrics: Mapped[dict[str, Any] | None]
    checkpoint: Mapped[str | None]
    learned: Mapped[dict[str, Any] | None]
    """Reward and mean advantage by episode: it may be told before the rollouts are read."""


class GroupRow(Stateful, Base):
    """Rollouts of a step from one start."""

    __tablename__ = "rollout_group"

    step_id: Mapped[str] = _belongs_to("step")
    task_id: Mapped[str] = mapped_column(ForeignKey("task.id"), index=True)
    name: Mapped[str]
    seed: Mapped[int]
    size: Mapped[int]
    successes: Mapped[int]


class TaskRow(Base):
    """A task that was played, as the catalogue knew it."""

    __tablename__ = "task"

    name: Mapped[str] = mapped_column(unique=True)
    suite: Mapped[str] = mapped_column(default="")
    category: Mapped[str] = mapped_column(default="")
    difficulty: Mapped[str] = mapped_column(default="")
    max_steps: Mapped[int | None]
    summary: Mapped[str] = mapped_column(default="")


class ValidatorRow(Base):
    """What judges a task: the class's import path."""

    __tablename__ = "validator"

    task_id: Mapped[str] = _belongs_to("task")
    name: Mapped[str]


class EnvironmentRow(Stateful, Base):
    """The vector env of a training."""

    __tablename__ = "environment"

    training_id: Mapped[str] = _belongs_to("training")
    device: Mapped[str]
    dialect: Mapped[str]
    observation: Mapped[str]
    num_envs: Mapped[int]
    settings: Mapped[dict[str, Any]]


class RolloutRow(Stateful, Base):
    """An episode. `failure`: a fault of the infrastructure; it says nothing about the agent."""

    __tablename__ = "rollout"
    __table_args__ = (
        CheckConstraint(
            "(CASE WHEN step_id IS NULL THEN 0 ELSE 1 END)"
            " + (CASE WHEN evaluation_id IS NULL THEN 0 ELSE 1 END)"
            " + (CASE WHEN baseline_id IS NULL THEN 0 ELSE 1 END) = 1",
            name="one_parent",
        ),
    )

    step_id: Mapped[str | None] = _belongs_to("step")
    evaluation_id: Mapped[str | None] = _belongs_to("evaluation")
    baseline_id: Mapped[str | None] = _belongs_to("baseline")
    group_id: Mapped[str | None] = _belongs_to("rollout_group")
    environment_id: Mapped[str | None] = mapped_column(
        ForeignKey("environment.id", ondelete="SET NULL"), index=True
    )
    task_id: Mapped[str] = mapped_column(ForeignKey("task.id"), index=True)
    episode: Mapped[str]
    """The episode's own id, unique within its parent."""
    group_name: Mapped[str] = mapped_column(default="")
    seed: Mapped[int]
    split: Mapped[str] = mapped_column(default="")
    goal: Mapped[str]
    params: Mapped[dict[str, Any]]
    score: Mapped[float]
    success: Mapped[bool] = mapped_column(index=True)
    terminated: Mapped[bool]
    truncated: Mapped[bool]
    failure: Mapped[str | None]
    turns: Mapped[int]
    seconds: Mapped[float]
    blind_rate: Mapped[float | None]
    version: Mapped[int]
    max_turns: Mapped[int | None]
    reward: Mapped[float | None]
    """What the trainer made of it; None where no trainer said."""
    advantage: Mapped[float | None]
    """The mean over its turns; None where it was not learned from."""


SAME = (
    "seed", "split", "goal", "score", "success", "terminated", "truncated", "failure", "seconds",
    "blind_rate", "version", "max_turns",
)  # fmt: skip
"""The columns of a rollout that are fields of an episode by the same names."""


class TurnRow(Base):
    """What the policy computed: its token record (None for other agents) and times in seconds."""

    __tablename__ = "turn"

    rollout_id: Mapped[str] = _belongs_to("rollout")
    number: Mapped[int]
    tokens: Mapped[Any | None] = mapped_column(Packed())
    caption: Mapped[str] = mapped_column(default="")
    times: Mapped[dict[str, Any]]


class ActionRow(Base):
    """What the agent said, and what came of it; `error` is parse, name, argument or runtime."""

    __tablename__ = "action"

    turn_id: Mapped[str] = _belongs_to("turn")
    action_text: Mapped[str]
    error: Mapped[str | None]
    feedback: Mapped[str]
    reward: Mapped[float]


class ObservationRow(Base):
    """What was seen before turn `number`, or at the end (`number` is the count of turns then).
    `screenshot_id` is a hash: the picture lies in the run's screenshot store."""

    __tablename__ = "observation"

    rollout_id: Mapped[str] = _belongs_to("rollout")
    number: Mapped[int]
    screenshot_id: Mapped[str] = mapped_column(String(64))
    elements: Mapped[str] = mapped_column(default="")


class ValidationRow(Base):
    """A validator's verdict on a rollout; `score` in [0, 1]."""

    __tablename__ = "validation"

    rollout_id: Mapped[str] = _belongs_to("rollout")
    validator_id: Mapped[str] = mapped_column(ForeignKey("validator.id"), index=True)
    score: Mapped[float]
    success: Mapped[bool]
    notes: Mapped[str]


class StatusRow(Base):
    """Every status and phase of trainings, steps, baselines and evaluations, with its time; and
    what befell a training: an ``alert`` or a ``fault`` is an entity whose `phase` is its kind."""

    __tablename__ = "status_history"

    training_id: Mapped[str] = _belongs_to("training")
    entity: Mapped[str] = mapped_column(String(32))
    entity_id: Mapped[str] = mapped_column(String(32), index=True)
    status: Mapped[str] = mapped_column(String(16))
    phase: Mapped[str] = mapped_column(default="")
    message: Mapped[str] = mapped_column(default="")
    at: Mapped[datetime]


class BookmarkRow(Base):
    """How far a file of a run's folder was read: `position` is an offset in bytes."""

    __tablename__ = "bookmark"

    training_id: Mapped[str] = _belongs_to("training")
    file: Mapped[str]
    position: Mapped[int]


TABLES = {table.name: table for table in Base.metadata.tables.values()}
