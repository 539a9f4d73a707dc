"""What an agent is shown: pictures, elements, marks; and the pause before it looks."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.evaluation.conftest import Chat
from tests.evaluation.osworld import world
from tests.evaluation.osworld.world import HELLO, SIZE, Desk, Typist, options, run, write_tasks
from ui_gym.contract.action import Press
from ui_gym.errors import DeviceLost
from ui_gym.playing.pool import FreshPool
from ui_gym_agents.agents.openai_chat import OpenAIAgent
from ui_gym_agents.evaluation.osworld.envs import PausedPool
from ui_gym_agents.evaluation.osworld.looks import mark

BUTTON = '[7] button "Save" @ 35,20 30x20'


def test_marks_are_frames_with_numbers() -> None:
    image = np.full((48, 64, 3), 128, np.uint8)
    marked = mark(image, f"{BUTTON}\nnot an element")
    changed = (marked != image).any(axis=-1)
    assert changed[29, 20:50].all()  # the lower edge of the frame
    assert changed[10:30, 49].all()
    assert not changed[:10, 50:].any()
    assert (image == 128).all()
    assert not np.array_equal(marked, mark(image, BUTTON.replace("[7]", "[8]")))


@pytest.mark.parametrize(
    ("kind", "elements", "marks"),
    [
        ("screenshot", False, False),
        ("screenshot_a11y_tree", True, False),
        ("a11y_tree", True, False),
        ("som", True, True),
    ],
)
def test_each_observation_type_shows_its_parts(
    tmp_path: Path, kind: str, elements: bool, marks: bool
) -> None:
    meta = write_tasks(tmp_path, os={"a": HELLO})
    asked = options(tmp_path, meta, observation_type=kind)
    run(asked)
    assert asked.folder.parent.name == kind
    first, second = Typist.seen
    assert first.elements == second.elements == (BUTTON if elements else "")
    assert len(second.screenshots) >= 2
    for picture in second.screenshots:
        assert (picture[29, 20:50] != 128).any() == marks
    assert Typist.over == [0]


Served = tuple[str, list[dict[str, Any]]]


@pytest.fixture
def server(chat: Chat) -> Served:
    """A served model that is always done, and what it was asked."""
    return chat("Thought: so\nAction: finished()")


@pytest.mark.parametrize(("kind", "pictures"), [("screenshot", 1), ("a11y_tree", 0), ("som", 1)])
def test_a_served_model_is_asked_by_the_options(
    tmp_path: Path, server: Served, kind: str, pictures: int
) -> None:
    url, questions = server
    meta = write_tasks(tmp_path, os={"a": HELLO})
    asked = options(
        tmp_path, meta, agent=f"openai:UI-TARS@{url}", model="", action_space="uitars15",
        observation_type=kind, temperature=0.25, top_p=0.5, max_tokens=77,
    )  # fmt: skip
    scores, _ = run(asked)
    assert scores.total.n == 1
    assert (asked.folder / "os" / "a" / "result.txt").exists()
    (question,) = questions
    chosen = (question["temperature"], question["top_p"], question["max_completion_tokens"])
    assert chosen == (0.25, 0.5, 77)
    text = json.dumps(question["messages"])
    assert text.count('"image_url": {') == pictures
    assert "start_box" in text  # it is taught the words of UI-TARS
    assert ("button" in text) == (kind != "screenshot")


def test_a_served_model_of_somebody_s_own_is_asked_by_the_options_too(
    tmp_path: Path, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, questions = server
    monkeypatch.setattr(
        world, "own", lambda space: OpenAIAgent.named(f"openai:m@{url}", space), raising=False
    )
    meta = write_tasks(tmp_path, os={"a": HELLO})
    named = "tests.evaluation.osworld.world:own"
    run(options(tmp_path, meta, agent=named, action_space="uitars15", max_tokens=77))
    assert questions[0]["max_completion_tokens"] == 77
    assert "start_box" in json.dumps(questions[0]["messages"])


def test_ui_tars_is_asked_as_it_was_trained(tmp_path: Path, server: Served) -> None:
    url, questions = server
    meta = write_tasks(tmp_path, os={"a": HELLO})
    script = {"agent": f"openai:m@{url}", "action_space": "uitars15"}
    run(options(tmp_path, meta, **script))
    system, user = questions[0]["messages"]
    assert (system["role"], system["content"][0]["text"]) == (
        "system",
        "You are a helpful assistant.",
    )
    text, picture = user["content"]
    assert text["text"].index("## Action Space") < text["text"].index("## User Instruction\nDo a.")
    assert picture["type"] == "image_url"


def test_a_pause_lies_between_acting_and_looking_and_closing_ends_it() -> None:
    pool = PausedPool(FreshPool(lambda: Desk(SIZE)), seconds=600)
    device = pool.acquire()
    device.capture()  # nothing was done: no pause
    assert device.text == ""
    device.perform(Press("enter"))
    caught: list[BaseException] = []

    def look() -> None:
        try:
            device.capture()
        except DeviceLost as error:
            caught.append(error)

    thread = threading.Thread(target=look)
    thread.start()
    device.close()
    thread.join(timeout=60)
    assert not thread.is_alive()
    assert len(caught) == 1
    pool.release(device, healthy=False)
    pool.close()


def test_a_short_pause_changes_nothing(tmp_path: Path) -> None:
    meta = write_tasks(tmp_path, os={"a": HELLO})
    scores, _ = run(options(tmp_path, meta, sleep_after_execution=0.01))
    assert scores.total.success == 1.0


def test_the_trajectory_length_is_the_most_pictures(tmp_path: Path, server: Served) -> None:
    url, questions = server

    def pictures(question: dict[str, Any]) -> int:
        return json.dumps(question["messages"]).count('"image_url": {')

    meta = write_tasks(tmp_path, os={"a": HELLO})
    # Of another dialect than the server speaks: it is told so, and says the same again.
    asked = options(tmp_path, meta, agent=f"openai:m@{url}", max_steps=4, max_trajectory_length=2)
    run(asked)
    assert list(map(pictures, questions)) == [1, 2, 2, 2]
