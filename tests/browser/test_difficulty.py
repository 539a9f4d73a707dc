"""docs/difficulty.py: what is reading, when levels are not monotone, and what is written."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ui_gym.contract.device import Element
from ui_gym.contract.suite import families
from ui_gym.errors import UserError
from ui_gym_agents import command

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "docs" / "difficulty.py"
LEVELS = ("easy", "medium", "hard")


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("difficulty_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look for it there
    spec.loader.exec_module(module)
    return module


def run(script: ModuleType, *arguments: object) -> int:
    """The exit status of the command."""
    return command.run(script.app, list(map(str, arguments)))


def row(script: ModuleType, **values: Any) -> Any:
    """A row that is like any other, but for `values`."""
    alike: dict[str, Any] = {
        "episodes": 20, "oracle": 20, "careless": 10, "random": 0, "steps": (5.0, 4.5, 5.5),
        "reading": (50.0, 45.0, 55.0), "goal_words": 10.0, "screen_words": 40.0, "elements": 12.0,
    }  # fmt: skip
    return script.DifficultyRow(**{**alike, **values})


def screen(*named: tuple[str, str]) -> str:
    return "\n".join(
        str(Element(number, role, name, (0, 0, 8, 8))) for number, (role, name) in enumerate(named)
    )


def test_reading_counts_what_is_new_on_a_screen_and_what_is_there_twice(
    script: ModuleType,
) -> None:
    table = screen(("heading", "All orders"), ("cell", "Paid"), ("cell", "Paid"))
    assert script.reading(iter([table])) == script.ReadingCount(words=4, elements=3)
    assert script.reading(iter([table, table])) == script.reading(iter([table]))
    later = screen(("heading", "All orders"), ("button", "Save all"))
    assert script.reading(iter([table, later])) == script.ReadingCount(words=6, elements=4)


def test_reading_counts_what_a_field_shows(script: ModuleType) -> None:
    field = Element(0, "textbox", "First name", (0, 0, 8, 8), ('value="Mary Ann"', "focused"))
    assert script.reading(iter([str(field)])) == script.ReadingCount(words=4, elements=1)


def test_levels_are_monotone_unless_a_figure_goes_the_wrong_way_beyond_noise(
    script: ModuleType,
) -> None:
    level = row(script)
    assert script.faults(dict.fromkeys((*LEVELS, "compact"), level)) == []
    noisy = row(script, steps=(4.8, 4.3, 5.3), careless=12, random=2)
    assert script.faults({"easy": level, "medium": noisy, "hard": level}) == []
    fewer = row(script, steps=(3.0, 2.5, 3.5), reading=(20.0, 15.0, 25.0))
    assert script.faults({"easy": level, "medium": level, "hard": fewer}) == [
        "steps fall from medium (5) to hard (3)",
        "words fall from medium (50) to hard (20)",
    ]
    kinder = row(script, careless=20, random=12)
    assert script.faults({"easy": level, "medium": kinder, "hard": level}) == [
        "careless successes rise from easy (10 of 20) to medium (20 of 20)",
        "random successes rise from easy (0 of 20) to medium (12 of 20)",
    ]
    assert script.faults({"compact": fewer, "medium": level}) == []


def test_what_is_written_is_read_again(script: ModuleType, tmp_path: Path) -> None:
    rows = {"Login": {"easy": row(script)}, "DataEntry": {"compact": row(script, careless=3)}}
    path = tmp_path / "difficulty.json"
    assert script.read(path) == {}
    script.write(path, rows)
    assert script.read(path) == rows
    path.write_text('{"families": {"Login": {"easy": {"wins": 3}}}}')
    with pytest.raises(UserError, match="delete it"):
        script.read(path)


@pytest.mark.nightly
def test_two_families_are_measured_and_shown(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gallery.md").write_text(f"above\n{script.BEGIN}old\n{script.END}\nbelow\n")
    asked = ("--only", "ClickButton", "--only", "DataEntry", "--instances", 2, "--folder", tmp_path)
    assert run(script, *asked) == 0
    told = json.loads((tmp_path / "difficulty.json").read_text())
    assert told["seeds"] == script.seeds(2)
    # DataEntry has no levels: it is measured as it is registered.
    assert {family: list(kinds) for family, kinds in told["families"].items()} == {
        "ClickButton": [*LEVELS, "compact"], "DataEntry": ["medium", "compact"]
    }  # fmt: skip
    for kinds in told["families"].values():
        for figures in kinds.values():
            assert figures["episodes"] == figures["oracle"] == 2
            assert figures["careless"] <= 2
            assert figures["steps"][0] >= 1
            assert figures["reading"][0] == figures["goal_words"] + figures["screen_words"] > 0
    page = (tmp_path / "gallery.md").read_text()
    assert page.startswith("above\n")
    assert page.endswith("below\n")
    assert "| ClickButton |" in page
    assert "old" not in page
    capsys.readouterr()
    assert run(script, "--check", "--folder", tmp_path) == 1
    problems = capsys.readouterr().out
    assert "Login, hard: not measured" in problems
    assert "ClickButton" not in problems


def test_a_family_that_is_not_there_is_named(
    script: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(script, "--only", "ClickButtom") == 2
    assert "ClickButton" in capsys.readouterr().err


def test_all_families_and_levels_are_measured(script: ModuleType) -> None:
    """To be had by `python docs/difficulty.py`, which plays what is missing."""
    rows = script.read(ROOT / "docs" / "difficulty.json")
    assert script.lacking(rows, families("browser")) == []
    page = ROOT / "docs" / "gallery.md"
    assert script.updated(page, rows) == page.read_text()
