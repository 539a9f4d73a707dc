"""EpisodeFault: what failed an episode, or the device it was to begin on, by no agent's doing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EpisodeFault:
    """One fault of the infrastructure, as a collector saw it.

    `cause` begins with who failed (``"device: ..."``, ``"agent: ..."``). `attempt` counts the
    episode's tries from 1 on. `again`: it is played again, or its device was replaced before it
    began; else it is given up.
    """

    episode: str
    task: str
    seed: int
    slot: int
    attempt: int
    cause: str
    again: bool

    @property
    def of_device(self) -> bool:
        """Whether a device failed, which is then replaced."""
        return self.cause.startswith("device:")

    def __str__(self) -> str:
        then = "again" if self.again else "given up"
        played = f"{self.task}, " if self.task else ""
        where = f"{played}slot {self.slot}, try {self.attempt}"
        return f"episode {self.episode} {then}: {self.cause} ({where})"
