"""Canvas draw: draw, move and delete shapes of a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from numpy.random import Generator

from ui_gym.browser.content import phrases
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, flag, whole
from ui_gym.browser.moves import click
from ui_gym.contract.action import Action, Click, Drag
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict

Cell = tuple[int, int]
"""(column, row), counted from 0."""

DRAW, MOVE, DELETE = ACTS = ("draw", "move", "delete")
KINDS = ("rectangle", "ellipse", "line")
SOLID = KINDS[:2]
"""What is on the board at first: shapes as large as a cell."""
COLOURS = ("red", "orange", "green", "blue", "purple", "black")
SIDES = {"left of": (-1, 0), "right of": (1, 0), "above": (0, -1), "below": (0, 1)}
SHORT = {"rectangle": "Box", "ellipse": "Oval", "line": "Line"}
"""What the compact page calls the shapes."""
GOALS = (
    "{edits}. Then press Done.",
    "Please change the picture: {edits}. Leave everything else as it is and press Done.",
    "On the board, {edits}. Press Done when that is all.",
)
COMPACT_GOALS = ("{edits}. Press Done.", "First {edits}. Press Done.", "{edits}, then press Done.")
SLACK = 0.1
"""How far beyond its cell a corner or a middle may be, in cells."""
STILL = 0.02
"""How far what stays may be from where it was, in cells."""


class DrawBoard(NamedTuple):
    """The picture's cells, and how many shapes and colours there may be."""

    columns: int
    rows: int
    colours: tuple[str, ...]
    most: int


FULL = DrawBoard(8, 6, COLOURS, 8)
COMPACT = DrawBoard(6, 5, ("red", "green", "blue"), 4)


@dataclass(frozen=True)
class Shape:
    """What is on the board at first."""

    kind: str
    colour: str
    cell: Cell


@dataclass(frozen=True)
class ShapeEdit:
    """One thing that the goal asks for."""

    act: str
    shape: int = -1
    """Which of the first shapes is moved or deleted."""
    kind: str = ""
    """Of what is drawn, as `colour`."""
    colour: str = ""
    start: Cell = (0, 0)
    """Where it begins: of a rectangle or an ellipse, the top left cell."""
    end: Cell = (0, 0)
    """Where it ends, or is moved to."""
    beside: int = -1
    """Which shape names the place, if one does."""
    side: str = ""


@dataclass(frozen=True)
class CanvasDrawParams:
    """All that varies between episodes."""

    shapes: tuple[Shape, ...]
    edits: tuple[ShapeEdit, ...]
    tool: str
    """The tool that is taken up first: "select" or a kind of shape."""
    colour: str
    place: int
    """How far the board is moved, in pixels."""
    theme: int
    phrasing: int


