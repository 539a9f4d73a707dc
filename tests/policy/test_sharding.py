"""Weights divided among processes: the same numbers, and refused where they cannot be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from divided import passes
from policy_helpers import Make, in_two_processes
from safetensors.torch import load_file

from ui_gym.errors import UserError
from ui_gym_agents.policy.parallel import Processes
from ui_gym_agents.policy.sharding import Shards
from ui_gym_agents.training.parts import check_shard
from ui_gym_agents.training.settings import RunConfig


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["qwen3_vl", "qwen2_5_vl", "smolvlm"])
def test_divided_weights_score_sample_and_learn_as_whole_ones(
    kind: str, folder_of: Callable[[str], Path], tmp_path: Path
) -> None:
    """By gloo, on two processes of which one has more to do; and each holds less."""
    _assert_alike(folder_of(kind), "plain", tmp_path)


@pytest.mark.nightly
def test_layers_that_are_computed_again_are_brought_together_again(
    folder_of: Callable[[str], Path], tmp_path: Path
) -> None:
    _assert_alike(folder_of("qwen3_vl"), "checkpointing", tmp_path)


def _assert_alike(folder: Path, how: str, results: Path) -> None:
    in_two_processes("divided.py", folder, results, how, seconds=200)
    expected = passes(folder, Processes(), checkpointing=how == "checkpointing")
    for rank in range(2):
        found = load_file(results / f"{rank}.safetensors")
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            if name.endswith("kept"):
                assert found[name] < 0.9 * value, "nothing was divided"
                continue
            scale = max(1.0, float(value.abs().max()))
            torch.testing.assert_close(found[name], value, rtol=0, atol=2e-5 * scale)


def _config(**policy: object) -> RunConfig:
    return RunConfig(plugin="grpo", policy={"shard": True, **policy})


def test_one_process_has_nobody_to_divide_weights_with(make_policy: Make) -> None:
    with pytest.raises(UserError, match=r"among processes, and there is one: start several"):
        check_shard(_config(), 1)
    with pytest.raises(UserError, match=r"leave it out \(--policy\.shard false\)"):
        make_policy(shard=lambda model, device: Shards(model, Processes(), device))
    check_shard(RunConfig(plugin="grpo"), 1)


def test_weights_that_are_all_trained_are_not_divided() -> None:
    with pytest.raises(UserError, match=r"divides frozen weights, and with --policy\.lora_rank 0"):
        check_shard(_config(lora_rank=0), 2)
    with pytest.raises(UserError, match=r"--policy\.quantize packs them: leave one of them out"):
        check_shard(_config(quantize="nf4"), 2)
    check_shard(_config(), 2)
    check_shard(_config(lora_rank=0, adapter="adapter"), 2)
