"""What a step fits: weights of turns and episodes, held-out losses, rounds, and resuming."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from pydantic import ValidationError
from sft_helpers import Runs, make_policy, picture, record, weights

from ui_gym_agents.collecting.collector import EpisodeRequest
from ui_gym_agents.episode import Episode, TokenRecord
from ui_gym_agents.store import EpisodeStore
from ui_gym_agents.training.alerts import lost_losses
from ui_gym_sft import SFTConfig
from ui_gym_sft.data import Example, Rounds, weighed

# -- settings --


def test_defaults_depend_on_the_source_and_give_way_to_what_is_asked_for() -> None:
    assert (SFTConfig().lr, SFTConfig().success_only) == (2e-3, False)
    sampled = SFTConfig(source="policy", lr=0.5)
    assert (sampled.lr, sampled.success_only, sampled.dedupe) == (0.5, True, True)
    assert SFTConfig(source="run:x").keep == 0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"source": "orcale"}, "Did you mean 'oracle'"),
        ({"source": "run:"}, "a path is missing, as in run:PATH"),
        ({"strategy": "n_successes"}, "it is for source policy, not for oracle"),
        ({"source": "policy", "strategy": "n_successes", "keep": 0}, "must be above 0"),
        ({"source": "policy", "mistakes": {"row": 1.0}}, "it is for source oracle"),
        ({"source": "file:x", "data_rounds": 0}, "oracle or policy, not for file:x"),
        ({"reward": "sucess"}, "Did you mean 'success'"),
        ({"reward": "efficiency", "reward_parameters": {"slow": 1.0}}, "Did you mean 'slowness'"),
        ({"early_stop_after": 1}, "it needs a held-out loss"),
        ({"reencode": True}, "it is for source run:PATH or file:PATH"),
    ],
)
def test_settings_that_contradict_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        SFTConfig.model_validate(settings)


# -- weights --


def example() -> Example:
    return Example("e", (TokenRecord((1,), (2, 3, 4)), TokenRecord((1,), (2,), weights=(0.5,))))


def test_a_turn_or_an_episode_counts_one_however_long_it_is() -> None:
    assert weighed(example(), "token") == list(example().records)
    long, short = weighed(example(), "turn")
    assert long.weights == pytest.approx((1 / 3,) * 3)
    assert short.weights == (1.0,)
    long, short = weighed(example(), "episode")
    assert sum(long.weights) + sum(short.weights) == pytest.approx(1.0)
    assert long.weights[0] == pytest.approx(2 * short.weights[0])


# -- rounds --


def held(rounds: Rounds) -> list[str]:
    return [example.id for example in rounds.examples]


@pytest.mark.parametrize(("limit", "expected"), [(1, "3"), (2, "23"), (4, "0123"), (0, "0123")])
def test_the_last_rounds_are_fitted_and_survive_a_checkpoint(
    limit: int, expected: str, tmp_path: Path
) -> None:
    rounds = Rounds(limit)
    for number in range(4):
        loaded = Rounds(limit)
        rounds.save(tmp_path / "rounds.gz")
        loaded.load(tmp_path / "rounds.gz")
        for each in (rounds, loaded):
            each.add([Example(str(number), example().records, heldout=number == 1)])
        assert loaded.examples == rounds.examples
    assert held(rounds) == list(expected)


# -- live rounds, with envs that are played by hand --


class Played:
    """A collector without envs: an episode succeeds where `wins` says so."""

    def __init__(self, runs: Runs, wins: int, folder: Path | None = None) -> None:
        self.policy = make_policy(runs.model)
        self.wins = wins
        self.store = EpisodeStore(folder)

    def episodes(self, requests: list[EpisodeRequest]) -> Iterator[Episode]:
        for index, request in enumerate(requests):
            number = int(request.group.replace("-", ""))
            known = {"id": request.id, "group": request.group, "seed": request.seed}
            success = index < self.wins
            texts = ("Carl\nclick(<x1><y2>)", f'type("{request.member}")')
            played = record(
                EpisodeStore(), self.policy, number, texts, success=success, score=0.0, **known
            )
            for turn in range(2):
                self.store.screenshots.put(picture(10 * number + turn), keep=False)
            yield played


def sampled(runs: Runs, name: str = "run", wins: int = 4, **settings: Any) -> Any:
    context = runs.context(name)
    context.__dict__["collector"] = Played(runs, wins, runs.root / name / "episodes")
    given = {"episodes": 8, "tries": 4, "lr": 1e-2, "data_rounds": 1, **settings}
    return runs.trainer("policy", context, **given)


def without_times(row: dict[str, float]) -> dict[str, float]:
    return {key: value for key, value in row.items() if not key.startswith("time_")}


def test_a_rounds_data_is_in_its_metrics(runs: Runs) -> None:
    row = runs.step(sampled(runs, keep=3), 1)
    assert (row["episodes"], row["success"], row["kept"]) == (8, 0.5, 3)
    assert (row["records"], row["data_records"]) == (6, 6)
    assert row["tokens"] > row["records"]
    assert (row["dropped_unsuccessful"], row["dropped_surplus"]) == (4, 1)


def test_a_round_without_a_success_is_said_and_the_next_goes_on(runs: Runs) -> None:
    trainer = sampled(runs, wins=0)
    before = weights(trainer)
    row = runs.step(trainer, 1)
    assert (row["kept"], "loss" in row) == (0, False)
    assert weights(trainer) == before
    assert "step 1: of 8 episodes none succeeded: nothing is learned" in runs.notes[-1]
    trainer.context.collector.wins = 4
    assert runs.step(trainer, 2)["loss"] > 0
    assert weights(trainer) != before


def test_earlier_rounds_are_fitted_again_where_that_is_asked_for(runs: Runs) -> None:
    trainer = sampled(runs, data_rounds=0, keep=0)
    rows = [runs.step(trainer, n) for n in (1, 2, 3)]
    assert [row["data_episodes"] for row in rows] == [4, 8, 12]
    trainer.context.collector.wins = 0
    assert runs.step(trainer, 4)["data_episodes"] == 12
    assert "the episodes of earlier steps are fitted again" in runs.notes[-1]


@pytest.mark.parametrize("settings", [{"data_rounds": 0}, {"data_rounds": 2, "heldout": 0.4}])
def test_rounds_go_on_to_the_bit_from_a_checkpoint(
    runs: Runs, tmp_path: Path, settings: dict[str, Any]
) -> None:
    whole = sampled(runs, **settings)
    rows = [runs.step(whole, n) for n in (1, 2)]
    saved = tmp_path / "saved"
    saved.mkdir()
    whole.save(saved)
    rows += [runs.step(whole, n) for n in (3, 4)]
    torn = sampled(runs, **settings)  # in the same run's folder, with nothing in memory
    torn.load(saved)
    again = [runs.step(torn, n) for n in (3, 4)]
    assert [without_times(row) for row in again] == [without_times(row) for row in rows[2:]]
    assert weights(torn) == weights(whole)


def test_an_optimizer_may_be_reset_each_round(runs: Runs) -> None:
    trainer = sampled(runs, warmup=100, reset_optimizer=True)
    assert runs.step(trainer, 1)["lr"] == pytest.approx(runs.step(trainer, 2)["lr"])
    trainer = sampled(runs, "kept", warmup=100)
    assert runs.step(trainer, 1)["lr"] < runs.step(trainer, 2)["lr"]


def test_a_round_takes_its_best_weights_back(runs: Runs) -> None:
    trainer = sampled(
        runs,
        wins=16,
        episodes=16,
        tries=2,
        heldout=0.5,
        early_stop_after=2,
        epochs=30,
        lr=3.0,
        warmup=0,
    )
    row = runs.step(trainer, 1)
    assert 0 < row["data_episodes"] < 16
    assert row["epochs"] < 30
    assert row["heldout_loss"] <= row["heldout_loss_before"]
    assert trainer.steps is None


def test_the_size_of_micro_batches_changes_no_gradient(runs: Runs) -> None:
    found = []
    for name, tokens in (("whole", 10_000), ("split", 1)):
        trainer = sampled(runs, name, clip=1e9)
        trainer.policy.batch_tokens = tokens
        found.append(runs.step(trainer, 1))
    assert found[0]["grad_norm"] == pytest.approx(found[1]["grad_norm"], rel=1e-4)
    assert found[0]["loss"] == pytest.approx(found[1]["loss"], rel=1e-5)


def test_weights_stay_whole_where_a_gradient_is_no_number(runs: Runs) -> None:
    trainer = sampled(runs)
    with torch.no_grad():
        parameter = next(iter(trainer.policy.parameters()))
        parameter[0] = float("nan")
    others = weights(trainer)[1:]
    assert runs.step(trainer, 1)["loss"] != runs.step(trainer, 1)["loss"]
    assert weights(trainer)[1:] == others


def test_a_gradient_that_is_no_number_ends_the_run_though_the_loss_is_one(runs: Runs) -> None:
    trainer = sampled(runs)
    before = weights(trainer)
    parameter = next(iter(trainer.policy.parameters()))
    parameter.register_hook(lambda gradient: gradient + float("inf"))
    row = runs.step(trainer, 1)
    assert math.isfinite(row["loss"])
    assert lost_losses(row) == ["grad_norm"], "the host stops at it"
    assert (row["updates"], weights(trainer)) == (0, before)


@pytest.mark.parametrize(("steps", "shares"), [(1, [1.0]), (3, [1.0, 0.55, 0.1])])
def test_the_rate_falls_from_the_peak_in_the_first_step_to_the_last_rate_in_the_last(
    runs: Runs, steps: int, shares: list[float]
) -> None:
    context = runs.context(steps=steps)
    context.__dict__["collector"] = Played(runs, 4)
    settings = {"episodes": 8, "tries": 4, "lr": 1e-2, "final_lr": 0.1, "warmup": 0}
    trainer = runs.trainer("policy", context, **settings)
    rates = [runs.step(trainer, n)["lr"] for n in range(1, steps + 1)]
    assert rates == pytest.approx([1e-2 * share for share in shares])
