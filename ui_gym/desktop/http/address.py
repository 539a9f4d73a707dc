"""Where a machine of OSWorld's is: an address, and which ports of it are reached by which."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field

from ui_gym.errors import UserError
from ui_gym.remote.guard import check_no_password, token_in

TOKEN = "UI_GYM_OSWORLD_TOKEN"
"""The environment variable with the token that servers are told, and that ours wants."""

DEFAULT_PORT = 5000

_EXAMPLE = "osworld:http://127.0.0.1:5000"


@dataclass(frozen=True)
class ServerAddress:
    """A server's address; `ports` says where else the machine's own ports are found."""

    scheme: str
    host: str
    port: int
    ports: Mapping[int, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.scheme}://{_bracketed(self.host)}:{self.port}"

    @property
    def called(self) -> str:
        """What the server is called by itself, which knows of no forwarding."""
        far = (far for far, near in self.ports.items() if near == self.port)
        return f"{_bracketed(self.host)}:{next(far, self.port)}"

    @classmethod
    def parse(cls, text: str) -> ServerAddress:
        """Read ``http://HOST:PORT``, or ``https:``.

        ``?9222=40001`` after it says that the machine's port 9222 is reached at HOST:40001, as
        where a container or a virtual machine forwards it. The server's own may be among them.

        Raises:
            UserError: it is none, or it holds a password.
        """
        parts = _split(text)
        check_no_password(parts, TOKEN)
        try:
            port = parts.port
        except ValueError:
            raise UserError(f"{text!r} has no port of 1 to 65535, as {_EXAMPLE} has") from None
        if not parts.hostname or parts.path.strip("/") or parts.fragment:
            raise UserError(f"{text!r} is no address of a server, as in {_EXAMPLE}")
        default = 443 if parts.scheme == "https" else DEFAULT_PORT
        return cls(parts.scheme, parts.hostname, port or default, _ports(parts.query))


def addresses(kind: str) -> list[str]:
    """The addresses that ``osworld:http://h1:5000,http://h2:5000`` names.

    Raises:
        UserError: one is wrong, or is there twice.
    """
    listed = [text.strip() for text in kind.partition(":")[2].split(",")]
    known = [ServerAddress.parse(text) for text in listed]
    if len({(address.host, address.port) for address in known}) < len(known):
        raise UserError(f"a machine is named twice in {kind!r}: each slot needs its own")
    return listed


def token() -> str:
    """What the environment says; empty where it says nothing. `UserError` if it is no token."""
    return token_in(TOKEN)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _split(text: str) -> urllib.parse.SplitResult:
    if not text:
        raise UserError(f"say which machine, as in device={_EXAMPLE!r}")
    try:
        parts = urllib.parse.urlsplit(text if "://" in text else f"http://{text}")
        (parts.hostname or "").encode("idna")
    except ValueError as error:
        raise UserError(f"{text!r} is no address of a server: {error}") from None
    if parts.scheme not in ("http", "https"):
        raise UserError(f"{text!r} is no address of a server, as in {_EXAMPLE}")
    return parts


def _ports(query: str) -> dict[int, int]:
    found = {}
    for pair in query.split("&") if query else ():
        match = re.fullmatch(r"(\d{1,5})=(\d{1,5})", pair)
        if match is None or not all(0 < int(number) < 65536 for number in match.groups()):
            raise UserError(f"ports are said as in {_EXAMPLE}?9222=40001, not {pair!r}")
        found[int(match[1])] = int(match[2])
    return found
