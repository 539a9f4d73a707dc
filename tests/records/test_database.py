"""Opening databases, the schema's versions, and secrets."""

from __future__ import annotations

from pathlib import Path

import pytest
import story
from sqlalchemy import inspect, text
from sqlalchemy.exc import IntegrityError

from tests.records.postgres_server import PASSWORD
from ui_gym.errors import UserError
from ui_gym_agents.records import database as db
from ui_gym_agents.records import ingest, target
from ui_gym_agents.records.models import TABLES
from ui_gym_agents.records.target import DatabaseTarget


def test_migrations_go_up_and_down_and_fit_the_models(database: DatabaseTarget) -> None:
    engine = db.open_database(database)
    with engine.begin() as connection:
        assert db.revision(connection) == db.HEAD
        db.check(connection)
        assert set(TABLES) <= set(inspect(connection).get_table_names())
        db.migrate(connection, "base")
        assert not set(TABLES) & set(inspect(connection).get_table_names())
        db.migrate(connection, db.HEAD)
        connection.execute(text("ALTER TABLE task ADD COLUMN colour TEXT"))
        with pytest.raises(Exception, match="colour"):
            db.check(connection)


def test_an_older_database_keeps_its_rows_up_and_down(
    database: DatabaseTarget, tmp_path: Path
) -> None:
    story.Run(tmp_path).whole()
    engine = db.open_database(database)
    ingest.ingest(engine, tmp_path)
    with engine.begin() as connection:
        db.migrate(connection, "0001")
        assert "reward" not in {c["name"] for c in inspect(connection).get_columns("rollout")}
        assert db.revision(connection) == "0001"
    engine = db.open_database(database, upgrade_it=True)
    assert story.counts(engine) == story.COUNTS
    with engine.begin() as connection:
        db.check(connection)


def test_the_known_revisions_are_those_of_alembic(tmp_path: Path) -> None:
    from alembic.script import ScriptDirectory

    engine = db.open_database(target.of_file(tmp_path / "a.sqlite"))
    with engine.begin() as connection:
        scripts = ScriptDirectory.from_config(db._alembic(connection))
        assert scripts.get_heads() == [db.HEAD]
        assert tuple(s.revision for s in scripts.walk_revisions())[::-1] == db.REVISIONS


def test_a_newer_database_says_so(database: DatabaseTarget) -> None:
    with db.open_database(database).begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(UserError, match=r"revision 9999.*pip install -U ui-gym"):
        db.open_database(database)


def test_an_older_shared_database_is_left_alone_until_upgraded(
    database: DatabaseTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    with db.open_database(database).begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0000'"))
    monkeypatch.setattr(db, "REVISIONS", ("0000", *db.REVISIONS))
    went = []
    monkeypatch.setattr(db, "migrate", lambda connection, to: went.append(to))
    if database.is_sqlite:
        db.open_database(database)
    else:
        with pytest.raises(UserError, match="to upgrade it: ui-gym-records upgrade"):
            db.open_database(database)
        assert went == []
        db.open_database(database, upgrade_it=True)
    assert went == [db.HEAD]


def test_somebody_elses_database_is_not_touched(database: DatabaseTarget) -> None:
    with db.engine(database).begin() as connection:
        connection.execute(text("CREATE TABLE training (name TEXT)"))
    with pytest.raises(UserError, match="a table 'training' of another program"):
        db.open_database(database)


def test_a_rollout_has_exactly_one_parent(database: DatabaseTarget) -> None:
    engine = db.open_database(database)
    row = (
        "INSERT INTO rollout (id, status, progress, phase, message, error, created_at, task_id, "
        "episode, group_name, seed, split, goal, params, score, success, terminated, truncated, "
        "turns, seconds, version) VALUES ('r', 'finished', 1, '', '', '', '2026-01-01', 't', 'e', "
        "'', 1, '', '', '{}', 1, true, true, false, 0, 0, 0)"
    )
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO task (id, name, suite, category, difficulty, summary)"
                                " VALUES ('t', 't', '', '', '', '')"))  # fmt: skip
    with pytest.raises(IntegrityError, match="one_parent"), engine.begin() as connection:
        connection.execute(text(row))


@pytest.mark.parametrize(
    ("environment", "shown", "source"),
    [
        (
            {"UI_GYM_DATABASE_URL": "postgres://me:pw@db:5/ui", "DATABASE_URL": "sqlite:///a.db"},
            "postgresql+psycopg://me@db:5/ui",
            "UI_GYM_DATABASE_URL",
        ),
        (
            {"DATABASE_URL": "postgresql+asyncpg://db/ui?password=pw", "POSTGRES_HOST": "x"},
            "postgresql+psycopg://db/ui",
            "DATABASE_URL",
        ),
        (
            {"POSTGRES_HOST": "db", "POSTGRES_USER": "me", "POSTGRES_PASSWORD": "pw"},
            "postgresql+psycopg://me@db:5432/me",
            "POSTGRES_HOST",
        ),
        ({}, "sqlite:///run/records.sqlite", "the run's directory"),
    ],
)
def test_the_environment_names_the_database_and_no_secret_is_shown(
    environment: dict[str, str], shown: str, source: str
) -> None:
    found = target.resolve("auto", Path("run"), environment)
    assert found is not None
    assert (str(found), found.source) == (shown, source)
    assert "pw" not in f"{found} {found!r}"
    assert not environment or "pw" not in found.redact("login with pw failed")


def test_a_password_in_the_settings_is_refused_unseen() -> None:
    for url in ("postgresql://me:hush@db/ui", "postgresql://db/ui?password=hush"):
        with pytest.raises(UserError, match="UI_GYM_DATABASE_URL") as caught:
            target.check_setting(url)
        assert "hush" not in str(caught.value)
    target.check_setting("postgresql://me@db/ui")
    assert target.resolve("off", Path()) is None


@pytest.mark.parametrize(
    "url", ["hush", "mysql://hush@db/x", "sqlite://", "postgresql://a:hush@:x/"]
)
def test_what_is_no_database_is_refused_unseen(url: str) -> None:
    with pytest.raises(UserError, match="--database") as caught:
        target.parse(url, "--database")
    assert "hush" not in str(caught.value)


def test_a_wrong_password_is_told_without_it(server, postgres: DatabaseTarget) -> None:
    wrong = target.parse(server.url(postgres.url.database, "wr0ng"), "DATABASE_URL")
    with pytest.raises(UserError, match=r"\(from DATABASE_URL\) cannot be used") as caught:
        db.open_database(wrong)
    assert "password authentication failed" in str(caught.value)
    assert "wr0ng" not in str(caught.value)
    assert PASSWORD not in str(caught.value)
