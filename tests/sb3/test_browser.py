"""A run in real Chromium: it learns, is evaluated with films, and goes on to the bit."""

from __future__ import annotations

import pytest

pytest.importorskip("ui_gym_sb3", reason="needs the plugin ui-gym-sb3")

from sb3_helpers import Train, metrics

SMALL = (
    "--plugin", "sb3", "--tasks.ids", "ClickButton", "--tasks.arguments", '{"compact": true}',
    "--env.num_envs", "2", "--run.records", "off", "--run.eval_every", "0", "--run.save_every", "0",
    "--evaluation.episodes", "2", "--evaluation.before", "false", "--evaluation.both", "false",
    "--trainer.n_steps", "6", "--trainer.batch_size", "6", "--policy.threads", "1",
)  # fmt: skip


@pytest.mark.timeout(300)
def test_a_run_in_chromium_is_evaluated_and_goes_on_to_the_bit(train: Train) -> None:
    whole = train("whole", "--run.steps", "2", small=SMALL)
    train("parts", "--run.steps", "1", small=SMALL)
    parts = train("parts", "--run.steps", "2", small=SMALL)
    assert metrics(whole) == metrics(parts)
    first, _ = metrics(whole)
    assert first["failures"] == 0
    assert first["turns"] == 1, "with the mask, every click presses a button"
    (stored,) = (whole / "evaluations").glob("step_000002-greedy")
    assert (stored / "report.html").exists()
    weights = [run / "checkpoints" / "step_000002" / "policy.safetensors" for run in (whole, parts)]
    assert weights[0].read_bytes() == weights[1].read_bytes()
