"""Micro-batches that are learned from side by side, to the bits that one thread gives."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
import torch
from policy_helpers import FULL, Make, MakeView, act, shake

from ui_gym.child_process import cores
from ui_gym_agents.episode import TokenRecord
from ui_gym_agents.policy import VLMPolicy
from ui_gym_agents.store import ScreenshotStore

DEADLINE = 120
"""Seconds that two threads wait for each other at most."""

Work = Callable[[list[int]], float]


@pytest.fixture(params=[4, 0], ids=["adapter", "all weights"])
def policy(request: pytest.FixtureRequest, make_policy: Make) -> VLMPolicy:
    policy = make_policy(lora_rank=request.param)
    shake(policy)
    policy.batch_tokens, policy.lanes = 40, 2
    return policy


@pytest.fixture
def records(policy: VLMPolicy, make_view: MakeView) -> list[TokenRecord]:
    found = act(policy, [make_view(seeds=(n,), noise=n) for n in range(7)])
    assert len(policy.batches(found)) > 4
    return found


@pytest.fixture
def work(policy: VLMPolicy, records: list[TokenRecord], screenshots: ScreenshotStore) -> Work:
    """Two backward passes, which both add to the gradients."""

    def work(part: list[int]) -> float:
        loss = torch.zeros(())
        for sign in (1.0, -0.3):
            logprobs = torch.cat(policy.logprobs([records[i] for i in part], screenshots))
            loss = sign * logprobs.square().sum()
            loss.backward()
        return loss.item()

    return work


def grads(policy: VLMPolicy) -> list[torch.Tensor]:
    found = [p.grad for p in policy.parameters()]
    policy.net.zero_grad(set_to_none=True)
    return [grad for grad in found if grad is not None]


def expected(policy: VLMPolicy, records: list[TokenRecord], work: Work) -> list[torch.Tensor]:
    """The gradients that one thread finds."""
    policy.accumulate(records, work)
    found = grads(policy)
    assert max(grad.abs().max().item() for grad in found) > 0.01
    return found


def same(found: list[torch.Tensor], wanted: list[torch.Tensor]) -> bool:
    return len(found) == len(wanted) and all(map(torch.equal, found, wanted))


def test_values_and_gradients_are_those_of_one_thread(
    policy: VLMPolicy, records: list[TokenRecord], work: Work
) -> None:
    values = policy.accumulate(records, work)
    alone = grads(policy)
    assert policy.accumulate(records, work, threaded=True) == values
    assert same(grads(policy), alone)


def test_two_are_at_work_at_once(policy: VLMPolicy, records: list[TokenRecord], work: Work) -> None:
    wanted = expected(policy, records, work)
    meeting, first = threading.Barrier(2, timeout=DEADLINE), policy.batches(records)[:2]

    def met(part: list[int]) -> float:
        if part in first:
            meeting.wait()
        return work(part)

    policy.accumulate(records, met, threaded=True)
    assert same(grads(policy), wanted)


def test_gradients_that_were_there_are_added_to(
    policy: VLMPolicy, records: list[TokenRecord], work: Work
) -> None:
    policy.accumulate(records, work)
    policy.accumulate(records, work)
    twice = grads(policy)
    policy.accumulate(records, work)
    policy.accumulate(records, work, threaded=True)
    assert same(grads(policy), twice)


@pytest.mark.parametrize("error", FULL)
def test_where_there_is_no_room_for_two_one_goes_on_alone(
    error: Exception, policy: VLMPolicy, records: list[TokenRecord], work: Work
) -> None:
    wanted = expected(policy, records, work)
    meeting, main = threading.Barrier(2, timeout=DEADLINE), threading.current_thread()
    parts, tokens = policy.batches(records), policy.batch_tokens

    def crowded(part: list[int]) -> float:
        if part in parts[:2] and policy.lanes == 2:
            meeting.wait()
            if threading.current_thread() is not main:
                work(part)  # it fails when some gradients are there already
                raise error
        return work(part)

    assert len(policy.accumulate(records, crowded, threaded=True)) == len(parts)
    assert same(grads(policy), wanted)
    assert policy.lanes == 1
    assert policy.batch_tokens == tokens


@pytest.mark.parametrize("lane", ["main", "other"])
def test_what_a_thread_raises_is_raised(
    lane: str, policy: VLMPolicy, records: list[TokenRecord], work: Work
) -> None:
    meeting, main = threading.Barrier(2, timeout=DEADLINE), threading.current_thread()
    first = policy.batches(records)[:2]

    def wrong(part: list[int]) -> float:
        if part in first:
            meeting.wait()
        if part in first and (threading.current_thread() is main) == (lane == "main"):
            raise ValueError("no such shape")
        return 0.0

    with pytest.raises(ValueError, match="no such shape"):
        policy.accumulate(records, wrong, threaded=True)
    assert not grads(policy)
    assert not [t for t in threading.enumerate() if t.name == "ui-gym-lane"]


def test_only_who_asks_for_threads_gets_them(policy: VLMPolicy, records: list[TokenRecord]) -> None:
    threads = policy.accumulate(records, lambda part: threading.get_ident())
    assert set(threads) == {threading.get_ident()}
    policy.train()  # dropout would draw in an order that depends on the threads
    threads = policy.accumulate(records, lambda part: threading.get_ident(), threaded=True)
    assert set(threads) == {threading.get_ident()}


def test_small_models_learn_on_as_many_cores_as_there_are_up_to_two(make_policy: Make) -> None:
    assert make_policy(threads=None).lanes == min(2, cores())
    assert make_policy(threads=1).lanes == 1
