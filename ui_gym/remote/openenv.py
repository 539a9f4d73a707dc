"""OpenEnvEnv: any server that speaks OpenEnv's protocol, as a Gymnasium env."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit

import gymnasium
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.spaces import Dict
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.protocol import State
from websockets.sync.client import ClientConnection, connect

from ui_gym.errors import DeviceError, DeviceLost, DeviceTimeout, UIGymError, UserError
from ui_gym.remote import asking
from ui_gym.remote.guard import check_no_password, is_loopback, token_in
from ui_gym.remote.openenv_fields import ActionField, Field

TOKEN = "UI_GYM_OPENENV_TOKEN"
"""The environment variable with the token that such servers are told, if they want one."""

MAX_MESSAGE = 100 << 20
"""The longest message that is read, in bytes: as OpenEnv's own client has it."""

CLIENTS_FAULTS = ("INVALID_JSON", "UNKNOWN_TYPE", "VALIDATION_ERROR")
"""Codes of errors that whoever asked can put right."""

LAST_WORDS = ("CAPACITY_REACHED", "FACTORY_ERROR", "SESSION_ERROR")
"""Codes of errors after which OpenEnv's own server hangs up."""


class OpenEnvEnv(gymnasium.Env[dict[str, Any], Any]):
    """An environment on a server that speaks OpenEnv's protocol.

    ## Description
    Each env is one connection, and so one session of the server. Its spaces are read from the
    server's ``/schema``, and from the observation of a first reset, which shows what are pictures.

    ## Action space
    Where the server's actions have one required field and this is a text: that text. Where all
    required fields are texts, numbers or booleans: a `Dict` of them. Else the text of a JSON
    object. Fields that are not required keep the server's defaults.

    ## Observation space
    A `Dict` of the observation's fields, but for `done`, `reward` and `metadata`:

    | field                                        | space                        |
    |----------------------------------------------|------------------------------|
    | a picture: data URL, base64, lists of pixels | Box(0, 255, (H, W, C), u8)   |
    | string, null for empty                       | FreeText                     |
    | integer, number                              | Box of shape ()              |
    | boolean                                      | Discrete(2)                  |
    | whatever else                                | FreeText: the field as JSON  |

    ## Rewards
    The server's; 0 where it says none.

    ## Starting state
    The server's, for the seed; without a seed one is drawn from `np_random`, so that the episodes
    after ``reset(seed=1)`` are always the same, if the server keeps to its seeds.

    ## Episode end
    `terminated` and `truncated` as the server's metadata say. OpenEnv itself tells them not apart:
    without such metadata, what is done is terminated.

    ## Arguments
    | argument          | default | meaning                                                      |
    |-------------------|---------|--------------------------------------------------------------|
    | `url`             |         | the server, such as ``http://localhost:8000``; ``ws://`` too |
    | `reset_arguments` | none    | what each reset says beside the seed, such as the `task`     |
    | `headers`         | none    | further headers of each request                              |
    | `connect_timeout` | 10.0    | seconds until there is a connection                          |
    | `timeout`         | 60.0    | seconds that an answer may take                              |

    `reset` takes further such arguments as its options. A token in the environment variable
    ``UI_GYM_OPENENV_TOKEN`` goes to the server, unless `headers` have an ``Authorization``. Infos
    are the server's metadata.

    Raises `UserError` for what the server calls wrong, `DeviceError` for what failed there, and
    `DeviceLost` or `DeviceTimeout` for the connection. After these a reset begins anew.

    ## Version history
    * v0: first version.
    """

    metadata = {"render_modes": []}

    def __init__(
        self,
        url: str,
        *,
        reset_arguments: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        connect_timeout: float = 10.0,
        timeout: float = 60.0,
    ) -> None:
        self._arguments = dict(reset_arguments or {})
        self._connection = _Connection(url, dict(headers or {}), connect_timeout, timeout)
        self._closed = False
        self._needs_reset = True
        try:
            schema = self._connection.schema()
            self._action = ActionField.of(schema["action"])
            first = self._connection.ask("reset", self._arguments)["observation"]
            known = schema["observation"].get("properties", {})
            apart = ("done", "reward", "metadata")
            self._fields = {
                name: Field.of(known.get(name, {}), first.get(name))
                for name in dict.fromkeys((*known, *first))
                if name not in apart
            }
        except BaseException:
            self._connection.close()
            raise
        self.action_space = self._action.space
        self.observation_space = Dict({name: f.space for name, f in self._fields.items()})

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode; `options` are what this reset says beside the seed."""
        self._check_open()
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(2**31)) if seed is None else int(seed)
        self._needs_reset = True
        asked = self._arguments | {"seed": drawn} | (options or {})
        observation, _, _, _, info = self._read(self._connection.ask("reset", asked, fresh=True))
        self._needs_reset = False
        return observation, info

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Do an action."""
        self._check_open()
        if self._needs_reset:
            raise ResetNeeded("the episode is over (or none was begun): call reset() before step()")
        said = self._action.write(action)
        self._needs_reset = True  # should anything raise
        try:
            result = self._read(self._connection.ask("step", said))
        except UserError:
            self._needs_reset = False  # the server refused the action, and did nothing
            raise
        self._needs_reset = result[2] or result[3]
        return result

    def close(self) -> None:
        """End the session. May be repeated."""
        self._closed = True
        self._connection.close()

    def _read(
        self, data: dict[str, Any]
    ) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        seen = data["observation"]
        observation = {name: f.read(name, seen.get(name)) for name, f in self._fields.items()}
        info = dict(data.get("metadata") or seen.get("metadata") or {})
        terminated, truncated = info.get("terminated"), info.get("truncated")
        if not (isinstance(terminated, bool) and isinstance(truncated, bool)):
            terminated, truncated = bool(data.get("done")), False
        return observation, float(data.get("reward") or 0.0), terminated, truncated, info

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedEnvironmentError("this env is closed; make a new one")


