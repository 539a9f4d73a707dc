"""What is fitted: examples, of this step or of several, kept with a checkpoint."""

from __future__ import annotations

import dataclasses
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ui_gym_agents.episode import TokenRecord
from ui_gym_agents.store import record_of


@dataclass(frozen=True)
class Example:
    """An episode as it is learned from: the records of its turns that are worth it.

    `heldout` episodes are only measured. `owner` is the process that learns from it in this step.
    """

    id: str
    records: tuple[TokenRecord, ...]
    heldout: bool = False
    owner: int = 0

    @property
    def tokens(self) -> int:
        """Tokens that are learned: those of the answers."""
        return sum(len(record.output_ids) for record in self.records)


class Rounds:
    """The examples of the last `limit` steps (0: of all)."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._rounds: list[list[Example]] = []

    def add(self, examples: Sequence[Example]) -> None:
        """The examples of a further step; the oldest step is forgotten where there are too many."""
        self._rounds.append(list(examples))
        if self.limit:
            del self._rounds[: -self.limit]

    @property
    def examples(self) -> list[Example]:
        """All of them, the oldest first."""
        return [example for examples in self._rounds for example in examples]

    def save(self, path: Path) -> None:
        """Write what the next step still needs, as gzipped JSON: a line a step."""
        unneeded = max(0, len(self._rounds) - self.limit + 1) if self.limit else 0
        kept = self._rounds[unneeded:]
        lines = [json.dumps([dataclasses.asdict(example) for example in r]) + "\n" for r in kept]
        path.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))

    def load(self, path: Path) -> None:
        """Take over what `save` wrote."""
        lines = gzip.decompress(path.read_bytes()).decode().splitlines()
        self._rounds = [[_example(value) for value in json.loads(line)] for line in lines]


def _example(value: dict[str, Any]) -> Example:
    records = tuple(filter(None, map(record_of, value["records"])))
    return Example(str(value["id"]), records, bool(value["heldout"]))


def weighed(example: Example, weigh: str) -> list[TokenRecord]:
    """The records of an example with weights by which a turn, or the whole episode, counts one.

    ``token`` leaves them as they are: every token counts by its own weight, 1 by default.
    """
    if weigh == "token":
        return list(example.records)
    sums = [sum(record.weights) or len(record.output_ids) for record in example.records]
    whole = sum(sums)
    return [
        dataclasses.replace(
            record,
            weights=tuple(
                weight / (own if weigh == "turn" else whole)
                for weight in record.weights or (1.0,) * len(record.output_ids)
            ),
        )
        for record, own in zip(example.records, sums, strict=True)
    ]
