"""Run by `test_accumulation` in each of two processes: a tiny step, and what came of it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2]))

from policy_helpers import act, shake

from tests.policy.tiny_models import picture
from ui_gym.errors import UserError
from ui_gym_agents.agents.agent import View
from ui_gym_agents.episode import TokenRecord
from ui_gym_agents.policy import PromptBuilder, VLMPolicy, load_policy
from ui_gym_agents.policy.parallel import ProcessError, Processes
from ui_gym_agents.store import ScreenshotStore


def gradients(folder: Path, processes: Processes) -> dict[str, torch.Tensor]:
    """Of a loss over seven turns, in micro-batches of one or two, and the micro-batches' losses.

    Then of the same where the last process's memory holds one turn at a time: the others, too,
    make smaller micro-batches from then on.
    """
    policy = load_policy(
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
    return found | passes(policy, records, screenshots, processes)


def passes(
    policy: VLMPolicy, records: list[TokenRecord], screenshots: ScreenshotStore,
    processes: Processes,
) -> dict[str, torch.Tensor]:  # fmt: skip
    """Without gradients: every process gets the values of all, and computes those of its own."""
    owners = [index % processes.count for index in range(len(records))]
    asked: list[int] = []

    def work(part: list[int]) -> list[torch.Tensor]:
        asked.extend(part)
        return policy.logprobs([records[i] for i in part], screenshots)

    values = policy.measure(records, work, processes, owners)
    assert sorted(asked) == [i for i, owner in enumerate(owners) if owner == processes.index]
    whole = torch.ones(1, 2, dtype=torch.bfloat16), torch.zeros(0, 3), torch.tensor(2.5)
    for told in processes.gather(lambda: whole):
        assert all(map(torch.equal, told, whole))
        assert [value.dtype for value in told] == [value.dtype for value in whole]
    for index in range(2):  # of different sizes, and none for some
        wanted = [picture(n) for n in range(3 * processes.index)]
        handed = list(processes.hand_out(lambda: [[], map(picture, range(3))]))
        assert len(handed) == len(wanted) * (processes.count > 1), index
        assert all(map(np.array_equal, handed, wanted))
    return {f"value {i}": value for i, value in enumerate(values)}


if __name__ == "__main__":
    among = Processes.of_launch(cpu=True)
    found = gradients(Path(sys.argv[1]), among)
    save_file(found, f"{sys.argv[2]}/{among.index}-of-{among.count}.safetensors")
    # A failure of the main process, a picture that is gone too, is everybody's: nobody waits.
    if len(sys.argv) > 3:
        with pytest.raises(UserError if among.is_main else ProcessError, match="no screenshot"):
            list(among.hand_out(lambda: [[], map(ScreenshotStore().get, ["gone"])]))
        sys.exit()
    with pytest.raises(ZeroDivisionError if among.is_main else ProcessError, match="integer"):
        among.from_main(lambda: 1 // 0)
