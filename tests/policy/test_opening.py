"""Opening a tiny model's eyes: the vision tower alone learns what stands where."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoTokenizer

from ui_gym import UIVectorEnv
from ui_gym_agents.agents import OracleAgent
from ui_gym_agents.collecting import Recording
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.store import EpisodeStore
from ui_gym_tiny import board
from ui_gym_tiny.model import TinyConfig, build
from ui_gym_tiny.opening import Opening, open_eyes
from ui_gym_tiny.reading import ReadPages

EMBEDDINGS = "model.language_model.embed_tokens.weight"
CONFIG = TinyConfig(width=416, height=320, vision_hidden=96, vision_layers=1)
PAGE = (320, 256)


@pytest.fixture(scope="module")
def screens(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """Four boards that somebody read aloud."""
    folder = tmp_path_factory.mktemp("screens")
    envs = UIVectorEnv(
        2, ReadPages.spec.id, autoreset_mode="Disabled", dialect="cells", parts=1, boards=100
    )
    try:
        collector = Collector(envs, OracleAgent(), store=EpisodeStore(folder))
        collector.collect([EpisodeRequest(seed=seed, split="train") for seed in range(4)])
    finally:
        envs.close()
    return Recording.of_file(folder / "episodes.jsonl")


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Other tests run beside these."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def blank(tmp_path: Path) -> Path:
    build(CONFIG, board.WORDS, 0, tmp_path / "model")
    return tmp_path / "model"


def read(model: Path, screens: Recording) -> float:
    turns = [episode.turns[0] for episode in screens.episodes]
    opening = Opening(model, CONFIG, [(turn.caption, PAGE) for turn in turns])
    return opening.share_read([screens.screenshots.get(turn.screenshot_id) for turn in turns])


def test_open_eyes_tell_what_stands_where(blank: Path, screens: Recording) -> None:
    assert read(blank, screens) < 0.1
    loss = open_eyes(blank, CONFIG, screens, 60, batch=4, warmup=10)
    assert read(blank, screens) > 0.5
    assert loss < 5


def test_the_same_seed_opens_the_same_eyes(tmp_path: Path, screens: Recording) -> None:
    for name in "ab":
        build(CONFIG, board.WORDS, 0, tmp_path / name)
        open_eyes(tmp_path / name, CONFIG, screens, 3, seed=5, batch=2)
    one, other = ((tmp_path / name / "model.safetensors").read_bytes() for name in "ab")
    assert one == other


def test_what_is_never_said_keeps_its_embedding(blank: Path, screens: Recording) -> None:
    """It would be pushed away from everything, as all else that is never said."""
    before = load_file(blank / "model.safetensors")[EMBEDDINGS]
    open_eyes(blank, CONFIG, screens, 3, batch=2)
    moved = (load_file(blank / "model.safetensors")[EMBEDDINGS] != before).any(dim=1)
    vocabulary = AutoTokenizer.from_pretrained(blank).get_vocab()
    captions = "\n".join(episode.turns[0].caption for episode in screens.episodes)
    word = next(word for word in board.WORDS if re.search(rf"\b{word}\b", captions))
    assert moved[vocabulary[word]]
    assert moved[vocabulary[f"Ġ{word}"]], "its twin goes with it"
    assert not moved[vocabulary["click("]]
    assert not moved[vocabulary["Ċ"]]


def test_a_caption_is_read_in_either_order(blank: Path) -> None:
    captions = ["find\nSave File <x5><y9>", "read\n<x5><y9> Save File", "find\nSave <x5><y39>"]
    opening = Opening(blank, CONFIG, [(caption, PAGE) for caption in captions])
    found, read_aloud, below = opening.told
    assert found == read_aloud
    ((place, tokens),) = found
    assert place == 2 * 10 + 1
    assert opening.tokenizer.convert_ids_to_tokens(tokens) == ["Save", "File", "<x5>", "<y9>"]
    assert below == [], "what is below the picture is not on it"


def test_a_picture_that_is_resized_keeps_its_places(blank: Path) -> None:
    """400 pixels are 12 patches of 33 and a third, not 12.5 of 32."""
    told = [("find\nSave <x48><y0>", (400, 320)), ("find\nSave <x4><y8>", (400, 320))]
    right, left = Opening(blank, CONFIG, told).told
    assert (right[0][0], left[0][0]) == (11, 2 * 12 + 1)


def test_pictures_of_several_sizes_are_looked_at(blank: Path, screens: Recording) -> None:
    other = replace(screens.episodes[0], task="UI/Other-v0")
    store = screens.screenshots
    cut = store.put(store.get(other.turns[0].screenshot_id)[:, :256])
    other.turns = [replace(other.turns[0], screenshot_id=cut)]
    both = replace(screens, episodes=[*screens.episodes, other])
    assert open_eyes(blank, CONFIG, both, 8, batch=2, warmup=2) > 0


def test_attention_that_begins_alike_looks_for_itself(tmp_path: Path) -> None:
    config = TinyConfig(alike=True)
    model = build(config, board.WORDS, 0, tmp_path / "alike")
    for layer in model.model.language_model.layers:
        attention = layer.self_attn
        assert torch.equal(attention.k_proj.weight, attention.q_proj.weight)
        assert torch.equal(attention.o_proj.weight, attention.v_proj.weight.T)
