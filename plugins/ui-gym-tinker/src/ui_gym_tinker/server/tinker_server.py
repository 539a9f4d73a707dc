"""TinkerServer: a local server of Tinker's protocol, in a thread of this process."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from ui_gym.errors import UserError
from ui_gym.remote.http_server import HttpServer
from ui_gym_agents import files
from ui_gym_tinker.server.app import ApiKeyGuard, TinkerApp
from ui_gym_tinker.server.checkpoints import Checkpoints
from ui_gym_tinker.server.hosted import HostedModel
from ui_gym_tinker.server.service import TinkerService
from ui_gym_tinker.server.snapshots import Memory

KEY_PREFIX = "tml-"
"""What the SDK wants every key to begin with."""

KEY = "TINKER_API_KEY"
"""The environment variable that the SDK reads it from."""

KEEP_ALIVE = 120
"""Seconds that an idle connection is kept: longer than the SDK's pool does, so that it is not the
server that hangs up just as a request is on its way."""


class TinkerServer:
    """Serves models while the context is open; the SDK takes `url` and `key`.

    Args:
        models: Base models: names that are installed, folders, or ``NAME=FOLDER``; or by name.
        host: Where to listen.
        port: 0 is any that is free.
        key: What clients must say; begins with ``tml-``. None: a new one is made.
        checkpoints: Where they are written; None: a folder that is deleted at the end.
        max_memory: Bytes that base models, runs and samplers' weights may take. What passes over
            them take meanwhile comes on top.
        session_timeout: Seconds of silence after which a session is freed.
        lora_alpha: Adapters are scaled by ``lora_alpha / rank``.
        batch_tokens: Most tokens of a micro-batch in training.
        device: ``cpu``, ``cuda``, or another of torch's.
        dtype: Of the weights that are not trained.
        any_sdk: Let every version of the SDK in.
        names: Further names that clients call this host by.

    Raises:
        UserError: no such model, the port is taken, the key is none, or there is no room.
    """

    def __init__(
        self,
        models: Sequence[str] | Mapping[str, str | Path] = ("tiny-clerk",),
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        key: str | None = None,
        checkpoints: str | Path | None = None,
        max_memory: int | None = None,
        session_timeout: float = 300.0,
        lora_alpha: float = 32.0,
        batch_tokens: int = 4096,
        device: str = "cpu",
        dtype: str = "float32",
        any_sdk: bool = False,
        names: Collection[str] = (),
    ) -> None:
        self.key = new_key() if key is None else key
        if not self.key.startswith(KEY_PREFIX):
            raise UserError(f"a key begins with {KEY_PREFIX}, or the SDK refuses it")
        guard = ApiKeyGuard(host, self.key, names, variable=KEY)
        hosted = [
            HostedModel(name, source, device=device, dtype=dtype)
            for name, source in named(models).items()
        ]
        for model in hosted:
            model.policy.batch_tokens = batch_tokens
        base = sum(model.nbytes for model in hosted)
        if max_memory is not None and base > max_memory:
            raise UserError(
                f"the base models take {base / 1e6:.1f} MB, more than --max-memory allows "
                f"({max_memory / 1e6:.1f} MB)"
            )
        self._own = tempfile.mkdtemp(prefix="ui-gym-tinker-")
        self.checkpoints = Path(self._own) / "kept" if checkpoints is None else Path(checkpoints)
        self._lock: int | None = None
        try:
            store = Checkpoints(self.checkpoints)
            self._lock = _locked(self.checkpoints)
            self.service = TinkerService(
                {model.name: model for model in hosted},
                store,
                Memory(max_memory, base, Path(self._own) / "snapshots"),
                session_timeout=session_timeout,
                lora_alpha=lora_alpha,
            )
            self._app = TinkerApp(self.service, any_sdk=any_sdk)
            self._http = HttpServer(
                self._app.routes(), guard, host, port, ending=self.service.close,
                keep_alive=KEEP_ALIVE,
            )  # fmt: skip
        except BaseException:
            self._clean()
            raise

    @property
    def url(self) -> str:
        """What the SDK takes as ``base_url``."""
        return self._http.address("http")

    @property
    def port(self) -> int:
        return self._http.port

    def __enter__(self) -> TinkerServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Serve from now on."""
        self.service.start()
        self._http.start()

    def close(self) -> None:
        """End the server; open requests fail. May be repeated."""
        self.service.close()
        self._http.close()
        self._app.close()
        self._clean()

    def _clean(self) -> None:
        shutil.rmtree(self._own, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def new_key() -> str:
    """A key that nobody guesses."""
    return KEY_PREFIX + secrets.token_hex(16)


def named(models: Sequence[str] | Mapping[str, str | Path]) -> dict[str, str | Path]:
    """Models by their names: ``NAME=FOLDER``, or what is both.

    Raises:
        UserError: there is none, or two have one name.
    """
    if isinstance(models, Mapping):
        found: dict[str, str | Path] = dict(models)
    else:
        found = {}
        for one in models:
            name, equals, source = one.partition("=")
            if name in found:
                raise UserError(f"two models are called {name!r}: name them NAME=FOLDER")
            found[name] = source if equals else one
    if not found:
        raise UserError("there is no model to serve: name one, as in --model tiny-clerk")
    return found


def _locked(folder: Path) -> int:
    try:
        return files.lock(folder / ".lock")
    except BlockingIOError:
        raise UserError(
            f"another server writes its checkpoints to {folder}: take another folder"
        ) from None