# -- the connection --


class _Connection:
    """A session of a server, on one WebSocket; connects when it is first asked."""

    def __init__(self, url: str, headers: dict[str, str], opening: float, timeout: float) -> None:
        parts = urlsplit(url)
        check_no_password(parts, TOKEN)
        if parts.scheme not in ("http", "https", "ws", "wss") or not parts.hostname:
            raise UserError(f"an OpenEnv server is said as http://HOST:PORT, not {url!r}")
        token = token_in(TOKEN)
        if token and "authorization" not in map(str.lower, headers):
            headers = headers | {"Authorization": f"Bearer {token}"}
        self._url = url.rstrip("/")
        self._rest = self._url.partition("://")[2]
        self._s = "s" if parts.scheme in ("https", "wss") else ""
        self._here = is_loopback(parts.hostname)
        self._headers = headers
        self._opening, self._timeout = opening, timeout
        self._socket: ClientConnection | None = None
        self._opened = contextlib.ExitStack()

    def schema(self) -> dict[str, Any]:
        """What ``/schema`` says."""
        page = f"http{self._s}://{self._rest}/schema"
        try:
            schema = json.loads(
                asking.get(
                    page, self._headers, timeout=self._opening, most=MAX_MESSAGE,
                    proxies=not self._here,
                )
            )  # fmt: skip
        except (OSError, ValueError) as error:
            raise self._trouble(error) from None
        if not isinstance(schema, dict) or not {"action", "observation"} <= schema.keys():
            raise UserError(f"{page} is no schema of an OpenEnv server")
        return schema

    def ask(self, kind: str, data: dict[str, Any], *, fresh: bool = False) -> dict[str, Any]:
        """The server's answer to a message; over another connection, if the last one is over and a
        `fresh` one will do."""
        if self._socket is not None and fresh and self._socket.state is not State.OPEN:
            self.close()
        try:
            reply = self._exchange(kind, data)
        except (OSError, EOFError, WebSocketException, ValueError) as error:
            self.close()  # a late answer would be taken for that to the next message
            raise self._trouble(error) from None
        if reply.get("type") == "error":
            raise self._error(reply["data"])
        answer: dict[str, Any] = reply["data"]
        return answer

    def close(self) -> None:
        socket, self._socket = self._socket, None
        with contextlib.suppress(OSError, WebSocketException):
            if socket is not None:
                socket.send(json.dumps({"type": "close"}))
        with contextlib.suppress(OSError, WebSocketException):
            self._opened.close()

    def _exchange(self, kind: str, data: dict[str, Any]) -> dict[str, Any]:
        if self._socket is None:
            opening = connect(
                f"ws{self._s}://{self._rest}/ws", additional_headers=self._headers,
                max_size=MAX_MESSAGE, compression=None, open_timeout=self._opening,
                close_timeout=1.0, proxy=None if self._here else True,
            )  # fmt: skip
            self._socket = self._opened.enter_context(opening)
        message = json.dumps({"type": kind, "data": data})
        with contextlib.suppress(ConnectionClosed):  # a server that is full says so, and hangs up
            self._socket.send(message)
        reply = json.loads(self._socket.recv(timeout=self._timeout))
        if not isinstance(reply, dict) or not isinstance(reply.get("data"), dict):
            raise ValueError("the answer is no message of OpenEnv")
        return reply

    def _error(self, told: Mapping[str, Any]) -> UIGymError:
        code = told.get("code", "")
        if code in LAST_WORDS:
            self.close()
        what = f"{self._url}: {told.get('message', 'an error without a message')} ({code})"
        return UserError(what) if code in CLIENTS_FAULTS else DeviceError(what)

    def _trouble(self, error: Exception) -> UIGymError:
        """What went wrong with a request, in words."""
        if isinstance(error, HTTPError | InvalidStatus):
            if isinstance(error, HTTPError):
                status, body = error.code, error.read()
            else:
                status, body = error.response.status_code, bytes(error.response.body or b"")
            said = body.decode("utf-8", "replace").strip()[:200]
            hint = f" (see {TOKEN})" if status in (401, 403) else ""
            return UserError(f"{self._url} answers with {status}: {said}{hint}")
        if isinstance(error, TimeoutError):
            return DeviceTimeout(
                f"{self._url}: no answer in time. Raise timeout ({self._timeout:g} s) or "
                f"connect_timeout ({self._opening:g} s) if the server is that slow"
            )
        said = f"{type(error).__name__}: {error}".rstrip(": ")
        return DeviceLost(f"the server {self._url} is lost ({said}); is it running there?")
