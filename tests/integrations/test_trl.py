"""TRL's own trainer, on our environments."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

pytest.importorskip("trl", reason="tox -e trl")

import torch
from datasets import Dataset
from transformers.utils.chat_template_utils import get_json_schema
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import (
    is_chat_template_prefix_preserving,
    qwen3_vl_chat_template,
    supports_tool_calling,
)
from waiting import eventually

from ui_gym.errors import UserError
from ui_gym_agents.chat import TOOL, ChatEpisode
from ui_gym_agents.integrations.trl import UIGymRollout, UIGymSpec, write_actions
from ui_gym_agents.policy.model import load_model, load_processor
from ui_gym_agents.policy.prompts import PromptBuilder
from ui_gym_agents.policy.weights import resolve

MODEL = "tiny-clerk"
END = "<|im_end|>"
TEXT_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""A language model's: the content of a message is a text."""

Script = Callable[[str, int, int], str]
"""What is said next, of a prompt, the number of turns in it, and the place in the batch."""


class Trainer(GRPOTrainer):  # type: ignore[misc]
    """TRL's own, which keeps what it learns from; where a script is given, it writes the answers,
    and not the model."""

    script: Script | None = None

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.batches: list[dict[str, Any]] = []

    def _generate_single_turn(self, prompt_ids: Any, *given: Any, **more: Any) -> Any:
        if self.script is None:
            return super()._generate_single_turn(prompt_ids, *given, **more)
        asked = [self._tokenizer.decode(ids) for ids in prompt_ids]
        said = [
            self.script(text, text.count("<|im_start|>assistant") - 1, place)
            for place, text in enumerate(asked)
        ]
        return [self._tokenizer(text + END)["input_ids"] for text in said], None

    def _generate_and_score_completions(self, inputs: Any) -> Any:
        self.batches.append(super()._generate_and_score_completions(inputs))
        return self.batches[-1]


def trainer(
    spec: UIGymSpec, folder: Path, *, calls: bool = False, script: Script | None = None, **more: Any
) -> Trainer:
    """Batches of a group of four, of a tiny model that writes actions, or calls tools."""
    processor = load_processor(resolve(MODEL))
    if calls:
        processor.chat_template = qwen3_vl_chat_template
    else:
        write_actions(processor)
    settings = {
        "per_device_train_batch_size": 4, "num_generations": 4, "max_completion_length": 2000,
        "max_tool_calling_iterations": 8, "max_steps": 1, "learning_rate": 1e-3, "report_to": [],
        "save_strategy": "no", "use_cpu": True, "bf16": False, "disable_tqdm": True,
    }  # fmt: skip
    given = {"reward_funcs": spec.reward_funcs, "train_dataset": spec.train_dataset}
    given |= {key: more.pop(key) for key in tuple(given) if key in more}
    made = Trainer(
        model=load_model(resolve(MODEL), dtype="float32", device="cpu"),
        processing_class=processor,
        environment_factory=spec.environment_factory,
        args=GRPOConfig(output_dir=str(folder), **(settings | more)),
        **given,
    )
    made.script = script
    return made


def play(seed: int) -> tuple[str, list[str]]:
    """The goal of a seed, and what an oracle writes."""
    chat = ChatEpisode("PaintText")
    chat.reset(seed=seed, options={"oracle": True})
    goal, said = chat.view.goal, []
    while True:
        said.append(chat.info["oracle"]["action_text"])
        if chat.act(said[-1]).done:
            chat.close()
            return goal, said


def logged(made: Trainer, name: str) -> float:
    return float(next(entry[name] for entry in made.state.log_history if name in entry))


def call(action: str) -> str:
    return f'<tool_call>\n{{"name": "act", "arguments": {{"action": "{action}"}}}}\n</tool_call>'


def test_a_tiny_model_learns_from_pixels_in_trls_trainer(tmp_path: Path) -> None:
    def letters(completions: list[Any], **more: Any) -> list[float]:
        return [float(len(str(turns[0]))) for turns in completions]

    spec = UIGymSpec("PaintText", dialect="cells", prompt=PromptBuilder.bare())
    made = trainer(
        spec, tmp_path, reward_funcs=[letters, *spec.reward_funcs], max_steps=2,
        max_completion_length=120, max_tool_calling_iterations=2, logging_steps=1,
    )  # fmt: skip
    eyes = [(p, p.detach().clone()) for p in made.model.model.visual.parameters()]
    made.train()
    assert all("pixel_values" in batch for batch in made.batches)
    assert logged(made, "grad_norm") > 0
    assert logged(made, "tools/call_frequency") >= 1
    assert logged(made, "rewards/UIGymRollout/mean") == 0
    assert any(not torch.equal(now, before) for now, before in eyes)


@pytest.mark.parametrize("calls", [False, True], ids=["writes actions", "calls tools"])
@pytest.mark.parametrize("lazy", [True, False])
def test_an_oracle_wins_in_trls_loop(calls: bool, lazy: bool, tmp_path: Path) -> None:
    known = dict(play(seed) for seed in (7, 8))

    def script(asked: str, turns: int, place: int) -> str:
        said = next(said for goal, said in known.items() if goal in asked)
        if turns == len(said):
            assert "The episode is over." in asked
            return "Done."
        return call(said[turns].replace('"', "'")) if calls else said[turns]

    spec = UIGymSpec("PaintText", first_seed=7, seeds=2, lazy=lazy)
    turns = len(next(iter(known.values())))
    made = trainer(
        spec, tmp_path, calls=calls, script=script, per_device_train_batch_size=8,
        max_tool_calling_iterations=turns if not calls else None,
    )  # fmt: skip
    made.train()
    assert logged(made, "rewards/UIGymRollout/mean") == 1.0
    assert logged(made, "tools/call_frequency") == turns
    assert logged(made, "tools/failure_frequency") == 0.0
    assert made.batches[0]["num_images"] == [turns + 1] * 8


