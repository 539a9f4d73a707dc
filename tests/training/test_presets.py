"""Presets: what they say is what runs can be configured with, and what is set by hand wins."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import paint  # noqa: F401 - registers its tasks
import pytest

from ui_gym.dialects import get_dialect
from ui_gym.errors import UserError
from ui_gym_agents import presets
from ui_gym_agents.evaluation import cli as eval_cli
from ui_gym_agents.evaluation.report.folder import ASKED
from ui_gym_agents.training import plugin
from ui_gym_agents.training.config import ConfigLoader
from ui_gym_agents.training.settings import RunConfig

Train = Callable[..., tuple[int, str, str]]
NAMES = ["qwen2.5-vl-7b", "qwen3-vl-8b", "smolvlm-2b", "ui-tars-1.5-7b"]


def test_the_models_that_people_train_have_one() -> None:
    assert presets.names() == NAMES


@pytest.mark.parametrize("trainer", ["grpo", "sft"])
@pytest.mark.parametrize("name", NAMES)
def test_every_preset_is_a_configuration(name: str, trainer: str) -> None:
    loader = ConfigLoader(RunConfig.with_trainer(plugin.load(trainer).Config))
    loader.add_defaults(presets.load(name).of(trainer), "the preset")
    config = loader.load().config
    assert get_dialect(config.env.dialect).prompt((1280, 720))
    assert "/" in config.policy.model
    assert config.policy.dtype == "bfloat16"
    assert "trainer.lr" in loader.sources


def test_an_unknown_preset_is_told_the_nearest(train: Train) -> None:
    with pytest.raises(UserError, match=r"no preset 'qwen2.5-7b'. Did you mean 'qwen2.5-vl-7b'"):
        presets.load("qwen2.5-7b")
    status, _, errors = train("--plugin", "toy", "--preset", "smolvlm", "--help")
    assert status == 2
    assert "there is no preset 'smolvlm'. Did you mean 'smolvlm-2b'" in errors
    status, _, errors = train("--plugin", "toy", "--preset")
    assert status == 2
    assert "--preset needs a name" in errors
    assert "'ui-tars-1.5-7b'" in errors


def test_what_is_set_by_hand_wins_and_is_told_apart(
    train: Train, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "run.yaml").write_text("policy:\n  max_new_tokens: 99\n")
    monkeypatch.setenv("UI_GYM_POLICY__LORA_RANK", "4")
    status, output, _ = train(
        "--plugin", "toy", "--preset", "ui-tars-1.5-7b", "--config", "run.yaml",
        "--policy.history", "2", "--print-config",
    )  # fmt: skip
    assert status == 0
    lines = {line.split(":")[0].strip(): line for line in output.splitlines()}
    for key, value, source in [
        ("dialect", "uitars15", "preset ui-tars-1.5-7b"),
        ("max_new_tokens", "99", "run.yaml:2"),
        ("history", "2", "flag --policy.history"),
        ("lora_rank", "4", "environment variable UI_GYM_POLICY__LORA_RANK"),
    ]:
        assert f"{key}: {value}  #" in lines[key]
        assert lines[key].endswith(f"[{source}]")


def test_help_lists_the_presets_and_shows_ones_values(train: Train) -> None:
    status, output, _ = train("--help")
    assert status == 0
    assert all(name in output for name in NAMES)
    status, output, _ = train("--plugin", "toy", "--preset", "smolvlm-2b", "--help")
    assert status == 0
    assert "HuggingFaceTB/SmolVLM" in output


def test_a_dry_run_says_where_each_value_came_from(train: Train, work: Path) -> None:
    status, output, _ = train("--plugin", "toy", "--run.steps", "7", "--dry-run")
    assert status == 0
    found = {tuple(line.split(maxsplit=2)) for line in output.splitlines()}
    assert ("run.steps", "7", "flag --run.steps") in {tuple(map(str.strip, f)) for f in found}
    assert list(work.iterdir()) == []


def test_a_resumed_run_takes_no_preset(train: Train, work: Path) -> None:
    (work / "run").mkdir()
    (work / "run" / "config.yaml").write_text("plugin: toy\n")
    status, _, errors = train("--resume", "run", "--preset", "smolvlm-2b")
    assert status == 2
    assert "leave --preset out" in errors


def test_an_evaluation_takes_one_and_options_win(
    work: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--preset", "ui-tars-1.5-7b", "--agent", "oracle", "--task", "UI/PaintClick-v0"]
    monkeypatch.setattr("sys.argv", ["ui-gym-eval", *asked, "--episodes", "1", "--out", "out"])
    eval_cli.main()
    assert '"dialect": "uitars15"' in (work / "out" / ASKED).read_text()
    more = ["--dialect", "canonical", "--episodes", "1", "--out", "other"]
    monkeypatch.setattr("sys.argv", ["ui-gym-eval", *asked, *more])
    eval_cli.main()
    assert '"dialect": "canonical"' in (work / "other" / ASKED).read_text()
    monkeypatch.setattr("sys.argv", ["ui-gym-eval", "--run", "runs/x", "--preset", "smolvlm-2b"])
    assert eval_cli.main() == 2
    assert "leave --preset out" in capsys.readouterr().err
