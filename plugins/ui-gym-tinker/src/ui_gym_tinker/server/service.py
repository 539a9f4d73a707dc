"""The server behind its routes: `app` is the routes, this is what they ask."""

from __future__ import annotations

from collections.abc import Mapping

from ui_gym_tinker.server.checkpoints import Checkpoints
from ui_gym_tinker.server.compute import ComputeThread
from ui_gym_tinker.server.core import ServerCore
from ui_gym_tinker.server.futures import Failure, Futures
from ui_gym_tinker.server.hosted import HostedModel
from ui_gym_tinker.server.inputs import InputReader
from ui_gym_tinker.server.pictures import Pictures
from ui_gym_tinker.server.runs import RunService
from ui_gym_tinker.server.samplers import SamplerService
from ui_gym_tinker.server.sessions import ClientSession, ClientSessions
from ui_gym_tinker.server.snapshots import Memory


class TinkerService:
    """The models of a server, and what clients do with them.

    Requests are read in one thread and computed in another.

    Args:
        models: By the names that clients ask for.
        checkpoints: Where they are written.
        memory: Counts what runs and snapshots take.
        session_timeout: Seconds after which a silent session ends.
        lora_alpha: Of new adapters, which are scaled by ``alpha / rank``.
    """

    def __init__(
        self,
        models: Mapping[str, HostedModel],
        checkpoints: Checkpoints,
        memory: Memory,
        *,
        session_timeout: float,
        lora_alpha: float,
    ) -> None:
        pictures = Pictures()
        sessions = ClientSessions(session_timeout, self._session_ended)
        self.core = ServerCore(
            models,
            {name: InputReader(model, pictures) for name, model in models.items()},
            checkpoints,
            memory,
            Futures(),
            sessions,
            ComputeThread(lambda batch: self.samplers.compute(batch), sessions.expire),
        )
        self.runs = RunService(self.core, lora_alpha)
        self.samplers = SamplerService(self.core)

    def start(self) -> None:
        """Compute from now on."""
        self.core.compute.start()

    def close(self) -> None:
        """End. Open futures fail, at which samples are not gone on with. May be repeated."""
        self.core.futures.close()
        self.core.compute.close()

    def _session_ended(self, session: ClientSession, why: str) -> None:
        self.core.futures.fail_all(session.id, Failure(why, "user"))

        def free() -> None:
            for run in session.runs.values():
                self.runs.free(run)
            for sampler in session.samplers.values():
                self.samplers.free(sampler)

        self.core.compute.submit(free)
