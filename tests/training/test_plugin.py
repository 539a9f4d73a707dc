"""Plugins: found without being imported, loaded when chosen, refused with the reason."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ui_gym import extras
from ui_gym_agents.training import plugin
from ui_gym_agents.training.plugin import PluginError, Trainer

Train = Callable[..., tuple[int, str, str]]
Spawn = Callable[..., subprocess.Popen[str]]


def test_an_installed_plugin_is_found_and_trains_in_a_process_of_its_own(
    spawn: Spawn, work: Path
) -> None:
    process = spawn("--plugin", "toy", "--run.directory", "run", "--run.steps", "3")
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "step 3/3" in output
    result = json.loads((work / "run" / "result.json").read_text())
    assert result["plugin"] == "toy"
    assert result["steps"] == 3
    assert result["after"]["greedy"]["success"] > result["before"]["greedy"]["success"] == 0
    assert result["checkpoint"] == "checkpoints/step_000003"
    assert (work / "run" / "closed").exists()


def test_listing_plugins_imports_none_of_them(train: Train) -> None:
    sys.modules.pop("ui_gym_toy", None)
    status, output, _ = train("--list-plugins")
    assert status == 0
    assert "toy-broken\tui-gym-toy\t1.2\t" in output
    assert "ui_gym_toy" not in sys.modules


def test_a_trainer_without_a_policy_needs_no_torch(work: Path, site: Path) -> None:
    code = (
        "import sys; from ui_gym_agents.training.cli import main;"
        "status = main(['--plugin', 'toy']);"
        "sys.exit(status or ('torch' in sys.modules) or ('transformers' in sys.modules))"
    )
    root = Path(plugin.__file__).parents[2]
    environment = {"PYTHONPATH": f"{site}:{root}", "PATH": "/usr/bin:/bin", "HOME": str(work)}
    subprocess.run([sys.executable, "-c", code], env=environment, cwd=work, check=True, timeout=60)


def test_an_unknown_name_gets_the_nearest_and_no_invented_distribution(train: Train) -> None:
    status, _, errors = train("--plugin", "toi")
    assert status == 2
    assert "there is no trainer plugin 'toi'. Did you mean 'toy'" in errors
    assert "pip install" not in errors


def test_a_plugin_that_we_know_of_and_that_is_missing_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(extras, "entry_points", lambda group: ())
    for name in plugin.KNOWN:
        with pytest.raises(PluginError, match=f"pip install ui-gym-{name}$"):
            plugin.load(name)
    with pytest.raises(PluginError, match=r"Did you mean 'grpo'\? To .*: pip install ui-gym-grpo$"):
        plugin.load("grop")


def test_a_plugin_that_cannot_be_imported_is_named_with_its_cause(work: Path) -> None:
    with pytest.raises(PluginError) as caught:
        plugin.load("toy-broken")
    assert "'toy-broken' (ui-gym-toy 1.2) cannot be imported: ModuleNotFoundError" in str(
        caught.value
    )
    assert "a_module_that_nobody_has" in str(caught.value)


def test_another_version_of_the_contract_is_said(work: Path) -> None:
    with pytest.raises(PluginError, match="version 0 of the trainer contract") as caught:
        plugin.load("toy-old")
    assert "upgrade the plugin" in str(caught.value)


def test_a_config_that_would_swallow_typing_mistakes_is_refused(work: Path) -> None:
    with pytest.raises(PluginError, match="frozen=True"):
        plugin.load("toy-loose")


def test_a_plugin_keeps_the_protocol(work: Path) -> None:
    assert issubclass(plugin.load("toy"), object)
    assert isinstance(plugin.load("toy").__new__(plugin.load("toy")), Trainer)
    assert plugin.default_overrides(plugin.load("toy"))["run.steps"] == 6


def test_without_a_plugin_the_installed_ones_are_named(train: Train) -> None:
    status, _, errors = train("--run.steps", "3")
    assert status == 2
    assert "no trainer is chosen; give --plugin NAME. Installed:" in errors
    assert "toy" in errors
