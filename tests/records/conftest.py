"""Databases for records: SQLite files, and a PostgreSQL server of the test's own."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

sys.path.insert(0, str(Path(__file__).parent))

from tests.records.postgres_server import Server, running
from ui_gym_agents.records import cli, target
from ui_gym_agents.records.target import DatabaseTarget

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """`ui-gym-records` in this process: (exit status, standard output, standard error)."""
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: object) -> tuple[int, str, str]:
        status = cli.main([str(argument) for argument in arguments])
        output, errors = capsys.readouterr()
        return status, output, errors

    return run


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A running PostgreSQL server; skips where there is none."""
    with running() as made:
        yield made


@pytest.fixture
def postgres(server: Server, request: pytest.FixtureRequest) -> DatabaseTarget:
    """An empty database of its own on the server."""
    name = f"records_{abs(hash(request.node.nodeid))}"
    admin = create_engine(
        server.url("postgres").replace("postgresql:", "postgresql+psycopg:"),
        isolation_level="AUTOCOMMIT",
    )
    with admin.connect() as connection:
        connection.execute(text(f'CREATE DATABASE "{name}"'))
    admin.dispose()
    return target.parse(server.url(name), "the test")


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> DatabaseTarget:
    """Each kind of database, empty."""
    if request.param == "postgres":
        found: DatabaseTarget = request.getfixturevalue("postgres")
        return found
    return target.of_file(tmp_path / "records.sqlite")


@pytest.fixture
def notes() -> list[str]:
    """What was noted for the person who watches."""
    return []


@pytest.fixture(autouse=True)
def no_database_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("UI_GYM_", "POSTGRES_", "PG")) or name == "DATABASE_URL":
            monkeypatch.delenv(name)
