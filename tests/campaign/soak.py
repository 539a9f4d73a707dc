"""The soak: ``python -m tests.campaign.soak --suite browser --out FOLDER``.

Ten thousand episodes of a random agent on a few slots, with processes of devices killed at random,
seeded moments. What is held is written down as it goes on (``held.jsonl``) and drawn
(``held.svg``). The exit status is 1 where an episode is lost or doubled, or where more is held at
the end than after the first tenth.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from random import Random
from typing import Annotated

import psutil
import typer
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn
from waiting import eventually

from tests.campaign.phones import phones
from tests.campaign.subject import MARK, NOT_OURS, marked
from ui_gym.contract.arguments import make_task
from ui_gym.errors import nearest
from ui_gym.playing.vector import UIVectorEnv
from ui_gym_agents.agents import RandomAgent
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.collecting.fault import EpisodeFault
from ui_gym_agents.store import EpisodeStore

TASKS = {"browser": "ClickButton", "android": "AndroidWifi", "desktop": "DesktopAppendLine"}
LOOKS = 100
"""How often what is held is looked at."""
GROWTH = 1.15
"""How much more memory may be held at the end than after the first tenth."""
TITLES = {
    "own_mb": "memory of this process, MiB", "others_mb": "memory of devices, MiB",
    "descriptors": "open files", "temporary": "temporary files", "disk_mb": "episodes, MiB",
}  # fmt: skip
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@dataclass(frozen=True)
class Held:
    """What this process and all that it started hold after some `episodes`."""

    episodes: int
    hours: float
    own_mb: float
    others_mb: float
    descriptors: int
    processes: int
    temporary: int
    disk_mb: float

    @classmethod
    def now(cls, episodes: int, begun: float, out: Path) -> Held:
        gc.collect()
        files = [*out.glob("*.jsonl"), *out.glob("screenshots/*")]
        own, private, alive = psutil.Process(), 0, 0
        for child in marked():
            with contextlib.suppress(psutil.Error):
                memory = child.memory_info()
                private += memory.rss - memory.shared
                alive += child.status() != psutil.STATUS_ZOMBIE
        return cls(
            episodes=episodes,
            hours=round((time.monotonic() - begun) / 3600, 4),
            own_mb=round(own.memory_info().rss / 2**20, 1),
            others_mb=round(private / 2**20, 1),
            descriptors=own.num_fds(),
            processes=alive,
            temporary=len(os.listdir(tempfile.gettempdir())),
            disk_mb=round(sum(f.stat().st_size for f in files) / 2**20, 2),
        )


@app.command()
def main(
    out: Annotated[Path, typer.Option(help="A new folder.")],
    suite: Annotated[str, typer.Option(help=f"One of {', '.join(TASKS)}.")] = "browser",
    episodes: Annotated[int, typer.Option(min=100)] = 10_000,
    envs: Annotated[int, typer.Option(min=1)] = 4,
    steps: Annotated[int, typer.Option(min=1, help="Of an episode, at most.")] = 6,
    kill_every: Annotated[float, typer.Option(help="Episodes between two kills, on average.")] = 50,
    seed: Annotated[int, typer.Option(help="Of what is played, and of who is killed when.")] = 0,
) -> None:
    """Play for long on devices that fail, and look at what is held."""
    if suite not in TASKS:
        raise typer.BadParameter(nearest(suite, TASKS))
    out.mkdir(parents=True)
    os.environ[MARK] = str(time.time_ns())
    temporary = out / "tmp"
    temporary.mkdir()
    os.environ["TMPDIR"] = tempfile.tempdir = str(temporary.resolve())
    looks, faults, kills = _play(out, suite, episodes, envs, steps, kill_every, Random(seed))
    _draw(looks, out / "held.svg", f"{suite}: {episodes:,} episodes, {kills} kills")
    ids = Counter(episode.id for episode in EpisodeStore(out))
    failed = sum(episode.failure is not None for episode in EpisodeStore(out))
    broken = [f"{len(ids)} episodes of {episodes}"] if len(ids) != episodes else []
    broken += [f"episode {name} is there {n} times" for name, n in ids.items() if n > 1]
    broken += _grown(looks[len(looks) // 10], looks[-1])
    eventually(lambda: not list(marked()), 20)
    broken += [f"left behind: {process}" for process in marked()]
    broken += [f"left behind: {path}" for path in temporary.iterdir() if path.name not in NOT_OURS]
    console = Console()
    for line in broken:
        console.print(f"BROKEN: {line}", markup=False)
    console.print(
        f"{len(ids):,} episodes, {kills} kills, {len(faults)} faults told, {failed} failed for "
        f"good, {looks[-1].hours:.2f} h, {len(broken)} broken"
    )
    raise typer.Exit(bool(broken))


def _play(
    out: Path, suite: str, episodes: int, slots: int, steps: int, kill_every: float, random: Random
) -> tuple[list[Held], list[EpisodeFault], int]:
    begun, kills = time.monotonic(), 0
    faults: list[EpisodeFault] = []
    looks = []
    store = EpisodeStore(out)
    progress = Progress(*Progress.get_default_columns()[:2], MofNCompleteColumn(),
                        TimeElapsedColumn(), TimeRemainingColumn())  # fmt: skip
    with ExitStack() as held, (out / "held.jsonl").open("w") as file:
        device = held.enter_context(phones(slots)).device if suite == "android" else "auto"
        envs = UIVectorEnv(
            slots, make_task(TASKS[suite], {"compact": True}), device=device,
            autoreset_mode="Disabled", max_steps=steps,
        )  # fmt: skip
        held.callback(envs.close)
        collector = Collector(
            envs, RandomAgent(envs.single_action_space), store=store, on_fault=faults.append,
            max_requeues=4,
        )  # fmt: skip
        requests = (EpisodeRequest(seed=number) for number in range(episodes))
        held.enter_context(progress)
        for number, _ in enumerate(progress.track(collector.episodes(requests), episodes)):
            if random.random() < 1 / kill_every:
                kills += _kill_any(random)
            if number % (episodes // LOOKS) == 0:
                store.screenshots.clear()  # as a trainer does after each step
                looks.append(Held.now(number, begun, out))
                file.write(json.dumps(asdict(looks[-1])) + "\n")
                file.flush()
    return looks, faults, kills


def _kill_any(random: Random) -> int:
    """Kill some process of the devices; how many that were."""
    found = list(marked())
    if not found:
        return 0
    with contextlib.suppress(psutil.Error):
        random.choice(found).kill()
    return 1


def _grown(early: Held, late: Held) -> list[str]:
    """What is more at the end than it was early: memory by more than `GROWTH`."""
    told = [
        f"{name} was {getattr(early, name)} and is {getattr(late, name)}"
        for name in ("own_mb", "others_mb")
        if getattr(late, name) > GROWTH * getattr(early, name) + 20
    ]
    for name in ("descriptors", "processes", "temporary"):
        # A device that is just being replaced holds a little more.
        if getattr(late, name) > getattr(early, name) * 1.3 + 4:
            told.append(f"{name}: {getattr(early, name)} early, {getattr(late, name)} at the end")
    return told


def _draw(looks: Sequence[Held], path: Path, title: str) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": title})
    from matplotlib import pyplot

    names = [field.name for field in fields(Held) if field.name not in ("episodes", "hours")]
    figure, axes = pyplot.subplots(2, 3, figsize=(9, 4.5), layout="constrained")
    for axis, name in zip(axes.flat, names, strict=True):
        axis.plot([look.hours for look in looks], [getattr(look, name) for look in looks])
        axis.set(title=TITLES.get(name, name), ylim=(0, None))
        axis.set_xlabel("hours")
    figure.suptitle(title)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    app()
