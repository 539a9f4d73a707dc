"""What the player is told: where a text points, what tokens say, what rewards are made of."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from made_runs import MadeRun
from PIL import Image

from ui_gym_agents.episode import Purpose, TokenRecord
from ui_gym_agents.monitor import comparing, player, tokens
from ui_gym_agents.monitor.api import MonitorApi
from ui_gym_agents.monitor.sources import Picture

SIZE = (1000, 500)
ELEMENTS = '[0] button "Save" @ 50,60 20x10'


@pytest.mark.parametrize(
    ("dialect", "text", "kind", "points"),
    [
        ("canonical", "click(10, 20)", "point", [(10, 20)]),
        ("canonical", "drag(1, 2, 30, 40)", "drag", [(1, 2), (30, 40)]),
        ("canonical", "scroll(5, 6, dy=300)", "scroll", [(5, 6)]),
        ("canonical", 'type("Iris")', "type", []),
        ("canonical", 'press("ctrl+c")', "key", []),
        ("canonical", "wait(1)", "wait", []),
        ("canonical", "finish()", "finish", []),
        ("uitars", "Action: click(start_box='(500,500)')", "point", [(500, 250)]),
    ],
)
def test_marks_of_a_text(dialect: str, text: str, kind: str, points: list) -> None:
    (mark,) = player.marks(text, SIZE, dialect)
    assert (mark["kind"], [tuple(point) for point in mark["points"]]) == (kind, points)


def test_a_model_s_own_point_lies_between_pixels() -> None:
    (mark,) = player.marks("Action: click(start_box='(333,333)')", SIZE, "uitars")
    ((x, y),) = mark["said"]
    assert (x, y) == pytest.approx((333, 166.5), abs=0.1)
    assert tuple(mark["points"][0]) == (333, 167)
    (pixels,) = player.marks("click(10, 20)", SIZE, "canonical")
    assert pixels["said"] is None


def test_a_point_outside_the_screen_was_said_and_not_done() -> None:
    (mark,) = player.marks("click(1200, 20)", SIZE, "canonical")
    assert (mark["points"], mark["said"]) == ([], [(1200.0, 20.0)])


@pytest.mark.parametrize("text", ["", "no action", "click(", "click(1e999, 0)", "\ud800"])
def test_a_text_that_is_no_action_has_no_marks(text: str) -> None:
    assert player.marks(text, SIZE, "canonical") == []
    assert player.marks(text, None, "canonical") == []
    assert player.marks(text, SIZE, "a dialect of somebody else") == []


def test_elements_are_read_from_what_the_agent_saw(run: MadeRun, api: MonitorApi) -> None:
    made = run.episode("1-7.0", Purpose("step", 1))
    made.turns[0].elements = f"{ELEMENTS}\nno element"
    made.turns[0].action_text = "click(element=0)"
    told = player.detail(made, SIZE, "canonical", {})["turns"][0]
    assert told["elements"] == [{"id": 0, "label": "button Save", "box": (40, 55, 20, 10)}]
    assert told["marks"][0]["points"] == [(50, 60)]


def test_terms_of_a_reward(run: MadeRun) -> None:
    made = run.episode("1-7.0", Purpose("step", 1), turns=3)
    config = {"trainer": {"reward": {"success": 1.0, "efficiency": 0.5, "mine:own": 1.0}}}
    found = {term["name"]: (term["weight"], term["value"]) for term in player.terms(made, config)}
    assert found["success"] == (1.0, 1.0)
    assert found["efficiency"][0] == 0.5
    assert 0 < found["efficiency"][1] < 1
    assert found["mine:own"] == (1.0, None)
    assert player.terms(made, {}) == []


@pytest.mark.parametrize("media", ["WEBP", "PNG"])
def test_a_picture_s_size(media: str) -> None:
    out = io.BytesIO()
    Image.fromarray(np.zeros((333, 777, 3), np.uint8)).save(out, media, lossless=True)
    assert player.picture_size(Picture("image", out.getvalue())) == (777, 333)
    assert player.picture_size(Picture("image", b"odd")) is None
    assert player.picture_size(None) is None


def test_tokens_are_read_by_the_run_s_model() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    from ui_gym_agents.policy import weights

    folder = weights.resolve("tiny-clerk", weights=False)
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    said = tokenizer.encode('type("Iris")').ids
    image = tokenizer.token_to_id("<|image_pad|>")
    prompt = [*tokenizer.encode("Enter").ids, *[image] * 5, *tokenizer.encode("row").ids]
    record = TokenRecord(tuple(prompt), tuple(said), (-0.5,) * len(said), ("ab" * 32,))
    told = tokens.told(record, {"policy": {"model": "tiny-clerk"}})
    assert "".join(token["text"] for token in told["output"]) == 'type("Iris")'
    assert told["logprob_sum"] == -0.5 * len(said)
    (before, shown, behind) = told["input"]
    assert (before["text"], shown["picture"], shown["tokens"], behind["text"]) == (
        "Enter", "ab" * 32, 5, "row",
    )  # fmt: skip


@pytest.mark.parametrize("model", ["", "somebody/on-a-hub", "no-such-model"])
def test_without_the_tokenizer_tokens_are_numbers(model: str) -> None:
    record = TokenRecord((1, 7, 7, 7, 7, 2), (3,), (-0.5,))
    told = tokens.told(record, {"policy": {"model": model}})
    assert told["note"]
    assert [token["text"] for token in told["output"]] == ["3 "]
    assert "7 (4 times) " in [part["text"] for part in told["input"]]


# -- two sides --


@pytest.mark.parametrize(
    ("a_only", "b_only", "p"),
    # scipy.stats.binomtest(min, a_only + b_only, 0.5).pvalue
    [(0, 0, 1.0), (5, 5, 1.0), (0, 5, 0.0625), (2, 10, 0.03857421875), (59, 121, 4.434e-06)],
)
def test_the_exact_paired_test(a_only: int, b_only: int, p: float) -> None:
    assert comparing.mcnemar(a_only, b_only) == pytest.approx(p, rel=1e-3)
    assert comparing.mcnemar(b_only, a_only) == pytest.approx(p, rel=1e-3)


def test_two_evaluations_are_paired_by_seed(run: MadeRun, api: MonitorApi) -> None:
    api.library.look()
    (one, *_) = api.answer("runs", {})["runs"]
    sides = {"a": f"{one['id']}/baseline/0/greedy", "b": f"{one['id']}/final/2/greedy"}
    told = api.answer("compare", sides)
    # before: 0 0 1 0, after: 1 1 0 1
    assert told["flips"] == {"both": 0, "a_only": 1, "b_only": 3, "neither": 0}
    assert (told["pairs"], told["difference"]) == (4, 0.5)
    assert told["p"] == pytest.approx(0.625)
    assert told["low"] < 0.5 < told["high"]
    shown = api.answer("compare", {**sides, "show": "a_only"})["episodes"]
    assert [(pair["seed"], pair["a"]["success"], pair["b"]["success"]) for pair in shown] == [
        (102, True, False)
    ]
    assert len(api.answer("compare/choices", {})["choices"]) == 2


def test_the_interval_of_a_difference_shrinks_with_pairs() -> None:
    few = comparing.paired_difference({"both": 1, "a_only": 1, "b_only": 3, "neither": 1})
    many = comparing.paired_difference({"both": 100, "a_only": 100, "b_only": 300, "neither": 100})
    assert few[0] == pytest.approx(many[0])
    assert few[2] - few[1] > 5 * (many[2] - many[1])
    assert comparing.paired_difference({"both": 0, "a_only": 0}) == (0.0, -1.0, 1.0)


def test_thumbnails_are_made_once(run: MadeRun, tmp_path: Path) -> None:
    from ui_gym_agents.monitor.sources.folder import RunFolder
    from ui_gym_agents.monitor.thumbnails import Thumbnails

    made = run.episode("1-7.0", Purpose("step", 1))
    key = made.turns[0].screenshot_id
    source = RunFolder(run.folder)
    first = Thumbnails(tmp_path / "small").get(key, source)
    for path in run.folder.rglob("pictures.sqlite*"):
        path.unlink()
    assert Thumbnails(tmp_path / "small").get(key, source) == first
    assert Thumbnails(None).get(key, source) is None
