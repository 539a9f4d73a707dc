"""Whole runs on the paint suite: all algorithms, resuming to the bit, faults, what is kept."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import paint
import pytest

pytest.importorskip("ui_gym_sb3", reason="needs the plugin ui-gym-sb3")

from safetensors import safe_open
from sb3_helpers import Train, metrics

from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.tasks.mix import make_envs
from ui_gym_agents.training.context import evaluation_requests

DQN = ("--trainer.algorithm", "dqn", "--trainer.learning_starts", "6", "--trainer.batch_size", "8",
       "--trainer.buffer_size", "60")  # fmt: skip

LEARNING = (
    "--run.steps", "40", "--env.num_envs", "8", "--trainer.n_steps", "32",
    "--trainer.batch_size", "64", "--trainer.width", "16", "--evaluation.episodes", "100",
)  # fmt: skip
"""Ten thousand env steps."""

ALGORITHMS = {
    "ppo": ("--trainer.algorithm", "ppo"),
    "maskable_ppo": ("--trainer.algorithm", "maskable_ppo"),
    "dqn": DQN,
    "several parts": ("--trainer.kinds", '["click", "press", "wait"]', "--trainer.goal", "none",
                      "--trainer.frames", "2", "--trainer.grayscale", "true"),
    "dqn with parts": (*DQN, "--trainer.kinds", '["click", "wait"]'),
    "nature": ("--trainer.network", "nature", "--trainer.algorithm", "ppo"),
    "nature, masked, blind": ("--trainer.network", "nature", "--trainer.goal", "none"),
    "nature dqn": (*DQN, "--trainer.network", "nature"),
}  # fmt: skip


@pytest.mark.parametrize("arguments", ALGORITHMS.values(), ids=ALGORITHMS)
def test_two_steps_are_learned_evaluated_and_kept(train: Train, arguments: tuple[str, ...]) -> None:
    run = train("run", "--run.steps", "2", "--evaluation.episodes", "4", *arguments)
    first, second = metrics(run)
    assert (first["env_steps"], second["env_steps"]) == (24, 48)
    assert first["failures"] == 0
    for row in (first, second):
        assert np.isfinite(row["loss"])
        assert row["episodes"] > 0
        assert 0 <= row["success"] <= 1
        assert row["reward"] == pytest.approx(row["success"])  # the paint suite rewards success
        assert 1 <= row["turns"] <= 4
    assert {row["mode"] for row in metrics(run, "final")} == {"greedy", "sampled"}
    kept = run / "checkpoints" / "step_000002"
    suffixes = {path.suffix for path in kept.iterdir()}
    assert suffixes == {".safetensors", ".json"}, "nothing in a checkpoint can run code"
    for path in kept.glob("*.safetensors"):
        with safe_open(path, framework="np") as file:
            assert list(file.keys())


@pytest.mark.parametrize("arguments", [ALGORITHMS[name] for name in ("ppo", "maskable_ppo", "dqn")],
                         ids=["ppo", "maskable_ppo", "dqn"])  # fmt: skip
def test_a_resumed_run_is_the_same_to_the_bit(train: Train, arguments: tuple[str, ...]) -> None:
    whole = train("whole", "--run.steps", "6", *arguments)
    train("parts", "--run.steps", "3", *arguments)
    parts = train("parts", "--run.steps", "6", *arguments)
    assert metrics(whole) == metrics(parts)
    one, other = (run / "checkpoints" / "step_000006" for run in (whole, parts))
    files = {path.name for path in one.glob("*.safetensors")}
    assert files >= {"policy.safetensors", "optimizer.safetensors"}
    for name in files:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def test_seeds_tell_runs_apart(train: Train) -> None:
    runs = [train(f"run{seed}", "--run.steps", "1", "--run.seed", seed) for seed in "01"]
    assert metrics(runs[0]) != metrics(runs[1])


def test_a_run_without_its_replay_buffer_fills_a_new_one_first(train: Train) -> None:
    arguments = (*DQN, "--trainer.save_replay", "false")
    run = train("run", "--run.steps", "1", *arguments)
    assert not (run / "checkpoints" / "step_000001" / "replay.safetensors").exists()
    train("run", "--run.steps", "2", *arguments)
    assert [row["env_steps"] for row in metrics(run)] == [24, 48]


def test_a_device_s_fault_ends_an_episode_and_not_the_run(
    train: Train, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    faults = paint.Faults()
    pools: list[paint.PaintPool] = []

    def pool(task: object, options: object) -> paint.PaintPool:
        pools.append(paint.PaintPool((96, 64), faults))
        return pools[-1]

    monkeypatch.setattr(paint.PaintTask, "pool", classmethod(pool))
    before = train("before", "--run.steps", "2")
    perform = paint.PaintDevice.perform
    performed = 0

    def failing(device: paint.PaintDevice, action: object) -> None:
        nonlocal performed
        performed += 1
        if performed in (5, 6):
            device.closed.set()
        perform(device, action)

    monkeypatch.setattr(paint.PaintDevice, "perform", failing)
    run = train("run", "--run.steps", "2")
    first, second = metrics(run)
    assert (first["failures"], second["failures"]) == (2, 0)
    assert first["env_steps"] == metrics(before)[0]["env_steps"], "the step is as long as any"
    assert "2 of" in capsys.readouterr().out
    assert sum(pool.broken for pool in pools) == 2
    assert all(pool.closed for pool in pools)


def test_the_result_is_an_agent_for_any_collector(train: Train) -> None:
    import ui_gym_sb3
    from ui_gym.catalog import TaskSource
    from ui_gym_agents.tasks.sources import entries_of

    run = train("run", "--run.steps", "2", "--evaluation.episodes", "6")
    agent = ui_gym_sb3.load(run / "checkpoints" / "step_000002")
    agent.temperature = 0
    entries = entries_of(TaskSource(ids=("PaintClick",)))
    envs = make_envs(entries, 2, observation="both", dialect="canonical")
    try:
        asked = evaluation_requests(["UI/PaintClick-v0"], 6, "heldout")
        played = Collector(envs, agent).collect(asked)
    finally:
        envs.close()
    (told,) = [row for row in metrics(run, "final") if row["mode"] == "greedy"]
    assert np.mean([episode.success for episode in played]) == pytest.approx(told["success"])
    stored = next((run / "evaluations").glob("step_000002-greedy*"))
    lines = [json.loads(line) for line in (stored / "episodes.jsonl").read_text().splitlines()]
    actions = {line["id"]: [turn["action_text"] for turn in line["turns"]] for line in lines}
    assert actions == {e.id: [turn.action_text for turn in e.turns] for e in played}
    assert all(text.startswith("click(") for texts in actions.values() for text in texts)


def test_an_agent_draws_from_its_view_s_noise_alone(train: Train) -> None:
    import ui_gym_sb3
    from ui_gym.catalog import TaskSource
    from ui_gym_agents.tasks.sources import entries_of

    run = train("run", "--run.steps", "1")
    agent = ui_gym_sb3.load(run / "checkpoints" / "step_000001")
    said = []
    for slots in (1, 3):
        envs = make_envs(entries_of(TaskSource(ids=("PaintClick",))), slots, observation="both")
        asked = [EpisodeRequest(seed, group=str(seed), split="train") for seed in range(6)]
        played = Collector(envs, agent).collect(asked)
        envs.close()
        said.append([[turn.action_text for turn in episode.turns] for episode in played])
    assert said[0] == said[1]


def test_a_folder_that_is_no_checkpoint_is_told(tmp_path: Path) -> None:
    import ui_gym_sb3
    from ui_gym.errors import UserError

    with pytest.raises(
        UserError, match=r"is no checkpoint of the trainer sb3: .*agent.json is mis"
    ):
        ui_gym_sb3.load(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--trainer.algorithm", "dqn", "--trainer.mask", "true"), "dqn knows no mask; take mask"),
        (("--trainer.mask", "false"), "without it, take ppo"),
        (("--trainer.algorithm", "a2c"), "'ppo', 'maskable_ppo' or 'dqn'"),
        (("--trainer.algorithm", "dqn", "--trainer.n_epochs", "3"), "a setting of ppo and mask"),
        (("--trainer.buffer_size", "9"), "a setting of dqn, and the algorithm is maskable_ppo"),
        (("--trainer.kinds", '["clik"]'), "there is no kind 'clik'. Did you mean 'click'"),
        (("--env.observation", "screenshot"), "maskable_ppo clicks where elements are"),
        (("--env.observation", "elements", "--trainer.algorithm", "ppo"), "learns from pictures"),
        (("--trainer.columns", "97"), "columns is a whole number from 1 to 96"),
        (("--trainer.frames", "13"), "take fewer, or grayscale"),
        (("--trainer.algorythm", "ppo"), "algorithm"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(
    train: Train, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    with pytest.raises(AssertionError):
        train("run", *arguments)
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("algorithm", "reached"), [("ppo", 0.9), ("maskable_ppo", 0.9), ("dqn", 0.5)]
)
def test_the_named_box_is_learned(train: Train, algorithm: str, reached: float) -> None:
    """Chance is a third with the mask; without it, most clicks hit nothing. DQN has been seen
    to reach no more than 0.61 in so few steps."""
    run = train("run", *LEARNING, "--trainer.algorithm", algorithm)
    (before,) = [row for row in metrics(run, "evaluation") if row["mode"] == "greedy"][:1]
    (after,) = [row for row in metrics(run, "final") if row["mode"] == "greedy"]
    assert before["success"] < 0.6
    assert after["success"] >= reached
