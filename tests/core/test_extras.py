"""What a user names as ``module:name``: found, in the current folder too, or told in a sentence."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ui_gym.errors import UserError
from ui_gym.extras import named

PARTS = """
from helpers_of_own_parts import three

class Judge:
    @staticmethod
    def strict(): return three

def praise(): pass
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A current folder with two modules, which Python would not look in."""
    (tmp_path / "own_parts_of_mine.py").write_text(PARTS)
    (tmp_path / "helpers_of_own_parts.py").write_text("three = 3\n")
    (tmp_path / "needs_what_is_missing.py").write_text("import nobody_has_this\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    yield tmp_path
    for name in ("own_parts_of_mine", "helpers_of_own_parts"):
        sys.modules.pop(name, None)


def test_modules_of_the_current_folder_are_found(here: Path) -> None:
    assert named("it", "own_parts_of_mine:praise", UserError).__name__ == "praise"
    assert named("it", "own_parts_of_mine:Judge.strict", UserError)() == 3
    assert sys.path[-1] == str(here)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("own_parts_of_mine:prais",
         "the reward 'own_parts_of_mine:prais' is not there: the module 'own_parts_of_mine' has no "
         "'prais'. Did you mean 'praise'?"),
        ("own_parts_of_mine:Judge.stict",
         "the reward 'own_parts_of_mine:Judge.stict' is not there: "
         "<class 'own_parts_of_mine.Judge'> has no 'stict'. Did you mean 'strict'?"),
        ("own_parts_of_min:praise",
         "the reward 'own_parts_of_min:praise' cannot be imported: ModuleNotFoundError: No module "
         "named 'own_parts_of_min'. Did you mean 'own_parts_of_mine'?"),
        ("ui_gym.extra:named",
         "the reward 'ui_gym.extra:named' cannot be imported: ModuleNotFoundError: No module named "
         "'ui_gym.extra'. Did you mean 'ui_gym.extras'?"),
        ("needs_what_is_missing:x",
         "the reward 'needs_what_is_missing:x' cannot be imported: ModuleNotFoundError: No module "
         "named 'nobody_has_this'"),
        ("own_parts_of_mine", "the reward 'own_parts_of_mine' is not written as module:name"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_one_sentence_with_the_nearest_name(
    here: Path, path: str, told: str
) -> None:
    with pytest.raises(UserError) as caught:
        named(f"the reward {path!r}", path, UserError)
    assert str(caught.value).startswith(told.removesuffix("?"))  # of several, the nearest first


def test_no_module_is_near_to_one_that_is_like_none(here: Path) -> None:
    with pytest.raises(UserError, match=r"No module named 'nothing'$"):
        named("the reward 'nothing:here'", "nothing:here", UserError)
