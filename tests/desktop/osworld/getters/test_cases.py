"""Every getter brings what is there, and says so where nothing is: `getter_cases.py` says how.

What needs a server is in `test_chrome.py` and `test_programs.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from getter_case import Case
from getter_cases import CASES, ELSEWHERE

from ui_gym.desktop.osworld.registry import GETTERS, EvaluationContext


@pytest.mark.parametrize(
    ("name", "case"),
    [(name, case) for name in sorted(CASES) for case in CASES[name]],
    ids=lambda value: value if isinstance(value, str) else value.id,
)
def test_a_getter_brings_what_is_there(name: str, case: Case, context: EvaluationContext) -> None:
    case.prepare(context)
    found = GETTERS[name](context, case.config)
    if isinstance(case.brings, bytes):
        assert isinstance(found, str), found
        assert Path(found).is_relative_to(context.folder)
        found = Path(found).read_bytes()
    assert found == case.brings


def test_every_getter_has_cases_with_different_ends() -> None:
    assert set(GETTERS) == set(CASES) | ELSEWHERE
    for name, cases in CASES.items():
        assert len({repr(case.brings) for case in cases}) > 1, name
