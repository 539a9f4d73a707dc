"""What Alembic runs: the migrations, on the connection that `database` gives it."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context

from ui_gym_agents.records.models import UTC, Base, Packed, Unicode


def render(kind: str, item: Any, autogen_context: Any) -> str | Literal[False]:
    """Own types as the plain ones that they are in the database."""
    if kind == "type" and isinstance(item, UTC):
        return "sa.DateTime(timezone=True)"
    if kind == "type" and isinstance(item, Packed):
        return "sa.LargeBinary()"
    if kind == "type" and isinstance(item, Unicode):
        return "sa.Text()"
    return False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_item=render,
    # SQLite alters a table by making it anew.
    render_as_batch=True,
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
