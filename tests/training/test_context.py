"""What a context gives without any device or model: seeds, requests, refusals."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import paint  # noqa: F401 - registers its tasks
import pytest

from ui_gym.errors import UserError
from ui_gym.remote.server import EnvServer
from ui_gym_agents.agents import OracleAgent, RandomAgent, ScriptedAgent
from ui_gym_agents.collecting.collector import Collector
from ui_gym_agents.episode import Episode, Turn
from ui_gym_agents.training.context import TrainerContext
from ui_gym_agents.training.run_directory import RunDirectory
from ui_gym_agents.training.settings import RunConfig


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Any]:
    run = RunDirectory(tmp_path)

    def make(**sections: Any) -> TrainerContext:
        return TrainerContext(run=run, config=RunConfig(plugin="x", **sections))

    yield make
    run.close()


def test_requests_depend_on_run_seed_and_step_alone(make: Any) -> None:
    context = make()
    asked = context.requests(3, 2, 4)
    assert [(r.group, r.member) for r in asked] == [(f"3-{g}", m) for g in (0, 1) for m in range(4)]
    assert len({r.seed for r in asked[:4]}) == 1
    assert {r.split for r in asked} == {"train"}
    assert {r.task for r in asked} == {"UI/DataEntry-v0"}
    assert make().requests(3, 2, 4) == asked
    assert make().requests(3, 1, 4, first=1) == asked[4:]
    seeds = {r.seed for step in range(50) for r in make().requests(step, 10)}
    assert len(seeds) == 500
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert make(run={"seed": 1}).requests(3, 2, 4)[0].seed != asked[0].seed


def test_evaluation_episodes_are_the_same_in_every_run(make: Any) -> None:
    asked = make().evaluation_requests(20)
    assert {r.split for r in asked} == {"heldout"}
    assert len({r.seed for r in asked}) == 20
    assert make(run={"seed": 7}).evaluation_requests(5) == asked[:5]


def test_nothing_is_evaluated_without_a_policy_or_an_evaluator(make: Any) -> None:
    context = make()
    assert context.evaluate(5, True) is None
    report = SimpleNamespace(success=1.0, n=5, interval=(0.5, 1.0))
    context.evaluator = lambda episodes, greedy: report
    assert context.evaluate(5, True) is report
    assert context.evaluate(0, True) is None
    assert "envs" not in context.__dict__


def test_a_model_that_would_see_nothing_is_refused(make: Any) -> None:
    pytest.importorskip("torch")
    bare = {"env": {"observation": "elements"}, "policy": {"prompt": "bare"}}
    with pytest.raises(UserError, match=r"tells no elements.*observation screenshot"):
        _ = make(**bare).policy


# -- several tasks --

PAINT = {"ids": ["PaintClick", "PaintText"]}
SLOTS = {"num_envs": 3, "dialect": "canonical", "max_steps": None}


def file(folder: Path, *lines: dict[str, Any]) -> dict[str, Any]:
    path = folder / "tasks.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return {"file": path}


def drawn(context: TrainerContext, steps: range, groups: int = 8) -> Counter[str]:
    """How many groups each task gets."""
    return Counter(r.task for step in steps for r in context.requests(step, groups))


def solved(requests: list[Any], success: Callable[[Any], bool]) -> list[Episode]:
    """Episodes that ended as `success` says of their request."""
    return [Episode(r.task, r.seed, "", [], group=r.group, success=success(r)) for r in requests]


def test_groups_and_evaluations_draw_among_the_tasks(make: Any) -> None:
    context = make(tasks=PAINT)
    counts = drawn(context, range(1, 51))
    assert set(counts) == {"UI/PaintClick-v0", "UI/PaintText-v0"}
    assert min(counts.values()) > 150
    assert drawn(make(tasks=PAINT), range(1, 51)) == counts
    asked = context.requests(1, 6, 3)
    assert [len({r.task for r in asked[i : i + 3]}) for i in range(0, 18, 3)] == [1] * 6
    assert [r.task for r in context.evaluation_requests(4)] == [
        "UI/PaintClick-v0", "UI/PaintText-v0"
    ] * 2  # fmt: skip


def test_several_tasks_are_played_side_by_side(make: Any, tmp_path: Path) -> None:
    lines = (
        {"id": "PaintClick"},
        {"id": "PaintText", "max_steps": 5},
        {"id": "PaintText", "arguments": {"boxes": 2}, "seeds": [7], "split": None},
    )
    context = make(tasks=file(tmp_path, *lines), env=SLOTS)
    asked = [r for step in range(1, 5) for r in context.requests(step, 4)]
    assert len({r.task for r in asked}) == 3
    played = Collector(context.envs, OracleAgent()).collect(asked)
    assert all(episode.success for episode in played)
    for request, episode in zip(asked, played, strict=True):
        assert request.task.startswith(episode.task)
        small = "boxes" in request.task
        assert (len(episode.params["boxes"]), request.seed == 7) == (2 if small else 3, small)
    wait = "wait(1)"
    cut = Collector(context.envs, ScriptedAgent([wait])).collect(asked)
    limits = {r.task: e.steps for r, e in zip(asked, cut, strict=True)}
    assert sorted(limits.values()) == [4, 5, 6]
    context.close()


def children() -> Iterator[bytes]:
    """The command lines of this process's children."""
    for path in Path("/proc/self/task").glob("*/children"):
        for pid in path.read_text().split():
            yield Path(f"/proc/{pid}/cmdline").read_bytes()


