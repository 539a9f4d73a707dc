"""Run by `test_sharding` in each of two processes: with divided weights, and what came of it."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2]))

from policy_helpers import act, shake

from tests.policy.tiny_models import picture
from ui_gym_agents.agents.agent import View
from ui_gym_agents.episode import TokenRecord
from ui_gym_agents.policy import PromptBuilder, load_policy
from ui_gym_agents.policy.parallel import Processes
from ui_gym_agents.policy.sharding import Shards
from ui_gym_agents.store import ScreenshotStore


def passes(folder: Path, processes: Processes, *, checkpointing: bool) -> dict[str, torch.Tensor]:
    """Log-probabilities of answers that the main process sampled, and a loss's gradients.

    One process has five of six turns, so that the other has passes without work of its own.
    """
    several = processes.count > 1
    policy = load_policy(
        folder, lora_rank=2, max_new_tokens=6, threads=1, batch_tokens=60,
        prompt=PromptBuilder.bare(), gradient_checkpointing=checkpointing,
        shard=(lambda model, device: Shards(model, processes, device)) if several else None,
    )  # fmt: skip
    policy.processes = processes
    shake(policy)
    screenshots = ScreenshotStore()
    views = [View(0, f"Enter row {i}", [picture(i)], noise=i) for i in range(6)]
    for view in views:
        screenshots.put(view.screenshot)
    owners = [i % 6 and processes.count - 1 for i in range(6)]
    records = processes.from_main(lambda: act(policy, views))
    found = {f"sampled {i}": torch.tensor(r.logprobs) for i, r in enumerate(records)}

    def score(part: list[int]) -> list[torch.Tensor]:
        return policy.logprobs([records[i] for i in part], screenshots)

    def backward(part: list[int]) -> int:
        (-torch.cat(score(part)).sum()).backward()
        return len(part)

    for name in ("first", "again"):
        scored = policy.measure(records, score, owners=owners)
        found |= {f"{name} scored {i}": values for i, values in enumerate(scored)}
        with policy.reference():
            scored = policy.measure(records, score, owners=owners)
        found |= {f"{name} reference {i}": values for i, values in enumerate(scored)}
        policy.net.zero_grad()
        assert sum(policy.accumulate(records, backward, owners=owners)) == len(records)
        for i, parameter in enumerate(policy.parameters()):
            assert parameter.grad is not None
            found[f"{name} gradient {i}"] = parameter.grad.clone()
            parameter.data -= 0.01 * parameter.grad
        found[f"{name} kept"] = torch.tensor(float(sum(map(kept, policy.net.parameters()))))
        policy.unite()
        again: list[TokenRecord] = processes.from_main(lambda: act(policy, views))
        found |= {f"{name} sampled {i}": torch.tensor(r.logprobs) for i, r in enumerate(again)}
    return found


def kept(parameter: torch.Tensor) -> int:
    """How many numbers of a parameter this process holds."""
    return int(getattr(parameter, "to_local", lambda: parameter)().numel())


if __name__ == "__main__":
    among = Processes.of_launch(cpu=True)
    more = sys.argv[3] == "checkpointing"
    save_file(
        passes(Path(sys.argv[1]), among, checkpointing=more),
        f"{sys.argv[2]}/{among.index}.safetensors",
    )
    among.close()
