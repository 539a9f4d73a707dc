"""Dividing records into micro-batches: equal prompts and merged turns together, lengths alike."""

from __future__ import annotations

from collections.abc import Sequence

from ui_gym_agents.episode import TokenRecord
from ui_gym_agents.policy.merging import Merged, merge


def micro_batches(records: Sequence[TokenRecord], tokens: int) -> list[list[int]]:
    """Indices of `records` in micro-batches of at most `tokens` tokens, padding included.

    A prompt counts once a micro-batch, since rows that share it share its pass. A record that is
    longer than `tokens` is a micro-batch of its own.
    """
    found: list[list[int]] = []
    load = _Load()
    for i in sorted(range(len(records)), key=lambda i: _bucket(records[i])):
        grown = load.plus(records[i])
        if found and grown.tokens <= tokens:
            found[-1].append(i)
            load = grown
        else:
            found.append([i])
            load = _Load().plus(records[i])
    return found


def merged_batches(records: Sequence[TokenRecord], tokens: int) -> list[list[int]]:
    """As `micro_batches`, but turns that make one sequence (`merging.merge`) stay together.

    A sequence counts once with all its turns. Turns that are alone come first, as `micro_batches`
    puts them; a batch holds either those or sequences of several.
    """
    sequences = merge(records)
    alone = sorted(s.members[0] for s in sequences if len(s.members) == 1)
    batches = [
        [alone[i] for i in batch] for batch in micro_batches([records[i] for i in alone], tokens)
    ]
    longer = sorted((s for s in sequences if len(s.members) > 1), key=lambda s: len(s.ids))
    return batches + [
        [i for sequence in row for i in sequence.members] for row in _rows(longer, tokens)
    ]


def _rows(sequences: Sequence[Merged], tokens: int) -> list[list[Merged]]:
    """Sequences, the shortest first, in batches of at most `tokens` tokens with the padding."""
    found: list[list[Merged]] = []
    for sequence in sequences:
        if found and (len(found[-1]) + 1) * len(sequence.ids) <= tokens:
            found[-1].append(sequence)
        else:
            found.append([sequence])
    return found


class _Load:
    """The size of a micro-batch. Records come sorted, so equal prompts follow each other."""

    def __init__(self) -> None:
        self.rows = self.prompts = self.longest = self.answer = 0
        self.last: tuple[object, ...] | None = None

    @property
    def tokens(self) -> int:
        return self.prompts * self.longest + self.rows * self.answer

    def plus(self, record: TokenRecord) -> _Load:
        prompt = (record.prompt_ids, record.images)
        grown = _Load()
        grown.rows = self.rows + 1
        grown.prompts = self.prompts + (prompt != self.last)
        grown.longest = max(self.longest, len(record.prompt_ids))
        grown.answer = max(self.answer, len(record.output_ids))
        grown.last = prompt
        return grown


def _bucket(record: TokenRecord) -> tuple[object, ...]:
    return len(record.prompt_ids), record.prompt_ids, record.images, len(record.output_ids)
