"""A PostgreSQL server for tests, from the programs of the system."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PASSWORD = "s3cret/hush"


class Server:
    """A PostgreSQL cluster in a folder, on a free port of this machine."""

    def __init__(self, folder: Path, binaries: Path) -> None:
        self.folder = folder
        self.binaries = binaries
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        words = folder / "password"
        words.write_text(PASSWORD)
        if os.geteuid() == 0:  # initdb refuses root.
            shutil.chown(folder, "nobody")
            shutil.chown(words, "nobody")
        self._run(
            "initdb", "-D", self._data, "-U", "tester", "-A", "scram-sha-256", "-N",
            f"--pwfile={words}",
        )  # fmt: skip

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c fsync=off -k {self.folder}"
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", self._data, "-w", "-t", "60", "-l", log, "-o", options, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", self._data, "-w", "-t", "60", "-m", "immediate", "stop")

    def url(self, name: str, password: str | None = PASSWORD) -> str:
        secret = "" if password is None else ":" + password.replace("/", "%2F")
        return f"postgresql://tester{secret}@127.0.0.1:{self.port}/{name}"

    @property
    def _data(self) -> str:
        return str(self.folder / "data")

    def _run(self, name: str, *arguments: str) -> None:
        command = [str(self.binaries / name), *arguments]
        if os.geteuid() == 0:
            command = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *command]
        # Not captured: the server would inherit the pipe, and never end it.
        with (self.folder.parent / "commands").open("ab") as out:
            subprocess.run(
                command, check=True, timeout=90, cwd="/", stdin=subprocess.DEVNULL,
                stdout=out, stderr=out,
            )  # fmt: skip


@contextmanager
def running() -> Iterator[Server]:
    """A started server, until the end; skips where there can be none."""
    pytest.importorskip("psycopg", reason="psycopg is not installed (ui-gym[postgres])")
    found = binaries()
    if found is None:
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("PostgreSQL does not run as root, and setpriv is not installed")
    # In a folder that the server's own user may enter (pytest closes its own to others), with a
    # path short enough for its socket.
    with tempfile.TemporaryDirectory(prefix="ui-gym-postgres-", dir="/tmp") as base:
        os.chmod(base, 0o711)
        cluster = Path(base) / "cluster"
        cluster.mkdir()
        made = Server(cluster, found)
        made.start()
        try:
            yield made
        finally:
            made.stop()


def binaries() -> Path | None:
    """Where PostgreSQL's programs lie, if it is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None
