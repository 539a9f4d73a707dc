"""Tasks in a terminal: what counts as done."""

from __future__ import annotations

import io
import tarfile
from typing import Any

import pytest
from desktop_episodes import made

from ui_gym.contract import registry
from ui_gym.contract.device import DevicePool
from ui_gym.desktop import archives
from ui_gym.desktop.device import DesktopDevice
from ui_gym.playing.env import UIEnv


def judged(env: UIEnv, *lines: str) -> bool:
    """Whether the goal is reached once somebody ran these lines in the home folder."""
    assert isinstance(env.device, DesktopDevice)
    for line in lines:
        assert env.device.run(line).code == 0
    return bool(env.step("wait(0.1)")[4]["success"])


def test_one_folder_too_many_is_not_as_asked(pool: DevicePool) -> None:
    with made("DesktopNestedFolders", pool=pool) as env:
        env.reset(seed=0)
        params = env.task.draw(0, env.split)
        paths = " ".join(params.made)
        assert not judged(env, f"cd '{params.folder}' && mkdir -p {paths} extra")
        assert judged(env, f"rmdir '{params.folder}/extra'")


def test_a_changed_file_is_not_as_asked_whatever_its_mode(pool: DevicePool) -> None:
    with made("DesktopChangeMode", pool=pool) as env:
        env.reset(seed=0)
        params = env.task.draw(0, env.split)
        line = f"chmod {params.mode} '{params.target}'"
        assert not judged(env, f"chmod 700 '{params.target}' && echo >> '{params.target}'", line)


def test_a_number_with_the_name_of_its_file_is_not_the_number(pool: DevicePool) -> None:
    with made("DesktopCountLines", pool=pool) as env:
        seed = next(seed for seed in range(50) if not env.task.draw(seed, env.split).word)
        env.reset(seed=seed)
        params = env.task.draw(seed, env.split)
        log = f"'{params.folder}/{params.target}'"
        assert not judged(env, f"wc -l {log} > {params.out}")
        assert judged(env, f"wc -l < {log} > {params.out}")


@pytest.mark.parametrize("inside", [False, True], ids=["by its name", "from inside"])
def test_an_archive_may_be_made_beside_the_folder_or_in_it(pool: DevicePool, inside: bool) -> None:
    with made("DesktopArchiveFolder", pool=pool) as env:
        env.reset(seed=0)
        params = env.task.draw(0, env.split)
        what = f"-C '{params.folder}' ." if inside else f"'{params.folder}'"
        assert judged(env, f"tar -czf {params.archive} {what}")


def test_an_archive_without_one_of_the_files_is_not_as_asked(pool: DevicePool) -> None:
    with made("DesktopArchiveFolder", pool=pool) as env:
        env.reset(seed=0)
        params = env.task.draw(0, env.split)
        left_out = params.files[0][0].rpartition("/")[2]
        lines = f"tar -czf {params.archive} --exclude='{left_out}' '{params.folder}'"
        assert not judged(env, lines)


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
