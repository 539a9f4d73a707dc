"""Mix: chosen tasks as one env, each with arguments of its own; a reset says which is played."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ui_gym.contract.device import DeviceOptions, DevicePool
from ui_gym.contract.draws import pick
from ui_gym.contract.spec import TaskSpec
from ui_gym.contract.task import Task
from ui_gym.errors import UserError, nearest


class Mix(Task[Any, Any]):
    """Tasks of one suite and one size as one; the reset option ``task`` is a member's key."""

    spec = TaskSpec("Mix", "any", f"{__name__}:Mix", category="suite")

    def __init__(self, members: Mapping[str, Task[Any, Any]]) -> None:
        self.members = dict(members)
        first, *others = self.members.values()
        self.viewport = first.viewport
        self.mistakes = tuple(sorted({m for task in (first, *others) for m in task.mistakes}))

    @property
    def has_oracle(self) -> bool:
        return all(member.has_oracle for member in self.members.values())

    def choose(self, seed: int, asked: str | None) -> Task[Any, Any]:
        """The member of the key `asked`; without one, a member drawn by `seed`."""
        if asked in self.members:
            return self.members[asked]
        if asked is not None:
            raise UserError(f"these envs do not play {asked!r}. {nearest(asked, self.members)}")
        # Not the generator that the task draws its params from: they must not hang together.
        rng = np.random.default_rng((seed, 1))
        return pick(rng, list(self.members.values()))

    def pool(self, options: DeviceOptions) -> DevicePool:  # type: ignore[override]
        """The devices of the members, which is known of this one object alone."""
        return next(iter(self.members.values())).pool(options)
