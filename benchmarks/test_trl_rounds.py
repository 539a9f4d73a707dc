"""A round of TRL's tool loop: eight slots whose steps take 0.3 s each.

Run with ``pytest benchmarks/test_trl_rounds.py``, where ``trl==1.16.0`` is installed, with nothing
else on the machine. The loop is TRL's own, of its `GRPOTrainer`, and calls one slot after the
other; what differs is whether a call waits for its step, as every call does that TRL knows of, or
gives a picture that comes later. Answers are written by a script and not by a model, and the env is
next to nothing (`tests/paint.py`), so that a round is what the slots take.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="needs trl==1.16.0")

from trl import GRPOConfig, GRPOTrainer

from ui_gym_agents.integrations.trl import UIGymSpec, write_actions
from ui_gym_agents.policy.model import load_model, load_processor
from ui_gym_agents.policy.prompts import PromptBuilder
from ui_gym_agents.policy.weights import resolve

PAINT = next((Path(__file__).parents[1] / "tests").rglob("paint.py")).parent
SLOTS, SECONDS, ROUNDS = 8, 0.3, 5
WAYS = {"ui-gym": True, "trl, call by call": False}


class Rounds(GRPOTrainer):  # type: ignore[misc]
    """TRL's trainer, asked for nothing but its loop, which notes when answers were asked for."""

    began: list[float]

    def _generate_single_turn(self, prompt_ids: Any, *given: Any, **more: Any) -> Any:
        self.began.append(time.perf_counter())
        said = self._tokenizer("click(1, 1)<|im_end|>")["input_ids"]
        return [list(said) for _ in prompt_ids], None


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """What each action on the device takes: its ``seconds``."""
    monkeypatch.syspath_prepend(str(PAINT))
    import paint

    takes = {"seconds": 0.0}
    at_once = paint.PaintDevice.perform

    def perform(device: Any, action: Any) -> None:
        time.sleep(takes["seconds"])
        at_once(device, action)

    monkeypatch.setattr(paint.PaintDevice, "perform", perform)
    monkeypatch.setattr(paint.PaintText, "judge", lambda *given: paint.Verdict(0.0))
    return takes


@pytest.mark.parametrize("way", WAYS)
def test_rounds(benchmark: Any, way: str, steps: dict[str, float], tmp_path: Path) -> None:
    spec = UIGymSpec("PaintText", prompt=PromptBuilder.bare(), max_steps=99, lazy=WAYS[way])
    processor = load_processor(resolve("tiny-clerk"))
    write_actions(processor)
    trainer = Rounds(
        model=load_model(resolve("tiny-clerk"), dtype="float32", device="cpu"),
        processing_class=processor,
        train_dataset=spec.train_dataset,
        environment_factory=spec.environment_factory,
        args=GRPOConfig(
            output_dir=str(tmp_path), per_device_train_batch_size=SLOTS, num_generations=SLOTS,
            max_completion_length=2000, max_tool_calling_iterations=ROUNDS, report_to=[],
            use_cpu=True, bf16=False,
        ),
    )  # fmt: skip
    rows = [spec.train_dataset[0]] * SLOTS
    alone_s = a_round(trainer, rows)
    steps["seconds"] = SECONDS
    round_s = benchmark.pedantic(a_round, (trainer, rows), rounds=1)
    benchmark.group, benchmark.name = f"rounds of {SLOTS} slots in TRL's loop", way
    benchmark.extra_info |= {
        "per_second": round(SLOTS / round_s, 2),
        "round_s": round(round_s, 3),
        "round_of_quick_steps_s": round(alone_s, 3),
    }
    sys.stderr.write(f"{way}: {round_s:.2f} s a round, {alone_s:.2f} s if steps take no time\n")


def a_round(trainer: Rounds, rows: list[dict[str, Any]]) -> float:
    """The median of the seconds from one answer to the next, in an episode of every slot."""
    trainer.began = []
    trainer._generate_and_score_completions(rows)
    return statistics.median(late - early for early, late in itertools.pairwise(trainer.began))
