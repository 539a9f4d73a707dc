"""A policy that reads elements: prompts without pictures are sampled from, scored and merged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.policy.tiny_models import TEXT_TEMPLATE
from ui_gym.errors import UserError
from ui_gym_agents.agents.agent import View
from ui_gym_agents.episode import Turn
from ui_gym_agents.policy import PromptBuilder, VLMPolicy, load_policy
from ui_gym_agents.policy.merging import merge
from ui_gym_agents.policy.prompts import TEXT_SYSTEM
from ui_gym_agents.store import ScreenshotStore

READS = PromptBuilder(history=3)


def read(turns: int, noise: int = 0) -> View:
    """A view of a page that says another thing each turn."""
    done = [Turn("", f"{n} Carl", elements=f'[{n}] button "Abel"') for n in range(turns)]
    return View(0, "Enter row 3", [], f'[{turns}] button "Abel"', turns=done, noise=noise)


def test_the_prompt_holds_lists_and_no_picture() -> None:
    messages, shown = READS.build(read(4))
    assert shown == 0
    assert [message["role"] for message in messages] == [
        "system", "user", "assistant", "user", "assistant", "user"
    ]  # fmt: skip
    parts = [part for message in messages for part in message["content"]]
    assert {part["type"] for part in parts} == {"text"}
    assert parts[0]["text"] == TEXT_SYSTEM
    assert "1. 0 Carl" in parts[1]["text"]
    assert '[2] button "Abel"' in parts[1]["text"]
    assert '[4] button "Abel"' in parts[-1]["text"]


@pytest.mark.parametrize("kind", ["qwen3_vl", "llava", "smolvlm", "llama", "qwen3"])
def test_what_is_sampled_is_scored_alike(make_policy: Callable[..., VLMPolicy], kind: str) -> None:
    policy = make_policy(kind, prompt=READS)
    records = [d.tokens for d in policy.act([read(0, 1), read(0, 2), read(1, 3), read(2, 4)])]
    assert all(record.images == () for record in records)
    scored = policy.logprobs(records, ScreenshotStore())
    for record, found in zip(records, scored, strict=True):
        torch.testing.assert_close(found, torch.tensor(record.logprobs), atol=2e-5, rtol=2e-5)


def test_turns_of_lists_are_learned_in_one_pass(make_policy: Callable[..., VLMPolicy]) -> None:
    policy = make_policy(prompt=READS, merge_turns=True)
    record = policy.encode(read(0), "0 Carl")
    later = policy.encode(read(1), "1 Carl")
    assert len(merge([record, later])) == 1
    apart = make_policy(prompt=replace(READS, history=1))
    single = [apart.encode(read(n), f"{n} Carl") for n in range(2)]
    assert len(merge(single)) == 2
    merged = policy.logprobs([record, later], ScreenshotStore())
    alone = policy.logprobs([record, later], ScreenshotStore(), share=False)
    for one, other in zip(merged, alone, strict=True):
        torch.testing.assert_close(one, other, atol=2e-5, rtol=2e-5)


def test_a_language_model_learns_and_is_saved_and_loaded(
    make_policy: Callable[..., VLMPolicy], tmp_path: Path
) -> None:
    policy = make_policy("llama", prompt=READS, lora_rank=4)
    records = [d.tokens for d in policy.act([read(0, 1), read(1, 2)])]
    torch.stack([v.sum() for v in policy.logprobs(records, ScreenshotStore())]).sum().backward()
    with torch.no_grad():
        for weight in policy.parameters():
            assert weight.grad is not None
            weight -= 0.5 * weight.grad
    policy.save(tmp_path / "adapter")
    policy.save_merged(tmp_path / "merged")
    again = make_policy("llama", prompt=READS, adapter=tmp_path / "adapter")
    whole = load_policy(tmp_path / "merged", max_new_tokens=8)
    assert whole.prompt == READS
    expected = policy.logprobs(records, ScreenshotStore())
    for other in (again, whole):
        for one, two in zip(expected, other.logprobs(records, ScreenshotStore()), strict=True):
            torch.testing.assert_close(one, two, atol=2e-5, rtol=2e-5)


def test_a_language_model_is_shown_no_picture(make_policy: Callable[..., VLMPolicy]) -> None:
    policy = make_policy("llama", prompt=READS)
    view = View(0, "Enter row 3", [np.zeros((64, 96, 3), dtype=np.uint8)])
    with pytest.raises(UserError, match=r"sees no pictures: take --env\.observation elements"):
        policy.act([view])


def test_a_template_without_pictures_is_refused(make_policy: Callable[..., VLMPolicy]) -> None:
    policy = make_policy("qwen3_vl", prompt=READS)
    template = TEXT_TEMPLATE.replace("{{ m.content }}", "{{ m.content[-1].text }}")
    policy.processor.chat_template = template
    view = View(0, "Enter row 3", [np.zeros((64, 96, 3), dtype=np.uint8)])
    with pytest.raises(UserError, match=r"leaves pictures out \(it writes no <\|image_pad\|>\)"):
        policy.act([view])
    policy.processor.chat_template = "{{ raise_exception('only text') }}"
    with pytest.raises(UserError, match="cannot show a picture"):
        policy.act([view])
