"""Tasks in the text editor: what counts as done."""

from __future__ import annotations

from typing import Any

from desktop_episodes import (
    made,
)

from ui_gym.contract.device import DevicePool
from ui_gym.desktop import keyfile
from ui_gym.desktop.content import texts
from ui_gym.playing.env import UIEnv


def begun(env: UIEnv, seed: int = 0) -> Any:
    """Begin an episode; its params."""
    env.reset(seed=seed)
    return env.task.draw(seed, env.split)


def judged(env: UIEnv, **files: str) -> bool:
    """Whether the goal is reached once somebody wrote these files (path -> text)."""
    for path, text in files.items():
        env.device.write(path, text.encode())  # type: ignore[attr-defined]
    return bool(env.step("wait(0.1)")[4]["success"])


def test_spaces_and_empty_lines_at_the_ends_do_not_count(pool: DevicePool) -> None:
    with made("DesktopTypeAndSave", pool=pool) as env:
        params = begun(env)
        assert not judged(env, **{params.path: "\n".join(params.text).upper()})
        assert judged(env, **{params.path: " \n".join(params.text) + "\n\n"})


def test_an_empty_line_in_the_place_of_one_is_not_its_deletion(pool: DevicePool) -> None:
    with made("DesktopDeleteLine", pool=pool) as env:
        seed = next(s for s in range(50) if env.task.draw(s, env.split).first < 3)
        params = begun(env, seed)
        kept = list(params.lines)
        kept[params.first] = ""
        assert not judged(env, **{params.path: texts.joined(tuple(kept))})
        del kept[params.first]
        assert judged(env, **{params.path: texts.joined(tuple(kept))})


def test_files_beside_it_must_not_change(pool: DevicePool) -> None:
    with made("DesktopSortLines", pool=pool) as env:
        params = begun(env)
        beside = f"{params.folder}/{params.beside[0][0]}"
        right = texts.joined(tuple(env.task.edited(params)))  # type: ignore[attr-defined]
        assert not judged(env, **{params.path: right, beside: params.beside[0][1] + "\n"})
        assert judged(env, **{beside: params.beside[0][1]})


def test_a_copy_under_one_name_more_is_one_too_many(pool: DevicePool) -> None:
    with made("DesktopSaveAs", pool=pool) as env:
        params = begun(env)
        text = texts.joined(params.lines)
        copy, other = f"{params.place}/{params.new}", f"{params.place}/other.txt"
        assert not judged(env, **{copy: text, other: text})


def test_every_setting_but_the_one_must_stay(pool: DevicePool) -> None:
    from ui_gym.desktop.tasks.mousepad_view import SETTINGS

    with made("DesktopEditorSetting", pool=pool) as env:
        params = begun(env)

        def written(*switched: int) -> str:
            lines = []
            for i, one in enumerate(SETTINGS):
                state = params.states[i] != (i in switched)
                lines += [f"[org/xfce/mousepad/preferences/{one.group}]"]
                lines += [f"{one.key}={str(state).lower()}"]
            return "\n".join(lines)

        another = (params.which + 1) % len(SETTINGS)
        assert not judged(env, **{keyfile.PATH: written(params.which, another)})
        assert judged(env, **{keyfile.PATH: written(params.which)})
