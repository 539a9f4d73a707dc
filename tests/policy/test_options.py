"""What a model is loaded with: attention, quantized weights, float32 adapters, smaller pictures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from policy_helpers import Make, MakeView, act, difference

from ui_gym.errors import UserError
from ui_gym_agents.policy.encoding import PromptEncoder
from ui_gym_agents.policy.model import load_processor
from ui_gym_agents.policy.options import check_points, limit_pixels
from ui_gym_agents.store import ScreenshotStore


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_attention_is_what_was_asked_for(
    make_policy: Make, make_view: MakeView, screenshots: ScreenshotStore, attention: str
) -> None:
    policy = make_policy("qwen2_5_vl", attention=attention)
    assert policy.base.config.text_config._attn_implementation == attention
    records = act(policy, [make_view(), make_view(seeds=(1,), noise=2)])
    assert difference(make_policy("qwen2_5_vl"), records, screenshots) < 2e-5


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"attention": "flash_attention_2"}, "flash attention is not installed; to get it: pip"),
        ({"attention": "spda"}, "no attention 'spda'. Did you mean 'sdpa'"),
        ({"quantize": "nf5", "lora_rank": 2}, "no quantization 'nf5'. Did you mean 'nf4'"),
        ({"quantize": "nf4"}, "set --policy.lora_rank above 0"),
    ],
)
def test_what_cannot_be_is_said_before_weights_are_read(
    folder_of: Callable[[str], Path], make_policy: Make, options: dict[str, object], said: str
) -> None:
    with pytest.raises(UserError, match=said):
        make_policy("qwen3_vl", **options)


def test_quantized_weights_need_bitsandbytes(
    make_policy: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui_gym_agents.policy.options.find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"\(nf4\) need bitsandbytes, .* pip install bitsandbytes"):
        make_policy("qwen3_vl", quantize="nf4", lora_rank=2)


def test_an_adapter_learns_on_quantized_weights(
    make_policy: Make, make_view: MakeView, screenshots: ScreenshotStore, tmp_path: Path
) -> None:
    pytest.importorskip("bitsandbytes")
    kind = "qwen2_5_vl_wide"
    policy = make_policy(kind, quantize="nf4", lora_rank=4)
    quantized = {n for n, p in policy.base.named_parameters() if p.dtype == torch.uint8}
    assert quantized
    assert len(quantized) == 2 * 7  # the linear layers of the text model, and none of the tower's
    assert not any("vis" in name for name in quantized)
    records = act(policy, [make_view(), make_view(seeds=(1,), noise=2)])
    before = difference(policy, records, screenshots)
    assert before < 2e-5
    optimizer = torch.optim.SGD(policy.parameters(), lr=1.0)
    torch.cat(policy.logprobs(records, screenshots)).sum().backward()
    optimizer.step()
    assert difference(policy, records, screenshots) > 100 * before
    policy.save(tmp_path)
    again = make_policy(kind, quantize="nf4", adapter=tmp_path)
    for one, other in zip(
        policy.logprobs(records, screenshots), again.logprobs(records, screenshots), strict=True
    ):
        assert torch.equal(one, other)
    with pytest.raises(UserError, match="cannot be added to quantized weights"):
        policy.save_merged(tmp_path / "merged")


def test_an_adapter_on_bfloat16_weights_is_trained_in_float32(
    make_policy: Make, make_view: MakeView, screenshots: ScreenshotStore, tmp_path: Path
) -> None:
    """An update of a 10,000th of a weight is lost in bfloat16, and AdamW's second moment too."""
    policy = make_policy("qwen2_5_vl", dtype="bfloat16", lora_rank=4)
    assert policy.base.dtype == torch.bfloat16
    assert {p.dtype for p in policy.parameters()} == {torch.float32}
    optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-5)
    records = act(policy, [make_view(), make_view(seeds=(1,), noise=2)])
    torch.cat(policy.logprobs(records, screenshots)).sum().backward()
    optimizer.step()
    state = [v for kept in optimizer.state.values() for v in kept.values() if v.dim()]
    assert {v.dtype for v in state} == {torch.float32}
    policy.save(tmp_path)
    again = make_policy("qwen2_5_vl", dtype="bfloat16", adapter=tmp_path)
    assert {p.dtype for p in again.parameters()} == {torch.float32}
    for one, other in zip(policy.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize(
    ("kind", "most", "tokens"),
    [("qwen2_5_vl", 64 * 64, 4), ("smolvlm", 64 * 64, 4 + 4 * 1), ("smolvlm", 128 * 128, 4 * 3)],
)
def test_pictures_are_made_smaller(
    folder_of: Callable[[str], Path], kind: str, most: int, tokens: int
) -> None:
    def seen(processor: object) -> int:
        encoder = PromptEncoder(processor, [])
        content = [{"type": "image"}]
        ids = encoder.encode([{"role": "user", "content": content}], [(128, 128)])
        return ids.count(encoder.image_id)

    before = seen(load_processor(folder_of(kind)))
    processor = load_processor(folder_of(kind))
    limit_pixels(processor.image_processor, most)
    assert seen(processor) < before
    picture = np.zeros((256, 256, 3), dtype=np.uint8)
    values = processor.image_processor(images=[picture], return_tensors="pt")
    if "image_grid_thw" in values:
        assert values["image_grid_thw"].prod() * 16 * 16 <= most


@pytest.mark.parametrize(
    ("kind", "most", "said"),
    [
        ("llava", 1000, "makes all pictures one size"),
        ("qwen2_5_vl", 100, "max_pixels 100: .* shows no less than 3136 pixels"),
        ("smolvlm", 100, "shows no less than 4096 pixels"),
    ],
)
def test_a_limit_that_cannot_be_kept_is_refused(
    folder_of: Callable[[str], Path], kind: str, most: int, said: str
) -> None:
    with pytest.raises(UserError, match=said):
        limit_pixels(load_processor(folder_of(kind)).image_processor, most)


@pytest.mark.parametrize("dialect", ["qwen25", "uitars15"])
def test_pictures_too_small_for_a_dialects_points_are_refused(dialect: str) -> None:
    screen = (1920, 1080)
    with pytest.raises(UserError, match=r"a picture of 1932x1092, .* set it to 2109744 or more"):
        check_points(dialect, screen, 1_000_000)
    check_points(dialect, screen, 2109744)
    check_points(dialect, screen, None)


@pytest.mark.parametrize("dialect", ["qwen", "uitars", "canonical"])
def test_points_that_do_not_count_the_models_pixels_are_read_at_any_size(dialect: str) -> None:
    check_points(dialect, (1920, 1080), 1_000)
