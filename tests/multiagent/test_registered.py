"""Teams as a registered env: made by its id, played by the host, measured by the command."""

from __future__ import annotations

from pathlib import Path

import gymnasium as gym
import pytest

import ui_gym  # noqa: F401 - registers the ids
from ui_gym.errors import UserError
from ui_gym_agents.collecting.collector import EpisodeRequest
from ui_gym_agents.evaluation import cli as eval_cli
from ui_gym_agents.evaluation.evaluate import with_teams
from ui_gym_agents.training import cli

BOARD = "UI/SharedBoard-v0"


def make(slots: int, **arguments: object) -> gym.vector.VectorEnv:
    return gym.make_vec(BOARD, slots, vectorization_mode="vector_entry_point", **arguments)


def test_its_id_makes_whole_teams() -> None:
    envs = make(6, users=3, compact=True)
    try:
        assert (envs.num_envs, envs.unwrapped.team_size) == (6, 3)
    finally:
        envs.close()


@pytest.mark.parametrize("users", [0, 1, 5, "2", -2, True])
def test_a_wrong_size_of_teams_is_refused(users: object) -> None:
    with pytest.raises(UserError, match="users must be 2 to 4"):
        make(4, users=users)


def test_slots_that_are_no_whole_teams_are_refused() -> None:
    with pytest.raises(UserError, match="3 slots are no whole teams: take a multiple of 2"):
        make(3)


def test_one_agent_alone_is_told_where_teams_are() -> None:
    with pytest.raises(UserError, match=r"ui-gym-train --tasks\.ids SharedBoard"):
        gym.make(BOARD)


def test_each_request_is_followed_by_its_mates() -> None:
    asked = [EpisodeRequest(1, group="e0", member=m) for m in range(2)]
    asked += [EpisodeRequest(2, group="e1", member=m) for m in range(2)]
    teams = with_teams(asked, 2)
    assert [(r.seed, r.group) for r in teams] == [(1, "e0")] * 4 + [(2, "e1")] * 4
    assert len({r.id for r in teams}) == 8
    assert teams[::2] == asked
    assert with_teams(asked, 1) == asked


def test_trainers_that_play_no_teams_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--plugin", "sft", "--tasks.ids", "SharedBoard", "--dry-run"]) == 2
    assert "take --plugin grpo or tinker" in capsys.readouterr().err


@pytest.mark.nightly
def test_a_run_on_teams_is_measured_by_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = (
        "--plugin", "grpo", "--policy.model", "tiny-hands", "--policy.max_new_tokens", "48",
        "--tasks.ids", "SharedBoard", "--tasks.arguments.compact", "true", "--env.num_envs", "4",
        "--trainer.groups", "1", "--trainer.group_size", "4", "--run.steps", "1",
        "--evaluation.episodes", "2", "--run.eval_every", "0", "--run.records", "off",
    )  # fmt: skip
    run = tmp_path / "run"
    assert cli.main([*flags, "--run.directory", str(run)]) == 0
    asked = ["ui-gym-eval", "--run", str(run), "--episodes", "3", "--envs", "4"]
    monkeypatch.setattr("sys.argv", asked)
    assert eval_cli.main() == 0
