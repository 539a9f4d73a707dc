"""What the benchmark refuses, and the remedy that it names."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.bench.conftest import RESULT, SMALL, WALK, Bench, with_protocol, write


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "--algorithm", "gpro"), "Did you mean 'grpo'"),
        (("run", "--algorithm", "grpo", "--set", "trainer.lr=1"), "--algorithm my-grpo --plugin"),
        (("run", "--algorithm", "bc", "--plugin", "sft"), "give yours another name"),
        (("run", *WALK, "--set", "evaluation.episodes=1"), "which is the protocol's to say"),
        (("run", *WALK, "--set", "env.observation=elements"), "which is the protocol's to say"),
        (("run", "--algorithm", "bc", "grpo", "--plugin", "sft"), "describe one algorithm"),
        (("run", "--algorithm", "bc", "--tasks", "compct"), "Did you mean 'compact'"),
        (("run", "--algorithm", "bc", "--task", "Login", "--model", "tiny-hand"), "'tiny-hands'"),
        (("run", *WALK, "--jobs", "99"), "at most --jobs"),
        (("multi", *WALK), "needs two or more"),
        (("multi", *WALK, "--held-out", "looks"), "Known: 'families'"),
        (("multi", *WALK, "--held-out", "families"), "none of these tasks is held out"),
        (("protocol", "--protocol", "nowhere.toml"), "nowhere.toml cannot be read"),
        (("table",), "results is not there; ui-gym-bench run writes results"),
        (("table", "--mode", "greedily"), "Did you mean 'greedy'"),
        (("table", "--markdown", "--json"), "ask for one"),
    ],
)
def test_what_is_wrong_is_told_with_its_remedy(
    bench: Bench, arguments: tuple[str, ...], said: str
) -> None:
    dry = ("--print",) if arguments[0] in ("run", "multi") and "--jobs" not in arguments else ()
    status, output, errors = bench(*arguments, *dry)
    assert said in " ".join(errors.split())
    assert (status, output) == (2, "")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('held_out_looks = ["dark"]', "held_out_looks"),
        ("minutes = 3", "minutes: Extra inputs"),
        ("run_seeds = []", "run_seeds: Tuple should have at least 1 item"),
    ],
)
def test_a_damaged_protocol_is_told_by_its_key(
    bench: Bench, work: Path, line: str, said: str
) -> None:
    text = SMALL.read_text().replace(
        "run_seeds = [0, 1]", "" if "seeds" in line else "run_seeds = [0]"
    )
    Path("own.toml").write_text(f"{line}\n{text}")
    status, _, errors = bench("protocol", "--protocol", "own.toml")
    assert (status, said in errors) == (2, True)


def test_a_result_of_something_else_is_not_taken_for_ones_own(bench: Bench) -> None:
    run = with_protocol("run", *WALK, "--seeds", "0")
    assert bench(*run)[0] == 0
    status, _, errors = bench(*run, "--set", "trainer.lr=0.3")
    assert (status, "is the result of another trainer.lr" in errors) == (2, True)
    RESULT.unlink()
    status, _, errors = bench(*run, "--set", "trainer.lr=0.3")
    assert (status, "was begun with another trainer.lr" in errors) == (2, True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": 9}, "is written in schema 9, and this ui-gym reads 1"),
        ({"schema": None, "steps": "many"}, "schema None"),
        ({"steps": "many"}, "steps: Input should be a valid integer"),
    ],
)
def test_a_damaged_result_is_told(
    bench: Bench, work: Path, change: dict[str, Any], said: str
) -> None:
    write("grpo", "Login", 0, 0.5, **change)
    status, _, errors = bench("table")
    assert (status, said in errors) == (2, True)


def test_a_task_without_the_form_that_the_protocol_asks_for_is_refused(
    bench: Bench, work: Path
) -> None:
    text = SMALL.read_text().replace("compact = true", "mirrored = true")
    Path("own.toml").write_text(text)
    asked = ("run", "--algorithm", "bc", "--protocol", "own.toml", "--print")
    status, _, errors = bench(*asked, "--task", "Login")
    assert (status, "Login takes no mirrored" in errors) == (2, True)
    status, _, errors = bench(*asked, "--tasks", "two")
    assert (status, "no task of the set 'two' takes the arguments" in errors) == (2, True)


def test_a_run_that_goes_on_elsewhere_is_left_alone(bench: Bench, work: Path) -> None:
    from ui_gym_agents import files

    status, output, _ = bench(*with_protocol("run", *WALK, "--seeds", "0", "--print"))
    folder = Path(output.split()[-1])
    folder.mkdir(parents=True)
    descriptor = files.lock(folder / "lock")
    try:
        status, _, errors = bench(*with_protocol("run", *WALK, "--seeds", "0"))
    finally:
        os.close(descriptor)
    assert (status, "goes on just now, in another process" in errors) == (2, True)


def test_the_own_algorithm_of_a_file_is_run(bench: Bench, work: Path) -> None:
    Path("slow.toml").write_text('plugin = "walker"\n[settings]\n"trainer.lr" = 0.01\n')
    asked = ("run", "--algorithm", "slow.toml", "--task", "Login", "--seeds", "0", "--print")
    status, output, _ = bench(*with_protocol(*asked))
    assert status == 0
    assert "--plugin walker" in output
    assert "--trainer.lr 0.01" in output
    assert output.rstrip().endswith("tiny-reader-slow-Login-0")


def test_members_of_a_set_that_are_not_there_yet_are_told_and_left_out(bench: Bench) -> None:
    asked = ("run", "--algorithm", "bc", "--tasks", "two", "--print")
    status, output, errors = bench(*with_protocol(*asked))
    assert status == 0
    assert "left out: Newcomer" in errors
    assert len(output.splitlines()) == 2 * 2


def test_the_protocol_tells_what_it_asks_for(bench: Bench) -> None:
    status, output, _ = bench("protocol")
    assert status == 0
    for said in ("20 minutes of training or 5760 episodes", "CheckboxSet", "algorithm dr_grpo"):
        assert said in output
    values = json.loads(bench("protocol", "--json")[1])
    assert values["hash"] in output
    assert values["evaluation"]["beside"]["held_out_looks"]["arguments"] == {"look": "heldout"}
    assert len(values["held_out_families"]) == 6
    assert len(values["sets"]["core12"]["names"]) == 12
