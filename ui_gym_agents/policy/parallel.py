"""Several processes that learn as one, a GPU each: `accelerate launch` or `torchrun` starts them.

Every process holds the whole policy and has the same records; each takes its share of the
micro-batches, and the gradients are summed. As trainers divide by what all records weigh, the sum
is what one process would have computed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import torch
from torch import nn

from ui_gym.errors import UserError

T = TypeVar("T")


class Processes:
    """This process among its peers. `index` is from 0 to `count` - 1; 0 is the main one.

    Alone (`Processes()`), it has no peers and does nothing. `of_launch` asks accelerate.
    """

    def __init__(self, index: int = 0, count: int = 1, local: int = 0) -> None:
        self.index = index
        self.count = count
        self.local = local
        """This process's number on its machine, which is its GPU's."""

    @classmethod
    def of_launch(cls, *, cpu: bool = False) -> Processes:
        """What ``accelerate launch`` (or torchrun) started; alone where neither did.

        `cpu` joins the processes by gloo rather than nccl.

        Raises:
            UserError: there are peers, but accelerate is not installed.
        """
        if int(os.environ.get("WORLD_SIZE", "1")) == 1:
            return cls()
        try:
            from accelerate import PartialState  # type: ignore[import-untyped]
        except ImportError:
            raise UserError(
                "several processes were launched, but accelerate is missing: pip install accelerate"
            ) from None
        state = PartialState(cpu=cpu)
        return cls(state.process_index, state.num_processes, state.local_process_index)

    @property
    def is_main(self) -> bool:
        return self.index == 0

    def share(self, parts: Sequence[T]) -> list[T]:
        """Every `count`-th of `parts`, from `index` on: each part goes to one process."""
        return list(parts[self.index :: self.count])

    def gather(self, values: Sequence[T]) -> list[T]:
        """The values of all processes, in the order of the parts that `share` dealt out."""
        if self.count == 1:
            return list(values)
        gathered: list[list[T] | None] = [None] * self.count
        torch.distributed.all_gather_object(gathered, list(values))
        rows = [row for row in gathered if row is not None]
        longest = max(len(row) for row in rows)
        return [row[i] for i in range(longest) for row in rows if i < len(row)]

    def from_main(self, make: Callable[[], T]) -> T:
        """What `make` returns in the main process, which alone calls it, in every process.

        Raises:
            UserError: in the others, where it failed in the main one, so that none waits for ever.
        """
        if self.count == 1:
            return make()
        sent: list[tuple[str, T | None]] = [("", None)]
        error: BaseException | None = None
        if self.is_main:
            try:
                sent = [("", make())]
            except BaseException as failure:
                error, sent = failure, [(str(failure) or type(failure).__name__, None)]
        torch.distributed.broadcast_object_list(sent, src=0)
        if error is not None:
            raise error
        said, value = sent[0]
        if said:
            raise UserError(f"the main process failed: {said}")
        return value  # type: ignore[return-value]  # None only where `make` returned it

    def sum_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Add up each parameter's gradient over all processes, in place.

        A parameter without a gradient in one process counts as zero there; one that has none in
        any keeps none.
        """
        if self.count == 1:
            return
        trained = list(parameters)
        if not trained:
            return
        device = trained[0].device
        have = torch.tensor([float(p.grad is not None) for p in trained], device=device)
        torch.distributed.all_reduce(have)
        for parameter, somewhere in zip(trained, have.tolist(), strict=True):
            if not somewhere:
                continue
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            torch.distributed.all_reduce(parameter.grad)
