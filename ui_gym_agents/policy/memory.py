"""Memory that runs out: how torch says so, and answers in smaller batches."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import torch

from ui_gym.errors import UserError

log = logging.getLogger(__name__)

Q = TypeVar("Q")
A = TypeVar("A")


class Sampler(Protocol):
    """What is needed of a policy."""

    batch_rows: int


def is_out_of_memory(error: BaseException) -> bool:
    """Whether torch, on a GPU or a CPU, says that there is not enough memory."""
    if isinstance(error, torch.OutOfMemoryError):
        return True
    said = str(error).lower()
    return isinstance(error, RuntimeError) and (
        "out of memory" in said or "can't allocate memory" in said
    )


def free() -> None:
    """Give back what torch holds of a GPU's memory and does not use."""
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def in_rows(
    policy: Sampler,
    questions: Sequence[Q],
    answer: Callable[[Sequence[Q]], list[A]],
    relieve: Callable[[], bool] = lambda: False,
) -> list[A]:
    """An answer to each question, asked `batch_rows` at a time.

    Where `answer` runs out of memory, `relieve` lets go of what can be done without; where it held
    nothing, `batch_rows` is halved for good, and the rest goes in smaller batches.

    Raises:
        UserError: one question alone does not fit; the message says what to change.
    """
    found: list[A] = []
    while len(found) < len(questions):
        part = questions[len(found) : len(found) + policy.batch_rows]
        try:
            found += answer(part)
            continue
        except (torch.OutOfMemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
        # Outside of the except clause the failed pass is no longer alive through its traceback.
        if relieve():
            free()
            continue
        if len(part) == 1:
            raise UserError(
                "sampling a single turn does not fit into memory: shorten --policy.history, make "
                "the pictures smaller, set --policy.dtype bfloat16, or lower "
                "--policy.max_new_tokens"
            )
        free()
        policy.batch_rows = len(part) // 2
        log.warning(
            "out of memory with %d turns sampled at a time: from now on at most %d",
            len(part), policy.batch_rows,
        )  # fmt: skip
    return found
