"""The tasks of MiniWoB++ on our device: time by steps, seeds, judging, oracles."""

from __future__ import annotations

import contextlib
import inspect
import re
import time
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest

from ui_gym.browser.miniwob import catalogue
from ui_gym.contract import action as act
from ui_gym.contract import registry
from ui_gym.contract.device import DeviceOptions
from ui_gym.contract.task import Brief, Verdict
from ui_gym.errors import UserError
from ui_gym.testing import check_ui_env

if catalogue.html_folder() is None:
    pytest.skip(f"needs {catalogue.REMEDY}", allow_module_level=True)

from ui_gym.browser.miniwob import tasks
from ui_gym.browser.miniwob.oracles import ORACLES

SOLVED = [name for name, entry in catalogue.ENTRIES.items() if entry.subdomain in ORACLES]


def made(name: str, **arguments: Any) -> tasks.MiniWoBTask:
    cls: type[tasks.MiniWoBTask] = registry.spec(f"MiniWoB-{name}").load()
    return cls(**arguments)


class Devices:
    """One device for each size of a picture."""

    def __init__(self) -> None:
        self._pools: list[Any] = []
        self._made: dict[tuple[int, int], Any] = {}

    def of(self, task: tasks.MiniWoBTask) -> Any:
        if task.viewport not in self._made:
            self._pools.append(task.pool(DeviceOptions(size=task.viewport)))
            self._made[task.viewport] = self._pools[-1].acquire()
        return self._made[task.viewport]

    def close(self) -> None:
        for pool in self._pools:
            pool.close()


@pytest.fixture(scope="module")
def devices() -> Iterator[Devices]:
    made = Devices()
    yield made
    made.close()


class Episode:
    """An episode on a device, step by step."""

    def __init__(
        self, devices: Devices, name: str, seed: int = 0, split: Any = "train", **arguments: Any
    ) -> None:
        self.task = made(name, **arguments)
        self.device = devices.of(self.task)
        self.params = self.task.draw(seed, split)
        self.task.setup(self.device, self.params)
        self.brief: Brief = self.task.brief(self.device, self.params)
        self.picture = self.device.capture().image.copy()

    def do(self, *actions: act.Action) -> Verdict:
        for action in actions:
            self.device.perform(action)
        return self.task.judge(self.device, self.params, ())

    def press(self, selector: str) -> act.Click:
        return act.Click(*self.device.center(selector))


# -- params and arguments --


def test_a_seed_is_miniwobs_own_and_the_splits_share_none() -> None:
    task = made("ClickButton")
    assert task.draw(7, "train") == task.draw(7) == tasks.MiniWoBParams(7, "train")
    assert task.draw(7, "heldout") == tasks.MiniWoBParams(2**31 + 7, "test")
    assert task.split_of(task.draw(7)) == "train"
    assert task.split_of(task.draw(7, "heldout")) == "heldout"
    assert task.split_of(task.draw(2**40 + 7, "train")) == "train"
    rng = np.random.default_rng(0)
    assert task.split_of(task.sample(rng)) == "train"


def test_steps_follow_from_the_time_of_one() -> None:
    assert made("ClickButton").max_steps == 20
    assert made("ClickButton", step_time=0.3).max_steps == 34
    assert made("StockMarket").step_time == 0.1
    assert made("FlightAA").viewport == (375, 667)


def test_a_large_picture_can_be_had() -> None:
    with contextlib.closing(gymnasium.make("UI/MiniWoB-ClickTest-v0", viewport=(640, 480))) as env:
        observation, _ = env.reset(seed=0)
    assert observation["screenshot"].shape == (480, 640, 3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"step_time": 0}, "step_time is a number above 0 and up to 10, not 0"),
        ({"step_time": 11}, "not 11"),
        ({"threshold": 1.5}, "threshold is a number above 0 and up to 1, not 1.5"),
        ({"threshold": True}, "not True"),
    ],
)
def test_a_wrong_argument_is_refused(arguments: Any, said: str) -> None:
    with pytest.raises(UserError, match=re.escape(said)):
        made("ClickButton", **arguments)


