"""Weights to sample from, and what memory they and the training runs may take.

A snapshot never changes. Those that nobody has sampled from for longest are left to the disk when
memory is wanted, and read again when somebody samples from them.
"""

from __future__ import annotations

from pathlib import Path

from ui_gym_tinker.server.adapters import Adapter, AdapterShape
from ui_gym_tinker.server.checkpoints import read_tensors, write_tensors
from ui_gym_tinker.server.errors import BadRequest
from ui_gym_tinker.server.hosted import HostedModel

SNAPSHOT_BYTES = 512 * 2**20
"""Bytes of snapshots that are kept in memory where no limit was given."""


class Snapshot:
    """Weights of a model's adapter: in memory, in `file`, or in both.

    `own` says that the file is nobody else's, and goes with the snapshot.
    """

    def __init__(
        self,
        model: HostedModel,
        shape: AdapterShape,
        *,
        adapter: Adapter | None = None,
        file: Path | None = None,
    ) -> None:
        self.model = model
        self.shape = shape
        self.adapter = adapter
        self.file = file
        self.own = file is None
        self.dropped = False


class Memory:
    """Counts bytes of adapters, and says no. For the thread that computes.

    Args:
        limit: Bytes that the base models, runs and snapshots may take; None: no limit for runs.
        base: Bytes of the base models.
        spill: A folder for snapshots that memory has no room for.
    """

    def __init__(self, limit: int | None, base: int, spill: Path) -> None:
        self.limit = limit
        self._base = base
        self._spill = spill
        self._runs = 0
        self._snapshots: dict[Snapshot, int] = {}
        self._spilled = 0

    @property
    def used(self) -> int:
        return self._base + self._runs + sum(self._snapshots.values())

    def reserve(self, nbytes: int, what: str) -> None:
        """Take bytes for a training run; snapshots make room for it.

        Raises:
            BadRequest: there is no room.
        """
        if self.limit is not None and self._base + self._runs + nbytes > self.limit:
            raise BadRequest(
                f"there is no room for {what}: it takes {_mb(nbytes)}, and {_mb(self._runs)} of "
                f"runs beside {_mb(self._base)} of base models fill the server's --max-memory of "
                f"{_mb(self.limit)}. Finish a session or unload a model, or start the server with "
                "more"
            )
        self._runs += nbytes
        self._make_room(0)

    def release(self, nbytes: int) -> None:
        """Give back what a training run took."""
        self._runs -= nbytes

    def adapter_of(self, snapshot: Snapshot) -> Adapter:
        """A snapshot's weights, read from disk where they are there alone.

        Raises:
            BadRequest: their checkpoint was deleted.
        """
        adapter = snapshot.adapter
        if adapter is None:
            assert snapshot.file is not None, "a snapshot is in memory or on disk"
            try:
                pairs = read_tensors(snapshot.file)
            except FileNotFoundError:
                raise BadRequest(f"the checkpoint in {snapshot.file.parent} was deleted") from None
            adapter = snapshot.model.restored(snapshot.shape, pairs)
        self.keep(snapshot, adapter)
        return adapter

    def keep(self, snapshot: Snapshot, adapter: Adapter) -> None:
        """Keep a snapshot's weights in memory, as those used last, if there is room."""
        if snapshot.dropped:
            return
        self._snapshots.pop(snapshot, None)
        self._make_room(adapter.nbytes)
        snapshot.adapter = adapter
        self._snapshots[snapshot] = adapter.nbytes
        self._make_room(0)

    def drop(self, snapshot: Snapshot) -> None:
        """Nobody will ask for samples of a snapshot any more; what is asked already is done."""
        self._snapshots.pop(snapshot, None)
        snapshot.dropped = True
        if snapshot.own and snapshot.file is not None:
            snapshot.file.unlink(missing_ok=True)

    def _make_room(self, wanted: int) -> None:
        if self.limit is None:
            room = SNAPSHOT_BYTES
        else:
            room = self.limit - self._base - self._runs
        while self._snapshots and sum(self._snapshots.values()) + wanted > room:
            self._to_disk(next(iter(self._snapshots)))

    def _to_disk(self, snapshot: Snapshot) -> None:
        if snapshot.file is None and snapshot.adapter is not None:
            self._spill.mkdir(parents=True, exist_ok=True)
            self._spilled += 1
            file = self._spill / f"{self._spilled}.safetensors"
            write_tensors(file, snapshot.adapter)
            snapshot.file = file
        del self._snapshots[snapshot]
        snapshot.adapter = None


def _mb(nbytes: int) -> str:
    return f"{nbytes / 1e6:.1f} MB"
