"""Whole evaluations: many tasks at once, resuming, failures, and the reports they leave."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import paint
import pytest
from serving import AllAtOnce

from tests.evaluation.conftest import Chat
from ui_gym.contract import registry
from ui_gym.errors import UserError
from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.evaluation.plan import EvaluationPlan
from ui_gym_agents.evaluation.play import FinishedEvaluation, play
from ui_gym_agents.evaluation.report import folder
from ui_gym_agents.tasks.sources import TaskEntry

REPORTS = ("report.json", "report.md", "report.html")


class Loud:
    """Says what no page may run, then clicks one of the boxes, by the turn's noise."""

    calls = 0

    def __init__(self, action_space: Any) -> None:
        self.script = "<script>alert(1)</script> | **x**"

    def act(self, views: Sequence[View]) -> list[Decision]:
        type(self).calls += len(views)
        return [Decision(self._say(view)) for view in views]

    def _say(self, view: View) -> str:
        if not view.turns:
            return self.script
        color = list(paint.COLORS.values())[view.noise % 3]
        rows, columns = np.nonzero((view.screenshot == color).all(axis=-1))
        return f"click({columns[len(columns) // 2]}, {rows[len(rows) // 2]})"


def settings(*tasks: str, **given: Any) -> EvaluationPlan:
    entries = tuple(TaskEntry(registry.spec(task), split="heldout") for task in tasks)
    given = {"agent": "oracle", "dialect": "canonical", "episodes": 3, "envs": 2} | given
    return EvaluationPlan(entries, **given)


def evaluate(asked: EvaluationPlan, stop_after: int | None = None) -> FinishedEvaluation:
    """Play; as if Ctrl-C were pressed after so many episodes."""

    def watch(episodes: Iterable[Any], total: int) -> Iterator[Any]:
        for number, episode in enumerate(episodes, start=1):
            yield episode
            if number == stop_after:
                raise KeyboardInterrupt

    return play(asked, watch, lambda _: None)


def texts(path: Path) -> list[str]:
    """The reports without what the clock says."""
    report = json.loads((path / "report.json").read_text())
    del report["times"]
    others = [(path / name).read_text() for name in REPORTS[1:]]
    return [json.dumps(report), *(re.sub(r"Times: .*", "", text) for text in others)]


def test_several_tasks_are_measured_together_and_apart() -> None:
    report = evaluate(settings("PaintClick", "PaintText", max_steps=2)).report
    assert (report.n, report.total.instances) == (6, 6)
    assert {task: part.success for task, part in report.by_task.items()} == {
        "UI/PaintClick-v0": 1.0,
        "UI/PaintText-v0": 0.0,  # two steps are too few
    }
    assert {name: part.n for name, part in report.by_category.items()} == {"click": 3, "input": 3}
    assert list(report.by_difficulty) == ["easy", "medium"]
    assert 0.5 < report.total.score < 1.0


def test_attempts_at_an_instance_start_alike_and_give_pass_at_k() -> None:
    found = evaluate(settings("PaintClick", agent=f"{__name__}:Loud", attempts=4, episodes=5))
    starts = {(e.seed, e.turns[0].screenshot_id) for e in found.episodes}
    assert (len(starts), len(found.episodes)) == (5, 20)
    rates = found.report.total.pass_at_k
    assert list(rates) == [1, 2, 4]
    assert 0 < rates[1] < rates[2] < rates[4] <= 1
    assert rates[1] == pytest.approx(found.report.success)


@pytest.mark.parametrize("torn", [False, True])
def test_a_stopped_evaluation_plays_only_what_is_missing(tmp_path: Path, torn: bool) -> None:
    asked = settings("PaintClick", "PaintText", agent=f"{__name__}:Loud", attempts=2)
    evaluate(dataclasses.replace(asked, out=tmp_path / "whole"))
    parts = dataclasses.replace(asked, out=tmp_path / "parts")
    with pytest.raises(KeyboardInterrupt):
        evaluate(parts, stop_after=5)
    lines = (tmp_path / "parts" / "episodes.jsonl").read_text().splitlines()
    assert 5 <= len(lines) < 12
    assert not (tmp_path / "parts" / "report.json").exists()
    if torn:
        with (tmp_path / "parts" / "episodes.jsonl").open("a") as file:
            file.write('{"id": "UI/Paint')
    evaluate(parts)
    assert texts(tmp_path / "parts") == texts(tmp_path / "whole")
    again = (tmp_path / "parts" / "episodes.jsonl").read_text().splitlines()
    assert (again[: len(lines)], len(again)) == (lines, 12)

    Loud.calls = 0
    evaluate(parts)
    assert Loud.calls == 0
    assert texts(tmp_path / "parts") == texts(tmp_path / "whole")


def test_more_episodes_are_added_to_those_there_are(tmp_path: Path) -> None:
    evaluate(settings("PaintClick", out=tmp_path))
    found = evaluate(settings("PaintClick", out=tmp_path, episodes=5, envs=1))
    assert found.report.n == 5
    assert len((tmp_path / "episodes.jsonl").read_text().splitlines()) == 5


