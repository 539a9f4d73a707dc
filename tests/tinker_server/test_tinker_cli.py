"""The command: what it prints, whom it lets in, and that it leaves nothing behind."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import tinker
from clients import sampled, text_of
from typer.testing import CliRunner

from ui_gym.errors import UserError
from ui_gym_tinker.server import cli

COMMAND = [sys.executable, "-m", "ui_gym_tinker.server.cli"]
START = 120.0


@contextmanager
def running(folder: Path, *arguments: str, **env: str) -> Iterator[tuple[subprocess.Popen, str]]:
    """The command in a process of its own, and what it said until it was ready."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("TINKER_")}
    process = subprocess.Popen(
        [*COMMAND, "--port", "0", *arguments], cwd=folder, env={**clean, **env}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        said = ""
        assert process.stdout is not None
        for line in process.stdout:
            said += line
            if "Ctrl-C" in line:
                break
        yield process, said
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(START)
        finally:
            process.kill()
            process.wait()


def test_it_serves_until_ctrl_c_and_leaves_nothing(tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    with running(tmp_path, "--model", "tiny-clerk", TMPDIR=str(temporary)) as (process, said):
        settings = dict(re.findall(r"export (\w+)=(\S+)", said))
        client = tinker.ServiceClient(
            base_url=settings["TINKER_BASE_URL"], api_key=settings["TINKER_API_KEY"]
        )
        sampler = client.create_sampling_client(base_model="tiny-clerk").result()
        assert sampled(sampler, text_of(20, 21))
        client.close("success").result(START)
        process.send_signal(signal.SIGINT)
        assert process.wait(START) == 0
    assert list(temporary.iterdir()) == []
    assert [one.name for one in tmp_path.iterdir() if one != temporary] == ["tinker-checkpoints"]


def test_the_key_of_a_file_is_made_once_and_never_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "secret" / "key"
    with running(tmp_path, "--key-file", str(file)) as (_, said):
        key = file.read_text().strip()
        assert key.startswith("tml-")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert key not in said
        url = re.findall(r"TINKER_BASE_URL=(\S+)", said)[0]
        asked = httpx.get(f"{url}/api/v1/healthz", headers={"X-API-Key": key})
        assert asked.status_code == 200
    monkeypatch.delenv("TINKER_API_KEY", raising=False)
    assert cli.given_key(file) == (key, str(file))
    monkeypatch.setenv("TINKER_API_KEY", "tml-" + "b" * 32)
    assert cli.given_key(file) == ("tml-" + "b" * 32, "TINKER_API_KEY")
    assert cli.given_key(None)[1] == "TINKER_API_KEY"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--host", "0.0.0.0"], "give it a key of your own"),
        (["--model", "tiny-clark"], "Did you mean 'tiny-clerk'"),
        (["--max-memory", "much"], "is no amount"),
        (["--max-memory", "1MB"], "more than --max-memory allows"),
        (["--model", "a=tiny-clerk", "--model", "a=tiny-hands"], "two models are called 'a'"),
    ],
)
def test_a_mistake_is_told_and_ends_it(
    tmp_path: Path, arguments: list[str], told: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TINKER_API_KEY", raising=False)
    monkeypatch.setattr(sys, "argv", ["ui-gym-tinker-server", "--port", "0", *arguments])
    assert cli.main() == 2
    assert told in " ".join(capsys.readouterr().err.split())


def test_help_teaches() -> None:
    said = CliRunner().invoke(cli.app, ["--help"], terminal_width=200).output
    for word in ("TINKER_BASE_URL", "NAME=FOLDER", "--max-memory", "SERVER.md", "Examples"):
        assert word in said


@pytest.mark.parametrize(
    ("text", "expected"),
    [("8GB", 8 * 10**9), ("500 mb", 5 * 10**8), ("16GiB", 2**34), ("1.5g", 1.5e9), ("1000", 1000)],
)
def test_amounts_of_memory(text: str, expected: float) -> None:
    assert cli.memory(text) == expected
    with pytest.raises(UserError):
        cli.memory(f"x{text}")