@register("CanvasDraw", suite="browser", category="draw", difficulty="medium", max_steps=14)
class CanvasDraw(Family[CanvasDrawParams]):
    """Draw, move and delete shapes in a small picture editor.

    ## Description
    A board of 8 by 6 cells (compact: 6 by 5) whose columns have letters and whose rows have
    numbers. It has some shapes on it, each as large as a cell and unlike all others. The goal asks
    for a new rectangle, ellipse or line of a colour from one cell to another, for a shape to be
    moved to a cell (at "hard" it is named by another shape that it is beside), for a shape to be
    deleted, or for several of these.

    ## Action space
    With a tool for shapes a drag draws one, in the colour taken up last. With Select (compact:
    Move) a click selects a shape, a drag moves it, and Delete, the button or the key, removes it.
    The page of full size can undo.

    ## Rewards
    1 if Done is pressed with all edits made and everything else as it was. Else the share of the
    edits that are made, less one such share for each other shape that was changed or added. What is
    drawn is right if its corners (of a line: its ends) lie in the named cells; what is moved, if
    its middle lies in the named cell; each may be a tenth of a cell beyond. Other shapes may be a
    fiftieth of a cell from where they were. A shape that is deleted and drawn anew is another one.

    ## Starting state
    A tool and a colour are taken up, nothing is selected.

    ## Episode end
    Termination: Done was pressed. `max_steps` is 6 for each edit, and 2.

    ## Arguments
    | `edits` | 2 (compact: 1) | how many things are asked for, 1 to 3 |
    | `shapes` | 4 (compact: 3) | how many shapes there are at first, 3 to 8, compact to 4 |
    | `beside` | False | whether shapes are moved to the side of others, not to a named cell |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "canvas_draw.html"
    ends, waiting = "done", "not done yet"
    mistakes = ("cell", "thing")
    edits: int = whole(1, len(ACTS), easy=1, medium=2, hard=3)
    shapes: int = whole(3, FULL.most, easy=3, medium=4, hard=7)
    beside: bool = flag(easy=False, medium=False, hard=True)
    compact_values = {"edits": 1, "shapes": 3, "beside": False}

    def prepare(self) -> None:
        self.board = COMPACT if self.compact else FULL
        self.check_range("shapes", self.shapes, 3, self.board.most)
        self.max_steps = 6 * self.edits + 2

    def sample(self, rng: Generator) -> CanvasDrawParams:
        board = self.board
        while True:
            shapes = self._shapes(rng)
            edits = self._edits(shapes, rng)
            if edits:
                break
        tools = ("select", *KINDS)
        return CanvasDrawParams(
            shapes=shapes,
            edits=edits,
            tool=pick(rng, tools),
            colour=pick(rng, board.colours),
            place=0 if self.compact else 8 * int(rng.integers(-3, 4)),
            theme=0 if self.compact else int(rng.integers(6)),
            phrasing=int(rng.integers(3)),
        )

    def goal(self, params: CanvasDrawParams) -> str:
        said = [self._said(params, edit) for edit in params.edits]
        if self.compact:
            goal = COMPACT_GOALS[params.phrasing].format(edits=", ".join(said))
        else:
            goal = GOALS[params.phrasing].format(edits=phrases.listing(said))
        return goal[0].upper() + goal[1:]

    def page_params(self, params: CanvasDrawParams) -> dict[str, Any]:
        board = {
            "columns": self.board.columns,
            "rows": self.board.rows,
            "colours": self.board.colours,
        }
        look = {"place": params.place, "theme": params.theme}
        shapes = [vars(shape) for shape in params.shapes]
        return {**board, **look, "tool": params.tool, "colour": params.colour, "shapes": shapes}

    def verdict(self, data: Mapping[str, Any], params: CanvasDrawParams) -> Verdict:
        now = {int(shape["id"]): shape for shape in data["shapes"]}
        first = range(len(params.shapes))
        added = [shape for number, shape in now.items() if number not in first]
        edits = {edit.shape: edit for edit in params.edits if edit.act != DRAW}
        right, notes = 0, []
        for i in first:
            edit, got = edits.get(i), now.get(i)
            if edit is None:
                if got is None or not _stayed(params.shapes[i], got):
                    right -= 1
                    notes.append(f"the {_name(params.shapes[i])} was changed")
            elif _is_made(edit, params.shapes[i], got):
                right += 1
            else:
                notes.append(f"to do: {self._said(params, edit)}")
        for edit in params.edits:
            if edit.act != DRAW:
                continue
            found = next((shape for shape in added if _is_drawn(edit, shape)), None)
            if found is None:
                notes.append(f"to do: {self._said(params, edit)}")
            else:
                right += 1
                added.remove(found)
        notes += [f"a {shape['colour']} {shape['kind']} is too much" for shape in added]
        score = max(0.0, (right - len(added)) / len(params.edits))
        return Verdict(score, done=True, notes="; ".join(notes) or "the picture is as asked")

    def oracle(self, device: BrowserDevice, params: CanvasDrawParams) -> Steps:
        for edit in params.edits:
            tool = edit.kind if edit.act == DRAW else "select"
            if device.state()["tool"] != tool:
                short = SHORT.get(tool, "Move")
                yield self._say(click(device, f"#tool-{tool}"), short, f"The {tool} tool.")
            if edit.act == DRAW:
                if device.state()["colour"] != edit.colour:
                    yield self._say(
                        click(device, f"#colour-{edit.colour}"),
                        edit.colour.capitalize(),
                        f"It should be {edit.colour}.",
                    )
                ends = f"{_cell(edit.start)} {_cell(edit.end)}"
                yield self._say(self._stroke(device, edit), ends, f"{self._said(params, edit)}.")
                continue
            cell = params.shapes[edit.shape].cell
            at = _point(device, self.board, cell)
            if edit.act == MOVE:
                to = _point(device, self.board, edit.end)
                yield self._say(Drag(*at, *to), _cell(edit.end), f"To {_cell(edit.end)}.")
                continue
            shape = params.shapes[edit.shape]
            yield self._say(Click(*at), self._short(shape), f"There is the {_name(shape)}.")
            yield self._say(click(device, "#delete"), "Delete", "Away with it.")
        yield self._say(click(device, "#done"), "Done", "The picture is as asked.")

    def misread(self, params: CanvasDrawParams, mistake: str, rng: Generator) -> CanvasDrawParams:
        """``cell``: what is drawn ends in the cell beside, or a shape is moved there. ``thing``:
        another shape is moved or deleted, or another colour drawn with."""
        possible = [i for i, e in enumerate(params.edits) if mistake == "thing" or e.act != DELETE]
        if not possible:
            return params
        at = pick(rng, possible)
        edit = params.edits[at]
        if mistake == "cell":
            edit = replace(edit, end=self._cell_beside(edit, rng))
        elif edit.act == DRAW:
            others = [colour for colour in self.board.colours if colour != edit.colour]
            edit = replace(edit, colour=pick(rng, others))
        else:
            named = {e.shape for e in params.edits}
            shapes = [i for i in range(len(params.shapes)) if i not in named]
            edit = replace(edit, shape=pick(rng, shapes))
        return replace(params, edits=(*params.edits[:at], edit, *params.edits[at + 1 :]))

    def blind_rate(self, params: CanvasDrawParams) -> float:
        """Any shape to any cell, anything drawn anywhere, anything deleted."""
        cells, rate = self.board.columns * self.board.rows, 1.0
        for edit in params.edits:
            if edit.act == DRAW:
                rate /= len(KINDS) * len(self.board.colours) * cells * cells / 2
            else:
                rate /= len(params.shapes) * (cells if edit.act == MOVE else 1)
        return rate / len(ACTS)

    # -- what is asked for --

    def _shapes(self, rng: Generator) -> tuple[Shape, ...]:
        board = self.board
        looks = [(kind, colour) for kind in SOLID for colour in board.colours]
        cells = [(i, j) for i in range(board.columns) for j in range(board.rows)]
        chosen = rng.choice(len(looks), size=self.shapes, replace=False)
        taken = rng.choice(len(cells), size=self.shapes, replace=False)
        return tuple(
            Shape(*looks[int(look)], cells[int(cell)])
            for look, cell in zip(chosen, taken, strict=True)
        )

    def _edits(self, shapes: Sequence[Shape], rng: Generator) -> tuple[ShapeEdit, ...]:
        """What is asked for, which lies apart, so that nothing comes to lie upon anything else; or
        nothing, if there is no room."""
        acts = [ACTS[int(i)] for i in rng.choice(len(ACTS), size=self.edits, replace=False)]
        order = [int(i) for i in rng.permutation(self.shapes)]
        asked = {act: order.pop() for act in acts if act != DRAW}
        used = {shape.cell for shape in shapes}
        edits = []
        for act in acts:
            if act == DELETE:
                edits.append(ShapeEdit(DELETE, asked[act]))
                continue
            if act == MOVE:
                moves = self._moves(shapes, asked[act], order, used)
                if not moves:
                    return ()
                edit = pick(rng, moves)
            else:
                edit = self._drawn(shapes, used, rng)
            used |= set(_covered(edit))
            edits.append(edit)
        return tuple(edits)

    def _moves(
        self, shapes: Sequence[Shape], shape: int, others: Sequence[int], used: set[Cell]
    ) -> list[ShapeEdit]:
        """Where `shape` can go: to any free cell; if `beside`, to one that is beside `others`."""
        cells = [(i, j) for i in range(self.board.columns) for j in range(self.board.rows)]
        free = [cell for cell in cells if cell not in used]
        if not self.beside:
            return [ShapeEdit(MOVE, shape, end=cell) for cell in free]
        return [
            ShapeEdit(MOVE, shape, end=cell, beside=other, side=side)
            for other in others
            for side, (dx, dy) in SIDES.items()
            for cell in free
            if cell == (shapes[other].cell[0] + dx, shapes[other].cell[1] + dy)
        ]

    def _drawn(self, shapes: Sequence[Shape], used: set[Cell], rng: Generator) -> ShapeEdit:
        """A shape over free cells, unlike those that are there."""
        board = self.board
        there = {(shape.kind, shape.colour) for shape in shapes}
        looks = [(k, c) for k in KINDS for c in board.colours if (k, c) not in there]
        kind, colour = pick(rng, looks)
        fits = []
        for width, height in ((2, 2), (3, 2), (2, 3), (2, 1), (1, 2)):
            for i in range(board.columns - width + 1):
                for j in range(board.rows - height + 1):
                    edit = ShapeEdit(
                        DRAW, -1, kind, colour, (i, j), (i + width - 1, j + height - 1)
                    )
                    if not used & set(_covered(edit)):
                        fits.append(edit)
            if len(fits) > 12:
                break
        return pick(rng, fits)

    def _cell_beside(self, edit: ShapeEdit, rng: Generator) -> Cell:
        column, row = edit.end
        low = edit.start[0] if edit.act == DRAW else 0
        columns = [i for i in (column - 1, column + 1) if low <= i < self.board.columns]
        cells = [(i, row) for i in columns if (i, row) != edit.start]
        return pick(rng, cells) if cells else (column, row - 1)

    def _said(self, params: CanvasDrawParams, edit: ShapeEdit) -> str:
        if edit.act == DRAW:
            start, end = _cell(edit.start), _cell(edit.end)
            if self.compact:
                return f"draw {edit.colour.capitalize()} {SHORT[edit.kind]} {start} to {end}"
            article = "an" if edit.colour[0] == "o" else "a"
            return f"draw {article} {edit.colour} {edit.kind} from cell {start} to cell {end}"
        shape = params.shapes[edit.shape]
        name = self._short(shape) if self.compact else f"the {_name(shape)}"
        if edit.act == DELETE:
            return f"delete {name}"
        if edit.beside < 0:
            return f"move {name} to {'' if self.compact else 'cell '}{_cell(edit.end)}"
        other = params.shapes[edit.beside]
        if self.compact:
            return f"move {name} {edit.side} {self._short(other)}"
        return f"move {name} to the cell directly {edit.side} the {_name(other)}"

    def _short(self, shape: Shape) -> str:
        return f"{shape.colour.capitalize()} {SHORT[shape.kind]}"

    # -- the oracle's hands --

    def _say(self, action: Action, short: str, thought: str) -> Demo:
        return Demo(action, short if self.compact else thought[0].upper() + thought[1:])

    def _stroke(self, device: BrowserDevice, edit: ShapeEdit) -> Drag:
        inset = 0.0 if edit.kind == "line" else 0.25
        begin = _point(device, self.board, edit.start, -inset)
        return Drag(*begin, *_point(device, self.board, edit.end, inset))


def _point(
    device: BrowserDevice, board: DrawBoard, cell: Cell, off: float = 0.0
) -> tuple[int, int]:
    """The middle of a cell on the screen, or `off` cells to its lower right."""
    left, top, width, height = device.box("#board")
    return (
        round(left + (cell[0] + 0.5 + off) * width / board.columns),
        round(top + (cell[1] + 0.5 + off) * height / board.rows),
    )


def _cell(cell: Cell) -> str:
    return f"{'ABCDEFGH'[cell[0]]}{cell[1] + 1}"


def _name(shape: Shape) -> str:
    return f"{shape.colour} {shape.kind}"


def _covered(edit: ShapeEdit) -> list[Cell]:
    if edit.act != DRAW:
        return [edit.end]
    (left, top), (right, bottom) = edit.start, edit.end
    return [(i, j) for i in range(left, right + 1) for j in range(top, bottom + 1)]


def _is_in(x: float, y: float, cell: Cell) -> bool:
    return abs(x - cell[0] - 0.5) <= 0.5 + SLACK and abs(y - cell[1] - 0.5) <= 0.5 + SLACK


def _middle(got: Mapping[str, Any]) -> tuple[float, float]:
    return (got["x1"] + got["x2"]) / 2, (got["y1"] + got["y2"]) / 2


def _stayed(shape: Shape, got: Mapping[str, Any]) -> bool:
    x, y = _middle(got)
    return abs(x - shape.cell[0] - 0.5) <= STILL and abs(y - shape.cell[1] - 0.5) <= STILL


def _is_made(edit: ShapeEdit, shape: Shape, got: Mapping[str, Any] | None) -> bool:
    if edit.act == DELETE or got is None:
        return edit.act == DELETE and got is None
    return _is_in(*_middle(got), edit.end) and not _stayed(shape, got)


def _is_drawn(edit: ShapeEdit, got: Mapping[str, Any]) -> bool:
    if (got["kind"], got["colour"]) != (edit.kind, edit.colour):
        return False
    ends = ((got["x1"], got["y1"]), (got["x2"], got["y2"]))
    if edit.kind != "line":
        (x1, x2), (y1, y2) = (sorted(pair) for pair in zip(*ends, strict=True))
        ends = ((x1, y1), (x2, y2))
    one, other = ends
    there = _is_in(*one, edit.start) and _is_in(*other, edit.end)
    back = edit.kind == "line" and _is_in(*other, edit.start) and _is_in(*one, edit.end)
    return there or back
