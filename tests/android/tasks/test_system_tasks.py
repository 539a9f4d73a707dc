"""Tasks about apps, notifications and getting about: what their phones tell in the end."""

from __future__ import annotations

import pytest

from tests.android.tasks.android_episodes import assert_solved, made, shell
from ui_gym.android.content.apps import BUILT_IN, PAGES, THIRD_PARTY, packages_of
from ui_gym.errors import UserError
from ui_gym_phone.factory import factory_phone
from ui_gym_phone.state.packages import PERMISSIONS


@pytest.mark.parametrize("page", list(PAGES))
def test_every_page_of_settings_is_found(page: str) -> None:
    assert_solved("AndroidOpenSettingsPage", [0], page=page)


@pytest.mark.parametrize("app", [*BUILT_IN, *THIRD_PARTY])
def test_every_app_is_found(app: str) -> None:
    assert_solved("AndroidOpenApp", [0], app=app)


def test_the_apps_are_those_of_the_built_in_phone() -> None:
    packages = factory_phone().packages
    for label, (name, permissions) in THIRD_PARTY.items():
        package = packages[name]
        assert (package.label, package.system) == (label, False)
        asked = {constant: PERMISSIONS[constant] for constant in package.permissions}
        assert asked == {**dict(permissions), "POST_NOTIFICATIONS": "Notifications"}
    assert len(THIRD_PARTY) == sum(not p.system for p in packages)
    for label in BUILT_IN:
        assert any(p in packages and packages[p].label == label for p in packages_of(label))


def test_an_app_that_is_uninstalled_beside_it_spoils_it() -> None:
    with made("AndroidUninstall", app="Chess") as env:
        env.reset(seed=1)
        shell(env, "pm uninstall com.example.transit")
        shell(env, "pm uninstall com.example.chess")
        assert not env.step("wait(1)")[4]["success"]


def test_clearing_all_data_is_not_clearing_the_cache() -> None:
    with made("AndroidClearCache", app="Podium") as env:
        env.reset(seed=1)
        shell(env, "pm clear com.example.podium")
        assert not env.step("wait(1)")[4]["success"]


def test_recent_apps_are_not_the_home_screen() -> None:
    with made("AndroidGoHome") as env:
        env.reset(seed=1)
        env.step("press('recents')")
        assert not env.step("wait(1)")[4]["success"]


def test_the_quick_settings_are_the_shade_too() -> None:
    with made("AndroidNotificationShade") as env:
        env.reset(seed=1)
        shell(env, "cmd statusbar expand-settings")
        assert env.step("wait(1)")[4]["success"]


@pytest.mark.parametrize(
    ("line", "score"),
    [("answer('{mb:.1f} MB')", 1), ("answer('It takes {mb:.0f} MB.')", 1),
     ("answer('{mb:.1f}')", 1),
     ("finish('success', 'It uses {mb:.1f}MB')", 1), ("answer('{kb:.0f} kB')", 1),
     ("answer('{mb:.1f} GB')", 0), ("answer('{less:.1f} MB')", 0),
     ("answer('between {less:.1f} MB and {mb:.1f} MB')", 0), ("answer('much')", 0)],
)  # fmt: skip
def test_a_size_is_read_leniently_but_not_loosely(line: str, score: int) -> None:
    with made("AndroidAppStorage", app="Chatterly", part="Total") as env:
        env.reset(seed=5)
        size = 196_000_000  # of the app, its data and its cache, as it leaves the factory
        said = line.format(mb=size / 1e6, kb=size / 1e3, less=size / 1e6 - 2)
        _, reward, terminated, _, _ = env.step(said)
        assert (reward, terminated) == (score, True)


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [("AndroidUninstall", {"app": "Ches"}, "no app 'Ches'. Did you mean 'Chess'"),
     ("AndroidOpenApp", {"app": "Clok"}, "no app 'Clok'. Did you mean 'Clock'"),
     ("AndroidOpenSettingsPage", {"page": "Wifi"}, "no page 'Wifi'. Did you mean 'Wi-Fi'"),
     ("AndroidPermission", {"to": "no"}, "to is 'deny' or 'allow', not 'no'"),
     ("AndroidAppStorage", {"part": "Caches"}, "no part 'Caches'. Did you mean 'Cache'")],
)  # fmt: skip
def test_a_wrong_argument_is_named(name: str, arguments: dict[str, str], told: str) -> None:
    with pytest.raises(UserError, match=told), made(name, **arguments):
        pass
