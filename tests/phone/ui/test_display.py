"""The screen is laid out as it is turned, and as `wm` says; what is observed keeps its size."""

from __future__ import annotations

import contextlib
import re

import numpy as np
import pytest
from hands import CAMERA, GESTURES, SETTINGS, SIDEWAYS, Hand, differs

from ui_gym.android.adb.screencap import decode
from ui_gym.errors import ActionError
from ui_gym.playing.env import UIEnv

AUTO = "settings put system accelerometer_rotation 1"
SMALLER = "settings put global display_size_forced 720,1280"
DENSER = "settings put secure display_density_forced 320"


def size_of(hand: Hand) -> tuple[int, int]:
    width, height, rgba = hand.handset.pixels()
    assert len(rgba) == 4 * width * height
    return width, height


def test_a_turned_screen_is_wide_and_apps_are_laid_out_anew():
    hand = Hand(SETTINGS)
    assert size_of(hand) == (1080, 2400)
    hand.shell(SIDEWAYS)
    assert size_of(hand) == (2400, 1080)
    nodes = list(hand.nodes())
    assert nodes[0]["bounds"] == "[0,0][2400,1080]"
    assert '<hierarchy rotation="1">' in hand.device.ui_tree()
    assert max(int(n["bounds"].split("][")[1].split(",")[0]) for n in nodes[1:]) > 2000
    hand.shell("settings put system user_rotation 0")
    assert size_of(hand) == (1080, 2400)


def test_auto_rotate_and_the_home_screen_stay_upright():
    hand = Hand(SIDEWAYS)
    assert size_of(hand) == (1080, 2400)  # home
    hand.shell(SETTINGS)
    assert size_of(hand) == (2400, 1080)
    hand.do('press("recents")')
    assert size_of(hand) == (1080, 2400)
    hand.do('press("recents")')
    hand.shell(AUTO)
    assert size_of(hand) == (1080, 2400)


@pytest.mark.parametrize(("turn", "side"), [("1", "right"), ("3", "left")])
def test_the_buttons_stay_at_the_phone_s_lower_end(turn, side):
    hand = Hand(f"settings put system user_rotation {turn}", SETTINGS)
    texts = [node for node in hand.nodes() if node["text"]]
    lefts = [int(node["bounds"].strip("[").split(",")[0]) for node in texts]
    bar = 44 * 3
    assert min(lefts) >= bar if side == "left" else min(lefts) < bar
    x = 2400 - bar // 2 if side == "right" else bar // 2
    hand.shell(f"input tap {x} 540")  # the one in the middle
    assert hand.handset.phone.at_home


def test_the_picture_of_a_turned_screen_keeps_its_shape_and_can_be_touched():
    hand = Hand(SETTINGS)
    upright = hand.picture
    hand.shell(SIDEWAYS)
    turned = hand.picture
    assert turned.shape == upright.shape
    rows = np.flatnonzero(turned.any(axis=(1, 2)))
    assert 240 <= rows[-1] - rows[0] <= 243  # 540 x 243 in the middle
    assert abs((rows[0] + rows[-1]) / 2 - 600) < 2
    hand.tap("Network & internet")
    assert hand.activity.endswith("NetworkDashboardActivity")
    with pytest.raises(ActionError, match=r"\(270, 30\) lies beside the screen"):
        hand.do("click(270, 30)")


def test_a_turned_screen_is_scrolled_by_what_is_asked():
    hand = Hand(SIDEWAYS, SETTINGS)
    _, before = hand.at("Apps")
    hand.do("scroll(200, 650, dy=40)")
    assert before - hand.at("Apps")[1] == pytest.approx(40, abs=1)


def test_a_screencap_is_as_large_as_the_screen_is_now():
    hand = Hand(SIDEWAYS, SETTINGS)
    _, size = decode(hand.device.shell("screencap").stdout, (540, 1200))
    assert size == (2400, 1080)


def test_the_camera_has_its_shutter_beside_what_it_sees():
    hand = Hand(SIDEWAYS, CAMERA)
    preview, shutter = hand.at("Camera preview"), hand.at("Shutter")
    assert shutter[0] > preview[0] + 100


def test_forced_sizes_and_densities_are_laid_out():
    hand = Hand(SETTINGS, DENSER)
    assert size_of(hand) == (1080, 2400)
    assert any(name.startswith("About phone") for name in hand.seen)  # more of the list fits
    before = hand.picture
    hand.shell(SMALLER)
    assert size_of(hand) == (720, 1280)
    assert hand.picture.shape == before.shape
    hand.shell("settings delete global display_size_forced")
    assert differs(hand.picture, before) == 0
    hand.tap("Apps")
    assert hand.activity.endswith("AppDashboardActivity")


@pytest.mark.parametrize(
    "line",
    ["settings put global display_size_forced 1,1", "settings put global display_size_forced no",
     "settings put secure display_density_forced 7", "settings put system user_rotation 9",
     "setprop ro.sf.lcd_density 0", "settings put secure ui_gym_columns 1",
     "settings put secure ui_gym_columns no"],
)  # fmt: skip
def test_what_no_screen_can_be_changes_nothing(line):
    hand = Hand(SETTINGS)
    before = hand.picture
    hand.device.shell(line)
    assert size_of(hand) == (1080, 2400)
    assert differs(hand.picture, before) == 0


def test_a_grid_lays_all_out_in_whole_cells():
    hand = Hand(SETTINGS)
    before, cell = hand.picture, 1080 // 8

    def edges() -> set[int]:
        """Where things end, within their cells; the last one may be cut by the screen's end."""
        ends = [int(y) for n in hand.nodes() for y in re.findall(r",(\d+)\]", n["bounds"])]
        assert len(ends) > 20
        return {end % cell for end in ends} - {2400 % cell}

    assert edges() != {0}
    hand.shell("settings put secure ui_gym_columns 8")
    assert edges() == {0}
    names = hand.seen
    hand.do("scroll(270, 600, dy=100)")  # rows come to rest where cells are
    assert hand.seen != names
    assert edges() == {0}
    hand.do("scroll(270, 600, dy=-400)")
    hand.shell("settings delete secure ui_gym_columns")
    assert differs(hand.picture, before) == 0


def test_an_env_s_observation_stays_in_its_space_as_the_phone_turns():
    with contextlib.closing(UIEnv("AndroidWifi", device="phone")) as env:
        env.reset(seed=0)
        env.device.shell(SIDEWAYS)
        observation, *_ = env.step('open("Calculator")')
        assert env.observation_space.contains(observation)
        assert not observation["screenshot"][0].any()  # a black bar
        observation, *_, info = env.step("click(270, 10)")
        assert info["action_error"] == "runtime"
        assert "beside the screen" in observation["feedback"]


def test_three_buttons_are_the_default_and_gestures_leave_more_room():
    buttons, gestures = Hand(SETTINGS), Hand(GESTURES, SETTINGS)
    assert differs(buttons.picture, Hand(SETTINGS).picture) == 0
    assert differs(buttons.picture[:1100], gestures.picture[:1100]) < 0.01
    assert differs(buttons.picture[1100:], gestures.picture[1100:]) > 0
