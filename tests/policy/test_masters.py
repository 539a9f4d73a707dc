"""Weights in bfloat16 learn as those in float32 do, because the optimizer keeps float32 masters."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from ui_gym_agents.policy.masters import MasterAdamW, adamw
from ui_gym_agents.training.tensors import load_optimizer, save_optimizer

SMALL = 1e-4
"""A learning rate whose steps bfloat16 cannot tell from none, beside a weight of one."""


def weights(dtype: torch.dtype) -> list[nn.Parameter]:
    return [nn.Parameter(torch.ones(3, dtype=dtype)), nn.Parameter(torch.ones(2, 2, dtype=dtype))]


def step(optimizer: torch.optim.Optimizer, parameters: list[nn.Parameter], times: int) -> None:
    for _ in range(times):
        optimizer.zero_grad(set_to_none=True)
        for parameter in parameters:
            parameter.grad = torch.ones_like(parameter)
        optimizer.step()


def test_small_steps_add_up_in_masters_and_are_lost_without() -> None:
    plain, mastered, exact = (weights(d) for d in (torch.bfloat16, torch.bfloat16, torch.float32))
    step(torch.optim.AdamW(plain, lr=SMALL), plain, 200)
    step(adamw(mastered, lr=SMALL, beta2=0.98), mastered, 200)
    step(adamw(exact, lr=SMALL, beta2=0.98), exact, 200)
    assert all(torch.equal(p, torch.ones_like(p)) for p in plain)
    for parameter, wanted in zip(mastered, exact, strict=True):
        assert torch.equal(parameter, wanted.bfloat16())
        assert parameter.max() < 0.99


def test_exact_weights_need_no_masters() -> None:
    assert type(adamw(weights(torch.float32), lr=SMALL, beta2=0.98)) is torch.optim.AdamW
    assert type(adamw(weights(torch.bfloat16), lr=SMALL, beta2=0.98)) is MasterAdamW


def test_masters_go_on_to_the_bit_after_a_checkpoint(tmp_path: Path) -> None:
    whole, first = weights(torch.bfloat16), weights(torch.bfloat16)
    step(adamw(whole, lr=SMALL, beta2=0.98), whole, 90)
    optimizer = adamw(first, lr=SMALL, beta2=0.98)
    step(optimizer, first, 45)
    save_optimizer(optimizer, tmp_path / "optimizer.safetensors", step=45)
    rest = [nn.Parameter(p.detach().clone()) for p in first]
    resumed = adamw(rest, lr=SMALL, beta2=0.98)
    assert load_optimizer(resumed, tmp_path / "optimizer.safetensors") == 45
    step(resumed, rest, 45)
    assert all(map(torch.equal, rest, whole))
    assert not all(map(torch.equal, rest, first))


def test_weights_that_somebody_else_changed_are_taken_as_they_are() -> None:
    parameters = weights(torch.bfloat16)
    optimizer = adamw(parameters, lr=SMALL, beta2=0.98)
    step(optimizer, parameters, 5)
    with torch.no_grad():
        parameters[0].fill_(2)
    step(optimizer, parameters, 1)
    assert parameters[0].min() > 1.98


def test_a_weight_without_a_gradient_stays() -> None:
    parameters = weights(torch.bfloat16)
    optimizer = adamw(parameters, lr=0.5, beta2=0.98)
    parameters[0].grad = torch.ones_like(parameters[0])
    optimizer.step()
    assert parameters[0].max() < 1
    assert torch.equal(parameters[1], torch.ones_like(parameters[1]))
    with pytest.raises(ValueError, match="closure"):
        optimizer.step(lambda: 0.0)
