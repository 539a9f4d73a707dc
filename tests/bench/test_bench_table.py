"""The comparison of hand-written results: what stands in a cell, and what does not."""

from __future__ import annotations

import json
import re
import statistics
from pathlib import Path
from typing import Any

import pytest

from tests.bench.conftest import Bench, rate, write
from ui_gym.errors import UserError
from ui_gym_agents.bench.page import BEGIN, END, put_into


@pytest.fixture
def results(work: Path) -> None:
    """Three algorithms and the controls on two tasks, with a failure, and some that nobody ran."""
    for seed, success in enumerate((0.90, 0.94, 0.98)):
        write("grpo", "Login", seed, success)
    write("bc", "Login", 0, 0.0)
    write("bc", "Stepper", 0, 0.5)
    write("bc", "Stepper", 1)
    write("ppo", "Stepper", 0)
    figures = {
        "before": {"greedy": rate(0.1), "sampled": rate(0.2)}, "blind": 0.25,
        "random": rate(0.01), "pass_at_k": {"1": 0.2, "8": 0.6},
    }  # fmt: skip
    write("controls", "Login", 0, kind="controls", figures={"Login": figures})


def table(bench: Bench, *arguments: str) -> dict[str, Any]:
    status, output, _ = bench("table", "--json", *arguments)
    assert status == 0
    values: dict[str, Any] = json.loads(output)
    return values


def under(bench: Bench, title: str) -> list[str]:
    """The first four lines of the table under a title."""
    section = bench("table", "--markdown")[1].partition(f"### {title}\n")[2]
    return [line for line in section.splitlines() if line.startswith("|")][:4]


@pytest.mark.usefixtures("results")
def test_a_cell_is_the_mean_of_its_seeds_with_their_interval(bench: Bench) -> None:
    found = table(bench)
    cell = found["tasks"]["Login"]["grpo"]
    half = 4.303 * statistics.stdev((0.90, 0.94, 0.98)) / 3**0.5
    assert cell["success"] == pytest.approx(0.94)
    assert cell["low"] == pytest.approx(0.94 - half, abs=1e-4)
    assert cell["high"] == 1.0  # cut
    assert cell["seeds"] == [0, 1, 2]
    assert table(bench, "--mode", "sampled")["tasks"]["Login"]["grpo"]["success"] == 0.47


def test_seeds_that_agree_say_no_more_than_their_episodes(bench: Bench) -> None:
    for seed in range(3):
        write("bc", "Login", seed, 1.0)
    assert "| Login | 100.0 % (98 to 100), 3 seeds |" in bench("table", "--markdown")[1]


@pytest.mark.usefixtures("results")
def test_what_nobody_ran_is_empty_and_what_failed_says_so(bench: Bench) -> None:
    found = table(bench)
    assert found["columns"] == [
        "blind guess", "random", "parent", "parent, pass@8", "bc", "grpo", "ppo",
    ]  # fmt: skip
    login, stepper = found["tasks"]["Login"], found["tasks"]["Stepper"]
    assert "ppo" not in login
    assert "grpo" not in stepper
    assert login["bc"]["success"] == 0.0
    assert (stepper["ppo"]["success"], stepper["ppo"]["failed"]) == (None, [0])
    assert (stepper["bc"]["success"], stepper["bc"]["failed"]) == (0.5, [1])
    assert login["blind guess"]["success"] == 0.25
    assert login["parent, pass@8"]["success"] == 0.6

    markdown = bench("table", "--markdown")[1].splitlines()
    cells = {line.split("|")[1].strip(): line for line in markdown if line.count("|") == 9}
    assert cells["Login"].endswith("| 0.0 % (0 to 2) | 94.0 % (84 to 100), 3 seeds |  |")
    assert cells["Stepper"].endswith("|  |  | 50.0 % (43 to 57), 1 failed |  | failed |")


