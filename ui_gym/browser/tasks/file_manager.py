"""FileManager: make folders, rename, move and delete until the files are as asked."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from ui_gym.browser.content import filejobs, filetree
from ui_gym.browser.content.filetree import Job, inside, name, parent
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, flag, whole
from ui_gym.browser.moves import click, reveal
from ui_gym.contract.action import Action, Click, Drag, Press, Type
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

THEMES = 6
APPS = ("Cabinet", "Drawer", "Shelfmark")
HANDS = ("buttons", "keys", "menu", "mouse")
"""How the oracle works: with the buttons above the files, from the keyboard, with the menu of the
right mouse button, or by dragging wherever it can."""
SLIPS = {
    "neighbour": (filejobs.neighbour, ("rename", "move", "delete")),
    "place": (filejobs.misplaced, ("create", "move")),
    "typo": (filejobs.typo, ("create", "rename")),
}
"""How each mistake changes a job, and jobs of which kinds."""

ONE = ("{Clause}.", "In the file manager, {clause}.", "Please {clause}. Leave everything else.")
MANY = (
    "Tidy up the files: {clauses}.",
    "Do the following in the file manager: {clauses}.",
    "Please {clauses}. Change nothing else.",
)
COMPACT_GOALS = ("{Clause}.", "Please {clause}.")
COMPACT_FILES = 4
"""The most files of a folder on the compact page, which has six rows."""

Step = tuple[Action, str, str]
"""What the oracle does, the thought, and what is thought of a compact page."""


@dataclass(frozen=True)
class FileManagerParams:
    """All that varies between episodes."""

    paths: tuple[str, ...]
    """The files and folders at the start."""
    jobs: tuple[Job, ...]
    """What is to be done, in an order in which it can be."""
    hand: str
    app: str
    view: str
    theme: int
    phrasing: int


@register("FileManager", suite="browser", category="files", difficulty="medium", max_steps=40)
class FileManager(Family[FileManagerParams]):
    """Create, rename, move and delete files and folders until the tree is as asked.

    ## Description
    A file manager with folders at the side, a path, and the files of the open folder as rows or
    tiles. The goal names one or more jobs: a new folder, a new name, another place, something to
    delete, each with the folder where it is. Folders are nested, names look alike, and the same
    name is found in many folders. As in any file manager there are several ways to do a thing:
    buttons above the files, the menu of the right mouse button, dragging onto a folder (also at
    the side and in the path), and keys: F2, Delete, Enter, Backspace, Ctrl with X and V. On the
    compact page, folders are named as people are, and files as things.

    ## Action space
    Double click opens a folder.

    ## Rewards
    1 when the tree is exactly as asked, with each file where it belongs and nothing else changed;
    before that, the share of the jobs that are done, less one share for each other change.

    ## Starting state
    The top of the tree is open, nothing is selected.

    ## Episode end
    Termination: the tree is as asked; or something is deleted that was to be kept, which cannot be
    undone. `max_steps` is about twice what is needed.

    ## Arguments
    | `jobs` | 1, 2, 4 (compact: 1) | things to do: 1 to 6, compact 1 |
    | `depth` | 1, 2, 3 (compact: 2) | how deep the folders are nested: 1 to 3, compact to 2 |
    | `files` | 5, 8, 16 (compact: 4) | most files in a folder: 4 to 30, compact 4 |
    | `alike` | False, True, True (compact: False) | whether the files of a folder look alike |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "file_manager.html"
    shown = ("app", "paths", "view", "theme")
    mistakes = ("neighbour", "place", "typo")
    jobs: int = whole(1, 6, easy=1, medium=2, hard=4)
    depth: int = whole(1, 3, easy=1, medium=2, hard=3)
    files: int = whole(4, 30, easy=5, medium=8, hard=16)
    alike: bool = flag(easy=False, medium=True, hard=True)
    compact_values = {"jobs": 1, "depth": 2, "files": COMPACT_FILES, "alike": False}

    def prepare(self) -> None:
        if self.compact:
            self._prepare_compact()
            return
        scrolls = max(0, self.files - 8) // 6
        self.max_steps = max(10, self.jobs * (8 + 2 * self.depth + scrolls))

    def _prepare_compact(self) -> None:
        if self.alike:
            raise UserError("FileManager: the compact page has no alike names; alike is False")
        self.check_range("jobs", self.jobs, 1, 1)
        self.check_range("depth", self.depth, 1, 2)
        self.check_range("files", self.files, COMPACT_FILES, COMPACT_FILES)
        self.max_steps = 10 if self.depth == 1 else 14

    def sample(self, rng: np.random.Generator) -> FileManagerParams:
        if self.compact:
            return self._sample_compact(rng)
        paths = filetree.grow(self.depth, self.files, self.alike, rng)
        return FileManagerParams(
            paths=paths,
            jobs=tuple(filejobs.plan(paths, self.jobs, rng)),
            hand=pick(rng, HANDS),
            app=pick(rng, APPS),
            view=pick(rng, ("list", "grid")),
            theme=int(rng.integers(THEMES)),
            phrasing=int(rng.integers(3)),
        )

    def _sample_compact(self, rng: np.random.Generator) -> FileManagerParams:
        paths = filetree.grow_short(self.depth, self.files, rng)
        return FileManagerParams(
            paths=paths,
            jobs=tuple(filejobs.plan(paths, self.jobs, rng, short=True)),
            hand="mouse",
            app="Files",
            view="list",
            theme=0,
            phrasing=int(rng.integers(len(COMPACT_GOALS))),
        )

    def goal(self, params: FileManagerParams) -> str:
        clauses = [filejobs.clause(job, short=self.compact) for job in params.jobs]
        if len(clauses) == 1:
            clause, goals = clauses[0], COMPACT_GOALS if self.compact else ONE
            return goals[params.phrasing].format(
                clause=clause, Clause=clause[0].upper() + clause[1:]
            )
        *most, last = clauses
        return MANY[params.phrasing].format(clauses=f"{'; '.join(most)}; and {last}")

    def judge(
        self, device: BrowserDevice, params: FileManagerParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        start = {path: path for path in params.paths}
        wanted, now = start, start
        for job in params.jobs:
            wanted = filetree.apply(wanted, job)
        for event in device.events:
            if event.type in filejobs.KINDS:
                job = Job(event.type, event.data["path"], event.data.get("to", ""))
                now = filetree.apply(now, job)
        left = filetree.distance(now, wanted)
        if left == 0:
            return Verdict(1.0, done=True, notes="the tree is as asked")
        score = max(0.0, 1 - left / filetree.distance(start, wanted))
        lost = sorted((set(start) & set(wanted.values())) - set(now.values()))
        if lost:
            return Verdict(score, done=True, notes=f"{lost[0]} was deleted, which was to be kept")
        return Verdict(score, notes=f"{left} differences to the asked tree")

    def oracle(self, device: BrowserDevice, params: FileManagerParams) -> Steps:
        for action, thought, word in self._steps(device, params):
            said = word if self.compact else thought
            yield Demo(action, said) if said else action

    def _steps(self, device: BrowserDevice, params: FileManagerParams) -> Iterator[Step]:
        here = ""
        for job in params.jobs:
            yield from _go(device, here, parent(job.path))
            here = parent(job.path)
            if job.kind == "create":
                yield click(device, "#create"), filejobs.clause(job), "Add"
                yield Type(name(job.path)), "", f"Name {name(job.path)}"
                yield _confirm(device, params.hand), "", "Done"
                continue
            for scroll in reveal(device, _row(job.path), "#items"):
                yield scroll, "", ""
            if job.kind == "move":
                here = yield from _move(device, params.hand, job)
                continue
            yield from _command(device, params.hand, job)
            if job.kind == "rename":
                yield Type(job.to), "", f"Name {job.to}"
            yield _confirm(device, params.hand), "", "Done" if job.kind == "rename" else "Yes"

    def misread(
        self, params: FileManagerParams, mistake: str, rng: np.random.Generator
    ) -> FileManagerParams:
        """``neighbour``: what stands next to the asked one is renamed, moved or deleted.
        ``place``: the new folder, or what is moved, goes to another folder. ``typo``: a letter of
        a new name is lost."""
        slip, concerned = SLIPS[mistake]
        which = [i for i, job in enumerate(params.jobs) if job.kind in concerned]
        if not which:
            return params
        i = pick(rng, which)
        old, others = params.jobs[i], params.jobs[:i] + params.jobs[i + 1 :]
        # What is moved into a folder that is made goes along with it.
        along = [job for job in others if old.kind == "create" and job.to == old.path]
        new = slip(old, [job for job in others if job not in along], params.paths, rng)
        jobs = [job._replace(to=new.path) if job in along else job for job in params.jobs]
        jobs[i] = new
        return replace(params, jobs=tuple(jobs))

    def blind_rate(self, params: FileManagerParams) -> float:
        """Any job of the asked number: a name cannot be guessed."""
        items = len(params.paths)
        folders = sum(path.endswith("/") for path in params.paths)
        rates = {"delete": 1 / items, "move": 1 / (items * folders)}
        return prod(rates.get(kind, 0.0) / len(filejobs.KINDS) for kind, *_ in params.jobs)


def _row(path: str) -> str:
    return f"#items [data-path={json.dumps(path)}]"


def _confirm(device: BrowserDevice, hand: str) -> Action:
    return Press("enter") if hand == "keys" else click(device, "#ok")


def _go(device: BrowserDevice, here: str, folder: str) -> Iterator[Step]:
    """Open a folder: its top at the side, unless it lies in the open one, and on from there."""
    if folder != here and not (here and inside(folder, here)):
        here = folder[: folder.index("/") + 1]
        yield click(device, f".side [data-path={json.dumps(here)}]"), f"open {here}", name(here)
    while here != folder:
        here = folder[: folder.index("/", len(here)) + 1]
        for scroll in reveal(device, _row(here), "#items"):
            yield scroll, "", ""
        yield click(device, _row(here), count=2), f"open {here}", name(here)


def _command(device: BrowserDevice, hand: str, job: Job) -> Iterator[Step]:
    """Select what is to be renamed or deleted, and call the command."""
    command, key = {"rename": ("rename", "f2"), "delete": ("erase", "delete")}[job.kind]
    what, thought = name(job.path), filejobs.clause(job)
    if hand == "menu":
        yield Click(*device.center(_row(job.path)), button="right"), thought, what
        yield click(device, f"#menu-{command}"), "", job.kind.capitalize()
        return
    yield click(device, _row(job.path)), thought, what
    action = Press(key) if hand == "keys" else click(device, f"#{command}")
    yield action, "", job.kind.capitalize()


def _move(device: BrowserDevice, hand: str, job: Job) -> Generator[Step, None, str]:
    """Move what is in sight; gives the folder that is open then."""
    item, what, thought = device.center(_row(job.path)), name(job.path), filejobs.clause(job)
    if hand == "menu":
        yield Click(*item, button="right"), thought, what
        yield click(device, "#menu-move"), "", ""
        folder = f"#folders [data-path={json.dumps(job.to)}]"
        for scroll in reveal(device, folder, "#folders"):
            yield scroll, "", ""
        yield click(device, folder), "", ""
        yield click(device, "#ok"), "", ""
        return parent(job.path)
    target = _drop(device, job) if hand == "mouse" else None
    if target is not None:
        yield Drag(*item, *device.center(target)), thought, f"{what} {name(job.to)}"
        return parent(job.path)
    yield Click(*item), thought, what
    yield Press("ctrl+x") if hand == "keys" else click(device, "#cut"), "", "Cut"
    yield from _go(device, parent(job.path), job.to)
    yield Press("ctrl+v") if hand == "keys" else click(device, "#paste"), "", "Paste"
    return job.to


def _drop(device: BrowserDevice, job: Job) -> str | None:
    """Where the folder that something is moved into can be seen beside it: at the side, in the
    path above the files, or among them."""
    to = f"[data-path={json.dumps(job.to)}]"
    if not parent(job.to):
        return f".side {to}"
    if inside(job.path, job.to):
        return f".crumbs {to}"
    if parent(job.to) != parent(job.path):
        return None
    _, top, _, height = device.box("#items")
    _, row_top, _, row_height = device.box(_row(job.to))
    return _row(job.to) if top <= row_top and row_top + row_height <= top + height else None
