"""ui-gym in tinker-cookbook 0.5.8: its own rollouts with an oracle, and its `rl.train` on a server.

The cookbook wants an older transformers than the server does, which is why the server runs in a
Python of its own: that of UI_GYM_SERVER_PYTHON.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import pickle
import secrets
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as PILImage
from waiting import eventually

pytest.importorskip("tinker_cookbook", reason="tox -e cookbook")

import tinker
from tinker_cookbook.completers import TokenCompleter, TokensWithLogprobs
from tinker_cookbook.rl import train
from tinker_cookbook.rl.data_processing import assemble_training_data, compute_advantages
from tinker_cookbook.rl.rollout_strategy import FailFast, MinViableGroup, RetryOnFailure
from tinker_cookbook.rl.rollouts import do_group_rollout
from tinker_cookbook.rl.types import StopReason, TrajectoryGroup

from ui_gym.errors import DeviceError, UserError
from ui_gym.remote.png import png
from ui_gym_agents.chat import ChatEpisode
from ui_gym_agents.integrations.episodes import EpisodeRow
from ui_gym_agents.policy.wording import wording_of
from ui_gym_tinker.cookbook import (
    AskSettings,
    UIGymDatasetBuilder,
    UIGymEnvGroupBuilder,
    register_tokenizer,
)

MODEL = "tiny-clerk"
SERVER = os.environ.get("UI_GYM_SERVER_PYTHON")
PER_PICTURE = -(-96 // 32) * -(-64 // 32)
"""Placeholders of a picture of the paint suite."""


pytestmark = pytest.mark.usefixtures("held")


class Oracle(TokenCompleter):
    """Says what solves an episode, by the last picture that it is shown."""

    def __init__(self, row: EpisodeRow) -> None:
        self.tokenizer = wording_of(MODEL).tokenizer
        self.turns: dict[bytes, str] = {}
        """What is to be said, by the PNG of the picture, in the episode's order."""
        chat = ChatEpisode(row.task, **row.arguments)
        chat.reset(row.seed, options={"oracle": True})
        done = False
        while not done:
            said = str(chat.info["oracle"]["action_text"])
            self.turns[png(chat.view.screenshot)] = said
            done = chat.act(said).done
        chat.close()
        self.asked = 0

    async def __call__(
        self, model_input: tinker.ModelInput, stop: Any, *, max_tokens: int | None = None
    ) -> TokensWithLogprobs:
        self.asked += 1
        return self.said(self.turns[pictures(model_input)[-1].data], stop)

    def said(self, text: str, stop: Any) -> TokensWithLogprobs:
        ids = [*self.tokenizer.encode(text, add_special_tokens=False), stop[0]]
        return TokensWithLogprobs(ids, [-0.5] * len(ids))


class Blunder(Oracle):
    """An oracle whose first answers are another text, so many times."""

    def __init__(self, row: EpisodeRow, text: str, times: int) -> None:
        super().__init__(row)
        self.text = text
        self.times = times

    async def __call__(
        self, model_input: tinker.ModelInput, stop: Any, *, max_tokens: int | None = None
    ) -> TokensWithLogprobs:
        if self.asked < self.times:
            self.asked += 1
            return self.said(self.text, stop)
        return await super().__call__(model_input, stop)


def pictures(model_input: tinker.ModelInput) -> list[tinker.types.ImageChunk]:
    return [chunk for chunk in model_input.chunks if not hasattr(chunk, "tokens")]


def row(seed: int = 3, **arguments: Any) -> EpisodeRow:
    return EpisodeRow("PaintText", seed, arguments)


def group(of: EpisodeRow, size: int = 2, *, slots: int = 8, **asked: Any) -> UIGymEnvGroupBuilder:
    return UIGymEnvGroupBuilder(
        of, size, AskSettings(MODEL, **asked), slots, ("paint", "PaintText")
    )


def play(
    builder: UIGymEnvGroupBuilder, policy: TokenCompleter, strategy: Any = None
) -> TrajectoryGroup:
    return asyncio.run(do_group_rollout(builder, policy, strategy))


def datums(played: TrajectoryGroup) -> list[tinker.Datum]:
    """What the cookbook would have learned from."""
    return assemble_training_data([played], compute_advantages([played]))[0]


# -- episodes --


