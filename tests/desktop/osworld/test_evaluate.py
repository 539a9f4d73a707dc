"""The score of an episode by OSWorld's rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fake import FakeDesktop

from ui_gym.contract.action import Answer, Finish, Press
from ui_gym.contract.task import Verdict
from ui_gym.desktop.osworld import taskfile
from ui_gym.desktop.osworld.cache import FileCache, TaskFiles
from ui_gym.desktop.osworld.evaluate import evaluate
from ui_gym.desktop.osworld.registry import EvaluationContext
from ui_gym.errors import DeviceError, UserError

DONE, FAIL = Finish(), Finish("infeasible")


def says(text: str) -> dict[str, Any]:
    """A getter's description: a command writes `text`."""
    return {"type": "vm_command_line", "command": ["printf", text]}


def rule(text: str) -> dict[str, Any]:
    return {"type": "rule", "rules": {"expected": text}}


YES = {"result": says("a"), "expected": rule("a")}
NO = {"result": says("b"), "expected": rule("a")}
HALF = {"result": says("abcd"), "expected": rule("abxy")}
"""Half of it matches, for a metric that counts letters."""


@pytest.fixture
def context(desktop: FakeDesktop, tmp_path: Path) -> EvaluationContext:
    (tmp_path / "episode").mkdir()
    files = TaskFiles(tmp_path, FileCache(tmp_path / "cache"))
    return EvaluationContext(desktop, files, tmp_path / "episode", desktop.size, "t")


def judged(
    context: EvaluationContext, history: list[Any] | None = None, **evaluator: Any
) -> Verdict:
    raw = {"id": "t", "instruction": "x", "evaluator": evaluator}
    return evaluate(context, taskfile.parse(raw, Path("t.json")), history or [DONE])


def several(
    context: EvaluationContext, conj: str, *checks: dict[str, Any], func: str = "exact_match"
) -> float:
    columns = {key: [check.get(key) for check in checks] for key in ("result", "expected")}
    return judged(context, conj=conj, func=[func] * len(checks), **columns).score


def test_one_metric_is_the_score(context: EvaluationContext) -> None:
    assert judged(context, func="exact_match", **YES).score == 1.0
    assert judged(context, func="exact_match", **NO).score == 0.0
    assert 0 < judged(context, func="fuzzy_match", **HALF).score < 1


def test_with_and_a_zero_decides_and_else_the_mean_counts(context: EvaluationContext) -> None:
    assert several(context, "and", YES, YES) == 1.0
    assert several(context, "and", YES, NO) == 0.0
    half = judged(context, func="fuzzy_match", **HALF).score
    assert several(context, "and", YES, HALF, func="fuzzy_match") == pytest.approx((1 + half) / 2)


def test_with_or_a_one_decides_and_else_the_best_counts(context: EvaluationContext) -> None:
    assert several(context, "or", NO, YES) == 1.0
    assert several(context, "or", NO, NO) == 0.0
    half = judged(context, func="fuzzy_match", **HALF).score
    nothing = {"result": says("zzzz"), "expected": rule("abxy")}
    assert several(context, "or", nothing, HALF, func="fuzzy_match") == pytest.approx(half)


@pytest.mark.parametrize(("conj", "first"), [("and", NO), ("or", YES)])
def test_what_is_decided_is_not_looked_at_further(
    context: EvaluationContext, desktop: FakeDesktop, conj: str, first: dict[str, Any]
) -> None:
    later = {"result": {"type": "vm_command_line", "command": ["touch", "seen"]}}
    several(context, conj, first, {**later, "expected": rule("a")})
    assert desktop.read("seen") is None
    several(context, conj, NO if conj == "or" else YES, {**later, "expected": rule("a")})
    assert desktop.read("seen") == b""


def test_infeasible_is_right_only_where_it_is_the_last_word(context: EvaluationContext) -> None:
    for history, score in (
        ([Press("a"), FAIL], 1.0),
        ([DONE], 0.0),
        ([Finish("failure")], 0.0),
        ([Answer("infeasible")], 0.0),
        ([Press("a")], 0.0),
    ):
        assert judged(context, history, func="infeasible").score == score
    assert judged(context, [FAIL], func="exact_match", **YES).score == 0.0
    told = judged(context, [FAIL], func="infeasible").details
    assert (told["infeasible"], told["gave_up"]) == (True, True)


