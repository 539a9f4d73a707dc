"""The trainer on a local server: what it learns, keeps and tells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from faults import FaultProxy, TryAgain
from spots import GOAL, SPOTS, picture
from tinker_runs import Make, run, same

from ui_gym.errors import UserError
from ui_gym_agents.agents.agent import View
from ui_gym_agents.evaluation import cli as eval_cli
from ui_gym_agents.evaluation.evaluate import evaluate
from ui_gym_agents.training import cli
from ui_gym_tinker import TinkerTrainer
from ui_gym_tinker.server import TinkerServer
from ui_gym_tinker.service import Service, ServiceError

pytestmark = pytest.mark.usefixtures("connected")


def test_a_step_plays_learns_and_says_what_it_cost(make: Make) -> None:
    prices = {"prefill": 1.0, "sample": 3.0, "train": 5.0}
    trainer = make(prices=prices, refill=4)
    (row,) = run(trainer, 1, 1)
    assert row["episodes"] == 4 * row["groups"]
    assert row["updates"] == trainer.agent.version == 4
    assert row["grad_norm"] > 0
    assert row["logprob_gap"] < 1e-5, "sampler and learner agree before the first update"
    assert row["tokens_sample"] <= 6 * row["episodes"]
    assert row["tokens_train"] > row["tokens_prefill"] > row["tokens_sample"]
    spent = row["tokens_prefill"] + 3 * row["tokens_sample"] + 5 * row["tokens_train"]
    assert row["cost"] == pytest.approx(spent / 1e6)
    assert not trainer.context.pictures_held


def test_weights_are_learned_and_sampled_from_at_once(make: Make) -> None:
    trainer = make(refill=4, lr=1e-2)
    before = trainer.agent.sampler
    first, second = run(trainer, 1, 2)
    assert trainer.agent.sampler is not before
    assert first["updates"] == 4
    assert second["logprob_gap"] < 1e-5, "so the server samples with what it learned"


def test_the_same_seed_plays_and_learns_the_same(make: Make) -> None:
    one, other = run(make(seed=3), 1, 2), run(make(seed=3), 1, 2)
    assert same(one, other)
    assert not same(run(make(seed=4), 1, 1), one[:1])


def test_a_resumed_run_goes_on_to_the_same_curve(make: Make, tmp_path: Path) -> None:
    whole = run(make(), 1, 4)
    begun = make()
    assert same(run(begun, 1, 2), whole[:2])
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    begun.save(folder)
    written = json.loads((folder / "tinker.json").read_text())
    assert written["state"].startswith("tinker://")
    assert written["updates"] == begun.agent.version
    again = make()
    again.load(folder)
    again.context.load_state_dict(begun.context.state_dict())
    assert again.agent.version == begun.agent.version
    assert same(run(again, 3, 4), whole[2:])


def test_weights_to_begin_with_have_no_optimizer(make: Make, tmp_path: Path) -> None:
    first = make(lr=1e-2)
    run(first, 1, 1)
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    first.save(folder)
    path = json.loads((folder / "tinker.json").read_text())["state"]
    again = make(load_checkpoint=path)
    assert again.agent.version == 0
    (row,) = run(again, 1, 1)
    assert row["logprob_gap"] < 1e-5


def test_playing_ahead_is_never_staler_than_allowed(make: Make) -> None:
    trainer = make(steps=5, max_steps_off_policy=1)
    rows = run(trainer, 1, 5)
    behind = [row["steps_off_policy"] for row in rows]
    assert behind[0] == 0
    assert max(behind) == 1
    assert trainer.keeps_pictures


def test_the_kl_to_the_base_is_none_before_learning_and_holds_it_back(make: Make) -> None:
    free = run(make(lr=1e-2, refill=4), 1, 3)
    held = run(make(lr=1e-2, refill=4, kl=1.0), 1, 3)
    assert held[0]["kl"] == pytest.approx(0, abs=1e-5)
    assert "kl" not in free[0]
    assert abs(held[2]["kl"]) > 1e-4


@pytest.mark.parametrize("loss", ["importance_sampling", "cispo", "gspo"])
def test_every_loss_learns(make: Make, loss: str) -> None:
    (row,) = run(make(loss=loss, refill=4, epochs=1), 1, 1)
    assert row["grad_norm"] > 0


def test_what_each_episode_was_worth_is_told(make: Make) -> None:
    trainer = make(shuffle_rewards=True, reward={"success": 1.0, "efficiency": 0.2})
    told: dict[str, Any] = {}
    trainer.context.listener.learned = lambda step, episodes: told.update(episodes)  # type: ignore[method-assign]
    (row,) = run(trainer, 1, 1)
    assert len(told) == row["episodes"]


def test_greedy_answers_say_so_in_their_records(make: Make) -> None:
    trainer = make()
    context = trainer.context
    evaluate(context.collector, context.evaluation_requests(4), greedy=True)
    trainer.agent.temperature = 0.0
    decided = trainer.agent.act([View(0, GOAL, [picture(SPOTS[0])])])
    assert decided[0].tokens is not None
    assert decided[0].tokens.temperature == 0.0


def test_questions_that_are_open_at_the_end_are_answered_as_failures(
    make: Make, connected: TinkerServer
) -> None:
    with FaultProxy(connected.url) as between:
        trainer = make(base_url=between.url, policy={"engine_timeout": 60.0})
        assert trainer.model is not None
        between.inject("/retrieve_future", TryAgain())
        asked = [trainer.agent.submit(View(0, GOAL, [picture(SPOTS[0])])) for _ in range(3)]
        trainer.close()
        assert all(one.result(5).failure for one in asked)
        trainer.close()


def test_the_host_evaluates_saves_and_resumes(
    connected: TinkerServer, clicker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run by the command, in a folder whose name no checkpoint may have."""
    folder = tmp_path / "my run"
    flags = (
        "--plugin", "tinker", "--trainer.base_model", "clicker", "--policy.model", str(clicker),
        "--policy.max_new_tokens", "6", "--tasks.ids", "PaintSpot", "--env.num_envs", "4",
        "--trainer.groups", "2", "--trainer.group_size", "4", "--run.eval_every", "0",
        "--run.records", "off", "--evaluation.episodes", "4", "--run.steps", "1",
    )  # fmt: skip
    assert cli.main([*flags, "--run.directory", str(folder)]) == 0
    result = json.loads((folder / "result.json").read_text())
    assert set(result["before"]) == set(result["after"]) == {"greedy", "sampled"}
    assert cli.main(["--resume", str(folder), "--run.steps", "2"]) == 0
    steps = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in steps if row["kind"] == "train"] == [1, 2]
    monkeypatch.setattr("sys.argv", ["ui-gym-eval", "--run", str(folder)])
    assert eval_cli.main() == 2, "its weights are not here"


