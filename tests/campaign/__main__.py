"""The campaign of faults: ``python -m tests.campaign`` from the repository's root, as root.

A training goes on in real browsers and writes its records into a real PostgreSQL, while one fault
after the other is caused. Beside it the same training runs undisturbed. Afterwards the checker of
histories looks for what was lost or doubled, the two runs are compared to the bit, and whatever
was left behind is listed. The exit status is 0 where nothing was found.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Annotated

import typer
from rich.console import Console

from tests.campaign import evaluation, history
from tests.campaign.causes import FAULTS, Fault, Scene
from tests.campaign.phones import Phones, phones
from tests.campaign.subject import WHOLE, Broken, Room, Subject, left_behind, privately
from tests.records.postgres_server import Server, binaries

GROUPS, GROUP_SIZE = 2, 4
SLOTS = 4
STEPS = 80
SETTINGS = (
    "--plugin", "grpo", "--policy.model", "tiny-reader", "--policy.threads", "1",
    "--policy.lora_rank", "4", "--policy.max_new_tokens", "24", "--env.num_envs", str(SLOTS),
    "--env.max_steps", "5", "--tasks.arguments.compact", "true",
    "--trainer.groups", str(GROUPS), "--trainer.group_size", str(GROUP_SIZE),
    "--trainer.refill", "1", "--run.save_every", "1", "--run.keep", "1000", "--run.eval_every", "5",
    "--evaluation.quick_episodes", "8", "--evaluation.episodes", "8", "--evaluation.both", "false",
)  # fmt: skip
DEVICES = {
    # With windows, so that there are X servers to kill.
    "browser": ("--tasks.ids", "ClickButton", "--env.device", "chromium:framebuffer",
                "--env.timeout", "6"),
    "desktop": ("--tasks.ids", "DesktopAppendLine"),
    "android": ("--tasks.ids", "AndroidWifi", "--env.timeout", "6"),
}  # fmt: skip
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@dataclass
class Report:
    """What a campaign found."""

    suite: str
    seed: int
    steps: int
    faults: list[dict[str, object]] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    """Rules of the history, differences from the undisturbed run, and what was left behind."""
    episodes: int = 0
    device: tuple[str, ...] = ()
    """Settings for devices that are outside of the runs."""
    exact: int = 0
    """The step up to which the run must equal the undisturbed one to the bit."""


@app.command()
def main(
    out: Annotated[Path, typer.Option(help="A new folder for the runs and the report.")],
    suite: Annotated[str, typer.Option(help=f"Whose tasks: {', '.join(DEVICES)}.")] = "browser",
    seed: Annotated[int, typer.Option(help="Of the order of the faults and their moments.")] = 0,
    steps: Annotated[
        int, typer.Option(help="Of the training; each fault takes up to three.")
    ] = STEPS,
    only: Annotated[
        list[int] | None, typer.Option(help="Faults by number, rather than all.")
    ] = None,
) -> None:
    """Cause faults in a training, and check what it wrote."""
    privately(["-m", "tests.campaign", *sys.argv[1:]])
    console = Console()
    room = Room(out.resolve())
    out.mkdir(parents=True)
    os.chmod(out, 0o711)  # the database's own user goes through it
    room.mount()
    os.environ["TMPDIR"] = str(room.temporary)
    chosen = [
        one for one in FAULTS if (only is None or one.number in only) and one.of in ("", suite)
    ]
    report = Report(suite, seed, steps)
    database = Server(_folder(out / "postgres"), _binaries())
    database.start()
    try:
        with ExitStack() as held:
            served = held.enter_context(phones(SLOTS)) if suite == "android" else None
            if served is not None:
                report.device = ("--env.device", served.device)
            # A phone is used anew by each run, and its clock goes on.
            whole = _undisturbed(console, room, report) if served is None else None
            run = _disturbed(console, room, database, served, chosen, report)
        _check(run, whole, database, report)
        if only is None and suite == "browser":
            console.rule("evaluation")
            report.broken += evaluation.evaluate(room, Random(seed), console.print)
    except Broken as error:
        report.broken.append(str(error))
    finally:
        database.stop()
    report.broken += [f"left behind: {line}" for line in left_behind(room)]
    (out / "report.json").write_text(json.dumps(asdict(report), indent=1) + "\n")
    for line in report.broken:
        console.print(f"BROKEN: {line}", markup=False)
    console.print(
        f"{len(report.faults)} faults, {report.episodes} episodes, equal to the bit after "
        f"{report.exact} steps of {report.steps}, {len(report.broken)} broken"
    )
    raise typer.Exit(bool(report.broken))


def _undisturbed(console: Console, room: Room, report: Report) -> Path:
    console.rule("undisturbed")
    subject = _subject(room, "whole", report, {"UI_GYM_DATABASE_URL": ""})
    subject.start()
    try:
        if status := subject.ended(WHOLE):
            raise Broken(f"the undisturbed run ended with {status}: {subject.said()[-800:]}")
    finally:
        subject.close()
    return subject.directory


def _disturbed(
    console: Console,
    room: Room,
    database: Server,
    served: Phones | None,
    faults: Sequence[Fault],
    report: Report,
) -> Path:
    random = Random(report.seed)
    records = {"UI_GYM_DATABASE_URL": database.url("postgres")}
    subject = _subject(room, "disturbed", report, records)
    scene = Scene(subject, room, database, random, served)
    subject.start()
    try:
        subject.wait_for_step()
        shuffled = random.sample(faults, len(faults))
        for fault in sorted(shuffled, key=lambda one: bool(one.suite)):
            if fault.suite and not report.exact and served is None:
                report.exact = subject.saved()
            console.print(f"step {subject.step()}: {fault.number}, {fault.name}", markup=False)
            _cause(fault, scene, report)
        if status := subject.ended(WHOLE):
            raise Broken(f"the run ended with {status}: {subject.said()[-800:]}")
    finally:
        subject.close()
    return subject.directory


def _cause(fault: Fault, scene: Scene, report: Report) -> None:
    subject, begun = scene.subject, time.monotonic()
    told = {"number": fault.number, "name": fault.name, "step": subject.step()}
    try:
        fault.cause(scene)
    except Broken as error:
        report.broken.append(f"fault {fault.number}, {fault.name}: {error}")
        if (subject.directory / "result.json").exists():
            raise Broken("the run was over before all faults were caused: more --steps") from error
        if not subject.running:
            subject.resume("--run.fall_back", "true")
            subject.wait_for_step()
    report.faults.append({**told, "seconds": round(time.monotonic() - begun, 1)})


def _check(run: Path, whole: Path | None, database: Server, report: Report) -> None:
    asked = history.Asked(report.steps, GROUPS, GROUP_SIZE, alike=report.suite != "android")
    seen = history.History.of(run)
    report.episodes = len(seen.played) + sum(map(len, seen.measured.values()))
    report.broken += history.violations(seen, asked)
    report.broken += history.recorded(run, database.url("postgres"))
    if whole is not None:
        report.exact = report.exact or report.steps
        report.broken += history.differences(run, whole, report.exact)


def _subject(room: Room, name: str, report: Report, environment: dict[str, str]) -> Subject:
    devices = (*DEVICES[report.suite], *report.device)
    settings = (*SETTINGS, *devices, "--run.steps", str(report.steps))
    return Subject(room.runs / name, settings, environment)


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


def _binaries() -> Path:
    found = binaries()
    if found is None:
        raise Broken("PostgreSQL is not installed (apt-get install postgresql)")
    return found


if __name__ == "__main__":
    app()
