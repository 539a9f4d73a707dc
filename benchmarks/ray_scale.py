"""Many slots on a Ray cluster that loses a node and gains one: does each episode come once?

    python benchmarks/ray_scale.py --help

A cluster of four nodes is started on this machine. Phones and browsers play on it, half of the
episodes by an oracle and half by random actions. Once a third is played, a node is killed as a
power cut would; once a half is, another one comes. What happened is printed and kept in a log.
"""

from __future__ import annotations

import logging
import math
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import psutil
import ray
import typer
from ray.cluster_utils import Cluster
from rich.progress import Progress

from ui_gym.playing.vector import UIVectorEnv
from ui_gym.remote.ray_actors import RESOURCE, connect
from ui_gym_agents.agents import OracleAgent, RandomAgent
from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.collecting import collector as collecting
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.episode import Episode

NODES = 4
STEPS = 8
"""Steps of an episode, at most: a random one has as many."""
LOG = Path(__file__).with_suffix(".log")
MEASURE_SECONDS = 15.0

Name = tuple[int, str, str]
"""An episode's seed, task and group."""

Kind = tuple[int, str, int, dict[str, Any]]
"""How many slots, which task they play, how many episodes of it, and its arguments."""


class Both:
    """An oracle where the seed is even, random actions where it is odd."""

    wants_ground_truth = True

    def __init__(self, envs: UIVectorEnv) -> None:
        self._oracle, self._random = OracleAgent(), RandomAgent(envs.single_action_space)

    def act(self, views: Sequence[View]) -> list[Decision]:
        return [(self._random if is_odd(view) else self._oracle).act([view])[0] for view in views]


def is_odd(view: View) -> bool:
    return bool(view.info["seed"] % 2)


class Report:
    """Lines for the terminal and the log, each with the seconds since the start."""

    def __init__(self, path: Path, progress: Progress) -> None:
        self._file = path.open("w")
        self._progress = progress
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def __call__(self, line: str) -> None:
        line = f"{self.seconds:7.1f} s  {line}"
        self._progress.console.print(line, highlight=False, markup=False, soft_wrap=True)
        self._file.write(line + "\n")
        self._file.flush()


class Failures(logging.Handler):
    """Counts what the collector says of the episodes that it plays again."""

    def __init__(self) -> None:
        super().__init__()
        self.kinds: Counter[str] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        if isinstance(record.args, tuple) and record.args:
            self.kinds[kind_of(str(record.args[-1]))] += 1


def kind_of(failure: str) -> str:
    """A failure without what differs from one to the next."""
    return re.sub(r"\b[0-9a-f]*\d[0-9a-f]*\b", "#", failure)[:100]


class Nodes:
    """The cluster. What a node that is killed had played finds no room until another one comes."""

    def __init__(self, actors: int, slots: int) -> None:
        self._room = {RESOURCE: math.ceil(actors / NODES) * slots}
        self._names: dict[int, str] = {}
        head = {"num_cpus": 1, "resources": self._room, "object_store_memory": 100_000_000}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self._named(self.cluster.head_node)
        self._second = self.add()
        for _ in range(NODES - 2):
            self.add()

    def add(self) -> Any:
        node = self.cluster.add_node(
            num_cpus=1, resources=self._room, object_store_memory=100_000_000
        )
        return self._named(node)

    def kill(self) -> None:
        """End all that runs on the second node, as a power cut would."""
        self.cluster.remove_node(self._second, allow_graceful=False)

    def actors(self) -> dict[str, int]:
        """How many actors live on each node."""
        found: dict[str, int] = {}
        for pid, name in self._names.items():
            if psutil.pid_exists(pid):
                titles = [title_of(child) for child in psutil.Process(pid).children()]
                found[name] = sum(title.startswith("ray::SlotsActor") for title in titles)
        return found

    def close(self) -> None:
        ray.shutdown()
        self.cluster.shutdown()

    def _named(self, node: Any) -> Any:
        raylet = node.all_processes["raylet"][0].process.pid
        self._names[raylet] = f"node {len(self._names)}"
        return node


def megabytes() -> dict[str, int]:
    """Proportional set size of this process and all below it, by what they are."""
    found: Counter[str] = Counter()
    own = psutil.Process()
    for process in [own, *own.children(recursive=True)]:
        try:
            found[_kind(process, own)] += process.memory_full_info().pss
        except psutil.Error:  # it ended meanwhile
            continue
    return {name: round(size / 2**20) for name, size in sorted(found.items())}


