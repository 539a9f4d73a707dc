"""Archives of strangers: what one asks for that would reach further than its own records."""

from __future__ import annotations

import contextlib
import json
import socket
import sqlite3
import sys
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import paint  # noqa: F401  registers its suite
import pytest
import story

from ui_gym.desktop.http.address import TOKEN
from ui_gym.errors import UIGymError, UserError
from ui_gym_agents.episode import Episode, Turn
from ui_gym_agents.records import archive
from ui_gym_agents.records.recorder import RunRecorder
from ui_gym_agents.records.target import of_file

Command = Callable[..., tuple[int, str, str]]


def config(device: str) -> dict[str, Any]:
    """A run's settings, as far as its episodes are played again by them."""
    env = {"device": device, "dialect": "canonical", "observation": "screenshot", "timeout": 2.0}
    return {"env": {**env, "max_steps": None}, "tasks": {"arguments": {}}}


def episode(task: str) -> Episode:
    return Episode(task, 1, "", [Turn("", "finish()")])


def test_an_archive_chooses_no_machine_and_no_desktop_without_walls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(TOKEN, "correct-horse-battery")
    played = [episode("UI/DesktopAppendLine-v0")]
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(20)

        def listen() -> None:
            with listener.accept()[0] as connection:
                heard.append(connection.recv(10_000))

        there = f"osworld:http://127.0.0.1:{listener.getsockname()[1]}"
        listening = threading.Thread(target=listen)
        listening.start()
        for device in (there, "x11:unconfined", "adb:emulator-5554"):
            with pytest.raises(UserError, match="only where --device names it"):
                list(archive.replay(config(device), played))
        assert not heard
        with pytest.raises(UIGymError):  # whoever answers is no server of a desktop
            list(archive.replay(config("auto"), played, there))
        listening.join()
    assert b"correct-horse-battery" in heard[0]  # without the wall, it is told the token


def test_an_archive_imports_no_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "trap_of_an_archive.py").write_text("open('sprung', 'w').close()")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="no module is imported"):
        list(archive.replay(config("auto"), [episode("trap_of_an_archive:UI/Spot-v0")]))
    assert not Path("sprung").exists()
    with pytest.raises(gymnasium.error.Error):
        gymnasium.make("trap_of_an_archive:UI/Spot-v0")
    assert Path("sprung").exists()
    sys.modules.pop("trap_of_an_archive")


def test_an_archive_is_played_again_where_nothing_is_in_its_way() -> None:
    found = list(archive.replay(config("auto"), [episode("UI/PaintText-v0")], "paint"))
    assert [one.episode.task for one in found] == ["UI/PaintText-v0"]


@pytest.mark.parametrize("name", ["..", "x/..", ".", "", "/"])
def test_the_name_of_an_archives_run_leads_nowhere(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    Path("config.yaml").write_text("mine")
    begun = {"event": "begun", "training": "t"}
    told = {"format": archive.FORMAT, "version": 1, "training": "t", "config": {}, "run": name}
    with zipfile.ZipFile("theirs.zip", "w") as target:
        target.writestr("manifest.json", json.dumps(told))
        target.writestr("events.jsonl", json.dumps(begun) + "\n")
        target.writestr("config.yaml", "theirs")
    status, _, errors = command("import", "theirs.zip")
    assert (status, "names no run" in errors) == (2, True)
    assert Path("config.yaml").read_text() == "mine"
    with archive.opened(Path("theirs.zip")) as opened, contextlib.suppress(UserError):
        opened.extract(Path("runs", ".."))  # without the wall, one's own file is lost
    assert Path("config.yaml").read_text() == "theirs"


def test_what_a_link_in_a_run_leads_to_is_not_exported(tmp_path: Path) -> None:
    run, out = tmp_path / "run", tmp_path / "out.zip"
    run.mkdir()
    (tmp_path / "secret").write_text("a secret of this machine")
    (run / "events.jsonl").write_text(json.dumps({"event": "begun", "training": "t"}) + "\n")
    (run / "metrics.jsonl").write_text("{}\n")
    (run / "config.yaml").symlink_to(tmp_path / "secret")
    archive.write(run, {"run": "run", "training": "t", "config": {}}, out)
    with zipfile.ZipFile(out) as written:
        assert sorted(written.namelist()) == ["events.jsonl", "manifest.json", "metrics.jsonl"]
    assert (run / "config.yaml").read_text() == "a secret of this machine"  # who follows it reads


def test_a_name_is_no_part_of_a_query(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "first"
    folder.mkdir(parents=True)
    target = of_file(folder / "records.sqlite")
    story.Run(folder, RunRecorder(target, folder, print)).whole()
    name = "first'; DELETE FROM turn; --"
    for asked in (("show", name), ("export", name, tmp_path / "x.jsonl"), ("compare", name, name)):
        status, _, errors = command(*asked, "--runs", folder.parent)
        assert (status, "first" in errors) == (2, True)
    turns = "SELECT count(*) FROM turn"
    with contextlib.closing(sqlite3.connect(folder / "records.sqlite")) as connection:
        assert connection.execute(turns).fetchone()[0] > 0
        connection.executescript(f"SELECT * FROM training WHERE name = '{name}'")  # as a part
        assert connection.execute(turns).fetchone()[0] == 0