@pytest.mark.parametrize("ids", [["PaintText"], ["PaintText", "PaintClick"]], ids=len)
def test_envs_in_processes_and_on_servers_play_as_those_in_threads(
    make: Any, ids: list[str]
) -> None:
    with EnvServer(port=0) as server:
        play_on("threads", "processes:2", server.address, make=make, ids=ids)


def play_on(*kinds: str, make: Any, ids: list[str]) -> None:
    contexts = [make(tasks={"ids": ids}, env={**SLOTS, "workers": kind}) for kind in kinds]
    asked = contexts[0].requests(1, 4)

    def story(context: TrainerContext) -> list[Any]:
        agent = RandomAgent(context.envs.single_action_space)
        episodes = Collector(context.envs, agent, run_seed=5).collect(asked)
        workers = sum(b"worker_main" in command for command in children())
        context.close()
        found = [(e.task, e.score, [t.action_text for t in e.turns]) for e in episodes]
        return [found, workers]

    (told, inside), (same, outside), (afar, _) = map(story, contexts)
    assert told == same == afar
    assert (inside, outside) == (0, 2)
    run = contexts[0].config
    for other in contexts[1:]:
        assert run.changes(other.config) == {}, "it changes no result: a run may go on with it"


def test_a_task_among_others_is_played_as_alone(make: Any) -> None:
    together, alone = make(tasks=PAINT, env=SLOTS), make(tasks={"ids": ["PaintText"]}, env=SLOTS)
    asked = [r for r in together.requests(1, 9) if r.task == "UI/PaintText-v0"]
    assert asked

    def story(context: TrainerContext) -> list[Any]:
        agent = RandomAgent(context.envs.single_action_space)
        episodes = Collector(context.envs, agent, run_seed=5).collect(asked)
        context.close()
        return [
            (e.goal, e.score, e.final_screenshot_id, [t.action_text for t in e.turns])
            for e in episodes
        ]

    assert story(together) == story(alone)


def test_what_cannot_be_played_together_is_refused(make: Any, tmp_path: Path) -> None:
    def refused(match: str, **tasks: Any) -> None:
        context = make(tasks=tasks, env=SLOTS)
        for ask in (lambda: context.envs, context.config.tasks.chosen):
            with pytest.raises(UserError, match=match):
                ask()

    refused(
        r"tasks of one suite, and these are of 2: paint \(UI/PaintClick-v0\), browser \(UI/Login",
        ids=["PaintClick", "Login"],
    )
    compact = {"id": "DataEntry", "arguments": {"compact": True}}
    refused(
        r"want 2: 320x256 \(UI/DataEntry-v0{.*}\), 1280x800 \(UI/Login-v0\).*arguments.viewport",
        **file(tmp_path, compact, {"id": "Login"}),
    )
    refused(
        r"PaintClick-v0 takes no argument 'rows'.* of one task alone is written in a task file",
        arguments={"rows": 2}, **PAINT,
    )  # fmt: skip


def test_one_viewport_can_be_set_for_all(make: Any) -> None:
    context = make(tasks={**PAINT, "arguments": {"viewport": [32, 48]}}, env=SLOTS)
    played = Collector(context.envs, OracleAgent()).collect(context.requests(1, 6))
    assert context.envs.single_observation_space["screenshot"].shape == (48, 32, 3)
    assert all(episode.success for episode in played)
    context.close()


