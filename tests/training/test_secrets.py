"""Secrets of the environment are in nothing that a run writes or says."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

Train = Callable[..., tuple[int, str, str]]

SECRETS = (
    "UI_GYM_SERVER_TOKEN", "UI_GYM_OSWORLD_TOKEN", "UI_GYM_MONITOR_TOKEN", "UI_GYM_OPENENV_TOKEN",
    "UI_GYM_UI_VERIFIERS_TOKEN", "UI_GYM_POLICY_TOKEN", "OPENAI_API_KEY", "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY", "GOOGLE_API_KEY", "HF_TOKEN", "WANDB_API_KEY", "PGPASSWORD", "TINKER_API_KEY",
)  # fmt: skip
"""Variables that hold what is nobody else's business."""

CANARY = "canary-in-a-setting"
"""A word that a run is to write down: whoever finds it finds the others."""


def holding(folder: Path, word: str) -> list[str]:
    """The files that hold a word, archives unpacked."""
    found = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        texts = {str(path): path.read_bytes()}
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                texts = {f"{path}:{name}": archive.read(name) for name in archive.namelist()}
        found += [name for name, text in texts.items() if word.encode() in text]
    return found


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("event", ["", "raise"])
def test_no_secret_of_the_environment_is_written_or_said(
    train: Train, work: Path, monkeypatch: pytest.MonkeyPatch, event: str, form: str
) -> None:
    for name in SECRETS:
        monkeypatch.setenv(name, f"hush-{name}-hush")
    status, output, errors = train(
        "--plugin", "toy", "--run.directory", "run", "--run.log_format", form,
        "--trainer.event", event, "--trainer.at", "3", "--trainer.words", f'["{CANARY}"]',
    )  # fmt: skip
    assert status == (1 if event else 0), errors
    assert holding(work, "hush-") == []
    assert "hush-" not in output + errors
    written = {Path(name).name for name in holding(work, CANARY)}
    assert {"config.yaml", "events.jsonl", "records.sqlite"} <= written
