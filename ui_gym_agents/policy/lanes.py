"""Backward passes side by side: micro-batches in threads, to the bits that one thread gives.

A model that is too small for its operations to be worth two cores can learn from two micro-batches
at once: torch lets go of Python's lock inside of each operation. Each micro-batch's gradients are
caught before they are added up, and added in the order of the micro-batches.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

T = TypeVar("T")

Gradients = dict[int, Tensor]
"""By the parameter's number."""


@dataclass
class Outcome(Generic[T]):
    """What became of a micro-batch: `value` holds what its work returned, if it did not fail."""

    gradients: Gradients = field(default_factory=dict)
    value: list[T] = field(default_factory=list)
    error: BaseException | None = None


def side_by_side(
    parameters: Sequence[nn.Parameter],
    work: Callable[[list[int]], T],
    parts: Sequence[list[int]],
    lanes: int,
) -> list[Outcome[T]]:
    """`work` on each of `parts`, `lanes` of them at once, one of those in this thread.

    `work` makes its backward pass in the thread in which it is called. The gradients of
    `parameters` are left as they were; those of each part are in its outcome. Returns the outcomes
    of the first parts, in order, up to all or to one that failed: none begins after a failure.
    """
    outcomes: list[Outcome[T]] = [Outcome() for _ in parts]
    waiting = iter(range(len(parts)))
    taking = threading.Lock()
    failed = threading.Event()
    with _caught(parameters) as catch:

        def lane() -> None:
            while not failed.is_set():
                with taking:
                    number = next(waiting, None)
                if number is None:
                    return
                outcome = outcomes[number]
                try:
                    with catch(outcome.gradients):
                        outcome.value.append(work(parts[number]))
                except BaseException as error:
                    outcome.error = error
                    failed.set()

        def other() -> None:
            torch.set_num_threads(1)  # of this thread's operations: another one's are its own
            lane()

        threads = [threading.Thread(target=other, name="ui-gym-lane") for _ in range(lanes - 1)]
        for thread in threads:
            thread.start()
        lane()
        for thread in threads:
            thread.join()
    first = next((i for i, outcome in enumerate(outcomes) if not outcome.value), len(outcomes))
    return outcomes[: first + 1]


@contextmanager
def _caught(
    parameters: Sequence[nn.Parameter],
) -> Iterator[Callable[[Gradients], _Catching]]:
    """Inside, what a thread's backward passes find goes where the thread says, and nowhere else."""
    here = threading.local()

    def hook(number: int) -> Callable[[Tensor], Tensor]:
        def catch(gradient: Tensor) -> Tensor:
            found: Gradients = here.found
            found[number] = found[number] + gradient if number in found else gradient
            return torch.zeros_like(gradient)

        return catch

    before = [parameter.grad for parameter in parameters]
    handles = [parameter.register_hook(hook(number)) for number, parameter in enumerate(parameters)]
    try:
        for parameter in parameters:
            parameter.grad = None
        yield lambda found: _Catching(here, found)
    finally:
        for handle in handles:
            handle.remove()
        for parameter, held in zip(parameters, before, strict=True):
            parameter.grad = held


class _Catching:
    """A thread's gradients go to `found` inside."""

    def __init__(self, here: threading.local, found: Gradients) -> None:
        self._here, self._found = here, found

    def __enter__(self) -> None:
        self._here.found = self._found

    def __exit__(self, *error: object) -> None:
        del self._here.found


def add(parameters: Sequence[nn.Parameter], gradients: Gradients) -> None:
    """Add what was caught, as a backward pass of its own would have."""
    for number, gradient in gradients.items():
        parameter = parameters[number]
        if parameter.grad is None:
            parameter.grad = gradient
        else:
            parameter.grad.add_(gradient)