def test_fixed_seeds_and_splits_are_asked_for(make: Any, tmp_path: Path) -> None:
    lines = ({"id": "PaintClick", "seeds": [4, 9]}, {"id": "PaintClick", "split": "heldout"})
    asked = make(tasks=file(tmp_path, *lines)).requests(1, 40)
    fixed = [r for r in asked if r.split == "train"]
    assert {r.seed for r in fixed} == {4, 9}
    assert {r.split for r in asked} == {"train", "heldout"}
    assert {r.task for r in asked} == {"UI/PaintClick-v0"}


def test_of_fixed_instances_a_task_keeps_the_seeds_that_are_its_own(
    make: Any, tmp_path: Path
) -> None:
    lines = ({"id": "PaintClick", "seeds": [4, 9, 11]}, {"id": "PaintText"})
    context = make(tasks=file(tmp_path, *lines))
    asked = context.requests(1, 200, instances=8)
    seeds = {name: {r.seed for r in asked if name in r.task} for name in ("Click", "Text")}
    assert seeds["Click"] == {4, 9, 11}
    assert seeds["Text"] == {context.derive("instance", number) for number in range(8)}


# -- the curriculum --


def test_quotas_that_cannot_be_kept_are_refused_before_a_run(make: Any) -> None:
    with pytest.raises(UserError, match=r"a quota for 'clik', .* Did you mean 'click'"):
        make(tasks={**PAINT, "quotas": {"clik": 0.5}}).config.tasks.chosen()


def test_the_curriculum_goes_to_what_is_solved_sometimes(make: Any) -> None:
    context = make(tasks={**PAINT, "curriculum": "learnability"})
    for step in range(1, 30):
        asked = context.requests(step, 4, 4)
        won = solved(asked, lambda r: r.task == "UI/PaintClick-v0" or r.member == 0)
        context.observe(reversed(won))
    counts = drawn(context, range(30, 60))
    assert counts["UI/PaintText-v0"] > 2 * counts["UI/PaintClick-v0"]
    assert counts["UI/PaintClick-v0"] > 0


def test_a_resumed_run_asks_the_same(make: Any) -> None:
    def run(context: TrainerContext, steps: range) -> list[Any]:
        asked = []
        for step in steps:
            groups = context.requests(step, 3, 2)
            context.observe(solved(groups, lambda r: r.seed % 3 > 0 and "Click" in r.task))
            asked += [groups, context.requests(step, 2, 2, first=3)]
        return asked

    tasks = {**PAINT, "curriculum": "learnability"}
    whole = run(make(tasks=tasks), range(1, 21))
    first = make(tasks=tasks)
    run(first, range(1, 8))
    second = make(tasks=tasks)
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    assert run(second, range(8, 21)) == whole[14:]
    assert run(make(tasks=tasks), range(8, 21)) != whole[14:]


def test_episodes_that_say_nothing_are_not_observed(make: Any) -> None:
    context = make(tasks={**PAINT, "curriculum": "learnability"})
    before = context.state_dict()
    stranger = Episode("UI/PaintClick-v0", 1, "", [], group="9-9", success=True)
    broken = solved(context.requests(1, 2), lambda r: False)
    for episode in broken:
        episode.failure = "device: lost"
    context.observe([stranger, *broken])
    assert context.state_dict() == before
    context.load_state_dict({})
    assert context.state_dict() == before


# -- rewards --


def test_rewards_know_the_limits_of_turns(make: Any) -> None:
    context = make(tasks=PAINT)
    turns = [Turn("p", f"{n}") for n in range(4)]
    click = Episode("UI/PaintClick-v0", 1, "", turns, success=True)
    text = Episode("UI/PaintText-v0", 1, "", turns, success=True)
    efficiency = context.reward("efficiency")
    assert efficiency(click) == 0.5  # the last of 4
    assert efficiency(text) == pytest.approx(1 - 0.5 * 3 / 5)
    assert context.reward("efficiency", {"max_turns": 7})(click) == 0.75
    assert make(tasks=PAINT, env={"max_steps": 7}).reward("efficiency")(click) == 0.75
    assert context.reward("success")(click) == 1.0
    with pytest.raises(UserError, match="has no parameter 'slow'"):
        context.reward("efficiency", {"slow": 1.0})


def test_closing_closes_what_was_built_the_last_first(make: Any) -> None:
    closed: list[str] = []
    context = make()
    for name in ("envs", "more"):
        context._stack.callback(closed.append, name)
    context.close()
    context.close()
    assert closed == ["more", "envs"]
