"""Swipes, flings, pinches and quick taps, and the gestures that stand for three buttons."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hands import CAMERA, GESTURES, SETTINGS, SIDEWAYS, Hand, differs

from ui_gym.errors import ActionError
from ui_gym_phone.ui.touch import fling, travelled

SCREEN = "/dev/input/event1"
HOME, HELD = "drag(270, 1195, 270, 700, seconds=0.2)", "drag(270, 1195, 270, 700, seconds=0.9)"


# -- gesture navigation --


def test_gestures_are_chosen_in_settings_and_buttons_again():
    hand = Hand("am start -n com.android.settings/.Settings\\$SystemDashboardActivity")
    hand.tap("Gestures", "System navigation", "Gesture navigation")
    assert hand.shell("settings get secure navigation_mode") == "2"
    hand.do("click(270, 1178)")  # where the home button was
    assert not hand.handset.phone.at_home
    hand.tap("3-button navigation")
    hand.do("click(270, 1178)")
    assert hand.handset.phone.at_home


def test_a_swipe_up_from_the_bottom_goes_home_and_one_that_is_held_to_the_overview():
    hand = Hand(GESTURES, SETTINGS)
    hand.do(HELD)
    assert hand.handset.phone.recents
    hand.tap("Settings")
    assert hand.package == "com.android.settings"
    hand.do(HOME)
    assert hand.handset.phone.at_home
    assert "Search apps" not in hand.seen  # the swipe is the system's, not the launcher's


@pytest.mark.parametrize("swipe", ["drag(1, 600, 200, 610)", "drag(538, 600, 300, 610)"])
def test_a_swipe_inward_from_an_edge_goes_back(swipe):
    hand = Hand(GESTURES, SETTINGS)
    hand.tap("Apps")
    hand.do(swipe)
    assert hand.activity == ".Settings"


def test_an_edge_is_touched_and_scrolled_as_any_other_place():
    hand = Hand(GESTURES, SETTINGS)
    _, before = hand.at("Apps")
    hand.do("drag(3, 900, 3, 700)")
    assert hand.at("Apps")[1] < before - 150
    hand.do(f"click(3, {hand.at('Apps')[1]})")
    assert hand.activity.endswith("AppDashboardActivity")


def test_a_swipe_along_the_line_shows_the_app_used_before():
    hand = Hand(GESTURES, SETTINGS, CAMERA)
    hand.do("drag(150, 1190, 400, 1190)")
    assert hand.package == "com.android.settings"


def test_with_buttons_no_edge_is_special():
    hand = Hand(SETTINGS)
    hand.tap("Apps")
    hand.do("drag(1, 600, 200, 610)")
    assert hand.activity.endswith("AppDashboardActivity")


def test_gestures_work_on_a_turned_screen_and_over_the_shade():
    hand = Hand(GESTURES, SIDEWAYS, SETTINGS)
    hand.shell("input swipe 3 500 700 500; cmd statusbar expand-notifications")
    assert hand.handset.phone.at_home  # back from the first page
    hand.shell("input swipe 3 500 700 500")
    assert not hand.handset.phone.shade
    hand.shell(SETTINGS)
    hand.shell("input swipe 1200 1075 1200 400 200")
    assert hand.handset.phone.at_home


# -- flings --


def test_a_fast_swipe_goes_on_by_its_speed_and_a_slow_one_does_not():
    slow, fast, faster = Hand(SETTINGS), Hand(SETTINGS), Hand(SETTINGS)
    slow.do("drag(270, 900, 270, 800, seconds=0.3)")
    fast.do("drag(270, 900, 270, 800, seconds=0.15)")
    faster.do("drag(270, 900, 270, 800, seconds=0.1)")
    for hand in (slow, fast, faster):
        hand.do("wait(5)")
    ways = [y_of(hand) for hand in (slow, fast, faster)]
    assert ways[0] > ways[1] + 50 > ways[2] + 100


def y_of(hand: Hand, name: str = "Battery") -> int:
    """Where a row is; far up, where it has left the screen."""
    found = [e.center[1] for e in hand.device.elements() if e.name.startswith(name)]
    return found[0] if found else -10_000


def test_a_fling_is_the_same_every_time_and_moves_as_time_passes():
    line = "input swipe 500 2000 500 1500 40"
    one, other = Hand(LONG), Hand(LONG)
    for hand in (one, other):
        hand.tap("Download")
        hand.shell(line)
    assert differs(one.picture, other.picture) == 0
    moving = one.picture
    one.do("wait(0.3)")
    assert differs(one.picture, moving) > 0
    one.do("wait(20)")
    rest = one.picture
    one.do("wait(1)")
    assert differs(one.picture[60:], rest[60:]) == 0


LONG = (
    "for i in $(seq 60); do touch /sdcard/Download/f$i.txt; done; "
    "am start -a android.intent.action.VIEW -d "
    "content://com.android.externalstorage.documents/document/primary:Download"
)


def test_a_touch_stops_what_moves_and_opens_nothing():
    hand = Hand(LONG)
    hand.tap("Download")
    hand.shell("input swipe 500 2000 500 1500 40")
    shown = hand.handset.phone.activity.cls
    hand.shell("input tap 500 1200")
    stopped = hand.picture
    hand.do("wait(2)")
    assert differs(hand.picture[60:], stopped[60:]) == 0
    assert hand.activity == shown


def test_a_finger_that_is_told_of_event_by_event_moves_what_it_says():
    hand = Hand(SETTINGS)
    before = y_of(hand)
    for kind, y in (("DOWN", 1800), ("MOVE", 1600), ("UP", 1400)):
        hand.shell(f"input motionevent {kind} 540 {y}")
    assert before - y_of(hand) == pytest.approx(200, abs=1)  # pixels of the picture


def test_the_way_of_a_fling_grows_with_its_speed_and_slows_down():
    far = [fling(speed, 3)[0] for speed in (100, 1000, 5000, 20_000, 10**9)]
    assert far[0] == 0
    assert far[1] < far[2] < far[3] <= far[4] < 40_000
    assert fling(-5000, 3)[0] == -far[2]
    shares = [travelled(i / 10) for i in range(11)]
    steps = [b - a for a, b in pairwise(shares)]
    assert shares[0] == pytest.approx(0, abs=1e-6)
    assert shares[-1] == 1
    assert steps == sorted(steps, reverse=True)


# -- pictures --


@pytest.fixture
def photo() -> Hand:
    hand = Hand(CAMERA)
    hand.tap("Shutter", "Most recent photo")
    return hand


def events(*told: tuple[int, int, int]) -> str:
    return "; ".join(f"sendevent {SCREEN} {type} {code} {value}" for type, code, value in told)


def fingers(*ways: tuple[int, int, int, int]) -> str:
    """Fingers that go from one point to another together, as the kernel tells it."""
    slot, id_, x, y, report = 0x2F, 0x39, 0x35, 0x36, (0, 0, 0)
    down = [e for i, (x1, y1, _, _) in enumerate(ways)
            for e in ((3, slot, i), (3, id_, i), (3, x, x1), (3, y, y1))]  # fmt: skip
    move = [e for i, (_, _, x2, y2) in enumerate(ways)
            for e in ((3, slot, i), (3, x, x2), (3, y, y2))]  # fmt: skip
    up = [e for i in range(len(ways)) for e in ((3, slot, i), (3, id_, -1))]
    return events(*down, report, *move, report, *up, report)


def test_two_fingers_zoom_a_photo_and_one_moves_it(photo):
    whole = photo.picture
    photo.shell(fingers((440, 1200, 240, 1200), (640, 1200, 840, 1200)))
    near = photo.picture
    assert differs(near, whole) > 0.2
    photo.do("drag(270, 600, 370, 600)")
    assert differs(photo.picture, near) > 0.05
    photo.shell(fingers((100, 1200, 500, 1200), (980, 1200, 580, 1200)))
    assert differs(photo.picture, whole) == 0


def test_two_quick_taps_zoom_in_and_out(photo):
    whole = photo.picture
    photo.do("click(200, 500, count=2)")
    assert differs(photo.picture, whole) > 0.2
    photo.do("click(200, 500, count=2)")
    assert differs(photo.picture, whole) == 0
    photo.do("click(200, 500); wait(1); click(200, 500)")
    assert differs(photo.picture, whole) == 0


def test_a_photo_of_storage_is_zoomed_as_well():
    hand = Hand(CAMERA)
    hand.tap("Shutter")
    name = hand.shell("ls /sdcard/DCIM/Camera")
    hand.shell(f"am start -a android.intent.action.VIEW -d file:///sdcard/DCIM/Camera/{name} "
               "-t image/jpeg")  # fmt: skip
    before = hand.picture
    hand.do("click(270, 600, count=2)")
    assert differs(hand.picture, before) > 0.2


def test_one_finger_of_the_touch_screen_taps_holds_and_swipes():
    hand = Hand(SETTINGS)
    hand.shell(fingers((500, 1800, 500, 1300)))
    assert y_of(hand, "Apps") < 400
    x, y = hand.at("Battery")
    hand.shell(fingers((2 * x, 2 * y, 2 * x, 2 * y)))
    assert hand.activity.endswith("PowerUsageSummaryActivity")


def test_a_turned_touch_screen_has_its_own_points():
    hand = Hand(SIDEWAYS, SETTINGS)
    # "Apps" lies around (600, 950) of the turned screen: (1080 - 950, 600) of the panel.
    hand.shell(fingers((1080 - 950, 600, 1080 - 950, 600)))
    assert hand.activity.endswith("AppDashboardActivity")


# -- the overview --


def test_recents_show_pictures_that_are_opened_swiped_aside_and_away():
    hand = Hand(SETTINGS, "am start -n com.android.calculator2/.Calculator")
    hand.tap("7", "8")
    calculator = hand.picture
    hand.do('press("recents")')
    card = hand.picture[180:960, 100:440]
    assert len(np_colours(card)) > 20  # a picture, not a plain card
    assert np_colours(card) & np_colours(calculator[400:])
    x, _ = hand.at("Calculator")
    hand.do("drag(150, 600, 450, 600)")
    assert hand.at("Calculator")[0] > x
    hand.tap("Settings")
    assert hand.package == "com.android.settings"
    hand.do('press("recents")')
    hand.drag("Settings", 0, -400)
    assert [task.package for task in hand.handset.phone.tasks] == ["com.android.calculator2"]
    hand.tap("Calculator app info")
    assert hand.activity.endswith("AppInfoActivity")


def np_colours(picture) -> set[tuple[int, ...]]:
    return {tuple(colour) for colour in picture.reshape(-1, 3)[::7].tolist()}


def test_looking_at_recents_changes_nothing():
    hand = Hand("am start -a android.intent.action.SENDTO -d sms:5550142")
    hand.do('press("home")')
    hand.handset.phone.notifications = []
    hand.shell("content insert --uri content://sms --bind address:s:5550142 --bind body:s:Hi "
               "--bind type:i:1 --bind read:i:0")  # fmt: skip
    hand.do('press("recents")')
    assert hand.picture.any()
    said = hand.shell("content query --uri content://sms --projection read")
    assert "read=0" in said


# -- typing --


def test_typing_without_a_field_is_the_agent_s_mistake():
    hand = Hand(SETTINGS)
    with pytest.raises(ActionError, match="no text field has the caret; click one first"):
        hand.do('type("lost")')
    hand.tap("Search settings")
    hand.do('type("wifi")')
    assert "Use Wi-Fi" in " ".join(hand.seen)
