"""What `deploy/` says is what there is: commands, options, files, packages, times."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from ui_gym.remote.serving import DRAIN_SECONDS
from ui_gym.tools.cli import app

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
SERVICE = (DEPLOY / "ui-gym.service").read_text()


def compose() -> dict[str, Any]:
    services: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    return services["slots"]


@pytest.fixture(scope="module")
def options() -> set[str]:
    """The options of ``ui-gym serve``."""
    said = CliRunner().invoke(app, ["serve", "--help"], env={"COLUMNS": "200", "TERM": "dumb"})
    return set(re.findall(r"--[a-z]+", said.output))


def test_every_option_of_the_server_is_one(options: set[str]) -> None:
    entry = re.search(r"^ENTRYPOINT (.*)$", DOCKERFILE, re.M)
    start = re.search(r"^ExecStart=(.*)$", SERVICE, re.M)
    assert entry is not None
    assert start is not None
    used = re.findall(r"--[a-z]+", f"{entry[1]} {start[1]} {' '.join(compose()['command'])}")
    assert "--slots" in used
    assert set(used) <= options


def test_what_is_copied_is_there() -> None:
    copied = re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.M)
    assert copied
    for path in " ".join(copied).split():
        assert (ROOT / path).exists(), path


def test_the_image_has_the_packages_that_bootstrap_installs() -> None:
    installed = re.search(r"--no-install-recommends ([\w\s-]+?)\s+&&", DOCKERFILE)
    assert installed is not None
    for package in installed[1].split():
        assert package in (ROOT / "bootstrap").read_text(), package


def test_there_is_time_for_open_episodes() -> None:
    stop = re.search(r"^TimeoutStopSec=(\d+)$", SERVICE, re.M)
    assert stop is not None
    grace = int(compose()["stop_grace_period"].removesuffix("s"))
    assert min(int(stop[1]), grace) > DRAIN_SECONDS


def test_the_compose_file_builds_the_image_and_wants_a_token() -> None:
    service = compose()
    context = (DEPLOY / service["build"]["context"]).resolve()
    assert (context / service["build"]["dockerfile"]).samefile(DEPLOY / "Dockerfile")
    assert service["environment"]["UI_GYM_SERVER_TOKEN"].startswith("${UI_GYM_SERVER_TOKEN:?")
    port = re.search(r"^EXPOSE (\d+)$", DOCKERFILE, re.M)
    assert port is not None
    assert service["ports"] == [f"{port[1]}:{port[1]}"]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd here")
def test_systemd_knows_the_unit(tmp_path: Path) -> None:
    # Of a program that is here: that it is not in /opt is nothing that the unit says wrong.
    unit = tmp_path / "ui-gym.service"
    unit.write_text(re.sub(r"(?m)^ExecStart=\S+", "ExecStart=/bin/true", SERVICE))
    said = subprocess.run(
        ["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False
    )
    assert (said.returncode, said.stdout + said.stderr) == (0, "")
