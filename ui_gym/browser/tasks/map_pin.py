"""Map pin: find a place or a crossing on the map of a town, and do something with it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from numpy.random import Generator

from ui_gym.browser.content import words
from ui_gym.browser.content.maps import COMPACT_NAMES, FIRST_NAMES, KINDS, NAMES, TOWNS
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, one_of, whole
from ui_gym.browser.moves import click
from ui_gym.contract.action import Click, Drag, Scroll
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

MOST_PLACES = 32
PLACE, CROSSING, NEAREST = ASKS = ("place", "crossing", "nearest")
GOALS = {
    PLACE: (
        'Find {name} in {district} on the map, open it and press "{button}".',
        'In {district} there is {name}. Open its card on the map and press "{button}".',
        'Open the card of {name} ({district}) and press "{button}" in it.',
    ),
    CROSSING: (
        'Put a pin where {one} meets {other} in {district}, and press "{button}".',
        'Click the crossing of {one} and {other} in {district} to set a pin. Press "{button}".',
        'In {district}, {one} and {other} cross. Drop a pin there and press "{button}".',
    ),
    NEAREST: (
        "Which {kind} is nearest (as the crow flies) to the crossing of {one} and {other} in "
        '{district}? Open it and press "{button}".',
        "Open the {kind} that is closest, in a straight line, to where {one} meets {other} in "
        '{district}, and press "{button}".',
        "From the crossing of {one} and {other} in {district}, find the nearest {kind} in a "
        'straight line. Press "{button}" in its card.',
    ),
}
COMPACT_GOALS = {
    PLACE: (
        "Open {name} in {district}. Press {button}.",
        "Find {name} in {district}. Press {button}.",
        "Click {name} in {district}. Press {button}.",
    ),
    CROSSING: (
        "Pin {one} and {other} in {district}. Press {button}.",
        "Click {one} and {other} in {district}. Press {button}.",
        "Find {one} and {other} in {district}. Press {button}.",
    ),
}
BUTTONS = ("Save", "Share", "Directions")
CLEARLY = 1.5
"""How many times as far as the nearest place of a kind the next one is, at least."""


class MapSheet(NamedTuple):
    """A map's paper. Lengths are in pixels of the map as a whole: each zoom doubles them."""

    width: int
    height: int
    columns: int
    """Streets that go up and down."""
    rows: int
    """Streets that go across."""
    zooms: int
    """How often it can be zoomed in."""
    near: int
    """How far from a crossing a pin may be."""
    buttons: int


FULL = MapSheet(940, 744, 6, 5, 2, 10, 3)
COMPACT = MapSheet(320, 192, 3, 3, 1, 12, 2)
CELL = 16
"""A patch of the compact page, once it is zoomed in, in pixels of the map as a whole."""


@dataclass(frozen=True)
class Place:
    name: str
    kind: str
    x: int
    y: int
    depth: int
    """How often the map is zoomed in before the place shows."""


@dataclass(frozen=True)
class MapPinParams:
    """All that varies between episodes. Lengths are in pixels of the map as a whole."""

    town: str
    districts: tuple[str, ...]
    """Of the quarters: top left, top right, bottom left, bottom right."""
    names: tuple[str, ...]
    """Of the streets: first those that go up and down, from the left; then the others."""
    xs: tuple[int, ...]
    ys: tuple[int, ...]
    places: tuple[Place, ...]
    ask: str
    place: int
    """Which is to be opened; -1 where a pin is set."""
    crossing: tuple[int, int]
    """(street that goes up and down, street that goes across), where the goal names them."""
    buttons: tuple[str, ...]
    button: str
    start: tuple[int, int, int]
    """What the map shows first: how often it is zoomed in, and where its middle is."""
    theme: int
    phrasing: int

    @property
    def corner(self) -> tuple[int, int]:
        return self.xs[self.crossing[0]], self.ys[self.crossing[1]]

    @property
    def spot(self) -> tuple[int, int]:
        """Where what the goal asks for is."""
        if self.place < 0:
            return self.corner
        return self.places[self.place].x, self.places[self.place].y


