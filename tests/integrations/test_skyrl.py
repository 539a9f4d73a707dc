"""ui-gym in SkyRL: its own `make`, and its generator with an engine that is an oracle."""

from __future__ import annotations

import asyncio
import base64
import io
import typing
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import typing_extensions
from PIL import Image

pytest.importorskip("skyrl_gym", reason="tox -e skyrl")

import skyrl_gym
from skyrl_gym.metrics import aggregate_for_environment

from tests.integrations.scripted import Messages, Oracle, pictures
from ui_gym.errors import UserError
from ui_gym_agents.integrations.episodes import EpisodeRow
from ui_gym_agents.integrations.skyrl import dataset_rows, register_env, write_dataset


def make(row: dict[str, Any], **more: Any) -> Any:
    extras = {key: value for key, value in row.items() if key not in ("prompt", "env_class")}
    return skyrl_gym.make(row["env_class"], env_config={}, extras=extras | more)


def test_an_oracle_wins_and_each_turn_shows_a_picture() -> None:
    rows = dataset_rows(["PaintText"], 3, seed=4)
    oracle = Oracle([EpisodeRow.read(row) for row in rows])
    metrics = []
    for row in rows:
        env = make(row)
        messages, extra = env.init(row["prompt"])
        assert extra["seed"] == row["seed"]
        done, rewards = False, []
        while not done:
            said = oracle(messages)
            step = env.step(said)
            rewards.append(step["reward"])
            messages += [{"role": "assistant", "content": said}, *step["observations"]]
            done = step["done"]
        assert rewards == [*[0.0] * (len(rewards) - 1), 1.0]
        assert step["observations"] == []
        assert pictures(messages) == oracle.seen[row["seed"]][: len(rewards)]
        metrics.append(env.get_metrics())
        env.close()
    means = aggregate_for_environment("ui_gym", metrics)
    assert (means["success"], means["action_errors"], means["failures"]) == (1.0, 0.0, 0.0)
    register_env()  # again


def test_what_is_no_action_is_told_and_max_turns_ends_the_episode() -> None:
    (row,) = dataset_rows(["PaintText"], 1)
    env = make(row, max_turns=2)
    env.init(row["prompt"])
    first, second = env.step("I do not know."), env.step("wait(0)")
    assert "cannot read 'I do not know.'" in first["observations"][0]["content"][0]["text"]
    assert (first["done"], second["done"], second["reward"]) == (False, True, 0.0)
    assert env.get_metrics()["action_errors"] == 1
    env.close()


def test_a_failed_device_ends_the_episode_and_is_counted() -> None:
    (row,) = dataset_rows(["PaintText"], 1, device="paint:lose_on=boom")
    env = make(row)
    env.init(row["prompt"])
    step = env.step("click(1, 1); type('boom')")
    assert (step["done"], step["reward"], env.get_metrics()["failures"]) == (True, 0.0, 1.0)
    assert "the paint has dried" in step["metadata"]["failure"]
    env.close()


@pytest.mark.parametrize("row", [{}, {"task": "PaintText", "seed": 1, "arguments": "{half"}])
def test_a_row_that_is_none_is_told(row: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="the columns task, seed and arguments"):
        make({"env_class": "ui_gym", **row})


