"""SharedBoard: what each agent sees, when it learns of others' work, and what the team gets."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from multiagent_helpers import COMPACT, Make, click, idle, play_oracle, state

from ui_gym.errors import UserError
from ui_gym.multiagent import parallel_env, shared_board_v0
from ui_gym.multiagent.board import SharedBoard


def drag(env: SharedBoard, user: int, card: int, to: int) -> str:
    device = env.windows.devices[user]
    (x, y), (tx, ty) = device.center(f"#card-{card}"), device.center(f"#column-{to} .cards")
    return f"drag({x}, {y}, {tx}, {ty})"


def elsewhere(env: SharedBoard, card: int) -> int:
    return (env.params.cards[card][3] + 1) % 3


# -- windows that are behind --


def test_a_board_learns_of_others_by_refresh_and_by_its_poll(make: Make) -> None:
    env = make("kanban")
    env.reset(seed=0)
    before = state(env, 1)["columns"]
    env.step(idle(env, u0=drag(env, 0, 0, elsewhere(env, 0))))
    assert state(env, 0)["columns"] != before
    assert state(env, 1)["columns"] == before
    assert env.windows.is_stale(1)
    env.step(idle(env, u1=click(env, 1, "#refresh")))
    assert state(env, 1)["columns"] == state(env, 0)["columns"]
    env.step(idle(env, u0=drag(env, 0, 1, elsewhere(env, 1))))
    assert state(env, 1)["columns"] != state(env, 0)["columns"]
    env.step(idle(env, u1="wait(2)"))
    assert state(env, 1)["columns"] == state(env, 0)["columns"]


def test_a_move_on_a_stale_board_is_refused_with_a_dialog(make: Make) -> None:
    env = make("kanban", observation="both")
    env.reset(seed=0)
    env.step(idle(env, u0=drag(env, 0, 0, elsewhere(env, 0))))
    seen, *_, infos = env.step(idle(env, u1=drag(env, 1, 3, elsewhere(env, 3))))
    assert state(env, 1)["conflict"]
    assert "The board has changed" in seen["user_1"]["elements"]
    assert "The board has changed" not in seen["user_0"]["elements"]
    assert infos["user_0"]["details"]["conflict"] == 1
    env.step(idle(env, u1=click(env, 1, "#ok")))
    assert not state(env, 1)["conflict"]
    env.step(idle(env, u1=drag(env, 1, 3, elsewhere(env, 3))))
    assert env.document.cells()[3] == elsewhere(env, 3)


def test_edits_of_a_round_are_taken_in_the_order_of_the_agents(make: Make) -> None:
    env = make("kanban")
    env.reset(seed=0)
    both = idle(env, u0=drag(env, 0, 0, 1), u1=drag(env, 1, 0, 2))
    env.step(both)
    assert env.document.cells()[0] == 1
    assert [clash.user for clash in env.document.clashes] == [1]


def test_a_sheet_learns_of_others_by_reload_alone(make: Make) -> None:
    env = make("sheet")
    env.reset(seed=0)
    first = env.params.rows[0][0]
    env.step(idle(env, u0=click(env, 0, "#cell-0-0")))
    env.step(idle(env, u0='type("Kitchen", clear=True)', u1="wait(30)"))
    env.step(idle(env, u0=click(env, 0, "#save-0"), u1="wait(30)"))
    assert state(env, 1)["rows"][0][0] == first
    env.step(idle(env, u1=click(env, 1, "#reload")))
    assert state(env, 1)["rows"][0][0] == "Kitchen"


def test_a_row_saved_on_a_stale_sheet_loses_what_others_saved(make: Make) -> None:
    env = make("sheet")
    env.reset(seed=0)
    cells = idle(env, u0=click(env, 0, "#cell-0-0"), u1=click(env, 1, "#cell-0-1"))
    env.step(cells)
    env.step(dict.fromkeys(env.agents, 'type("new", clear=True)'))
    *_, infos = env.step(idle(env, u0=click(env, 0, "#save-0"), u1=click(env, 1, "#save-0")))
    assert env.document.cells()[:2] == (env.params.rows[0][0], "new")
    assert infos["user_0"]["details"]["lost"] == 1


def test_an_order_is_told_of_at_once_but_for_what_is_being_changed(make: Make) -> None:
    env = make("order")
    env.reset(seed=0)
    start = [str(amount) for amount in env.params.amounts]
    env.step(idle(env, u0=click(env, 0, "#amount-0"), u1=click(env, 1, "#amount-1")))
    env.step(dict.fromkeys(env.agents, 'type("42", clear=True)'))
    env.step(idle(env, u0=click(env, 0, "#save-0")))
    assert state(env, 1)["amounts"][:2] == ["42", "42"]
    assert state(env, 0)["amounts"][:2] == ["42", start[1]]
    env.step(idle(env, u1=click(env, 1, "#save-1")))
    assert state(env, 0)["amounts"][:2] == ["42", "42"]


# -- what an episode is --


@pytest.mark.parametrize("arguments", [{"document": "order", "goal": "split"}, COMPACT])
def test_the_same_seed_gives_every_agent_the_same_pictures(
    make: Make, arguments: dict[str, Any]
) -> None:
    def film(**other: Any) -> list[np.ndarray[Any, Any]]:
        env = make(**arguments, **other)
        seen, infos = env.reset(seed=5, options={"oracle": {"twice": 1.0}})
        pictures = []
        while env.agents:
            pictures += [one["screenshot"] for one in seen.values()]
            texts = {agent: infos[agent]["oracle"]["action_text"] for agent in env.agents}
            seen, *_, infos = env.step(texts)
        return [*pictures, *(one["screenshot"] for one in seen.values())]

    first, second = film(), film(timeout=21.0)  # on other browsers
    assert len(first) == len(second) > 4
    assert all(np.array_equal(one, other) for one, other in zip(first, second, strict=True))


def test_each_is_told_its_goal_and_sees_its_own_window(make: Make) -> None:
    env = make("order", goal="split")
    seen, _ = env.reset(seed=0)
    assert seen["user_0"]["goal"] != seen["user_1"]["goal"]
    assert not np.array_equal(seen["user_0"]["screenshot"], seen["user_1"]["screenshot"])
    for agent in env.possible_agents:
        assert env.observation_space(agent).contains(seen[agent])


def test_success_is_paid_at_the_end_and_progress_as_it_comes(make: Make) -> None:
    env = make(**COMPACT)
    rewards, infos = play_oracle(env, 0)
    assert rewards == {"user_0": 1.0, "user_1": 1.0}
    assert infos["user_1"]["success"]

    env = make(**COMPACT, reward="progress")
    _, infos = env.reset(seed=0, options={"oracle": {"twice": 1.0}})
    gains = []
    while env.agents:
        texts = {agent: infos[agent]["oracle"]["action_text"] for agent in env.agents}
        _, rewards, _, _, infos = env.step(texts)
        gains.append(rewards["user_0"])
    assert gains == [0.0, 0.5, pytest.approx(0.4)]


def test_it_ends_when_all_are_finished_and_not_before(make: Make) -> None:
    env = make(**COMPACT)
    env.reset(seed=0)
    _, _, ends, _, _ = env.step({"user_0": 'finish("success")', "user_1": "wait(0.1)"})
    assert ends == {"user_0": False, "user_1": False}
    _, rewards, ends, _, _ = env.step(dict.fromkeys(env.agents, 'finish("success")'))
    assert ends == {"user_0": True, "user_1": True}
    assert rewards == {"user_0": 0.0, "user_1": 0.0}
    assert env.agents == []
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step({})


def test_a_wrong_action_is_feedback_for_its_agent_alone(make: Make) -> None:
    env = make(**COMPACT)
    env.reset(seed=0)
    seen, _, _, _, infos = env.step({"user_0": "klick(3, 4)", "user_1": "wait(0.1)"})
    assert "klick" in seen["user_0"]["feedback"]
    assert seen["user_1"]["feedback"] == ""
    assert [info["action_error"] for info in infos.values()] == ["name", None]
    assert infos["user_0"]["step"] == 1


def test_it_is_truncated_after_its_cycles(make: Make) -> None:
    env = make(**COMPACT, max_cycles=2)
    env.reset(seed=0)
    env.step(idle(env))
    _, _, ends, cuts, infos = env.step(idle(env))
    assert cuts == {"user_0": True, "user_1": True}
    assert ends == {"user_0": False, "user_1": False}
    assert infos["user_0"]["max_steps"] == 2


def test_the_state_is_the_servers_document(make: Make) -> None:
    env = make(**COMPACT)
    env.reset(seed=0)
    env.step(idle(env, u0=click(env, 0, "#box-0")))
    assert env.state().tolist() == [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]  # it is not saved yet
    env.step(idle(env, u0=click(env, 0, "#save")))
    assert env.state().tolist() == [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]  # the other was not told
    assert env.state_space.contains(env.state())


def test_the_picture_of_the_team_is_all_windows_side_by_side(make: Make) -> None:
    env = make(**COMPACT, render_mode="rgb_array")
    with pytest.raises(ResetNeeded, match="nothing to render"):
        env.render()
    seen, _ = env.reset(seed=0)
    sides = [seen[agent]["screenshot"] for agent in env.agents]
    assert np.array_equal(env.render(), np.concatenate(sides, axis=1))
    assert make(**COMPACT).render() is None


def test_options_of_a_reset(make: Make) -> None:
    env = make(**COMPACT)
    _, infos = env.reset(seed=3, options={"split": "heldout", "ground_truth": True})
    assert infos["user_0"]["split"] == "heldout"
    truth = infos["user_1"]["ground_truth"]
    assert truth.params["labels"] == env.params.labels
    assert "oracle" not in infos["user_0"]
    *_, infos = env.step(idle(env))
    assert "ground_truth" not in infos["user_0"]
    for options, told in (
        ({"split": "test"}, "there is no split 'test'"),
        ({"oracle": {"twize": 1}}, "there is no mistake .* 'twize'. Did you mean 'twice'"),
        ({"oracle": {"twice": 2}}, "the rate of the mistake 'twice' is 0 to 1, not 2"),
        ({"oracle": "yes"}, "oracle is True or a dict"),
        ({"task": "ClickButton"}, "plays shared_board_v0:kanban-compact alone, not 'ClickButton'"),
    ):
        with pytest.raises(UserError, match=told):
            env.reset(seed=0, options=options)


def test_an_oracle_speaks_the_dialect(make: Make) -> None:
    env = make(**COMPACT, dialect="cells")
    _, infos = env.reset(seed=0, options={"oracle": True})
    texts = [info["oracle"]["action_text"] for info in infos.values()]
    assert all("click(<x2><y" in text for text in texts)
    assert infos["user_0"]["oracle"]["caption"].count("off") == 4
    rewards, _ = play_oracle(env, 0)
    assert rewards["user_0"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"document": "kanbam"}, "there is no document 'kanbam'. Did you mean 'kanban'"),
        ({"rows": 4}, "kanban takes no argument 'rows'"),
        ({"max_cycles": 0}, "max_cycles is a whole number from 1 on, not 0"),
        ({"timeout": 0}, "timeout is a number of seconds above 0"),
        ({"reward": "sucess"}, "there is no reward 'sucess'. Did you mean 'success'"),
        ({"dialect": "latin"}, "latin"),
        ({"viewport": (0, 1)}, "viewport is"),
    ],
)
def test_arguments_are_checked(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(UserError, match=told):
        SharedBoard(**arguments)


def test_every_agent_must_act(make: Make) -> None:
    env = make(**COMPACT)
    env.reset(seed=0)
    with pytest.raises(UserError, match="an action of every agent, and user_1 has none"):
        env.step({"user_0": "wait(0.1)"})


def test_without_seeds_episodes_follow_from_the_last_one(make: Make) -> None:
    def drawn() -> list[Any]:
        env = make(**COMPACT)
        env.reset(seed=11)
        return [env.params, *(env.reset()[1]["user_0"]["seed"] for _ in range(2))]

    assert drawn() == drawn()


def test_an_env_that_was_not_used_can_be_pickled() -> None:
    env = pickle.loads(pickle.dumps(SharedBoard(**COMPACT, users=3)))  # noqa: S301
    assert env.possible_agents == ["user_0", "user_1", "user_2"]
    env.reset(seed=0)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(env)
    env.close()
    with pytest.raises(ClosedEnvironmentError):
        env.reset()


def test_envs_are_made_by_name() -> None:
    env = parallel_env("shared_board_v0", document="order")
    assert isinstance(env, SharedBoard)
    assert isinstance(env, shared_board_v0.parallel_env)
    env.close()
    with pytest.raises(UserError, match="Did you mean 'shared_board_v0'"):
        parallel_env("shared_bored_v0")


def test_two_who_add_to_one_line_at_once_may_add_both(make: Make) -> None:
    env = make("order", goal="split")
    env.reset(seed=0)
    (line, _, mine), (same, _, yours), *_ = env.params.asked
    assert line == same
    start = env.params.amounts[line]
    env.step(idle(env, **{f"u{u}": click(env, u, f"#amount-{line}") for u in (0, 1)}))
    typed = {f"u{u}": f'type("{start + n}", clear=True)' for u, n in enumerate((mine, yours))}
    env.step(idle(env, **typed))
    *_, infos = env.step(idle(env, **{f"u{u}": click(env, u, f"#save-{line}") for u in (0, 1)}))
    assert env.document.cells()[line] == start + mine
    assert infos["user_0"]["details"]["conflict"] == 1
    *_, infos = env.step(idle(env, u1=click(env, 1, "#both")))
    assert env.document.cells()[line] == start + mine + yours
    assert infos["user_0"]["details"]["missing"] == 1  # the other line
    assert infos["user_0"]["details"]["lost"] == 0


def test_a_board_has_its_registered_name_too(make: Make) -> None:
    env = make(**COMPACT)
    _, infos = env.reset(seed=0, options={"task": "UI/SharedBoard-v0"})
    assert infos["user_0"]["task"] == "shared_board_v0:kanban-compact"


def test_without_pettingzoo_it_is_said_how_to_get_it() -> None:
    run = subprocess.run(
        [
            sys.executable, "-c",
            "import sys; sys.modules['pettingzoo'] = None\n"
            "import ui_gym.multiagent.kanban\n"
            "from ui_gym.multiagent import shared_board_v0",
        ],
        capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    told = "UserError: envs of several agents need PettingZoo: pip install 'ui-gym[multi]'"
    assert told in run.stderr.splitlines()[-1]
