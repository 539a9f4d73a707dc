"""What a run says of its parts while it goes on: processes, slots, what waits, versions."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import paint
import pytest
from waiting import eventually

from ui_gym.playing.vector import UIVectorEnv
from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.training.context import TrainerContext
from ui_gym_agents.training.heartbeat import Heartbeat
from ui_gym_agents.training.process_tree import ProcessTree, ProcessUse
from ui_gym_agents.training.run_directory import WORKERS, RunDirectory
from ui_gym_agents.training.settings import RunConfig

BUSY = "import time; end = time.process_time() + 0.2\nwhile time.process_time() < end: pass\n"

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A shell with a child that works for a while, and then waits for its standard input."""
    script = f'"{sys.executable}" -c "$1" 3<&0; true'
    code = BUSY + "print('done', flush=True)\nimport os; os.read(3, 1)"
    process = subprocess.Popen(
        ["/bin/sh", "-c", script, "sh", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    yield process
    process.kill()
    process.wait()
    for end in (process.stdin, process.stdout):
        assert end is not None
        end.close()


def of(pid: int, uses: list[ProcessUse]) -> ProcessUse | None:
    return next((use for use in uses if use.pid == pid), None)


def test_a_child_counts_with_all_that_it_started(child: subprocess.Popen[bytes]) -> None:
    tree = ProcessTree()
    first = tree.look()
    assert (first[0].role, first[0].cpu, first[0].alive) == ("main", 0.0, True)
    assert first[0].rss > 1 << 20
    assert child.stdout is not None
    child.stdout.readline()
    found = of(child.pid, tree.look())
    assert found is not None
    assert found.cpu > 0, "the shell's child was busy"
    assert found.rss > 4 << 20, "a Python is larger than a shell"
    assert child.stdin is not None
    child.stdin.close()
    assert eventually(lambda: not of(child.pid, tree.look()).alive)  # type: ignore[union-attr]
    child.wait()
    assert of(child.pid, tree.look()) is None


@pytest.mark.parametrize(
    ("words", "role"),
    [
        (["chromium-headless", "60"], "chromium"),
        (["Xvfb", "60"], "Xvfb"),
        (["python3", "-u", "-m", "worker_main", "5"], "worker"),
        (["something", "60"], "something"),
    ],
)
def test_a_role_is_read_from_the_command(words: list[str], role: str, tmp_path: Path) -> None:
    """Bash lets a process have any name for its first word."""
    (tmp_path / "worker_main.py").write_text("import time\ntime.sleep(60)\n")
    program = sys.executable if words[0].startswith("python") else "sleep"
    process = subprocess.Popen(
        ["bash", "-c", f'exec -a {words[0]} "$@"', "bash", program, *words[1:]], cwd=tmp_path
    )
    tree = ProcessTree()
    try:
        assert eventually(lambda: getattr(of(process.pid, tree.look()), "role", "") == role)
    finally:
        process.kill()
        process.wait()


class Onlooker:
    """Clicks nowhere, and beats while episodes are open."""

    version = 4

    def __init__(self, beat: Callable[[], Any]) -> None:
        self._beat = beat
        self.seen: list[Any] = []

    def act(self, views: Sequence[View]) -> list[Decision]:
        self.seen.append(self._beat())
        return [Decision("click(1, 1)") for _ in views]


@pytest.fixture
def context(tmp_path: Path) -> Iterator[TrainerContext]:
    run = RunDirectory(tmp_path / "run")
    tasks: Any = {"ids": ("PaintClick",)}
    made = TrainerContext(run=run, config=RunConfig(plugin="x", tasks=tasks))
    envs = UIVectorEnv(2, "PaintClick", pool=paint.PaintPool((96, 64)))
    made.__dict__["envs"] = envs
    yield made
    envs.close()
    run.close()


def test_it_tells_what_is_played_where_and_what_waits(context: TrainerContext) -> None:
    beat = Heartbeat(context)

    def read() -> Any:
        beat._beat()
        return json.loads((context.run.path / WORKERS).read_text())

    agent = Onlooker(read)
    collector = Collector(context.envs, agent)
    context.watch(collector)
    asked = [EpisodeRequest(seed=n, task="PaintClick", group=f"1-{n // 2}") for n in range(5)]
    collector.collect([*asked[:-1], EpisodeRequest(9, "PaintClick", "1-9")])
    first = agent.seen[0]
    assert first["queue"] == {"requests": 3, "groups": 3}
    assert first["policy"] == {"version": None, "playing": 4}
    assert {s["episode"] for s in first["slots"]} <= {"1-0.0"}
    assert {(s["task"], s["runner"], s["node"]) for s in first["slots"]} == {
        ("PaintClick", "threads", "")
    }
    assert "idle" in {s["state"] for s in first["slots"]}
    assert first["processes"][0]["role"] == "main"
    assert first["nodes"] == []
    after = read()
    assert after["queue"] == {"requests": 0, "groups": 0}
    assert {(s["state"], s["episode"]) for s in after["slots"]} == {("idle", "")}


def test_a_collector_that_is_gone_is_not_told_of(context: TrainerContext) -> None:
    context.watch(Collector(context.envs, Onlooker(lambda: None)))
    assert context.collectors == []


def test_it_makes_nothing_that_the_run_did_not_need(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    context = TrainerContext(run=run, config=RunConfig(plugin="x"))
    beat = Heartbeat(context)
    beat.start()
    beat.close("finished")
    assert not {"envs", "policy", "collector"} & context.__dict__.keys()
    told = json.loads((tmp_path / WORKERS).read_text())
    assert (told["status"], told["slots"]) == ("finished", [])
    assert told["policy"] == {"version": None, "playing": None}
    run.close()


def test_what_fails_in_looking_is_said_and_the_beat_goes_on(context: TrainerContext) -> None:
    context.__dict__["envs"], envs = "no envs", context.envs
    Heartbeat(context)._beat()
    context.__dict__["envs"] = envs
    told = json.loads((context.run.path / WORKERS).read_text())
    assert told["status"] == "running"
    assert "AttributeError" in told["note"]


def test_a_folder_that_is_gone_stops_nothing(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "run")
    beat = Heartbeat(TrainerContext(run=run, config=RunConfig(plugin="x")))
    run.close()
    (tmp_path / "run").rename(tmp_path / "elsewhere")
    beat.start()
    beat.close("failed")
    assert not (tmp_path / "run").exists()


def test_a_run_beats_from_its_beginning_to_its_end(
    spawn: Callable[..., subprocess.Popen[str]], work: Path
) -> None:
    process = spawn(
        "--plugin", "toy", "--run.directory", "run", "--trainer.at", "3", "--trainer.event", "wait"
    )  # fmt: skip
    path = work / "run" / WORKERS
    assert process.stdout is not None
    assert any("waiting" in line for line in process.stdout)
    told = json.loads(path.read_text())
    assert (told["status"], told["pid"]) == ("running", process.pid)
    process.terminate()
    process.communicate(timeout=60)
    assert json.loads(path.read_text())["status"] == "interrupted"
