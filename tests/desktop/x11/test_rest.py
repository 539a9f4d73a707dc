"""When a desktop is at rest: whatever is painted later is waited for, however busy the machine."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import pytest

from ui_gym.contract.action import Action, Move, Press, Type, Wait
from ui_gym.contract.device import Image
from ui_gym.desktop.device import SessionSpec
from ui_gym.desktop.x11 import supervisor
from ui_gym.desktop.x11.device import X11Device
from ui_gym.desktop.x11.rest import Rest, Threads

ASLEEP = ("S", 5, 0, -1)
NOBODY: Threads = {}
BLANK = np.zeros((2, 2, 4), np.uint8)


def looks(*tables: Threads) -> Callable[[], Threads]:
    """What is seen look by look; the last one for ever."""

    def seen() -> Iterator[Threads]:
        yield from tables
        while True:
            yield tables[-1]

    return seen().__next__


def waited(
    tables: Sequence[Threads], screen: Image = BLANK, **arguments: float
) -> tuple[bool, float]:
    """Whether these programs come to rest, and after how many seconds."""
    rest = Rest(looks(*tables), looks(NOBODY), screen, most=5.0)
    began = time.monotonic()
    return rest.wait(**arguments), time.monotonic() - began


def test_programs_that_sleep_are_at_rest_at_once() -> None:
    came, seconds = waited([{"1": ASLEEP}], quiet=0.02)
    assert came
    assert seconds >= 0.02


def test_where_every_program_has_ended_nobody_is_waited_for() -> None:
    came, seconds = waited([NOBODY], quiet=0.02)
    assert came
    assert seconds < 1.0


@pytest.mark.parametrize("state", ["R", "D"])
def test_a_program_that_waits_for_its_turn_is_waited_for(state: str) -> None:
    late = [{"1": (state, 5, 0, -1)}] * 9
    came, seconds = waited([*late, {"1": ASLEEP}], quiet=0.0)
    assert came
    assert seconds > 0.05


def test_a_program_that_ran_between_two_looks_was_not_at_rest() -> None:
    ran = [{"1": ("S", switches, 0, -1)} for switches in range(5)]
    came, seconds = waited(ran, quiet=0.03)
    assert came
    assert seconds >= 0.03 * 4


@pytest.mark.parametrize(("milliseconds", "least"), [(150, 0.15), (400, 0.0)])
def test_short_timers_are_waited_for_and_no_others(milliseconds: int, least: float) -> None:
    armed, fired = ("S", 5, 0, milliseconds), ("S", 6, 0, -1)
    came, seconds = waited([{"1": armed}, {"1": armed}, {"1": fired}], quiet=0.0)
    assert came
    assert seconds >= least


def test_threads_are_seen_whatever_else_a_kernel_tells_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Newer kernels end a thread's status with other lines; some count no waiting."""
    real = supervisor.contents

    def contents(path: str) -> str:
        if path.endswith("/schedstat"):
            raise FileNotFoundError(path)
        more = "x86_Thread_features:\t\nx86_Thread_features_locked:\t\n"
        return real(path) + more * path.endswith("/status")

    monkeypatch.setattr(supervisor, "contents", contents)
    state, switches, waited, _ = supervisor.threads_of([os.getpid()])[str(os.getpid())]
    assert state == "R"
    assert switches > 0
    assert waited == 0


def test_time_without_a_processor_does_not_count() -> None:
    starved = [{"1": ("R", n, 400 * n, -1)} for n in range(3)] * 1
    rest = Rest(looks(*starved), looks(NOBODY), BLANK, most=9.0)
    for _ in range(3):
        rest.look()
    assert 2.7 < rest.left() < 2.81


@pytest.mark.parametrize(
    ("milliseconds", "looks_until"),
    [(75, 4), (30, 8)],
    ids=["as long as any other that is waited for", "a shorter one"],
)
def test_what_ticks_and_paints_nothing_is_waited_for_no_longer(
    milliseconds: int, looks_until: int
) -> None:
    ticks = [{"1": ("S", n, 0, milliseconds)} for n in range(99)]
    came, seconds = waited(ticks, quiet=0.0)
    assert came
    assert seconds < 1.0
    rest = Rest(looks(*ticks), looks(NOBODY), BLANK, most=5.0)
    for n in range(1, 10):
        rest.look()
        assert (rest.due(0.26) == 0) is (n >= looks_until)


def test_what_ticks_and_paints_is_waited_for() -> None:
    screen = BLANK.copy()

    def ticking() -> Threads:
        screen[0, 0, 0] += 1
        return {"1": ("S", int(screen[0, 0, 0]), 0, 75)}

    rest = Rest(ticking, looks(NOBODY), screen, most=1.0)
    assert not rest.wait(quiet=0.0)


def on_calculator(across: float, down: float, desktop: X11Device) -> Action:
    left, top, width, height = desktop.windows()[-1].box
    return Move(left + round(across * width), top + round(down * height))


@pytest.mark.parametrize(
    ("program", "actions"),
    [
        ("galculator", [lambda _: Press("enter")]),
        (
            "galculator",
            [partial(on_calculator, 1 / 2, 1 / 3), partial(on_calculator, 1 / 8, 3 / 4)],
        ),
        ("gnumeric", [lambda _: Type("7", enter=True), lambda _: Press("ctrl+c")]),
    ],
    ids=["a button that a key pressed", "a tooltip", "the border of copied cells"],
)
def test_nothing_is_painted_after_the_picture(
    desktop: X11Device, program: str, actions: Sequence[Callable[[X11Device], Action]]
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"not installed: {program}")
    desktop.renew(SessionSpec(launch=[[program]]))
    for action in actions:
        desktop.perform(action(desktop))
        first = desktop.capture().image.copy()
    desktop.perform(Wait(0.8))
    assert np.array_equal(desktop.capture().image, first)
