"""FileManager's logic, and trees of files."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from task_helpers import draws, goals, judge, levels, perform, verdicts

from ui_gym.browser.content import filejobs, filetree, words
from ui_gym.browser.content.filetree import Job
from ui_gym.browser.tasks.file_manager import FileManager, FileManagerParams
from ui_gym.contract.action import Click, Drag, Press, Type
from ui_gym.errors import UserError

PATHS = (
    "Finance/", "Finance/2025/", "Finance/2025/report.pdf", "Finance/budget.xlsx",
    "Finance/notes.txt", "Travel/", "Travel/notes.txt",
)  # fmt: skip
TREE = {path: path for path in PATHS}
FILES = FileManagerParams(
    paths=PATHS,
    jobs=(Job("create", "Travel/Done/"), Job("move", "Travel/notes.txt", "Travel/Done/")),
    hand="mouse", app="Drawer", view="list", theme=0, phrasing=0,
)  # fmt: skip


def did(kind: str, path: str, to: str = "") -> Any:
    return (kind, {"path": path, "to": to})


CREATE = did("create", "Travel/Done/")
MOVE = did("move", "Travel/notes.txt", "Travel/Done/")


test_file_scores = verdicts(
    FileManager(),
    FILES,
    {
        "one job": (CREATE, 0.5, False),
        "right": (CREATE, MOVE, 1.0, True),
        "renamed after": (did("create", "Travel/New/"),
            did("move", "Travel/notes.txt", "Travel/New/"), did("rename", "Travel/New/", "Done"),
            1.0, True),
        "made elsewhere": (did("create", "Finance/Done/"), did("move", "Finance/Done/", "Travel/"),
            MOVE, 1.0, True),
        "its namesake": (CREATE, did("move", "Finance/notes.txt", "Travel/Done/"), 0.0, False),
        "too much": (CREATE, MOVE, did("rename", "Finance/2025/", "2026"), 0.5, False),
        "deleted": (CREATE, did("delete", "Travel/notes.txt"), 0.5, True),
        "thrown away again": (did("create", "Travel/Other/"), did("delete", "Travel/Other/"), 0.0,
            False),
        "a folder deleted": (did("delete", "Finance/2025/"), 0.0, True,
            "Finance/2025/ was deleted, which was to be kept"),
    },
)  # fmt: skip


@pytest.mark.parametrize(
    ("job", "changed"),
    [
        (Job("create", "Travel/New/"), {"Travel/New/": ""}),
        (Job("rename", "Finance/notes.txt", "old.txt"), {"Finance/old.txt": "Finance/notes.txt"}),
        (Job("rename", "Finance/2025/", "2026"),
         {"Finance/2026/": "Finance/2025/", "Finance/2026/report.pdf": "Finance/2025/report.pdf"}),
        (Job("move", "Finance/2025/", "Travel/"),
         {"Travel/2025/": "Finance/2025/", "Travel/2025/report.pdf": "Finance/2025/report.pdf"}),
        (Job("move", "Finance/2025/report.pdf", ""), {"report.pdf": "Finance/2025/report.pdf"}),
        (Job("delete", "Finance/2025/"), {}),
    ],
    ids=["create", "rename", "rename a folder", "move a folder", "to the top", "delete"],
)  # fmt: skip
def test_jobs_change_a_tree(job: Job, changed: dict[str, str]) -> None:
    now = filetree.apply(TREE, job)
    assert {path: now[path] for path in now if path not in TREE} == changed
    gone = {path for path in TREE if path not in now}
    assert gone == (set() if job.kind == "create" else {p for p in TREE if _in(p, job.path)})


def _in(path: str, folder: str) -> bool:
    return path == folder or (folder.endswith("/") and path.startswith(folder))


def test_what_a_folder_holds_is_not_counted_beside_it() -> None:
    for job in (Job("delete", "Finance/"), Job("move", "Finance/", "Travel/"), Job("create", "A/")):
        assert filetree.distance(TREE, filetree.apply(TREE, job)) == 1
    assert filetree.distance(TREE, TREE) == 0
    task = FileManager(level="hard")
    for params in draws(task):
        start = {path: path for path in params.paths}
        wanted = start
        for job in params.jobs:
            wanted = filetree.apply(wanted, job)
        assert filetree.distance(start, wanted) == task.jobs


def test_children_come_as_a_file_manager_shows_them() -> None:
    assert filetree.children(PATHS, "") == ["Finance/", "Travel/"]
    names = [filetree.name(path) for path in filetree.children(PATHS, "Finance/")]
    assert names == ["2025", "budget.xlsx", "notes.txt"]


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("alike", [True, False])
def test_trees_are_as_deep_and_full_as_asked(depth: int, alike: bool) -> None:
    paths = filetree.grow(depth, 16, alike, np.random.default_rng(0))
    assert len(set(paths)) == len(paths)
    assert max(path.rstrip("/").count("/") for path in paths if path.endswith("/")) == depth - 1
    for folder in [path for path in paths if path.endswith("/")]:
        files = [p for p in filetree.children(paths, folder) if not p.endswith("/")]
        assert 8 <= len(files) <= 16
        stems = {filetree.name(path).split(".")[0].split("-")[0] for path in files}
        assert len(stems) <= 3 if alike else len(stems) >= 8


@levels(FileManager)
def test_file_goals_say_all_that_is_needed(task: Any) -> None:
    kinds = set()
    for params, goal in goals(task):
        for job in params.jobs:
            kinds.add(job.kind)
            for said in (job.path, filetree.parent(job.path), job.to):
                text = said if said == job.to else filetree.name(said)
                assert not said or f'{text.rstrip("/")}"' in goal
        assert len(params.jobs) == task.jobs
    assert kinds == set(filejobs.KINDS)


@levels(FileManager)
def test_file_jobs_can_be_done_in_any_order_but_a_move_into_a_new_folder(task: Any) -> None:
    for params in draws(task):
        tree = {path: path for path in params.paths}
        made: list[str] = []
        for job in params.jobs:
            here = filetree.parent(job.path)
            assert here in tree
            assert (job.path in params.paths) != (job.kind == "create")
            if job.kind == "move":
                assert job.to in params.paths or job.to in made
            now = filetree.apply(tree, job)
            gone = job.kind == "delete"
            assert gone or len({path.rstrip("/").lower() for path in now}) == len(now)
            assert gone or len(now) == len(tree) + (job.kind == "create")
            made += [job.path] * (job.kind == "create")
            tree = now


@levels(FileManager)
def test_file_mistakes_can_be_played_and_fail(task: Any) -> None:
    rng = np.random.default_rng(0)
    for params in draws(task):
        for mistake in task.mistakes:
            believed = task.misread(params, mistake, rng)
            if believed == params:
                continue
            tree = {path: path for path in params.paths}
            for job in believed.jobs:  # whatever it is done to is there
                assert job.kind == "create" or job.path in tree
                assert job.kind != "move" or job.to in tree
                tree = filetree.apply(tree, job)
            assert not judge(task, params, *(did(*job) for job in believed.jobs)).success


def test_file_mistakes() -> None:
    rng = np.random.default_rng(0)
    delete = Job("delete", "Finance/budget.xlsx")
    slipped = filejobs.neighbour(delete, [], PATHS, rng)
    assert slipped == Job("delete", "Finance/notes.txt")
    busy = [Job("delete", "Finance/notes.txt"), Job("create", "Finance/2025/New/")]
    assert filejobs.neighbour(delete, busy, PATHS, rng) == delete
    # What is to be moved into a new folder goes to wherever that is made.
    typo = FileManager().misread(FILES, "typo", rng)
    assert typo.jobs[0].path in ("Travel/Dne/", "Travel/Doe/")
    misplaced = [FileManager().misread(FILES, "place", rng) for _ in range(20)]
    elsewhere = [believed for believed in misplaced if believed.jobs[0] != FILES.jobs[0]]
    assert 0 < len(elsewhere) < 20
    for believed in (typo, *elsewhere):
        assert believed.jobs[1].to == believed.jobs[0].path
    alone = dataclasses.replace(FILES, jobs=(Job("create", "Travel/Done/"),))
    assert FileManager().misread(alone, "neighbour", rng) == alone


@pytest.mark.parametrize("jobs", [1, 6])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_any_arguments_give_tasks_and_mistakes(jobs: int, depth: int) -> None:
    task, rng = FileManager(jobs=jobs, depth=depth, files=4), np.random.default_rng(0)
    for seed in range(20):
        params = task.draw(seed)
        for mistake in task.mistakes:
            task.misread(params, mistake, rng)


def test_file_levels_differ() -> None:
    tasks = [FileManager(level=level) for level in ("easy", "medium", "hard")]
    assert [task.max_steps for task in tasks] == [10, 24, 60]
    sizes = [len(task.draw(0).paths) for task in tasks]
    assert sizes == sorted(sizes)


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"jobs": 2}, "jobs must be 1 to 1, not 2"), ({"depth": 3}, "depth must be 1 to 2, not 3"),
        ({"files": 5}, "files must be 4 to 4, not 5"), ({"alike": True}, "no alike names"),
    ],
)  # fmt: skip
def test_files_refuse_what_the_compact_page_cannot_show(given: Any, refused: str) -> None:
    with pytest.raises(UserError, match=refused):
        FileManager(compact=True, **given)


@pytest.mark.parametrize("depth", [1, 2])
def test_compact_files_have_short_names_and_clear_jobs(depth: int) -> None:
    task, kinds = FileManager(compact=True, depth=depth), set()
    for params, goal in goals(task):
        (job,) = params.jobs
        kinds.add(job.kind)
        known = {filetree.name(path) for path in params.paths}
        assert known <= {*words.FIRST_SHORT, *words.THINGS_SHORT}
        folders = [path for path in params.paths if path.endswith("/")]
        assert len({filetree.name(path) for path in folders}) == len(folders) == 3 * depth
        assert all(len(filetree.children(params.paths, folder)) <= 5 for folder in folders)
        new = {"create": filetree.name(job.path), "rename": job.to}.get(job.kind)
        assert new not in known
        for said in (filetree.name(job.path), filetree.parent(job.path), job.to):
            assert said.rstrip("/") in goal
    assert kinds == set(filejobs.KINDS)


@pytest.fixture
def files(show: Any) -> Any:
    return show(FileManager(), FILES)


def told(device: Any) -> list[tuple[str, str, str]]:
    """The kind, the path and the aim of each change that the page reported."""
    device.state()  # brings the events up to date
    return [(event.type, event.data["path"], event.data["to"]) for event in device.events]


def there(device: Any, path: str, area: str = "#items") -> tuple[int, int]:
    center: tuple[int, int] = device.center(f'{area} [data-path="{path}"]')
    return center


def test_files_work_from_the_keyboard(files: Any) -> None:
    perform(files, Press("down"), Press("down"), Press("enter"))
    assert files.state()["here"] == "Travel/"
    perform(files, Press("backspace"), Press("down"), Press("enter"))
    assert files.state()["here"] == "Finance/"
    perform(files, Press("down"), Press("down"), Press("f2"), Type("x/y"), Press("enter"))
    assert files.state()["dialog"]
    perform(files, Press("escape"), Press("f2"), Type("plan.xlsx"), Press("enter"))
    assert "Finance/plan.xlsx" in files.state()["tree"]
    perform(files, Press("delete"), Press("escape"), Press("ctrl+x"), Press("backspace"))
    assert files.state()["here"] == ""
    files.perform(Press("ctrl+v"))
    assert told(files) == [
        ("rename", "Finance/budget.xlsx", "plan.xlsx"), ("move", "Finance/plan.xlsx", ""),
    ]  # fmt: skip


def test_several_files_are_dragged_together(files: Any) -> None:
    files.perform(Click(*there(files, "Finance/"), count=2))
    files.perform(Click(*there(files, "Finance/notes.txt")))
    files.perform(Click(*there(files, "Finance/budget.xlsx"), keys="ctrl"))
    target = there(files, "Finance/2025/")
    files.perform(Drag(*there(files, "Finance/budget.xlsx"), *target))
    assert told(files) == [
        ("move", "Finance/notes.txt", "Finance/2025/"),
        ("move", "Finance/budget.xlsx", "Finance/2025/"),
    ]


def test_a_folder_goes_neither_into_itself_nor_over_a_namesake(files: Any) -> None:
    files.perform(Drag(*there(files, "Finance/"), *there(files, "Finance/", ".side")))
    files.perform(Click(*there(files, "Finance/"), count=2))
    notes = there(files, "Finance/notes.txt")
    files.perform(Drag(*notes, *there(files, "Travel/", ".side")))
    assert told(files) == []
    files.perform(Drag(*notes, *there(files, "", ".crumbs")))
    assert told(files) == [("move", "Finance/notes.txt", "")]