def test_the_postconfig_is_done_before(context: EvaluationContext, desktop: FakeDesktop) -> None:
    steps = [
        {"type": "execute", "parameters": {"command": ["printf", "a"], "stdout": "out.txt"}},
        {"type": "close_window", "parameters": {"window_name": "none"}},
    ]
    verdict = judged(
        context,
        postconfig=steps,
        func="compare_text_file",
        result={"type": "cache_file", "path": "out.txt"},
        expected={"type": "vm_file", "path": "/home/user/gold", "dest": "gold"},
    )
    assert verdict.score == 0.0
    desktop.write("gold", b"a")
    verdict = judged(
        context,
        postconfig=steps,
        func="compare_text_file",
        result={"type": "cache_file", "path": "out.txt"},
        expected={"type": "vm_file", "path": "/home/user/gold", "dest": "gold"},
    )
    assert verdict.score == 1.0
    assert verdict.details["metrics"] == [["compare_text_file", 1.0]]
    assert "there is no window 'none' to close" in verdict.details["notes"]


def test_options_and_a_metric_without_expected(
    context: EvaluationContext, desktop: FakeDesktop
) -> None:
    gold = {"type": "vm_command_line", "command": ["cat", "gold"]}
    desktop.write("a", b"Some Text")
    desktop.write("b", b"some text")
    files = {
        "result": {"type": "vm_file", "path": "/home/user/a", "dest": "a"},
        "expected": {"type": "vm_file", "path": "/home/user/b", "dest": "b"},
    }
    assert judged(context, func="compare_text_file", **files).score == 0.0
    told = judged(context, func="compare_text_file", options={"ignore_case": True}, **files)
    assert told.score == 1.0
    assert judged(context, func="is_utc_0", result=gold).score == 0.0
    desktop.write("gold", b"1\n2\n3\n Time zone: Etc/UTC (UTC, +0000)\n")
    assert judged(context, func="is_utc_0", result=gold).score == 1.0


def test_nothing_is_worth_nothing(context: EvaluationContext) -> None:
    absent = {"type": "vm_file", "path": "/home/user/absent", "dest": "absent"}
    for func, expected in (
        ("compare_text_file", absent), ("exact_match", rule("a")), ("file_contains", rule("a")),
    ):  # fmt: skip
        assert judged(context, func=func, result=absent, expected=expected).score == 0.0


def test_a_machine_that_fails_is_no_score(context: EvaluationContext, desktop: FakeDesktop) -> None:
    desktop.lost = True
    with pytest.raises(DeviceError):
        judged(context, func="exact_match", **YES)


def test_a_gold_file_that_is_broken_is_the_authors_and_never_the_agents(
    context: EvaluationContext, desktop: FakeDesktop, tmp_path: Path
) -> None:
    (tmp_path / "gold.txt").write_bytes(b"\xff\xfe\xff")
    desktop.write("a.txt", b"a")
    result = {"type": "vm_file", "path": "/home/user/a.txt", "dest": "a.txt"}
    gold = {"type": "cloud_file", "path": "file:gold.txt", "dest": "gold.txt"}
    with pytest.raises(UserError, match="cannot be used"):
        judged(context, func="compare_text_file", result=result, expected=gold)
    desktop.write("b.txt", b"\xff\xfe\xff")
    broken = {"type": "vm_file", "path": "/home/user/b.txt", "dest": "b.txt"}
    assert judged(context, func="compare_text_file", result=result, expected=broken).score == 0.0


@pytest.mark.parametrize(
    ("func", "rules", "said"),
    [
        ("exact_match", {"expects": "a"}, "the task's rules lack 'expected'; they have expects"),
        (
            "is_expected_url_pattern_match",
            {"expected": ["a("]},
            r"the pattern 'a\(' .* is no regul",
        ),
    ],
)
def test_rules_that_are_broken_are_the_authors(
    context: EvaluationContext, func: str, rules: dict[str, Any], said: str
) -> None:
    with pytest.raises(UserError, match=said):
        judged(context, func=func, result=says("a"), expected={"type": "rule", "rules": rules})


def test_a_gold_file_that_is_missing_is_the_users_to_fetch(context: EvaluationContext) -> None:
    gold = {"type": "cloud_file", "path": "https://a.example/gold.txt", "dest": "gold.txt"}
    with pytest.raises(UserError, match="ui-gym osworld fetch"):
        judged(context, func="compare_text_file", result=says("a"), expected=gold)
