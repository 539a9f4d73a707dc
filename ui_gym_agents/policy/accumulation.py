"""Passes over many records: a micro-batch at a time, smaller ones where memory runs out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import torch
from torch import nn

from ui_gym.errors import UserError
from ui_gym_agents.episode import TokenRecord
from ui_gym_agents.policy import lanes
from ui_gym_agents.policy.memory import free, is_out_of_memory
from ui_gym_agents.policy.parallel import Processes

if TYPE_CHECKING:
    from ui_gym_agents.policy.sharding import Shards

log = logging.getLogger(__name__)

T = TypeVar("T")

_NONE: Any = object()
"""Where a process has fewer results than another."""


class Batched(Protocol):
    """What is needed of a policy."""

    batch_tokens: int
    lanes: int
    """Micro-batches that are worked on at once, in threads."""
    shards: Shards | None
    """What keeps its weights divided among processes, if they are."""

    def batches(self, records: Sequence[TokenRecord]) -> list[list[int]]:
        """Indices of records in micro-batches of at most `batch_tokens` tokens."""

    def parameters(self) -> list[nn.Parameter]:
        """What is trained."""

    def idle(self) -> None:
        """The pass of a process without work beside those that have some; it adds zeros."""


def accumulate(
    policy: Batched,
    records: Sequence[TokenRecord],
    work: Callable[[list[int]], T],
    processes: Processes | None = None,
    owners: Sequence[int] | None = None,
    *,
    threaded: bool = False,
) -> list[T]:
    """Call `work` with the indices of each micro-batch of `records`, and return what it returned.

    `work` makes a forward and a backward pass. Where it runs out of memory, what it had added to
    the gradients is taken back, `batch_tokens` is halved for good, and the rest goes in smaller
    micro-batches; where the weights are divided (`sharding`), that is an error, and `work` makes
    one pass, whose loss hangs on the logits. With several `processes` each works on its share: the
    records that `owners` say (a process's index each), or every so many-th micro-batch. The results
    are those of all (tensors without gradients), and the gradients, which must be none before, are
    summed. With `threaded`, `lanes` of the policy may be worked on at once, to the same bits.

    Raises:
        UserError: one record alone does not fit; the message says what to change.
        ProcessError: another process failed.
    """
    processes = processes or Processes()
    own = _share(policy, records, processes, owners)

    def mine() -> tuple[list[T], int]:
        found, rest = _at_once(policy, work, own) if threaded else ([], own)
        return found + _in_parts(policy, records, work, rest), policy.batch_tokens

    each = processes.gather(mine)
    # The next batches are dealt out alike only if they are divided alike.
    policy.batch_tokens = min(tokens for _, tokens in each)
    processes.sum_gradients(policy.parameters())
    rows = zip_longest(*(found for found, _ in each), fillvalue=_NONE)
    return [value for row in rows for value in row if value is not _NONE]


def measure(
    policy: Batched,
    records: Sequence[TokenRecord],
    work: Callable[[list[int]], Sequence[T]],
    processes: Processes | None = None,
    owners: Sequence[int] | None = None,
) -> list[T]:
    """A value for each of `records`, in their order: `work` returns those of a micro-batch.

    `work` makes a forward pass, here without gradients. Memory that runs out, several `processes`
    and `owners` are as for `accumulate`; every process gets all values.

    Raises:
        UserError: one record alone does not fit; the message says what to change.
        ProcessError: another process failed.
    """
    processes = processes or Processes()
    own = _share(policy, records, processes, owners)

    def valued(part: list[int]) -> list[tuple[int, T]]:
        return list(zip(part, work(part), strict=True))

    def mine() -> tuple[list[list[tuple[int, T]]], int]:
        with torch.no_grad():
            return _in_parts(policy, records, valued, own), policy.batch_tokens

    each = processes.gather(mine)
    policy.batch_tokens = min(tokens for _, tokens in each)
    found = dict(pair for rows, _ in each for row in rows for pair in row)
    return [found[index] for index in range(len(records))]


def _share(
    policy: Batched,
    records: Sequence[TokenRecord],
    processes: Processes,
    owners: Sequence[int] | None,
) -> list[list[int]]:
    """The micro-batches that are this process's."""
    if owners is None:
        return processes.share(policy.batches(records))
    mine = [index for index, owner in enumerate(owners) if owner == processes.index]
    parts = policy.batches([records[index] for index in mine])
    return [[mine[index] for index in part] for part in parts]


def _at_once(
    policy: Batched, work: Callable[[list[int]], T], parts: list[list[int]]
) -> tuple[list[T], list[list[int]]]:
    """`work` on parts in several threads; what it returned, and the parts that are left.

    Parts are left where there is no room for several at once, which there will not be again.
    """
    if min(policy.lanes, len(parts)) < 2:
        return [], parts
    parameters = policy.parameters()
    found: list[T] = []
    for outcome in lanes.side_by_side(parameters, work, parts, min(policy.lanes, len(parts))):
        if outcome.error is not None:
            if not is_out_of_memory(outcome.error):
                raise outcome.error
            policy.lanes = 1
            break
        lanes.add(parameters, outcome.gradients)
        found += outcome.value
    return found, parts[len(found) :]


def _in_parts(
    policy: Batched,
    records: Sequence[TokenRecord],
    work: Callable[[list[int]], T],
    parts: list[list[int]],
) -> list[T]:
    """`work` on each part; where it runs out of memory, on smaller ones."""
    if policy.shards is not None:
        return policy.shards.in_step(parts, work, policy.idle)
    found: list[T] = []
    while parts:
        part = parts.pop(0)
        # Outside of the except clause the failed pass is no longer alive through its traceback.
        out_of_memory = False
        try:
            with _kept_if_it_fails(policy.parameters()):
                found.append(work(part))
        except (torch.OutOfMemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            out_of_memory = True
        if out_of_memory:
            parts = _smaller(policy, records, part, parts)
    return found


def _smaller(
    policy: Batched, records: Sequence[TokenRecord], failed: list[int], others: list[list[int]]
) -> list[list[int]]:
    """All that is left to do, in smaller micro-batches, the failed one's records first."""
    if len(failed) == 1:
        record = records[failed[0]]
        tokens = len(record.prompt_ids) + len(record.output_ids)
        raise UserError(
            f"a single turn of {tokens} tokens does not fit into memory: shorten "
            "--policy.history, make the pictures smaller, set --policy.gradient_checkpointing "
            "true, --policy.dtype bfloat16, or lower --policy.lora_rank"
        )
    free()
    before = policy.batch_tokens
    policy.batch_tokens = max(1, before // 2)
    log.warning(
        "out of memory with micro-batches of %d tokens: from now on they hold %d",
        before, policy.batch_tokens,
    )  # fmt: skip
    divided: list[list[int]] = []
    for part in (failed, *others):
        rows = [[part[i] for i in row] for row in policy.batches([records[i] for i in part])]
        if part is failed and len(rows) == 1:
            # Short rows, or one merged sequence, which a smaller limit leaves as it was.
            half = len(part) // 2
            rows = [part[:half], part[half:]]
        divided += rows
    return divided


@contextmanager
def _kept_if_it_fails(parameters: Sequence[nn.Parameter]) -> Iterator[None]:
    """Gradients so far are set aside, and what is added inside is added to them at the end.

    In the same order as without this, so to the same bits.
    """
    before = [parameter.grad for parameter in parameters]
    for parameter in parameters:
        parameter.grad = None
    try:
        yield
    except BaseException:
        for parameter, held in zip(parameters, before, strict=True):
            parameter.grad = held
        raise
    for parameter, held in zip(parameters, before, strict=True):
        if held is None:
            continue
        if parameter.grad is not None:
            held.add_(parameter.grad)
        parameter.grad = held
