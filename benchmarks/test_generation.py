"""Turns a second of a policy that samples in its own process, with 5 and 15 pictures of history.

Beside it the same policy with `policy.reuse_bytes` 0, which computes every prompt whole. Both
answer the same views, round by round, and what the other took is divided by what this took in the
same round, in CPU seconds of one thread. The picture is the main job's, 320x256. The tiny model
is the shipped one; the middle one is of Qwen2.5-VL's class with 38 million random weights.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from ui_gym_agents.agents.agent import View
from ui_gym_agents.episode import Turn
from ui_gym_agents.policy import PromptBuilder, load_policy
from ui_gym_agents.policy.reuse import Room

ROUNDS = 5
SLOTS = {"tiny": 8, "middle": 2}
PICTURE = (256, 320, 3)
OURS, WHOLE = "ui-gym", "every prompt whole"
WAYS = {WHOLE: Room(turns=0), OURS: Room()}


def middle(folder: Path) -> Path:
    """A random Qwen2.5-VL as a checkpoint."""
    from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    from ui_gym_agents.policy.processor import ImageOnlyProcessor
    from ui_gym_tiny.tokenizer import build_tokenizer

    tokenizer = build_tokenizer(["Enter", "row", "Carl"], 40, 32)
    names = {"image": "image_pad", "video": "video_pad",
             "vision_start": "vision_start", "vision_end": "vision_end"}  # fmt: skip
    ids = {f"{k}_token_id": tokenizer.convert_tokens_to_ids(f"<|{v}|>") for k, v in names.items()}
    text = {
        "model_type": "qwen2_5_vl_text", "vocab_size": len(tokenizer), "hidden_size": 512,
        "intermediate_size": 1536, "num_hidden_layers": 12, "num_attention_heads": 8,
        "num_key_value_heads": 2, "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        "rope_parameters": {"rope_type": "default", "rope_theta": 1e4,
                            "mrope_section": [12, 10, 10]},
    }  # fmt: skip
    vision = {
        "depth": 2, "hidden_size": 256, "intermediate_size": 512, "num_heads": 4, "patch_size": 16,
        "spatial_merge_size": 2, "temporal_patch_size": 2, "out_hidden_size": 512,
        "window_size": 64, "fullatt_block_indexes": [1],
    }  # fmt: skip
    torch.manual_seed(0)
    model = Qwen2_5_VLForConditionalGeneration(
        Qwen2_5_VLConfig(**ids, text_config=text, vision_config=vision)
    )
    model.save_pretrained(folder)
    images = Qwen2VLImageProcessorPil(patch_size=16, merge_size=2, temporal_patch_size=2)
    ImageOnlyProcessor(images, tokenizer, chat_template=tokenizer.chat_template).save_pretrained(
        folder
    )
    return folder


@pytest.fixture(scope="module")
def model_of(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | Path]:
    """Names of models, as policies are made of them."""
    return {"tiny": "tiny-clerk", "middle": middle(tmp_path_factory.mktemp("middle"))}


def seen(slots: int, pictures: int) -> list[View]:
    """Views of a turn that shows so many pictures, after answers like the main job's."""
    rng = np.random.default_rng(0)
    shown = rng.integers(0, 256, (slots, 15, *PICTURE), dtype=np.uint8)
    told = [Turn("", f"{n % 6 + 1} Carl click(<x{n}><y9>)") for n in range(pictures - 1)]
    return [
        View(slot, "Enter row 3", list(shown[slot, :pictures]), turns=told, noise=slot)
        for slot in range(slots)
    ]


@pytest.mark.parametrize("pictures", [5, 15])
@pytest.mark.parametrize("kind", SLOTS)
def test_turns(benchmark: Any, model_of: dict[str, str | Path], kind: str, pictures: int) -> None:
    slots = SLOTS[kind]
    prompt = PromptBuilder(system="", history=15, recall=0, feedback=False, elements=False)
    policies = {
        way: load_policy(
            model_of[kind], lora_rank=16, max_new_tokens=12, prompt=prompt, threads=1, room=room
        )
        for way, room in WAYS.items()
    }
    before, now = seen(slots, pictures - 1), seen(slots, pictures)
    spent: dict[str, list[float]] = {way: [] for way in WAYS}

    def turn(way: str) -> None:
        started = time.process_time()
        policies[way].act(now)
        spent[way].append(time.process_time() - started)

    def prepare() -> None:
        policies[OURS].act(before)
        turn(WHOLE)

    benchmark.group = f"a turn with {pictures} pictures, {slots} slots, {kind} model"
    benchmark.name = OURS
    benchmark.pedantic(lambda: turn(OURS), setup=prepare, rounds=ROUNDS)
    ratios = [a / b for a, b in zip(spent[WHOLE], spent[OURS], strict=True)]
    benchmark.extra_info |= {
        "turns_per_cpu_second": round(slots / statistics.median(spent[OURS]), 2),
        f"times_{WHOLE}": round(statistics.median(ratios), 2),
    }
