"""Tensors, optimizers and random generators come back as they were, to the bit."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from room import room_for
from torch import nn, optim

from ui_gym_agents.files import NoRoom, telling_of
from ui_gym_agents.training import random_state
from ui_gym_agents.training.tensors import (
    load_optimizer,
    load_tensors,
    save_optimizer,
    save_tensors,
)


def test_numpy_and_torch_tensors_come_back(tmp_path: Path) -> None:
    arrays = {"a": np.arange(6.0).reshape(2, 3).T, "scalar": np.array(7, dtype=np.int64)}
    save_tensors(tmp_path / "n.safetensors", arrays)
    back = load_tensors(tmp_path / "n.safetensors", "numpy")
    assert all(np.array_equal(back[k], v) and back[k].shape == v.shape for k, v in arrays.items())
    tensors = {"b": torch.randn(3, 2).bfloat16().T, "c": torch.tensor(1.5)}
    save_tensors(tmp_path / "t.safetensors", tensors)
    loaded = load_tensors(tmp_path / "t.safetensors")
    assert all(torch.equal(loaded[k], v) for k, v in tensors.items())
    with pytest.raises(TypeError, match="'d' is a list; a file holds torch tensors only"):
        save_tensors(tmp_path / "x.safetensors", {"c": tensors["c"], "d": [1]})


def learn(model: nn.Module, optimizer: optim.Optimizer, steps: int) -> None:
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.randn(5, 4)).square().mean().backward()
        optimizer.step()


@pytest.mark.parametrize("amsgrad", [False, True])
def test_an_optimizer_continues_to_the_bit(tmp_path: Path, amsgrad: bool) -> None:
    def build() -> tuple[nn.Module, optim.Optimizer]:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Linear(3, 1))
        first, second = (list(part.parameters()) for part in model)
        groups: list[dict[str, Any]] = [
            {"params": first, "lr": 1e-2},
            {"params": second, "betas": (0.8, 0.95)},
        ]
        return model, torch.optim.AdamW(groups, lr=3e-3, amsgrad=amsgrad)

    model, optimizer = build()
    learn(model, optimizer, 3)
    save_optimizer(optimizer, tmp_path / "optimizer.safetensors", step=3)
    weights = {k: v.clone() for k, v in model.state_dict().items()}
    rng = json.loads(json.dumps(random_state.capture()))
    learn(model, optimizer, 3)

    resumed, fresh = build()
    resumed.load_state_dict(weights)
    assert load_optimizer(fresh, tmp_path / "optimizer.safetensors") == 3
    assert fresh.param_groups[1]["betas"] == (0.8, 0.95)
    random_state.restore(rng)
    learn(resumed, fresh, 3)
    for name, value in model.state_dict().items():
        assert torch.equal(value, resumed.state_dict()[name])
    expected, found = optimizer.state_dict(), fresh.state_dict()
    assert found["param_groups"] == expected["param_groups"]
    for index, entries in expected["state"].items():
        for name, value in entries.items():
            assert torch.equal(value, found["state"][index][name])


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    save_tensors(tmp_path / "x.safetensors", {"a": torch.zeros(1)})
    optimizer = torch.optim.AdamW([torch.nn.Parameter(torch.zeros(1))])
    with pytest.raises(ValueError, match="holds no optimizer's state"):
        load_optimizer(optimizer, tmp_path / "x.safetensors")


def test_weights_that_have_no_room_are_told_as_any_file(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    told = re.escape(f"there is no room for {path}")
    with room_for(4096), pytest.raises(NoRoom, match=told), telling_of(path):
        save_tensors(path, {"a": torch.zeros(4096)})


def test_generators_are_restored_and_preserved() -> None:
    def draw() -> tuple[float, float, float, float]:
        return random.gauss(), float(np.random.randn()), float(torch.rand(1)), random.random()

    with random_state.seeded(3):
        draw()  # Leaves half a pair of normal numbers in Python's and numpy's generators.
    state = json.loads(json.dumps(random_state.capture()))
    with random_state.preserved():
        first = draw()
    assert draw() == first
    random_state.restore(state)
    assert draw() == first


def test_torch_is_seeded_wherever_it_is_imported() -> None:
    late = """
import sys
from ui_gym_agents.training import random_state
with random_state.seeded(3):
    assert "torch" not in sys.modules
    import torch
print(float(torch.rand(1)))
"""
    done = subprocess.run([sys.executable, "-c", late], capture_output=True, text=True, check=True)
    with random_state.seeded(3):
        assert float(done.stdout) == float(torch.rand(1))
