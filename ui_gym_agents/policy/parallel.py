"""Several processes that learn as one, a GPU each: `accelerate launch` or `torchrun` starts them.

Every process holds the whole policy and has the same records; each takes its share of the
micro-batches, and the gradients are summed. As trainers divide by what all records weigh, the sum
is what one process would have computed.

What processes tell each other goes over gloo, whatever the gradients go over: it waits as long as
the main process plays, and it notices when a process has ended. Whoever fails says so at the next
meeting, so that all end with the reason, and none waits for ever.

UIGymError
└── ProcessError   another process failed or has ended
"""

from __future__ import annotations

import io
import logging
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self, TypeVar

from ui_gym.errors import UIGymError, UserError

if TYPE_CHECKING:
    import torch
    from torch import nn

    from ui_gym.contract.device import Image

log = logging.getLogger(__name__)

T = TypeVar("T")

LONGEST_WAIT = timedelta(days=7)
"""How long the others wait for the main process, which may be playing or evaluating."""


class ProcessError(UIGymError):
    """Another process of the run failed or has ended."""


class Processes:
    """This process among its peers. `index` is from 0 to `count` - 1; 0 is the main one.

    Alone (`Processes()`), it has no peers and does nothing. `of_launch` asks accelerate.
    """

    def __init__(self, index: int = 0, count: int = 1, local: int = 0) -> None:
        self.index = index
        self.count = count
        self.local = local
        """This process's number on its machine, which is its GPU's."""
        self._talk: Any = None
        self._left = False
        if count > 1:
            from torch import distributed

            self._talk = distributed.new_group(backend="gloo", timeout=LONGEST_WAIT)

    @staticmethod
    def launched() -> int:
        """How many processes ``accelerate launch`` (or torchrun) started; 1 where neither did."""
        return int(os.environ.get("WORLD_SIZE", "1"))

    @classmethod
    def of_launch(cls, *, cpu: bool = False) -> Processes:
        """Join those that ``accelerate launch`` (or torchrun) started; alone where neither did.

        `cpu` sums gradients by gloo rather than nccl.

        Raises:
            UserError: there are peers, but accelerate is not installed.
        """
        if cls.launched() == 1:
            return cls()
        try:
            from accelerate import PartialState  # type: ignore[import-untyped]
        except ImportError:
            raise UserError(
                "several processes were launched, but accelerate is missing: pip install accelerate"
            ) from None
        state = PartialState(cpu=cpu)
        return cls(state.process_index, state.num_processes, state.local_process_index)

    def __deepcopy__(self, memo: object) -> Self:
        """Copies of a policy have the same peers."""
        return self

    @property
    def is_main(self) -> bool:
        return self.index == 0

    def share(self, parts: Sequence[T]) -> list[T]:
        """Every `count`-th of `parts`, from `index` on: each part goes to one process."""
        return list(parts[self.index :: self.count])

    def gather(self, make: Callable[[], T]) -> list[T]:
        """What `make` returns in each process, in every process, by their indices.

        Tensors arrive in main memory, without gradients.

        Raises:
            ProcessError: it failed in another process.
        """
        if self.count == 1:
            return [make()]
        with self.ending_together():
            mine = make()
        sent = self._meet("gather", _packed(mine))
        return [pickle.loads(values) for values in sent]  # noqa: S301 - this run's own processes

    def from_main(self, make: Callable[[], T]) -> T:
        """What `make` returns in the main process, which alone calls it, in every process.

        Raises:
            ProcessError: another process failed: in the others, where it was `make`.
        """
        if self.count == 1:
            return make()
        from torch import distributed

        sent: list[T | None] = [None]
        if self.is_main:
            with self.ending_together():
                sent = [make()]
        self._meet("from_main")
        with _peers_lost():
            distributed.broadcast_object_list(sent, src=0, group=self._talk)
        return sent[0]  # type: ignore[return-value]  # None only where `make` returned it

    def hand_out(self, make: Callable[[], Sequence[Iterable[Image]]]) -> Iterator[Image]:
        """The pictures that the main process has for this one, one after the other.

        `make`, called by the main process alone, gives those of each process by its index; the main
        one keeps its own, and gets none. A picture goes by itself: none is held twice on the way.

        Raises:
            ProcessError: another process failed: in the others, where it was `make`.
        """
        if self.count == 1:
            return
        parts: Sequence[Iterable[Image]] = []
        if self.is_main:
            with self.ending_together():
                parts = make()
        self._meet("hand_out")
        if self.is_main:
            with self.ending_together():
                self._send_all(parts)
        else:
            yield from self._received(0)
        self._meet("hand_out, all")

    def hand_in(self, make: Callable[[], Iterable[Image]], take: Callable[[Image], object]) -> None:
        """Give the main process the pictures that `make` gives in each of the others.

        `take` is called in the main process alone, with a picture at a time: those of process 1
        first, each one's in its order.

        Raises:
            ProcessError: another process failed.
        """
        if self.count == 1:
            return
        self._meet("hand_in")
        with self.ending_together():
            if self.is_main:
                self._take_in(take)
            else:
                self._send(make(), 0)
        self._meet("hand_in, all")

    def _take_in(self, take: Callable[[Image], object]) -> None:
        """To the last picture, whatever fails: nobody hears of it while he sends."""
        failed: Exception | None = None
        for index in range(1, self.count):
            for picture in self._received(index):
                try:
                    if failed is None:
                        take(picture)
                except Exception as error:  # raised below
                    failed = error
        if failed is not None:
            raise failed

    def _send_all(self, parts: Sequence[Iterable[Image]]) -> None:
        """Pictures to the others in turn; where one is gone, all hear of it."""
        failed: Exception | None = None
        for index, pictures in enumerate(parts):
            if index == self.index:
                continue
            try:
                self._send(() if failed else pictures, index)
            except ProcessError:
                raise
            except Exception as error:  # raised below
                failed = error
        if failed is not None:
            raise failed

    def _send(self, pictures: Iterable[Image], index: int) -> None:
        """Pictures to another process; an empty shape is their end, even where one is gone."""
        import torch
        from torch import distributed

        try:
            for picture in pictures:
                with _peers_lost():
                    distributed.send(torch.tensor(picture.shape), index, group=self._talk)
                    # A copy: torch takes no array that must not be written.
                    distributed.send(torch.tensor(picture), index, group=self._talk)
        finally:
            with _peers_lost():
                distributed.send(torch.zeros(3, dtype=torch.int64), index, group=self._talk)

    def _received(self, index: int) -> Iterator[Image]:
        """The pictures that another process sends."""
        import torch
        from torch import distributed

        shape = torch.ones(3, dtype=torch.int64)
        while True:
            with _peers_lost():
                distributed.recv(shape, index, group=self._talk)
                if not shape.any():
                    return
                received = torch.empty(shape.tolist(), dtype=torch.uint8)
                distributed.recv(received, index, group=self._talk)
            yield received.numpy()

    @contextmanager
    def ending_together(self) -> Iterator[None]:
        """Whatever fails inside is told to the others, who end with it as soon as they meet."""
        try:
            yield
        except ProcessError:
            raise  # The others know.
        except Exception as error:
            known = isinstance(error, UIGymError)
            self._say_failed(str(error) if known else f"{type(error).__name__}: {error}")
            raise

    @contextmanager
    def in_step(self) -> Iterator[None]:
        """Around what all do together, a collective step at a time (`sharding`).

        The others may wait in the middle of it, where no word reaches them: whoever fails leaves
        at once, and they see that it has ended.

        Raises:
            ProcessError: another process has ended; or this one failed, which the main process
                cannot tell in its place.
        """
        try:
            yield
        except BaseException as error:
            self._left = self.count > 1
            if _is_of_peers(error):
                raise ProcessError(_what_became_of(error)) from error
            if isinstance(error, UserError) and not self.is_main:
                raise ProcessError(f"process {self.index} failed: {error}") from error
            raise

    def sum_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Add up each parameter's gradient over all processes, in place.

        A parameter without a gradient in one process counts as zero there; one that has none in
        any keeps none.
        """
        trained = list(parameters)
        if self.count == 1 or not trained:
            return
        import torch

        device = trained[0].device
        have = torch.tensor([float(p.grad is not None) for p in trained], device=device)
        with _peers_lost():
            torch.distributed.all_reduce(have)
        for parameter, somewhere in zip(trained, have.tolist(), strict=True):
            if not somewhere:
                continue
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            with _peers_lost():
                torch.distributed.all_reduce(parameter.grad)

    def close(self) -> None:
        """Take leave, when all are done. Closing twice is harmless."""
        if self.count > 1 and not self._left:
            from torch import distributed

            self._left = True
            distributed.destroy_process_group()

    def _meet(self, what: str, value: Any = None) -> list[Any]:
        """Wait for all processes to come here, and return the value of each.

        Raises:
            ProcessError: one of them failed, has ended, or came for something else.
        """
        from torch import distributed

        if self._left:
            raise ProcessError(f"this process has failed before, and meets nobody for {what}")
        said: list[Any] = [None] * self.count
        with _peers_lost():
            distributed.all_gather_object(said, (what, value), group=self._talk)
        if any(theirs == _FAILED for theirs, _ in said):
            # Who failed leaves at once, and may take what it said along: not before all have it.
            with suppress(ProcessError), _peers_lost():
                distributed.all_gather_object([None] * self.count, None, group=self._talk)
        for index, (theirs, sent) in enumerate(said):
            who = "the main process" if index == 0 else f"process {index}"
            if theirs == _FAILED and index != self.index:
                raise ProcessError(f"{who} failed: {sent}")
            if theirs != what:
                raise ProcessError(f"{who} is out of step: it does {theirs}, and this one {what}")
        return [sent for _, sent in said]

    def _say_failed(self, why: str) -> None:
        """Tell the others at the next meeting that this process has failed, and why; then leave."""
        if self.count == 1 or self._left:
            return
        # They came for something else, or are gone.
        with suppress(ProcessError):
            self._meet(_FAILED, why)
        self._left = True


def main_knows() -> Any:
    """For `from_main`, where this process cannot be the main one."""
    raise AssertionError("what the main process alone knows is asked of another one")


_FAILED = "failed"


@contextmanager
def _peers_lost() -> Iterator[None]:
    """What torch says of a peer whose process has ended, in our words."""
    try:
        yield
    except RuntimeError as error:
        log.debug("torch.distributed: %s", error)
        raise ProcessError(_what_became_of(error)) from error


_ENDED = "another process of this run has ended; what it said last tells why"
_SILENT = (
    "another process of this run did not answer in time: it, or its machine, is stopped or cut off"
)


def _what_became_of(error: BaseException) -> str:
    """What torch says of a peer, in our words."""
    return _SILENT if "timed out" in str(error).lower() else _ENDED


def _is_of_peers(error: BaseException) -> bool:
    """Whether torch says by it that a peer could not be reached."""
    from torch.distributed import DistError

    return isinstance(error, DistError) or (
        isinstance(error, RuntimeError) and "gloo" in str(error).lower()
    )


class _Pickler(pickle.Pickler):
    """Takes tensors along as plain numbers: a peer has no business with this process's GPU."""

    def reducer_override(self, value: Any) -> Any:
        import torch

        if not isinstance(value, torch.Tensor):
            return NotImplemented
        plain = value.detach().cpu().contiguous().reshape(-1)
        read = plain.view(torch.uint8).numpy().tobytes()
        return _unpacked, (read, value.dtype, tuple(value.shape))


def _unpacked(read: bytes, dtype: torch.dtype, shape: tuple[int, ...]) -> torch.Tensor:
    import torch

    if not read:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(bytearray(read), dtype=dtype).reshape(shape)


def _packed(value: Any) -> bytes:
    buffer = io.BytesIO()
    _Pickler(buffer).dump(value)
    return buffer.getvalue()
