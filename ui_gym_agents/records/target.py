"""Which database records go to, without ever showing its password."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from ui_gym.errors import UserError

FILE = "records.sqlite"
"""The database's name in a run's directory."""
VARIABLES = ("UI_GYM_DATABASE_URL", "DATABASE_URL", "POSTGRES_HOST")
"""Environment variables that name a database, the strongest first."""

OWN = "the run's directory"

_DRIVERS = {"postgres": "postgresql+psycopg", "postgresql": "postgresql+psycopg"}
_SECRET_QUERY = ("password", "sslpassword", "passfile")


@dataclass(frozen=True)
class DatabaseTarget:
    """A database. `str` and `repr` show it without password and options; `source` said so."""

    url: URL = field(repr=False)
    source: str

    @property
    def is_sqlite(self) -> bool:
        return self.url.get_backend_name() == "sqlite"

    @property
    def is_own(self) -> bool:
        """Whether it is the file in the run's own directory."""
        return self.source == OWN

    @property
    def has_secret(self) -> bool:
        """Whether the URL itself holds a password."""
        return bool(self.url.password) or any(name in self.url.query for name in _SECRET_QUERY)

    def __str__(self) -> str:
        url = self.url
        shown = URL.create(url.drivername, url.username, None, url.host, url.port, url.database)
        return shown.render_as_string()

    def __repr__(self) -> str:
        return f"DatabaseTarget({str(self)!r}, {self.source!r})"

    def redact(self, text: object) -> str:
        """`text` on one line, with every secret of this URL replaced by ``***``."""
        line = " ".join(str(text).split())
        secrets = [self.url.password, *(self.url.query.get(name) for name in _SECRET_QUERY)]
        for secret in secrets:
            if secret:
                line = line.replace(str(secret), "***")
        return line


def resolve(
    setting: str, directory: Path, environment: Mapping[str, str] = os.environ
) -> DatabaseTarget | None:
    """The database of a run: None for ``off``.

    ``auto`` takes the environment's (``UI_GYM_DATABASE_URL``, ``DATABASE_URL``, or
    ``POSTGRES_HOST`` with ``_PORT``, ``_USER``, ``_PASSWORD`` and ``_DB``), else a file in the
    run's `directory`. Anything else is a URL.

    Raises:
        UserError: it is no URL, or of a database that is not supported.
    """
    if setting == "off":
        return None
    if setting != "auto":
        return parse(setting, "run.records")
    return from_environment(environment) or of_file(directory / FILE)


def check_setting(setting: str) -> None:
    """Refuse what must not be written into a run's configuration, without repeating it.

    Raises:
        UserError: the URL holds a password, or is not one.
    """
    if setting not in ("auto", "off") and parse(setting, "run.records").has_secret:
        raise UserError(
            "run.records holds a password, and a run's settings are kept in its folder; give the "
            f"whole URL in the environment variable {VARIABLES[0]}, or the password in PGPASSWORD"
        )


def from_environment(environment: Mapping[str, str] = os.environ) -> DatabaseTarget | None:
    """The database that the environment names; None if it names none.

    Raises:
        UserError: it is no URL, or of a database that is not supported.
    """
    for name in VARIABLES[:2]:
        if environment.get(name):
            return parse(environment[name], name)
    if not environment.get("POSTGRES_HOST"):
        return None
    user = environment.get("POSTGRES_USER") or "postgres"
    port = environment.get("POSTGRES_PORT") or "5432"
    if not port.isdigit():
        raise UserError(f"POSTGRES_PORT is no number: {port!r}")
    url = URL.create(
        _DRIVERS["postgres"],
        username=user,
        password=environment.get("POSTGRES_PASSWORD") or None,
        host=environment["POSTGRES_HOST"],
        port=int(port),
        database=environment.get("POSTGRES_DB") or user,
    )
    return DatabaseTarget(url, "POSTGRES_HOST")


def of_file(path: Path) -> DatabaseTarget:
    """An SQLite database in a file."""
    return DatabaseTarget(URL.create("sqlite", database=str(path)), OWN)


def parse(text: str, source: str) -> DatabaseTarget:
    """A URL as people write it; `source` says where it stands.

    Raises:
        UserError: it is no URL, or of a database that is not supported. The text is not repeated:
            it may hold a password.
    """
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise UserError(
            f"{source} is no database's URL; one is like postgresql://user@host:5432/name or "
            "sqlite:///records.sqlite"
        ) from None
    backend = url.get_backend_name()
    if backend in _DRIVERS:
        # An asynchronous driver in a shared DATABASE_URL is another program's choice.
        return DatabaseTarget(url.set(drivername=_DRIVERS[backend]), source)
    if backend == "sqlite" and url.database not in (None, "", ":memory:"):
        return DatabaseTarget(url.set(drivername="sqlite"), source)
    what = "SQLite without a file" if backend == "sqlite" else f"{backend!r}"
    raise UserError(f"{source}: records are kept in PostgreSQL or an SQLite file, not in {what}")
