"""Gradients in micro-batches: when memory runs out, and over several processes."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from policy_helpers import FULL, Make, MakeView, act, assert_alike, in_two_processes, shake
from safetensors.torch import load_file
from two_processes import gradients

from ui_gym.errors import UserError
from ui_gym_agents.episode import TokenRecord
from ui_gym_agents.policy import VLMPolicy
from ui_gym_agents.policy.parallel import Processes
from ui_gym_agents.store import ScreenshotStore

Step = Callable[[int], list[torch.Tensor]]


@pytest.fixture
def policy(make_policy: Make) -> VLMPolicy:
    policy = make_policy(lora_rank=2)
    shake(policy)
    return policy


@pytest.fixture
def records(policy: VLMPolicy, make_view: MakeView) -> list[TokenRecord]:
    return act(policy, [make_view(seeds=(n,), noise=n) for n in range(6)])


def _work(
    policy: VLMPolicy, records: list[TokenRecord], screenshots: ScreenshotStore,
    most: int, error: Exception,
) -> tuple[Callable[[list[int]], int], list[int]]:  # fmt: skip
    """Work on a machine that holds `most` rows, and the sizes that it was asked to do."""
    sizes: list[int] = []

    def work(part: list[int]) -> int:
        sizes.append(len(part))
        values = policy.logprobs([records[i] for i in part], screenshots)
        # The last micro-batch fails on the way back, when some gradients are there already.
        torch.cat(values).sum().backward()
        if len(part) > most:
            raise error
        return len(part)

    return work, sizes


@pytest.mark.parametrize("error", FULL)
def test_smaller_micro_batches_take_over_where_memory_runs_out(
    error: Exception, policy: VLMPolicy, records: list[TokenRecord],
    screenshots: ScreenshotStore, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    def run(most: int) -> tuple[list[int], list[int], list[torch.Tensor]]:
        policy.net.zero_grad()
        work, sizes = _work(policy, records, screenshots, most, error)
        done = policy.accumulate(records, work)
        return done, sizes, [p.grad.clone() for p in policy.parameters() if p.grad is not None]

    policy.batch_tokens = 160
    done, sizes, expected = run(most=6)
    assert done == sizes == [6]
    with caplog.at_level(logging.WARNING):
        done, sizes, found = run(most=3)
    assert sizes[0] == 6
    assert max(done) <= 3
    assert sum(done) == 6
    assert_alike(found, expected, 1e-4)
    said = [r.message for r in caplog.records]
    assert said == ["out of memory with micro-batches of 160 tokens: from now on they hold 80"]
    caplog.clear()
    done, sizes, _ = run(most=3)
    assert done == sizes
    assert not caplog.records


def test_a_turn_that_fits_nowhere_says_what_to_change(
    policy: VLMPolicy, records: list[TokenRecord], screenshots: ScreenshotStore
) -> None:
    before = torch.ones_like(policy.parameters()[0])
    policy.parameters()[0].grad = before.clone()
    work, sizes = _work(policy, records, screenshots, 0, FULL[0])
    with pytest.raises(UserError, match=r"single turn of \d+ tokens .* --policy\.history"):
        policy.accumulate(records, work)
    assert sizes[-1] == 1
    grad = policy.parameters()[0].grad
    assert grad is not None
    assert torch.equal(grad, before), "a pass that failed has left something"


def test_other_errors_are_not_taken_for_a_lack_of_memory(
    policy: VLMPolicy, records: list[TokenRecord]
) -> None:
    calls: list[int] = []

    def work(part: list[int]) -> None:
        calls.append(len(part))
        raise RuntimeError("shapes do not match")

    with pytest.raises(RuntimeError, match="shapes do not match"):
        policy.accumulate(records, work)
    assert len(calls) == 1


def test_gradients_add_up_to_the_bit_as_by_plain_backward(
    policy: VLMPolicy, records: list[TokenRecord], screenshots: ScreenshotStore
) -> None:
    policy.batch_tokens = 40
    assert len(policy.batches(records)) > 2
    for part in policy.batches(records):
        torch.cat(policy.logprobs([records[i] for i in part], screenshots)).sum().backward()
    plain = [p.grad.clone() for p in policy.parameters() if p.grad is not None]
    policy.net.zero_grad()
    work, _ = _work(policy, records, screenshots, 6, FULL[0])
    policy.accumulate(records, work)
    found = [p.grad for p in policy.parameters() if p.grad is not None]
    assert all(map(torch.equal, plain, found))


@pytest.mark.nightly
@pytest.mark.parametrize("end", [[], ["a picture is gone"]], ids=len)
def test_two_processes_give_the_gradients_of_one(
    end: list[str], folder_of: Callable[[str], Path], tmp_path: Path
) -> None:
    """By gloo, and with what ``accelerate launch`` puts into the environment."""
    in_two_processes("two_processes.py", folder_of("qwen3_vl"), tmp_path, *end, seconds=120)
    alone = gradients(folder_of("qwen3_vl"), Processes())
    assert len(alone["plenty losses"]) > 2
    assert (alone["plenty limit"].item(), alone["little limit"].item()) == (60, 30)
    for rank in range(2):
        found = load_file(tmp_path / f"{rank}-of-2.safetensors")
        assert found.keys() == alone.keys()
        assert all(torch.allclose(found[k], alone[k], atol=1e-5, rtol=1e-4) for k in alone)


def test_one_process_needs_no_accelerate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "accelerate", None)
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert Processes.of_launch().count == 1
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(UserError, match="pip install accelerate"):
        Processes.of_launch()
