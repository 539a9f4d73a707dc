"""Some hundreds of cases for each target, whole counts at night, and what fuzzing must notice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from waiting import eventually

from tests.fuzz import controls
from tests.fuzz.__main__ import main
from tests.fuzz.children import LAST, fuzz_apart
from tests.fuzz.dialect_texts import DialectTexts
from tests.fuzz.env_messages import EnvMessages
from tests.fuzz.phone_lines import PhoneLines
from tests.fuzz.phone_packets import PhonePackets
from tests.fuzz.running import Bounds, FuzzReport, again, drawn, fuzz, load
from tests.fuzz.stored_files import Checkpoints, StoredFile
from tests.fuzz.targets import TARGETS
from ui_gym.dialects import DIALECTS
from ui_gym.remote.session import Message, Session
from ui_gym_agents.training.checkpoint import Checkpoint
from ui_gym_phone.handset import Handset

SHORT = {
    "dialects": 1000, "phone-lines": 120, "phone-packets": 150, "env-server": 150,
    "task-files": 120, "osworld-files": 200, "episode-files": 80, "checkpoints": 150,
}  # fmt: skip
"""Parts that are fed by day; the policy server has a file of its own, since it needs torch."""

CHILD_BOUNDS = Bounds(seconds=1.0, memory=200 << 20)


def test_the_command_runs_outside_of_pytest() -> None:
    words = [sys.executable, "-m", "tests.fuzz", "dialects", "--count", "50", "--seed", "1"]
    done = subprocess.run(
        words, cwd=Path(__file__).parents[2], env={**os.environ, "PYTHONPATH": ""},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def findings(report: FuzzReport) -> str:
    return "\n".join(f"{f.count} x {f.what}\n{f.told}" for f in report.unexpected.values())


@pytest.mark.parametrize("name", SHORT)
def test_some_cases_have_no_unexpected_outcome(name: str) -> None:
    report = fuzz(load(TARGETS[name].where), name, SHORT[name], 1, bounds=TARGETS[name].bounds)
    assert not report.failures, findings(report)
    assert report.count >= SHORT[name]
    assert len(report.outcomes) > 1, "all have the same outcome: nothing is read, or all is"
    if name == "dialects":
        kinds = [f"{one}: {kind}" for one in DIALECTS for kind in ("done", "parse", "name")]
        assert {*kinds} <= {*report.outcomes}


@pytest.mark.nightly
@pytest.mark.timeout(4 * 3600)
@pytest.mark.parametrize("name", SHORT)
def test_no_case_of_a_whole_run_has_an_unexpected_outcome(name: str, tmp_path: Path) -> None:
    kind = TARGETS[name]
    report = fuzz_apart(kind.where, name, kind.count, 2, bounds=kind.bounds, folder=tmp_path)
    assert not report.failures, findings(report)
    assert report.count >= kind.count


@pytest.mark.parametrize("name", [name for name in SHORT if name != "env-server"])
def test_a_seed_gives_the_same_cases_each_time(name: str) -> None:
    target, other = load(TARGETS[name].where)(), load(TARGETS[name].where)()
    try:
        first = [target.case(drawn(name, 5, number)) for number in range(20)]
        assert [other.case(drawn(name, 5, number)) for number in range(20)] == first
        assert len({*first}) > 10
        assert target.case(drawn(name, 6, 0)) != first[0]
    finally:
        target.close()
        other.close()


# -- what must be noticed: a broken part for each kind of target --


def noticed(make: Callable[[], Any], count: int, folder: Path, name: str = "broken") -> str:
    """What is said of a target that is broken, whose case says it when it is fed again."""
    report = fuzz(make, name, count, 1, folder=folder, most_kinds=1)
    assert report.failures, "nothing was noticed"
    (found,) = report.unexpected.values()
    assert Path(found.file).parent == folder / name
    once_more = again(make, Path(found.file))
    assert found.what in once_more.unexpected
    return found.told


def test_a_dialect_that_raises_is_noticed(tmp_path: Path) -> None:
    told = noticed(lambda: DialectTexts({"broken": controls.BrokenDialect()}), 500, tmp_path)
    assert "IndexError: string index out of range" in told


def test_a_command_that_raises_is_noticed(tmp_path: Path) -> None:
    class Clockless(Handset):
        @property
        def clock(self) -> Any:
            raise ZeroDivisionError("no clock")

    assert "no clock" in noticed(lambda: PhoneLines(Clockless()), 800, tmp_path)


def test_a_phone_that_raises_in_a_stream_is_noticed(tmp_path: Path) -> None:
    class Broken(Handset):
        def run(self, *_: Any, **__: Any) -> int:
            raise ZeroDivisionError("no shell")

    assert "no shell" in noticed(lambda: PhonePackets(Broken()), 200, tmp_path)


def test_an_env_server_that_raises_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(session: Session, message: Message) -> None:
        if "abandon" in message:
            raise ZeroDivisionError("nothing is given up")

    monkeypatch.setattr(Session, "handle", broken)
    assert "nothing is given up" in noticed(EnvMessages, 500, tmp_path)


def test_a_reader_that_raises_is_noticed(tmp_path: Path) -> None:
    def read(file: Path) -> str:
        return str(json.loads(file.read_bytes())["id"])

    told = noticed(lambda: StoredFile([b'{"id": "a"}'], "a.json", read), 200, tmp_path)
    assert "Error" in told


def test_a_checkpoint_that_is_read_unchecked_is_noticed(tmp_path: Path) -> None:
    def load_unchecked(path: Path) -> Checkpoint:
        return Checkpoint(path, 7, {"seed": 3})

    told = noticed(lambda: Checkpoints(load_unchecked), 100, tmp_path)
    assert "is read though" in told


def test_a_part_that_takes_too_long_is_noticed(tmp_path: Path) -> None:
    report = fuzz(controls.Endless, "x", 60, 1, bounds=Bounds(seconds=0.05), folder=tmp_path)
    assert report.unexpected["OverTime"].count == report.outcomes["unexpected"] > 1
    assert report.outcomes["fine"] + report.failures == 60


def test_a_process_that_dies_is_noticed_and_another_goes_on(tmp_path: Path) -> None:
    where = "tests.fuzz.controls:Dying"
    report = fuzz_apart(where, "x", 20, 5, bounds=CHILD_BOUNDS, folder=tmp_path)
    found = report.unexpected["Died: SIGSEGV"]
    assert Path(found.file).read_bytes() == b"wrong"
    assert report.outcomes["died"] == found.count >= 1
    assert report.outcomes["fine"] + found.count == report.count == 20


def test_a_process_that_grows_is_noticed(tmp_path: Path) -> None:
    where = "tests.fuzz.controls:Greedy"
    report = fuzz_apart(where, "x", 30, 3, bounds=CHILD_BOUNDS, folder=tmp_path)
    (found,) = report.unexpected.values()
    assert found.what == "OverMemory"
    assert Path(found.file).read_bytes() == b"wrong"
    assert report.memory_peak - report.memory_before > 200


def test_a_sound_target_is_not_blamed(tmp_path: Path) -> None:
    where = "tests.fuzz.controls:Sound"
    report = fuzz_apart(where, "x", 500, 1, bounds=CHILD_BOUNDS, folder=tmp_path)
    assert (report.outcomes, report.failures) == ({"fine": 500}, 0)
    assert list(tmp_path.iterdir()) == []


# -- the command --


def test_the_command_writes_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "report.json"
    given = ["task-files", "--count", "40", "--seed", "3", "--report", str(report)]
    assert main([*given, "--cases", str(tmp_path / "cases")]) == 0
    (told,) = json.loads(report.read_text())["targets"]
    assert (told["target"], told["seed"], told["count"]) == ("task-files", 3, 40)
    assert sum(told["outcomes"].values()) == 40
    assert told["slowest_ms"] > 0
    assert told["memory_peak"] > 10
    assert "task-files: 40 in" in capsys.readouterr().out


@pytest.mark.nightly
def test_whoever_ends_the_command_is_told_what_was_counted(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    command = [sys.executable, "-m", "tests.fuzz", "dialects", "--report", str(report)]
    scratch = tmp_path / "scratch"
    scratch.mkdir()

    def fed() -> int:
        (last,) = list(scratch.glob(f"*/{LAST}")) or [None]
        return 0 if last is None else int(last.read_bytes().partition(b"\n")[0] or 0)

    with subprocess.Popen(
        command, cwd=Path(__file__).parents[2], env={**os.environ, "TMPDIR": str(scratch)}
    ) as run:
        assert eventually(lambda: fed() > 5000, 300)
        run.send_signal(signal.SIGINT)
        assert run.wait(60) == 130
    assert list(scratch.iterdir()) == []
    (told,) = json.loads(report.read_text())["targets"]
    assert 0 < told["count"] < TARGETS["dialects"].count
    assert told["unexpected"] == []


def test_the_command_feeds_a_case_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = tmp_path / "dialects" / "0.case"
    case.parent.mkdir()
    case.write_bytes(b"canonical\nclick(")
    assert main(["--again", str(case)]) == 0
    assert "canonical: parse" in capsys.readouterr().out


@pytest.mark.parametrize("given", [["nothing"], ["--again", "nowhere.case"]])
def test_the_command_refuses_what_is_not_there(
    given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(given)
    assert ended.value.code == 2
    assert "there is no target" in (said := capsys.readouterr().err) or "no case" in said
