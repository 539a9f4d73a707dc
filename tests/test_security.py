"""What SECURITY.md promises: each line names its tests and its control, and they are there."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest
import yaml

from ui_gym.dialects import get_dialect
from ui_gym.errors import ActionError

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "SECURITY.md"

COLUMNS = ("attack", "wall", "kept in", "test", "control")
SAME = "same"
"""Stands for a control that is in the test itself."""

_CODE = re.compile(r"`([^`]+)`")


def walls() -> list[dict[str, str]]:
    """The lines of the tables of walls, by column."""
    found = []
    _, _, tables = PAGE.read_text().partition("## Walls")
    for line in tables.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and tuple(c.strip(" |") for c in cells) != COLUMNS:
            assert len(cells) == len(COLUMNS), line
            found.append(dict(zip(COLUMNS, (c.strip(" |") for c in cells), strict=True)))
    return found


WALLS = walls()
each_wall = pytest.mark.parametrize("wall", WALLS, ids=lambda wall: wall["attack"][:60])


def named_in(cell: str) -> list[tuple[str, str]]:
    """The tests that a cell names, as (file, function); ``::name`` is of the file before it."""
    found: list[tuple[str, str]] = []
    for said in _CODE.findall(cell):
        file, _, name = said.partition("::")
        found.append((file or found[-1][0], name))
    return found


@functools.cache
def functions(file: str) -> frozenset[str]:
    """The functions of a test module, those of its classes included."""
    nodes = ast.walk(ast.parse((ROOT / file).read_text()))
    return frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef))


def test_there_are_walls() -> None:
    titles = re.findall(r"^### (.+)$", PAGE.read_text(), re.MULTILINE)
    assert len(titles) >= 8
    assert len(WALLS) >= 5 * len(titles)
    said = [wall["attack"] for wall in WALLS]
    assert len(said) == len(set(said))


@each_wall
def test_a_wall_has_its_tests_and_its_control(wall: dict[str, str]) -> None:
    named = named_in(wall["test"])
    assert named, "no test"
    if wall["control"] != SAME:
        control = named_in(wall["control"])
        assert control, "no control"
        named += control
    for file, name in named:
        assert file.startswith("tests/"), file
        assert name.startswith("test_"), f"{file}::{name}"
        assert name in functions(file), f"{file} has no {name}"


@each_wall
def test_a_wall_is_kept_where_it_is_said(wall: dict[str, str]) -> None:
    (place,) = _CODE.findall(wall["kept in"])
    assert (ROOT / place).exists(), place


def test_whoever_attacks_is_told_of() -> None:
    text, _, _ = PAGE.read_text().partition("## Walls")
    known = set(re.findall(r"^\| ([A-Z]) \|", text, re.MULTILINE))
    said = {
        who for wall in WALLS for who in re.findall(r"\b([A-Z])\b(?=[:,])", wall["attack"][:12])
    }
    assert said == known


# -- controls of what other tests refuse --


def test_what_the_dialects_refuse_does_run_where_it_is_evaluated(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    text = f"__import__('os').mkdir({str(trap)!r})"
    with pytest.raises(ActionError):
        get_dialect("canonical").parse(text, (320, 240))
    assert not trap.exists()
    eval(text)  # noqa: S307  the control
    assert trap.is_dir()


def test_what_the_safe_loader_refuses_another_makes() -> None:
    text = "!!python/object/apply:os.getcwd []"
    with pytest.raises(yaml.YAMLError):
        yaml.safe_load(text)
    assert yaml.load(text, yaml.UnsafeLoader) == str(Path.cwd())
