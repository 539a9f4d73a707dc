"""The tables of records"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

tables = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def column(name: str, kind: Any, *more: Any, null: bool = False, **options: Any) -> Any:
    return sa.Column(name, kind, *more, nullable=null, **options)


def text(name: str, **options: Any) -> Any:
    return column(name, sa.Text(), **options)


def whole(name: str, **options: Any) -> Any:
    return column(name, sa.BigInteger(), **options)


def real(name: str, **options: Any) -> Any:
    return column(name, sa.Double(), **options)


def truth(name: str, **options: Any) -> Any:
    return column(name, sa.Boolean(), **options)


def data(name: str, **options: Any) -> Any:
    return column(name, sa.JSON(none_as_null=True), **options)


def time(name: str, **options: Any) -> Any:
    return column(name, sa.DateTime(timezone=True), **options)


def of(parent: str, *, name: str = "", ondelete: str | None = "CASCADE", null: bool = False) -> Any:
    key = sa.ForeignKey(f"{parent}.id", ondelete=ondelete)
    return column(name or f"{parent}_id", sa.String(32), key, null=null, index=True)


def table(name: str, *columns: Any) -> None:
    sa.Table(name, tables, sa.Column("id", sa.String(32), primary_key=True), *columns)


def stateful() -> list[Any]:
    return [
        column("status", sa.String(16), index=True),
        real("progress"),
        *map(text, ("phase", "message", "error")),
        time("created_at"),
        *(time(name, null=True) for name in ("started_at", "finished_at", "heartbeat_at")),
    ]


def measurement() -> list[Any]:
    numbers = (real(name, null=True) for name in ("success", "low", "high"))
    return [
        text("mode"), whole("planned"), whole("n", null=True), *numbers, data("report", null=True),
    ]  # fmt: skip


table(
    "training", *stateful(), *map(text, ("name", "directory", "plugin")),
    *map(whole, ("seed", "steps", "step")), real("success", null=True), real("seconds"),
    text("host"), whole("process", null=True), data("config"),
)  # fmt: skip
table("baseline", *stateful(), *measurement(), of("training"))
table("evaluation", *stateful(), *measurement(), of("training"), text("kind"), whole("step"))
table(
    "step", *stateful(), of("training"), whole("number"), data("metrics", null=True),
    text("checkpoint", null=True), sa.UniqueConstraint("training_id", "number"),
)  # fmt: skip
table(
    "task", text("name", unique=True), *map(text, ("suite", "category", "difficulty")),
    whole("max_steps", null=True), text("summary"),
)  # fmt: skip
table("validator", of("task"), text("name"))
table(
    "rollout_group", *stateful(), of("step"), of("task", ondelete=None), text("name"),
    *map(whole, ("seed", "size", "successes")),
)  # fmt: skip
table(
    "environment", *stateful(), of("training"), *map(text, ("device", "dialect", "observation")),
    whole("num_envs"), data("settings"),
)  # fmt: skip
table(
    "rollout", *stateful(), of("step", null=True), of("evaluation", null=True),
    of("baseline", null=True), of("rollout_group", name="group_id", null=True),
    of("environment", ondelete="SET NULL", null=True), of("task", ondelete=None),
    text("episode"), text("group_name"), whole("seed"), text("split"), text("goal"),
    data("params"), real("score"), truth("success", index=True), truth("terminated"),
    truth("truncated"), text("failure", null=True), whole("turns"), real("seconds"),
    real("blind_rate", null=True), whole("version"), whole("max_turns", null=True),
    sa.CheckConstraint(
        "(CASE WHEN step_id IS NULL THEN 0 ELSE 1 END)"
        " + (CASE WHEN evaluation_id IS NULL THEN 0 ELSE 1 END)"
        " + (CASE WHEN baseline_id IS NULL THEN 0 ELSE 1 END) = 1",
        name="one_parent",
    ),
)  # fmt: skip
table(
    "turn", of("rollout"), whole("number"), column("tokens", sa.LargeBinary(), null=True),
    text("caption"), data("times"),
)  # fmt: skip
table(
    "action", of("turn"), text("action_text"), text("error", null=True), text("feedback"),
    real("reward"),
)  # fmt: skip
table(
    "observation", of("rollout"), whole("number"), column("screenshot_id", sa.String(64)),
    text("elements"),
)  # fmt: skip
table(
    "validation", of("rollout"), of("validator", ondelete=None), real("score"), truth("success"),
    text("notes"),
)  # fmt: skip
table(
    "status_history", of("training"), column("entity", sa.String(32)),
    column("entity_id", sa.String(32), index=True), column("status", sa.String(16)),
    text("phase"), text("message"), time("at"),
)  # fmt: skip
table("bookmark", of("training"), text("file"), whole("position"))


def upgrade() -> None:
    tables.create_all(op.get_bind())


def downgrade() -> None:
    tables.drop_all(op.get_bind())
