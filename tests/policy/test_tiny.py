"""The tiny VLM: its tokenizer and its folder."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoModelForImageTextToText, AutoTokenizer

from ui_gym.errors import UserError
from ui_gym_agents.policy import load_policy, lora
from ui_gym_agents.policy.model import load_processor
from ui_gym_tiny.model import TinyConfig, build
from ui_gym_tiny.tokenizer import SPECIAL, build_tokenizer, twins

WORDS = ["Enter", "row", "Carl", "Carla", "Abel", "First", "Last", "Öttinger", "two words", "-->"]
TOKENIZER = build_tokenizer(WORDS, 40, 32)


def _ids(text: str) -> list[int]:
    return list(TOKENIZER(text, add_special_tokens=False, split_special_tokens=True)["input_ids"])


@given(st.text(st.characters(exclude_categories=["Cs"])))
@settings(max_examples=300)
def test_any_text_round_trips(text: str) -> None:
    assert TOKENIZER.decode(_ids(text)) == text


@given(
    st.lists(st.sampled_from([*WORDS, " ", "\n", "3", "<x7>", "click(", ")", '")', *SPECIAL])).map(
        "".join
    )
)
@settings(max_examples=300)
def test_any_mixture_of_words_round_trips(text: str) -> None:
    assert TOKENIZER.decode(_ids(text)) == text


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("3 Carl Abel First\nclick(<x31><y9>)<|im_end|>", 10),
        ('type("Carl")', 3),
        ("Enter row 3", 3),
        ("<x0><x39><y0><y31>", 4),
        ("<x40>", 5),
        ("Carla", 1),
        ("Carlb", 5),
        ("two words", 1),
        ("a-->b", 3),
        (" Öttinger", 1),
        ("12", 2),
    ],
)
def test_words_are_one_token_and_the_rest_bytes(text: str, tokens: int) -> None:
    assert len(TOKENIZER(text)["input_ids"]) == tokens


def test_a_tokenizer_survives_its_folder(tmp_path: Path) -> None:
    TOKENIZER.save_pretrained(tmp_path)
    loaded = AutoTokenizer.from_pretrained(tmp_path)
    text = "3 Carl Abel <|image_pad|>\tü"
    assert loaded(text)["input_ids"] == TOKENIZER(text)["input_ids"]
    assert loaded.padding_side == "left"
    assert loaded.chat_template == TOKENIZER.chat_template
    assert (loaded.eos_token, loaded.pad_token) == ("<|im_end|>", "<|endoftext|>")


def test_a_build_is_a_stock_folder_of_a_million_parameters(tmp_path: Path) -> None:
    model = build(TinyConfig(), WORDS, seed=5, directory=tmp_path)
    assert 900_000 < sum(p.numel() for p in model.parameters()) < 1_100_000
    assert not [path for path in tmp_path.iterdir() if path.suffix in (".bin", ".pt", ".py")]
    loaded = AutoModelForImageTextToText.from_pretrained(tmp_path)
    ours = model.state_dict()
    assert all(torch.equal(value, ours[key]) for key, value in loaded.state_dict().items())
    processor = load_processor(tmp_path)
    assert processor.image_processor.get_number_of_image_patches(256, 320) == 80
    assert TinyConfig().image_tokens == 80


def test_a_build_depends_on_its_seed_alone(tmp_path: Path) -> None:
    weights = []
    for name, seed in [("a", 1), ("b", 1), ("c", 2)]:
        torch.manual_seed(len(weights))
        build(TinyConfig(), WORDS, seed=seed, directory=tmp_path / name)
        weights.append((tmp_path / name / "model.safetensors").read_bytes())
    assert weights[0] == weights[1] != weights[2]


def test_a_word_and_its_spaced_twin_begin_alike(tmp_path: Path) -> None:
    model = build(TinyConfig(), WORDS, seed=0, directory=tmp_path)
    rows = model.get_input_embeddings().weight.detach()
    pairs = twins(TOKENIZER)
    vocab = TOKENIZER.get_vocab()
    assert (vocab["Carl"], vocab["ĠCarl"]) in pairs
    offsets = torch.stack([rows[spaced] - rows[plain] for plain, spaced in pairs])
    assert torch.allclose(offsets, offsets[0].expand_as(offsets), atol=1e-6)
    assert offsets[0].abs().max() > 0.01


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": 330}, "330x256 does not divide into patches of 32 and cells of 8 pixels"),
        ({"cell": 7}, "cells of 7 pixels"),
        ({"heads": 3}, "multiple of four times its heads"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(change: dict[str, int], message: str) -> None:
    with pytest.raises(UserError, match=message):
        TinyConfig(**change)


def test_a_blank_may_begin_with_the_eyes_of_another(tmp_path: Path) -> None:
    words = ["Carl", "Save"]
    giver = build(TinyConfig(), ["Carl", "Enter"], 1, tmp_path / "giver")
    bare = build(TinyConfig(), words, 0, tmp_path / "bare")
    seeing = build(TinyConfig(), words, 0, tmp_path / "seeing", tmp_path / "giver")
    for name, weight in seeing.model.visual.state_dict().items():
        assert torch.equal(weight, giver.model.visual.state_dict()[name])
    for name, weight in seeing.model.language_model.layers.state_dict().items():
        assert torch.equal(weight, bare.model.language_model.layers.state_dict()[name])
    rows = seeing.get_input_embeddings().weight
    known = AutoTokenizer.from_pretrained(tmp_path / "giver")
    own = AutoTokenizer.from_pretrained(tmp_path / "seeing")
    carl = giver.get_input_embeddings().weight[known.convert_tokens_to_ids("Carl")]
    assert torch.equal(rows[own.convert_tokens_to_ids("Carl")], carl)
    save = own.convert_tokens_to_ids("Save")
    assert torch.equal(rows[save], bare.get_input_embeddings().weight[save])


def test_an_adapted_output_layer_that_is_the_embedding_is_never_merged() -> None:
    """Adding its adapter to the weights would change the embedding too."""
    policy = load_policy("tiny-clerk", lora_rank=4, lora_targets=["lm_head", "q_proj"])
    assert policy.base.get_output_embeddings().get_base_layer().weight is (
        policy.base.get_input_embeddings().weight
    )
    assert not policy.merge
    with (
        pytest.raises(UserError, match="shares its weights with the embedding"),
        lora.merged(policy.base),
    ):
        pass
