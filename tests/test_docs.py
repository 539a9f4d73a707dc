"""The examples of the documentation, run as they stand there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.distributions import install

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)

TINY = """
from ui_gym_tiny.model import TinyConfig, build
build(TinyConfig(), ["Ann"], 0, "model")
"""


def blocks(document: str) -> list[tuple[str, str, str]]:
    """(language, file name or empty, content) of every marked block of a document."""
    return BLOCK.findall((ROOT / document).read_text())


def python(folder: Path, *arguments: str) -> str:
    """Run Python in `folder`, whose modules and distributions it finds."""
    run = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@pytest.fixture
def architecture(tmp_path: Path) -> Path:
    """A folder with the files of docs/architecture.md."""
    for _, name, content in blocks("docs/architecture.md"):
        if name:
            (tmp_path / name).write_text(content)
    return tmp_path


@pytest.mark.parametrize(
    "document",
    ["README.md", "docs/android.md", "docs/desktop.md", "docs/osworld.md", "docs/integrations.md"],
)
def test_every_example_runs(tmp_path: Path, document: str) -> None:
    examples = [content for language, _, content in blocks(document) if language == "python"]
    assert examples
    for example in examples:
        python(tmp_path, "-c", example)


def test_the_tests_that_prove_something_are_there() -> None:
    file = ""
    for said in re.findall(r"`((?:tests/|::)[^`]+)`", (ROOT / "docs/proofs.md").read_text()):
        path, _, name = said.partition("::")
        file = path or file
        assert (ROOT / file).exists(), file
        assert not name or f"def {name}(" in (ROOT / file).read_text(), said


@pytest.mark.nightly
def test_every_example_of_the_wrappers_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ui_gym_sb3", reason="needs the plugin ui-gym-sb3")
    monkeypatch.setenv("SB3_LOGDIR", str(tmp_path / "log"))  # else a folder stays behind in /tmp
    *wrappers, learning = (content for _, _, content in blocks("docs/wrappers.md"))
    assert len(wrappers) == 2
    for example in wrappers:
        python(tmp_path, "-c", example)
    assert "learn(14_000)" in learning
    python(tmp_path, "-c", learning.replace("14_000", "256"))


def test_the_task_is_sound(architecture: Path) -> None:
    unnamed = [
        content
        for language, name, content in blocks("docs/architecture.md")
        if language == "python" and not name
    ]
    (check,) = unnamed
    report = python(architecture, "-c", check)
    assert "UI/RingBell-v0" in report
    assert "the oracle succeeds" in report


def test_the_device_is_found_and_played_on(architecture: Path) -> None:
    install(architecture, "loud", "1.0", "[ui_gym.devices]\nloud = loud_browser:LoudPool\n")
    code = """
import contextlib
import gymnasium as gym
import ui_gym
with contextlib.closing(gym.make("UI/Login-v0", device="loud:chromium:screenshot")) as env:
    env.reset(seed=3)
    assert env.step("move(3, 4)")[4]["failure"] is None
"""
    assert python(architecture, "-c", code) == "move(3, 4)\n"


def test_the_dialect_is_found_and_played_in(architecture: Path) -> None:
    install(architecture, "tagged", "1.0", "[ui_gym.dialects]\ntagged = tagged:Tagged\n")
    code = """
import contextlib
import gymnasium as gym
import ui_gym
from ui_gym.contract.action import Click, Type
from ui_gym.dialects import get_dialect
tagged, actions = get_dialect("tagged"), [Click(3, 4), Type("</b></action>")]
assert tagged.parse(tagged.render(actions, (9, 9), "so"), (9, 9)) == actions
with contextlib.closing(gym.make("UI/Login-v0", dialect="tagged", observation="both")) as env:
    observation, _ = env.reset(seed=3)
    assert env.step("<action>move(3, 4)</action>")[0]["feedback"] == ""
    assert env.step("<action>click(element=0)</action>")[0]["feedback"] == ""
    assert "</action>" in env.step("move(3, 4)")[0]["feedback"]
"""
    python(architecture, "-c", code)


@pytest.mark.nightly
def test_the_trainer_is_found_and_trains(architecture: Path) -> None:
    pytest.importorskip("torch")
    trainers = "[ui_gym.trainers]\nreinforce = ui_gym_reinforce:Reinforce\n"
    install(architecture, "ui-gym-reinforce", "1.0", trainers)
    python(architecture, "-c", TINY)
    train = ["-m", "ui_gym_agents.training.cli", "--plugin", "reinforce"]
    output = python(
        architecture, *train, "--policy.model", "model", "--run.directory", "run",
        "--run.steps", "1", "--trainer.episodes", "2", "--env.num_envs", "2",
        "--env.max_steps", "2", "--policy.max_new_tokens", "8",
        "--evaluation.episodes", "0", "--run.eval_every", "0",
    )  # fmt: skip
    assert "1 steps" in output
    assert (architecture / "run/checkpoints/step_000001/optimizer.safetensors").is_file()
