"""The memory that a step is said to take, against bytes that torch counts on each class."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    DynamicCache,
    Qwen2_5_VLConfig,
    Qwen3VLConfig,
)

from ui_gym.errors import UserError
from ui_gym_agents.policy import lora
from ui_gym_agents.policy.footprint import (
    NF4,
    Load,
    activations,
    check_room,
    footprint,
    weight_bytes,
)
from ui_gym_agents.policy.masters import adamw
from ui_gym_agents.policy.model import on_meta

KINDS = ["qwen2_5_vl", "qwen3_vl", "smolvlm", "idefics3", "llama"]
TOKENS, RANK, VOCABULARY = 256, 8, 1000
SIZE = {
    "hidden_size": 256, "intermediate_size": 704, "num_hidden_layers": 3,
    "num_attention_heads": 8, "num_key_value_heads": 4, "vocab_size": VOCABULARY,
}  # fmt: skip


def wider(folder: Path, dtype: torch.dtype) -> Any:
    """A model of the class of `folder`, wide enough that its layers are what counts."""
    config = AutoConfig.from_pretrained(folder)
    text = config.get_text_config()
    for name, value in SIZE.items():
        setattr(text, name, value)
    if getattr(text, "head_dim", None):
        text.head_dim = 32
    if getattr(text, "layer_types", None):
        text.layer_types = text.layer_types[:1] * 3
    vision = getattr(config, "vision_config", None)
    if hasattr(vision, "out_hidden_size"):
        vision.out_hidden_size = 256
    kind: Any = AutoModelForCausalLM if vision is None else AutoModelForImageTextToText
    return kind.from_config(config, dtype=dtype)


def kept_for_the_way_back(model: Any) -> int:
    """Bytes, by torch's own hooks: each storage once, and no parameter."""
    known = {p.untyped_storage().data_ptr() for p in model.parameters()}
    found: dict[int, torch.UntypedStorage] = {}  # held, so that no address comes again

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in known:
            found[storage.data_ptr()] = storage
        return tensor

    ids = torch.zeros(1, TOKENS, dtype=torch.long)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        out = model(input_ids=ids, attention_mask=torch.ones_like(ids), use_cache=False,
                    logits_to_keep=1)  # fmt: skip
    assert out.logits.requires_grad
    return sum(storage.nbytes() for storage in found.values())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kind", KINDS)
def test_activations_are_within_an_eighth_of_what_torch_keeps(
    folder_of: Callable[[str], Path], kind: str, dtype: torch.dtype
) -> None:
    model = wider(folder_of(kind), dtype)
    lora.attach(model, rank=RANK, alpha=16, targets="auto", seed=0)
    answer = 2
    load = Load(prompt=TOKENS - answer, answer=answer, rows=1, batch=TOKENS)
    said = activations(model, load, rank=RANK, checkpointing=False)
    logits = answer * VOCABULARY * (dtype.itemsize + 16)
    measured = kept_for_the_way_back(model)
    assert 7 / 8 < (said - logits) / measured < 9 / 8
    assert activations(model, load, rank=RANK, checkpointing=True) < said / 2


