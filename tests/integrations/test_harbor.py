"""Harbor's own reading of what ``ui-gym export harbor`` writes."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("harbor.models.task.task", reason="tox -e harbor")

from harbor.models.task.task import Task
from harbor.models.task.verifier_mode import resolve_verifier_environment_definition

from ui_gym.tools.cli import app


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("harbor")
    asked = ["export", "harbor", "ClickButton", "--compact", "--out", str(out)]
    app(asked, standalone_mode=False)
    return out / "clickbutton-0"


def test_harbor_takes_the_folder_for_a_task(folder: Path) -> None:
    assert Task.is_valid_dir(folder)
    task = Task(folder)
    assert task.name == "ui-gym/clickbutton-0"
    assert task.instruction.startswith('Click "')
    (server,) = task.config.environment.mcp_servers
    assert (server.transport, server.url) == ("streamable-http", "http://127.0.0.1:8000/mcp")


def test_harbor_verifies_apart_from_the_agent(folder: Path) -> None:
    task = Task(folder)
    apart = resolve_verifier_environment_definition(task.config, task.paths)
    assert apart is not None
    assert apart.directory == task.paths.tests_dir
    assert apart.config.mcp_servers == []
    assert apart.config.healthcheck is None
    (artifact,) = task.config.artifacts
    assert (artifact.service, artifact.source) == ("ui-gym", "/var/lib/ui-gym/score")


def test_harbor_knows_fields_by_the_names_that_are_written(folder: Path) -> None:
    # Its models leave out what they do not know without a word: nothing may be lost.
    import tomllib

    written = tomllib.loads((folder / "task.toml").read_text())
    read = Task(folder).config.model_dump(mode="json", exclude_unset=True)
    assert read == written