@pytest.mark.usefixtures("results")
def test_every_run_has_a_line(bench: Bench) -> None:
    lines = [line.split("\t") for line in bench("table", "--each")[1].splitlines()]
    assert len(lines) == 7
    (failed,) = (line for line in lines if line[:3] == ["ppo", "Stepper", "0"])
    assert failed[4] == "failed"
    assert failed[-1] == "ZeroDivisionError: one too many"
    assert lines[2][:5] == ["bc", "Stepper", "1", "", "failed"]
    assert lines[0][:4] == ["bc", "Login", "0", "10.0 % (7 to 15)"], "as the controls measured it"
    assert lines[0][4:6] == ["0.0 % (0 to 2)", "0.0 % (0 to 2)"], "greedy and sampled"
    for path in Path("results").glob("[!c]*.json"):
        path.unlink()
    status, printed, told = bench("table", "--each")
    assert (status, printed, "controls alone" in told) == (0, "", True)


@pytest.mark.usefixtures("results")
def test_tasks_that_were_held_out_are_marked(bench: Bench) -> None:
    figures = {
        "Login": {"after": {"greedy": rate(0.8)}},
        "Stepper": {"after": {"greedy": rate(0.3)}, "held_out": True},
    }
    write("dr_grpo", "multi", 0, kind="multi", figures=figures, tasks=["Login"])
    found = table(bench)
    assert found["tasks"]["Login"]["dr_grpo, held-out"]["success"] == 0.8
    assert found["tasks"]["Stepper"]["dr_grpo, held-out"]["held_out"]


@pytest.mark.usefixtures("results")
def test_what_is_no_comparison_is_refused(bench: Bench) -> None:
    write("gigpo", "Login", 0, 0.5, protocol={"version": "v1", "hash": "b" * 64})
    status, _, errors = bench("table")
    assert status == 2
    assert "results of 2 protocols are not compared" in errors
    Path("results/gigpo-Login-0.json").unlink()
    copy = Path("results/again.json")
    copy.write_text(Path("results/grpo-Login-1.json").read_text())
    status, _, errors = bench("table")
    assert (status, "are results of the same run (grpo, Login, seed 1)" in errors) == (2, True)


@pytest.mark.usefixtures("results")
def test_curves_are_drawn_to_the_same_bytes(bench: Bench) -> None:
    figures = {"Login": {"after": {"greedy": rate(0.8)}}}
    write("grpo", "multi", 0, kind="multi", figures=figures, tasks=["Login"])  # has no curve
    assert bench("table", "--svg", "one")[0] == bench("table", "--svg", "two")[0] == 0
    names = sorted(path.name for path in Path("one").iterdir())
    assert names == ["Login.svg", "Stepper.svg"]
    for name in names:
        text = (Path("one") / name).read_text()
        assert text == (Path("two") / name).read_text()
        assert "success while training" in text


def test_an_algorithm_has_one_colour_in_all_pictures(bench: Bench) -> None:
    cells = (("grpo", "Login"), ("mine", "Login"), ("grpo", "Stepper"), ("mine", "DataEntry"))
    for algorithm, task in cells:
        write(algorithm, task, 0, 0.5)
    assert bench("table", "--svg", "drawn")[0] == 0
    both, *alone = (
        set(re.findall(r"stroke: (#[0-9a-f]{6})", (Path("drawn") / f"{task}.svg").read_text()))
        for task in ("Login", "Stepper", "DataEntry")
    )
    assert both == alone[0] | alone[1]
    assert alone[0] != alone[1]


def test_seeds_are_one_curve_in_a_band_as_far_as_all_go(bench: Bench) -> None:
    def drawn(name: str) -> tuple[list[list[float]], int]:
        """Of the left half: the points of each line, and how many bands there are."""
        assert bench("table", "--svg", name)[0] == 0
        half = (Path(name) / "Login.svg").read_text().partition('id="axes_2"')[0]
        lines = re.findall(r'<path d="([^"]*)" clip-path[^>]*stroke: #[0-9a-f]{6}', half)
        ends = [[float(x) for x in re.findall(r"[ML] (\S+)", line)] for line in lines]
        return ends, half.count("FillBetween")

    points = [{"step": n, "episodes": 4 * n, "seconds": 60 * n, "success": n / 8} for n in (1, 2)]
    write("grpo", "Login", 0, 0.5)
    alone, bands = drawn("one")
    assert ([len(line) for line in alone], bands) == ([3], 0)
    write("grpo", "Login", 1, 0.5, curve=points)
    write("grpo", "Login", 2)
    write("grpo", "Login", 3, 0.5, parent={"name": "other", "files": {}})
    several, bands = drawn("several")
    assert ([len(line) for line in several], bands) == ([2, 3, 3], 1), "both, failed, of another"