def test_a_folder_takes_no_other_evaluation(tmp_path: Path) -> None:
    evaluate(settings("PaintClick", out=tmp_path / "a"))
    with pytest.raises(UserError, match=r"agent was 'oracle' and is 'random'.*another --out"):
        evaluate(settings("PaintClick", out=tmp_path / "a", agent="random"))
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "episodes.jsonl").write_text("{}\n")
    with pytest.raises(UserError, match="holds episodes of something else"):
        evaluate(settings("PaintClick", out=tmp_path / "b"))
    with (
        folder.evaluation_store(tmp_path / "c", {}),
        pytest.raises(UserError, match="another process evaluates in"),
    ):
        evaluate(settings("PaintClick", out=tmp_path / "c"))


def test_failures_of_the_device_are_told_apart_and_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = paint.Faults(lose_on="a")
    pool = classmethod(lambda cls, options: paint.PaintPool(options.size, faults))
    monkeypatch.setattr(paint.PaintTask, "pool", pool)
    script = tmp_path / "script.txt"
    script.write_text('type("a")\n')
    asked = settings("PaintClick", agent="scripted", script=script, out=tmp_path / "out")
    report = evaluate(asked).report
    assert (report.n, report.total.failures, report.interval) == (0, 3, (0.0, 1.0))
    assert len(report.failed) == 3
    assert "UI/PaintClick-v0, seed " in report.failed[0]
    assert "device: " in (tmp_path / "out" / "report.md").read_text()
    faults.lose_on = ""
    report = evaluate(asked).report
    assert (report.n, report.total.failures, report.success) == (3, 0, 0.0)


def test_every_env_keeps_a_question_to_a_served_model_open(chat: Chat) -> None:
    together = AllAtOnce(4, answers=12)
    url, _ = chat("click(1, 1)", together)
    report = evaluate(
        settings("PaintText", agent=f"openai:m@{url}", envs=4, episodes=8, max_steps=3)
    ).report
    assert (together.starved, together.left) == (0, 0)
    assert (report.n, report.total.failures) == (8, 0)


def test_a_served_model_is_evaluated(chat: Chat) -> None:
    url, asked = chat("click(3, 3)")
    report = evaluate(settings("PaintClick", agent=f"openai:some-model@{url}")).report
    assert (report.n, report.total.failures, report.total.valid_actions) == (3, 0, 1.0)
    assert {question["model"] for question in asked} == {"some-model"}
    assert {question["temperature"] for question in asked} == {0.0}
    with pytest.raises(UserError, match="add --sample"):
        evaluate(settings("PaintClick", agent=f"openai:some-model@{url}", attempts=2))


class Reader(HTMLParser):
    """What a page holds: tags, and every address in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [v or "" for k, v in attrs if k in ("src", "href", "action", "data")]
        assert not [k for k, _ in attrs if k.startswith("on")]


def test_the_page_is_one_file_with_films_in_which_nothing_foreign_is_run(tmp_path: Path) -> None:
    evaluate(settings("PaintClick", agent=f"{__name__}:Loud", out=tmp_path, episodes=6))
    text = (tmp_path / "report.html").read_text()
    page = Reader(text)
    assert "default-src 'none'" in text
    assert not {"script", "link", "iframe", "object", "base"} & set(page.tags)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    films = [address for address in page.addresses if address.startswith("data:image/webp;")]
    assert films == page.addresses
    assert len(films) >= 4
    assert text.count('class="bad">failure') + text.count('class="good">success') == len(films)
    assert "url(" not in text


def test_a_long_episode_is_shown_by_its_ends(tmp_path: Path) -> None:
    script = tmp_path / "script.txt"
    script.write_text("wait(1)\n")
    asked = settings("PaintClick", agent="scripted", script=script, out=tmp_path / "out")
    evaluate(dataclasses.replace(asked, max_steps=20, episodes=1))
    assert "9 frames in the middle are left out" in (tmp_path / "out" / "report.html").read_text()


def test_what_cannot_be_played_is_said_before_anything_starts(tmp_path: Path) -> None:
    for wrong, told in (
        ({"agent": "policy", "attempts": 2}, "add --sample"),
        ({"agent": "scripted"}, "needs --script"),
        ({"agent": "no_such_module:Agent"}, "cannot be imported"),
        ({"arguments": {"bocks": 3}}, "boxes"),
        ({"agent": "scripted", "script": tmp_path / "none"}, "cannot be read"),
    ):
        with pytest.raises(UserError, match=told):
            evaluate(settings("PaintClick", **wrong))


def test_an_evaluation_on_elements_alone_has_reports_and_no_film(tmp_path: Path) -> None:
    asked = settings("PaintClick", observation="elements", out=tmp_path / "out", envs=1)
    found = evaluate(asked)
    assert [e.success for e in found.episodes] == [True] * 3
    assert all(turn.elements for e in found.episodes for turn in e.turns)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert set(REPORTS) <= names
    assert not {"film.png", "screenshots"} & names
