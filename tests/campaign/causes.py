"""The causes of the campaign's faults in a training that goes on.

Three kinds: those that a run outlives, those that end it, after which it is resumed, and commands
that must be refused without harm to it.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

import psutil

from tests.campaign.phones import Phones
from tests.campaign.subject import Broken, Room, Subject
from tests.records.postgres_server import Server


@dataclass
class Scene:
    """Where a fault happens."""

    subject: Subject
    room: Room
    database: Server
    random: Random
    phones: Phones | None = None

    def breath(self) -> None:
        """Wait a random part of a second, so that faults meet a step anywhere."""
        self.subject.wait_in_step()
        _pause(self.random.uniform(0.0, 1.0))


@dataclass(frozen=True)
class Fault:
    """A line of the table of forty: its `number` there, what is done, and what is to come of it."""

    number: int
    name: str
    cause: Callable[[Scene], None]
    suite: str = ""
    """The suite whose devices fail. A run is then no longer the same to the bit as without: an
    episode that is played again is sampled beside others than before, which rounds otherwise."""
    of: str = ""
    """The suite that it is a fault of; empty: any."""


TRIES = 5
"""How many processes of a program are killed, until the run tells of one."""

FAULTS: list[Fault] = []


def fault(
    number: int, name: str, *, suite: str = "", of: str = ""
) -> Callable[[Callable[[Scene], None]], Callable[[Scene], None]]:
    """Adds what it decorates to `FAULTS`."""

    def add(cause: Callable[[Scene], None]) -> Callable[[Scene], None]:
        FAULTS.append(Fault(number, name, cause, suite, of or suite))
        return cause

    return add


# -- what a run outlives --


@fault(1, "a browser is killed", suite="browser")
def _one_browser(scene: Scene) -> None:
    with _told_by_the_run(scene):
        scene.breath()
        _kill(scene.random.choice(scene.subject.browsers()))


@fault(2, "all browsers are killed at once", suite="browser")
def _all_browsers(scene: Scene) -> None:
    with _told_by_the_run(scene, least=2):
        scene.breath()
        for browser in scene.subject.browsers():
            _kill(browser)


@fault(3, "a browser is stopped, and answers no more", suite="browser")
def _frozen_browser(scene: Scene) -> None:
    with _told_by_the_run(scene):
        scene.breath()
        _kill(scene.random.choice(scene.subject.browsers()), signal.SIGSTOP)


@fault(4, "the process of a page is killed", suite="browser")
def _renderer(scene: Scene) -> None:
    with _told_by_the_run(scene):
        scene.breath()
        for renderer in scene.subject.renderers():
            _kill(renderer)


@fault(6, "an X server is killed", suite="browser")
def _screen(scene: Scene) -> None:
    _kill_one(scene, "Xvfb")


@fault(38, "a desktop's X server is killed", suite="desktop")
def _desktop_screen(scene: Scene) -> None:
    _kill_one(scene, "Xvfb")


@fault(38, "a desktop's application is killed", suite="desktop")
def _application(scene: Scene) -> None:
    _kill_one(scene, "mousepad")


@fault(38, "a desktop's sandbox is killed", suite="desktop")
def _sandbox(scene: Scene) -> None:
    _kill_one(scene, "bwrap")


@fault(37, "a phone is reset", suite="android")
def _phone(scene: Scene) -> None:
    with _told_by_the_run(scene):
        scene.breath()
        _kill(_some_phone(scene))


@fault(37, "all phones are reset at once", suite="android")
def _all_phones(scene: Scene) -> None:
    assert scene.phones is not None
    with _told_by_the_run(scene, least=2):
        scene.breath()
        for pid in scene.phones.pids:
            _kill(psutil.Process(pid))


@fault(37, "a phone hangs, and goes on", suite="android")
def _frozen_phone(scene: Scene) -> None:
    phone = _some_phone(scene)
    try:
        with _told_by_the_run(scene):
            scene.breath()
            _kill(phone, signal.SIGSTOP)
            told = len(scene.subject.events("fault"))
            scene.subject.wait(lambda: len(scene.subject.events("fault")) > told, "a fault")
            _kill(phone, signal.SIGCONT)
    finally:
        _kill(phone, signal.SIGCONT)


@fault(7, "shared memory is full for a while")
def _shared_memory(scene: Scene) -> None:
    scene.breath()
    with scene.room.full(scene.room.shared_memory):
        scene.subject.wait_for_step()


@fault(25, "the database is killed, and comes back")
def _database_killed(scene: Scene) -> None:
    scene.breath()
    scene.database.stop()
    try:
        scene.subject.wait_for_step(2)
    finally:
        scene.database.start()


@fault(27, "the database hangs, and goes on")
def _database_hangs(scene: Scene) -> None:
    scene.breath()
    servers = [p for p in psutil.process_iter() if _serves(p, scene.database)]
    for server in servers:
        _kill(server, signal.SIGSTOP)
    try:
        scene.subject.wait_for_step(2)
    finally:
        for server in servers:
            _kill(server, signal.SIGCONT)


# -- what ends a run, which is then resumed --


@fault(11, "the run is killed while it plays")
def _killed(scene: Scene) -> None:
    with _ends(scene, -signal.SIGKILL):
        scene.breath()
        scene.subject.signal(signal.SIGKILL)


@fault(12, "the run is killed while it saves")
def _killed_saving(scene: Scene) -> None:
    folder = scene.subject.directory / "checkpoints"
    with _ends(scene, -signal.SIGKILL):
        scene.subject.wait(lambda: any(folder.glob("*.tmp")), "a checkpoint that is being written")
        scene.subject.signal(signal.SIGKILL)


@fault(13, "the run is killed while it evaluates")
def _killed_evaluating(scene: Scene) -> None:
    subject = scene.subject
    finished = len(subject.events("evaluation_finished"))
    begun = len(subject.events("evaluation_begun"))
    with _ends(scene, -signal.SIGKILL):
        subject.wait(lambda: len(subject.events("evaluation_begun")) > begun, "an evaluation")
        subject.signal(signal.SIGKILL)
        subject.ended()
        if len(subject.events("evaluation_finished")) > finished:
            raise Broken("the evaluation was over before it could be killed")


@fault(14, "the run is interrupted once")
def _interrupted(scene: Scene) -> None:
    with _ends(scene, 130, says="--resume"):
        scene.breath()
        scene.subject.signal(signal.SIGINT)


@fault(14, "the run is told to end, twice")
def _terminated_twice(scene: Scene) -> None:
    with _ends(scene, 130, 143, says="--resume"):
        scene.breath()
        scene.subject.signal(signal.SIGTERM)
        _pause(0.2)
        scene.subject.signal(signal.SIGTERM)


@fault(15, "its terminal is closed")
def _hangup(scene: Scene) -> None:
    with _ends(scene, 130, 129, says="--resume"):
        scene.breath()
        scene.subject.signal(signal.SIGHUP)


@fault(17, "its disk has no room for a checkpoint")
def _no_room(scene: Scene) -> None:
    with _ends(scene, 1, says="--resume"), scene.room.full(scene.room.runs, leave=200_000):
        scene.subject.ended()


@fault(18, "its disk is full")
def _disk_full(scene: Scene) -> None:
    with _ends(scene, 1, says="--resume"):
        scene.breath()
        with scene.room.full(scene.room.runs):
            scene.subject.ended()


@fault(20, "its disk becomes read-only")
def _read_only(scene: Scene) -> None:
    with _ends(scene, 1):
        scene.breath()
        with scene.room.read_only(scene.room.runs):
            scene.subject.ended()


@fault(21, "its last lines are torn, as by a crash of the machine")
def _torn(scene: Scene) -> None:
    with _killed_in_a_step(scene):
        for name in ("metrics.jsonl", "episodes/episodes.jsonl", "events.jsonl"):
            with (scene.subject.directory / name).open("ab") as file:
                file.write(b'{"kind": "tr')


@fault(22, "its newest checkpoint is damaged")
def _damaged(scene: Scene) -> None:
    with _ends(scene, -signal.SIGKILL, resume=("--run.fall_back", "true")):
        scene.subject.wait_for_step(2)
        scene.subject.signal(signal.SIGKILL)
        scene.subject.ended()
        whole = (p for p in (scene.subject.directory / "checkpoints").iterdir() if not p.suffix)
        weights = max(whole) / "adapter_model.safetensors"
        content = bytearray(weights.read_bytes())
        content[scene.random.randrange(len(content))] ^= 1
        weights.write_bytes(content)
        _says(scene.subject.attempt("--resume", str(scene.subject.directory)), weights.parent.name)


# -- what is refused, and changes nothing --


@fault(24, "a second process is started on it")
def _second(scene: Scene) -> None:
    told = scene.subject.attempt("--resume", str(scene.subject.directory))
    _says(told, str(scene.subject.process.pid))


@fault(5, "there is no browser when it is resumed", of="browser")
def _no_browser(scene: Scene) -> None:
    _refused(scene, "/nowhere/chromium", UI_GYM_BROWSER="/nowhere/chromium")


@fault(8, "it may have few files open when it is resumed", of="browser")
def _few_files(scene: Scene) -> None:
    _refused(scene, "a process may open 40 files", before=("prlimit", "--nofile=40:40"))


@fault(23, "its settings are others when it is resumed")
def _other_settings(scene: Scene) -> None:
    _refused(scene, "trainer.lr", "--trainer.lr", "0.1")


@fault(26, "the database is gone when it is resumed")
def _no_database(scene: Scene) -> None:
    with _killed_in_a_step(scene):
        scene.database.stop()
        try:
            told = scene.subject.attempt("--resume", str(scene.subject.directory))
        finally:
            scene.database.start()
        _says(told, "cannot be used")


@fault(28, "the database's password is wrong when it is resumed")
def _wrong_password(scene: Scene) -> None:
    wrong = "0ther/s3cret"
    url = scene.database.url("postgres", wrong)
    told = _refused(scene, "password authentication failed", UI_GYM_DATABASE_URL=url)
    if wrong in told or wrong.replace("/", "%2F") in told:
        raise Broken(f"the password is told: {told}")


# -- what they share --


@contextmanager
def _told_by_the_run(scene: Scene, *, least: int = 1) -> Iterator[None]:
    """Afterwards the run goes on, and has told of at least so many faults, with their slots."""
    before = len(scene.subject.events("fault"))
    yield
    scene.subject.wait(
        lambda: len(scene.subject.events("fault")) >= before + least, f"{least} events of faults"
    )
    for event in scene.subject.events("fault")[before:]:
        line = f"{event['cause']} ({event['task']}, slot {event['slot']}, try {event['attempt']})"
        _says(scene.subject.log(), line)
    scene.subject.wait_for_step()


@contextmanager
def _ends(
    scene: Scene, *statuses: int, says: str = "", resume: tuple[str, ...] = ()
) -> Iterator[None]:
    """Afterwards the run has ended with one of these statuses, says this, and is resumed."""
    size = len(scene.subject.said())
    yield
    status = scene.subject.ended()
    told = scene.subject.said()[size:]
    if status not in statuses:
        raise Broken(f"the exit status is {status}: {told[-800:]}")
    _says(told, says)
    if "Traceback" in told:
        raise Broken(f"a traceback instead of a sentence: {told[-800:]}")
    scene.subject.resume(*resume)
    scene.subject.wait_for_step()


@contextmanager
def _killed_in_a_step(scene: Scene) -> Iterator[None]:
    """The run is killed in a step; it is resumed behind what is done inside."""
    with _ends(scene, -signal.SIGKILL):
        scene.breath()
        scene.subject.signal(signal.SIGKILL)
        scene.subject.ended()
        yield


def _some_phone(scene: Scene) -> psutil.Process:
    assert scene.phones is not None
    return psutil.Process(scene.random.choice(scene.phones.pids))


def _kill_one(scene: Scene, program: str) -> None:
    """Kill one of the processes of a program that devices started: another one where nobody needed
    it any more, as an application at the end of its episode."""
    before = len(scene.subject.events("fault"))
    found: list[psutil.Process] = []

    def there() -> bool:
        found[:] = scene.subject.programs(program)
        return bool(found)

    with _told_by_the_run(scene):
        for _ in range(TRIES):
            scene.breath()
            scene.subject.wait(there, program)
            _kill(scene.random.choice(found))
            scene.subject.wait_for_step()
            if len(scene.subject.events("fault")) > before:
                break


def _refused(
    scene: Scene, why: str, *arguments: str, before: tuple[str, ...] = (), **environment: str
) -> str:
    """A resumption is refused, says why, and one without the fault goes on."""
    with _killed_in_a_step(scene):
        told = scene.subject.attempt(
            "--resume", str(scene.subject.directory), *arguments, before=before, **environment
        )
        _says(told, why)
    return told


def _says(told: str, what: str) -> None:
    if what not in told:
        raise Broken(f"it does not say {what!r}: {told[-800:]}")


def _kill(process: psutil.Process, number: signal.Signals = signal.SIGKILL) -> None:
    with suppress(psutil.NoSuchProcess):
        process.send_signal(number)


def _serves(process: psutil.Process, database: Server) -> bool:
    try:
        return process.name() == "postgres" and Path(process.cwd()) == database.folder / "data"
    except psutil.Error:
        return False


def _pause(seconds: float) -> None:
    threading.Event().wait(seconds)
