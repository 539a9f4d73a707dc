"""The machine's clock is set while a run goes on: what lasts is measured by one that nobody sets.

A small library shifts the clock of the processes that it is loaded into, below Python, by what a
file says: the machine's own clock is left alone.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from waiting import eventually

from tests.distributions import install
from ui_gym_agents.monitor import runs
from ui_gym_agents.records import cli as records_cli
from ui_gym_agents.records import recorder
from ui_gym_agents.training import cli

pytest.importorskip("sqlalchemy")

TEN_HOURS, A_DAY = 36_000, -86_400
PATIENT = 60

LIBRARY = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile const long *shift;

__attribute__((constructor)) static void begin(void) {
    int file = open(getenv("CLOCK_SHIFT"), O_RDONLY);
    void *found = mmap(0, sizeof *shift, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (found != MAP_FAILED) shift = found;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int status = syscall(SYS_clock_gettime, clock, now);
    if (!status && shift && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += *shift;
    return status;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec found;
    int status = clock_gettime(CLOCK_REALTIME, &found);
    now->tv_sec = found.tv_sec;
    now->tv_usec = found.tv_nsec / 1000;
    return status;
}

time_t time(time_t *now) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    if (now) *now = found.tv_sec;
    return found.tv_sec;
}
"""

JUMPER = '''
import os, struct, threading
import paint
from ui_gym_agents.agents import RandomAgent
from ui_gym_toy import Toy

class Jumper(Toy):
    """Plays boxes of the paint suite; in the middle of step `at` the clock is set by `event`."""
    keeps_pictures = True
    defaults = {"tasks.ids": ["PaintClick"], "env.dialect": "canonical", "env.num_envs": 2,
                "run.steps": 6, "run.eval_every": 5, "evaluation.both": False,
                "evaluation.quick_episodes": 2, "evaluation.episodes": 2}

    def __init__(self, config, context):
        super().__init__(config, context)
        context.evaluator = None
        context.player = RandomAgent(context.envs.single_action_space)

    def step(self):
        played = self.context.collector.collect(self.context.requests(self.context.step, 4))
        return super().step()

    def happen(self, event):
        with open(os.environ["CLOCK_SHIFT"], "r+b") as file:  # in place, since it is mapped
            file.write(struct.pack("l", int(event)))
        threading.Event().wait(2.5)  # who watches the step looks at it once a second
'''

RUN = ("--plugin", "jumper", "--run.directory", "run", "--trainer.at", "5")


class Clock:
    """The clock of processes that are started with `environment`."""

    def __init__(self, folder: Path) -> None:
        source, library, self._file = (folder / f"clock{end}" for end in (".c", ".so", ".shift"))
        source.write_text(LIBRARY)
        compiled = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source)]
        subprocess.run(compiled, check=True, timeout=60)
        self.set(0)
        self.environment = {"LD_PRELOAD": str(library), "CLOCK_SHIFT": str(self._file)}

    def set(self, seconds: int) -> None:
        """Shift it by `seconds` from now on."""
        # In place, since the file is mapped.
        with self._file.open("r+b" if self._file.exists() else "wb") as file:
            file.write(struct.pack("l", seconds))