def test_a_data_set_is_read_back(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    write_dataset(tmp_path / "rows.parquet", ["PaintText"], 3, boxes=2)
    read = datasets.load_dataset("parquet", data_files=str(tmp_path / "rows.parquet"))["train"]
    assert list(read) == dataset_rows(["PaintText"], 3, boxes=2)


class Engine:
    """The part of `RemoteInferenceClient` that the generator calls, with a real processor."""

    model_name = "oracle"

    def __init__(self, processor: Any, says: Callable[[Messages], str]) -> None:
        self.processor = processor
        self.says = says
        self.rendered: dict[tuple[int, ...], Messages] = {}
        self.finished: list[str] = []

    async def render_chat_completion(self, request: Any) -> dict[str, Any]:
        messages = request["json"]["messages"]
        images = [_image(url) for url in pictures(messages)]
        asked = [message | {"content": _placed(message["content"])} for message in messages]
        text = self.processor.apply_chat_template(asked, add_generation_prompt=True, tokenize=False)
        ids = self.processor(text=[text], images=images)["input_ids"][0]
        self.rendered[tuple(ids)] = list(messages)
        return {"token_ids": list(ids), "features": None}

    async def generate(self, asked: Any, model: str | None = None) -> dict[str, Any]:
        said = self.says(self.rendered[tuple(asked["prompt_token_ids"][0])])
        tokenizer = self.processor.tokenizer
        ids = [*tokenizer.encode(said, add_special_tokens=False), tokenizer.eos_token_id]
        return {
            "responses": [said], "response_ids": [ids], "stop_reasons": ["stop"],
            "response_logprobs": [[-0.5] * len(ids)],
        }  # fmt: skip

    async def finish_session(self, session: str) -> None:
        self.finished.append(session)


def _image(url: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).convert("RGB")


def _placed(content: Any) -> Any:
    if isinstance(content, str):
        return content
    return [part if part["type"] == "text" else {"type": "image"} for part in content]


@pytest.fixture
def generator_of(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Makes SkyRL's generator for models that see."""
    processor()  # what transformers imports for it is not to see the next line
    # skyrl 0.3's types are typing.TypedDict, which pydantic refuses before Python 3.12.
    monkeypatch.setattr(typing, "TypedDict", typing_extensions.TypedDict)
    module = pytest.importorskip(
        "skyrl.train.generators.skyrl_vlm_generator", reason="tox -e skyrl"
    )
    config = pytest.importorskip("skyrl.train.config")

    def make_generator(engine: Engine, max_turns: int) -> Any:
        settings = config.GeneratorConfig(max_turns=max_turns, max_input_length=100_000)
        settings.sampling_params.logprobs = 1
        return module.SkyRLVLMGymGenerator(
            settings, config.SkyRLGymConfig(max_env_workers=2), engine, engine.processor.tokenizer
        )

    return make_generator


def processor() -> Any:
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    from ui_gym_agents.policy.processor import ImageOnlyProcessor
    from ui_gym_tiny.tokenizer import build_tokenizer

    tokenizer = build_tokenizer(["Write"], 12, 8)
    images = Qwen2VLImageProcessorPil(patch_size=16, merge_size=2, temporal_patch_size=2)
    return ImageOnlyProcessor(images, tokenizer, chat_template=tokenizer.chat_template)


def generate(generator: Any, rows: Sequence[dict[str, Any]]) -> Any:
    extras = [{key: row[key] for key in ("task", "seed", "arguments")} for row in rows]
    batch = {
        "prompts": [row["prompt"] for row in rows],
        "env_classes": [row["env_class"] for row in rows],
        "env_extras": extras,
    }
    return asyncio.run(generator.generate(batch, disable_tqdm=True))


def test_its_generator_masks_all_but_what_was_said(generator_of: Callable[..., Any]) -> None:
    rows = [row for row in dataset_rows(["PaintText"], 2) for _ in range(2)]
    oracle = Oracle([EpisodeRow.read(row) for row in rows])
    engine = Engine(processor(), oracle)
    played = generate(generator_of(engine, max_turns=9), rows)
    tokenizer = engine.processor.tokenizer
    for row, ids, mask, rewards in zip(
        rows, played["response_ids"], played["loss_masks"], played["rewards"], strict=True
    ):
        said = tokenizer.decode([i for i, m in zip(ids, mask, strict=True) if m])
        goal = next(g for g, texts in oracle.texts.items() if f"{texts[0]}<|im_end|>" in said)
        assert said == "".join(f"{text}<|im_end|>" for text in oracle.texts[goal])
        assert (sum(rewards), rewards[-1]) == (1.0, 1.0)
        placeholders = ids.count(engine.processor.image_token_id)
        per_picture = -(-96 // 32) * -(-64 // 32)
        assert placeholders == per_picture * (len(oracle.texts[goal]) - 1), row
    assert played["rollout_metrics"]["environment/success"] == 1.0
    assert len(engine.finished) == len(rows)