# -- what is refused --


def test_without_a_key_it_says_where_one_is_had(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TINKER_API_KEY")
    with pytest.raises(UserError, match="set TINKER_API_KEY to that of the service, or"):
        make()


def test_a_wrong_key_is_named_and_not_repeated(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINKER_API_KEY", "tml-somebody-elses")
    with pytest.raises(UserError, match="refuses the key of TINKER_API_KEY") as caught:
        make()
    assert "somebody-elses" not in str(caught.value)


def test_an_unknown_model_names_the_nearest(make: Make) -> None:
    with pytest.raises(UserError, match=r"no model 'cliker'\. Did you mean 'clicker'"):
        make(base_model="cliker")


def test_settings_of_a_model_here_are_refused(make: Make) -> None:
    with pytest.raises(UserError, match="agent, quantize of policy concern one that is here"):
        make(policy={"quantize": "nf4", "agent": "command:true"})


def test_another_temperature_is_warned_of(make: Make) -> None:
    said: list[str] = []
    make(policy={"temperature": 0.5}, note=said.append)
    assert any("temperature 0.5" in line for line in said)


def test_a_server_that_is_not_there_is_said_so(
    make: Make, monkeypatch: pytest.MonkeyPatch, clicker: Path
) -> None:
    with TinkerServer(models={"clicker": clicker}) as gone:
        monkeypatch.setenv("TINKER_BASE_URL", gone.url)
    with pytest.raises(ServiceError, match=r"cannot be reached .* is it running"):
        make()
    with TinkerServer(models={"clicker": clicker}) as there:  # and another is not kept waiting
        monkeypatch.setenv("TINKER_BASE_URL", there.url)
        monkeypatch.setenv("TINKER_API_KEY", there.key)
        assert Service().supports() == ["clicker"]


# -- learning --


def success(trainer: TinkerTrainer) -> float:
    """The success rate on 100 held-out episodes, greedily."""
    context = trainer.context
    return evaluate(context.collector, context.evaluation_requests(100), greedy=True).success


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(3))
def test_a_click_is_learned_from_screenshots_and_rewards(make: Make, seed: int) -> None:
    trainer = make(seed=seed, steps=30, groups=8, group_size=8)
    run(trainer, 1, 30)
    assert success(trainer) >= 0.95


@pytest.mark.nightly
def test_with_shuffled_rewards_it_stays_at_chance(make: Make) -> None:
    trainer = make(steps=30, groups=8, group_size=8, shuffle_rewards=True)
    rows = run(trainer, 1, 30)
    assert sum(row["success"] for row in rows[-5:]) / 5 < 1 / 3 + 0.1