@pytest.fixture(scope="module")
def make_clock(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Clock]:
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler (cc), which shifting a clock takes")
    return lambda: Clock(tmp_path_factory.mktemp("clock"))


Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(work: Path, site: Path) -> Iterator[Start]:
    """Starts Python code with a clock of its own, and ends what is left of it."""
    trainers = "[ui_gym.trainers]\njumper = ui_gym_jumper:Jumper\n"
    install(work, "ui-gym-jumper", "1.0", trainers, ui_gym_jumper=JUMPER)
    root = Path(cli.__file__).parents[2]
    paths = os.pathsep.join(map(str, (work, site, root / "tests", root)))
    started: list[subprocess.Popen[str]] = []

    def run(clock: Clock, script: str, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", f"import sys\n{script}", *arguments], text=True,
            env={**os.environ, "PYTHONPATH": paths, **clock.environment},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


TRAIN = f"from {cli.__name__} import main; sys.exit(main())"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def at(event: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(event["at"])


@pytest.mark.parametrize("jump", [TEN_HOURS, pytest.param(A_DAY, marks=pytest.mark.nightly)])
def test_what_a_run_measures_and_does_is_unharmed_when_the_clock_is_set(
    jump: int, make_clock: Callable[[], Clock], start: Start, work: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    limit = ("--run.time_limit", "3600", "--env.episode_timeout", "600")
    process = start(make_clock(), TRAIN, *RUN, *limit, "--trainer.event", str(jump))
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 0, output
    run = work / "run"

    # It was set, as those see who look at the time of day.
    told = lines(run / "events.jsonl")
    begun = next(e for e in told if e["event"] == "step_begun" and e["step"] == 5)
    finished = next(e for e in told if e["event"] == "step_finished" and e["step"] == 5)
    assert abs(at(finished) - at(begun) - timedelta(seconds=jump)) < timedelta(seconds=600)

    rows = lines(run / "metrics.jsonl")
    elapsed = [row["time_elapsed"] for row in rows]
    assert elapsed == sorted(elapsed)
    assert 0 <= elapsed[0] <= elapsed[-1] < 600
    steps = [row for row in rows if row["kind"] == "train"]
    assert [row["step"] for row in steps] == [1, 2, 3, 4, 5, 6]
    assert all(0 <= row[name] < 600 for row in steps for name in row if name.startswith("time_"))
    played = [e for path in run.rglob("episodes.jsonl") for e in lines(path)]
    assert len(played) == 4 * 6 + 3 * 2
    assert all(0 <= e["seconds"] < 600 for e in played)
    assert all(0 <= v < 600 for e in played for t in e["turns"] for v in t["times"].values())

    # No limit of time was met, and nobody was alarmed.
    result = json.loads((run / "result.json").read_text())
    assert (result["stopped_by"], result["steps"]) == ("the number of steps", 6)
    assert 0 < result["seconds"] < 600
    assert [e["event"] for e in told if e["event"] in ("alert", "fault")] == []

    # The records have it all, once, and so have those that are made anew.
    for command in ((), ("rebuild", "run")):
        assert not command or records_cli.main([*command]) == 0
        capsys.readouterr()
        assert records_cli.main(["show", "run", "--json"]) == 0
        shown = json.loads(capsys.readouterr().out)
        assert (shown["status"], shown["step"]) == ("finished", 6)
        assert [step["status"] for step in shown["steps"]] == ["finished"] * 6
        assert records_cli.main(["ls", "--runs", "run", "--json"]) == 0
        (listed,) = json.loads(capsys.readouterr().out)
        assert (listed["status"], listed["rollouts"]) == ("finished", len(played))


ONCE = f"import {recorder.__name__} as r; r.HEARTBEAT = 3600.0; {TRAIN}"
"""As `TRAIN`, but with no sign of life for an hour, unless there is a reason."""


def status(start: Start, clock: Clock) -> str:
    """What `ui-gym-records ls` says of the run, on a machine with this clock."""
    listing = f"from {records_cli.__name__} import main; sys.exit(main())"
    process = start(clock, listing, "ls", "--runs", "run", "--json")
    output, _ = process.communicate(timeout=120)
    (listed,) = json.loads(output)
    return str(listed["status"])


@pytest.mark.parametrize("jump", [pytest.param(TEN_HOURS, marks=pytest.mark.nightly), A_DAY])
def test_a_run_is_running_or_lost_whatever_becomes_of_the_clock(
    jump: int, make_clock: Callable[[], Clock], start: Start, work: Path
) -> None:
    clock = make_clock()
    waiting = ("--plugin", "toy", "--run.directory", "run", "--trainer.at", "3")
    process = start(clock, ONCE, *waiting, "--trainer.event", f"until:{work / 'never'}")

    def third(name: str = "events.jsonl") -> bool:
        log = work / "run" / name
        return log.exists() and '"event": "step_begun", "step": 3' in log.read_text()

    assert eventually(third, PATIENT)
    assert eventually(lambda: status(start, clock) == "running", PATIENT)
    clock.set(jump)
    assert eventually(lambda: status(start, clock) == "running", PATIENT)
    process.send_signal(signal.SIGKILL)
    process.wait(30)
    clock.set(jump + 200)
    assert status(start, clock) == "lost"
    clock.set(jump - 86_400)  # the machine's clock was put right, and this was no sign of life
    assert status(start, clock) == "lost"


def test_a_monitor_takes_no_sign_of_life_from_the_future() -> None:
    now = datetime.now().astimezone()
    ages = [runs._age((now + timedelta(hours=hours)).isoformat()) for hours in (-10, 0, 24)]
    assert [round(age / 3600) for age in ages if age is not None] == [10, 0, 24]