def title_of(process: psutil.Process) -> str:
    """What a process says it is; empty if it has ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def _kind(process: psutil.Process, own: psutil.Process) -> str:
    if process == own:
        return "driver"
    title = title_of(process)
    if title.startswith("ray::SlotsActor"):
        return "actors"
    return "browsers" if "--headless" in title or "chrom" in process.name() else "ray"


@contextmanager
def watching() -> Iterator[Failures]:
    """Failures that the collector logs while this is open."""
    found = Failures()
    collecting.log.addHandler(found)
    collecting.log.propagate = False
    try:
        yield found
    finally:
        collecting.log.removeHandler(found)
        collecting.log.propagate = True


def play(envs: UIVectorEnv, asked: Sequence[EpisodeRequest], told: list[Episode]) -> None:
    collector = Collector(envs, Both(envs), run_seed=1, max_requeues=5, keep_pictures=0)
    for episode in collector.episodes(asked):
        told.append(episode)
        collector.store.screenshots.clear()  # else memory would be that of the pictures


def requests(task: str, count: int) -> list[EpisodeRequest]:
    """Of a task; the oracle is asked in its own episodes, since random actions would confuse it."""
    return [
        EpisodeRequest(
            seed, group=f"{task}/{seed}", options={"oracle": True} if not seed % 2 else {}
        )
        for seed in range(count)
    ]


def names(asked: Sequence[EpisodeRequest], task: str) -> list[Name]:
    return [(request.seed, task, request.group) for request in asked]


def watch(
    playing: Sequence[Future[None]], told: Sequence[list[Episode]], total: int, nodes: Nodes,
    report: Report, progress: Progress,
) -> None:  # fmt: skip
    """Show how it goes until all is played; kill a node on the way, and add one."""
    bar = progress.add_task("episodes", total=total)
    plans = [(total // 3, "a node is killed", nodes.kill), (total // 2, "one comes", nodes.add)]
    measured = 0.0
    while not all(one.done() for one in playing):
        time.sleep(0.5)
        done = sum(map(len, told))
        progress.update(bar, completed=done)
        if plans and done >= plans[0][0]:
            _, what, act = plans.pop(0)
            report(f"{done} episodes; {what}")
            act()
        if report.seconds > measured + MEASURE_SECONDS:
            measured = report.seconds
            used = megabytes()
            report(f"{done} episodes; MB {sum(used.values())} {used}; actors {nodes.actors()}")
    for one in playing:
        one.result()


def check(told: Sequence[Episode], asked: Sequence[Name], report: Report) -> None:
    """That each episode is there once, and that no oracle failed."""
    found = Counter((episode.seed, episode.task, episode.group) for episode in told)
    twice = [name for name, count in found.items() if count > 1]
    missing, strange = set(asked) - set(found), set(found) - set(asked)
    report(
        f"{len(told)} episodes of {len(asked)}: {len(twice)} twice, {len(missing)} missing, "
        f"{len(strange)} not asked for"
    )
    failed = Counter(kind_of(episode.failure) for episode in told if episode.failure)
    report(f"failed for good: {sum(failed.values())} {dict(failed)}")
    for even, who in enumerate(("oracle", "random")):
        those = [episode for episode in told if episode.seed % 2 == even]
        report(f"{who}: {sum(e.success for e in those)} of {len(those)} episodes succeeded")
    if twice or missing or strange:
        raise AssertionError(f"twice {twice}, missing {missing}, not asked for {strange}")
    assert all(e.success for e in told if e.seed % 2 == 0 and not e.failure)


def main(
    phones: Annotated[int, typer.Option(help="Slots of phones.")] = 128,
    browsers: Annotated[int, typer.Option(help="Slots of browsers.")] = 8,
    episodes: Annotated[int, typer.Option(help="Episodes in all.")] = 2000,
    slots: Annotated[int, typer.Option(help="Slots of an actor.")] = 8,
    log: Annotated[Path, typer.Option(help="Where what happened is kept.")] = LOG,
) -> None:
    """Play on a Ray cluster of which a node is killed and one is added; each must come once."""
    with Progress() as progress, watching() as failures:
        report = Report(log, progress)
        actors = math.ceil(phones / slots) + math.ceil(browsers / slots)
        nodes = Nodes(actors, slots)
        try:
            connect(nodes.cluster.address, phones + browsers)
            report(f"{NODES} nodes, {phones} phones, {browsers} browsers")
            report(f"{actors} actors with {slots} slots each; {psutil.cpu_count()} cores")
            workers = f"ray:{nodes.cluster.address}?slots={slots}"
            both = episodes // 10
            made: list[Kind] = [
                (phones, "UI/AndroidWifi-v0", episodes - both, {"device": "phone"}),
                (browsers, "UI/DataEntry-v0", both, {"compact": True}),
            ]
            run(made, workers, nodes, report, progress)
            report(f"played again: {sum(failures.kinds.values())} {dict(failures.kinds)}")
        finally:
            nodes.close()
        report(f"closed; children left: {len(psutil.Process().children(recursive=True))}")


def run(
    made: Sequence[Kind], workers: str, nodes: Nodes, report: Report, progress: Progress
) -> None:  # fmt: skip
    """Play each kind of slots in a thread of its own."""
    told: list[list[Episode]] = [[] for _ in made]
    asked: list[Name] = []
    envs = []
    with ThreadPoolExecutor(len(made)) as pool:
        started, playing = report.seconds, []
        for found, (count, task, episodes, given) in zip(told, made, strict=True):
            env = UIVectorEnv(
                count, task, autoreset_mode="Disabled", workers=workers, max_steps=STEPS, **given
            )
            envs.append(env)
            asked += names(requests(task, episodes), task)
            playing.append(pool.submit(play, env, requests(task, episodes), found))
        watch(playing, told, len(asked), nodes, report, progress)
        seconds = report.seconds - started
    steps = sum(len(episode.turns) for found in told for episode in found)
    report(
        f"played in {seconds:.0f} s: {len(asked) / seconds:.1f} episodes/s, "
        f"{steps / seconds:.1f} steps/s; actors {nodes.actors()}"
    )
    for env in envs:
        env.close()
    check([episode for found in told for episode in found], asked, report)


if __name__ == "__main__":
    typer.run(main)
