"""Tasks with the calculator: what counts as done."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from desktop_episodes import made, play

from ui_gym.contract.device import DevicePool
from ui_gym.desktop.content import sums
from ui_gym.desktop.content.sums import Sum

TASKS = ("DesktopCalculate", "DesktopOrderTotal")


@pytest.mark.parametrize("name", TASKS)
def test_what_is_not_saved_does_not_count(name: str, pool: DevicePool) -> None:
    with made(name, pool=pool) as env:
        assert not play(env, 0, without="ctrl+s")["success"]


@pytest.mark.parametrize(
    ("sum", "value"),
    [
        (Sum(("2", "3", "4"), ("+", "*"), grouped=False), 14),
        (Sum(("2", "3", "4"), ("+", "*"), grouped=True), 20),
        (Sum(("9", "8", "4"), ("-", "/"), grouped=False), 7),
        (Sum(("1.5", "0.5", "4"), ("-", "/"), grouped=True), Fraction(1, 4)),
    ],
    ids=str,
)
def test_sums_have_their_value(sum: Sum, value: Fraction) -> None:
    assert sum.value == value


def test_brackets_matter_in_every_sum_that_is_drawn() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        drawn = sums.draw(rng)
        assert Sum(drawn.numbers, drawn.operators, not drawn.grouped).value != drawn.value


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("2.5", True),
        (" 2.50\n", True),
        ("2,5", False),
        ("2.5 = x", False),
        ("", False),
        ("5/2", False),
        ("25e-1", False),
        ("1,000", False),
        ("\u0662.5", False),
    ],
)
def test_a_number_and_nothing_else_is_the_number(text: str, right: bool) -> None:
    assert sums.is_number(text, Fraction(5, 2)) == right