def test_the_success_of_an_oracle_in_training_is_no_curve(bench: Bench) -> None:
    """Where the oracle played, the success afterwards is drawn, which is 0.25 here."""
    write("grpo", "Login", 0, 0.5)
    oracle, policy = ({"plugin": "sft", "trainer.source": one} for one in ("oracle", "policy"))
    drawn: dict[str, set[str]] = {}
    for name, settings in (("other", oracle), ("other", {"plugin": "sft"}), ("own", policy)):
        write("bc", "Login", 0, 0.25, settings=settings)
        assert bench("table", "--svg", name)[0] == 0
        drawn.setdefault(name, set()).add((Path(name) / "Login.svg").read_text())
    (level,), (curve,) = drawn["other"], drawn["own"]
    dots = level.count("stroke-dasharray") - curve.count("stroke-dasharray")
    assert dots == 3, "in both halves and in the legend"
    Path("results/grpo-Login-0.json").unlink()
    write("bc", "Login", 0, 0.25, settings=oracle)
    assert bench("table", "--svg", "none")[0] == 0
    assert not list(Path("none").iterdir()), "nobody's policy played"


@pytest.mark.usefixtures("results")
def test_results_are_written_into_a_document_between_its_markers(bench: Bench) -> None:
    page = Path("page.md")
    page.write_text(f"# Title\n\n{BEGIN}\nwhat was there\n{END}\n\nThe end.\n")
    assert bench("table", "--into", "page.md")[0] == 0
    once = page.read_text()
    assert once.startswith(f"# Title\n\n{BEGIN}\n\nHeld-out success, greedy")
    assert once.endswith(f"\n\n</details>\n\n{END}\n\nThe end.\n"), "the runs, folded, at the end"
    assert "what was there" not in once
    assert bench("table", "--into", "page.md")[0] == 0
    assert page.read_text() == once
    assert bench("table", "--into", "page.md", "--svg", "curves")[0] == 0
    assert "![Success on Login while training](curves/Login.svg)" in page.read_text()


@pytest.mark.parametrize("text", ["", BEGIN, f"{END}\n{BEGIN}", f"{BEGIN}{END}{END}"])
def test_a_document_without_its_markers_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="needs a line <!-- ui-gym-bench: results -->"):
        put_into(text, "results")


@pytest.mark.usefixtures("results")
def test_what_teaches_a_task_is_told_best_first(bench: Bench) -> None:
    write("mine", "Login", 0, 0.99, control=True)
    figures = {
        "Login": {"after": {"greedy": rate(0.15)}},
        "Stepper": {"after": {"greedy": rate(0.9)}, "held_out": True},
    }
    write("gigpo", "multi", 0, kind="multi", figures=figures, tasks=["Login"])
    write("gigpo", "Login", 0, 0.3)
    write("bc", "Login", 0, 0.4, settings={"plugin": "sft"})
    for seed, success in enumerate((0.95, None)):
        write("bc", "Stepper", seed, success, settings={"plugin": "sft"})
    lines = under(bench, "What teaches what")
    head = "| task | rewards alone | demonstrations | many tasks at once | after an earlier run |"
    assert lines[0] == head
    assert lines[2:] == [
        "| Login | **94.0 %** (grpo, best of 2) | 40.0 % (bc) "
        "| 15.0 %, no better (gigpo, held-out) |  |",
        "| Stepper |  | **95.0 %** (bc) |  |  |",
    ]


