"""EnvServer: slots of this machine for clients elsewhere, by several protocols on one port."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from starlette.routing import WebSocketRoute

from ui_gym.playing.slot import close_all
from ui_gym.remote import openenv_server, pages, ui_verifiers_server, wire
from ui_gym.remote.guard import Guard
from ui_gym.remote.http_server import HttpServer
from ui_gym.remote.lending import Lender, ServerLimits
from ui_gym.remote.sockets import Sessions

DEFAULT_PORT = 7000


class EnvServer:
    """Serves slots while the context is open; `address` says where.

    Args:
        host: Where to listen; others than this machine need a token.
        port: 0 is any that is free.
        token: What clients must say, as ``Authorization: Bearer TOKEN``; none if empty.
        names: Further names that clients call this host by.
        tasks: Ids, names or suites that may be played; all that are known here, if none is named.
        devices: Further devices that clients may ask for, as they write them; ``*`` is any.
        workers: What plays the slots here: threads or processes.
        certificate, key: Files for TLS; both or neither.

    Raises:
        UserError: the port is taken, the host needs a token, or a name is unknown.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = DEFAULT_PORT,
        token: str = "",
        names: Collection[str] = (),
        tasks: Collection[str] = (),
        devices: Collection[str] = (),
        workers: str = "threads",
        limits: ServerLimits | None = None,
        certificate: Path | None = None,
        key: Path | None = None,
    ) -> None:
        self._lender = lender = Lender(limits or ServerLimits(), tasks, devices, workers)
        sessions = Sessions(lender)
        routes = [
            WebSocketRoute(wire.PATH, sessions.endpoint),
            *pages.routes(lender, sessions),
            *ui_verifiers_server.routes(lender),
            *openenv_server.routes(lender),
        ]
        guard = Guard(host, token, names, variable=wire.TOKEN)
        self._http = HttpServer(
            routes, guard, host, port, refused=self._note_refusal,
            ending=lambda: close_all(lender.players), certificate=certificate, key=key,
        )  # fmt: skip

    # -- for whoever runs it --

    @property
    def port(self) -> int:
        return self._http.port

    @property
    def address(self) -> str:
        return self._http.address("ws")

    @property
    def limits(self) -> ServerLimits:
        return self._lender.limits

    @property
    def free(self) -> int:
        """How many slots are not lent."""
        return self._lender.free

    @property
    def playing(self) -> int:
        """How many episodes are not over."""
        return self._lender.playing

    def __enter__(self) -> EnvServer:
        try:
            self._http.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _note_refusal(self) -> None:
        self._lender.counts["refused"] += 1

    def drain(self) -> None:
        """Take no new sessions and begin no new episodes; those that are played go on."""
        self._lender.ending.set()

    def close(self) -> None:
        """End the server and all sessions. May be repeated."""
        self._lender.ending.set()
        self._http.close()
