"""Pictures are looked at once, and never through old weights."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from policy_helpers import Make, MakeView

from ui_gym_agents.policy import PromptBuilder, VLMPolicy
from ui_gym_agents.policy.reuse import Room
from ui_gym_agents.store import ScreenshotStore


@pytest.fixture
def keys(make_view: MakeView, screenshots: ScreenshotStore) -> list[str]:
    """Three pictures in the store."""
    return [screenshots.put(make_view(seeds=(seed,)).screenshot) for seed in range(3)]


def _freeze(policy: VLMPolicy, frozen: bool) -> None:
    for parameter in policy.base.model.visual.parameters():
        parameter.requires_grad_(not frozen)


def _change(policy: VLMPolicy) -> None:
    with torch.no_grad():
        policy.base.model.visual.patch_embed.proj.weight.mul_(1.5)


def _looks(policy: VLMPolicy) -> list[int]:
    """Filled with the number of patches at each pass of the tower from now on."""
    patches: list[int] = []
    policy.base.model.visual.register_forward_pre_hook(
        lambda module, inputs: patches.append(len(inputs[0]))
    )
    return patches


def test_a_known_picture_is_not_looked_at_again(
    make_policy: Make, keys: list[str], screenshots: ScreenshotStore
) -> None:
    policy = make_policy(lora_rank=2)
    patches = _looks(policy)
    first = policy.eyes.look([keys[0], keys[1], keys[0]], screenshots)
    assert sum(patches) == 2 * 6
    again = policy.eyes.look(keys, screenshots)
    assert sum(patches) == 3 * 6
    assert again[keys[0]] is first[keys[0]]


def test_what_is_remembered_is_bounded_and_recent(
    make_policy: Make, keys: list[str], screenshots: ScreenshotStore
) -> None:
    policy = make_policy(lora_rank=2)
    (size,) = {f.nbytes for f in policy.eyes.look(keys, screenshots).values()}
    assert size == 6 * 64 * 4
    policy.eyes.forget()
    policy.eyes.limit = 2 * size
    policy.eyes.look(keys[:2], screenshots)
    policy.eyes.look(keys[:1], screenshots)
    policy.eyes.look(keys[2:], screenshots)
    patches = _looks(policy)
    policy.eyes.look([keys[0], keys[2]], screenshots)
    assert patches == []
    policy.eyes.look([keys[1]], screenshots)
    assert sum(patches) == 6


def test_more_pictures_than_are_remembered_are_all_seen(
    make_policy: Make, keys: list[str], screenshots: ScreenshotStore
) -> None:
    policy = make_policy(lora_rank=2)
    policy.eyes.limit = 0
    assert list(policy.eyes.look(keys, screenshots)) == keys


def test_room_is_made_for_the_pictures_of_all_slots_or_as_it_is_set(
    make_policy: Make, keys: list[str], screenshots: ScreenshotStore
) -> None:
    def looks_again(room: Room) -> int:
        policy = make_policy(prompt=PromptBuilder(history=3), lora_rank=2, room=room)
        policy.eyes.limit = min(policy.eyes.limit, 6 * 64 * 4)  # of one picture
        policy.eyes.look(keys, screenshots)
        patches = _looks(policy)
        policy.eyes.look(keys, screenshots)
        return sum(patches) // 6

    assert looks_again(Room()) == 2
    assert looks_again(Room(slots=1)) == 0
    assert looks_again(Room(slots=1, pictures=0)) == 3


def test_a_metric_says_how_often_a_picture_was_known(
    make_policy: Make, keys: list[str], screenshots: ScreenshotStore
) -> None:
    policy = make_policy(lora_rank=2)
    policy.eyes.look(keys, screenshots)
    policy.eyes.look(keys[:1], screenshots)
    assert policy.metrics() == {"feature_hits": 0.25}
    assert policy.metrics() == {}
    policy.eyes.look(keys[:2], screenshots)
    assert policy.metrics() == {"feature_hits": 0}, "a run that was resumed would say so"


def test_features_do_not_depend_on_the_batch(
    make_policy: Make, keys: list[str], screenshots: ScreenshotStore
) -> None:
    together = make_policy(lora_rank=2).eyes.look(keys, screenshots)
    policy = make_policy(lora_rank=2)
    for key in keys:
        alone = policy.eyes.look([key], screenshots)[key].pooled[0]
        assert torch.equal(alone, together[key].pooled[0])


def test_nothing_is_remembered_from_before_the_tower_learned(
    make_policy: Make, keys: list[str], screenshots: ScreenshotStore
) -> None:
    policy = make_policy()
    _freeze(policy, True)
    old = policy.eyes.look(keys, screenshots)[keys[0]].pooled[0]
    _freeze(policy, False)
    trained = policy.eyes.look(keys, screenshots)[keys[0]].pooled[0]
    assert trained.requires_grad
    _change(policy)
    _freeze(policy, True)
    new = policy.eyes.look(keys, screenshots)[keys[0]].pooled[0]
    assert not torch.allclose(old, new)


def test_nothing_is_remembered_from_before_weights_were_loaded(
    make_policy: Make, keys: list[str], screenshots: ScreenshotStore, tmp_path: Path
) -> None:
    policy = make_policy()
    _freeze(policy, True)
    policy.save(tmp_path)
    original = policy.eyes.look(keys, screenshots)[keys[0]].pooled[0].clone()
    _change(policy)
    policy.eyes.forget()
    policy.eyes.look(keys, screenshots)
    policy.load(tmp_path)
    assert torch.equal(policy.eyes.look(keys, screenshots)[keys[0]].pooled[0], original)
