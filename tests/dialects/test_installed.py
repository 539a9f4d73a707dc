"""Dialects that other distributions bring, by the entry-point group `ui_gym.dialects`."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from paint import PaintClick

from tests.distributions import install
from ui_gym import dialects
from ui_gym.contract.action import Click
from ui_gym.dialects import get_dialect
from ui_gym.errors import UserError
from ui_gym.playing.env import UIEnv

MODULE = """
from ui_gym.dialects.canonical import Canonical

class Shouted(Canonical):
    name = "shouted"

    def parse(self, text, size, seen=()):
        return super().parse(text.lower(), size)

    def render(self, actions, size, thought=""):
        return super().render(actions, size, thought).upper()

nothing = 3
"""

ENTRY_POINTS = """
[ui_gym.dialects]
shouted = ui_gym_shouting:Shouted
another-name = ui_gym_shouting:Shouted
canonical = ui_gym_shouting:Shouted
broken = ui_gym_shouting:NoSuchName
lost = no_such_package:Lost
nothing = ui_gym_shouting:nothing
"""


@pytest.fixture(autouse=True)
def _shouting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    install(tmp_path, "ui-gym-shouting", "1.2", ENTRY_POINTS, ui_gym_shouting=MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("ui_gym_shouting", None)
    get_dialect.cache_clear()


def test_an_installed_dialect_is_found_by_its_name_and_played_in() -> None:
    assert "ui_gym_shouting" not in sys.modules
    shouted = get_dialect("shouted")
    assert get_dialect("shouted") is shouted
    assert shouted.render([Click(3, 4)], (9, 9)) == "CLICK(3, 4)"
    with contextlib.closing(UIEnv(PaintClick(), dialect="shouted")) as env:
        env.reset(seed=0)
        observation, *_ = env.step("CLICK(3, 4)")
        assert observation["feedback"] == ""
        assert env.action_space.sample().isupper()


def test_the_name_of_a_built_in_dialect_cannot_be_taken() -> None:
    assert type(get_dialect("canonical")).__module__ == "ui_gym.dialects.canonical"
    assert "shouted" not in dialects.DIALECTS


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("shuted", r"there is no dialect 'shuted'. Did you mean 'shouted'"),
        ("broken", r"the dialect 'broken' \(ui-gym-shouting 1.2\) cannot be imported"),
        ("lost", "ModuleNotFoundError: No module named 'no_such_package'"),
        ("nothing", "is 3, and no Dialect whose `name` is 'nothing'"),
        ("another-name", "no Dialect whose `name` is 'another-name'"),
    ],
)
def test_what_is_no_dialect_is_told_at_once(name: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        get_dialect(name)
