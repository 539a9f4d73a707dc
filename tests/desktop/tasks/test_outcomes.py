"""What counts as done: somebody changes files by other means, and the task's score is read."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from desktop_episodes import made

from ui_gym.contract import registry
from ui_gym.contract.device import DevicePool
from ui_gym.desktop import archives, keyfile
from ui_gym.desktop.content import texts
from ui_gym.desktop.tasks.mousepad_view import SETTINGS

Change = str | Mapping[str, str]
"""A line for the shell, or files to be written (path -> text)."""

Changes = Iterator[tuple[Change, float]]
"""Each change, and the score after it."""


@dataclass(frozen=True)
class Case:
    """A task, and what is done in an episode of the first seed that fits."""

    task: str
    changes: Callable[[Any], Changes]
    """From the params."""
    fits: Callable[[Any], bool]


CASES: list[Case] = []


def case(
    task: str, fits: Callable[[Any], bool] = lambda params: True
) -> Callable[[Callable[[Any], Changes]], None]:
    """The function below is a case of that task."""
    return lambda changes: CASES.append(Case(task, changes, fits))


# -- the text editor --


@case("DesktopTypeAndSave")
def spaces_and_empty_lines_at_the_ends_do_not_count(params: Any) -> Changes:
    yield {params.path: "\n".join(params.text).upper()}, 0
    yield {params.path: " \n".join(params.text) + "\n\n"}, 1


@case("DesktopDeleteLine", lambda params: params.first < 3)
def an_empty_line_in_the_place_of_one_is_not_its_deletion(params: Any) -> Changes:
    before, after = params.lines[: params.first], params.lines[params.first + 1 :]
    yield {params.path: texts.joined((*before, "", *after))}, 0
    yield {params.path: texts.joined((*before, *after))}, 1


@case("DesktopSortLines")
def files_beside_it_must_not_change(params: Any) -> Changes:
    name, text = params.beside[0]
    beside = f"{params.folder}/{name}"
    right = texts.joined(tuple(sorted(params.lines, reverse=params.backwards)))
    yield {params.path: right, beside: text + "\n"}, 0
    yield {beside: text}, 1


@case("DesktopSaveAs")
def a_copy_under_one_name_more_is_one_too_many(params: Any) -> Changes:
    text = texts.joined(params.lines)
    yield {f"{params.place}/{params.new}": text, f"{params.place}/other.txt": text}, 0


@case("DesktopEditorSetting")
def every_setting_but_the_one_must_stay(params: Any) -> Changes:
    def written(*switched: int) -> str:
        lines = []
        for i, setting in enumerate(SETTINGS):
            state = params.states[i] != (i in switched)
            lines += [f"[org/xfce/mousepad/preferences/{setting.group}]"]
            lines += [f"{setting.key}={str(state).lower()}"]
        return "\n".join(lines)

    yield {keyfile.PATH: written(params.which, (params.which + 1) % len(SETTINGS))}, 0
    yield {keyfile.PATH: written(params.which)}, 1


# -- the file manager --


@case("DesktopMoveFile")
def a_file_that_is_copied_is_not_moved(params: Any) -> Changes:
    yield f"cp '{params.path}' '{params.value}/'", 0
    yield f"rm '{params.path}'", 1


@case("DesktopRenameFile")
def another_file_of_the_new_name_is_not_the_renamed_one(params: Any) -> Changes:
    yield f"rm '{params.path}'; echo other > '{params.source}/{params.value}'", 0


@case("DesktopDeleteFile")
def to_delete_all_files_is_not_to_delete_one(params: Any) -> Changes:
    yield f"rm '{params.source}'/*", 0


@case("DesktopDeleteFile")
def hidden_files_of_applications_do_not_count(params: Any) -> Changes:
    yield f"touch '{params.source}/.index'; rm '{params.path}'", 1


@case("DesktopNewFolder")
def a_new_folder_must_be_a_folder_and_empty(params: Any) -> Changes:
    path = f"'{params.source}/{params.name}'"
    yield f"touch {path}", 0
    yield f"rm {path}; mkdir {path}; touch {path}/full", 0
    yield f"rm {path}/full", 1


@case("DesktopSortFiles")
def sorting_is_scored_by_the_share_that_is_done(params: Any) -> Changes:
    (first, here), (second, there) = params.kinds
    ends = [name.rpartition(".")[2] for name in params.names(params.source)]
    share = ends.count(first) / (ends.count(first) + ends.count(second))
    yield f"mv '{params.source}'/*.{first} '{here}/'", share
    yield f"cp '{params.source}'/*.{second} '{there}/'", share
    yield f"rm '{params.source}'/*.{second}", 1


@case("DesktopSortFiles")
def sorting_scores_nothing_once_a_file_is_lost(params: Any) -> Changes:
    (first, here), (second, _) = params.kinds
    yield f"mv '{params.source}'/*.{first} '{here}/'; rm '{params.source}'/*.{second}", 0


# -- the terminal --


@case("DesktopNestedFolders")
def one_folder_too_many_is_not_as_asked(params: Any) -> Changes:
    yield f"cd '{params.folder}' && mkdir -p {' '.join(params.made)} extra", 0
    yield f"rmdir '{params.folder}/extra'", 1


@case("DesktopChangeMode")
def a_changed_file_is_not_as_asked_whatever_its_mode(params: Any) -> Changes:
    yield f"chmod 700 '{params.target}' && echo >> '{params.target}'", 0
    yield f"chmod {params.mode} '{params.target}'", 0


@case("DesktopCountLines", lambda params: not params.word)
def a_number_with_the_name_of_its_file_is_not_the_number(params: Any) -> Changes:
    log = f"'{params.folder}/{params.target}'"
    yield f"wc -l {log} > {params.out}", 0
    yield f"wc -l < {log} > {params.out}", 1


@case("DesktopArchiveFolder")
def an_archive_has_all_files_and_may_be_made_beside_the_folder_or_in_it(params: Any) -> Changes:
    left_out = params.files[0][0].rpartition("/")[2]
    yield f"tar -czf {params.archive} --exclude='{left_out}' '{params.folder}'", 0
    yield f"tar -czf {params.archive} '{params.folder}'", 1


@case("DesktopArchiveFolder")
def an_archive_may_be_made_from_inside_the_folder(params: Any) -> Changes:
    yield f"tar -czf {params.archive} -C '{params.folder}' .", 1


# -- the calculator --


@case("DesktopOrderTotal")
def an_order_that_was_changed_is_not_as_asked(params: Any) -> Changes:
    total = f"{float(params.total):.2f}\n"
    yield {params.file: params.text.replace("x", "*") + total}, 0
    yield {params.file: params.text + total}, 1


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.changes.__name__)
def test_what_was_done_is_scored(case: Case, pool: DevicePool) -> None:
    with made(case.task, pool=pool) as env:
        drawn = ((seed, env.task.draw(seed, env.split)) for seed in range(50))
        seed, params = next((seed, params) for seed, params in drawn if case.fits(params))
        env.reset(seed=seed)
        device: Any = env.device
        for change, score in case.changes(params):
            if isinstance(change, str):
                assert device.run(change).code == 0, change
            else:
                for path, text in change.items():
                    device.write(path, text.encode())
            assert env.step("wait(0.1)")[4]["score"] == pytest.approx(score), change


# -- without a desktop --


def test_an_archive_that_unpacks_to_too_much_is_none() -> None:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        member = tarfile.TarInfo("zeros")
        member.size = archives.LARGEST + 1
        archive.addfile(member, io.BytesIO(bytes(member.size)))
    assert archives.members(file.getvalue()) is None


def test_no_file_is_overwritten_by_the_largest() -> None:
    task: Any = registry.spec("DesktopMoveLargest").load()()
    for seed in range(300):
        params = task.draw(seed)
        assert len(task.after(params)) == len(task.before(params)), seed
        assert params == task.draw(seed)
