"""What all parts of the server share: its models, its memory, who is here and who computes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ui_gym.errors import UIGymError, nearest
from ui_gym_tinker.server.checkpoints import CheckpointFacts, CheckpointPath, Checkpoints
from ui_gym_tinker.server.compute import ComputeThread
from ui_gym_tinker.server.errors import BadRequest, HttpRefusal
from ui_gym_tinker.server.futures import Failure, Futures, Result
from ui_gym_tinker.server.hosted import HostedModel
from ui_gym_tinker.server.inputs import InputReader
from ui_gym_tinker.server.prompts import SampleWork
from ui_gym_tinker.server.sessions import ClientSessions
from ui_gym_tinker.server.snapshots import Memory

log = logging.getLogger(__name__)

Reply = dict[str, Any]
"""The body of a JSON answer."""


@dataclass
class ServerCore:
    """The parts. `readers` are of the models, by their names, for the thread that reads."""

    models: Mapping[str, HostedModel]
    readers: Mapping[str, InputReader]
    checkpoints: Checkpoints
    memory: Memory
    futures: Futures
    sessions: ClientSessions
    compute: ComputeThread[SampleWork]

    def model(self, name: str) -> HostedModel:
        """A base model by its name, or by the folder that it was named by.

        Raises:
            HttpRefusal: (404) there is none.
        """
        for model in self.models.values():
            if name in (model.name, model.source, str(model.folder)):
                return model
        raise HttpRefusal(
            404,
            f"this server has no base model {name!r}. {nearest(name, self.models)} (serve --model)",
        )

    def facts(self, text: str) -> tuple[CheckpointPath, CheckpointFacts]:
        """Of the checkpoint of that path.

        Raises:
            HttpRefusal: (404) there is none.
        """
        try:
            path = CheckpointPath.parse(text)
            return path, self.checkpoints.facts(path)
        except BadRequest as error:
            raise HttpRefusal(404, str(error)) from None


def told(work: Callable[[], Result]) -> Result:
    """What `work` gives, or what went wrong with it."""
    try:
        return work()
    except BadRequest as error:
        return Failure(str(error), "user")
    except UIGymError as error:
        return Failure(str(error), "server")
    except Exception as error:
        log.exception("a request failed")
        return Failure(f"{type(error).__name__}: {error}", "server")
