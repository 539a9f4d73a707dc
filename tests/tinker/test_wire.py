"""What is sent: tokens in chunks, pictures bit by bit, and what each token counts."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as PILImage
from spots import GOAL, SPOTS, picture

from ui_gym.errors import UserError
from ui_gym_agents.agents.agent import View
from ui_gym_agents.episode import TokenRecord, Turn
from ui_gym_agents.policy import load_policy
from ui_gym_agents.policy.prompts import PromptBuilder
from ui_gym_agents.policy.wording import Wording, wording_of
from ui_gym_agents.store import ScreenshotStore, screenshot_hash
from ui_gym_tinker.wire import TinkerWire


@pytest.fixture(scope="module")
def wording(clicker: Path) -> Wording:
    return wording_of(clicker, PromptBuilder(history=2, dialect_prompt="Click."))


def view(count: int) -> View:
    """Of an episode's turn of that number, from 1 on."""
    shown = [picture(spot) for spot in SPOTS[:count]]
    return View(0, GOAL, shown, turns=[Turn(screenshot_hash(p), "click") for p in shown[:-1]])


def test_words_without_weights_are_those_with_them(clicker: Path, wording: Wording) -> None:
    policy = load_policy(clicker, prompt=wording.prompt)
    assert wording.question(view(1)).ids == policy.question(view(1)).ids
    assert wording.stops == policy.stops
    assert (
        wording.never_sampled == policy.never_sampled == policy.suppressed.nonzero()[:, 0].tolist()
    )


def test_a_prompt_is_its_ids_with_pictures_in_place(wording: Wording) -> None:
    question = wording.question(view(2))
    assert len(question.images) == 2
    sent = TinkerWire(wording).prompt(question.ids, question.images)
    assert sent.length == len(question.ids)
    ids: list[int] = []
    seen = []
    for chunk in sent.chunks:
        if chunk.type == "image":
            ids += [wording.encoder.image_id or 0] * chunk.length
            seen.append(np.asarray(PILImage.open(io.BytesIO(chunk.data)).convert("RGB")))
            assert chunk.format == "png"
        else:
            ids += list(chunk.tokens)
    assert tuple(ids) == question.ids
    assert all(np.array_equal(a, b) for a, b in zip(seen, question.images, strict=True))


def test_a_prompt_with_other_pictures_than_it_says_is_refused(wording: Wording) -> None:
    question = wording.question(view(1))
    wire = TinkerWire(wording)
    with pytest.raises(UserError, match="other image tokens than its 0 pictures"):
        wire.prompt(question.ids, [])
    with pytest.raises(UserError, match="fewer than its 2 pictures"):
        wire.prompt(question.ids, [*question.images, *question.images])
    with pytest.raises(UserError, match="other image tokens"):
        wire.prompt(question.ids, [np.zeros((128, 192, 3), np.uint8)])


def test_a_datum_counts_the_tokens_of_the_answer_alone(wording: Wording) -> None:
    store = ScreenshotStore()
    question = wording.question(view(1))
    for image in question.images:
        store.put(image)
    answer = (5, 6, wording.stops[0])
    record = TokenRecord(
        question.ids, answer, (-0.1, -0.2, -0.3), tuple(map(screenshot_hash, question.images))
    )
    datum = TinkerWire(wording).datum(record, store.get, [1.0, 2.0, 3.0], sequence_mask=True)
    told = {name: tensor.to_numpy() for name, tensor in datum.loss_fn_inputs.items()}
    length = len(question.ids) + len(answer) - 1
    assert datum.model_input.length == length
    assert {values.shape for values in told.values()} == {(length,)}
    assert tuple(told["target_tokens"]) == (*question.ids, *answer)[1:]
    assert told["advantages"][-3:] == pytest.approx([1, 2, 3])
    assert told["logprobs"][-3:] == pytest.approx([-0.1, -0.2, -0.3])
    assert not told["advantages"][:-3].any()
    assert told["sequence_ratio_mask"].sum() == 3
