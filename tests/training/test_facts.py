"""What is kept of where a run ran: versions, revision, command; and no secret."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from ui_gym.desktop.x11 import needs
from ui_gym_agents.training import facts

Train = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["x", "--trainer.api-key", "hush", "--run.seed", "3"],
         ["x", "--trainer.api-key", "...", "--run.seed", "3"]),
        (["x", "--API_TOKEN=hush"], ["x", "--API_TOKEN=..."]),
        (["x", "--policy.max_new_tokens", "24"], ["x", "--policy.max_new_tokens", "24"]),
        (["x", "--password", "--run.seed", "3"], ["x", "--password", "--run.seed", "3"]),
        (["x", "--env.workers", "ws://me:hush@host:7000"],
         ["x", "--env.workers", "ws://...@host:7000"]),
        (["x", "--agent", "openai:m@http://host:1"], ["x", "--agent", "openai:m@http://host:1"]),
    ],
)  # fmt: skip
def test_no_secret_of_a_command_is_kept(given: list[str], kept: list[str]) -> None:
    assert facts.without_secrets(given) == kept


def git(*words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *identity, *words], check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_the_revision_says_whether_files_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert facts.revision() is None, "no repository"
    git("init")
    assert facts.revision() is None, "no commit"
    (tmp_path / "a").write_text("1")
    git("add", "a")
    git("commit", "-m", "a")
    clean = facts.revision()
    assert clean is not None
    assert len(clean) == 40
    (tmp_path / "untracked").touch()
    assert facts.revision() == clean
    (tmp_path / "a").write_text("2")
    assert facts.revision() == f"{clean}-dirty"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert facts.revision() is None, "no git"


def test_a_run_keeps_them_in_its_log(train: Train, work: Path) -> None:
    assert train("--plugin", "toy", "--run.directory", "run", "--run.steps", "1")[0] == 0
    begun = json.loads((work / "run" / "events.jsonl").read_text().splitlines()[0])
    told = begun["facts"]
    assert told["python"] == platform.python_version()
    assert told["versions"]["ui-gym"] == version("ui-gym")
    assert told["versions"]["ui-gym-toy"] == "1.2"
    assert told["command"]
    assert told.keys() == {"python", "versions", "revision", "code", "machine", "command"}
    assert "browser" not in told["versions"], "nothing plays in one"
    machine = told["machine"]
    assert machine["cpu"]
    assert machine["cores"] == os.cpu_count()
    assert machine["memory"] > 1 << 28


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_code_that_a_repository_does_not_keep_has_no_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As that of a virtual environment inside of somebody's repository."""
    monkeypatch.chdir(tmp_path)
    git("init")
    for name in ("kept", "ignored"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "code.py").touch()
    git("add", "kept")
    git("commit", "-m", "a")
    assert facts.revision(tmp_path / "kept") == facts.revision()
    assert facts.revision(tmp_path / "ignored") is None
    (tmp_path / "kept" / "code.py").write_text("1")
    assert str(facts.revision(tmp_path / "kept")).endswith("-dirty")


def test_the_browser_says_its_version_where_it_plays_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = tmp_path / "a-browser"
    said.write_text("#!/bin/sh\n[ $1 = --version ] && echo Chromium 1.2.3 built on something\n")
    said.chmod(0o755)
    monkeypatch.setenv("UI_GYM_BROWSER", str(said))
    told = facts.facts(suites={"browser"}, workers="processes:2")
    assert told["versions"]["browser"] == "Chromium 1.2.3 built on something"
    assert "browser" not in facts.facts(suites={"browser"}, workers="ws://elsewhere")["versions"]
    assert "browser" not in facts.facts(suites={"android"})["versions"]
    said.write_text("#!/bin/sh\nexit 1\n")
    assert facts.browser() is None


def test_the_packages_of_a_desktop_are_told_where_it_plays_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tmp_path / "dpkg-query"
    asked.write_text("#!/bin/sh\nprintf 'mousepad 0.5.10-2\\nchromium \\n'\nexit 1\n")
    asked.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    told = facts.facts(suites={"desktop"})
    assert told["versions"]["mousepad"] == "0.5.10-2"
    assert "chromium" not in told["versions"], "known, and not installed"
    assert "mousepad" not in facts.facts(suites={"desktop"}, workers="ws://elsewhere")["versions"]
    assert "mousepad" not in facts.facts(suites={"browser"})["versions"]
    asked.unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert facts.desktop() == {}
    known = {**needs.SESSION, **needs.APPLICATIONS, **needs.EXTRA}
    assert {*facts.DESKTOP} == {*" ".join(known.values()).split()}