def test_an_oracle_wins_and_each_turn_is_learned_from_with_its_picture_as_it_was() -> None:
    oracle = Oracle(row())
    played = play(group(row()), oracle)
    assert played.get_total_rewards() == [1.0, 1.0]
    assert played.metrics_G == [{"score": 1.0, "success": 1.0}] * 2
    assert [t.stop_reason for t in played.trajectories_G] == [StopReason.COMPLETED] * 2
    found = datums(played)
    assert len(found) == 2 * len(oracle.turns)  # nothing but the present picture is shown
    shown = list(oracle.turns)
    for number, datum in enumerate(found):
        (picture,) = pictures(datum.model_input)
        assert (picture.format, picture.data) == ("png", shown[number % len(shown)])
        assert picture.expected_tokens == PER_PICTURE
        targets = datum.loss_fn_inputs["target_tokens"].tolist()
        assert len(targets) == datum.model_input.length
        said = oracle.tokenizer.encode(oracle.turns[picture.data], add_special_tokens=False)
        assert targets[-len(said) - 1 : -1] == said
        assert sum(datum.loss_fn_inputs["mask"].tolist()) == len(said) + 1


def test_a_picture_is_the_screenshot_to_the_bit() -> None:
    chat = ChatEpisode("PaintText")
    url = chat.reset(3)[-1]["content"][-1]["image_url"]["url"]
    chat.close()
    played = play(group(row(), 1), Oracle(row()))
    first = pictures(datums(played)[0].model_input)[0]
    seen = [base64.b64decode(url.partition(",")[2]), first.data]
    one, other = (np.asarray(PILImage.open(io.BytesIO(data)).convert("RGB")) for data in seen)
    assert (one == other).all()


def test_turns_that_extend_each_other_are_one_sequence_with_all_of_their_pictures() -> None:
    oracle = Oracle(row())
    played = play(group(row(), 1, history=9), oracle)
    (datum,) = datums(played)
    assert [chunk.data for chunk in pictures(datum.model_input)] == list(oracle.turns)
    length = len(datum.loss_fn_inputs["target_tokens"].tolist())
    assert datum.model_input.length == length


@pytest.mark.parametrize("history", [1, 2])
def test_a_renderer_of_the_cookbook_gives_the_same_prompt_with_the_same_pictures(
    history: int,
) -> None:
    by_template = play(group(row(), 1, history=history), Oracle(row()))
    by_renderer = play(
        group(row(), 1, history=history, renderer="qwen3_vl_instruct"), Oracle(row())
    )
    assert by_renderer.get_total_rewards() == [1.0]
    for one, other in zip(
        by_template.trajectories_G[0].transitions,
        by_renderer.trajectories_G[0].transitions, strict=True,
    ):  # fmt: skip
        assert flat(one.ob) == flat(other.ob)
        assert one.ac == other.ac


def flat(model_input: tinker.ModelInput) -> list[Any]:
    """Tokens, and pictures as (bytes, format, tokens): chunks may be cut in other places."""
    found: list[Any] = []
    for chunk in model_input.chunks:
        found += getattr(chunk, "tokens", None) or [
            (chunk.data, chunk.format, chunk.expected_tokens)
        ]
    return found


def test_a_renderer_that_is_blind_is_told_of() -> None:
    with pytest.raises(UserError, match=r"renderer 'qwen3_.*the model's own chat template"):
        play(group(row(), 1, renderer="qwen3_instruct"), Oracle(row()))


def test_what_is_no_action_is_counted_and_steps_run_out() -> None:
    of = row(max_steps=2)
    played = play(group(of, 1), Blunder(of, "I do not know.", 9))
    first, second = played.trajectories_G[0].transitions
    assert (first.metrics, first.logs) == ({"action_errors": 1.0}, {"action": "I do not know."})
    assert second.metrics["stop/max_turns"] == 1.0
    assert played.get_total_rewards() == [0.0]


def test_progress_is_rewarded_where_it_is_made() -> None:
    of = row(reward="progress")
    played = play(group(of, 1), Oracle(of))
    rewards = [step.reward for step in played.trajectories_G[0].transitions]
    assert (rewards[0], sum(rewards)) == (0.5, 1.0)


# -- devices --

BREAKS = {"device": "paint:lose_on=boom"}
BOOM = "click(1, 1); type('boom')"


def test_a_failed_device_is_the_groups_error_and_no_reward(held: list[Any]) -> None:
    of = row(**BREAKS)
    with pytest.raises(DeviceError, match="the paint has dried"):
        play(group(of, 3), Blunder(of, BOOM, 1), FailFast())


def test_an_episode_whose_device_fails_is_played_again() -> None:
    of = row(**BREAKS)
    played = play(group(of, 2), Blunder(of, BOOM, 1), RetryOnFailure())
    assert [error.error_type for error in played.rollout_errors] == ["DeviceError"]
    assert played.get_total_rewards() == [1.0, 1.0]


