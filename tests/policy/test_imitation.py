"""Demonstrations: how they are encoded, what they cost, and that they are learned."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from policy_helpers import Make, MakeView

from ui_gym_agents.store import ScreenshotStore


def test_encode_weighs_answer_end_and_caption(
    make_policy: Make, make_view: MakeView, screenshots: ScreenshotStore
) -> None:
    policy = make_policy()
    text, caption = "3 Carl Abel First\nclick(<x3><y1>)", "1 Carl Abel\n"
    record = policy.encode(make_view(), text, caption=caption, caption_weight=0.25)
    end = record.output_ids.index(policy.stops[0])
    assert policy.tokenizer.decode(record.output_ids[:end]) == text
    assert policy.tokenizer.decode(record.output_ids[end + 1 :]) == caption
    assert len(record.output_ids) == 10 + 4
    assert record.weights == (1.0,) * 10 + (0.25,) * 4
    assert policy.encode(make_view(), text).weights == (1.0,) * 10


def test_supervised_loss_is_the_weighted_sum(
    make_policy: Make, make_view: MakeView, screenshots: ScreenshotStore
) -> None:
    policy = make_policy()
    records = [
        policy.encode(make_view(), "3 Carl", caption="Abel"),
        replace(policy.encode(make_view(seeds=(4,)), "Last"), weights=()),
    ]
    loss, weight = policy.supervised_loss(records, screenshots)
    assert weight == 3 + 0.5 + 2
    one, two = policy.logprobs(records, screenshots, temperature=1.0)
    expected = -(one[0] + one[1] + one[2] + 0.5 * one[3] + two.sum())
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)


def test_a_few_steps_of_imitation_are_learned(
    make_policy: Make, make_view: MakeView, screenshots: ScreenshotStore
) -> None:
    policy = make_policy(temperature=0.0)
    answers = {"Enter row 3": "3 Carl First", "Enter row 4": "4 Abel Last"}
    views = [make_view(goal) for goal in answers]
    records = [
        policy.encode(view, text, caption="row")
        for view, text in zip(views, answers.values(), strict=True)
    ]
    assert [d.action_text for d in policy.act(views)] != list(answers.values())
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    for _ in range(40):
        loss, weight = policy.supervised_loss(records, screenshots)
        optimizer.zero_grad()
        (loss / weight).backward()
        optimizer.step()
    assert [d.action_text for d in policy.act(views)] == list(answers.values())
