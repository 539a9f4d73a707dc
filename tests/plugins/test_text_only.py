"""Runs that see elements alone: trained, recorded, exported, replayed and learned from again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from train_helpers import metrics, train

from tests.policy.tiny_models import BUILDERS
from ui_gym_agents import pack
from ui_gym_agents.evaluation import cli as evaluation
from ui_gym_agents.records import cli as records
from ui_gym_agents.store import EpisodeStore

RUN = (
    "--tasks.ids", '["PaintClick"]', "--env.num_envs", "2", "--env.dialect", "canonical",
    "--env.observation", "elements", "--env.max_steps", "2", "--policy.threads", "1",
    "--policy.prompt", "full", "--policy.max_new_tokens", "4", "--evaluation.episodes", "2",
    "--run.steps", "1",
)  # fmt: skip


def test_demonstrations_of_lists_are_fitted_kept_replayed_and_fitted_again(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    model = ("--policy.model", str(tiny), "--trainer.episodes", "4", "--trainer.batch_size", "2")
    assert train("--plugin", "sft", *RUN, *model, "--run.directory", "run") == 0
    store = EpisodeStore(Path("run/episodes"))
    assert [e.success for e in store] == [True] * 4
    assert all(t.elements and not t.screenshot_id for e in store for t in e.turns)
    assert not list(Path("run").rglob(pack.NAME))
    assert len(list(Path("run").glob("evaluations/*/report.html"))) == 4

    assert records.main(["export", "run", "run.zip"]) == 0
    assert records.main(["export", "run", "episodes.jsonl"]) == 0
    lines = [json.loads(line) for line in Path("episodes.jsonl").read_text().splitlines()]
    assert {line["final_screenshot_id"] for line in lines} == {""}
    assert records.main(["replay", "run.zip", "--episodes", "2"]) == 0
    assert records.main(["import", "run.zip", "--into", "theirs"]) == 0

    again = ("--trainer.source", "run:theirs", "--trainer.reencode")
    assert train("--plugin", "sft", *RUN, *model, *again, "--run.directory", "again") == 0
    assert [row["kept"] for row in metrics("again")] == [4]


def test_the_policys_own_episodes_of_lists_are_played_and_learned_from(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    grpo = ("--trainer.groups", "2", "--trainer.group_size", "2")
    flags = ("--plugin", "grpo", "--policy.model", str(tiny), *grpo, "--run.directory", "run")
    assert train(*flags, *RUN) == 0
    turns = [turn for e in EpisodeStore(Path("run/episodes")) for turn in e.turns]
    assert turns
    assert all(turn.tokens is not None and turn.tokens.images == () for turn in turns)


def test_a_language_model_is_trained_evaluated_and_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    BUILDERS["llama"](Path("reader"))
    flags = (
        *RUN, "--policy.model", "reader", "--run.steps", "2", "--trainer.groups", "2",
        "--trainer.group_size", "2", "--trainer.reward_parameters", '{"format": 0.5}',
        "--policy.max_new_tokens", "8", "--run.directory", "run",
    )  # fmt: skip
    assert train("--plugin", "grpo", *flags) == 0
    assert [row["step"] for row in metrics("run")] == [1, 2]
    turns = [turn for e in EpisodeStore(Path("run/episodes")) for turn in e.turns]
    assert turns
    assert all(turn.tokens is not None and turn.elements for turn in turns)
    assert len(list(Path("run").glob("evaluations/*/report.html"))) == 4
    assert records.main(["export", "run", "run.zip"]) == 0
    assert list(Path("run/checkpoints").glob("*/adapter_model.safetensors"))

    monkeypatch.setattr("sys.argv", ["ui-gym-eval", "--run", "run", "--episodes", "2", "--json"])
    capsys.readouterr()
    assert evaluation.main() == 0
    assert json.loads(capsys.readouterr().out)["n"] == 2


def test_a_language_model_is_not_trained_on_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    BUILDERS["llama"](Path("reader"))
    Path("reader/model.safetensors").unlink()  # It is said before weights are read.
    flags = (*RUN, "--policy.model", "reader", "--env.observation", "both")
    assert train("--plugin", "grpo", *flags, "--run.directory", "run") == 2
    assert "sees no pictures: take --env.observation elements" in capsys.readouterr().err
