"""What a folder must hold, and what a model's tokens are."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from policy_helpers import Make
from torch import nn

from ui_gym.errors import UserError
from ui_gym_agents.policy.model import PatchProjection, load_model, load_processor


@pytest.mark.parametrize("kind", ["qwen3_vl", "qwen2_5_vl"])
def test_patches_are_projected_as_by_the_convolution(
    kind: str, folder_of: Callable[[str], Path]
) -> None:
    projection = load_model(folder_of(kind)).model.visual.patch_embed.proj
    assert isinstance(projection, PatchProjection)
    plain = nn.Conv3d(
        projection.in_channels, projection.out_channels, projection.kernel_size,
        stride=projection.stride, bias=projection.bias is not None,
    )  # fmt: skip
    plain.load_state_dict(projection.state_dict())
    for size in [(5, 3, *projection.kernel_size), (1, 3, *(2 * k for k in projection.kernel_size))]:
        patches = torch.randn(size)
        assert projection(patches).shape == plain(patches).shape
        assert torch.allclose(projection(patches), plain(patches), atol=1e-5)


def test_a_tokenizer_is_no_processor(folder_of: Callable[[str], Path], tmp_path: Path) -> None:
    """AutoProcessor gives one, silently, for a class of processor that it does not know."""
    source = folder_of("llava")
    for path in source.iterdir():
        text = path.read_bytes()
        if path.name == "processor_config.json":
            settings = json.loads(text) | {"processor_class": "NoSuchProcessor"}
            text = json.dumps(settings).encode()
        (tmp_path / path.name).write_bytes(text)
    assert hasattr(load_processor(source), "image_processor")
    with pytest.raises(UserError, match="has no image processor"):
        load_processor(tmp_path)


def test_a_model_that_neither_sees_nor_writes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "vit"}')
    with pytest.raises(UserError, match="a model of ViTConfig, which neither sees and writes nor"):
        load_model(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "no_such"}')
    with pytest.raises(UserError, match="cannot load a model from"):
        load_model(tmp_path)


def test_a_language_model_without_a_chat_template_is_refused(
    folder_of: Callable[[str], Path], tmp_path: Path
) -> None:
    shutil.copytree(folder_of("llama"), tmp_path / "base")
    (tmp_path / "base" / "chat_template.jinja").unlink()
    with pytest.raises(UserError, match="has no chat template"):
        load_processor(tmp_path / "base")


def test_weights_that_are_a_pickle_are_refused(
    folder_of: Callable[[str], Path], tmp_path: Path
) -> None:
    source = folder_of("llava")
    (tmp_path / "config.json").write_bytes((source / "config.json").read_bytes())
    torch.save({}, tmp_path / "pytorch_model.bin")
    with pytest.raises(UserError, match="cannot load a model from"):
        load_model(tmp_path)


def test_a_model_needs_an_end_token(make_policy: Make) -> None:
    from ui_gym_agents.policy.model import stop_ids

    policy = make_policy()
    assert policy.tokenizer.convert_ids_to_tokens(policy.stops) == ["<|im_end|>"]
    policy.base.generation_config.eos_token_id = [7, 8]
    assert stop_ids(policy.base, policy.tokenizer) == [*policy.stops, 7, 8]
    policy.base.generation_config.eos_token_id = None
    policy.tokenizer.eos_token = None
    with pytest.raises(UserError, match="no end token"):
        stop_ids(policy.base, policy.tokenizer)
