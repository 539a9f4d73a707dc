"""Jobs in a tree of files: how they are drawn, told, and misunderstood."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ui_gym.browser.content.filetree import (
    NEW_FOLDERS,
    Job,
    children,
    inside,
    name,
    other_name,
    parent,
    short_name,
)
from ui_gym.contract.draws import pick

KINDS = ("create", "rename", "move", "delete")
OF_FOLDERS = 0.25
"""How often a job concerns a folder with all that is in it, where there is one below the top."""
INTO_NEW = 0.6
"""How often something is moved into a folder that was created just before."""

CLAUSES = {
    "create": 'create a folder named "{what}" in "{folder}"',
    "rename": 'rename {item} in "{folder}" to "{to}"',
    "move": 'move {item} from "{folder}" to "{to}"',
    "delete": 'delete {item} from "{folder}"',
}

SHORT_CLAUSES = {
    "create": "add {what} in {folder}",
    "rename": "rename {what} in {folder} to {to}",
    "move": "move {what} from {folder} to {to}",
    "delete": "delete {what} in {folder}",
}


def clause(job: Job, *, short: bool = False) -> str:
    """A job in words."""
    clauses = SHORT_CLAUSES if short else CLAUSES
    what, folder = name(job.path), parent(job.path).rstrip("/")
    item = f'the folder "{what}"' if job.path.endswith("/") else f'"{what}"'
    return clauses[job.kind].format(what=what, item=item, folder=folder, to=job.to.rstrip("/"))


def plan(
    paths: Sequence[str], count: int, rng: np.random.Generator, *, short: bool = False
) -> list[Job]:
    """Jobs of all kinds, in turn, none of which is in another's way; new names may be `short`."""
    order = [KINDS[int(i)] for i in rng.permutation(len(KINDS))]
    jobs: list[Job] = []
    while len(jobs) < count:
        job = _propose(order[len(jobs) % len(order)], paths, jobs, rng, short)
        if _apart(job, jobs) and not _clashes(job, paths, jobs):
            jobs.append(job)
    return jobs


def neighbour(
    job: Job, others: Sequence[Job], paths: Sequence[str], rng: np.random.Generator
) -> Job:
    """The job done to what stands next to the right thing."""
    folder = job.path.endswith("/")
    beside = children(paths, parent(job.path))
    at = beside.index(job.path)
    near = sorted(beside, key=lambda path: abs(beside.index(path) - at))[1:]
    for path in sorted(near, key=lambda path: path.endswith("/") != folder):
        slipped = job._replace(path=path)
        if job.kind == "rename" and path.endswith("/") != folder:
            continue
        if _apart(slipped, others):
            return slipped
    return job


def misplaced(
    job: Job, others: Sequence[Job], paths: Sequence[str], rng: np.random.Generator
) -> Job:
    """The job done in another folder, or into another, if there is one."""
    right = job.to if job.kind == "move" else parent(job.path)
    wrong = []
    for folder in (path for path in paths if path.endswith("/") and path != right):
        if job.kind == "move":
            slipped = job._replace(to=folder)
        else:
            slipped = job._replace(path=f"{folder}{name(job.path)}/")
        if _apart(slipped, others) and not _clashes(slipped, paths, others):
            wrong.append(slipped)
    # A folder beside the right one is taken for it rather than any other.
    near = [one for one in wrong if parent(one.to or parent(one.path)) == parent(right)]
    return pick(rng, near or wrong or [job])


def typo(job: Job, others: Sequence[Job], paths: Sequence[str], rng: np.random.Generator) -> Job:
    """The job with a letter lost inside the new name."""
    said = name(job.path) if job.kind == "create" else job.to
    stem = len(said.rpartition(".")[0] or said)
    at = pick(rng, [i for i in range(1, stem - 1) if said[i] != " "])
    short = said[:at] + said[at + 1 :]
    if job.kind == "create":
        return job._replace(path=f"{parent(job.path)}{short}/")
    return job._replace(to=short)


def _propose(
    kind: str, paths: Sequence[str], jobs: Sequence[Job], rng: np.random.Generator, short: bool
) -> Job:
    folders = [path for path in paths if path.endswith("/")]
    if kind == "create" and short:
        folder = pick(rng, folders)
        return Job(kind, f"{folder}{short_name(folder, paths, rng)}/")
    if kind == "create":
        return Job(kind, f"{pick(rng, folders)}{pick(rng, NEW_FOLDERS)}/")
    deep = [path for path in folders if parent(path)]
    files = [path for path in paths if not path.endswith("/")]
    path = pick(rng, deep if deep and rng.random() < OF_FOLDERS else files)
    if kind == "rename":
        return Job(kind, path, (short_name if short else other_name)(path, paths, rng))
    if kind == "delete":
        return Job(kind, path)
    made = [job.path for job in jobs if job.kind == "create"]
    return Job(kind, path, pick(rng, made if made and rng.random() < INTO_NEW else folders))


def _apart(job: Job, others: Sequence[Job]) -> bool:
    """Whether a job makes sense, and neither needs what the other changes."""
    if job.kind == "move" and (inside(job.to, job.path) or job.to == parent(job.path)):
        return False
    for other in others:
        if inside(job.path, other.path) or inside(other.path, job.path):
            return False
        for one, changed in ((job, other), (other, job)):
            into_new = changed.kind == "create" and one.to == changed.path
            if one.kind == "move" and inside(one.to, changed.path) and not into_new:
                return False
    return True


def _clashes(job: Job, paths: Sequence[str], jobs: Sequence[Job]) -> bool:
    """Whether there is or will be something else of the name where the job's result goes."""
    taken = {path.rstrip("/").lower() for path in (*paths, *map(_result, jobs))}
    return job.kind != "delete" and _result(job).rstrip("/").lower() in taken


def _result(job: Job) -> str:
    if job.kind == "move":
        return job.to + name(job.path)
    return parent(job.path) + job.to if job.kind == "rename" else job.path
