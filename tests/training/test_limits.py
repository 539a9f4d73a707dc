"""Limits of the system that a run meets: open files, address space, memory of its control group.

What is said names the limit and the remedy, and what was saved before stays whole.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.distributions import install
from tests.training.test_host import metrics, state
from ui_gym_agents import command
from ui_gym_agents.training import cli

Limited = Callable[..., tuple[int, str]]

EATER = '''
import os
import numpy as np
import paint
from ui_gym_agents.agents import RandomAgent
from ui_gym_toy import Toy

class Eater(Toy):
    """Plays boxes of the paint suite, and in step `at` takes what `event` says without end."""
    keeps_pictures = True
    defaults = {"tasks.ids": ["PaintClick"], "env.dialect": "canonical", "run.steps": 4,
                "run.save_every": 1, "run.eval_every": 0, "evaluation.episodes": 0}

    def __init__(self, config, context):
        super().__init__(config, context)
        context.player = RandomAgent(context.envs.single_action_space)
        self.kept = []

    def step(self):
        self.context.collector.collect(self.context.requests(self.context.step, 6))
        return super().step()

    def happen(self, event):
        while event == "files":
            self.kept.append(open(os.devnull))
        while event == "addresses":
            self.kept.append(np.empty(1 << 26, np.uint8))
        if event == "an array":
            self.kept.append(np.empty(1 << 40, np.uint8))
        while event == "memory":
            self.kept.append(b"x" * (1 << 24))
'''

RUN = (
    "--plugin", "eater", "--run.directory", "run", "--env.num_envs", "3", "--trainer.at", "3",
)  # fmt: skip

FILES = "import resource as r; r.setrlimit(r.RLIMIT_NOFILE, ({0}, {0}))"
"""Python that sets the limit of open files, which nothing can raise."""

ADDRESSES = """
import resource as r
used = int(open("/proc/self/statm").read().split()[0]) * r.getpagesize()
r.setrlimit(r.RLIMIT_AS, (used + (2 << 30),) * 2)
"""
"""Python that leaves this process 2 GiB beside what it has loaded."""


@pytest.fixture
def limited(work: Path, site: Path) -> Limited:
    """`ui-gym-train` as a process that first does `setup`: (exit status, all output)."""
    trainers = "[ui_gym.trainers]\neater = ui_gym_eater:Eater\n"
    install(work, "ui-gym-eater", "1.0", trainers, ui_gym_eater=EATER)
    root = Path(cli.__file__).parents[2]
    paths = os.pathsep.join(map(str, (work, site, root / "tests", root)))
    # On many cores, numpy's threads would take gigabytes of addresses.
    environment = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}

    def run(setup: str, *arguments: str) -> tuple[int, str]:
        script = f"import sys\nfrom {cli.__name__} import main\n{setup}\nsys.exit(main())"
        done = subprocess.run(
            [sys.executable, "-c", script, *arguments], env=environment, text=True, timeout=240,
            check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        return done.returncode, done.stdout

    return run


def events(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]


def assert_told_and_whole(run: Path, output: str, *said: str) -> None:
    """The run ended in step 3 for a reason that its files say, and nothing is half there."""
    (error,) = [line for line in output.splitlines() if line.startswith("error: ")]
    assert "Traceback" not in output
    last = events(run)[-1]
    for words in said:
        assert words in error
        assert words in last["error"]
        assert words in (run / "log.txt").read_text()
    assert (last["event"], last["status"], last["step"]) == ("ended", "failed", 2)
    assert json.loads((run / "workers.json").read_text())["status"] == "failed"
    assert not [path for path in run.rglob("*") if path.suffix in (".part", ".tmp")]
    assert [row["step"] for row in metrics(run)] == [1, 2]


def assert_goes_on_as_if_nothing_had_been(limited: Limited, work: Path) -> None:
    """Both runs do so in this one process: what they are is told by their files."""
    both = "main(['--resume', 'run', '--trainer.event', '', '--override-config'])"
    status, output = limited(both, *RUN, "--run.directory", "whole")
    assert status == 0, output
    assert metrics(work / "run") == metrics(work / "whole")
    assert state(work / "run", 4)[0] == state(work / "whole", 4)[0]
    assert state(work / "run", 4)[1]["rng"] == state(work / "whole", 4)[1]["rng"]


FEW = (64, pytest.param(256, marks=pytest.mark.nightly))


@pytest.mark.parametrize("files", FEW)
def test_a_run_has_enough_of_few_open_files(files: int, limited: Limited) -> None:
    status, output = limited(FILES.format(files), *RUN, "--env.num_envs", "24")
    assert status == 0, output
    assert "warning" not in output


@pytest.mark.parametrize("files", FEW)
def test_a_run_whose_files_run_out_names_the_limit(
    files: int, limited: Limited, work: Path
) -> None:
    status, output = limited(FILES.format(files), *RUN, "--trainer.event", "files")
    assert status == 1
    assert_told_and_whole(
        work / "run", output, "too many files are open (/dev/null)",
        f"this process may have {files} files open", "ulimit -n 1024",
        "to continue after step 2: ui-gym-train --resume run",
    )  # fmt: skip
    assert "self.kept.append(open(os.devnull))" in (work / "run" / "log.txt").read_text()
    assert_goes_on_as_if_nothing_had_been(limited, work)


def test_more_workers_than_files_may_be_open_are_refused_with_the_limit(
    limited: Limited, work: Path
) -> None:
    many = ("--env.workers", "processes:8", "--env.num_envs", "24")
    status, output = limited(FILES.format(64), *RUN, *many)
    assert status == 1
    assert "Traceback" not in output
    (error,) = [line for line in output.splitlines() if line.startswith("error: ")]
    # Wherever the one too many was to be opened.
    assert "Too many open files" in error or "too many files are open" in error
    assert "raise the limit (ulimit -n 1024)" in error
    assert events(work / "run")[-1]["status"] == "failed"


@pytest.mark.parametrize(
    "event", ["an array", pytest.param("addresses", marks=pytest.mark.nightly)]
)
def test_a_run_whose_addresses_run_out_names_the_limit(
    event: str, limited: Limited, work: Path
) -> None:
    status, output = limited(ADDRESSES, *RUN, "--trainer.event", event)
    assert status == 1
    assert_told_and_whole(
        work / "run", output, "the trainer 'eater' failed in step 3: ", "MemoryError: ",
        "this process may take ", " GB of memory: raise the limit (ulimit -v unlimited)",
    )  # fmt: skip
    assert_goes_on_as_if_nothing_had_been(limited, work)


def test_a_command_whose_files_or_addresses_run_out_names_the_limit(
    capsys: pytest.CaptureFixture[str], limited: Limited
) -> None:
    """Wherever it is: what is no run has no log for a traceback."""
    script = f"""
{{}}
from {command.__name__} import finish
kept = []
def work():
    while True:
        kept.append({{}})
