"""``ui-gym export harbor``: the folders it writes, and their pieces run without containers."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from waiting import eventually

from ui_gym.errors import UserError
from ui_gym.tools.cli import app
from ui_gym.tools.cli import main as ui_gym

ASKED = ["export", "harbor", "UI/ClickButton-v0", "--compact"]


def export(out: Path, *more: str) -> None:
    app([*ASKED, "--out", str(out), *more], standalone_mode=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the second seed."""
    out = tmp_path_factory.mktemp("harbor")
    export(out, "--seeds", "2")
    assert sorted(path.name for path in out.iterdir()) == ["clickbutton-0", "clickbutton-1"]
    return out / "clickbutton-1"


def test_a_folder_has_what_harbor_asks_for(folder: Path) -> None:
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert files == {
        "task.toml", "instruction.md", "tests/test.sh", "tests/Dockerfile",
        "environment/Dockerfile", "environment/docker-compose.yaml",
        "environment/judge/Dockerfile", "solution/solve.sh", "solution/calls.jsonl",
    }  # fmt: skip
    config = tomllib.loads((folder / "task.toml").read_text())
    assert config["task"]["name"] == "ui-gym/clickbutton-1"
    assert config["metadata"]["seed"] == 1
    assert (folder / "tests/test.sh").stat().st_mode & 0o111


def test_the_agent_is_told_the_goal_and_how_actions_are_written(folder: Path) -> None:
    told = (folder / "instruction.md").read_text()
    assert told.startswith('Click "')
    assert "click(x, y" in told
    assert "320 pixels wide" in told


def test_the_score_is_where_the_agent_is_not(folder: Path) -> None:
    config = tomllib.loads((folder / "task.toml").read_text())
    compose = yaml.safe_load((folder / "environment/docker-compose.yaml").read_text())
    (artifact,) = config["artifacts"]
    assert config["verifier"]["environment_mode"] == "separate"
    assert set(compose["services"]) == {artifact["service"]} == {"ui-gym"}
    assert "volumes" not in compose["services"]["ui-gym"]
    assert artifact["source"] in (folder / "environment/judge/Dockerfile").read_text()
    assert artifact["source"] in (folder / "tests/test.sh").read_text()
    assert "ui-gym" not in (folder / "environment/Dockerfile").read_text()


@pytest.fixture
def judge(folder: Path, tmp_path: Path) -> Iterator[tuple[int, Path]]:
    """The judge's command as its container would run it: its port and its score's file."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    score = tmp_path / "score"
    entry = re.search(
        r"^ENTRYPOINT (.*)$", (folder / "environment/judge/Dockerfile").read_text(), re.M
    )
    assert entry is not None
    program, *options = json.loads(entry[1])
    assert program.endswith("/ui-gym")
    compose = yaml.safe_load((folder / "environment/docker-compose.yaml").read_text())
    here = {"8000": str(port), "/var/lib/ui-gym/score": str(score)}
    command = [here.get(word, word) for word in options + compose["services"]["ui-gym"]["command"]]
    with subprocess.Popen([sys.executable, "-m", "ui_gym.tools.cli", *command]) as process:
        yield port, score
        process.send_signal(2)
        assert process.wait(20) == 0


def run(script: Path, **here: str) -> subprocess.CompletedProcess[str]:
    """Run a script with its paths and addresses replaced by those that are here."""
    text = script.read_text()
    for name, value in here.items():
        assert PLACES[name] in text
        text = text.replace(PLACES[name], value)
    script.with_name("here.sh").write_text(text)
    shell = text.partition("\n")[0].removeprefix("#!")
    return subprocess.run(
        [shell, script.with_name("here.sh")], capture_output=True, text=True, timeout=100
    )


PLACES = {
    "url": "http://127.0.0.1:8000/mcp",
    "score": "/var/lib/ui-gym/score",
    "reward": "/logs/verifier/reward.txt",
}


@pytest.mark.skipif(not shutil.which("curl"), reason="there is no curl here")
def test_the_solution_wins_and_the_verifier_rewards_it(
    folder: Path, judge: tuple[int, Path], tmp_path: Path
) -> None:
    port, score = judge
    url = f"http://127.0.0.1:{port}/mcp"
    config = tomllib.loads((folder / "task.toml").read_text())
    check = config["environment"]["healthcheck"]["command"].replace(PLACES["url"], url)
    assert eventually(lambda: subprocess.run(check, shell=True).returncode == 0, 60)  # noqa: S602
    assert score.read_text() == "0\n"
    solved = run(folder / "solution/solve.sh", url=url)
    assert solved.returncode == 0, solved.stderr
    assert "Score: 1 of 1." in solved.stdout
    reward = tmp_path / "reward.txt"
    assert run(folder / "tests/test.sh", score=str(score), reward=str(reward)).returncode == 0
    assert float(reward.read_text()) == 1.0


def test_without_a_score_there_is_no_reward(folder: Path, tmp_path: Path) -> None:
    reward = tmp_path / "reward.txt"
    run(folder / "tests/test.sh", score=str(tmp_path / "score"), reward=str(reward))
    assert not reward.exists()


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (["NoSuchTask"], "NoSuchTask"),
        (["DesktopMoveFile"], "devices the judge's image lacks"),
        (["ClickButton", "--package", "x && rm"], "one requirement of pip"),
        (["ClickButton", "--level", "99"], "level"),
    ],
)
def test_what_cannot_be_exported_is_refused(asked: list[str], told: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=told):
        app(["export", "harbor", *asked, "--out", str(tmp_path / "out")], standalone_mode=False)
    assert not (tmp_path / "out").exists()


def test_nothing_is_written_over(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        ui_gym([*ASKED, "--out", str(folder.parent)])
    assert ended.value.code == 2
    assert "is there already; choose another --out" in " ".join(capsys.readouterr().err.split())
