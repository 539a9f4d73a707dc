"""What a sampler says it did is what a learner finds, whatever the batch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from policy_helpers import KINDS, TWO_PICTURES, Make, MakeView, act, difference, mixed, shake

from ui_gym.errors import UserError
from ui_gym_agents.policy import lora
from ui_gym_agents.store import ScreenshotStore


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [True, False])
def test_recomputed_logprobs_are_the_samplers(
    kind: str, share: bool, make_policy: Make, make_view: MakeView, screenshots: ScreenshotStore
) -> None:
    policy = make_policy(kind, prompt=TWO_PICTURES, temperature=0.7, lora_rank=2)
    shake(policy)
    records = act(policy, mixed(make_view))
    assert {len(r.images) for r in records} == {1, 2}
    assert len({len(r.prompt_ids) for r in records}) > 2
    assert difference(policy, records, screenshots, share) < 1e-5


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_is_sampled_alike_alone_and_in_a_batch(
    kind: str, make_policy: Make, make_view: MakeView
) -> None:
    policy = make_policy(kind, prompt=TWO_PICTURES)
    views = mixed(make_view)
    together = act(policy, views)
    alone = [act(policy, [view])[0] for view in views]
    assert [r.output_ids for r in together] == [r.output_ids for r in alone]
    assert len({r.output_ids for r in together}) > 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch_tokens", [1, 60, 100_000])
def test_micro_batches_change_nothing(
    kind: str, batch_tokens: int, make_policy: Make, make_view: MakeView,
    screenshots: ScreenshotStore,
) -> None:  # fmt: skip
    policy = make_policy(kind, prompt=TWO_PICTURES)
    records = act(policy, mixed(make_view))
    policy.batch_tokens = batch_tokens
    batches = policy.batches(records)
    assert sorted(i for batch in batches for i in batch) == list(range(len(records)))
    assert (len(batches) == 1) == (batch_tokens > 60)
    assert difference(policy, records, screenshots) < 1e-5


def test_the_model_reads_goal_and_picture(make_policy: Make, make_view: MakeView) -> None:
    """Without this, equal log-probabilities would prove nothing."""
    policy = make_policy(temperature=0.0, max_new_tokens=1)
    base, other_goal, other_picture = act(
        policy, [make_view(), make_view(goal="Enter row 4"), make_view(seeds=(9,))]
    )
    assert base.logprobs != other_goal.logprobs
    assert base.logprobs != other_picture.logprobs


@pytest.mark.parametrize("kind", KINDS)
def test_image_tokens_must_be_those_of_the_pictures(
    kind: str, make_policy: Make, make_view: MakeView, screenshots: ScreenshotStore
) -> None:
    policy = make_policy(kind)
    (record,) = act(policy, [make_view()])
    ids = list(record.prompt_ids)
    tokens = ids.count(policy.encoder.image_id)
    ids.remove(policy.encoder.image_id)
    with pytest.raises(UserError, match=rf"{tokens - 1} image tokens, .* 1 pictures make {tokens}"):
        policy.logprobs([replace(record, prompt_ids=tuple(ids))], screenshots)
    with pytest.raises(UserError, match=rf"{tokens} image tokens, .* 2 pictures make {2 * tokens}"):
        policy.logprobs([replace(record, images=record.images * 2)], screenshots)


def test_a_long_history_of_pictures_is_split_by_tokens(
    make_policy: Make, make_view: MakeView, screenshots: ScreenshotStore
) -> None:
    """Fifteen pictures a prompt, as in ARPO; the window drops the oldest of sixteen."""
    policy = make_policy(prompt=replace(TWO_PICTURES, history=15), batch_tokens=600)
    views = [make_view(seeds=tuple(range(i, i + n)), noise=i) for i, n in enumerate((15, 16, 3, 9))]
    records = act(policy, views)
    assert [len(r.images) for r in records] == [15, 15, 3, 9]
    assert records[1].images == tuple(screenshots.put(image) for image in views[1].screenshots[1:])
    sizes = [
        sum(len(records[i].prompt_ids) + len(records[i].output_ids) for i in batch)
        for batch in policy.batches(records)
    ]
    assert len(sizes) > 1
    assert max(sizes) <= 600
    assert difference(policy, records, screenshots) < 1e-5


@pytest.mark.parametrize("begins", ["fresh", "with an adapter"])
def test_the_reference_is_the_policy_that_training_began_with(
    begins: str, make_policy: Make, make_view: MakeView, screenshots: ScreenshotStore,
    tmp_path: Path,
) -> None:  # fmt: skip
    """Whatever was learned or loaded since, which is as it was afterwards, to the bit."""
    policy = make_policy(lora_rank=2)
    if begins != "fresh":
        shake(policy)
        policy.save(tmp_path)
        policy = make_policy(adapter=tmp_path)
    at_first = act(policy, mixed(make_view))
    shake(policy)
    policy.save(tmp_path)
    policy.load(tmp_path)
    learned = lora.weights(policy.net)
    assert difference(policy, at_first, screenshots) > 1e-3
    with policy.reference():
        assert difference(policy, at_first, screenshots) < 1e-5
    for name, value in lora.weights(policy.net).items():
        assert torch.equal(value, learned[name]), name
    assert difference(policy, act(policy, mixed(make_view)), screenshots) < 1e-5
