"""Trees of files and folders: grown at random, and changed by jobs.

A tree maps each path to where it was at the start (`NEW` for a folder that was made since), so that
two files of one name are not taken for each other. Paths of folders end in a slash; that of the
root is empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from ui_gym.browser.content import words
from ui_gym.browser.content.choices import chosen
from ui_gym.browser.content.data import table
from ui_gym.contract.draws import pick

NEW = ""
Tree = Mapping[str, str]

TOPS: tuple[str, ...] = table("filetree")["tops"]
SUBS: tuple[str, ...] = table("filetree")["subs"]
LEAVES: tuple[str, ...] = table("filetree")["leaves"]
NEW_FOLDERS: tuple[str, ...] = table("filetree")["new_folders"]
STEMS: tuple[tuple[str, str], ...] = table("filetree")["stems"]
ENDINGS: tuple[str, ...] = table("filetree")["endings"]
ALIKE_STEMS = 3
"""How many kinds of files there are in a folder whose files look alike."""


class Job(NamedTuple):
    """A change: ``create`` (a folder), ``rename``, ``move`` or ``delete``.

    `to` is the new name, or the folder that the path is moved into.
    """

    kind: str
    path: str
    to: str = ""


def parent(path: str) -> str:
    """The folder that a path lies in."""
    return path[: path.rstrip("/").rfind("/") + 1]


def name(path: str) -> str:
    """The last part of a path."""
    return path.rstrip("/")[len(parent(path)) :]


def inside(path: str, folder: str) -> bool:
    """Whether a path is `folder`, or lies in it, however deep."""
    return path == folder or (folder.endswith("/") and path.startswith(folder))


def children(paths: Iterable[str], folder: str) -> list[str]:
    """What lies in a folder, in the order in which a file manager shows it."""
    found = [path for path in paths if path and parent(path) == folder]
    return sorted(found, key=lambda path: (not path.endswith("/"), name(path).lower()))


def apply(tree: Tree, job: Job) -> dict[str, str]:
    """The tree after a job."""
    kind, path, to = job
    if kind == "create":
        return {**tree, path: NEW}
    kept = {one: origin for one, origin in tree.items() if not inside(one, path)}
    if kind == "delete":
        return kept
    slash = "/" if path.endswith("/") else ""
    there = to + name(path) + slash if kind == "move" else parent(path) + to + slash
    moved = {there + one[len(path) :]: tree[one] for one in tree if inside(one, path)}
    return {**kept, **moved}


def distance(one: Tree, other: Tree) -> int:
    """In how many places two trees differ; what a folder holds is not counted beside it."""
    here, there = _places(one), _places(other)
    differing = {key for key in here | there if here.get(key) != there.get(key)}
    lost = {key for key in differing if key not in here or key not in there}
    return sum(key not in lost or (here | there)[key][0] not in lost for key in differing)


def _places(tree: Tree) -> dict[str, tuple[str, str]]:
    """For each thing, by what it was at the start, the folder it lies in and its name."""
    keys = {path: origin or path for path, origin in tree.items()}
    return {key: (keys.get(parent(path), ""), name(path)) for path, key in keys.items()}


def grow(depth: int, files: int, alike: bool, rng: np.random.Generator) -> tuple[str, ...]:
    """Folders on `depth` levels, with up to `files` files each and at least half as many."""
    folders = [f"{top}/" for top in chosen(TOPS, 4, rng)]
    level = list(folders)
    for names, count in ((SUBS, 3), (LEAVES, 2))[: depth - 1]:
        # Every folder of the first level has folders of its own, and half of those below.
        level = level if names is SUBS else level[::2]
        level = [f"{path}{one}/" for path in level for one in chosen(names, count, rng)]
        folders += level
    paths = list(folders)
    for folder in folders:
        count = int(rng.integers(max(2, files // 2), files + 1))
        paths += [folder + one for one in _file_names(count, alike, rng)]
    return tuple(sorted(paths))


def grow_short(depth: int, files: int, rng: np.random.Generator) -> tuple[str, ...]:
    """Three folders, on the second level one in each, with two to `files` files each: folders are
    named as people are, files as things."""
    names = chosen(words.FIRST_SHORT, 3 * depth, rng)
    tops = [f"{one}/" for one in names[:3]]
    folders = tops + [f"{top}{one}/" for top, one in zip(tops, names[3:], strict=False)]
    paths = list(folders)
    for folder in folders:
        count = int(rng.integers(2, files + 1))
        paths += [folder + one for one in chosen(words.THINGS_SHORT, count, rng)]
    return tuple(sorted(paths))


def short_name(path: str, paths: Iterable[str], rng: np.random.Generator) -> str:
    """A new name for a path of a tree that `grow_short` made, which nothing has."""
    used = {name(one) for one in paths}
    names = words.FIRST_SHORT if path.endswith("/") else words.THINGS_SHORT
    return pick(rng, [one for one in names if one not in used])


def other_name(path: str, paths: Iterable[str], rng: np.random.Generator) -> str:
    """A new name for a path, which nothing beside it has."""
    beside = {name(one).lower() for one in children(paths, parent(path))}
    if path.endswith("/"):
        names = list(NEW_FOLDERS)
    else:
        stem, _, kind = name(path).rpartition(".")
        names = [f"{stem.split('-')[0]}-{ending}.{kind}" for ending in ENDINGS]
    return pick(rng, [one for one in names if one.lower() not in beside])


def _file_names(count: int, alike: bool, rng: np.random.Generator) -> list[str]:
    picked = rng.choice(
        len(STEMS), size=min(len(STEMS), ALIKE_STEMS if alike else count), replace=False
    )
    stems = [STEMS[int(i)] for i in picked]
    names: list[str] = []
    while len(names) < count:
        stem, kind = stems[len(names) % len(stems)]
        ending = pick(rng, ("", *ENDINGS)) if alike or rng.random() < 0.5 else ""
        one = f"{stem}-{ending}.{kind}" if ending else f"{stem}.{kind}"
        if one not in names:
            names.append(one)
    return names
