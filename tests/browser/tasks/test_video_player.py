"""VideoPlayer's logic, and its page's clock."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from task_helpers import draws, goals, judge, levels, perform, verdicts

from ui_gym.browser.content.films import FILMS, clock
from ui_gym.browser.tasks.video_player import VideoPlayer, VideoPlayerParams
from ui_gym.contract.action import Drag, Press, Wait
from ui_gym.errors import UserError

# It plays at 0:20 without subtitles, at 1x, at 50 %; asked for: paused at 2:30, in German.
FILM = VideoPlayerParams(
    film=0, chapters=(0, 60, 120), length=200, start=20, started=True, starts=(0, 2, 5),
    chapter=None, offset=150, playing=False, asked=(2, 2, 5), place=0, theme=0, phrasing=0,
)  # fmt: skip


def share(at: float, *values: int, playing: bool = False) -> Any:
    return ("share", {"at": at, "playing": playing, "values": list(values)})


test_video_player_scores = verdicts(
    VideoPlayer(slack=3),
    FILM,
    {
        "right": (share(150.4, 2, 2, 5), 1.0, True, "all is as asked"),
        "a little late": (share(153.9, 2, 2, 5), 1.0, True),
        "too late": (share(154.0, 2, 2, 5), 2 / 3, True, "it is at 2:34, not 2:30"),
        "too early": (share(146.9, 2, 2, 5), 2 / 3, True),
        "still playing": (share(150, 2, 2, 5, playing=True), 2 / 3, True, "it is playing"),
        "another language": (share(150, 3, 2, 5), 2 / 3, True,
            "subtitles is Spanish, not German"),
        "something else too": (share(150, 2, 3, 5), 2 / 3, True),
        "nothing": (share(20, 0, 2, 5, playing=True), 0.0, True),
        "only other things": (share(20, 0, 3, 4, playing=True), 0.0, True),
        "too often": (share(20, 2, 2, 5), share(150, 2, 2, 5), 2 / 3, True),
    },
)  # fmt: skip


def test_video_player_goals_say_the_place() -> None:
    assert VideoPlayer().goal(FILM) == (
        "Have the film paused at 2:30, with German subtitles; then press Share."
    )
    into = dataclasses.replace(FILM, chapter=1, offset=30, asked=(0, 5, 0), playing=True)
    assert into.target == 90
    assert VideoPlayer().goal(into) == (
        'Have the film playing 30 seconds into the chapter "High water", with the speed at 2× and '
        "the volume at 0 %; then press Share."
    )


@levels(VideoPlayer)
def test_video_player_goals_ask_for_a_change_of_place_and_settings(task: Any) -> None:
    kinds = set()
    for params, goal in goals(task):
        kinds.add((params.chapter is None, params.offset > 0))
        assert len(params.changed) == task.changes
        assert 0 <= params.target < params.length
        assert abs(params.target - params.start) > 2 * task.slack
        if params.chapter is None:
            assert f"at {clock(params.target)}" in goal
        else:
            assert f'"{FILMS[params.film].chapters[params.chapter]}"' in goal
            later = [*params.chapters, params.length][params.chapter + 1]
            assert params.target + task.slack < later
    assert kinds == ({(False, True)} if task.sums else {(True, True), (False, False)})


@levels(VideoPlayer)
def test_video_player_mistakes(task: Any) -> None:
    rng = np.random.default_rng(0)
    for params in draws(task):
        for mistake in task.mistakes:
            believed = task.misread(params, mistake, rng)
            shared = share(believed.target, *believed.asked, playing=believed.playing)
            assert not judge(task, params, shared).success, mistake
        shared = share(params.target, *params.asked, playing=params.playing)
        assert judge(task, params, shared).success


def test_video_player_arguments() -> None:
    with pytest.raises(UserError, match="slack is 2 to 10, not 1"):
        VideoPlayer(slack=1)
    with pytest.raises(UserError, match="slack and sums are 0"):
        VideoPlayer(compact=True, slack=2)


def test_video_player_plays_in_virtual_time(make_device: Any) -> None:
    device = make_device((1280, 800))
    VideoPlayer().setup(device, dataclasses.replace(FILM, starts=(0, 5, 5)))  # at 2x
    before = device.state()["at"]
    after = perform(device, Wait(3.0))["at"]
    assert after - before == pytest.approx(6.0, abs=0.3)
    left, top, width, height = device.box("#seek .rail")
    x, y = device.center("#seek .thumb")
    end = Drag(x, y, round(left + width) - 1, round(top + height / 2))
    state = perform(device, end, Wait(2.0))
    assert (state["at"], state["playing"]) == (200, False)
    assert perform(device, Press("left"))["at"] == 195
    state = perform(device, Wait(2.0))
    assert (state["at"], device.events) == (195, ())


def test_video_player_compact_seeks_whole_seconds(make_device: Any) -> None:
    task, device = VideoPlayer(compact=True), make_device((320, 256))
    params = next(p for p in draws(task) if not p.started)
    task.setup(device, params)
    left, _, width, _ = device.box("#seek .rail")
    x, y = device.center("#seek .thumb")
    for second in range(12):
        for off in (-6, 6):
            state = perform(device, Drag(x, y, round(left + second * width / 11) + off, y))
            assert state["at"] == second
            x = device.center("#seek .thumb")[0]
