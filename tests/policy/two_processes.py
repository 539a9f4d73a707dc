"""Run by `test_accumulation` in each of two processes: a tiny step, and what came of it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

sys.path.insert(0, str(Path(__file__).parent))

from policy_helpers import act, shake
from tiny_models import picture

from ui_gym.errors import UserError
from ui_gym_agents.agent import View
from ui_gym_agents.policy import PromptBuilder, VLMPolicy
from ui_gym_agents.policy.parallel import Processes
from ui_gym_agents.store import ScreenshotStore


def gradients(folder: Path, processes: Processes) -> dict[str, torch.Tensor]:
    """Of a loss over seven turns, in micro-batches of one or two, and the micro-batches' losses."""
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

    losses = policy.accumulate(records, work, processes)
    found = {str(i): p.grad for i, p in enumerate(policy.parameters()) if p.grad is not None}
    return {**found, "losses": torch.tensor(losses)}


if __name__ == "__main__":
    among = Processes.of_launch(cpu=True)
    found = gradients(Path(sys.argv[1]), among)
    save_file(found, f"{sys.argv[2]}/{among.index}-of-{among.count}.safetensors")
    # A failure of the main process is everybody's, and nobody waits for it.
    with pytest.raises(ZeroDivisionError if among.is_main else UserError, match="integer"):
        among.from_main(lambda: 1 // 0)
    if among.count > 1:
        torch.distributed.destroy_process_group()