sys.exit(finish(work))
"""
    status, output = limited(script.format(FILES.format(64), "open('/dev/null')"))
    assert (status, output.count("\n")) == (1, 1), output
    assert "'/dev/null': this process may have 64 files open: raise the limit" in output
    status, output = limited(script.format(ADDRESSES, "bytearray(1 << 40)"))
    assert (status, output.count("\n")) == (1, 1), output
    assert output.startswith("error: MemoryError: this process may take ")


# -- the memory of a control group --


class ControlGroup:
    """A control group whose processes together have `size` bytes; of either version of cgroups."""

    def __init__(self, size: int) -> None:
        first, second = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
        top = first if first.is_dir() else second
        self.path = top / f"ui-gym-{uuid.uuid4().hex[:8]}"
        self.path.mkdir()
        try:
            limit, swap, self._told = (
                ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.oom_control")
                if top == first
                else ("memory.max", "memory.swap.max", "memory.events")
            )
            (self.path / limit).write_text(str(size))
            with contextlib.suppress(OSError):  # a machine that does not count swap
                (self.path / swap).write_text(str(size if top == first else 0))
        except OSError:
            self.close()
            raise

    @property
    def killed(self) -> int:
        """How many processes the kernel has ended there for want of memory."""
        lines = (self.path / self._told).read_text().splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith("oom_kill ")))

    def close(self) -> None:
        self.path.rmdir()


@pytest.fixture
def group() -> Iterator[ControlGroup]:
    try:
        made = ControlGroup(512 << 20)
    except OSError as error:
        pytest.skip(f"this user may not make a control group with a limit of memory ({error})")
    yield made
    made.close()


def test_a_run_killed_by_the_kernel_for_memory_resumes_to_the_bit(
    group: ControlGroup, limited: Limited, work: Path
) -> None:
    join = f"import os; open('{group.path}/cgroup.procs', 'w').write(str(os.getpid()))"
    status, output = limited(join, *RUN, "--trainer.event", "memory")
    assert status == -signal.SIGKILL, output
    assert group.killed == 1
    assert events(work / "run")[-1]["event"] == "step_begun"
    assert_goes_on_as_if_nothing_had_been(limited, work)