def test_a_group_may_go_without_the_episode_whose_device_failed() -> None:
    of = row(**BREAKS)
    played = play(group(of, 4), Blunder(of, BOOM, 1), MinViableGroup(max_retries=0))
    assert len(played.rollout_errors) == 1
    assert played.get_total_rewards() == [1.0] * 3


@pytest.mark.timeout(60)
def test_a_rollout_that_no_answer_came_for_leaves_its_slot_to_the_next() -> None:
    class Drops(Oracle):
        async def __call__(self, *args: Any, **more: Any) -> TokensWithLogprobs:
            if not self.asked:
                self.asked += 1
                raise ConnectionError("no answer")  # of which the env is not told
            return await super().__call__(*args, **more)

    played = play(group(row(), 1, slots=1), Drops(row()), RetryOnFailure())
    assert [error.error_type for error in played.rollout_errors] == ["ConnectionError"]
    assert played.get_total_rewards() == [1.0]


def test_no_more_episodes_than_slots_hold_a_device(held: list[Any]) -> None:
    most = 0

    class Counts(Oracle):
        async def __call__(self, *args: Any, **more: Any) -> TokensWithLogprobs:
            nonlocal most
            most = max(most, len(held))
            return await super().__call__(*args, **more)

    played = play(group(row(), 5, slots=2), Counts(row()))
    assert (most, played.get_total_rewards()) == (2, [1.0] * 5)


def test_a_closed_env_begins_nothing(held: list[Any]) -> None:
    async def main() -> None:
        builder = group(row(), 2)
        played, waiting = await builder.make_envs()
        await played.initial_observation()
        assert len(held) == 1
        await builder.cleanup()
        assert held == []
        with pytest.raises(UserError, match="plays once"):
            await played.step([1])
        with pytest.raises(UserError, match="plays once"):
            await waiting.initial_observation()
        await builder.cleanup()

    asyncio.run(main())


def test_a_builder_may_be_sent_to_another_process_while_its_envs_play() -> None:
    async def main() -> UIGymEnvGroupBuilder:
        builder = group(row(), 1)
        (env,) = await builder.make_envs()
        await env.initial_observation()
        sent: UIGymEnvGroupBuilder = pickle.loads(pickle.dumps(builder))  # noqa: S301  # its own
        await builder.cleanup()
        return sent

    sent = asyncio.run(main())
    assert sent.logging_tags() == ["paint", "PaintText"]
    assert play(sent, Oracle(row())).get_total_rewards() == [1.0]


# -- the data set --


def build(**settings: Any) -> tuple[Any, Any]:
    tasks = settings.pop("tasks", ["PaintText", "PaintClick"])
    return asyncio.run(UIGymDatasetBuilder(model=MODEL, tasks=tasks, **settings)())


def test_batches_go_through_the_seeds_and_the_tasks_take_turns() -> None:
    data, none = build(batches=3, groups_per_batch=2, group_size=5, seed=10, arguments={"boxes": 2})
    assert (len(data), none) == (3, None)
    batch = data.get_batch(1)
    assert [(b.row.task, b.row.seed) for b in batch] == [
        ("UI/PaintText-v0", 12), ("UI/PaintClick-v0", 13),
    ]  # fmt: skip
    assert {b.group_size for b in batch} == {5}
    assert [b.logging_tags() for b in batch] == [["paint", "PaintText"], ["paint", "PaintClick"]]
    assert batch[0].row.arguments == {"boxes": 2}


def test_held_out_groups_are_of_the_split_that_training_does_not_see() -> None:
    data, held_out = build(batches=2, groups_per_batch=2, test_groups=3, test_group_size=2)
    assert [len(held_out.get_batch(i)) for i in range(len(held_out))] == [2, 1]
    assert held_out.get_batch(0)[0].row.arguments["split"] == "heldout"
    assert held_out.get_batch(0)[0].group_size == 2
    assert data.get_batch(0)[0].row.arguments.get("split", "train") == "train"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"tasks": ["PaintTxt"]}, "Did you mean"),
        ({"arguments": {"boxs": 2}}, "boxs"),
        ({"arguments": {"boxes": 7}}, "boxes is 2 or 3, not 7"),
        ({"group_size": 0}, "group_size is a whole number from 1 on, not 0"),
        ({"test_groups": 2, "arguments": {"split": None}}, "trains on what test_groups holds out"),
    ],
)
def test_what_no_retry_would_mend_is_said_before_anything_is_played(
    settings: dict[str, Any], told: str
) -> None:
    with pytest.raises(UserError, match=told):
        build(**settings)


