"""What `tiny-reader` is taught: parts of jobs on the screens of all compact tasks."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from ui_gym import UIVectorEnv
from ui_gym.contract.suite import compact_families
from ui_gym.errors import UserError
from ui_gym.playing.env import UIEnv
from ui_gym.testing import check_ui_env
from ui_gym_agents.agents import OracleAgent
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.episode import Episode
from ui_gym_tiny import board, reading
from ui_gym_tiny.reading import ReadPages

FAMILIES = [spec.name for spec in compact_families("browser")]


def played(count: int, name: str = "ReadPages", **arguments: object) -> list[Episode]:
    envs = UIVectorEnv(4, name, autoreset_mode="Disabled", dialect="cells", **arguments)
    try:
        asked = [EpisodeRequest(seed=seed, split="train") for seed in range(count)]
        return Collector(envs, OracleAgent()).collect(asked)
    finally:
        envs.close()


def test_parts_keep_their_contract() -> None:
    check_ui_env("UI/ReadPages-v0", seeds=range(3), tasks=["Login", "KanbanDrag", "CopyPaste"])


@pytest.mark.nightly
def test_every_family_has_parts_that_can_be_done() -> None:
    done = played(4 * len(FAMILIES), parts=2)
    assert {episode.params["member"] for episode in done} >= {
        spec.id for spec in compact_families("browser")[::4]
    }
    assert not [episode.goal for episode in done if episode.failure]
    wins = sum(episode.success for episode in done)
    assert wins >= 0.97 * len(done)
    words = "\n".join(turn.caption for episode in done for turn in episode.turns)
    assert re.search(r"^<x\d+><y\d+> \w", words, re.MULTILINE), "pictures are read row by row"
    assert re.search(r"^\w.* <x\d+><y\d+>$", words, re.MULTILINE), "and things are found"


def test_only_screens_of_the_training_split_are_read() -> None:
    task = ReadPages()
    for seed in range(40):
        params = task.draw(seed, "train")
        assert task.members[params.member].split_of(params.shown) == "train"


def test_a_click_beside_what_is_named_is_no_part() -> None:
    env = UIEnv("ReadPages", tasks=["ClickButton"], parts=1)
    try:
        for seed in range(30):
            seen, _ = env.reset(seed=seed)
            if seen["goal"].startswith("Find "):
                break
        *_, info = env.step("click(318, 250)")
        assert (info["score"], info["success"]) == (0.0, False)
    finally:
        env.close()


def test_what_cannot_be_done_adds_nothing_to_what_was() -> None:
    """A part that is done, a line that is no action, and again: each part counts once."""
    env = UIEnv("ReadPages", tasks=["CheckboxSet"], parts=2)
    try:
        _, info = env.reset(seed=0, options={"oracle": True})
        env.step(info["oracle"]["action_text"].rpartition("\n")[2])
        env.step("no action at all")
        *_, info = env.step("click(318, 250)")
        assert info["score"] == 0.5
    finally:
        env.close()


def test_no_more_is_asked_than_there_is() -> None:
    with pytest.raises(UserError, match="tasks are some of Autocomplete"):
        ReadPages(tasks=["NoSuch"])
    with pytest.raises(UserError, match="parts must be 1 to 16"):
        ReadPages(parts=0)
    assert sum(reading.ASKED.values()) == pytest.approx(1)


def test_boards_keep_their_contract() -> None:
    check_ui_env("UI/ReadBoard-v0", seeds=range(3))
    check_ui_env("UI/ReadPages-v0", seeds=range(3), tasks=["Login"], boards=100)


def test_of_a_hundred_screens_so_many_are_boards() -> None:
    task = ReadPages(boards=30)
    members = [task.draw(seed, "train").member for seed in range(300)]
    assert 60 < members.count("UI/ReadBoard-v0") < 120
    with pytest.raises(UserError, match="boards must be 0 to 100"):
        ReadPages(boards=101)


def test_pages_and_boards_are_dressed() -> None:
    task = ReadPages(boards=50, look="varied")
    assert {member.look for member in task.members.values()} == {"varied"}
    check_ui_env("UI/ReadBoard-v0", seeds=range(1), look="dark")
    with pytest.raises(UserError, match="look"):
        ReadPages(look="no such")


@pytest.mark.parametrize(("name", "episodes"), [("ReadPhones", 26), ("ReadDesktops", 7)])
def test_phones_and_desktops_have_parts_that_can_be_done(name: str, episodes: int) -> None:
    done = played(episodes, name, parts=2)
    assert not [episode.goal for episode in done if episode.failure]
    assert all(episode.success for episode in done)
    captions = [turn.caption for episode in done for turn in episode.turns]
    assert all("\n" in caption for caption in captions), "there is something to be read"


def test_an_answer_is_what_the_screen_says() -> None:
    env = UIEnv("ReadPhones", tasks=["AndroidEventQuery"], parts=1)
    try:
        for seed in range(100):
            _, info = env.reset(seed=seed, options={"oracle": True})
            told = info["oracle"]["action_text"].rpartition("\n")[2]
            if told.startswith("answer("):
                break
        *_, terminated, _, info = env.step(told)
        assert (terminated, info["score"]) == (True, 1.0)
        env.reset(seed=seed)
        *_, terminated, _, info = env.step('answer("something else")')
        assert (terminated, info["score"]) == (True, 0.0)
    finally:
        env.close()


@pytest.mark.parametrize(
    ("name", "episodes"),
    [("ReadPages", 4 * len(FAMILIES)), ("ReadPhones", 100), ("ReadDesktops", 14)],
)
def test_boards_say_the_words_of_all_families(name: str, episodes: int) -> None:
    """What the compact screens say is on boards too, but for words that hardly ever come."""
    said = Counter[str]()
    for episode in played(episodes, name, parts=1):
        told = "\n".join([episode.goal, *(turn.caption for turn in episode.turns)])
        said.update(re.findall(r"[^\W\d_]{2,}", re.sub(r"<\w+>", "", told)))
    unknown = Counter({word: n for word, n in said.items() if word not in board.WORDS})
    assert unknown.total() < 0.02 * said.total(), unknown.most_common(20)
