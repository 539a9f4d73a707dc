"""Opening a database: connections, the schema's version, migrations."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from ui_gym.errors import UserError
from ui_gym_agents.records.target import DatabaseTarget

if TYPE_CHECKING:
    from alembic.config import Config

REVISIONS = ("0001", "0002", "0003")
"""The revisions of the schema that this code knows, oldest first, without importing Alembic."""
HEAD = REVISIONS[-1]
CONNECT_SECONDS = 3
STATEMENT_SECONDS = 20
ANSWER_SECONDS = 25
"""For a server that hangs: one that is slow says before that a statement took too long."""
_LOCK = 0x75692D67796D
"""Number of the advisory lock under which PostgreSQL is migrated ("ui-gym" in ASCII)."""


def engine(target: DatabaseTarget) -> Engine:
    """An engine whose every wait ends: connecting in 3 s, a statement in 20 s, or 25 s after the
    server has stopped.

    Errors never show parameters. Raises `UserError` where the driver is not installed.
    """
    arguments: dict[str, Any]
    if target.is_sqlite:
        arguments = {"timeout": STATEMENT_SECONDS / 4}
    else:
        arguments = {
            "connect_timeout": CONNECT_SECONDS,
            "options": f"-c statement_timeout={STATEMENT_SECONDS * 1000}",
            # A cut cable is noticed in this many milliseconds, not in a quarter of an hour.
            "tcp_user_timeout": STATEMENT_SECONDS * 1000,
        }
    try:
        made = create_engine(
            target.url, hide_parameters=True, poolclass=NullPool, connect_args=arguments
        )
        if not target.is_sqlite:
            from ui_gym_agents.records.postgres import BoundedConnection
    except ModuleNotFoundError as error:
        raise UserError(
            f"records in {target} need {error.name}; to get it: pip install 'ui-gym[postgres]'"
        ) from None
    if target.is_sqlite:
        event.listen(made, "connect", _prepare_sqlite)
        return made

    def connect(_dialect: Any, _record: Any, words: Any, named: Any) -> BoundedConnection:
        connection = BoundedConnection.connect(*words, **named)
        connection.answer_seconds = ANSWER_SECONDS
        return connection

    event.listen(made, "do_connect", connect)
    return made


def open_database(target: DatabaseTarget, *, upgrade_it: bool | None = None) -> Engine:
    """An engine on a database that is there and has this code's schema.

    An empty one gets the schema. An older one is upgraded if it is SQLite (or if `upgrade_it`).

    Raises:
        UserError: it cannot be reached, is newer than this code, or is older and not upgraded.
    """
    with reachable(target):
        if target.is_sqlite:
            # SQLite's own "unable to open database file" does not say why.
            Path(str(target.url.database)).parent.mkdir(parents=True, exist_ok=True)
        found = engine(target)
        with found.begin() as connection:
            found_revision = revision(connection)
            _check(target, connection, found_revision)
            if found_revision != HEAD:
                may = upgrade_it if upgrade_it is not None else target.is_sqlite
                if found_revision is not None and not may:
                    raise UserError(
                        f"the database {target} has revision {found_revision} of the records, and "
                        f"this ui-gym needs {HEAD}; to upgrade it: ui-gym-records upgrade"
                    )
                migrate(connection, HEAD)
    return found


@contextmanager
def reachable(target: DatabaseTarget) -> Iterator[None]:
    """Turn the database's own errors into a UserError without secrets."""
    try:
        yield
    except (SQLAlchemyError, OSError) as error:
        raise UserError(
            f"the records database {target} (from {target.source}) cannot be used: "
            f"{target.redact(own_words(error))}. Start or repair it, name another in "
            "--run.records, or go without: --run.records off"
        ) from None


def own_words(error: BaseException) -> BaseException:
    """What the database itself said, without SQLAlchemy's frame around it."""
    return (error.orig if isinstance(error, DBAPIError) else None) or error


def revision(connection: Connection) -> str | None:
    """The schema's revision; None where there is none yet."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def migrate(connection: Connection, to: str) -> None:
    """Upgrade or downgrade to a revision (``base``: nothing), within the caller's transaction."""
    from alembic import command

    if connection.dialect.name == "postgresql":
        # Two runs that start at once must not both create the tables.
        connection.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": _LOCK})
    now = revision(connection)
    if now == to:
        return
    down = to == "base" or (now in REVISIONS and REVISIONS.index(now) > REVISIONS.index(to))
    (command.downgrade if down else command.upgrade)(_alembic(connection), to)


def check(connection: Connection) -> None:
    """Raise `alembic.util.AutogenerateDiffsDetected` if tables and models differ."""
    from alembic import command

    command.check(_alembic(connection))


def _alembic(connection: Connection) -> Config:
    from alembic.config import Config

    # What Alembic prints is nothing that a run's output should hold.
    config = Config(attributes={"connection": connection}, stdout=io.StringIO())
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config


def _check(target: DatabaseTarget, connection: Connection, found: str | None) -> None:
    if found is None:
        strangers = {"training", "rollout"} & set(inspect(connection).get_table_names())
        if strangers:
            raise UserError(
                f"the database {target} has a table {min(strangers)!r} of another program; name "
                "another database"
            )
    elif found not in REVISIONS:
        raise UserError(
            f"the database {target} has revision {found} of the records, which this ui-gym does "
            f"not know (it knows up to {HEAD}); upgrade ui-gym: pip install -U ui-gym"
        )


def _prepare_sqlite(connection: Any, _: object) -> None:
    cursor = connection.cursor()
    # Readers and the writer do not wait for each other; NORMAL may lose the last moments to a
    # power cut, never the file.
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()