def test_a_group_begins_with_one_picture_to_the_byte(tmp_path: Path) -> None:
    shown: list[tuple[int, bytes]] = []

    def look(prompts: list[Any], seed: list[int], **more: Any) -> list[float]:
        parts = [prompt[-1]["content"][-1]["image"] for prompt in prompts]
        shown.extend(zip(seed, (np.asarray(part).tobytes() for part in parts), strict=True))
        return [0.0] * len(prompts)

    spec = UIGymSpec("PaintText", seeds=2)
    trainer(
        spec, tmp_path, script=lambda *given: "finish()", reward_funcs=[look],
        per_device_train_batch_size=8,
    ).train()  # fmt: skip
    assert sorted(seed for seed, _ in shown) == [0] * 4 + [1] * 4
    assert len(set(shown)) == len({picture for _, picture in shown}) == 2


def test_a_lost_episode_teaches_nothing(tmp_path: Path) -> None:
    _, said = play(0)

    def script(asked: str, turns: int, place: int) -> str:
        if turns == 0:
            return 'click(1, 1); click(1, 17); type("kill")' if place == 3 else said[0]
        return "; ".join(said[1:]) if place == 0 else "finish()"

    spec = UIGymSpec("PaintText", device="paint:lose_on=kill", seeds=1)
    made = trainer(spec, tmp_path, script=script, max_tool_calling_iterations=2)
    made.train()
    advantages = made.batches[0]["advantages"].tolist()
    # Of the rewards 1, 0.5, 0.5 and none: the last counts nowhere, and is no failure.
    assert advantages == pytest.approx([1.154, -0.577, -0.577, 0.0], abs=1e-2)
    assert logged(made, "reward") == pytest.approx(2 / 3)


def test_without_seeds_nothing_is_trained(tmp_path: Path) -> None:
    spec = UIGymSpec("PaintText")
    rows = Dataset.from_dict({"prompt": [[{"role": "user", "content": ""}]] * 4})
    with pytest.raises(UserError, match="a column 'seed'"):
        trainer(spec, tmp_path, train_dataset=rows).train()


def test_held_out_rows_are_played_in_their_split(tmp_path: Path) -> None:
    spec = UIGymSpec("PaintText", heldout_seeds=3, seeds=5)
    assert len(spec.train_dataset) == 5
    assert len(spec.eval_dataset) == 3
    slot = spec.environment_factory()
    slot.reset(**spec.eval_dataset[0])
    slot.get_reward()
    assert slot._chat.info["split"] == "heldout"


def test_the_tool_is_described_as_our_own_is() -> None:
    schema = get_json_schema(UIGymRollout.act)["function"]
    assert (schema["name"], schema["description"]) == (
        TOOL["function"]["name"], TOOL["function"]["description"],
    )  # fmt: skip
    (action,) = schema["parameters"]["properties"].items()
    assert action[0] == "action"
    assert action[1] == TOOL["function"]["parameters"]["properties"]["action"]


@pytest.mark.parametrize("sees", [True, False])
def test_a_model_that_writes_actions_passes_trls_checks_of_templates(sees: bool) -> None:
    processor: Any = load_processor(resolve(MODEL))
    if not sees:
        processor = processor.tokenizer
        processor.chat_template = TEXT_TEMPLATE
    assert not supports_tool_calling(processor)
    write_actions(processor)
    assert supports_tool_calling(processor)
    assert is_chat_template_prefix_preserving(processor)


def test_a_template_that_begins_no_answer_is_refused() -> None:
    processor = load_processor(resolve(MODEL))
    bare = "{% for m in messages %}{{ m.content[0].text }}{% endfor %}"
    processor.chat_template = bare
    with pytest.raises(UserError, match="where its answer begins"):
        write_actions(processor)
    assert processor.chat_template == bare


@pytest.fixture
def browsers() -> Callable[[], list[psutil.Process]]:
    """The browsers that were started since."""
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    return lambda: [
        process
        for process in psutil.Process().children(recursive=True)
        if process.pid not in before and "chrom" in process.name()
    ]


def test_a_killed_browser_ends_the_episode_and_is_told(
    browsers: Callable[[], list[psutil.Process]],
) -> None:
    slot: Any = UIGymSpec("UI/ClickButton-v0", compact=True).environment_factory()
    np.asarray(slot.reset(seed=1)[1]["image"])
    for process in browsers():
        process.kill()
    told = slot.act("click(1, 1)")[0]["text"]
    assert "It was lost (device:" in told
    assert "The episode is over." in told
    assert slot.get_reward() is None
    slot.reset(seed=1)
    assert slot.get_reward() == 0.0
    del slot
    gc.collect()  # what the device raised holds the frames that it went through
    assert eventually(lambda: not browsers())


LEAVES = """
import psutil
from ui_gym_agents.integrations.trl import UIGymSpec
spec = UIGymSpec("UI/ClickButton-v0", compact=True)
slots = [spec.environment_factory() for _ in range(2)]
for slot in slots:
    slot.reset(seed=1)
    slot.act("click(1, 1)")
    slot._wait()
print(*(process.pid for process in psutil.Process().children(recursive=True)))
slots[0].act("click(1, 1)")
"""


def test_a_program_that_ends_leaves_no_browser() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", LEAVES], capture_output=True, text=True, timeout=120, check=True
    )
    pids = [int(pid) for pid in ended.stdout.split()]
    assert len(pids) >= 2
    assert eventually(lambda: not any(psutil.pid_exists(pid) for pid in pids))
    assert ended.stderr == ""