@pytest.mark.parametrize("kind", KINDS)
def test_weights_adapter_optimizer_and_cache_are_exact(
    folder_of: Callable[[str], Path], kind: str
) -> None:
    folder = folder_of(kind)
    load = Load(prompt=TOKENS, answer=0, rows=1, batch=TOKENS)
    said = footprint(on_meta(folder, "float32"), load, rank=RANK)
    plain: Any = AutoModelForCausalLM if kind == "llama" else AutoModelForImageTextToText
    model = plain.from_pretrained(folder)
    assert said.weights == sum(p.nbytes for p in model.parameters())
    cache = DynamicCache(config=model.config)
    ids = torch.zeros(1, TOKENS, dtype=torch.long)
    with torch.no_grad():
        model(input_ids=ids, cache=cache, use_cache=True)
    assert said.cache == sum(layer.keys.nbytes + layer.values.nbytes for layer in cache.layers)

    net = lora.attach(model, rank=RANK, alpha=16, targets="auto", seed=0)
    trained = [p for p in net.parameters() if p.requires_grad]
    assert said.trained == sum(p.numel() for p in trained)
    assert said.adapter == said.gradients == sum(p.nbytes for p in trained)
    optimizer = torch.optim.AdamW(trained)
    for weight in trained:
        weight.grad = torch.zeros_like(weight)
    optimizer.step()
    state = [v for kept in optimizer.state.values() for v in kept.values() if v.dim()]
    assert said.optimizer == sum(v.nbytes for v in state)
    assert said.peak == said.kept + max(said.cache + said.sampling, said.activations)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_training_all_weights_counts_what_their_optimizer_keeps(
    folder_of: Callable[[str], Path], dtype: str
) -> None:
    folder = folder_of("qwen3_vl")
    said = footprint(on_meta(folder, dtype), Load(TOKENS, 0, rows=1, batch=TOKENS), rank=0)
    model = AutoModelForImageTextToText.from_pretrained(folder, dtype=getattr(torch, dtype))
    trained = list(model.parameters())
    optimizer = adamw(trained, lr=1e-3, beta2=0.98)
    for weight in trained:
        weight.grad = torch.zeros_like(weight)
    optimizer.step()
    state = [v for kept in optimizer.state_dict()["state"].values() for v in kept.values()]
    assert said.optimizer == sum(v.nbytes for v in state if v.dim())
    assert said.gradients == sum(weight.grad.nbytes for weight in trained)


QWEN25 = Qwen2_5_VLConfig(
    text_config={
        "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28,
        "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152064,
        "rope_parameters": {"rope_type": "default", "rope_theta": 1e6,
                            "mrope_section": [16, 24, 24]},
    },
    vision_config={"depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "num_heads": 16,
                   "out_hidden_size": 3584},
    tie_word_embeddings=False,
)  # fmt: skip
QWEN3 = Qwen3VLConfig(
    text_config={
        "hidden_size": 4096, "intermediate_size": 12288, "num_hidden_layers": 36,
        "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
        "vocab_size": 151936,
    },
    vision_config={"depth": 27, "hidden_size": 1152, "intermediate_size": 4304, "num_heads": 16,
                   "out_hidden_size": 4096, "deepstack_visual_indexes": [8, 16, 24]},
    tie_word_embeddings=False,
)  # fmt: skip


@pytest.mark.parametrize(("config", "billions"), [(QWEN25, 8.29), (QWEN3, 8.77)])
def test_a_7b_is_counted_without_a_byte_of_it(tmp_path: Path, config: Any, billions: float) -> None:
    config.save_pretrained(tmp_path)
    model = on_meta(tmp_path, "bfloat16")
    load = Load(prompt=5000, answer=256, rows=16, batch=8192)
    said = footprint(model, load, rank=32, checkpointing=True)
    assert (said.parameters - said.trained) / 1e9 == pytest.approx(billions, abs=0.01)
    assert said.weights == 2 * (said.parameters - said.trained)
    packed = (said.weights - weight_bytes(model, "nf4")) / (2 - NF4)
    assert 0.7 < packed / (said.parameters - said.trained) < 0.85
    with pytest.raises(
        UserError, match=r"its 8\.\d B parameters take 1\d\.\d GB, and this machine"
    ):
        check_room(model, "a 7B", said.weights, int(8e9), "this machine")
    check_room(model, "a 7B", said.weights, int(80e9), "this machine")


def test_a_model_that_does_not_fit_is_refused_before_its_weights_are_read(
    tmp_path: Path, folder_of: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ui_gym_agents.policy import footprint as module
    from ui_gym_agents.training.parts import run_policy
    from ui_gym_agents.training.settings import RunConfig

    for path in folder_of("qwen2_5_vl").iterdir():
        if path.suffix != ".safetensors":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    own = json.loads((tmp_path / "config.json").read_text())
    QWEN25.save_pretrained(tmp_path)
    assert own["model_type"] == "qwen2_5_vl"
    monkeypatch.setattr(module, "free_memory", lambda device: int(8e9))
    config = RunConfig.model_validate(
        {"policy": {"model": str(tmp_path), "prompt": "bare", "device": "cpu"}}
    )
    with pytest.raises(UserError, match=r"does not fit: .*--preset smolvlm-2b"):
        run_policy(config, lambda: pytest.fail("no env is needed"), seed=0)
