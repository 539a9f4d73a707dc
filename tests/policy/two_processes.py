"""Run by `test_accumulation` in each of two processes: a tiny step, and what came of it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2]))

from policy_helpers import act, shake

from tests.policy.tiny_models import picture
from ui_gym_agents.agents.agent import View
from ui_gym_agents.policy import PromptBuilder, VLMPolicy
from ui_gym_agents.policy.parallel import ProcessError, Processes
from ui_gym_agents.store import ScreenshotStore


def gradients(folder: Path, processes: Processes) -> dict[str, torch.Tensor]:
    """Of a loss over seven turns, in micro-batches of one or two, and the micro-batches' losses.

    Then of the same where the last process's memory holds one turn at a time: the others, too,
    make smaller micro-batches from then on.
    """
    policy = VLMPolicy.from_config(
        folder, lora_rank=2, max_new_tokens=6, threads=1, batch_tokens=60,
        prompt=PromptBuilder.bare(),
    )  # fmt: skip
    shake(policy)
    screenshots = ScreenshotStore()
    views = [View(0, f"Enter row {i}", [picture(i)], noise=i) for i in range(7)]
    for view in views:
        screenshots.put(view.screenshot)
    records = processes.from_main(lambda: act(policy, views))

    def work(part: list[int]) -> float:
        values = torch.cat(policy.logprobs([records[i] for i in part], screenshots))
        loss = -values.sum() / 7
        loss.backward()
        return loss.item()

    def short_of_memory(part: list[int]) -> float:
        if len(part) > 1 and processes.index == processes.count - 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return work(part)

    found: dict[str, torch.Tensor] = {}
    for name, doing in (("plenty", work), ("little", short_of_memory)):
        policy.net.zero_grad()
        losses = policy.accumulate(records, doing, processes)
        grads = [p.grad for p in policy.parameters() if p.grad is not None]
        found |= {f"{name} {i}": grad for i, grad in enumerate(grads)}
        found[f"{name} losses"] = torch.tensor(losses if name == "plenty" else [sum(losses)])
        found[f"{name} limit"] = torch.tensor([float(policy.batch_tokens)])
    return found


if __name__ == "__main__":
    among = Processes.of_launch(cpu=True)
    found = gradients(Path(sys.argv[1]), among)
    save_file(found, f"{sys.argv[2]}/{among.index}-of-{among.count}.safetensors")
    # A failure of the main process is everybody's, and nobody waits for it.
    with pytest.raises(ZeroDivisionError if among.is_main else ProcessError, match="integer"):
        among.from_main(lambda: 1 // 0)
