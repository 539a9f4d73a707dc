"""Every metric tells what matches from what does not: `cases_*.py` and `cases_*.toml` say how."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from metric_case import RULE_FIRST, Case, Cases, in_folder, read_cases

from ui_gym.desktop.osworld.registry import METRICS

HERE = Path(__file__).parent
CASES: Cases = {}
for module in sorted(HERE.glob("cases_*.py")):
    CASES |= importlib.import_module(module.stem).CASES
for file in sorted(HERE.glob("cases_*.toml")):
    CASES |= read_cases(file)


def cases_of(name: str, folder: Path) -> list[Case]:
    """The cases of a metric, their files in the folder."""
    return list(in_folder(CASES[name], folder))


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_metric_tells_what_matches_from_what_does_not(name: str, tmp_path: Path) -> None:
    cases = cases_of(name, tmp_path)
    for case in cases:
        found = METRICS[name](*case.args, **case.options)
        assert isinstance(found, float), case
        assert found == pytest.approx(case.score, abs=1e-3), case
    scores = [case.score for case in cases]
    assert max(scores) > 0.5 > min(scores), f"{name} has only {scores}"


def test_every_metric_has_a_case() -> None:
    assert set(METRICS) - {"infeasible"} == set(CASES)


@pytest.mark.parametrize("name", sorted(set(CASES) - {"check_image_file_size"}))
def test_a_broken_result_file_is_no_success_and_no_exception(name: str, tmp_path: Path) -> None:
    for case in cases_of(name, tmp_path):
        result = case.args[name in RULE_FIRST]
        if case.score == 1 and isinstance(result, str) and Path(result).is_file():
            Path(result).write_bytes(b"\xff\xfe\x00PK\x03\x04 a file of no kind")
            assert METRICS[name](*case.args, **case.options) < 1.0


JUNK = [
    *(5, 0.5, True, "", "text", "/", b"bytes", "\0", "a" * 5000),
    *([], [None], [[]], [{}], [{"url": 5}], [5], [(1, None)]),
    *({}, {"children": 5}, {"bookmark_bar": {"children": [5]}}, {"url": None}, {"a": []}),
    *({"content": 5}, {"default_font_size": "20"}, {"width": None}),
]


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_missing_result_or_one_of_another_kind_is_no_exception(name: str, tmp_path: Path) -> None:
    case = cases_of(name, tmp_path)[0]
    args = list(case.args)
    for junk in (None, *JUNK):
        args[name in RULE_FIRST] = junk
        score = METRICS[name](*args, **case.options)
        assert 0.0 <= score <= (1.0 if junk is not None else 0.0), junk
