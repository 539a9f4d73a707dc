"""A model whose weights are divided among processes, by FSDP2 (`torch.distributed.fsdp`).

The frozen weights of the text model are divided: each process keeps its part of every layer, and
while a layer is needed all bring it together, in the forward pass and again on the way back. An
adapter and the vision tower are whole in every process, as they are without this: an adapter's
gradients are summed, saved and loaded as ever, and each process looks at as many pictures as it
has.

All take part in every pass, so all make equally many (`in_step`): who has nothing left makes one
over a single token, which adds zeros. Between learning, the weights are brought together once, so
that each process can sample by itself; where a server samples they stay divided.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard

from ui_gym.errors import UserError
from ui_gym_agents.policy.eyes import sees
from ui_gym_agents.policy.memory import is_out_of_memory
from ui_gym_agents.policy.model import is_vision

if TYPE_CHECKING:
    from ui_gym_agents.policy.parallel import Processes

log = logging.getLogger(__name__)

T = TypeVar("T")


class Shards:
    """A model's weights, divided among `processes` from now on.

    Args:
        model: The bare model, in main memory, with its adapter inside: what is trained stays whole.
        processes: Those that divide it; all make this at once.
        device: Where this process computes.
        sampled: Whether this process samples, and so needs the weights whole at times.

    Raises:
        UserError: there is nobody to divide with, or weights beside an adapter's are trained.
    """

    def __init__(
        self, model: Any, processes: Processes, device: str, *, sampled: bool = True
    ) -> None:
        if processes.count == 1:
            raise UserError(ALONE)
        kept = {p for n, p in model.named_parameters() if p.requires_grad or sees(n)}
        if any(p.requires_grad and "lora_" not in n for n, p in model.named_parameters()):
            raise UserError(ALL_TRAINED)
        self.sampled = sampled
        self._processes = processes
        where = torch.device(device)
        mesh = init_device_mesh(where.type, (processes.count,))
        for parameter in kept:
            parameter.data = parameter.data.to(where)
        # A layer at a time: it alone is whole on the device before it is divided.
        for layer in _layers(model):
            fully_shard(layer, mesh=mesh, ignored_params=kept)
        fully_shard(model, mesh=mesh, ignored_params=kept)
        self._root: FSDPModule = model
        self._parts = [part for part in model.modules() if isinstance(part, FSDPModule)]
        self.unite()

    def divide(self) -> None:
        """Keep this process's part alone; no other need do anything."""
        for part in self._parts:
            part.reshard()
            # The root holds what the last layer needs: going back begins with it.
            part.set_reshard_after_forward(part is not self._root, recurse=False)

    def unite(self) -> None:
        """Bring the weights together for sampling, where this process samples; all call this.

        Raises:
            ProcessError: another process failed.
        """
        if not self.sampled:
            return
        self._processes.gather(lambda: None)  # nobody waits for weights of one that has failed
        with self._processes.in_step():
            # Whatever state it is in, so that none is left out.
            self.divide()
            for part in self._parts:
                part.set_reshard_after_forward(False, recurse=False)
                part.unshard()

    def in_step(
        self,
        parts: Sequence[list[int]],
        work: Callable[[list[int]], T],
        idle: Callable[[], object],
    ) -> list[T]:
        """`work` on each of this process's `parts`, one pass each; `idle` where others have more.

        Raises:
            UserError: a micro-batch does not fit into memory; others wait in the middle of the
                pass, so that it cannot be tried again in smaller ones.
            ProcessError: another process failed.
        """
        found: list[T] = []
        left = list(parts)
        self.divide()
        while any(self._processes.gather(lambda: bool(left))):
            with self._processes.in_step():
                if not left:
                    idle()
                    continue
                try:
                    found.append(work(left.pop(0)))
                except (torch.OutOfMemoryError, RuntimeError) as error:
                    if not is_out_of_memory(error):
                        raise
                    raise UserError(TOO_LARGE) from error
        return found


ALONE = (
    "--policy.shard divides the weights among processes, and there is one: start several by "
    "accelerate launch or torchrun, or leave it out (--policy.shard false)"
)
ALL_TRAINED = (
    "--policy.shard divides frozen weights, and with --policy.lora_rank 0 all are trained: set "
    "--policy.lora_rank above 0, or leave it out (--policy.shard false)"
)
QUANTIZED = (
    "--policy.shard divides weights as they are, and --policy.quantize packs them: leave one of "
    "them out"
)
TOO_LARGE = (
    "a micro-batch does not fit into memory, and with --policy.shard it cannot be tried again in "
    "smaller ones: lower --policy.batch_tokens, set --policy.gradient_checkpointing true, shorten "
    "--policy.history, or start more processes; then --resume"
)


def _layers(model: nn.Module) -> list[nn.Module]:
    """The layers of the text model."""
    stacks = [
        part
        for name, part in model.named_modules()
        if isinstance(part, nn.ModuleList) and name.endswith("layers") and not is_vision(name)
    ]
    return [layer for stack in stacks for layer in stack]
