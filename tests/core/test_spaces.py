"""Spaces of text: Unicode, seeding, equality, pickling, and batches in shared memory."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Text, Tuple, flatten, flatten_space, unflatten
from gymnasium.vector.utils import (
    batch_space,
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)
from hypothesis import given
from hypothesis import strategies as st

from ui_gym.dialects import DIALECTS, get_dialect
from ui_gym.errors import UserError
from ui_gym.playing.spaces import ActionText, FreeText, observation_space

SPACES = [FreeText(50), FreeText(50, min_length=2), ActionText("cells", (64, 48))]


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_copies_are_equal_and_others_are_not(space: Any) -> None:
    for again in (copy.deepcopy(space), pickle.loads(pickle.dumps(space))):  # noqa: S301
        assert again == space
        assert repr(again) == repr(space)
    assert [space == other for other in SPACES].count(True) == 1
    assert space != Text(50)


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_samples_follow_the_seed_and_are_contained(space: Any) -> None:
    def draw(seed: int) -> list[str]:
        space.seed(seed)
        return [space.sample() for _ in range(20)]

    assert draw(1) == draw(1) != draw(2)
    assert all(text in space for text in draw(3))


def test_free_text_holds_any_characters_up_to_its_length() -> None:
    space = FreeText(12, min_length=1)
    assert "hello wörld\n" in space
    assert "日本語 🙂" in space
    assert "" not in space
    assert "x" * 13 not in space
    assert 3 not in space


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("size", [(1, 1), (96, 64), (1280, 800)])
def test_sampled_actions_are_valid_in_every_dialect(dialect: str, size: tuple[int, int]) -> None:
    space = ActionText(dialect, size, seed=0)
    kinds = set()
    for _ in range(200):
        (action,) = get_dialect(dialect).parse(space.sample(), size)
        assert all(0 <= x < size[0] and 0 <= y < size[1] for x, y in action.points())
        assert not action.ends_episode
        kinds.add(action.name)
    assert {"click", "type"} <= kinds


def test_an_action_space_contains_wrong_texts_but_refuses_masks_and_unknown_dialects() -> None:
    space = ActionText()
    assert "no action at all, é" in space
    assert 3 not in space
    with pytest.raises(ValueError, match="no mask"):
        space.sample(mask=(3, None))
    with pytest.raises(UserError, match="Did you mean 'canonical'"):
        ActionText("cannonical")


def test_batches_are_tuples_whose_members_draw_apart() -> None:
    batch = batch_space(ActionText("canonical", (64, 48), seed=1), 4)
    assert isinstance(batch, Tuple)
    batch.seed(5)
    texts = batch.sample()
    assert len(set(texts)) > 1
    assert texts in batch
    batch.seed(5)
    assert batch.sample() == texts


def test_an_observation_space_has_what_was_asked_for() -> None:
    space = observation_space((20, 10), elements=True)
    assert set(space) == {"goal", "feedback", "screenshot", "elements"}
    assert space["screenshot"].shape == (10, 20, 3)
    assert space.sample() in space
    assert set(observation_space((20, 10), screenshot=False)) == {"goal", "feedback"}


@given(st.lists(st.text(max_size=20), min_size=3, max_size=3))
def test_texts_survive_shared_memory(texts: list[str]) -> None:
    space = FreeText(20)
    memory = create_shared_memory(space, 3, multiprocessing)
    view = read_from_shared_memory(space, memory, 3)  # read before it is written, as Gymnasium does
    for index, text in enumerate(texts):
        write_to_shared_memory(space, index, text, memory)
    assert copy.deepcopy(view) == tuple(texts) == view[:]
    write_to_shared_memory(space, 1, "", memory)
    assert view[1] == ""
    assert view[2] == texts[2]


@given(st.text(max_size=20))
def test_flattening_keeps_every_character(text: str) -> None:
    space = FreeText(20)
    flat = flatten(space, text)
    assert flat in flatten_space(space)
    assert unflatten(space, np.asarray(flat)) == text
