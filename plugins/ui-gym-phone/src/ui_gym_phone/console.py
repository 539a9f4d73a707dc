"""EmulatorConsole: what an emulator listens to beside ADB, for `adb emu` to talk to.

    adb -s emulator-5554 emu sms send +15551234 "On my way"

An emulator whose ADB is on port 5555 has its console on 5554: `adb` connects there by itself. As
with Android's own, whoever connects has to know what stands in ``~/.emulator_console_auth_token``,
which is made where there is none, for this user alone; an empty one lets everybody in. It listens
on the loopback interface alone.
"""

from __future__ import annotations

import hmac
import os
import secrets
import socket
import threading
from pathlib import Path
from typing import Protocol, Self

from ui_gym.errors import UserError
from ui_gym_phone.adbd import end_socket

MAX_CONNECTIONS = 8
MAX_LINE = 16 << 10
"""Bytes of a line."""
PATIENCE = 600.0
"""Seconds that a client may say nothing."""

TOKEN_FILE = ".emulator_console_auth_token"

_BEFORE = ("help", "auth", "ping", "avd", "quit", "exit")
"""What may be said without a token."""
_WELCOME = "Android Console: type 'help' for a list of commands\r\nOK\r\n"


class HasConsole(Protocol):
    """What is behind a console."""

    def console(self, line: str) -> str:
        """Do what a line says; what is answered, ending in ``OK`` or ``KO: why``."""


class EmulatorConsole:
    """Listens from the beginning, until `close`. `port` 0 takes a free one.

    Raises:
        UserError: the port is taken, or the token can be neither read nor made.
    """

    def __init__(self, emulator: HasConsole, port: int = 0, token_file: Path | None = None) -> None:
        self._emulator = emulator
        self._file = token_file if token_file is not None else Path.home() / TOKEN_FILE
        self._token = _token(self._file)
        self._lock = threading.Lock()
        self._clients: dict[socket.socket, threading.Thread] = {}
        self._closed = False
        self._socket = socket.socket()
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind(("127.0.0.1", port))
            self._socket.listen(MAX_CONNECTIONS)
        except (OSError, OverflowError) as error:
            self._socket.close()
            raise UserError(f"a console cannot listen on port {port}: {error}") from None
        self.port: int = self._socket.getsockname()[1]
        self._thread = threading.Thread(
            target=self._accept, name=f"ui-gym-adbd-console-{self.port}", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """End every connection. May be repeated."""
        with self._lock:
            self._closed = True
            clients = dict(self._clients)
        for sock in (self._socket, *clients):
            end_socket(sock)
        for thread in (self._thread, *clients.values()):
            if thread is not threading.current_thread():
                thread.join(timeout=5)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _accept(self) -> None:
        pause = threading.Event()
        while True:
            try:
                sock, _ = self._socket.accept()
            except OSError:
                if self._closed:
                    return
                pause.wait(0.05)  # too many open files, or the client is gone already
                continue
            thread = threading.Thread(
                target=self._serve, args=(sock,), name=f"{self._thread.name}-client", daemon=True
            )
            with self._lock:
                if self._closed or len(self._clients) >= MAX_CONNECTIONS:
                    sock.close()
                    continue
                self._clients[sock] = thread
            thread.start()

    def _serve(self, sock: socket.socket) -> None:
        sock.settimeout(PATIENCE)
        known = not self._token
        try:
            with sock.makefile("rb") as lines:
                sock.sendall((_WELCOME if known else self._greeting()).encode())
                while line := lines.readline(MAX_LINE):
                    text = line.decode(errors="replace").strip()
                    word, _, rest = text.partition(" ")
                    if word in ("quit", "exit"):
                        return
                    if word == "auth":
                        known, said = self._authenticate(known, rest.strip())
                    elif not known and word not in _BEFORE:
                        said = "KO: unknown command, try 'help'\r\n"
                    else:
                        said = self._emulator.console(text) if text else ""
                    sock.sendall(said.encode("utf-8", "replace"))
        except OSError:
            pass  # the client went, or said nothing for too long
        finally:
            end_socket(sock)
            with self._lock:
                self._clients.pop(sock, None)

    def _greeting(self) -> str:
        return (
            "Android Console: Authentication required\r\n"
            "Android Console: type 'auth <auth_token>' to authenticate\r\n"
            "Android Console: you can find your <auth_token> in \r\n"
            f"'{self._file}'\r\nOK\r\n"
        )

    def _authenticate(self, known: bool, token: str) -> tuple[bool, str]:
        if hmac.compare_digest(token.encode(), self._token.encode()):
            return True, _WELCOME
        return known, f"KO: authentication token does not match ~/{TOKEN_FILE}\r\n"


def _token(file: Path) -> str:
    """The token that stands in a file; one is made where there is none."""
    try:
        return file.read_text("utf-8").strip()
    except FileNotFoundError:
        made = secrets.token_urlsafe(12)
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"the console's token in {file} cannot be read: {error}") from None
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(made)
    except FileExistsError:  # another phone was quicker
        return file.read_text("utf-8").strip()
    except OSError as error:
        raise UserError(f"the console's token cannot be kept in {file}: {error}") from None
    return made
