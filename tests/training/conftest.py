"""The toy plugin, installed for a test session, and `ui-gym-train` as a process of its own."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ui_gym.contract import registry
from ui_gym_agents.training import cli

_SPEC = importlib.util.spec_from_file_location("toy_plugin", Path(__file__).parent / "toy.py")
assert _SPEC is not None
assert _SPEC.loader is not None
toy: ModuleType = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(toy)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the installed toy plugin."""
    folder = tmp_path_factory.mktemp("site")
    toy.install(folder)
    return folder


@pytest.fixture
def work(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, with the toy plugin importable and no setting in the environment."""
    for name in [n for n in os.environ if n.startswith("UI_GYM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.chdir(tmp_path)
    for known in ("_SPECS", "_ELSEWHERE"):
        monkeypatch.setattr(registry, known, dict(getattr(registry, known)))
    registry.register_entry_points()
    return tmp_path


@pytest.fixture
def train(work: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """`ui-gym-train` in this process: (exit status, standard output, standard error)."""

    def run(*arguments: str) -> tuple[int, str, str]:
        status = cli.main(list(arguments))
        output, errors = capsys.readouterr()
        return status, output, errors

    return run


@pytest.fixture
def spawn(work: Path, site: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """`ui-gym-train` as a process of its own; killed at the end if it still runs."""
    started: list[subprocess.Popen[str]] = []

    def run(*arguments: str, **environment: str) -> subprocess.Popen[str]:
        root = Path(cli.__file__).parents[2]
        paths = os.pathsep.join([str(site), str(root)])
        process: subprocess.Popen[Any] = subprocess.Popen(
            [*command(), *arguments],
            env={**os.environ, "PYTHONPATH": paths, "PYTHONUNBUFFERED": "1", **environment},
            cwd=work,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def command() -> list[str]:
    """The installed console script, or the module where the package is not installed."""
    script = Path(sys.executable).with_name("ui-gym-train")
    return [str(script)] if script.exists() else [sys.executable, "-m", cli.__name__]