@pytest.mark.usefixtures("results")
def test_a_run_is_compared_with_the_one_whose_adapter_it_began_with(bench: Bench) -> None:
    """The parent does 10 % of Login, and the earlier run half of it."""
    learned = {"adapter_model.safetensors": "a", "optimizer.safetensors": "b"}
    figures = {"Login": {"after": {"greedy": rate(0.5)}}}
    write("bc", "multi", 0, kind="multi", figures=figures, tasks=["Login"], weights=learned)
    for name, adapter, success in (("better", "a", 0.7), ("same", "a", 0.55), ("of", "c", 0.6)):
        begun = {
            "name": "tiny-reader",
            "files": {},
            "adapter": {"adapter_model.safetensors": adapter},
        }
        write(name, "Login", 0, success, parent=begun)
    each = [line.split("\t") for line in bench("table", "--each")[1].splitlines()]
    before = {line[0]: line[3] for line in each if line[1:3] == ["Login", "0"]}
    half = "50.0 % (43 to 57)"
    assert (before["better"], before["same"], before["of"]) == (half, half, ""), "nobody knows"
    assert before["grpo"] == "10.0 % (7 to 15)"
    assert under(bench, "What teaches what")[2].endswith("| 70.0 % (better, best of 3) |")
    assert "better" not in under(bench, "Every task")[0]
    after = under(bench, "After an earlier run")
    assert after[0] == "| task | bc, many tasks | better | of | same |"
    assert after[2].startswith(f"| Login | {half} | 70.0 %")
    assert after[3].startswith("| algorithm "), "no task but Login: the next table"
    Path("results/better-Login-0.json").unlink()
    Path("results/of-Login-0.json").unlink()
    assert under(bench, "What teaches what")[2].endswith("| 55.0 %, no better (same) |")
    Path("results/bc-multi-0.json").unlink()
    alone = bench("table", "results/same-Login-0.json", "--markdown")[1]
    assert "### Every task" not in alone
    assert "| task | same |\n| --- | --- |\n| Login | 55.0 %" in alone
    assert under(bench, "What teaches what")[2].endswith("| 55.0 % (same) |")


def test_what_teaches_a_task_is_told_of_each_parent(bench: Bench) -> None:
    for name, parent in (("grpo", "small"), ("ppo", "other")):
        figures = {"Login": {"after": {"greedy": rate(0.5)}, "beside": {"looks": rate(0.4)}}}
        write(name, "Login", 0, parent={"name": parent, "files": {}}, figures=figures)
    carried = under(bench, "What carries over")
    assert [line.split(" | ")[0] for line in carried] == [
        "| algorithm",
        "| ---",
        "| grpo (small)",
        "| ppo (other)",
    ]
    lines = under(bench, "What teaches what")
    assert lines == [
        "| parent | task | rewards alone | demonstrations | many tasks at once "
        "| after an earlier run |",
        "| --- | --- | --- | --- | --- | --- |",
        "| other | Login | 50.0 % (ppo) |  |  |  |",
        "| small | Login | 50.0 % (grpo) |  |  |  |",
    ]
    Path("results/ppo-Login-0.json").unlink()
    Path("results/grpo-Login-0.json").unlink()
    write("controls", "Login", 0, kind="controls", figures={"Login": {"blind": 0.25}})
    assert "What teaches what" not in bench("table", "--markdown")[1]


def test_what_carries_over_is_told_of_the_same_tasks(bench: Bench) -> None:
    """Means of two tasks beside one of them alone would be no comparison, and a task of more seeds
    than another counts no more."""
    looks = {"held_out_looks": rate(0.4)}
    for task, seed, success, more in (
        ("Login", 0, 0.8, looks), ("Stepper", 0, 0.2, looks), ("Stepper", 1, 0.4, looks),
        ("Wifi", 0, 0.2, {}),
    ):  # fmt: skip
        measured = {"after": {"greedy": rate(success)}}
        beside = {"training_parameters": rate(success), **more}
        write("grpo", task, seed, figures={task: {**measured, "beside": beside}}, tasks=[task])
    lines = under(bench, "What carries over")
    assert lines == [
        "| algorithm | held-out parameters | training parameters | held out looks |",
        "| --- | --- | --- | --- |",
        "| grpo | 55.0 % (2) | 55.0 % (2) | 40.0 % (2) |",
        "| grpo | 20.0 % (1) | 20.0 % (1) |  |",
    ]
