"""Looks: every family can be played and read in each, and looks are drawn as they should be."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser_helpers import HANGING, play

from ui_gym.browser.chromium.device import ChromiumDevice
from ui_gym.browser.documents import document
from ui_gym.browser.family import COMPACT_SIZE
from ui_gym.browser.looks import ARRANGED, DRAWN, DRESSED, HELD_OUT, LOOKS, PLAIN, dress
from ui_gym.contract.arguments import make_task
from ui_gym.contract.device import DeviceOptions
from ui_gym.contract.spec import TaskSpec
from ui_gym.contract.suite import compact_families, families
from ui_gym.errors import UserError

FULL_SIZE = (1280, 800)

HERE = Path(__file__).parent
FAINT = (HERE / "faint.js").read_text()
"""Gives the words of a page that are too faint to be read."""

full_families = families("browser")
small_families = compact_families("browser")


def pairs(specs: list[TaskSpec], turn: int) -> list[Any]:
    """Every family with a look of its own by day, with all others at night."""
    made = []
    for number, spec in enumerate(specs):
        for place, look in enumerate(DRESSED):
            marks = [] if (number + turn) % len(DRESSED) == place else [pytest.mark.nightly]
            made.append(pytest.param(spec, look, id=f"{spec.name}-{look}", marks=marks))
    return made


@pytest.fixture(scope="module")
def screen() -> Iterator[ChromiumDevice]:
    with contextlib.closing(ChromiumDevice(DeviceOptions(size=FULL_SIZE))) as device:
        device.start()
        yield device


@pytest.fixture(scope="module")
def small_screen() -> Iterator[ChromiumDevice]:
    with contextlib.closing(ChromiumDevice(DeviceOptions(size=COMPACT_SIZE))) as device:
        device.start()
        yield device


@pytest.mark.parametrize(("spec", "look"), pairs(full_families, 0))
def test_a_full_page_can_be_played_and_read(
    spec: TaskSpec, look: str, screen: ChromiumDevice
) -> None:
    task = make_task(spec.id, {"look": look})
    plain = make_task(spec.id, {})
    plain.setup(screen, plain.draw(0))
    known = set(screen.evaluate(HANGING))
    for at in play(task, screen, 0):
        if at in (0, 1, 3):
            assert not screen.evaluate(FAINT)
            assert set(screen.evaluate(HANGING)) <= known


@pytest.mark.parametrize(("spec", "look"), pairs(small_families, 3))
def test_a_compact_page_keeps_its_geometry(
    spec: TaskSpec, look: str, small_screen: ChromiumDevice
) -> None:
    def boxes(look: str) -> list[list[tuple[Any, ...]]]:
        task = make_task(spec.id, {"compact": True, "look": look})
        return [
            [(one.role, one.name, one.box) for one in small_screen.capture(elements=True).elements]
            for _ in play(task, small_screen, 1)
        ]

    assert boxes(look) == boxes(PLAIN)


@pytest.mark.parametrize("spec", small_families[::4], ids=lambda spec: spec.name)
def test_looks_are_told_apart_and_stay_what_they_are(
    spec: TaskSpec, small_screen: ChromiumDevice
) -> None:
    def picture(look: str) -> bytes:
        task = make_task(spec.id, {"compact": True, "look": look})
        task.setup(small_screen, task.draw(2))
        return small_screen.capture().image.tobytes()

    seen = [picture(look) for look in LOOKS]
    assert len(set(seen)) == len(LOOKS)
    assert picture("dark") == seen[LOOKS.index("dark")]


@pytest.mark.parametrize("spec", small_families, ids=lambda spec: spec.name)
def test_compact_words_can_be_read_in_every_look(
    spec: TaskSpec, small_screen: ChromiumDevice
) -> None:
    for look in DRESSED:
        task = make_task(spec.id, {"compact": True, "look": look})
        task.setup(small_screen, task.draw(3))
        assert (look, small_screen.evaluate(FAINT)) == (look, [])


@pytest.mark.parametrize("arranged", ARRANGED)
@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(spec, id=spec.name, marks=[pytest.mark.nightly] if number % 12 else [])
        for number, spec in enumerate(full_families)
    ],
)
def test_what_is_arranged_otherwise_can_be_played(
    spec: TaskSpec, arranged: str, screen: ChromiumDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    def arranges(look: str, digest: int, *, compact: bool) -> dict[str, Any]:
        return {"look": look, "arranged": [arranged]}

    plain = make_task(spec.id, {})
    plain.setup(screen, plain.draw(4))
    known = set(screen.evaluate(HANGING))
    monkeypatch.setattr("ui_gym.browser.task.dress", arranges)
    for at in play(plain, screen, 4):
        if at == 0:
            assert set(screen.evaluate(HANGING)) <= known


def test_words_for_several_looks_draw_only_theirs() -> None:
    for word, looks in DRAWN.items():
        drawn = [dress(word, digest, compact=False) for digest in range(200)]
        assert {one["look"] for one in drawn} == set(looks)
        assert {name for one in drawn for name in one["arranged"]} == set(ARRANGED)
        assert drawn[7] == dress(word, 7, compact=False)
    assert not set(HELD_OUT) & set(DRAWN["varied"])
    assert set(DRAWN["heldout"]) == set(HELD_OUT)


def test_a_compact_page_is_not_arranged_and_a_named_look_stands() -> None:
    assert all(dress("any", digest, compact=True)["arranged"] == [] for digest in range(50))
    assert dress("dark", 3, compact=False) == {"look": "dark"}
    assert dress(PLAIN, 3, compact=False) == {}


def test_an_unknown_look_is_told_the_nearest() -> None:
    with pytest.raises(UserError, match="bootstrap"):
        make_task("UI/Registration-v0", {"look": "bootstrp"})


def test_the_same_params_are_shown_alike(screen: ChromiumDevice) -> None:
    shown = []
    for _ in range(2):
        task = make_task("UI/ShoppingCart-v0", {"look": "varied"})
        task.setup(screen, task.draw(5))
        shown.append(screen.capture().image.copy())
    np.testing.assert_array_equal(shown[0], shown[1])


def test_a_param_look_of_an_authors_own_page_is_the_authors(tmp_path: Path) -> None:
    page = tmp_path / "own.html"
    page.write_text("<html><head><!-- ui-gym --></head><body></body></html>")
    assert document(page, {"look": "at the sky"}, 0).replace("at the sky", "x") == document(
        page, {"look": "x"}, 0
    )
