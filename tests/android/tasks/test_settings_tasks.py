"""Tasks about switches, the screen, the sound, the network: what their phones tell in the end."""

from __future__ import annotations

import pytest

from tests.android.tasks.android_episodes import SEEDS, first_pictures, made, shell
from ui_gym.errors import UserError

VERIFIED = (
    "AndroidWifiVerify", "AndroidBluetoothVerify", "AndroidDarkThemeVerify",
    "AndroidBrightnessVerify",
)  # fmt: skip


def test_first_screens_differ_between_episodes() -> None:
    pictures = first_pictures("AndroidWifi", SEEDS[:8])
    assert len({picture.tobytes() for picture in pictures}) >= 6


@pytest.mark.parametrize("name", VERIFIED)
def test_who_finishes_at_once_has_verified_nothing(name: str) -> None:
    with made(name) as env:
        for seed in SEEDS[:6]:
            for said in ("finish('success')", "answer('on')"):
                env.reset(seed=seed)
                _, reward, terminated, _, _ = env.step(said)
                assert (reward, terminated) == (0.0, True)


@pytest.mark.parametrize("name", VERIFIED)
def test_what_is_so_already_is_sometimes_one_thing_and_sometimes_the_other(name: str) -> None:
    with made(name) as env:
        assert {env.task.draw(seed).wrong for seed in SEEDS} == {env.task.thing, env.task.partner}


def test_a_thing_that_was_so_may_not_be_changed() -> None:
    with made("AndroidWifiVerify", to="on") as env:
        seed = next(s for s in SEEDS if env.task.draw(s, "train").wrong == "bluetooth")
        env.reset(seed=seed)
        on = dict(env.task.draw(seed, "train").things)["bluetooth"]
        shell(env, "svc wifi disable")
        shell(env, f"svc bluetooth {'enable' if on else 'disable'}")
        assert not env.step("wait(1)")[4]["success"]
        shell(env, "svc wifi enable")
        assert env.step("wait(1)")[4]["success"]


@pytest.mark.parametrize("behind_adb", [False, True], ids=("here", "wired"))
def test_two_switches_in_the_wrong_order_are_half_of_what_was_asked(
    behind_adb: bool, wired: str
) -> None:
    with made("AndroidWifiOffBluetoothOn", device=wired if behind_adb else "phone") as env:
        env.reset(seed=2)
        shell(env, "svc bluetooth enable")
        shell(env, "svc wifi disable")
        _, _, terminated, _, info = env.step("wait(1)")
        assert (info["score"], terminated) == (0.5, False)
        assert info["notes"] == "both are as asked, in the wrong order"
        shell(env, "svc bluetooth disable; svc bluetooth enable")
        assert env.step("wait(1)")[4]["success"]


def test_half_of_two_parts_is_half_the_score() -> None:
    with made("AndroidWifiOffBluetoothOn") as env:
        env.reset(seed=2)
        shell(env, "svc wifi disable")
        _, _, terminated, _, info = env.step("wait(1)")
        assert (info["score"], info["success"], terminated) == (0.5, False, False)


def test_airplane_mode_does_not_count_for_wifi_that_is_off() -> None:
    with made("AndroidWifi", to="off") as env:
        env.reset(seed=3)
        assert "airplane" not in env.task.draw(3, env.split).scenery.on
        shell(env, "cmd connectivity airplane-mode enable")
        assert not env.step("wait(1)")[4]["success"]
        shell(env, "svc wifi disable")
        info = env.step("wait(1)")[4]
        assert info["details"]["harm"][0] == "setting global airplane_mode_on: 0, now 1"
        shell(env, "cmd connectivity airplane-mode disable")
        assert env.step("wait(1)")[4]["success"]


@pytest.mark.parametrize(
    ("line", "score"),
    [("answer('{right}%')", 1), ("answer('It is at {right} percent.')", 1),
     ("answer('{right}')", 1),
     ("finish('success', 'The brightness is {right}%')", 1), ("answer('{wrong}%')", 0),
     ("answer('{right}% or {wrong}%')", 0), ("answer('')", 0), ("answer('quite bright')", 0)],
)  # fmt: skip
def test_a_percentage_is_read_leniently_but_not_loosely(line: str, score: int) -> None:
    with made("AndroidBrightnessRead") as env:
        _, info = env.reset(seed=4, options={"ground_truth": True})
        right = round(100 * info["ground_truth"].params["level"] / 255)
        _, reward, terminated, _, _ = env.step(line.format(right=right, wrong=right + 1))
        assert (reward, terminated) == (score, True)


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [("AndroidWifi", {"to": "up"}, "AndroidWifi: to is 'on' or 'off', not 'up'"),
     ("AndroidBrightness", {"to": "half"}, "to is 'max' or 'min', not 'half'"),
     ("AndroidMediaVolume", {"to": "min"}, "to is 'max' or 'mute', not 'min'"),
     ("AndroidScreenTimeout", {"to": "3 minutes"}, "to is one of 15 seconds, 30 seconds, ")],
)  # fmt: skip
def test_a_wrong_argument_is_named(name: str, arguments: dict[str, str], told: str) -> None:
    with pytest.raises(UserError, match=told), made(name, **arguments):
        pass


@pytest.mark.parametrize(
    ("name", "to"), [("AndroidWifi", "off"), ("AndroidDarkTheme", "on"), ("AndroidAirplane", "off")]
)
def test_what_is_asked_for_can_be_fixed(name: str, to: str) -> None:
    with made(name, to=to) as env:
        drawn = {env.task.draw(seed).on for seed in range(20)}
    assert drawn == {to == "on"}
