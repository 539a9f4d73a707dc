"""Turns of a conversation as one sequence: fewer tokens, the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from policy_helpers import KINDS, Make, MakeView, act, assert_alike, difference, learned, shake

from ui_gym_agents.agents.agent import View
from ui_gym_agents.episode import TokenRecord, Turn
from ui_gym_agents.policy import PromptBuilder, VLMPolicy
from ui_gym_agents.policy.batching import merged_batches
from ui_gym_agents.policy.merging import merge
from ui_gym_agents.store import ScreenshotStore

Play = Callable[..., list[TokenRecord]]


@pytest.fixture
def play(make_view: MakeView) -> Play:
    """Plays an episode with new pictures each turn; the answers are the policy's own."""

    def go(policy: VLMPolicy, turns: int = 4, first: int = 0, goal: str = "Enter row 3"):  # type: ignore[no-untyped-def]
        records, said = [], []
        for n in range(turns):
            view = make_view(goal, tuple(range(first, first + n + 1)), noise=100 * first + n)
            told = [Turn(screenshot_id="", action_text=text) for text in said]
            view = View(0, goal, view.screenshots, turns=told, noise=view.noise)
            (record,) = act(policy, [view])
            # The end token, which a random model never says, is what the template goes on with.
            ids = (*record.output_ids[:-1], policy.stops[0])
            record = replace(record, output_ids=ids, logprobs=(), truncated=False)
            said.append(policy.tokenizer.decode(ids[:-1]))
            records.append(record)
        return records

    return go


def _policy(make: Make, kind: str = "qwen3_vl", history: int = 9, **more: object) -> VLMPolicy:
    prompt = PromptBuilder(system="Look.", history=history, recall=0)
    policy = make(kind, prompt=prompt, lora_rank=2, max_new_tokens=5, **more)
    shake(policy)
    # Words only: bytes that are no text would not survive the way through the template.
    allowed = policy.tokenizer(" row Carl Abel First Last 3", add_special_tokens=False)["input_ids"]
    policy.suppressed[[i for i in range(len(policy.suppressed)) if i not in allowed]] = True
    policy.suppressed[policy.stops] = False
    return policy


def test_an_episode_is_one_sequence(make_policy: Make, play: Play) -> None:
    policy = _policy(make_policy)
    records = play(policy)
    (one,) = merge(records[::-1])
    assert one.members == (3, 2, 1, 0)
    assert one.ids == records[3].prompt_ids + records[3].output_ids
    assert one.images == records[3].images
    for index, (start, end) in zip(one.members, one.spans, strict=True):
        assert one.ids[start:end] == records[::-1][index].output_ids


def test_a_window_of_pictures_ends_a_sequence(make_policy: Make, play: Play) -> None:
    records = play(_policy(make_policy, history=3), turns=5)
    assert sorted(s.members for s in merge(records)) == [(0, 1, 2), (3,), (4,)]


def test_equal_text_with_other_pictures_is_not_merged() -> None:
    image = 7
    first = TokenRecord((1, image, 2), (3, 4), images=("a",))
    after = TokenRecord((1, image, 2, 3, 4, image, 2), (5,), images=("a", "b"))
    assert [s.members for s in merge([first, after])] == [(0, 1)]
    slid = replace(after, images=("b", "c"))
    assert [s.members for s in merge([first, slid])] == [(0,), (1,)]


def test_equal_beginnings_go_on_apart() -> None:
    first = TokenRecord((1, 2), (3,))
    one, two = TokenRecord((1, 2, 3, 4), (5,)), TokenRecord((1, 2, 3, 4), (6,))
    assert [s.members for s in merge([first, first, one, two])] == [(0, 2), (1, 3)]
    assert [s.members for s in merge([first, one, two])] == [(0, 1), (2,)]


@pytest.mark.parametrize("kind", KINDS)
def test_merged_turns_have_the_same_logprobs_and_gradients(
    kind: str, make_policy: Make, play: Play, screenshots: ScreenshotStore
) -> None:
    policy = _policy(make_policy, kind)
    records = [*play(policy), *play(policy, 2, first=20, goal="Enter row 4 now"), *play(policy, 1)]
    records = [replace(r, temperature=0.5 + 0.1 * i) for i, r in enumerate(records)]
    assert sorted(len(s.members) for s in merge(records)) == [1, 2, 4]

    def scored(merge_turns: bool) -> tuple[torch.Tensor, list[torch.Tensor]]:
        policy.merge_turns = merge_turns
        values, gradients = learned(policy, records, screenshots)
        return torch.cat(values), gradients

    (apart, expected), (merged, gradients) = scored(False), scored(True)
    assert (apart - merged).abs().max() < 1e-5
    assert_alike(gradients, expected, 1e-4)


def test_merging_computes_fewer_tokens(
    make_policy: Make, play: Play, screenshots: ScreenshotStore
) -> None:
    policy = _policy(make_policy)
    records = play(policy)
    tokens: list[int] = []
    policy.base.model.language_model.register_forward_pre_hook(
        lambda module, args, kwargs: tokens.append(kwargs["inputs_embeds"].shape[:2].numel()),
        with_kwargs=True,
    )
    policy.merge_turns = True
    policy.logprobs(records, screenshots)
    assert sum(tokens) == len(records[3].prompt_ids) + len(records[3].output_ids) - 1
    tokens.clear()
    policy.logprobs(records, screenshots, share=False)
    assert sum(tokens) > 2 * (len(records[3].prompt_ids) + len(records[3].output_ids))


def test_single_turns_are_scored_to_the_bit_as_ever(
    make_policy: Make, make_view: MakeView, screenshots: ScreenshotStore
) -> None:
    policy = make_policy(lora_rank=2)
    shake(policy)
    records = act(policy, [make_view(noise=n, seeds=(n // 2,)) for n in range(6)])
    before = policy.logprobs(records, screenshots)
    batches = policy.batches(records)
    policy.merge_turns = True
    assert policy.batches(records) == batches
    assert all(map(torch.equal, before, policy.logprobs(records, screenshots)))
    assert difference(policy, records, screenshots) < 1e-5


CHAINS = st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=4), max_size=6)


@given(CHAINS, st.integers(1, 60))
def test_batches_keep_sequences_whole_and_fit(chains: list[list[int]], limit: int) -> None:
    records = []
    for chain in chains:
        ids: tuple[int, ...] = (0,)
        for n in chain:
            records.append(TokenRecord(ids, (n,) * n))
            ids = (*ids, *(n,) * n, 9)
    batches = merged_batches(records, limit)
    assert sorted(i for batch in batches for i in batch) == list(range(len(records)))
    home = {i: n for n, batch in enumerate(batches) for i in batch}
    sequences = merge(records)
    assert all(len({home[i] for i in s.members}) == 1 for s in sequences)
    for n in range(len(batches)):
        rows = [s for s in sequences if home[s.members[0]] == n and len(s.members) > 1]
        assert len(rows) <= 1 or len(rows) * max(len(s.ids) for s in rows) <= limit
