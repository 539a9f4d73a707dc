"""Guard: which requests a server lets in.

A server of envs or of a desktop is a way into them. Pages in a browser on the same machine must
find none (hence exact ``Host`` and ``Origin`` checks), nor must others on the network (hence a
token).
"""

from __future__ import annotations

import hmac
import ipaddress
import os
import re
from collections.abc import Collection, Sequence
from typing import Protocol
from urllib.parse import SplitResult, unquote

from ui_gym.errors import UserError

LOOPBACK = ("127.0.0.1", "localhost", "::1")

MIN_TOKEN = 16
"""The shortest token that is taken, in characters."""

_TOKEN = re.compile(r"[\x21-\x7e]+")


class Mistake(Exception):
    """What a client did wrong, or may not do: the answer's status and message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Headers(Protocol):
    """A request's headers, whose names know no case."""

    def get(self, name: str, default: str, /) -> str: ...

    def get_all(self, name: str, default: Sequence[str], /) -> Sequence[str]: ...


class Guard:
    """Checks requests to a server at `host`; `names` are further names that it is known by, with
    a port where that is forwarded from another (``localhost:8080``). `variable` is the environment
    variable that the token is taken from, for messages. `cookie` is the name of a cookie that may
    bring the token too: a browser sends no header of its own.

    Raises:
        UserError: others than this machine could reach it, and there is no token; or a bad one.
    """

    def __init__(
        self,
        host: str,
        token: str = "",
        names: Collection[str] = (),
        *,
        variable: str,
        cookie: str = "",
    ) -> None:
        if token and (len(token) < MIN_TOKEN or not _TOKEN.fullmatch(token)):
            raise UserError(
                f"a token is {MIN_TOKEN} or more printable characters without spaces, as "
                "`openssl rand -hex 16` makes it"
            )
        if not token and not is_loopback(host):
            raise UserError(
                f"a server at {host} can be reached from other machines, so it needs a token: set "
                f"the environment variable {variable}, here and where the clients run"
            )
        self._token = token
        self._cookie = cookie
        self._names = {name.lower() for name in (*names, host)}

    def check(self, headers: Headers, here: tuple[str, int]) -> None:
        """Let a request in that came to the address `here`.

        Raises:
            Mistake: (403) it was meant for another host, or a page of another one sent it; (401)
                it has no token, or a wrong one.
        """
        host = headers.get("Host", "")
        name, port = _split(host)
        ours = name in self._names or name == here[0].lower()
        ours = ours or (is_loopback(here[0]) and name in LOOPBACK)
        called = (ours and port in (None, here[1])) or host.lower() in self._names
        if len(headers.get_all("Host", ())) != 1 or not name or not called:
            raise Mistake(403, f"this server is not called {host[:100]!r} (serve --name says more)")
        origins = headers.get_all("Origin", ())
        if any(origin.lower() != f"http://{host.lower()}" for origin in origins):
            raise Mistake(403, "pages of other origins may not ask here")
        if headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise Mistake(403, "pages of other sites may not ask here")
        if self._token:
            said = headers.get("Authorization", "")
            if not said and self._cookie:
                said = f"Bearer {_cookie(headers.get('Cookie', ''), self._cookie)}"
            self._check_token(said)

    def _check_token(self, said: str) -> None:
        scheme, _, token = said.partition(" ")
        given = token.strip().encode("utf-8", "replace") if scheme.lower() == "bearer" else b""
        if not hmac.compare_digest(given, self._token.encode()):
            raise Mistake(401, "the token is missing or wrong (Authorization: Bearer TOKEN).")


def token_in(variable: str) -> str:
    """The token that an environment variable says; empty where it says nothing.

    Raises:
        UserError: it is no token; does not show it.
    """
    said = os.environ.get(variable, "").strip()
    if said and not _TOKEN.fullmatch(said):
        raise UserError(
            f"the token in {variable} holds a blank, a control or a non-ASCII character, which a "
            "header cannot carry: set another, as `openssl rand -hex 16` makes one"
        )
    return said


def check_no_password(address: SplitResult, variable: str) -> None:
    """Refuse an address that holds a user or a password; the token belongs into `variable`.

    Raises:
        UserError: it does; does not show it.
    """
    if address.username is not None or address.password is not None:
        raise UserError(
            "an address is seen in logs, so it takes no token: set the environment variable "
            f"{variable} instead"
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server at `host`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _cookie(said: str, name: str) -> str:
    """A cookie's value, percent-encoded, among those that a header names; empty without it."""
    pairs = (pair.strip().partition("=") for pair in said.split(";"))
    return unquote(next((value for key, _, value in pairs if key == name), ""))


def _split(host: str) -> tuple[str, int | None]:
    """``[::1]:5000`` as ``("::1", 5000)``; without a port, None."""
    match = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:\[\]]+))(?::(\d{1,5}))?", host)
    if match is None:
        return "", None
    return (match[1] or match[2]).lower(), int(match[3]) if match[3] else None