@register("MapPin", suite="browser", category="visual", difficulty="medium", max_steps=16)
class MapPin(Family[MapPinParams]):
    """Find a place or a crossing on a town's map, and press a button of its card.

    ## Description
    The map of a made-up town with four quarters, streets, a river and places. As a whole it shows
    the names of the quarters; zoomed in once, those of the streets and some places; zoomed in
    twice, all places. The goal names a place, a crossing where a pin is to be set, or asks for the
    bakery (or the like) that is nearest to a crossing. Opened places and pins have a card with
    buttons, one of which is asked for. The compact page zooms in once.

    ## Action space
    Dragging moves the map. Scrolling up zooms in where the pointer is, down zooms out, as the
    buttons + and - do in the middle. A click on a place opens its card; elsewhere on the map it
    sets the pin, or sets it anew.

    ## Rewards
    1 if the first button that is pressed in a card is the asked one, in the card of the asked
    place, or of a pin that is at most 10 px (compact: 12) of the map as a whole from the crossing,
    which is 20 px (24) once it is zoomed in. Else 0.

    ## Starting state
    The map as a whole, or zoomed in somewhere; no card is open, no pin is set.

    ## Episode end
    Termination: a button in a card was pressed. `max_steps` is 16; compact: 12.

    ## Arguments
    | `ask` | "crossing" (compact: "place") | "place", "crossing" or (not compact) "nearest" |
    | `places` | 18 (compact: 4) | how many places the map has, 4 to 32, compact to 8 |
    | `depth` | 1 | how often one zooms in until the asked place shows, 1 or 2, compact 1 |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "map_pin.html"
    ends, waiting = "press", "no button of a card was pressed yet"
    mistakes = ("neighbour", "button")
    ask: str = one_of(ASKS, easy=PLACE, medium=CROSSING, hard=NEAREST)
    places: int = whole(4, MOST_PLACES, easy=10, medium=18, hard=30)
    depth: int = whole(1, 2, easy=1, medium=1, hard=2)
    compact_values = {"ask": PLACE, "places": 4, "depth": 1}

    def prepare(self) -> None:
        self.sheet = COMPACT if self.compact else FULL
        self.max_steps = 12 if self.compact else 16
        if self.compact:
            if self.ask == NEAREST or self.depth != 1:
                raise UserError(
                    "MapPin: the compact page zooms in once, and asks for a place or a crossing, "
                    f"not ask={self.ask!r} with depth={self.depth}"
                )
            self.check_range("places", self.places, 4, 8)
        elif self.ask == NEAREST:
            self.check_range("places", self.places, 12, MOST_PLACES)

    def sample(self, rng: Generator) -> MapPinParams:
        sheet, known = self.sheet, COMPACT_NAMES if self.compact else NAMES
        xs, ys = self._streets(rng)
        streets = rng.choice(len(known.streets), size=len(xs) + len(ys), replace=False)
        districts = rng.choice(len(known.districts), size=4, replace=False)
        while True:
            places = self._places(xs, ys, rng)
            asked = self._asked(xs, ys, places)
            if asked:
                break
        place, crossing = pick(rng, asked)
        buttons = tuple(BUTTONS[int(i)] for i in rng.permutation(sheet.buttons))
        start = (0, sheet.width // 2, sheet.height // 2)
        if rng.random() < 0.4:
            across, down = rng.integers(2, size=2)
            start = (
                1,
                int(1 + 2 * across) * sheet.width // 4,
                int(1 + 2 * down) * sheet.height // 4,
            )
        return MapPinParams(
            town="Map" if self.compact else pick(rng, TOWNS),
            districts=tuple(known.districts[int(i)] for i in districts),
            names=tuple(known.streets[int(i)] for i in streets),
            xs=xs,
            ys=ys,
            places=places,
            ask=self.ask,
            place=place,
            crossing=crossing,
            buttons=buttons,
            button=pick(rng, buttons),
            start=start,
            theme=0 if self.compact else int(rng.integers(6)),
            phrasing=int(rng.integers(3)),
        )

    def goal(self, params: MapPinParams) -> str:
        column, row = params.crossing
        place = params.places[params.place]
        goals = COMPACT_GOALS if self.compact else GOALS
        # The nearest place may lie beyond the quarter's border: the crossing's is told.
        x, y = params.corner if params.ask == NEAREST else params.spot
        return goals[params.ask][params.phrasing].format(
            name=place.name,
            kind=place.kind.lower(),
            district=params.districts[self._quarter(x, y)],
            one=params.names[column],
            other=params.names[len(params.xs) + row],
            button=params.button,
        )

    def page_params(self, params: MapPinParams) -> dict[str, Any]:
        shown = ("town", "districts", "names", "xs", "ys", "buttons", "start", "theme")
        told = {name: getattr(params, name) for name in shown}
        places = [vars(place) for place in params.places]
        paper = self.sheet._asdict()
        del paper["near"], paper["buttons"]
        return {**told, "places": places, "sheet": paper}

    def verdict(self, data: Mapping[str, Any], params: MapPinParams) -> Verdict:
        on, button = data["on"], data["button"]
        wrong = []
        if params.place >= 0:
            name = params.places[params.place].name
            if on != params.place:
                got = params.places[on].name if on >= 0 else "a pin"
                wrong.append(f"the card was that of {got}, not of {name}")
        elif on >= 0:
            wrong.append(f"the card was that of {params.places[on].name}, not of a pin")
        else:
            off = math.dist((data["x"], data["y"]), params.corner)
            if off > self.sheet.near:
                wrong.append(f"the pin is {off:.0f} px off, more than {self.sheet.near}")
        if button != params.button:
            wrong.append(f'"{button}" was pressed, not "{params.button}"')
        told = "; ".join(wrong) or "the asked button of the asked card"
        return Verdict(float(not wrong), done=True, notes=told)

    def oracle(self, device: BrowserDevice, params: MapPinParams) -> Steps:
        x, y = params.spot
        quarter = self._quarter(*(params.corner if params.ask == NEAREST else params.spot))
        district = params.districts[quarter]
        depth = params.places[params.place].depth if params.place >= 0 else 1
        while device.state()["zoom"] > 0:
            yield self._say(
                self._zoom(device, x, y, out=True), "Zoom out", "-", f"{district} is elsewhere: "
            )
        middle = (
            self.sheet.width * (1 + 2 * (quarter % 2)) // 4,
            self.sheet.height * (1 + 2 * (quarter // 2)) // 4,
        )
        yield self._say(self._zoom(device, *middle), f"Zoom in on {district}", district)
        if params.ask == NEAREST and not self._seen(device, *params.corner):
            yield self._say(self._drag(device, *params.corner), "Move the map to the crossing", "")
        while device.state()["zoom"] < depth:
            yield self._say(self._zoom(device, x, y), "Zoom in until the place shows", "")
        name = params.places[params.place].name if params.place >= 0 else "Pin"
        while not self._ready(device, params):
            yield self._say(self._drag(device, x, y), "Look beside", "Map")
        if params.place >= 0:
            yield self._say(click(device, f"#place-{params.place}"), f"There is {name}", name)
        else:
            yield self._say(Click(*self._at(device, x, y)), "There is the crossing", name)
        button = params.button
        yield self._say(click(device, f"#do-{button.lower()}"), f"Now {button}", button)

    def misread(self, params: MapPinParams, mistake: str, rng: Generator) -> MapPinParams:
        """``neighbour``: the place or crossing beside the asked one (of places of one kind, the
        next nearest) is taken. ``button``: another button of the card."""
        if mistake == "button":
            others = [button for button in params.buttons if button != params.button]
            return replace(params, button=pick(rng, others))
        if params.place < 0:
            column, row = params.crossing
            columns = [i for i in (column - 1, column + 1) if 0 <= i < len(params.xs)]
            return replace(params, crossing=(pick(rng, columns), row))
        place, here = params.places[params.place], params.spot
        if params.ask == NEAREST:
            here = params.corner
        beside = [
            i
            for i, other in enumerate(params.places)
            if i != params.place and (params.ask != NEAREST or other.kind == place.kind)
        ]
        away = [math.dist((params.places[i].x, params.places[i].y), here) for i in beside]
        return replace(params, place=beside[away.index(min(away))])

    def blind_rate(self, params: MapPinParams) -> float:
        """Any place or crossing, and any button."""
        if params.place < 0:
            things = len(params.xs) * len(params.ys)
        else:
            things = len(params.places)
        return 1 / (things * len(params.buttons))

    # -- the town --

    def _streets(self, rng: Generator) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Where the streets are. Those of the compact page lie on its grid."""
        sheet = self.sheet
        if self.compact:
            right, down = (int(shift) for shift in rng.integers(3, size=2))
            xs = tuple(CELL * (2 + 6 * i + right) + CELL // 2 for i in range(sheet.columns))
            return xs, tuple(CELL * (1 + 4 * i + down) + CELL // 2 for i in range(sheet.rows))
        xs = tuple(
            sheet.width * (2 * i + 1) // (2 * sheet.columns) + int(rng.integers(-18, 19))
            for i in range(sheet.columns)
        )
        ys = tuple(
            sheet.height * (2 * i + 1) // (2 * sheet.rows) + int(rng.integers(-16, 17))
            for i in range(sheet.rows)
        )
        return xs, ys

    def _places(
        self, xs: tuple[int, ...], ys: tuple[int, ...], rng: Generator
    ) -> tuple[Place, ...]:
        """Places in the blocks between streets, two to a block at most, one above the other."""
        slots = [(i, j, k) for i in range(len(xs) - 1) for j in range(len(ys) - 1) for k in (0, 1)]
        chosen = rng.choice(len(slots), size=self.places, replace=False)
        if self.compact:
            things = rng.choice(len(words.THINGS_SHORT), size=self.places, replace=False)
            made = []
            for thing, slot in zip(things, chosen, strict=True):
                i, j, k = slots[int(slot)]
                name = words.THINGS_SHORT[int(thing)]
                made.append(Place(name, name, xs[i] + 3 * CELL // 2, ys[j] + CELL * (1 + 2 * k), 1))
            return tuple(made)
        names = rng.choice(len(FIRST_NAMES) * len(KINDS), size=self.places, replace=False)
        made = []
        for number, slot in zip(names, chosen, strict=True):
            i, j, k = slots[int(slot)]
            first, kind = FIRST_NAMES[int(number) // len(KINDS)], KINDS[int(number) % len(KINDS)]
            x = xs[i] + int(rng.integers(16, 40))
            y = ys[j] + round((ys[j + 1] - ys[j]) * (0.3 + 0.4 * k))
            depth = 1 if rng.random() < 0.5 else 2
            made.append(Place(f"{first} {kind}", kind, x, y, depth))
        return tuple(made)

    def _asked(
        self, xs: tuple[int, ...], ys: tuple[int, ...], places: tuple[Place, ...]
    ) -> list[tuple[int, tuple[int, int]]]:
        """(place, crossing) of all that could be asked for."""
        crossings = [(i, j) for i in range(len(xs)) for j in range(len(ys))]
        if self.ask == CROSSING:
            return [(-1, crossing) for crossing in crossings]
        deep = [i for i, place in enumerate(places) if place.depth == self.depth]
        if self.ask == PLACE:
            return [(i, (0, 0)) for i in deep]
        found = []
        for i, j in crossings:
            for kind in {place.kind: None for place in places}:
                far = sorted(
                    (math.dist((place.x, place.y), (xs[i], ys[j])), at)
                    for at, place in enumerate(places)
                    if place.kind == kind
                )
                if len(far) > 1 and far[0][1] in deep and far[1][0] > CLEARLY * far[0][0]:
                    found.append((far[0][1], (i, j)))
        return found

    def _quarter(self, x: int, y: int) -> int:
        return int(x >= self.sheet.width // 2) + 2 * int(y >= self.sheet.height // 2)

    # -- the oracle's hands --

    def _say(self, action: Any, thought: str, short: str, before: str = "") -> Demo:
        if self.compact:
            return Demo(action, short)
        return Demo(action, f"{before}{thought[0].lower() if before else thought[0]}{thought[1:]}.")

    def _at(self, device: BrowserDevice, x: int, y: int) -> tuple[int, int]:
        """Where a point of the map is on the screen; it may be off the pane."""
        state, (left, top, _, _) = device.state(), device.box("#map")
        scale = 2 ** state["zoom"]
        return round(left + (x - state["left"]) * scale), round(top + (y - state["top"]) * scale)

    def _zoom(self, device: BrowserDevice, x: int, y: int, *, out: bool = False) -> Scroll:
        left, top, width, height = device.box("#map")
        at_x, at_y = self._at(device, x, y)
        return Scroll(
            round(min(max(at_x, left + 8), left + width - 8)),
            round(min(max(at_y, top + 8), top + height - 8)),
            dy=96 if out else -96,
        )

    def _seen(self, device: BrowserDevice, x: int, y: int) -> bool:
        left, top, width, height = device.box("#map")
        at_x, at_y = self._at(device, x, y)
        edge = 12 if self.compact else 80  # where the buttons + and - are
        return (
            left + edge <= at_x <= left + width - edge and top + edge <= at_y <= top + height - edge
        )

    def _ready(self, device: BrowserDevice, params: MapPinParams) -> bool:
        if params.place >= 0:
            return params.place in device.state()["shown"]
        return self._seen(device, *params.spot)

    def _drag(self, device: BrowserDevice, x: int, y: int) -> Drag:
        """Bring a point of the map nearer to the middle of the pane."""
        left, top, width, height = device.box("#map")
        middle = round(left + width / 2), round(top + height / 2)
        step = 32
        moved = []
        for at, here, room in zip(self._at(device, x, y), middle, (width, height), strict=True):
            most = int(room / 2 - 16) // step * step
            moved.append(min(max(round((here - at) / step) * step, -most), most))
        return Drag(*middle, middle[0] + moved[0], middle[1] + moved[1])
