"""Turns of one conversation as one sequence, so that its tokens are computed once, not once a turn.

A turn whose prompt begins with all that was there before it, prompt and answer, id for id and
picture for picture, goes on where that sequence ended. Ids alone do not tell: each picture's
placeholders are the same ids, so that past the limit of shown pictures two windows of equal text
hold different ones. Such turns must not be merged, which is why pictures' hashes are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ui_gym_agents.episode import TokenRecord

_Key = tuple[tuple[int, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Merged:
    """One sequence that holds the turns `members`, indices of the records that it was made of.

    `ids` and `images` are the last turn's prompt with its answer, and the pictures in it. The
    answer of ``members[k]`` is ``ids[start:end]`` with ``start, end = spans[k]``.
    """

    ids: tuple[int, ...]
    images: tuple[str, ...]
    members: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]


def merge(records: Sequence[TokenRecord]) -> list[Merged]:
    """`records` as few sequences, each turn in exactly one, whatever order they come in.

    A turn joins the longest sequence that its prompt extends; what extends none begins one. Equal
    records are never made one. Sequences come in the order of their first members' prompt lengths.
    """
    found: list[Merged] = []
    ends: dict[_Key, list[int]] = {}
    lengths: set[tuple[int, int]] = set()
    order = sorted(range(len(records)), key=lambda i: len(records[i].prompt_ids))
    for index in order:
        record = records[index]
        place = _extended(record, ends, lengths)
        if place is None:
            place = len(found)
            found.append(Merged((), (), (), ()))
        found[place] = _appended(found[place], index, record)
        key = (found[place].ids, found[place].images)
        ends.setdefault(key, []).append(place)
        lengths.add((len(key[0]), len(key[1])))
    return found


def _extended(
    record: TokenRecord, ends: dict[_Key, list[int]], lengths: set[tuple[int, int]]
) -> int | None:
    """The sequence that the record's prompt goes on from; it is taken from `ends`."""
    ids, images = record.prompt_ids, record.images
    for tokens, pictures in sorted(lengths, reverse=True):
        if tokens > len(ids) or pictures > len(images):
            continue
        places = ends.get((ids[:tokens], images[:pictures]))
        if places:
            return places.pop(0)
    return None


def _appended(sequence: Merged, index: int, record: TokenRecord) -> Merged:
    ids = record.prompt_ids + record.output_ids
    span = (len(record.prompt_ids), len(ids))
    return Merged(ids, record.images, (*sequence.members, index), (*sequence.spans, span))
