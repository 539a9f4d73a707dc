"""A PostgreSQL server for tests, from the programs of the system."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

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


def binaries() -> Path | None:
    """Where PostgreSQL's programs lie, if it is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None
