"""CanvasDraw's logic."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from task_helpers import draws, goals, levels, verdicts

from ui_gym.browser.tasks.canvas_draw import SIDES, CanvasDraw, CanvasDrawParams, Shape, ShapeEdit
from ui_gym.contract.action import Click, Drag, Press
from ui_gym.errors import UserError

# The red rectangle goes from B2 to E4; an orange ellipse is drawn from F1 to G2; the rest stays.
SCENE = CanvasDrawParams(
    shapes=(Shape("rectangle", "red", (1, 1)), Shape("ellipse", "blue", (0, 5)),
            Shape("ellipse", "red", (7, 5))),
    edits=(ShapeEdit("move", 0, end=(4, 3)),
           ShapeEdit("draw", -1, "ellipse", "orange", (5, 0), (6, 1))),
    tool="line", colour="red", place=0, theme=0, phrasing=0,
)  # fmt: skip
LINE = dataclasses.replace(SCENE, edits=(ShapeEdit("draw", -1, "line", "blue", (2, 2), (4, 2)),))
GONE = dataclasses.replace(SCENE, edits=(ShapeEdit("delete", 1),))

Ends = tuple[float, float, float, float]


def shape(number: int, kind: str, colour: str, ends: Ends) -> dict[str, Any]:
    x1, y1, x2, y2 = ends
    return {"id": number, "kind": kind, "colour": colour, "x1": x1, "y1": y1, "x2": x2, "y2": y2}


def done(*added: dict[str, Any], gone: int = -1, **moved: tuple[float, float]) -> Any:
    """Done is pressed when some of the first shapes (`s0`...) have their middles elsewhere."""
    now = []
    for i, one in enumerate(SCENE.shapes):
        x, y = moved.get(f"s{i}", (one.cell[0] + 0.5, one.cell[1] + 0.5))
        now.append(shape(i, one.kind, one.colour, (x - 0.35, y - 0.35, x + 0.35, y + 0.35)))
    return ("done", {"shapes": [*(one for one in now if one["id"] != gone), *added]})


OVAL = shape(3, "ellipse", "orange", (5.2, 0.2, 6.8, 1.8))

test_canvas_draw_scores = verdicts(
    CanvasDraw(),
    SCENE,
    {
        "right": (done(OVAL, s0=(4.5, 3.5)), 1.0, True, "the picture is as asked"),
        "drawn from below": (
            done(shape(3, "ellipse", "orange", (6.9, 1.9, 5.1, 0.1)), s0=(4.5, 3.5)), 1.0, True),
        "a tenth of a cell beyond": (done(OVAL, s0=(5.09, 2.91)), 1.0, True),
        "two tenths": (done(OVAL, s0=(5.2, 3.5)), 0.5, True,
            "to do: move the red rectangle to cell E4"),
        "drawn too large": (
            done(shape(3, "ellipse", "orange", (5.2, 0.2, 7.2, 1.8)), s0=(4.5, 3.5)), 0.0, True),
        "another kind": (
            done(shape(3, "rectangle", "orange", (5.2, 0.2, 6.8, 1.8)), s0=(4.5, 3.5)), 0.0, True),
        "one too many": (
            done(OVAL, shape(4, "line", "red", (0, 0, 1, 1)), s0=(4.5, 3.5)), 0.5, True,
            "a red line is too much"),
        "drawn twice": (done(OVAL, {**OVAL, "id": 4}, s0=(4.5, 3.5)), 0.5, True),
        "another moved": (done(OVAL, s0=(4.5, 3.5), s1=(0.6, 5.5)), 0.5, True,
            "the blue ellipse was changed"),
        "another deleted": (done(OVAL, gone=2, s0=(4.5, 3.5)), 0.5, True),
        "nothing": (done(), 0.0, True),
        "drawn anew instead of moved": (
            done(OVAL, shape(4, "rectangle", "red", (4.1, 3.1, 4.9, 3.9)), gone=0), 0.0, True),
        "too late": (done(OVAL), done(OVAL, s0=(4.5, 3.5)), 0.5, True),
    },
)  # fmt: skip
test_canvas_draw_scores_of_lines = verdicts(
    CanvasDraw(edits=1, shapes=3),
    LINE,
    {
        "there": (done(shape(3, "line", "blue", (2.5, 2.5, 4.5, 2.5))), 1.0, True),
        "back": (done(shape(3, "line", "blue", (4.5, 2.5, 2.5, 2.5))), 1.0, True),
        "too short": (done(shape(3, "line", "blue", (2.5, 2.5, 3.5, 2.5))), 0.0, True),
    },
)
test_canvas_draw_scores_of_deletion = verdicts(
    CanvasDraw(edits=1, shapes=3),
    GONE,
    {
        "right": (done(gone=1), 1.0, True),
        "another": (done(gone=2), 0.0, True),
        "moved": (done(s1=(3.5, 3.5)), 0.0, True),
    },
)


def test_canvas_draw_goal() -> None:
    assert CanvasDraw().goal(SCENE) == (
        "Move the red rectangle to cell E4 and draw an orange ellipse from cell F1 to cell G2. "
        "Then press Done."
    )


@levels(CanvasDraw)
def test_canvas_draw_names_are_told_apart_and_places_are_free(task: Any) -> None:
    acts = set()
    for params, goal in goals(task):
        looks = [(one.kind, one.colour) for one in params.shapes]
        used = {one.cell for one in params.shapes}
        assert len(set(looks)) == len(used) == task.shapes
        for edit in params.edits:
            acts.add(edit.act)
            if edit.act == "draw":
                assert (edit.kind, edit.colour) not in looks
                assert f"{edit.colour} {edit.kind}" in goal
                assert edit.start != edit.end
            elif edit.act == "move":
                assert edit.end not in used
            if edit.beside >= 0:
                column, row = params.shapes[edit.beside].cell
                dx, dy = SIDES[edit.side]
                assert edit.end == (column + dx, row + dy)
                assert edit.beside not in {other.shape for other in params.edits}
        assert len({edit.act for edit in params.edits}) == task.edits
    assert acts == {"draw", "move", "delete"}


def test_canvas_draw_mistakes() -> None:
    task, rng = CanvasDraw(), np.random.default_rng(0)
    cells = {task.misread(SCENE, "cell", rng).edits for _ in range(40)}
    assert {(one.end, other.end) for one, other in cells} == {
        ((3, 3), (6, 1)), ((5, 3), (6, 1)), ((4, 3), (5, 1)), ((4, 3), (7, 1)),
    }  # fmt: skip
    assert task.misread(GONE, "cell", rng) == GONE
    assert {task.misread(GONE, "thing", rng).edits[0].shape for _ in range(20)} == {0, 2}


@pytest.mark.parametrize("compact", [False, True], ids=["full", "compact"])
def test_canvas_draw_keys_and_clicks(make_device: Any, *, compact: bool) -> None:
    task = CanvasDraw(compact=compact)
    device = make_device(task.viewport)
    params = next(draws(task))
    task.setup(device, params)
    first = device.state()["shapes"]
    left, top, width, height = device.box("#board")
    x, y = round(left + width / 2), round(top + height / 2)
    device.perform(Click(*device.center("#tool-line")))
    device.perform(Click(x, y))
    assert device.state()["shapes"] == first, "a click draws nothing"
    device.perform(Drag(x, y, round(left + width) + 40, y))
    (line,) = device.state()["shapes"][len(first) :]
    assert (line["kind"], line["x2"]) == ("line", task.board.columns), "it ends at the edge"
    device.perform(Click(*device.center("#tool-select")))
    device.perform(Click(x + 40, y))
    assert device.state()["selected"] == line["id"]
    device.perform(Press("delete"))
    assert device.state()["shapes"] == first
    if not compact:
        device.perform(Click(*device.center("#undo")))
        assert device.state()["shapes"] == [*first, line]


def test_canvas_draw_compact_refuses() -> None:
    with pytest.raises(UserError, match="shapes must be 3 to 4, not 5"):
        CanvasDraw(compact=True, shapes=5)
