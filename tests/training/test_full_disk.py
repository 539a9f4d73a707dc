"""Disks that are full in mid-run, wherever it writes: it says so, and goes on once there is room.

They are real ones, small, and mounted where nobody else sees them.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import histories
import pytest
import room

from ui_gym_agents import pack
from ui_gym_agents.evaluation import cli as eval_cli
from ui_gym_agents.records import cli as records_cli
from ui_gym_agents.training import cli as train_cli

pytest.importorskip("sqlalchemy")
pytest.importorskip("jinja2")

Train = Callable[..., tuple[int, str, str]]

PLAYER = ("--plugin", "toy-player", "--run.directory")
PAGE = 4096
"""What a file takes at least, in bytes."""


@pytest.fixture
def disk(work: Path) -> Iterator[Path]:
    with room.small_disk(work / "disk") as path:
        yield path


Whole = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def known() -> dict[tuple[str, ...], dict[str, Any]]:
    return {}


@pytest.fixture
def whole(train: Train, work: Path, known: dict[tuple[str, ...], dict[str, Any]]) -> Whole:
    """What an undisturbed run with some settings leaves behind."""

    def run(*asked: str) -> dict[str, Any]:
        if asked not in known:
            assert train(*PLAYER, "whole", *asked)[0] == 0
            known[asked] = histories.history(work / "whole")
        return known[asked]

    return run


def event(what: str, when: str, at: int, leave: int = 0) -> tuple[str, ...]:
    return (
        "--trainer.event", what, "--trainer.when", when, "--trainer.at", str(at),
        "--trainer.leave", str(leave),
    )  # fmt: skip


CALM = ("--trainer.event", "", "--override-config")


def one_line(errors: str) -> str:
    """What a command complains of, which is one line."""
    (line,) = [line for line in errors.splitlines() if line.startswith("error: ")]
    assert "Traceback" not in errors
    return line


NO_PICTURES = ("--run.keep_pictures", "0")


@pytest.mark.parametrize(
    ("when", "at", "options", "named"),
    [
        ("step", 3, (), "episodes/screenshots/"),
        ("step", 3, NO_PICTURES, "episodes/episodes.jsonl"),
        ("played", 3, (*NO_PICTURES, "--trainer.numbers", "200"), "metrics.jsonl"),
        ("save", 3, (), ""),
        ("baseline", 5, (), "evaluations/step_000000-greedy/"),
        ("evaluation", 3, (), "evaluations/step_000002-greedy/"),
        ("final", 5, (), "evaluations/step_000004-greedy/"),
    ],
)
def test_a_disk_that_is_full_in_mid_run_ends_it_with_a_word_and_costs_nothing(
    when: str,
    at: int,
    options: tuple[str, ...],
    named: str,
    train: Train,
    disk: Path,
    whole: Whole,
) -> None:
    run = disk / "run"
    status, _, errors = train(*PLAYER, str(run), *options, *event("fill", when, at))
    assert status == 1
    told = one_line(errors)
    assert f"there is no room for {run}/{named}".rstrip("/") in told
    assert f" on the file system of {disk} (No space left on device); make room and" in told
    saved = sorted((run / "checkpoints").iterdir())
    if saved:
        number = int(saved[-1].name[5:])
        assert f"to continue after step {number}: ui-gym-train --resume {run}" in told
    else:
        assert f"nothing was saved yet; to begin anew: ui-gym-train --resume {run}" in told
    histories.check_lines(run)

    status, _, errors = train("--resume", str(run))
    assert status == 1, "there is no room yet"
    assert "there is no room for a run in" in one_line(errors)
    room.free(disk)
    status, _, errors = train("--resume", str(run), *CALM)
    assert status == 0, errors
    assert histories.history(run) == whole(*options)


@pytest.mark.nightly
def test_wherever_a_disk_is_full_in_a_step_nothing_is_lost(
    train: Train, disk: Path, whole: Whole
) -> None:
    """The same step again and again, each time with room for one page more."""
    options, run = ("--trainer.numbers", "200"), disk / "run"
    status, _, errors = train(*PLAYER, str(run), *options, *event("fill", "step", 3))
    named = set()
    for pages in itertools.count(1):
        if status == 0:
            break
        path = one_line(errors).partition("no room for ")[2].partition(" on the file")[0]
        named.add(Path(path).suffix)
        histories.check_lines(run)
        room.free(disk)
        more = ("--trainer.leave", str(pages * PAGE), "--override-config")
        status, _, errors = train("--resume", str(run), *more)
    assert named == {"", ".sqlite", ".jsonl"}, "checkpoints, pictures, lines"
    assert pages > 20
    assert histories.history(run) == whole(*options)


def test_a_log_that_has_no_room_for_a_moment_stops_nothing(
    train: Train, disk: Path, whole: Whole
) -> None:
    """Of what is said meanwhile, the log has nothing, and what records are made of has all."""
    options, run = ("--trainer.notes", "5000"), disk / "run"
    status, output, errors = train(
        *PLAYER, str(run), *options, *event("fill for a moment", "played", 3)
    )
    assert status == 0, errors
    assert "warning: EventLog.learned failed, and the run goes on without it: NoRoom" in output
    histories.check_lines(run)
    assert (run / "log.txt").read_text().count(5000 * "x") == 3
    told = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    learned = [event["step"] for event in told if event["event"] == "learned"]
    assert learned == [1, 2, 3, 4]
    assert histories.history(run) == whole(*options)


def test_records_that_have_no_room_wait_on_the_disk_of_the_run(
    work: Path, disk: Path, site: Path
) -> None:
    run, url = work / "run", f"sqlite:///{disk}/records.sqlite"
    paths = os.pathsep.join([str(site), *sys.path])

    def command(module: str, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments], env={**os.environ, "PYTHONPATH": paths},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    said = command(
        train_cli.__name__, *PLAYER, str(run), *event("fill", "step", 2),
        "--trainer.disk", str(disk), "--run.records", url,
    )  # fmt: skip
    (away,) = [line for line in said.splitlines() if " is away (" in line]
    assert f"the records database {url} is away (" in away
    assert f": there is no room on the disk of {disk}/records.sqlite); the run goes" in away
    assert f"back: ui-gym-records flush {run}" in said
    room.free(disk)
    command(records_cli.__name__, "flush", str(run), "--database", url)
    expected = histories.episodes(run)
    assert histories.recorded(url, run) == expected
    assert len(expected) == 2 * 6 + 4 * 8 + 4 + 2 * 6


def test_a_disk_that_takes_no_more_files_costs_nothing(
    train: Train, work: Path, whole: Whole
) -> None:
    """There is room for what they would hold."""
    with room.small_disk(work / "disk", "nr_inodes=40") as place:
        run = place / "run"
        status, _, errors = train(*PLAYER, str(run))
        assert status == 1
        assert "(No space left on device); make room and continue" in one_line(errors)
        assert list((run / "checkpoints").iterdir())
        room.mount("-o", "remount,nr_inodes=1000", str(place))
        status, _, errors = train("--resume", str(run))
        assert status == 0, errors
        assert histories.history(run) == whole()


@pytest.mark.parametrize(
    ("pages", "growth"), [(1, 2), pytest.param(16, 1, marks=pytest.mark.nightly)]
)
def test_an_evaluation_on_a_full_disk_goes_on_with_every_page_that_there_is(
    pages: int,
    growth: int,
    disk: Path,
    work: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It gets so many pages more each time, or twice as many as before: pictures take some at once,
    others one by one."""

    def evaluate(folder: Path) -> tuple[int, str]:
        asked = ("--task", "PaintClick", "--agent", "random", "--episodes", "4", "--envs", "2")
        monkeypatch.setattr("sys.argv", ["ui-gym-eval", *asked, "--out", str(folder)])
        status = eval_cli.main()
        return status, " ".join(capsys.readouterr().err.split())

    out, named = disk / "report", set()
    room.fill(disk)
    while (ended := evaluate(out))[0]:
        status, errors = ended
        assert status == 1, errors
        path = errors.partition("there is no room for ")[2].partition(" on the file")[0]
        assert errors.endswith("make room and continue: it is as it was before")
        named.add("a picture" if Path(path).name == pack.NAME else Path(path).name)
        if (out / "episodes.jsonl").exists():
            assert (out / "episodes.jsonl").read_text()[-1:] in ("", "\n")
        room.free(disk)
        room.fill(disk, pages * PAGE)
        pages *= growth
    of_each = {1: {"episodes.jsonl", "report.html"}, 2: {"a picture"}}
    assert named >= {"evaluation.json", *of_each[growth]}
    assert evaluate(work / "whole")[0] == 0

    def found(folder: Path) -> Any:
        report = json.loads((folder / "report.json").read_text())
        lines = map(json.loads, (folder / "episodes.jsonl").read_text().splitlines())
        scores = sorted((line["id"], line["score"]) for line in lines)
        names = sorted(path.name for path in folder.iterdir())
        del report["times"]
        return report, scores, names, (folder / "film.png").read_bytes()

    assert found(out) == found(work / "whole")
