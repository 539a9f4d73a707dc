"""MapPin's logic."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from task_helpers import draws, goals, levels, verdicts

from ui_gym.browser.tasks.map_pin import MapPin, MapPinParams, Place
from ui_gym.contract.action import Drag, Scroll
from ui_gym.errors import UserError

PLACES = (
    Place("Fox Bakery", "Bakery", 120, 90, 1),
    Place("Royal Hotel", "Hotel", 300, 220, 1),
    Place("Blue Bakery", "Bakery", 320, 90, 2),
    Place("Amber Cinema", "Cinema", 700, 600, 1),
)
CARD = MapPinParams(
    town="Dunmere", districts=("Old Town", "Lakeside", "Rosefield", "Northgate"),
    names=("Elm Street", "Quay Road", "Swan Street", "Lime Walk", "Abbey Road", "Heron Way",
           "Mason Row", "Temple Road", "Violet Lane", "Copper Lane", "Bishop Lane"),
    xs=(80, 240, 400, 540, 700, 860), ys=(70, 220, 370, 520, 670), places=PLACES, ask="place",
    place=0, crossing=(0, 0), buttons=("Save", "Share", "Directions"), button="Share",
    start=(0, 470, 372), theme=0, phrasing=0,
)  # fmt: skip
PIN = dataclasses.replace(CARD, ask="crossing", place=-1, crossing=(1, 2))


def card(place: int, button: str) -> Any:
    return ("press", {"on": place, "button": button})


def pin(x: float, y: float, button: str = "Share") -> Any:
    return ("press", {"on": -1, "button": button, "x": x, "y": y})


test_map_pin_scores_of_cards = verdicts(
    MapPin(ask="place"),
    CARD,
    {
        "right": (card(0, "Share"), 1.0, True, "the asked button of the asked card"),
        "another place": (card(2, "Share"), 0.0, True,
            "the card was that of Blue Bakery, not of Fox Bakery"),
        "another button": (card(0, "Save"), 0.0, True, '"Save" was pressed, not "Share"'),
        "a pin upon it": (pin(120, 90), 0.0, True,
            "the card was that of a pin, not of Fox Bakery"),
        "too late": (card(1, "Share"), card(0, "Share"), 0.0, True),
    },
)  # fmt: skip
test_map_pin_scores_of_pins = verdicts(
    MapPin(),
    PIN,
    {
        "exact": (pin(240, 370), 1.0, True),
        "at the edge": (pin(246, 378), 1.0, True),
        "beyond": (pin(247, 378), 0.0, True, "the pin is 11 px off, more than 10"),
        "another crossing": (pin(400, 370), 0.0, True),
        "another button": (pin(240, 370, "Save"), 0.0, True),
        "a place": (card(1, "Share"), 0.0, True),
    },
)


def test_map_pin_goals() -> None:
    assert MapPin(ask="place").goal(CARD) == (
        'Find Fox Bakery in Old Town on the map, open it and press "Share".'
    )
    assert MapPin().goal(PIN) == (
        'Put a pin where Quay Road meets Violet Lane in Old Town, and press "Share".'
    )


@levels(MapPin)
def test_map_pin_names_are_told_apart(task: Any) -> None:
    for params, goal in goals(task):
        assert len(set(params.names)) == len(params.xs) + len(params.ys)
        assert len({place.name for place in params.places}) == task.places
        assert params.button in goal
        if params.ask == "crossing":
            assert params.names[params.crossing[0]] in goal
            assert params.names[len(params.xs) + params.crossing[1]] in goal
        else:
            place = params.places[params.place]
            assert place.depth == task.depth
            assert (place.name if params.ask == "place" else place.kind.lower()) in goal


def test_map_pin_nearest_is_clearly_the_nearest() -> None:
    for params in draws(MapPin(level="hard")):
        asked = params.places[params.place]
        away = math.dist((asked.x, asked.y), params.corner)
        others = [
            math.dist((place.x, place.y), params.corner)
            for place in params.places
            if place.kind == asked.kind and place != asked
        ]
        assert min(others) > 1.5 * away


def test_map_pin_mistakes() -> None:
    rng = np.random.default_rng(0)
    task = MapPin()
    assert {task.misread(PIN, "neighbour", rng).crossing for _ in range(20)} == {(0, 2), (2, 2)}
    assert {task.misread(PIN, "button", rng).button for _ in range(20)} == {"Save", "Directions"}
    assert task.misread(CARD, "neighbour", rng).place == 2
    near = dataclasses.replace(CARD, ask="nearest", crossing=(0, 0))
    assert task.misread(near, "neighbour", rng).place == 2


@pytest.mark.parametrize("compact", [False, True], ids=["full", "compact"])
def test_map_pin_map_moves_and_zooms(make_device: Any, *, compact: bool) -> None:
    task = MapPin(compact=compact)
    device = make_device(task.viewport)
    params = dataclasses.replace(
        next(draws(task)), start=(0, task.sheet.width // 2, task.sheet.height // 2)
    )
    task.setup(device, params)
    left, top, width, height = device.box("#map")
    x, y = round(left + width / 4), round(top + height / 4)
    assert device.state()["shown"] == []
    device.perform(Scroll(x, y, dy=-96))
    state = device.state()
    assert state["zoom"] == 1
    # The point under the pointer stays (compact: to half a patch).
    assert state["left"] + (x - left) / 2 == pytest.approx(width / 4, abs=8 if compact else 1)
    device.perform(Drag(x, y, x - 64, y - 32))
    moved = device.state()
    assert (moved["left"] - state["left"], moved["top"] - state["top"]) == (32, 16)
    assert (moved["pin"], moved["opened"]) == (None, None), "a drag sets no pin"
    device.perform(Drag(x, y, x + round(width) // 2, y + round(height) // 2))
    device.perform(Drag(x, y, x + round(width) // 2, y + round(height) // 2))
    assert (device.state()["left"], device.state()["top"]) == (0, 0), "the map has an edge"
    device.perform(Scroll(x, y, dy=96))
    device.perform(Scroll(x, y, dy=96))
    assert device.state()["zoom"] == 0


def test_map_pin_compact_refuses() -> None:
    with pytest.raises(UserError, match="ask='nearest' with depth=1"):
        MapPin(compact=True, ask="nearest")
    with pytest.raises(UserError, match="places must be 4 to 8, not 9"):
        MapPin(compact=True, places=9)
