"""ui-gym in verl 0.9: its own worker, with a server that is an oracle and a real tiny processor.

No run on a GPU was made: the worker's rollout ends with the padded batch that its trainer gets.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("verl.experimental.agent_loop", reason="tox -e verl")

from omegaconf import OmegaConf
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
from verl.experimental.agent_loop.agent_loop import AgentLoopWorker, DictConfigWrap
from verl.protocol import DataProto
from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn
from verl.utils.rollout_trace import RolloutTraceConfig
from verl.workers.rollout.replica import TokenOutput

from tests.integrations.scripted import Oracle
from ui_gym.errors import DeviceError, UserError
from ui_gym_agents.integrations.episodes import EpisodeRow
from ui_gym_agents.integrations.verl import UIGymAgentLoop, dataset_rows, write_dataset
from ui_gym_agents.policy.processor import ImageOnlyProcessor
from ui_gym_tiny.tokenizer import build_tokenizer

PER_PICTURE = -(-96 // 32) * -(-64 // 32)
"""Placeholders of a picture of the paint suite."""


def tiny_processor() -> Any:
    tokenizer = build_tokenizer(["Write"], 12, 8)
    images = Qwen2VLImageProcessorPil(patch_size=16, merge_size=2, temporal_patch_size=2)
    return ImageOnlyProcessor(images, tokenizer, chat_template=tokenizer.chat_template)


class Server:
    """verl's `LLMServerClient` with an oracle in it, which reads the tokens that it is given."""

    def __init__(self, processor: Any, oracle: Oracle, *, logprobs: bool = True) -> None:
        self.tokenizer = processor.tokenizer
        self.oracle = oracle
        self.logprobs = logprobs
        self.pictures: list[int] = []
        self.read: dict[str, list[int]] = {}

    async def generate(self, request_id: str, *, prompt_ids: list[int], **more: Any) -> TokenOutput:
        before = self.read.get(request_id, [])
        assert prompt_ids[: len(before)] == before  # what was read and said stays as it was
        self.pictures.append(len(more["image_data"] or []))
        text = self.tokenizer.decode(prompt_ids)
        goal = max((g for g in self.oracle.texts if g in text), key=len)
        said = self.oracle.texts[goal][text.count("<|im_start|>assistant") - 1]
        ids = [*self.tokenizer.encode(said, add_special_tokens=False), self.tokenizer.eos_token_id]
        self.read[request_id] = [*prompt_ids, *ids]
        logprobs = [-0.5] * len(ids) if self.logprobs else None
        return TokenOutput(token_ids=ids, log_probs=logprobs, extra_fields={"max_global_steps": 7})


def settings(**rollout: Any) -> Any:
    asked = {
        "prompt_length": 2048, "response_length": 512, "full_determinism": False,
        "temperature": 1.0, "top_p": 1.0, "top_k": -1, "calculate_log_probs": True,
        "agent": {"default_agent_loop": "single_turn_agent"},
    }  # fmt: skip
    return OmegaConf.create(
        {"actor_rollout_ref": {"rollout": asked | rollout, "model": {}}, "data": {}}
    )


def loop_of(processor: Any, server: Any, *, kind: str = "qwen2_5_vl", **rollout: Any) -> Any:
    config = settings(**rollout)
    return UIGymAgentLoop(
        trainer_config=DictConfigWrap(config), server_manager=server, processor=processor,
        tokenizer=processor.tokenizer, dataset_cls=RLHFDataset, hf_model_type=kind,
        data_config=DictConfigWrap(config.data), slots=2,
    )  # fmt: skip


def played(rows: list[dict[str, Any]], server: Any, processor: Any, **rollout: Any) -> list[Any]:
    async def main() -> list[Any]:
        loops = [loop_of(processor, server, **rollout) for _ in rows]
        runs = [loop.run({}, **row) for loop, row in zip(loops, rows, strict=True)]
        return await asyncio.gather(*runs)

    return asyncio.run(main())


@pytest.fixture
def rows() -> list[dict[str, Any]]:
    return [row for row in dataset_rows(["PaintText"], 2) for _ in range(2)]


def oracle_of(rows: list[dict[str, Any]]) -> Oracle:
    return Oracle([EpisodeRow.read(row["extra_info"]) for row in rows])


def test_an_oracle_wins_and_only_what_it_said_is_learned(rows: list[dict[str, Any]]) -> None:
    processor = tiny_processor()
    tokenizer, oracle = processor.tokenizer, oracle_of(rows)
    server = Server(processor, oracle)
    for out in played(rows, server, processor):
        assert len(out.response_ids) == len(out.response_mask) == len(out.response_logprobs)
        sampled = [i for i, m in zip(out.response_ids, out.response_mask, strict=True) if m]
        goal = next(g for g in oracle.texts if g in tokenizer.decode(out.prompt_ids))
        texts = oracle.texts[goal]
        assert tokenizer.decode(sampled) == "".join(f"{text}<|im_end|>" for text in texts)
        assert {p for p, m in zip(out.response_logprobs, out.response_mask, strict=True) if m} == {
            -0.5
        }
        images = out.multi_modal_data["images"]
        placeholders = (out.prompt_ids + out.response_ids).count(processor.image_token_id)
        assert (len(images), placeholders) == (len(texts), PER_PICTURE * len(texts))
        assert processor.image_token_id not in sampled
        assert (out.reward_score, out.num_turns) == (1.0, 2 * len(texts))
        assert out.extra_fields["reward_extra_info"]["success"] == 1.0
        assert out.extra_fields["max_global_steps"] == 7


