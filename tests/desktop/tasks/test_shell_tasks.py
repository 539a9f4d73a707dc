"""Tasks on the whole desktop: one of each kind daily, all of them nightly."""

from __future__ import annotations

import re
import shutil
from typing import Any

import cv2
import numpy as np
import pytest
from desktop_episodes import assert_near_miss, assert_solved, made, play

from ui_gym.contract import registry
from ui_gym.contract.device import DevicePool
from ui_gym.desktop import shell
from ui_gym.desktop.content.pictures import SIZE, drawings
from ui_gym.desktop.content.town import ROWS, Enquiry, Town, columns
from ui_gym.testing import check_ui_env

TASKS = [spec.name for spec in registry.specs() if spec.category == "shell"]
PROGRAMS = {**shell.PACKAGES, "gpicview": "gpicview"}
WEB = "DesktopLookUp"

needs_shell = pytest.mark.skipif(
    any(shutil.which(name) is None for name in PROGRAMS), reason="the desktop is not installed"
)
needs_chromium = pytest.mark.skipif(
    shutil.which("chromium") is None, reason="Chromium is not installed"
)


def cases(*daily: str) -> list[Any]:
    """All tasks, those that are not `daily` for the night."""
    return [
        pytest.param(
            name,
            marks=[pytest.mark.nightly] * (name not in daily) + [needs_chromium] * (name == WEB),
        )
        for name in TASKS
    ]


@needs_shell
@pytest.mark.parametrize("name", cases("DesktopFindPicture"))
def test_the_oracle_reaches_the_goal_and_idleness_does_not(name: str, pool: DevicePool) -> None:
    with made(name, pool=pool) as env:
        first = env.reset(seed=1)[0]["screenshot"].tobytes()
        for action in ("wait(0.1)", "finish('failure')"):
            assert env.step(action)[4]["score"] == 0
        assert_solved(env, 1)
        assert env.reset(seed=1)[0]["screenshot"].tobytes() == first


@needs_shell
@pytest.mark.nightly
@pytest.mark.parametrize("name", cases())
def test_the_oracle_succeeds_on_several_seeds(name: str, pool: DevicePool) -> None:
    with made(name, pool=pool) as env:
        for seed in range(2, 10):
            assert_solved(env, seed)


@needs_shell
@pytest.mark.parametrize("name", cases("DesktopChangeDocument"))
def test_the_oracle_finds_its_way_on_another_screen_and_in_another_dialect(
    name: str, small: DevicePool
) -> None:
    with made(name, pool=small, viewport=(1024, 768), dialect="uitars") as env:
        assert_solved(env, 2)


@needs_shell
@pytest.mark.parametrize(
    ("name", "mistake"),
    [
        pytest.param(
            name, mistake,
            marks=[pytest.mark.nightly] * ((name, mistake) != ("DesktopDropFile", "place"))
            + [needs_chromium] * (name == WEB),
        )
        for name in TASKS
        for mistake in registry.spec(name).load().mistakes
    ],
)  # fmt: skip
def test_near_misses_are_no_success(name: str, mistake: str, pool: DevicePool) -> None:
    with made(name, pool=pool) as env:
        assert_near_miss(env, mistake)


@needs_shell
@pytest.mark.nightly
@pytest.mark.parametrize("name", cases())
def test_a_task_keeps_the_contract_of_all(name: str, pool: DevicePool) -> None:
    check_ui_env(name, seeds=range(1), pool=pool)


@needs_shell
def test_to_put_away_another_document_as_well_is_harm(pool: DevicePool) -> None:
    with made("DesktopDropFile", pool=pool) as env:
        env.reset(seed=0)
        device: Any = env.device
        params = env.task.draw(0, env.split)
        other = next(name for name in params.names if name != params.target)
        line = f"cd Desktop && mv '{params.target}' '{{}}' '{params.place}'"
        assert device.run(line.format(other)).code == 0
        info = env.step("wait(0.1)")[4]
        assert (info["score"], info["success"]) == (0, False)
        assert device.run(f"cd Desktop && mv '{params.place}/{other}' .").code == 0
        assert env.step("wait(0.1)")[4]["success"]


@needs_shell
def test_a_picture_that_was_copied_or_changed_is_not_as_asked(pool: DevicePool) -> None:
    with made("DesktopFindPicture", pool=pool) as env:
        env.reset(seed=0)
        device: Any = env.device
        params = env.task.draw(0, env.split)
        for line, score in (
            (f"cp '{params.source}' '{params.goes_to}'", 0),
            (f"rm '{params.source}'; echo >> '{params.goes_to}'", 0),
            (f"truncate -s -1 '{params.goes_to}'", 1),
        ):
            assert device.run(line).code == 0
            assert env.step("wait(0.1)")[4]["score"] == score, line


@needs_shell
@pytest.mark.nightly
def test_pictures_of_a_whole_episode_are_the_same_again(pool: DevicePool) -> None:
    with made("DesktopRestoreWindow", pool=pool) as env:
        seen: list[list[bytes]] = []
        for _ in range(2):
            observation, info = env.reset(seed=4, options={"oracle": True})
            shown = [observation["screenshot"].tobytes()]
            while not info["success"]:
                observation, *_, info = env.step(info["oracle"]["action_text"])
                shown.append(observation["screenshot"].tobytes())
            seen.append(shown)
        assert seen[0] == seen[1]
        assert play(env, 4)["success"]


# -- without a desktop --


def test_only_what_needs_a_browser_is_left_out_of_the_suite() -> None:
    extra = [name for name in TASKS if "extra" in registry.spec(name).tags]
    assert extra == [WEB]


def test_pictures_differ_and_show_as_many_shapes_as_they_say() -> None:
    for seed in range(20):
        drawn = drawings(np.random.default_rng(seed), 6)
        assert len({picture.words for picture in drawn}) == 6
        for picture in drawn:
            image = cv2.imdecode(np.frombuffer(picture.png(), np.uint8), cv2.IMREAD_COLOR)
            assert image is not None
            assert image.shape == (SIZE[1], SIZE[0], 3)
            painted = (image.min(axis=2) < 200).astype(np.uint8)
            assert cv2.connectedComponents(painted)[0] - 1 == picture.number, picture.words


def test_a_town_answers_each_question_with_another_value_and_links_its_pages() -> None:
    for seed in range(10):
        town = Town(seed)
        pages = town.files()
        for page, title in enumerate(re.findall(rb"<li><a href=\"\w+.html\">(.*?)</a>",
                                                pages["index.html"])):  # fmt: skip
            assert town.title(page).startswith(title.decode())
            for column in range(columns(page)):
                asked = [Enquiry(page, row, column) for row in range(ROWS)]
                assert len({town.answer(one) for one in asked}) == ROWS
                assert len({town.asks(one) for one in asked}) == ROWS
        for path, text in pages.items():
            for link in re.findall(rb'href="(.*?)"', text):
                assert link.decode() in pages, (path, link)
        assert pages == Town(seed).files()