@pytest.mark.parametrize(
    ("name", "size", "kind", "way"),
    [
        ("ClickButton", (160, 210), "auto", "auto"),
        ("ClickButton", (1280, 800), "auto", "chromium:screenshot"),
        ("FlightAA", (375, 667), "auto", "chromium:screenshot"),
        ("FlightAA", (375, 667), "chromium:beginframe", "chromium:beginframe"),
    ],
)
def test_pictures_are_taken_in_a_way_that_the_page_bears(
    name: str, size: tuple[int, int], kind: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui_gym.browser.pool.BrowserPool", lambda options: options)
    assert made(name).pool(DeviceOptions(kind, size=size)).kind == way  # type: ignore[attr-defined]


def test_each_class_tells_of_its_own_task() -> None:
    doc = inspect.getdoc(type(made("FlightAA"))) or ""
    assert doc.startswith(catalogue.ENTRIES["FlightAA"].summary)
    assert "667x375x3" in doc
    assert "after 60 s of page time" in doc


# -- judging --


class Told:
    """A device that only says how the episode stands."""

    def __init__(self, over: bool, raw: float | None, reason: str | None = None) -> None:
        told = {"over": over, "raw": raw, "reward": 0.5, "reason": reason, "seconds": 2.5}
        self.state = lambda: told


@pytest.mark.parametrize(
    ("raw", "threshold", "score"),
    [(1, 1.0, 1), (0.5, 1.0, 0.5), (0.5, 0.5, 1), (0, 1.0, 0), (-1, 1.0, 0), (None, 1.0, 0)],
)
def test_the_score_is_what_of_the_raw_reward_is_above_zero(
    raw: float | None, threshold: float, score: float
) -> None:
    task = made("BisectAngle", threshold=threshold)
    verdict = task.judge(Told(True, raw, "why"), task.draw(0), ())  # type: ignore[arg-type]
    assert (verdict.score, verdict.done) == (score, True)
    assert verdict.notes == f"raw reward {raw or 0:.3g}, 0.5 with its discount: why"
    assert verdict.details == {
        "raw_reward": raw or 0, "reward": 0.5, "reason": "why", "seconds": 2.5,
    }  # fmt: skip


# -- episodes --


@pytest.mark.parametrize("name", SOLVED)
def test_an_oracle_succeeds(devices: Devices, name: str) -> None:
    for seed, split in ((0, "train"), (1, "train"), (0, "heldout")):
        episode = Episode(devices, name, seed, split)
        verdict = Verdict(0.0)
        for action in episode.task.oracle(episode.device, episode.params):
            assert not verdict.done
            verdict = episode.do(action)
        assert verdict.success, (seed, split, verdict.notes)
        assert 0 < verdict.details["reward"] <= 1
        assert verdict.done


def stray(episode: Episode) -> None:
    """Do something of everything."""
    width, height = episode.task.viewport
    for n in range(6):
        x, y = 7 + 31 * n % width, 60 + 37 * n % (height - 60)
        actions = [act.Click(x, y), act.Drag(x, y, width - x, y), act.Scroll(x, y, dy=60),
                   act.Type("a 1"), act.Press("tab"), act.Press("ctrl+a")]  # fmt: skip
        if episode.do(actions[n]).done:
            break


@pytest.mark.nightly
@pytest.mark.parametrize("name", catalogue.ENTRIES)
def test_a_seed_gives_the_same_picture_in_a_fresh_page_and_in_a_used_one(
    devices: Devices, name: str
) -> None:
    seeds = (0, 2**31 - 1)
    first = [Episode(devices, name, seed) for seed in seeds]
    assert all(episode.brief.goal for episode in first)
    for episode in first:
        width, height = episode.task.viewport
        assert episode.picture.shape == (height, width, 3)
        assert len(np.unique(episode.picture.reshape(-1, 3), axis=0)) > 5
    stray(Episode(devices, name, 3))
    for seed, before in zip(seeds, first, strict=True):
        again = Episode(devices, name, seed)
        assert again.brief == before.brief
        assert np.array_equal(again.picture, before.picture)


def test_other_seeds_give_other_episodes(devices: Devices) -> None:
    goals = {Episode(devices, "ClickButton", seed).brief.goal for seed in range(6)}
    assert len(goals) > 2


def test_the_heldout_split_is_miniwobs_test_data(devices: Devices) -> None:
    assert Episode(devices, "ClickTestTransfer").brief.goal == "Click button ONE."
    heldout = Episode(devices, "ClickTestTransfer", split="heldout")
    assert heldout.brief == Brief("Click button TWO.", {"fields": {"target": "TWO"}})


def test_fields_made_in_the_page_are_those_told(devices: Devices) -> None:
    fields = Episode(devices, "EmailInboxNlTurk").brief.hidden["fields"]
    assert set(fields) >= {"by", "task"}


def test_time_passes_by_actions_alone(devices: Devices) -> None:
    episode = Episode(devices, "EnterText")
    began = episode.do().details["seconds"]
    assert began < 0.1
    time.sleep(0.5)  # a slow model
    assert episode.do().details["seconds"] == began
    assert episode.do(episode.press("#tt")).details["seconds"] == pytest.approx(began + 0.5)
    verdict = episode.do(act.Wait(2))
    assert verdict.details["seconds"] == pytest.approx(began + 3)
    assert (verdict.score, verdict.done, verdict.notes) == (0.0, False, "not over")


def test_the_discount_is_a_function_of_the_steps(devices: Devices) -> None:
    rewards = []
    for waits in (0, 4):
        episode = Episode(devices, "ClickTest")
        episode.do(*[act.Move(5, 60)] * waits)
        verdict = episode.do(episode.press("#subbtn"))
        assert verdict.details["raw_reward"] == verdict.score == 1
        rewards.append(verdict.details["reward"])
    assert rewards[0] == pytest.approx(1, abs=0.01)
    assert rewards[0] - rewards[1] == pytest.approx(4 * 0.5 / 10)


def test_the_time_limit_is_page_time(devices: Devices) -> None:
    episode = Episode(devices, "ClickTest")
    assert not episode.do(act.Wait(9)).done
    verdict = episode.do(act.Wait(1))
    assert (verdict.score, verdict.done, verdict.details["reason"]) == (0.0, True, "timed out")
    assert verdict.details["raw_reward"] == -1


def test_what_comes_after_the_end_is_not_played(devices: Devices) -> None:
    episode = Episode(devices, "ClickTest")
    button = episode.press("#subbtn")
    won = episode.do(button)
    shown = episode.device.capture().image
    # There MiniWoB would cover the page with its start button.
    assert not (shown[60:] == 0x11).all(-1).mean() > 0.3
    after = episode.do(act.Click(80, 105), button, act.Press("enter"), act.Wait(10))
    assert after == won


def test_animations_are_over_when_a_step_is(devices: Devices) -> None:
    for name, selector in (
        ("ClickCollapsible", "#area h3"),
        ("ChooseDate", "#datepicker"),
        ("ClickPie", "#divWheel"),
        ("UseAutocomplete", "#tags"),
    ):
        episode = Episode(devices, name)
        episode.do(episode.press(selector))
        if name == "UseAutocomplete":
            episode.do(act.Type(episode.brief.hidden["fields"]["start"]))
        shown = episode.device.capture().image
        assert not np.array_equal(shown, episode.picture), name
        episode.do(act.Wait(1))
        assert np.array_equal(episode.device.capture().image, shown), name


def test_flights_are_played_in_a_frame(devices: Devices) -> None:
    episode = Episode(devices, "FlightAA")
    fields = episode.brief.hidden["fields"]
    assert fields["Departure City"] in episode.brief.goal
    count = "document.getElementById('wrap').contentDocument.getElementById('passengerCount').value"
    assert episode.device.evaluate(count) == "1"
    episode.do(act.Click(90, 427), act.Press("down"), act.Press("enter"))
    assert episode.device.evaluate(count) == "2"
    verdict = episode.do(act.Click(187, 546))  # Search, with nothing else filled in
    assert verdict.details["raw_reward"] == -1
    assert verdict.details["reason"] == "BAD: Missing required field segments[0].destination"


# -- as envs --


@pytest.mark.parametrize("name", ["ClickTab2", "LoginUser", "StockMarket"])
def test_a_task_keeps_its_contract(name: str) -> None:
    check_ui_env(f"UI/MiniWoB-{name}-v0", seeds=[0, 1], observation="both")


def test_gym_makes_it_and_tells_the_raw_reward() -> None:
    env = gymnasium.make("UI/MiniWoB-ClickTest-v0")
    try:
        observation, info = env.reset(seed=0, options={"oracle": True, "ground_truth": True})
        assert observation["goal"] == "Click the button."
        assert observation["screenshot"].shape == (210, 160, 3)
        assert info["details"] == {}
        assert info["ground_truth"].hidden == {"fields": {}}
        _, reward, terminated, _, info = env.step(info["oracle"]["action_text"])
        assert (reward, terminated, info["details"]["raw_reward"]) == (1.0, True, 1.0)
        with pytest.raises(UserError, match="TicTacToe-v0 has no oracle: nobody wrote down how"):
            gymnasium.make("UI/MiniWoB-TicTacToe-v0").reset(options={"oracle": True})
    finally:
        env.close()