def test_a_group_sees_the_same_pictures_in_order(rows: list[dict[str, Any]]) -> None:
    processor = tiny_processor()
    server = Server(processor, oracle_of(rows))
    first, second, other, _ = played(rows, server, processor)
    shown = [[np.asarray(i) for i in out.multi_modal_data["images"]] for out in (first, second)]
    for ours, theirs in zip(*shown, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert first.prompt_ids == second.prompt_ids != other.prompt_ids
    assert max(server.pictures) == len(shown[0])


def test_without_logprobs_there_are_none(rows: list[dict[str, Any]]) -> None:
    processor = tiny_processor()
    server = Server(processor, oracle_of(rows), logprobs=False)
    (out,) = played(rows[:1], server, processor)
    assert out.response_logprobs is None
    assert out.reward_score == 1.0


def test_a_screen_for_which_no_tokens_are_left_ends_the_episode(rows: list[dict[str, Any]]) -> None:
    processor = tiny_processor()
    (out,) = played(rows[:1], Server(processor, oracle_of(rows)), processor, response_length=40)
    placeholders = (out.prompt_ids + out.response_ids).count(processor.image_token_id)
    assert len(out.response_ids) == len(out.response_mask) <= 40
    assert placeholders == PER_PICTURE * len(out.multi_modal_data["images"])
    assert out.reward_score == 0.0


def test_too_long_a_question_is_told(rows: list[dict[str, Any]]) -> None:
    processor = tiny_processor()
    with pytest.raises(ValueError, match=r"exceeding rollout.prompt_length=16"):
        played(rows[:1], Server(processor, oracle_of(rows)), processor, prompt_length=16)


def test_a_row_that_names_no_episode_is_told() -> None:
    processor = tiny_processor()
    with pytest.raises(UserError, match="the columns task, seed and arguments"):
        played([{"extra_info": {"index": 0}}], Server(processor, oracle_of([])), processor)


def test_a_failed_device_is_tried_again_and_then_told() -> None:
    (row,) = dataset_rows(["PaintText"], 1, device="paint:lose_on=boom")
    processor, asked = tiny_processor(), []

    class Breaks:
        async def generate(self, request_id: str, **more: Any) -> TokenOutput:
            asked.append(request_id)
            text = "click(1, 1); type('boom')"
            return TokenOutput(token_ids=processor.tokenizer.encode(text))

    with pytest.raises(DeviceError, match="the paint has dried"):
        played([row], Breaks(), processor)
    assert len(set(asked)) == 3


def test_a_language_model_reads_elements() -> None:
    rows = dataset_rows(["PaintText"], 1, observation="elements")
    tokenizer = build_tokenizer(["Write"], 12, 8)
    reader = SimpleNamespace(tokenizer=tokenizer)
    oracle = oracle_of(rows)

    async def main() -> Any:
        config = settings()
        loop = UIGymAgentLoop(
            trainer_config=DictConfigWrap(config), server_manager=Server(reader, oracle),
            tokenizer=tokenizer, processor=None, dataset_cls=RLHFDataset, hf_model_type="qwen2",
            data_config=DictConfigWrap(config.data),
        )  # fmt: skip
        return await loop.run({}, **rows[0])

    out = asyncio.run(main())
    assert (out.reward_score, out.multi_modal_data) == (1.0, {})
    assert "button" in tokenizer.decode(out.prompt_ids)


@pytest.fixture
def worker_of() -> Callable[[Any, Any], Any]:
    """Makes verl's own worker, without the model's folder that its constructor wants."""

    def make(processor: Any, server: Any) -> Any:
        worker = object.__new__(AgentLoopWorker)
        worker.config = settings()
        worker.rollout_config = worker.config.actor_rollout_ref.rollout
        worker.llm_client, worker.hf_model_type = server, "qwen2_5_vl"
        worker.processor, worker.tokenizer = processor, processor.tokenizer
        worker.dataset_cls, worker.mm_processor_kwargs, worker.tools = RLHFDataset, {}, []
        worker.reward_loop_worker_handles, worker.distillation_enabled = None, False
        RolloutTraceConfig.init("ui-gym", "test", None)
        return worker

    return make


def test_its_worker_makes_a_batch_of_a_file_of_rows(
    tmp_path: Path, worker_of: Callable[[Any, Any], Any]
) -> None:
    pytest.importorskip("pyarrow", reason="needs the extra `parquet`")
    write_dataset(tmp_path / "rows.parquet", ["PaintText"], 3)
    processor, oracle = tiny_processor(), oracle_of(dataset_rows(["PaintText"], 3))
    config = OmegaConf.create({"filter_overlong_prompts": False, "cache_dir": str(tmp_path)})
    rows = RLHFDataset(str(tmp_path / "rows.parquet"), processor.tokenizer, config, processor)
    batch = DataProto.from_single_dict(collate_fn([rows[i] for i in range(3)]))
    worker = worker_of(processor, Server(processor, oracle))
    out = asyncio.run(worker.generate_sequences(batch))
    assert out.batch["rm_scores"].sum(1).tolist() == [1.0] * 3
    assert out.non_tensor_batch["success"].tolist() == [1.0] * 3
    assert out.batch["response_mask"].shape == (3, 512)
    for ids, inputs in zip(
        out.batch["input_ids"], out.non_tensor_batch["multi_modal_inputs"], strict=True
    ):
        features = int(inputs["image_grid_thw"].prod(1).sum()) // 4
        assert features == int((ids == processor.image_token_id).sum())
