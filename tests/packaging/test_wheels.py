"""The wheels alone: built, installed into a fresh environment, and used outside the clone."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = (ROOT, *(path.parent for path in sorted(ROOT.glob("plugins/*/pyproject.toml"))))
LARGEST = 3_000_000
"""Bytes that the wheel of ui-gym may have: code, pages and fonts, and no weights."""

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")

PLAY = """
import sys
import gymnasium
import ui_gym
import ui_gym_agents

assert ui_gym.__file__.startswith(sys.prefix), ui_gym.__file__
assert ui_gym_agents.__file__.startswith(sys.prefix), ui_gym_agents.__file__
for name in ("UI/ClickButton-v0", "UI/AndroidWifi-v0"):
    env = gymnasium.make(name)
    observation, _ = env.reset(seed=0)
    assert observation["screenshot"].std() > 0
    env.step("wait(1)")
    env.close()
from ui_gym_agents.policy.weights import installed_models, resolve
assert all(resolve(name).is_relative_to(sys.prefix) for name in installed_models())
print("played")
"""

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The wheels of all distributions."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheels")
    build = [*PIP, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder, *SOURCES]
    subprocess.run(build, cwd=folder, check=True, timeout=300)
    return sorted(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def fresh(wheels: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with our wheels, and the other distributions of this one.

    A ``.pth`` file is not read in a folder that another one names: of what is installed for editing
    in this environment, the sources are not found.
    """
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, with_pip=False)
    install = [*PIP, "--python", folder, "install", "-q", "--no-deps", "--no-index", *wheels]
    subprocess.run(install, check=True, timeout=300)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "others.pth").write_text("\n".join(p for p in sys.path if "-packages" in p) + "\n")
    return folder


def run(fresh: Path, *command: str) -> str:
    ended = subprocess.run(
        [fresh / "bin" / command[0], *command[1:]],
        cwd=fresh, env={"PATH": "/usr/bin:/bin", "HOME": str(fresh)},
        capture_output=True, text=True, timeout=200,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-3000:]
    return ended.stdout


def test_every_distribution_has_a_wheel_and_that_of_ui_gym_is_small(wheels: list[Path]) -> None:
    names = [wheel.name.partition("-")[0].replace("_", "-") for wheel in wheels]
    assert names == sorted(["ui-gym", *(folder.name for folder in SOURCES[1:])])
    (size,) = (wheel.stat().st_size for wheel in wheels if wheel.name.startswith("ui_gym-"))
    assert size < LARGEST


def test_tasks_are_played_from_the_wheels(fresh: Path) -> None:
    assert run(fresh, "python", "-c", PLAY).endswith("played\n")


def test_the_commands_work_from_the_wheels(fresh: Path) -> None:
    assert "UI/DataEntry-v0\tbrowser\t" in run(fresh, "ui-gym", "list")
    plugins = run(fresh, "ui-gym-train", "--list-plugins")
    names = [line.split("\t")[0] for line in plugins.splitlines()]
    assert names == ["grpo", "sb3", "sft", "tinker"]
    assert "UI/DataEntry-v0" in run(fresh, "ui-gym-train", "--plugin", "grpo", "--dry-run")
    assert "there are no records" in run(fresh, "ui-gym-records", "ls")
    assert "--agent" in run(fresh, "ui-gym-eval", "--help")
