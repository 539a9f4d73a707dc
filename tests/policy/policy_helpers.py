"""What tests of the policy share: views, the records of answers, and how far numbers differ."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from ui_gym_agents.agents.agent import View
from ui_gym_agents.episode import TokenRecord
from ui_gym_agents.policy import PromptBuilder, VLMPolicy
from ui_gym_agents.store import ScreenshotStore

Make = Callable[..., VLMPolicy]
MakeView = Callable[..., View]
KINDS = ["qwen2_vl", "qwen2_5_vl", "qwen3_vl", "llava", "idefics3", "smolvlm"]
TWO_PICTURES = PromptBuilder(system="Look.", history=2, recall=2)


FULL = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried ..."),
]
"""How torch says that there is no memory left."""


def mixed(make_view: MakeView, rows: int = 7) -> list[View]:
    """Views of different lengths; some share goal and picture, some show two pictures."""
    views = []
    for i in range(rows):
        seeds = (i // 2, i) if i % 3 == 0 else (i // 2,)
        views.append(make_view("Enter row 3" + " now" * (i // 2), seeds, noise=100 + i))
    return views


def act(policy: VLMPolicy, views: Sequence[View]) -> list[TokenRecord]:
    """What the policy says to the views, as records."""
    records = [decision.tokens for decision in policy.act(views)]
    assert all(record is not None for record in records)
    return records  # type: ignore[return-value]


def difference(
    policy: VLMPolicy, records: Sequence[TokenRecord], screenshots: ScreenshotStore,
    share: bool | None = None,
) -> float:  # fmt: skip
    """The largest difference between recorded and recomputed log-probabilities."""
    with torch.no_grad():
        found = policy.logprobs(records, screenshots, share=share)
    for values, record in zip(found, records, strict=True):
        assert values.shape == (len(record.output_ids),) == (len(record.logprobs),)
    pairs = zip(found, records, strict=True)
    return max((v - torch.tensor(r.logprobs)).abs().max().item() for v, r in pairs)


def assert_alike(
    found: Sequence[torch.Tensor], expected: Sequence[torch.Tensor], tolerance: float = 1e-3
) -> None:
    """Equal as far as single precision goes, and not all zero."""
    assert max(values.abs().max().item() for values in expected) > 0.01
    for mine, theirs in zip(found, expected, strict=True):
        assert torch.allclose(mine, theirs, atol=tolerance, rtol=tolerance)


def learned(
    policy: VLMPolicy, records: Sequence[TokenRecord], screenshots: ScreenshotStore,
    share: bool | None = None,
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:  # fmt: skip
    """Log-probabilities, and the gradients of a sum in which every token weighs otherwise."""
    policy.net.zero_grad()
    found = policy.logprobs(records, screenshots, share=share)
    together = torch.cat(found)
    torch.linspace(-1, 1, len(together)).dot(together).backward()
    grads = [p.grad.clone() for p in policy.parameters() if p.grad is not None]
    assert len(grads) == len(policy.parameters())
    assert all(grad.isfinite().all() for grad in grads)
    return [values.detach() for values in found], grads


def shake(policy: VLMPolicy, seed: int = 0) -> None:
    """Move the trained weights away from where they started."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)


def in_two_processes(script: str, *arguments: str | Path, seconds: float) -> None:
    """Run a script of this folder twice, with what ``accelerate launch`` tells two processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    children = [
        subprocess.Popen(
            [sys.executable, Path(__file__).with_name(script), *arguments],
            env={**os.environ, "WORLD_SIZE": "2", "RANK": str(rank), "LOCAL_RANK": str(rank),
                 "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "ACCELERATE_USE_CPU": "true",
                 "OMP_NUM_THREADS": "1"},
        )
        for rank in range(2)
    ]  # fmt: skip
    try:
        assert [child.wait(timeout=seconds) for child in children] == [0, 0]
    finally:
        for child in children:
            child.kill()
            child.wait()
