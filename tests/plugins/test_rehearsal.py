"""A dry run that is given a model: its prompts, its memory, and nothing left behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from train_helpers import train

from tests.policy.tiny_models import BUILDERS

RUN = (
    "--plugin", "grpo", "--tasks.ids", '["PaintClick"]', "--env.num_envs", "2",
    "--env.dialect", "canonical", "--policy.prompt", "full", "--dry-run",
)  # fmt: skip


def test_a_dry_run_says_what_memory_a_step_takes(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert train(*RUN, "--policy.model", str(tiny), "--policy.history", "3") == 0
    said = capsys.readouterr().out
    assert "an episode of the oracle: 1 turns, up to 1 pictures" in said
    assert "\npolicy.history\t3\tflag --policy.history\n" in said  # no terminal: a line a setting
    assert " M parameters, " in said
    for part in ("weights", "adapter", "gradients", "optimizer", "cache", "activations"):
        assert f"{part} " in said
    assert "free" in said
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_refuses_what_a_run_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    BUILDERS["llama"](tmp_path / "reader")
    assert train(*RUN, "--policy.model", "reader") == 2
    assert "sees no pictures" in capsys.readouterr().err
    assert train(*RUN, "--policy.model", "reader", "--env.observation", "elements") == 0
    assert "up to 0 pictures" in capsys.readouterr().out


def test_pictures_too_small_for_the_dialect_are_refused(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    small = ("--policy.max_pixels", "2000", "--env.dialect", "qwen25")
    for run in (RUN, tuple(flag for flag in RUN if flag != "--dry-run")):
        assert train(*run, "--policy.model", str(tiny), *small) == 2
        assert "points would be misread" in capsys.readouterr().err
