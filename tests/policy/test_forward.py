"""Our passes against the model's own, fed by its own processor, one row at a time."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from policy_helpers import KINDS, Make, MakeView

from ui_gym_agents.agents.agent import View
from ui_gym_agents.policy import PromptBuilder, VLMPolicy


def _inputs(policy: VLMPolicy, view: View) -> Any:
    """What the processor makes of a view."""
    messages, shown = policy.prompt.build(view)
    text = policy.processor.apply_chat_template(
        messages, add_generation_prompt=True, tokenize=False
    )
    images = [list(view.screenshots[-shown:])]
    return policy.processor(text=[text], images=images, return_tensors="pt")


def _views(make_view: MakeView) -> list[View]:
    return [
        make_view("Enter row 3", (0,)),
        make_view("Enter row 4 now", (1, 2)),
        make_view("Enter row 3", (0,)),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_padded_batch_gives_the_models_own_logits(
    kind: str, make_policy: Make, make_view: MakeView
) -> None:
    policy = make_policy(kind, prompt=PromptBuilder(system="Look.", history=2), temperature=1.0)
    policy.max_new_tokens = 1
    views = _views(make_view)
    decisions = policy.act(views)
    for view, decision in zip(views, decisions, strict=True):
        record = decision.tokens
        assert record is not None
        inputs = _inputs(policy, view)
        assert inputs["input_ids"][0].tolist() == list(record.prompt_ids)
        with torch.no_grad():
            logits = policy.base(**inputs).logits[0, -1]
        logits = logits.masked_fill(policy.suppressed, float("-inf"))
        expected = logits.log_softmax(-1)[record.output_ids[0]]
        assert record.logprobs[0] == pytest.approx(expected.item(), abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_greedy_answers_are_those_of_generate(
    kind: str, make_policy: Make, make_view: MakeView
) -> None:
    policy = make_policy(
        kind, prompt=PromptBuilder(system="Look.", history=2), temperature=0.0, max_new_tokens=6
    )
    views = _views(make_view)
    for view, decision in zip(views, policy.act(views), strict=True):
        inputs = _inputs(policy, view)
        generated = policy.base.generate(
            **inputs,
            max_new_tokens=6,
            do_sample=False,
            suppress_tokens=policy.suppressed.nonzero()[:, 0].tolist(),
        )
        answer = generated[0, inputs["input_ids"].shape[1] :].tolist()
        assert decision.tokens is not None
        assert list(decision.tokens.output_ids) == answer
