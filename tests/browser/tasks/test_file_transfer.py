"""FileTransfer's logic, its real files, and that nothing of them comes to the disk."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from task_helpers import draws, judge, levels, perform, verdicts
from waiting import eventually

from ui_gym.browser.content import transfers
from ui_gym.browser.content.filetree import name, parent
from ui_gym.browser.content.transfers import HomeFile
from ui_gym.browser.moves import click
from ui_gym.browser.tasks.file_transfer import ASKS, FileTransfer, FileTransferParams
from ui_gym.contract.action import Type, Wait
from ui_gym.errors import UserError

HOME = (
    HomeFile("Travel/photo-oslo.jpg", 41_003, "2025-06-01T10:00", 31_415),
    HomeFile("Travel/photo-may.jpg", 52_000, "2025-07-01T10:00", 92_653),
    HomeFile("Downloads/plan.pdf", 20_001, "2025-07-02T10:00", 58_979),
)
PLAN = HomeFile("plan.pdf", 20_001, "2025-08-02T10:00", 32_384)
PARAMS = FileTransferParams(
    scene=0, ask="named", home=HOME, documents=(PLAN,), target=0, sort="photo", kinds=(),
    kilobytes=5000, number=4711, sent_as="", start="", order="name", place=0, theme=0, phrasing=0,
)  # fmt: skip
FETCHED = replace(PARAMS, ask="download", target=3)
RENAMED = replace(PARAMS, sent_as="4711-photo.jpg")


def sent(*files: HomeFile, called: str = "", **other: Any) -> Any:
    told = [
        {"name": called or name(f.path), "size": f.size, "sum": transfers.checksum(f), **other}
        for f in files
    ]
    return ("sent", {"files": told})


test_file_transfer_scores = verdicts(
    FileTransfer(),
    PARAMS,
    {
        "downloaded only": (("download", {"name": "plan.pdf"}), 0.0, False, "not sent yet"),
        "right": (sent(HOME[0]), 1.0, True, "sent photo-oslo.jpg"),
        "another": (sent(HOME[1]), 0.0, True, "sent another file: photo-may.jpg"),
        "another of the name": (sent(HOME[1], called="photo-oslo.jpg"), 0.0, True),
        "other bytes": (sent(HOME[0], sum="00000000"), 0.0, True),
        "one byte less": (sent(HOME[0], size=41_002), 0.0, True),
        "two": (sent(HOME[0], HOME[1]), 0.0, True, "2 files were sent"),
        "another name": (sent(HOME[0], called="x.jpg"), 0.5, True),
        "right too late": (sent(HOME[1]), sent(HOME[0]), 0.0, True),
    },
)
test_download_scores = verdicts(
    FileTransfer(),
    FETCHED,
    {
        "as it is called there": (sent(PLAN, called="plan (1).pdf"), 1.0, True),
        "the old one": (sent(HOME[2]), 0.0, True),
    },
)
test_rename_scores = verdicts(
    FileTransfer(),
    RENAMED,
    {
        "as asked": (sent(HOME[0], called="4711-photo.jpg"), 1.0, True),
        "otherwise": (sent(HOME[0], called="4711-x.jpg"), 0.5, True,
                      "sent as 4711-x.jpg, not 4711-photo.jpg"),
    },
)  # fmt: skip


@levels(FileTransfer)
def test_the_goal_tells_one_file_which_the_page_takes(task: Any) -> None:
    asks = set()
    for params in draws(task):
        asks.add(params.ask)
        file, goal = params.file, task.goal(params)
        files = [*params.home, *params.documents]
        paths = [f.path for f in params.home]
        assert len(set(paths)) == len(paths)
        assert len({(f.size, transfers.checksum(f)) for f in files}) == len(files)
        folder = parent(file.path)
        assert params.is_download or f" {folder.rstrip('/')}" in goal
        if params.ask == "newest":
            sort = [f for f in params.home if f.path.startswith(f"{folder}{params.sort}")]
            assert len(sort) == 3
            assert max(sort, key=lambda f: f.modified) is file
            assert f'"{params.sort}"' in goal
        elif params.ask == "fitting":
            versions = [f for f in params.home if f.path.startswith(f"{folder}{params.sort}")]
            taken = [f for f in versions
                     if f.path.endswith(params.kinds) and f.size <= 500_000]  # fmt: skip
            assert taken == [file]
            assert len(versions) == 3
        else:
            assert f'"{name(file.path)}"' in goal
        assert bool(params.sent_as) == task.rename
    assert asks == set(ASKS[: task.asks])


def test_a_download_keeps_what_is_there() -> None:
    assert transfers.downloaded(PLAN, HOME, "Downloads/") == "plan (1).pdf"
    assert transfers.downloaded(PLAN, HOME[:2], "Downloads/") == "plan.pdf"
    again = (*HOME, HOME[2]._replace(path="Downloads/plan (1).pdf"))
    assert transfers.downloaded(PLAN, again, "Downloads/") == "plan (2).pdf"
    assert transfers.downloaded(PLAN._replace(path="Pen"), HOME, "Downloads/") == "Pen"


def play(device: Any, task: FileTransfer, params: FileTransferParams, *, until: int = 99) -> Any:
    task.setup(device, params)
    for number, demo in enumerate(task.demonstrate(device, params)):
        if number == until:
            break
        device.perform(demo.action)
    return task.judge(device, params, ())


def test_what_is_attached_is_a_real_file_of_its_bytes(make_device: Any) -> None:
    task = FileTransfer()
    device = make_device(task.viewport)
    fetched = replace(FETCHED, sent_as="4711-plan.pdf")
    for wanted, params in ((HOME[0], PARAMS), (PLAN, FETCHED)):
        assert play(device, task, params).success
        text = device.evaluate("document.getElementById('file').files[0].text()", promise=True)
        assert text.encode() == transfers.content(wanted)
    hard = FileTransfer(level="hard")
    assert play(device, hard, fetched).success
    text = device.evaluate("document.getElementById('file').files[0].text()", promise=True)
    assert text.encode() == transfers.content(PLAN)


def test_the_page_refuses_what_it_does_not_take(make_device: Any) -> None:
    task = FileTransfer(level="hard")
    device = make_device(task.viewport)
    large = replace(PARAMS, kilobytes=40, sent_as="4711-photo.jpg", start="Travel/")
    for params in (large, replace(large, kilobytes=500, kinds=("pdf",))):
        task.setup(device, params)
        state = perform(
            device,
            click(device, "#send"),
            click(device, "#choose"),
        )
        assert (state["folder"], state["attached"]) == ("Travel/", [])
        row = '[data-path="Travel/photo-oslo.jpg"]'
        state = perform(device, click(device, row), click(device, "#open"), click(device, "#send"))
        assert (state["attached"], state["pending"]) == ([], None)
        assert not device.events
    task.setup(device, replace(large, kilobytes=500))
    perform(device, click(device, "#choose"))
    state = perform(device, click(device, row, count=2), click(device, "#send"))
    assert (state["attached"], state["pending"]) == ([], "photo-oslo.jpg")
    perform(device, click(device, "#new-name"), Type("photo.jpg", clear=True))
    assert perform(device, click(device, "#rename"))["attached"] == []
    perform(device, click(device, "#new-name"), Type("4711-photo.jpg", clear=True))
    assert perform(device, click(device, "#rename"))["attached"] == ["4711-photo.jpg"]


def test_rows_of_files_are_told_alike_each_time(make_device: Any) -> None:
    """Chromium guesses of a table without heads whether it is one, now so and now otherwise."""
    task = FileTransfer(compact=True)
    device = make_device(task.viewport)
    for _ in range(8):
        assert play(device, task, task.draw(3), until=2).score == 0
        seen = device.capture(elements=True).elements
        assert {e.role for e in seen} == {"button", "dialog", "heading", "text"}


@pytest.mark.parametrize("kind", ["chromium:beginframe", "chromium:framebuffer"])
def test_downloads_lie_on_the_shelf_and_not_on_the_disk(
    make_device: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    task = FileTransfer()
    device = make_device(task.viewport, kind=kind)
    task.setup(device, FETCHED)
    state = perform(device, click(device, "#get-0"), click(device, "#get-0"), Wait(1.0))
    assert state["got"] == ["plan (1).pdf", "plan (2).pdf"]
    shown = {e.name for e in device.capture(elements=True).elements}
    assert set(state["got"]) <= shown
    places = [tmp_path, Path(tempfile.gettempdir())]
    assert not eventually(lambda: [*places[0].rglob("plan*"), *places[1].rglob("plan*")], 0.5)
    # Nor does the browser's own chooser open: its page's does.
    device.evaluate("document.getElementById('file').click()")
    assert device.state()["folder"] == ""


def test_file_transfer_refuses_what_its_page_cannot_show() -> None:
    with pytest.raises(UserError, match="rename is False"):
        FileTransfer(compact=True, rename=True)
    with pytest.raises(UserError, match="asks must be 1 to 3, not 4"):
        FileTransfer(compact=True, asks=4)
    with pytest.raises(UserError, match="folders must be 2 to 6, not 1"):
        FileTransfer(folders=1)


def test_a_page_that_reports_nothing_has_sent_nothing() -> None:
    assert judge(FileTransfer(), PARAMS).notes == "not sent yet"
