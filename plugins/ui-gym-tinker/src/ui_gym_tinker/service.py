"""A session of a Tinker server: what it is asked for, with deadlines, and errors that say what now.

UIGymError
├── UserError        the key, the address or the model's name is wrong
└── ServiceError     the server failed, or gave no answer in time
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from ui_gym.errors import UIGymError, UserError

if TYPE_CHECKING:
    import tinker

T = TypeVar("T")

KEY = "TINKER_API_KEY"
ADDRESS = "TINKER_BASE_URL"
CONNECTING = 60.0
"""Seconds that the first answer may take: a server that is not there is told soon."""
CLOSING = 10.0
"""Seconds that the end of a session may take."""
CLOSING_LOST = 1.0
"""And where the server gave no answer before."""

REFUSED = (
    "AuthenticationError", "BillingError", "NotFoundError", "PermissionDeniedError",
    "UnprocessableEntityError", "BadRequestError",
)  # fmt: skip
"""The SDK's errors that no second attempt mends."""


class ServiceError(UIGymError):
    """The server failed, and nobody here is to blame."""


class Service:
    """A session.

    Args:
        address: The server's; None: of the environment, or the service's own.
        timeout: Seconds that one answer may take, those of sampling excepted.

    Raises:
        UserError: there is no key, or it is refused.
        ServiceError: the server cannot be reached.
    """

    def __init__(self, address: str | None = None, *, timeout: float = 600.0) -> None:
        import tinker

        key = os.environ.get(KEY, "")
        if not key:
            raise UserError(
                f"the Tinker API needs a key: set {KEY} to that of the service, or to the one that "
                "ui-gym-tinker-server shows when it starts"
            )
        # Said here: without an address the SDK goes on with that of an earlier client.
        self._url = address or os.environ.get(ADDRESS) or None
        self.address = self._url or "the Tinker service"
        self.timeout = timeout
        self._key = key
        self.lost = False
        """Whether an answer did not come: then nobody waits long for the end of the session."""
        # It tells of every poll of a server that is busy, in the middle of the live table.
        logging.getLogger("tinker").setLevel(logging.ERROR)
        self._client = tinker.ServiceClient(base_url=self._url, api_key=key)

    def supports(self) -> list[str]:
        """The models that the server has, by their names."""
        import tinker

        self._reach()

        def work() -> tinker.types.GetServerCapabilitiesResponse:
            rest = tinker.RestClient(base_url=self._url, api_key=self._key)
            return rest.get_server_capabilities().result()

        found = self.ask("its models", work, min(self.timeout, CONNECTING))
        return [model.model_name for model in found.supported_models if model.model_name]

    def _reach(self) -> None:
        """Knock at an address before the SDK does: it tries again for minutes, and meanwhile, in
        0.38, no other `RestClient` of this process can be made."""
        import httpx

        if self._url is None:
            return
        limit = min(self.timeout, CONNECTING)
        try:
            httpx.get(
                f"{self._url.rstrip('/')}/api/v1/healthz",
                timeout=limit,
                trust_env=self._url.startswith("https://"),
            )
        except httpx.HTTPError as error:
            self.lost = True
            raise ServiceError(
                f"{self.address} cannot be reached ({str(error) or type(error).__name__}): is it "
                f"running, and is its address that of {ADDRESS}?"
            ) from error

    def new_model(
        self, base: str, *, rank: int, seed: int, parts: Mapping[str, bool]
    ) -> tinker.TrainingClient:
        """A new adapter on some `parts` of a base model, to train."""

        def work() -> tinker.TrainingClient:
            return self._client.create_lora_training_client(
                base,
                rank=rank,
                seed=seed,
                train_mlp=parts["mlp"],
                train_attn=parts["attn"],
                train_unembed=parts["unembed"],
            ).result()

        return self.ask(f"a model of {base}", work)

    def saved_model(self, path: str, *, optimizer: bool) -> tinker.TrainingClient:
        """A model from a checkpoint, to go on training."""
        client = self._client
        make = (
            client.create_training_client_from_state_with_optimizer
            if optimizer
            else client.create_training_client_from_state
        )
        return self.ask(f"the checkpoint {path}", lambda: make(path).result())

    def base_sampler(self, base: str) -> tinker.SamplingClient:
        """A base model, to ask for its log-probabilities."""
        make = self._client.create_sampling_client
        return self.ask(f"the model {base}", lambda: make(base_model=base).result())

    def ask(self, what: str, work: Callable[[], T], timeout: float | None = None) -> T:
        """What `work` gives, which may block for as long as it likes: it is waited for no longer
        than `timeout` (that of the session, if None).

        Raises:
            UserError, ServiceError: it failed, or took longer.
        """
        done: Future[T] = Future()

        def run() -> None:
            try:
                done.set_result(work())
            except BaseException as error:
                done.set_exception(error)

        threading.Thread(target=run, name="tinker", daemon=True).start()
        found: T = self.wait(what, done, timeout)
        return found

    def wait(self, what: str, future: Any, timeout: float | None = None) -> Any:
        """What a future gives; as `ask`."""
        limit = self.timeout if timeout is None else timeout
        try:
            return future.result(timeout=limit)
        except TimeoutError:
            self.lost = True
            enough = ", and is --trainer.timeout long enough" if timeout is None else ""
            raise ServiceError(
                f"{self.address} did not answer in {limit:g} s when asked for {what}: is it "
                f"running{enough}?"
            ) from None
        except (Exception, CancelledError) as error:
            raise self.told(what, error) from error

    def told(self, what: str, error: BaseException) -> UIGymError:
        """An error of the SDK's in our words."""
        kind, said = type(error).__name__, _without_key(str(error)) or type(error).__name__
        if isinstance(error, UIGymError):
            return error
        if kind == "AuthenticationError" or "api_key" in said:
            return UserError(f"{self.address} refuses the key of {KEY}: {said}")
        category = str(getattr(error, "category", "")).rpartition(".")[2].lower()
        if kind in REFUSED or category == "user":
            return UserError(f"{self.address} refuses {what}: {said}")
        return ServiceError(f"{self.address} failed when asked for {what}: {kind}: {said}")

    def close(self) -> None:
        """End the session. Closing twice is harmless."""
        with suppress(Exception):
            self._client.close("success").result(timeout=CLOSING_LOST if self.lost else CLOSING)


def _without_key(text: str) -> str:
    """A server's words: some repeat the key that they refuse."""
    key = os.environ.get(KEY, "")
    return text.replace(key, "***") if key else text
