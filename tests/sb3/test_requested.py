"""Episodes that are asked for, under Stable-Baselines3's rule that the next begins at once."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import paint
import pytest

pytest.importorskip("ui_gym_sb3", reason="needs the plugin ui-gym-sb3")

from sb3_helpers import Train, metrics

from ui_gym.playing.env import UIEnv
from ui_gym.playing.vector import UIVectorEnv
from ui_gym.wrappers import vector
from ui_gym_agents.collecting.collector import EpisodeRequest
from ui_gym_sb3.requested import RequestedEpisodes
from ui_gym_sb3.vec_env import SB3VecEnv


def requests() -> Iterator[EpisodeRequest]:
    for number in range(1000):
        split = "train" if number % 2 else "heldout"
        yield EpisodeRequest(seed=100 + number, group=f"g{number}", split=split)


@pytest.fixture
def envs() -> Iterator[UIVectorEnv]:
    made = UIVectorEnv(3, "PaintClick", autoreset_mode="Disabled", max_steps=4)
    yield made
    made.close()


def test_slots_play_the_requests_in_order(envs: UIVectorEnv) -> None:
    asked = requests()
    requested = RequestedEpisodes(envs, lambda: next(asked))
    gridded = vector.GridActions(requested, 6, 4)
    env = SB3VecEnv(vector.ScreenshotOnly(gridded))
    one = UIEnv("PaintClick", pool=paint.PaintPool((96, 64)))
    env.reset()
    begun = [info["seed"] for info in env.reset_infos]
    assert begun == [100, 101, 102]
    playing, ended = list(begun), 0
    rng = np.random.default_rng(0)
    for _ in range(30):
        seen, _, dones, infos = env.step(rng.integers(24, size=3))
        for slot in np.flatnonzero(dones):
            assert infos[slot]["group"] == f"g{playing[slot] - 100}"
            assert infos[slot]["seed"] == playing[slot]
            assert infos[slot]["terminal_observation"].shape == (64, 96, 3)
            playing[slot] = 103 + ended
            ended += 1
            number = playing[slot] - 100
            fresh = env.reset_infos[slot]
            assert fresh["seed"] == playing[slot]
            assert fresh["split"] == ("train" if number % 2 else "heldout")
            first, _ = one.reset(seed=playing[slot], options={"split": fresh["split"]})
            assert np.array_equal(seen[slot], first["screenshot"])
    assert ended > 9
    one.close()


def test_a_reset_leaves_what_is_open(envs: UIVectorEnv) -> None:
    asked = requests()
    requested = RequestedEpisodes(envs, lambda: next(asked))
    requested.reset()
    _, infos = requested.reset()
    assert infos["seed"].tolist() == [103, 104, 105]


def test_the_curriculum_is_told_how_episodes_ended(train: Train) -> None:
    run = train("run", "--run.steps", "2", "--tasks.curriculum", "learnability")
    state = json.loads((run / "checkpoints" / "step_000002" / "state.json").read_text())
    (told,) = state["context"]["curriculum"]["tasks"].values()
    first, second = metrics(run)
    assert told["groups"] == first["episodes"], "those of the second step are told to the third"
    assert len(state["context"]["curriculum"]["pending"]) == second["episodes"]
