"""What `tiny-hands` is taught: boards of one click each, and nothing of the job it is to learn."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from ui_gym import UIVectorEnv
from ui_gym.browser import documents
from ui_gym.browser.tasks.checkbox_set import CheckboxSet
from ui_gym.contract.task import Demo
from ui_gym.errors import UserError
from ui_gym.testing import check_ui_env
from ui_gym_agents.agents import OracleAgent
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.episode import Episode
from ui_gym_agents.evaluation.evaluate import evaluate
from ui_gym_agents.policy import load_policy
from ui_gym_tiny import parts, pretrain
from ui_gym_tiny.parts import BoardBox, BoardButton, BoardView, Parts, PartsParams

JOB = CheckboxSet(compact=True)
TAUGHT = Parts(boards=8)
SEEDS = range(200)

(STAGE,) = (stage for stage in pretrain.STAGES if stage.name == "tiny-hands")


def _episodes(name: str, seeds: range, **arguments: object) -> list[Episode]:
    """What its oracle does, as the SFT plugin plays it."""
    envs = UIVectorEnv(2, name, autoreset_mode="Disabled", **arguments)
    try:
        return Collector(envs, OracleAgent()).collect(EpisodeRequest(seed=seed) for seed in seeds)
    finally:
        envs.close()


def test_a_board_keeps_its_contract() -> None:
    check_ui_env("UI/Parts-v0", boards=2, seeds=range(2))


def test_a_board_has_sixteen_successors_at_most() -> None:
    with pytest.raises(UserError, match="boards must be 1 to 16, not 17"):
        Parts(boards=17)


def test_what_is_read_aloud_is_what_the_board_shows() -> None:
    board = BoardView(
        boxes=(BoardBox("Carl", True, (0, 96)), BoardBox("Anna", False, (0, 64))),
        buttons=(BoardButton("Save", (0, 32)),),
        pick="Anna",
    )
    params = PartsParams(("Carl", "Anna"), save=True, verb=0, button_first=False, boards=(board,))
    assert TAUGHT.goal(params) == "Choose Carl or Anna. Or press Save."
    assert TAUGHT.goal(replace(params, button_first=True)) == "Press Save. Or choose Carl or Anna."
    assert TAUGHT.goal(replace(params, named=())) == "Choose Save."
    assert parts.lines(board, ("Anna", "Save")) == [
        "Save named <y6>",
        "Anna named off <y10>",
        "Carl on <y14>",
    ]
    assert parts.thought(board, ("Carl", "Anna")) == "Save <y6>\nAnna named off <y10>"


def test_the_recipe_plays_boards_alone() -> None:
    flags = STAGE.subject.flags
    assert flags[flags.index("--tasks.ids") + 1] == "[]"
    assert flags[flags.index("--tasks.custom") + 1] == "ui_gym_tiny.parts:Parts"
    assert not {"--tasks.suite", "--tasks.file", "--tasks.more"} & {*flags, *STAGE.flags}
    assert "--trainer.source" not in STAGE.flags  # the oracle's demonstrations, by default


def test_no_demonstration_has_the_jobs_page_or_goal() -> None:
    assert Parts.page != CheckboxSet.page
    taught = documents._source(Parts.page)
    assert 'uiGym.log("save"' in documents._source(CheckboxSet.page)
    assert "save" not in taught.lower()
    assert "<title>Board</title>" in taught
    job = {re.sub(r"[A-Z][a-z]{3,}", "_", JOB.goal(JOB.draw(seed))) for seed in SEEDS}
    goals = {re.sub(r"[A-Z][a-z]{3,}", "_", TAUGHT.goal(TAUGHT.draw(seed))) for seed in SEEDS}
    assert not job & goals
    asks_for_all = re.compile(r", \w+\. Press")
    assert all(asks_for_all.search(JOB.goal(JOB.draw(seed))) for seed in SEEDS)
    assert not any(asks_for_all.search(TAUGHT.goal(TAUGHT.draw(seed))) for seed in SEEDS)


def test_nothing_that_is_taught_takes_more_than_one_click() -> None:
    (one,) = _episodes("UI/Parts-v0", range(1), boards=1)
    assert (one.success, len(one.turns)) == (True, 1)
    pictures = set()
    for episode in _episodes("UI/Parts-v0", range(6), boards=4):
        assert episode.success
        seen = [turn.screenshot_id for turn in episode.turns]
        assert len(set(seen)) == 4  # every click is followed by another board
        pictures |= set(seen)
    for episode in _episodes("UI/CheckboxSet-v0", range(6), compact=True):
        assert len(episode.turns) == 3
        assert not {turn.screenshot_id for turn in episode.turns} & pictures


def test_which_of_the_named_is_picked_does_not_depend_on_what_is_ticked() -> None:
    picks = [
        (params, board, {box.label: box.ticked for box in board.boxes})
        for params in map(TAUGHT.draw, SEEDS)
        for board in params.boards
    ]
    ticked = [ticks[b.pick] for p, b, ticks in picks if len(p.named) > 1 and b.pick in p.named]
    assert abs(sum(ticked) / len(ticked) - 0.5) < 0.06
    # Nor is the button pressed sooner where all that is named is ticked.
    both = [(all(ticks[n] for n in p.named), b.pick) for p, b, ticks in picks if p.save and p.named]
    for done in (True, False):
        pressed = [pick == parts.SAVE for all_ticked, pick in both if all_ticked == done]
        assert abs(sum(pressed) / len(pressed) - parts.SAVE_SHARE) < 0.08


def test_an_oracle_says_a_demo_for_each_board() -> None:
    params = TAUGHT.draw(0)

    class Device:
        def center(self, selector: str) -> tuple[int, int]:
            return (20, 20)

    demos = list(TAUGHT.oracle(Device(), params))  # type: ignore[arg-type]
    assert len(demos) == 8
    assert all(isinstance(demo, Demo) and demo.thought for demo in demos)


@pytest.mark.parametrize(
    ("name", "arguments", "most", "least"),
    [("UI/Parts-v0", {"boards": 4}, 1.0, 0.8), ("UI/CheckboxSet-v0", {"compact": True}, 0.4, 0.0)],
)
def test_the_shipped_model_knows_the_parts_and_not_the_job(
    name: str, arguments: dict[str, Any], most: float, least: float
) -> None:
    """Its card says 97.5 % of boards, eight in a row; of the whole job it solves a tenth."""
    policy = load_policy("tiny-hands", max_new_tokens=48, threads=1)
    envs = UIVectorEnv(
        8, name, autoreset_mode="Disabled", dialect="cells", split="heldout", **arguments
    )
    try:
        report = evaluate(Collector(envs, policy), [EpisodeRequest(seed=s) for s in range(16)])
    finally:
        envs.close()
        policy.close()
    assert least <= report.success <= most
    assert report.total.valid_actions > 0.9