def test_a_model_that_is_not_there_is_told_of() -> None:
    with pytest.raises(UserError, match="tiny-clerk"):
        register_tokenizer("tiny-clark")


# -- the whole loop --


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A server of the tiny clerk, which the environment names."""
    if not SERVER:
        pytest.skip("UI_GYM_SERVER_PYTHON names no Python with ui-gym-tinker[server]")
    folder = tmp_path_factory.mktemp("server")
    told = folder / "told"
    key = f"tml-{secrets.token_hex(16)}"
    command = [SERVER, "-m", "ui_gym_tinker.server.cli", "--model", MODEL, "--port", "0"]
    with pytest.MonkeyPatch.context() as patch, told.open("w") as out:
        patch.setenv("TINKER_API_KEY", key)
        serving = subprocess.Popen(
            [*command, "--checkpoints", str(folder / "checkpoints")], stdout=out, stderr=out
        )
        try:
            address = "TINKER_BASE_URL="
            assert eventually(
                lambda: address in told.read_text() or serving.poll() is not None, seconds=120
            )
            assert serving.poll() is None, told.read_text()
            patch.setenv("TINKER_BASE_URL", told.read_text().partition(address)[2].split()[0])
            yield
        finally:
            serving.terminate()
            serving.wait(30)


@pytest.fixture
def learn(served: None, tmp_path: Path) -> Callable[..., list[dict[str, Any]]]:
    """Runs the cookbook's own `main`; returns the metrics of all updates in its log."""
    register_tokenizer(MODEL)

    def go(updates: int, **settings: Any) -> list[dict[str, Any]]:
        arguments = {"compact": True, "dialect": "cells"}
        data = UIGymDatasetBuilder(
            model=MODEL, tasks=["UI/DataEntry-v0"], arguments=arguments, batches=updates,
            groups_per_batch=2, group_size=4,
        )  # fmt: skip
        config = train.Config(
            learning_rate=1e-3, dataset_builder=data, model_name=MODEL, recipe_name="ui-gym",
            max_tokens=24, log_path=str(tmp_path), lora_rank=8, save_every=4, eval_every=0,
            **settings,
        )  # fmt: skip
        asyncio.run(train.main(config))
        return lines(tmp_path / "metrics.jsonl")

    return go


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def logprobs(model_path: str | None) -> list[float | None]:
    """Of a fixed prompt with a picture, by the base or by saved weights."""
    chunks: list[Any] = [
        tinker.EncodedTextChunk(tokens=[5, 6, 7]),
        tinker.types.ImageChunk(
            data=png(np.full((256, 320, 3), 200, np.uint8)), format="png", expected_tokens=80
        ),
        tinker.EncodedTextChunk(tokens=[8, 9, 10, 11]),
    ]
    client = tinker.ServiceClient()
    named = {"base_model": MODEL} if model_path is None else {"model_path": model_path}
    sampler = client.create_sampling_client(**named)
    return sampler.compute_logprobs(tinker.ModelInput(chunks=chunks)).result()


def test_its_main_trains_saves_and_resumes(
    learn: Callable[..., list[dict[str, Any]]], tmp_path: Path
) -> None:
    metrics = learn(6)
    assert [row["step"] for row in metrics] == list(range(6))
    for update in metrics:
        assert 0.0 <= update["env/all/reward/total"] <= 1.0
        assert update["env/all/reward/total"] == update["env/all/success"]
        assert update["env/all/total_episodes"] == 8
        assert update["env/all/turns_per_episode"] > 1
        # What the server sampled and what it computes again in training.
        assert abs(update["optim/kl_sample_train_v1"]) < 1e-4
    saved = lines(tmp_path / "checkpoints.jsonl")
    assert [one["batch"] for one in saved] == [4, 6]
    base, early, late = (
        logprobs(path) for path in (None, saved[0]["sampler_path"], saved[-1]["sampler_path"])
    )
    assert base != late
    assert early != late
    resumed = learn(8)
    assert [row["step"] for row in resumed] == list(range(8))
    assert lines(tmp_path / "checkpoints.jsonl")[-1]["batch"] == 8


def test_its_main_trains_while_it_plays(learn: Callable[..., list[dict[str, Any]]]) -> None:
    config = train.AsyncConfig(max_steps_off_policy=1, groups_per_batch=2)
    metrics = learn(4, async_config=config)
    updates = [row for row in metrics if "env/all/reward/total" in row]
    assert len(updates) >= 3  # what was played too early for the last one is thrown away
    assert all(row["step"] - row["sampling_client/step_min"] <= 1 for row in updates)
